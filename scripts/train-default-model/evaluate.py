"""The rate of valid unconstrained greedy answers on held-out generated schemas, and of replies that pass on held-out requests of IFStruct."""

import argparse
import json
import sys
from pathlib import Path

import jsonschema
import torch
from jsonschema.validators import validator_for

from data import Dialogues, generate
from model import Config, Llama

sys.path.append(str(Path(__file__).parent.parent / "train-ifstruct"))
from reward import IfstructReward  # noqa: E402

HELD_OUT_SEED = 1_000_003
BATCH = 32


def verdict(text: str, schema: dict) -> str:
    """`valid`, `invalid` (JSON, but not of the schema) or `no json`."""
    try:
        value = json.loads(text)
    except ValueError:
        return "no json"
    kind = validator_for(schema, default=jsonschema.Draft202012Validator)
    return "valid" if kind(schema, format_checker=kind.FORMAT_CHECKER).is_valid(value) else "invalid"


def answer(model: Llama, dialogues: Dialogues, lines: list[dict], max_new: int) -> list[str]:
    """The greedy answer to each dialogue without its last message, in order."""
    prompts = [dialogues.prompt(d["messages"][:-1]) for d in lines]
    # Prompts of similar length together: little padding.
    order = sorted(range(len(prompts)), key=lambda i: len(prompts[i]))
    answers = [""] * len(prompts)
    for start in range(0, len(order), BATCH):
        some = order[start : start + BATCH]
        out = model.greedy([prompts[i] for i in some], dialogues.eos, dialogues.pad, max_new)
        for i, ids in zip(some, out):
            answers[i] = dialogues.tokenizer.decode(ids, skip_special_tokens=False)
    return answers


def evaluate(model: Llama, dialogues: Dialogues, lines: list[dict], max_new: int = 512) -> list[tuple[str, str]]:
    """(verdict, answer) for each held-out dialogue with a schema, in order."""
    answers = answer(model, dialogues, lines, max_new)
    return [(verdict(a, d["schema"]), a) for a, d in zip(answers, lines)]


def ifstruct(model: Llama, dialogues: Dialogues, lines: list[dict], program: str, max_new: int = 768) -> tuple[list[float], list[str]]:
    """The reward by `program`, 1 or 0, and the reply for each held-out request of IFStruct, in order."""
    replies = answer(model, dialogues, lines, max_new)
    reward = IfstructReward(program)
    rewards = reward.score([json.dumps(line["sample"]) for line in lines], replies)
    reward.close()
    return rewards, replies


def load(folder: Path) -> Llama:
    """The model in a Hugging Face folder, in f32."""
    from safetensors.torch import load_file

    config = json.loads((folder / "config.json").read_text())
    model = Llama(Config(**{k: config[k] for k in Config.__dataclass_fields__}))
    model.load_state_dict({k: v.float() for k, v in load_file(folder / "model.safetensors").items()})
    return model.eval()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--generator", default="target/release/dialogues")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--max-new", type=int, default=512)
    parser.add_argument("--seed", type=int, default=HELD_OUT_SEED)
    parser.add_argument("--failures", type=int, default=0, help="print that many failed answers")
    arguments = parser.parse_args()
    model = load(arguments.model)
    dialogues = Dialogues(str(arguments.model / "tokenizer.json"), set())
    for shots in ("none", "default"):
        lines = generate([arguments.generator], arguments.count, arguments.seed, "heldout", shots)
        results = evaluate(model, dialogues, lines, arguments.max_new)
        count = {v: sum(r == v for r, _ in results) for v in ("valid", "invalid", "no json")}
        name = {"none": "no demonstrations", "default": "two fixed demonstrations"}[shots]
        print(f"{name}: {count['valid']}/{len(results)} valid ({100 * count['valid'] / len(results):.1f} %), "
              f"{count['invalid']} invalid, {count['no json']} not JSON")
        failed = [(d, r) for d, r in zip(lines, results) if r[0] != "valid"]
        for d, r in failed[: arguments.failures]:
            print(json.dumps(d["schema"]), "\n  =>", r[0], r[1])


if __name__ == "__main__":
    with torch.inference_mode():
        main()
