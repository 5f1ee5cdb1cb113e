"""Compares greedy tokens and logits of this project's models with those of Hugging Face transformers."""

import argparse
import json
import math
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from transformers import (
    AutoModelForCausalLM,
    LlamaConfig,
    MistralConfig,
    Qwen2Config,
    Qwen3Config,
)

VOCABULARY = 320
SHAPE = dict(
    vocab_size=VOCABULARY,
    hidden_size=48,
    intermediate_size=96,
    num_hidden_layers=3,
    num_attention_heads=6,
    num_key_value_heads=2,
    max_position_embeddings=1024,
    bos_token_id=256,
    eos_token_id=257,
)
LLAMA3_ROPE = dict(
    rope_type="llama3",
    rope_theta=10000.0,
    factor=8.0,
    low_freq_factor=1.0,
    high_freq_factor=4.0,
    original_max_position_embeddings=64,
)
LINEAR_ROPE = dict(rope_type="linear", rope_theta=10000.0, factor=4.0)
PLAIN_ROPE = dict(rope_type="default", rope_theta=50000.0)

CONFIGS = {
    "llama, llama3 rope, grouped heads, tied": LlamaConfig(**SHAPE, rope_parameters=LLAMA3_ROPE, tie_word_embeddings=True),
    "llama, linear rope, untied": LlamaConfig(**SHAPE, rope_parameters=LINEAR_ROPE, tie_word_embeddings=False),
    "llama, biases everywhere, wide heads": LlamaConfig(
        **SHAPE, head_dim=16, rope_parameters=PLAIN_ROPE, attention_bias=True, mlp_bias=True
    ),
    "mistral, untied": MistralConfig(**SHAPE, rope_parameters=PLAIN_ROPE, sliding_window=None),
    "qwen2, biases, tied": Qwen2Config(**SHAPE, rope_parameters=PLAIN_ROPE, tie_word_embeddings=True),
    "qwen2, biases, untied": Qwen2Config(**SHAPE, rope_parameters=PLAIN_ROPE, tie_word_embeddings=False),
    "qwen3, head norms, tied": Qwen3Config(**SHAPE, head_dim=16, rope_parameters=PLAIN_ROPE, tie_word_embeddings=True),
    "qwen3, head norms, untied": Qwen3Config(**SHAPE, head_dim=8, rope_parameters=PLAIN_ROPE, tie_word_embeddings=False),
}


def randomize(model: torch.nn.Module, seed: int) -> None:
    """Random weights of a size at which every layer shows in the logits."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() == 2:
                parameter.normal_(std=1 / math.sqrt(parameter.shape[1]), generator=generator)
            elif name.endswith("bias"):
                parameter.normal_(std=0.5, generator=generator)
            else:
                parameter.uniform_(0.75, 1.25, generator=generator)


def prompts(seed: int) -> list[list[int]]:
    """Token ids: short ones, one longer than the first cache, one longer than what goes through at once."""
    numbers = random.Random(seed)
    return [[numbers.randrange(VOCABULARY) for _ in range(length)] for length in (1, 2, 9, 17, 40, 300, 700)]


@torch.no_grad()
def greedy(model, prompt: list[int], count: int):
    """Greedy tokens, first and last logits, and the smallest gap between the two likeliest tokens."""
    tokens, gap = [], math.inf
    out = model(torch.tensor([prompt]), use_cache=True)
    first = out.logits[0, -1]
    while True:
        logits = out.logits[0, -1]
        best = torch.topk(logits, 2)
        gap = min(gap, (best.values[0] - best.values[1]).item())
        tokens.append(best.indices[0].item())
        if len(tokens) == count:
            return tokens, first, logits, gap
        out = model(torch.tensor([tokens[-1:]]), past_key_values=out.past_key_values, use_cache=True)


def ours(program: Path, directory: Path, asked: list[list[int]], count: int, dtype: str) -> list[dict]:
    command = [program, "greedy-tokens", directory, "--count", str(count), "--dtype", dtype]
    done = subprocess.run(command, input=json.dumps(asked), text=True, stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def compare(name: str, model, program: Path, directory: Path, count: int, dtype: str = "f32") -> bool:
    asked = prompts(seed=len(name))
    worst, spread, passed = 0.0, math.inf, True
    for prompt, got in zip(asked, ours(program, directory, asked, count, dtype), strict=True):
        tokens, first, last, gap = greedy(model, prompt, count)
        spread = min(spread, (first.max() - first.min()).item())
        worst = max(worst, (torch.tensor(got["first_logits"]) - first).abs().max().item())
        if got["tokens"] != tokens:
            at = next(i for i in range(count) if got["tokens"][i] != tokens[i])
            print(f"    {len(prompt)} prompt tokens: token {at} differs; smallest gap {gap:.2e}")
            passed = False
        else:
            worst = max(worst, (torch.tensor(got["last_logits"]) - last).abs().max().item())
    passed = passed and worst <= 1e-4 * spread
    print(f"{'ok  ' if passed else 'FAIL'} {name}: largest difference of logits {worst:.1e} of {spread:.1f}")
    return passed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=Path, required=True, help="the program maskwright-models")
    parser.add_argument("--count", type=int, default=64, help="tokens per prompt")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    passed = True
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        for number, family in enumerate(["llama", "mistral", "qwen2", "qwen3"]):
            directory = scratch / family
            command = [arguments.program, "random-checkpoint", directory, "--family", family, "--seed", str(number)]
            extra = ["--untied", "--shards", "3", "--dtype", "f16"] if number % 2 else []
            subprocess.run(command + extra, check=True)
            model = AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32).eval()
            for dtype in ["f32", "auto"]:
                name = f"random-checkpoint {family} {' '.join(extra)}, weights kept as {dtype}"
                passed &= compare(name, model, arguments.program, directory, arguments.count, dtype)
        for number, (name, config) in enumerate(CONFIGS.items()):
            model = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
            randomize(model, seed=number)
            directory = scratch / f"transformers-{number}"
            model.save_pretrained(directory)
            for file in ["tokenizer.json", "tokenizer_config.json"]:
                shutil.copy(scratch / "llama" / file, directory)
            passed &= compare(name, model, arguments.program, directory, arguments.count)
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
