"""Speed of masks where models are served: batches, single calls and compilation, beside xgrammar and llguidance.

    pip install maskwright llguidance tiktoken numpy     # xgrammar too, which needs torch
    python benches/serving.py --ranks o200k_base.tiktoken --maskbench DIR/maskbench/data

All engines have the same vocabulary, the same schemas (the first of MaskBench's files by name that each of them compiles and that have a
valid document) and stand at the same places of the same documents. Each figure is taken in rounds that go through the engines in turn; the
table has the median round, the slowest of a hundred (p99), and the median of the ratios of rounds, first engine to best rival. Times are in
microseconds unless said otherwise. An engine that is not installed is left out.

Memory is what the process has grown by once it holds that many compiled schemas, each engine in a process of its own; a schema that an engine
does not compile is left out of its count. The cost of a call is a fill whose mask takes no time: over the 257 tokens of single bytes.
"""

import argparse
import base64
import concurrent.futures
import itertools
import json
import os
import platform
import statistics
import time
from pathlib import Path

STOP = 199_999


class Maskwright:
    name = "maskwright"

    def __init__(self, tokens, threads):
        import maskwright

        self.package = maskwright
        self.version = maskwright.__version__
        self.tokenizer = maskwright.Tokenizer.from_bytes(tokens, stop_token_ids=[STOP], special_token_ids=[STOP])
        self.executor = maskwright.Executor(threads)
        self.compiler = maskwright.Compiler(self.tokenizer)

    def fresh(self):
        self.compiler.clear_cache()

    def keep_all(self):
        self.compiler = self.package.Compiler(self.tokenizer, cache_bytes=1 << 40)

    def compile(self, schema):
        return self.compiler.compile_json_schema(schema)

    def matcher(self, compiled):
        return compiled.matcher()

    def accept(self, matcher, token):
        return matcher.accept_token(token)

    def bitmask(self, rows):
        return self.package.allocate_token_bitmask(rows, STOP + 1, kind="numpy")

    def fill(self, matcher, bitmask):
        matcher.fill_next_token_bitmask(bitmask, 0)

    def fill_all(self, matchers, bitmask):
        self.executor.fill(matchers, bitmask)


class LLGuidance:
    name = "llguidance"

    def __init__(self, tokens, threads):
        import importlib.metadata

        import llguidance
        import llguidance.numpy
        import llguidance.tiktoken
        import tiktoken

        self.package, self.version = llguidance, importlib.metadata.version("llguidance")
        ranks = {token: rank for rank, token in enumerate(tokens) if token and rank != STOP}
        encoding = tiktoken.Encoding(
            "bench", pat_str=r"\p{L}+|\p{N}{1,3}|\s+|[^\s\p{L}\p{N}]+", mergeable_ranks=ranks, special_tokens={"<|end|>": STOP}
        )
        self.tokenizer = llguidance.tiktoken.lltokenizer_from_encoding(encoding, n_vocab=STOP + 1, eos_token=STOP)
        self.executor = llguidance.LLExecutor(threads)

    def fresh(self):
        pass

    def keep_all(self):
        pass

    def compile(self, schema):
        grammar = self.package.LLMatcher.grammar_from_json_schema(schema)
        matcher = self.package.LLMatcher(self.tokenizer, grammar)
        if matcher.is_error():
            raise ValueError(matcher.get_error())
        return matcher

    def matcher(self, compiled):
        return compiled.deep_copy()

    def accept(self, matcher, token):
        return matcher.consume_token(token)

    def bitmask(self, rows):
        return self.package.numpy.allocate_token_bitmask(rows, STOP + 1)

    def fill(self, matcher, bitmask):
        self.package.numpy.fill_next_token_bitmask(matcher, bitmask, 0)

    def fill_all(self, matchers, bitmask):
        pairs = [(matcher, row) for row, matcher in enumerate(matchers)]
        self.package.numpy.fill_next_token_bitmask_par(self.executor, pairs, bitmask)


class XGrammar:
    name = "xgrammar"

    def __init__(self, tokens, threads):
        import importlib.metadata

        import xgrammar

        self.package, self.version = xgrammar, importlib.metadata.version("xgrammar")
        vocabulary = [token or b"" for token in tokens]
        self.tokenizer = xgrammar.TokenizerInfo(vocabulary, xgrammar.VocabType.RAW, stop_token_ids=[STOP])
        self.batch = xgrammar.BatchGrammarMatcher(max_threads=threads)
        self.threads = threads
        self.fresh()

    def keep_all(self):
        pass

    def fresh(self):
        self.compiler = self.package.GrammarCompiler(self.tokenizer, max_threads=1, cache_enabled=False)

    def compile(self, schema):
        return self.compiler.compile_json_schema(schema)

    def matcher(self, compiled):
        return self.package.GrammarMatcher(compiled)

    def accept(self, matcher, token):
        return matcher.accept_token(token)

    def bitmask(self, rows):
        return self.package.allocate_token_bitmask(rows, STOP + 1)

    def fill(self, matcher, bitmask):
        matcher.fill_next_token_bitmask(bitmask, 0)

    def fill_all(self, matchers, bitmask):
        self.batch.batch_fill_next_token_bitmask(matchers, bitmask)


