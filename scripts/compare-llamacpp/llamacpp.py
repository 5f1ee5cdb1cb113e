"""llama.cpp through llama-cpp-python: quantises GGUF files, and continues prompts greedily as `maskwright-models greedy-tokens` does.

    python llamacpp.py quantise FROM TO FORMAT
    python llamacpp.py greedy FILE --count N --threads N [--exact] [--no-logits]   < prompts.json
"""

import argparse
import ctypes
import json
import sys
import time

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


def greedy(arguments: argparse.Namespace) -> None:
    model = Model(arguments.file, arguments.threads, arguments.exact)
    for prompt in json.load(sys.stdin):
        tokens = model.tokens(prompt) if isinstance(prompt, str) else prompt
        answer = {"prompt": tokens}
        if arguments.count and tokens:
            model.reset()
            start = time.perf_counter()
            logits = model.append(tokens)
            answer["prompt_ms"] = (time.perf_counter() - start) * 1e3
            first = logits.tolist() if arguments.logits else None
            chosen, start = [], time.perf_counter()
            while len(chosen) < arguments.count:
                chosen.append(int(logits.argmax()))
                if len(chosen) < arguments.count:
                    logits = model.append(chosen[-1:])
            answer["tokens"] = chosen
            answer["ms_per_token"] = (time.perf_counter() - start) * 1e3 / max(arguments.count - 1, 1)
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
    command.add_argument("--no-logits", dest="logits", action="store_false")
    arguments = parser.parse_args()
    if arguments.command == "quantise":
        quantise(arguments.source, arguments.target, arguments.format)
    else:
        greedy(arguments)


if __name__ == "__main__":
    main()
