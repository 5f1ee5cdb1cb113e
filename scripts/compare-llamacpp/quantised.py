"""Compares this project's models from GGUF files with llama.cpp: tokens of texts, greedy tokens, logits, and speed."""

import argparse
import datetime
import importlib.metadata
import json
import platform
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
# What docs/models.md says of the comparison.
RECORD = HERE.parent.parent / "models/src/write/llamacpp_comparison.json"
COUNT = 48
SMALL_FORMATS = ["f32", "f16", "bf16", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q4_k_m", "q5_k_m", "q6_k"]
# Both round activations to 8 bits, from numbers that differ in their last bits. Where that gives another code, what is computed from
# it differs by a 127th of the largest activation of a block. Of a format's models together, logits may differ by so many times what
# llama.cpp's own default settings change in them.
LOGIT_TOLERANCE = 2
# Of two tokens whose logits differ by less than this part of the spread, the largest logit less the smallest, either may be greedy.
CLOSE = 0.02
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

    def theirs(self, model: Path, prompts: list, count: int, *more: str, others: list | None = None) -> list[dict]:
        command = [sys.executable, HERE / "llamacpp.py", "greedy", model, "--count", count, "--threads", self.threads, *more]
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            if others is not None:
                json.dump([answer["tokens"] for answer in others], file)
                file.flush()
                command += ["--others", file.name]
            return run(command, prompts)

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


class Continuations:
    """Continuations compared: those that are equal, those that differ first where llama.cpp itself hardly prefers its token, and others."""

    def __init__(self):
        self.equal = self.close = self.different = 0
        self.largest_gap = self.logits = 0.0
        # llama.cpp with its default settings, beside itself with keys and values in 32 bits.
        self.llamacpp_equal, self.llamacpp_logits = 0, 0.0

    def add(self, ours: dict, theirs: dict, default: dict) -> None:
        spread = max(theirs["first_logits"]) - min(theirs["first_logits"])

        def difference(answer: dict) -> float:
            pairs = zip(answer["first_logits"], theirs["first_logits"], strict=True)
            return max(abs(a - b) for a, b in pairs) / spread

        self.logits = max(self.logits, difference(ours))
        self.llamacpp_logits = max(self.llamacpp_logits, difference(default))
        self.llamacpp_equal += theirs["tokens"] == default["tokens"]
        gap = theirs.get("gap")
        self.equal += gap is None
        self.close += gap is not None and gap < CLOSE
        self.different += gap is not None and gap >= CLOSE
        self.largest_gap = max(self.largest_gap, gap or 0.0)

    def join(self, other: "Continuations") -> None:
        for name in ("equal", "close", "different", "llamacpp_equal"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("largest_gap", "logits", "llamacpp_logits"):
            setattr(self, name, max(getattr(self, name), getattr(other, name)))

    def are_logits_good(self) -> bool:
        return self.logits < LOGIT_TOLERANCE * self.llamacpp_logits

    def report(self, name: str, judges_logits: bool = False) -> None:
        all_of_them = self.equal + self.close + self.different
        is_good = not self.different and (self.are_logits_good() or not judges_logits)
        verdict = "DIFFERENT" if not is_good else "close" if self.close else "equal"
        gap = f", {self.close} close (llama.cpp prefers its token by at most {self.largest_gap:.1e} of the spread)" if self.close else ""
        different = f", {self.different} different (by up to {self.largest_gap:.1e})" if self.different else ""
        print(
            f"{verdict:9} {name}: {self.equal} of {all_of_them} continuations equal{gap}{different}; "
            f"logits within {self.logits:.1e} of their spread; "
            f"llama.cpp by default: {self.llamacpp_equal} equal, logits within {self.llamacpp_logits:.1e}",
            flush=True,
        )


def compare_answers(programs: Programs, name: str, file: Path, prompts: list, count: int) -> Continuations:
    """Greedy tokens, and logits after the prompts."""
    ours = programs.ours(file, prompts, count)
    theirs = programs.theirs(file, prompts, count, "--exact", others=ours)
    default = programs.theirs(file, prompts, count)
    continuations = Continuations()
    for answers in zip(ours, theirs, default, strict=True):
        continuations.add(*answers)
    continuations.report(name)
    return continuations


def compare_speed(programs: Programs, name: str, file: Path, rounds: int, vocabulary: int) -> dict:
    """Both in turn, `rounds` times: medians, and medians of the rounds' ratios.

    On one thread by the processor's time, so that what else runs on the machine counts little; on more by the wall clock, since
    threads that wait for others keep their processors busy.
    """
    numbers = random.Random(2)
    prompt = [numbers.randrange(vocabulary) for _ in range(512)]
    keys = ("prompt_processor_ms", "processor_ms_per_token") if programs.threads == 1 else ("prompt_ms", "ms_per_token")
    times = {"prefill": [], "decode": []}
    for number in range(rounds):
        both = [programs.ours, programs.theirs]
        order = (0, 1) if number % 2 == 0 else (1, 0)
        answers = {which: both[which](file, [prompt[:8], prompt], 32, "--no-logits")[1] for which in order}
        prefill, decode = ([answers[which][key] for which in (0, 1)] for key in keys)
        times["prefill"].append([len(prompt) / ms * 1e3 for ms in prefill])
        times["decode"].append([1e3 / ms for ms in decode])
    clock = "of the processor" if programs.threads == 1 else "by the clock"
    found = {}
    for part, pairs in times.items():
        ratios = sorted(one / other for one, other in pairs)
        medians = [statistics.median(column) for column in zip(*pairs, strict=True)]
        found[part] = {"ratio": statistics.median(ratios), "from": ratios[0], "to": ratios[-1], "tokens_per_second": medians}
        print(
            f"          {name}, {part}: {medians[0]:.1f} and llama.cpp {medians[1]:.1f} tokens per second {clock}; "
            f"ratio {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}), {rounds} rounds",
            flush=True,
        )
    return found


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


def processor() -> str:
    """What the system calls the processor, with its number of threads and the vector instructions that matter here."""
    names, flags = [], set()
    cpuinfo = Path("/proc/cpuinfo")
    for line in cpuinfo.read_text().splitlines() if cpuinfo.exists() else []:
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            names.append(value.strip())
        elif key.strip() == "flags":
            flags |= set(value.split())
    vectors = [name for flag, name in (("avx2", "AVX2"), ("avx512_vnni", "AVX-512 VNNI"), ("amx_int8", "AMX")) if flag in flags]
    return f"{names[0] if names else platform.machine()}, {len(names)} threads, {', '.join(vectors)}"


def record(part: str, value: dict, threads: int) -> None:
    """Writes a part of what docs/models.md says."""
    whole = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    arguments = " ".join(sys.argv[3:])
    whole[part] = {
        "date": datetime.date.today().isoformat(),
        "processor": processor(),
        "threads": threads,
        "llama_cpp_python": importlib.metadata.version("llama-cpp-python"),
        "command": f"scripts/compare-llamacpp/quantised.sh {arguments}".strip(),
        "found": value,
    }
    RECORD.write_text(json.dumps(whole, indent=1) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ours", type=Path, required=True, help="the program maskwright-models")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--part", action="append", choices=["tokens", "builtin", "families", "1b"], help="by default all but 1b")
    parser.add_argument("--format", action="append", choices=SMALL_FORMATS, help="by default all")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of the speed of a 1B shape")
    parser.add_argument("--record", action="store_true", help="keeps what was found for docs/models.md")
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
        totals = {name: Continuations() for name in formats}
        for name, model in models.items():
            plain, file = directory / "plain.gguf", directory / "model.gguf"
            programs.export(model, plain, "--dtype", "f32")
            prompts = random_prompts(1, 256)
            if model == "builtin":
                prompts += [answer["prompt"] for answer in programs.theirs(plain, TEXTS[:4], 0)]
            for format_name in formats:
                programs.quantise(plain, file, format_name)
                totals[format_name].join(compare_answers(programs, f"{name}, {format_name}", file, prompts, COUNT))
        if models:
            print("All models together:")
            for format_name, total in totals.items():
                total.report(format_name, judges_logits=True)
                good &= not total.different and total.are_logits_good()
            if arguments.record:
                found = {"tokens": COUNT, "close": CLOSE, "formats": {name: vars(total) for name, total in totals.items()}}
                record("answers", found, arguments.threads)
        if "1b" in parts:
            checkpoint, plain, file = directory / "1b", directory / "plain.gguf", directory / "model.gguf"
            command = [programs.program, "random-checkpoint", checkpoint, "--preset", "llama-3.2-1b", "--dtype", "bf16"]
            subprocess.run([str(part) for part in command], check=True)
            programs.export(str(checkpoint), plain, "--dtype", "bf16")
            for weights in checkpoint.glob("*.safetensors"):
                weights.unlink()
            speeds = {}
            for format_name in arguments.format or ["q8_0", "q4_k_m"]:
                programs.quantise(plain, file, format_name)
                prompts = random_prompts(1, 128_000)
                found = compare_answers(programs, f"1B shape, {format_name}", file, prompts[2:4], 24)
                good &= not found.different
                speeds[format_name] = compare_speed(programs, f"1B shape, {format_name}", file, arguments.rounds, 128_000)
                if arguments.record:
                    record("speed", {"rounds": arguments.rounds, "formats": speeds}, arguments.threads)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
