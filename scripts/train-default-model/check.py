"""Checks that `transformers` loads the exported folder and gives the same prompts and greedy answers."""

import argparse
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

import evaluate
from data import Dialogues, generate

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--model", type=Path, required=True)
parser.add_argument("--generator", default="target/release/dialogues")
parser.add_argument("--count", type=int, default=8)
arguments = parser.parse_args()

ours = evaluate.load(arguments.model)
dialogues = Dialogues(str(arguments.model / "tokenizer.json"), set())
theirs = AutoModelForCausalLM.from_pretrained(arguments.model, dtype=torch.float32).eval()
tokenizer = AutoTokenizer.from_pretrained(arguments.model)
different = 0
with torch.inference_mode():
    for line in generate([arguments.generator], arguments.count, 77, "heldout", "default"):
        messages = line["messages"][:-1]
        prompt = dialogues.prompt(messages)
        templated = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=False)
        if templated != prompt:
            raise SystemExit(f"the chat template gives other tokens: {templated} and {prompt}")
        text = tokenizer.decode(prompt, skip_special_tokens=False)
        if tokenizer.encode(text, add_special_tokens=False) != prompt:
            raise SystemExit("the text of a prompt does not encode to its tokens")
        answer = ours.greedy([prompt], dialogues.eos, dialogues.pad, 128)[0]
        full = theirs.generate(torch.tensor([prompt]), max_new_tokens=128, do_sample=False)[0, len(prompt):].tolist()
        if dialogues.eos in full:
            full = full[: full.index(dialogues.eos)]
        different += full != answer
        logits, reference = (m.flatten() for m in (
            ours.logits(ours.hidden(torch.tensor([prompt]))), theirs(torch.tensor([prompt])).logits))
        torch.testing.assert_close(logits, reference, atol=1e-3, rtol=1e-3)
if different:
    raise SystemExit(f"{different} of {arguments.count} greedy answers differ from those of transformers")
print(f"transformers gives the same {arguments.count} prompts, logits and greedy answers")
