"""Compares this project's models from GGUF files with llama.cpp: tokens of texts, greedy tokens, logits, and speed."""

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
COUNT = 48
SMALL_FORMATS = ["f32", "f16", "bf16", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q4_k_m", "q5_k_m", "q6_k"]
# Both round activations alike, and then add in other orders; what they round from differs by that.
LOGIT_TOLERANCE = 0.02
PRE_TOKENIZERS = [
    "default", "gpt-2", "smollm", "llama-bpe", "qwen2", "qwen35", "tekken", "gpt-4o", "deepseek-coder", "falcon", "dbrx", "glm4",
]
TEXTS = [
    '<|bos|><|user|>{"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}<|end|><|assistant|>',
    '<|bos|><|user|>{"type": "array", "items": {"enum": ["red", "green"]}, "minItems": 2}<|end|><|assistant|>',
    '<|bos|><|user|>{"properties": {"size": {"type": "integer", "minimum": 3}}}<|end|><|assistant|>{"size":',
    '<|bos|><|user|>Write an address.<|end|><|assistant|>{"street": "',
    "I'll SAY it's 12345 times, don't you?\r\n\n  Yes:\tof course…  ",
    "naïve café — Straße, 日本語のテキスト, हिन्दी, 1234567 x2y3 // $a+=b; ١٢٣ 👩‍🚀!",
]


def run(command: list, prompts: list) -> list[dict]:
    result = subprocess.run(
        [str(part) for part in command], input=json.dumps(prompts), stdout=subprocess.PIPE, text=True, check=True
    )
    return [json.loads(line) for line in result.stdout.splitlines()]


class Programs:
    def __init__(self, ours: Path, threads: int):
        self.program, self.threads = ours, threads

    def ours(self, model: Path, prompts: list, count: int, *more: str) -> list[dict]:
        command = [self.program, "greedy-tokens", model, "--count", count, "--threads", self.threads, *more]
        return run(command, prompts)

    def theirs(self, model: Path, prompts: list, count: int, *more: str) -> list[dict]:
        command = [sys.executable, HERE / "llamacpp.py", "greedy", model, "--count", count, "--threads", self.threads, *more]
        return run([*command], prompts)

    def export(self, model: str, file: Path, *more: str) -> None:
        command = [self.program, "export-gguf", model, file, *more]
        subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)

    def quantise(self, source: Path, target: Path, name: str) -> None:
        command = [sys.executable, HERE / "llamacpp.py", "quantise", source, target, name]
        subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def compare_tokens(programs: Programs, directory: Path) -> bool:
    """The tokens of texts, for each way of cutting them."""
    good = True
    for name in PRE_TOKENIZERS:
        file = directory / "model.gguf"
        programs.export("builtin", file, "--pre-tokenizer", name)
        # Where a file does not say, whether a first token is added follows from the way; ours always says.
        ours = [answer["prompt"] for answer in programs.ours(file, TEXTS, 0)]
        theirs = [answer["prompt"] for answer in programs.theirs(file, TEXTS, 0)]
        equal = sum(a == b for a, b in zip(ours, theirs, strict=True))
        good &= equal == len(TEXTS)
        print(f"{'equal' if equal == len(TEXTS) else 'DIFFERENT':9} tokens, {name}: {equal} of {len(TEXTS)} texts", flush=True)
    return good


def first_difference(one: dict, other: dict) -> int:
    """The first place where tokens differ."""
    return next(at for at, (a, b) in enumerate(zip(one["tokens"], other["tokens"], strict=True)) if a != b)


def compare_answers(programs: Programs, name: str, file: Path, prompts: list, count: int) -> bool:
    """Greedy tokens, and logits after the prompts."""
    ours = programs.ours(file, prompts, count)
    theirs = programs.theirs(file, prompts, count, "--exact")
    equal, places, worst = 0, [], 0.0
    for one, other in zip(ours, theirs, strict=True):
        spread = max(one["first_logits"]) - min(one["first_logits"])
        pairs = zip(one["first_logits"], other["first_logits"], strict=True)
        worst = max(worst, max(abs(a - b) for a, b in pairs) / spread)
        if one["tokens"] == other["tokens"]:
            equal += 1
        else:
            places.append(first_difference(one, other))
    good = equal == len(ours) and worst < LOGIT_TOLERANCE
    where = f", first different at {places}" if places else ""
    print(
        f"{'equal' if good else 'DIFFERENT':9} {name}: {equal} of {len(ours)} continuations of {count} tokens{where}; "
        f"logits within {worst:.1e} of their spread",
        flush=True,
    )
    return good


