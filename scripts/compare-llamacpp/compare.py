"""Compares greedy tokens and logits of this project's models with those of llama.cpp on the same weights as GGUF."""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

COUNT = 48
# Of the largest difference of logits, as a share of their spread: both sides add in 32-bit floats, in other orders.
TOLERANCE = 1e-4
TEXTS = [
    '<|bos|><|user|>{"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}<|end|><|assistant|>',
    '<|bos|><|user|>{"type": "array", "items": {"enum": ["red", "green"]}, "minItems": 2}<|end|><|assistant|>',
    '<|bos|><|user|>{"properties": {"size": {"type": "integer", "minimum": 3}}}<|end|><|assistant|>{"size":',
    '<|bos|><|user|>Write an address.<|end|><|assistant|>{"street": "',
]


def random_prompts(seed: int, vocabulary: int) -> list[list[int]]:
    numbers = random.Random(seed)
    return [[numbers.randrange(vocabulary) for _ in range(length)] for length in (1, 2, 9, 40, 300)]


def run(command: list, prompts: list) -> list[dict]:
    result = subprocess.run(
        [str(part) for part in command], input=json.dumps(prompts), stdout=subprocess.PIPE, text=True, check=True
    )
    return [json.loads(line) for line in result.stdout.splitlines()]


def difference(one: dict, other: dict, part: str) -> float:
    return max(abs(a - b) for a, b in zip(one[part], other[part], strict=True))


def compare(name: str, ours: list[dict], theirs: list[dict]) -> bool:
    """Prints one line; true where all tokens are equal and the logits close."""
    equal, worst = 0, 0.0
    for one, other in zip(ours, theirs, strict=True):
        same = one["tokens"] == other["tokens"]
        equal += same
        # After different tokens, the last logits are those of different texts.
        for part in ("first_logits", "last_logits") if same else ("first_logits",):
            worst = max(worst, difference(one, other, part) / (max(one[part]) - min(one[part])))
    good = equal == len(ours) and worst < TOLERANCE
    verdict = "equal" if good else "DIFFERENT"
    print(f"{verdict:9} {name}: {equal} of {len(ours)} continuations; logits within {worst:.1e} of their spread")
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ours", type=Path, required=True, help="the program maskwright-models")
    parser.add_argument("--llamacpp", type=Path, required=True, help="the program greedy-tokens of worker-llamacpp")
    parser.add_argument("--model", action="append", default=[], help="a directory, a hub id or `builtin`; may be repeated")
    arguments = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory() as directory:
        directory = Path(directory)
        models = {model: model for model in arguments.model}
        if not models:
            models["builtin"] = "builtin"
            for family in ("llama", "mistral", "qwen2", "qwen3"):
                for tied in ([], ["--untied"]):
                    name = f"random {family}{', untied' if tied else ''}"
                    models[name] = str(directory / name.replace(" ", "-").replace(",", ""))
                    command = [arguments.ours, "random-checkpoint", models[name], "--family", family, "--dtype", "f32"]
                    subprocess.run([str(part) for part in command + tied], check=True)
        for name, model in models.items():
            file = directory / "model.gguf"
            export = [arguments.ours, "export-gguf", model, file, "--dtype", "f32"]
            subprocess.run([str(part) for part in export], check=True, stdout=subprocess.DEVNULL)
            prompts = random_prompts(1, 256)
            if model == "builtin":
                prompts += [answer["prompt"] for answer in run([arguments.llamacpp, file, 1], TEXTS)]
            ours = run([arguments.ours, "greedy-tokens", model, "--count", COUNT, "--dtype", "f32"], prompts)
            good &= compare(name, ours, run([arguments.llamacpp, file, COUNT], prompts))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