def read_tokens(path):
    tokens = [None] * (STOP + 1)
    for line in path.read_bytes().splitlines():
        token, rank = line.split()
        tokens[int(rank)] = base64.b64decode(token)
    tokens[STOP] = b"<|end|>"
    return tokens


def spell(text, ids, longest):
    """Tokens of a text: the longest first, which every engine takes alike."""
    at, tokens = 0, []
    while at < len(text):
        end = next(end for end in range(min(len(text), at + longest), at, -1) if text[at:end] in ids)
        tokens.append(ids[text[at:end]])
        at = end
    return tokens


def cases(engines, directory, wanted, ids, longest):
    """Schemas with the tokens of a valid document, as many as wanted, that every engine compiles and follows to the end."""
    found = []
    for path in sorted(directory.glob("*.json")):
        data = json.loads(path.read_text())
        valid = [test["data"] for test in data.get("tests", []) if test.get("valid")]
        if not valid:
            continue
        schema = json.dumps(data["schema"])
        tokens = spell(json.dumps(valid[0], ensure_ascii=False, separators=(",", ": ")).encode(), ids, longest)
        try:
            compiled = [engine.compile(schema) for engine in engines]
        except Exception:
            continue
        matchers = [engine.matcher(one) for engine, one in zip(engines, compiled)]
        if all(all(engine.accept(matcher, token) for token in tokens) for engine, matcher in zip(engines, matchers)):
            found.append((schema, compiled, tokens))
        if len(found) == wanted:
            break
    return found


def timed(work):
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1e6


def percentile(times, share):
    return sorted(times)[min(len(times) - 1, int(len(times) * share))]


def measure_batches(engines, found, size, rounds):
    """Fills of `size` matchers on different states, each followed by a step of every matcher."""
    times = {engine.name: [] for engine in engines}
    setups = []
    for number, engine in enumerate(engines):
        matchers, rest = [], []
        for at in range(size):
            _, compiled, tokens = found[at % len(found)]
            matcher, place = engine.matcher(compiled[number]), at // len(found) % len(tokens)
            for token in tokens[:place]:
                engine.accept(matcher, token)
            matchers.append(matcher)
            rest.append(list(tokens[place:]))
        setups.append((engine, number, matchers, rest, engine.bitmask(size)))
    for _ in range(rounds):
        for engine, number, matchers, rest, bitmask in setups:
            times[engine.name].append(timed(lambda: engine.fill_all(matchers, bitmask)))
            for at in range(size):
                if not rest[at]:
                    _, compiled, tokens = found[at % len(found)]
                    matchers[at], rest[at] = engine.matcher(compiled[number]), list(tokens)
                engine.accept(matchers[at], rest[at].pop(0))
    return times


def measure_calls(engines, found, rounds):
    """One fill of a state whose mask is known: what a call costs."""
    times = {engine.name: [] for engine in engines}
    for number, engine in enumerate(engines):
        bitmask = engine.bitmask(1)
        for _, compiled, _ in found:
            matcher = engine.matcher(compiled[number])
            engine.fill(matcher, bitmask)
            times[engine.name].append(min(timed(lambda: engine.fill(matcher, bitmask)) for _ in range(rounds)))
    return times


def measure_compilation(engines, found, threads):
    """Seconds in which threads compile all schemas, none of them known."""
    times = {engine.name: [] for engine in engines}
    for _ in range(3):
        for engine in engines:
            engine.fresh()
            with concurrent.futures.ThreadPoolExecutor(threads) as pool:
                schemas = [schema for schema, _, _ in found]
                times[engine.name].append(timed(lambda: list(pool.map(engine.compile, schemas))) / 1e6)
    return times