def compare_speed(programs: Programs, name: str, file: Path, rounds: int, vocabulary: int) -> None:
    """Both in turn, `rounds` times; medians, and medians of the rounds' ratios."""
    numbers = random.Random(2)
    prompt = [numbers.randrange(vocabulary) for _ in range(512)]
    times = {"prefill": [], "decode": []}
    for _ in range(rounds):
        ours = programs.ours(file, [prompt[:8], prompt], 64, "--no-logits")[1]
        theirs = programs.theirs(file, [prompt[:8], prompt], 64, "--no-logits")[1]
        times["prefill"].append((len(prompt) / ours["prompt_ms"] * 1e3, len(prompt) / theirs["prompt_ms"] * 1e3))
        times["decode"].append((1e3 / ours["ms_per_token"], 1e3 / theirs["ms_per_token"]))
    for part, pairs in times.items():
        ratios = sorted(one / other for one, other in pairs)
        medians = [statistics.median(column) for column in zip(*pairs, strict=True)]
        print(
            f"          {name}, {part}: {medians[0]:.1f} and llama.cpp {medians[1]:.1f} tokens per second; "
            f"ratio {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}), {rounds} rounds",
            flush=True,
        )


def random_prompts(seed: int, vocabulary: int) -> list[list[int]]:
    numbers = random.Random(seed)
    return [[numbers.randrange(vocabulary) for _ in range(length)] for length in (1, 2, 9, 40, 300)]


def wide_checkpoint(programs: Programs, directory: Path, family: str) -> Path:
    """A small random checkpoint whose rows are whole blocks of all formats."""
    checkpoint = directory / family
    sizes = {"hidden_size": 256, "intermediate_size": 512, "head_dim": 64, "block_ff_dim": 768}
    if family == "gemma3_text":
        sizes["query_pre_attn_scalar"] = 64
    command = [programs.program, "random-checkpoint", checkpoint, "--family", family, "--dtype", "f32"]
    command += ["--config", json.dumps(sizes)]
    subprocess.run([str(part) for part in command], check=True)
    return checkpoint


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ours", type=Path, required=True, help="the program maskwright-models")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--part", action="append", choices=["tokens", "builtin", "families", "1b"], help="by default all but 1b")
    parser.add_argument("--format", action="append", choices=SMALL_FORMATS, help="by default all")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of the speed of a 1B shape")
    arguments = parser.parse_args()
    parts = arguments.part or ["tokens", "builtin", "families"]
    formats = arguments.format or SMALL_FORMATS
    programs = Programs(arguments.ours, arguments.threads)
    good = True
    with tempfile.TemporaryDirectory() as directory:
        directory = Path(directory)
        if "tokens" in parts:
            good &= compare_tokens(programs, directory)
        models = {}
        if "builtin" in parts:
            models["builtin"] = "builtin"
        if "families" in parts:
            for family in ("llama", "mistral", "qwen2", "qwen3", "gemma3_text", "lfm2"):
                models[f"random {family}"] = str(wide_checkpoint(programs, directory, family))
        for name, model in models.items():
            plain, file = directory / "plain.gguf", directory / "model.gguf"
            programs.export(model, plain, "--dtype", "f32")
            prompts = random_prompts(1, 256)
            if model == "builtin":
                prompts += [answer["prompt"] for answer in programs.theirs(plain, TEXTS[:4], 0)]
            for format_name in formats:
                programs.quantise(plain, file, format_name)
                good &= compare_answers(programs, f"{name}, {format_name}", file, prompts, COUNT)
        if "1b" in parts:
            checkpoint, plain, file = directory / "1b", directory / "plain.gguf", directory / "model.gguf"
            command = [programs.program, "random-checkpoint", checkpoint, "--preset", "llama-3.2-1b", "--dtype", "bf16"]
            subprocess.run([str(part) for part in command], check=True)
            programs.export(str(checkpoint), plain, "--dtype", "bf16")
            for weights in checkpoint.glob("*.safetensors"):
                weights.unlink()
            for format_name in arguments.format or ["q8_0", "q4_k_m"]:
                programs.quantise(plain, file, format_name)
                prompts = random_prompts(1, 128_000)
                good &= compare_answers(programs, f"1B shape, {format_name}", file, prompts[2:4], 24)
                compare_speed(programs, f"1B shape, {format_name}", file, arguments.rounds, 128_000)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
