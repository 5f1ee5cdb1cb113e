"""llama.cpp through llama-cpp-python: quantises GGUF files, and continues prompts greedily as `maskwright-models greedy-tokens` does.

    python llamacpp.py quantise FROM TO FORMAT
    python llamacpp.py greedy FILE --count N --threads N [--exact] [--no-logits] [--others FILE]   < prompts.json

With `--others`, lists of tokens that another program gave for the same prompts, an answer has `gap`, where the tokens differ: by how
much llama.cpp prefers its own token at the first place where they do, as a part of the spread of its logits there (the largest less
the smallest).
"""

import argparse
import ctypes
import json
import sys
import time
from pathlib import Path

import llama_cpp
import numpy

FORMATS = {
    "f32": llama_cpp.LLAMA_FTYPE_ALL_F32,
    "f16": llama_cpp.LLAMA_FTYPE_MOSTLY_F16,
    "bf16": llama_cpp.LLAMA_FTYPE_MOSTLY_BF16,
    "q4_0": llama_cpp.LLAMA_FTYPE_MOSTLY_Q4_0,
    "q4_1": llama_cpp.LLAMA_FTYPE_MOSTLY_Q4_1,
    "q5_0": llama_cpp.LLAMA_FTYPE_MOSTLY_Q5_0,
    "q5_1": llama_cpp.LLAMA_FTYPE_MOSTLY_Q5_1,
    "q8_0": llama_cpp.LLAMA_FTYPE_MOSTLY_Q8_0,
    "q4_k_m": llama_cpp.LLAMA_FTYPE_MOSTLY_Q4_K_M,
    "q5_k_m": llama_cpp.LLAMA_FTYPE_MOSTLY_Q5_K_M,
    "q6_k": llama_cpp.LLAMA_FTYPE_MOSTLY_Q6_K,
}


def quantise(source: str, target: str, name: str) -> None:
    parameters = llama_cpp.llama_model_quantize_default_params()
    parameters.ftype = FORMATS[name]
    failed = llama_cpp.llama_model_quantize(source.encode(), target.encode(), ctypes.byref(parameters))
    if failed:
        raise SystemExit(f"llama.cpp could not quantise {source} to {name}")


class Model:
    """A model with one sequence."""

    def __init__(self, file: str, threads: int, exact: bool):
        self.model = llama_cpp.llama_model_load_from_file(file.encode(), llama_cpp.llama_model_default_params())
        if not self.model:
            raise SystemExit(f"llama.cpp could not load {file}")
        parameters = llama_cpp.llama_context_default_params()
        parameters.n_ctx = 2048
        parameters.n_batch = 2048
        parameters.n_threads = threads
        parameters.n_threads_batch = threads
        if exact:
            # Keys and values as they are; by default they are rounded to 16 bits.
            parameters.type_k = parameters.type_v = 0
            parameters.flash_attn_type = 0
        self.context = llama_cpp.llama_init_from_model(self.model, parameters)
        self.vocabulary = llama_cpp.llama_model_get_vocab(self.model)
        self.size = llama_cpp.llama_vocab_n_tokens(self.vocabulary)

    def tokens(self, text: str) -> list[int]:
        encoded = text.encode()
        room = (llama_cpp.llama_token * (len(encoded) + 16))()
        count = llama_cpp.llama_tokenize(self.vocabulary, encoded, len(encoded), room, len(room), True, True)
        return list(room[:count])

    def reset(self) -> None:
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(self.context), True)

    def append(self, tokens: list[int]) -> numpy.ndarray:
        room = (llama_cpp.llama_token * len(tokens))(*tokens)
        if llama_cpp.llama_decode(self.context, llama_cpp.llama_batch_get_one(room, len(tokens))):
            raise SystemExit("llama.cpp could not compute a pass")
        return numpy.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(self.context, -1), shape=(self.size,))


def gap(logits: numpy.ndarray, chosen: int, other: int) -> float:
    """How much likelier `chosen` is than `other`, as a part of the spread of all."""
    return float((logits[chosen] - logits[other]) / (logits.max() - logits.min()))


def greedy(arguments: argparse.Namespace) -> None:
    model = Model(arguments.file, arguments.threads, arguments.exact)
    others = json.loads(arguments.others.read_text()) if arguments.others else None
    for number, prompt in enumerate(json.load(sys.stdin)):
        tokens = model.tokens(prompt) if isinstance(prompt, str) else prompt
        answer = {"prompt": tokens}
        if arguments.count and tokens:
            model.reset()
            start, processor = time.perf_counter(), time.process_time()
            logits = model.append(tokens)
            answer["prompt_ms"] = (time.perf_counter() - start) * 1e3
            answer["prompt_processor_ms"] = (time.process_time() - processor) * 1e3
            first = logits.tolist() if arguments.logits else None
            chosen, start, processor = [], time.perf_counter(), time.process_time()
            while len(chosen) < arguments.count:
                chosen.append(int(logits.argmax()))
                if others and "gap" not in answer and others[number][len(chosen) - 1] != chosen[-1]:
                    answer["gap"] = gap(logits, chosen[-1], others[number][len(chosen) - 1])
                if len(chosen) < arguments.count:
                    logits = model.append(chosen[-1:])
            answer["tokens"] = chosen
            answer["ms_per_token"] = (time.perf_counter() - start) * 1e3 / max(arguments.count - 1, 1)
            answer["processor_ms_per_token"] = (time.process_time() - processor) * 1e3 / max(arguments.count - 1, 1)
            if arguments.logits:
                answer["first_logits"], answer["last_logits"] = first, logits.tolist()
        print(json.dumps(answer), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("quantise")
    for name in ("source", "target"):
        command.add_argument(name)
    command.add_argument("format", choices=FORMATS)
    command = commands.add_parser("greedy")
    command.add_argument("file")
    command.add_argument("--count", type=int, default=48)
    command.add_argument("--threads", type=int, default=2)
    command.add_argument("--exact", action="store_true", help="keys and values in 32 bits, no fused attention")
    command.add_argument("--others", type=Path, help="tokens that another program gave, as JSON")
    command.add_argument("--no-logits", dest="logits", action="store_false")
    arguments = parser.parse_args()
    if arguments.command == "quantise":
        quantise(arguments.source, arguments.target, arguments.format)
    else:
        greedy(arguments)


if __name__ == "__main__":
    main()