def measure_small_calls(rounds):
    """Microseconds of one fill over single bytes, of a Matcher alone: what the call costs beside the engine's work."""
    import numpy

    import maskwright

    tokens = [bytes([byte]) for byte in range(256)] + [b""]
    tokenizer = maskwright.Tokenizer.from_bytes(tokens, stop_token_ids=[256], special_token_ids=[256])
    matcher = maskwright.Compiler(tokenizer).compile_json_schema({"type": "object"}).matcher()
    bitmask = maskwright.allocate_token_bitmask(1, 257, kind="numpy")
    assert isinstance(bitmask, numpy.ndarray)

    def calls():
        for _ in range(1000):
            matcher.fill_next_token_bitmask(bitmask, 0)

    return min(timed(calls) for _ in range(rounds)) / 1000


def resident():
    """Bytes of memory that the process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def measure_memory(engine, directory, wanted, seconds):
    """Number of schemas held, and the bytes that a process grew by, for schemas of MaskBench by name within some seconds."""
    reads, writes = os.pipe()
    if child := os.fork():
        os.close(writes)
        with os.fdopen(reads) as pipe:
            answer = json.loads(pipe.read())
        os.waitpid(child, 0)
        return answer
    engine.keep_all()
    before, held, end = resident(), [], time.monotonic() + seconds
    # Where the files are fewer, a comment makes each a schema of its own once more.
    for number, path in itertools.product(range(wanted), sorted(directory.glob("*.json"))):
        if len(held) == wanted or time.monotonic() > end:
            break
        schema = json.loads(path.read_text())["schema"]
        try:
            held.append(engine.compile(json.dumps({"$comment": str(number), **schema} if number else schema)))
        except Exception:
            continue
    with os.fdopen(writes, "w") as pipe:
        json.dump([len(held), resident() - before], pipe)
    os._exit(0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=Path, required=True, help="o200k_base.tiktoken")
    parser.add_argument("--maskbench", type=Path, required=True, help="the directory `data` of MaskBench")
    parser.add_argument("--schemas", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--held", type=int, default=10_000, help="schemas that are held in memory; 0 leaves that out")
    parser.add_argument("--held-seconds", type=float, default=600, help="time in which an engine compiles these")
    parser.add_argument("--batches", type=int, nargs="*", default=[256, 1000])
    arguments = parser.parse_args()
    tokens = read_tokens(arguments.ranks)
    ids = {token: rank for rank, token in reversed(list(enumerate(tokens))) if token and rank != STOP}
    engines = []
    for kind in (Maskwright, LLGuidance, XGrammar):
        try:
            engines.append(kind(tokens, arguments.threads))
        except ImportError as error:
            print(f"{kind.name} is left out: {error}")
    found = cases(engines, arguments.maskbench, arguments.schemas, ids, max(map(len, ids)))
    versions = ", ".join(f"{engine.name} {engine.version}" for engine in engines)
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} processors, {arguments.threads} threads; {versions}")
    print(f"{len(found)} schemas, {sum(len(tokens) for _, _, tokens in found)} tokens, vocabulary of {STOP + 1}\n")
    print("| " + " | ".join(["", *(engine.name for engine in engines)]) + " |")
    print("|---" * (len(engines) + 1) + "|")

    def row(name, times, figure):
        print("| " + " | ".join([name, *(figure(times[engine.name]) for engine in engines)]) + " |", flush=True)

    for size in arguments.batches:
        times = measure_batches(engines, found, size, arguments.rounds)
        ours, *rivals = (times[engine.name] for engine in engines)
        ratios = [one / min(others) for one, *others in zip(ours, *rivals)] if rivals else []
        row(f"batch of {size}, median", times, lambda times: f"{statistics.median(times):.0f}")
        row(f"batch of {size}, p99", times, lambda times: f"{percentile(times, 0.99):.0f}")
        if ratios:
            share = f"{statistics.median(ratios):.2f}"
            print("| " + " | ".join([f"batch of {size}, share of the best rival", share, *[""] * len(rivals)]) + " |", flush=True)
    times = measure_calls(engines, found, 50)
    row("one fill of a known state, median", times, lambda times: f"{statistics.median(times):.2f}")
    times = measure_compilation(engines, found, 16)
    row("schemas compiled in a second by 16 threads", times, lambda times: f"{len(found) / statistics.median(times):.0f}")
    if arguments.held:
        held = {engine.name: measure_memory(engine, arguments.maskbench, arguments.held, arguments.held_seconds) for engine in engines}
        row("schemas held", held, lambda held: str(held[0]))
        row("memory of these, MB", held, lambda held: f"{held[1] / 1e6:.0f}")
        row("memory of one, KB", held, lambda held: f"{held[1] / max(1, held[0]) / 1e3:.0f}")
    if engines[0].name == "maskwright":
        print(f"\nA call of a Matcher over 257 tokens: {measure_small_calls(50):.2f} us")


if __name__ == "__main__":
    main()
