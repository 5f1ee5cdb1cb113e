"""Runs an `Engine` class of MaskBench as a worker: python3 maskbench.py module.Class. docs/worker-protocol.md has the protocol.

The class is used as MaskBench's own runner uses it: `tokenizer_model_id`, `tokenizer`, `multi` and `debug` are set, then come `init()`,
`compile_grammar(schema)`, and for each document `reset()` and, token by token, `compute_mask()` and `commit_token(token)`. Beyond that,
tokens are tried behind the last one, to see whether the document may end there.

Adapters fetch tokenizers from the Hugging Face hub. Here the hub is a folder that holds the tokenizer of the run and nothing else.
"""

import base64
import importlib
import json
import os
import sys
import tempfile
import time
import traceback
from pathlib import Path

MODEL = "maskwright/vocabulary"
REVISION = "0" * 40


def offline_hub(folder):
    """Makes `folder` the cache of the Hugging Face hub, which is not asked. Has to come before the hub's package is imported."""
    for name in ("TRANSFORMERS_CACHE", "HUGGINGFACE_HUB_CACHE"):
        os.environ.pop(name, None)
    os.environ |= {"HF_HOME": folder, "HF_HUB_CACHE": f"{folder}/hub", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}


def write_model(folder, tokenizer_json, tokens, eos):
    """Writes what a model's repository says of its tokens into the cache."""
    repository = Path(folder, "hub", "models--" + MODEL.replace("/", "--"))
    snapshot = repository / "snapshots" / REVISION
    snapshot.mkdir(parents=True, exist_ok=True)
    (repository / "refs").mkdir(exist_ok=True)
    (repository / "refs" / "main").write_text(REVISION)
    name = base64.b64decode(tokens[eos[0]] or "").decode("utf-8", "replace")
    files = {
        "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": name},
        # A kind that every version knows: adapters ask for the number of logits.
        "config.json": {"model_type": "llama", "vocab_size": len(tokens), "eos_token_id": eos[0]},
    }
    for file, content in files.items():
        (snapshot / file).write_text(json.dumps(content))
    (snapshot / "tokenizer.json").write_text(tokenizer_json, encoding="utf-8")


class Clock:
    """Nanoseconds since it was made."""

    def __init__(self):
        self.wall, self.cpu = time.perf_counter_ns(), time.process_time_ns()

    def read(self):
        return {"wall_ns": time.perf_counter_ns() - self.wall, "cpu_ns": time.process_time_ns() - self.cpu}


class Worker:
    def __init__(self, path, hub):
        module, _, name = path.rpartition(".")
        if not module:
            raise SystemExit(f"{path!r} is not module.Class")
        self.hub = hub
        self.path = path
        self.engine = getattr(importlib.import_module(module), name)()
        self.engine.multi, self.engine.debug = True, False
        self.special, self.text = [], []
        # An engine holds one compiled schema. Those of other maskers are compiled again when they are asked for.
        self.schemas, self.compiled, self.next = {}, None, 0

    def hello(self, _request):
        try:
            version = str(self.engine.get_version())
        except Exception:  # Not every engine is an installed package.
            version = "unknown"
        return {"name": str(self.engine.get_id()), "version": version, "options": f"MaskBench's {self.path}"}

    def setup(self, request):
        vocabulary = request["vocabulary"]
        tokenizer = vocabulary.get("tokenizer") or {}
        if "tokenizer_json" not in tokenizer:
            return {
                "error": "MaskBench's engines take the tokenizer of a model of Hugging Face: choose --vocabulary builtin, a model's "
                "directory or its id at the hub"
            }
        tokens, eos, special = vocabulary["tokens"], vocabulary["eos"], set(vocabulary["special"]) | set(vocabulary["eos"])
        self.special = [*eos, *sorted(special - set(eos))]
        self.text = [token for token in range(len(tokens)) if token not in special]
        write_model(self.hub, tokenizer["tokenizer_json"], tokens, eos)
        from transformers import AutoTokenizer

        self.engine.tokenizer_model_id = MODEL
        self.engine.tokenizer = AutoTokenizer.from_pretrained(MODEL)
        self.engine.init()
        return {}

    def compile(self, request):
        schema = json.loads(request["schema"])
        self.compiled = None
        clock = Clock()
        try:
            self.engine.compile_grammar(schema)
        except Exception as error:
            return {"compile_error": {"kind": "refused", "message": repr(error)}} | clock.read()
        reply = {"masker": self.next} | clock.read()
        self.schemas[self.next] = schema
        self.compiled = self.next
        self.next += 1
        if request.get("first_mask"):
            self.engine.reset()
            clock = Clock()
            self.engine.compute_mask()
            reply["first_mask"] = clock.read()
        return reply

    def replay(self, request):
        masker = request["masker"]
        if masker != self.compiled:
            self.compiled = None
            self.engine.compile_grammar(self.schemas[masker])
            self.compiled = masker
        times, accepted = [], 0
        reply = {"complete": False}
        try:
            self.engine.reset()
            for token in request["tokens"]:
                clock = Clock()
                self.engine.compute_mask()
                allowed = self.engine.commit_token(token)
                times.append(clock.read())
                if not allowed:
                    break
                accepted += 1
            if accepted == len(request["tokens"]):
                reply["complete"] = self.may_end()
        except Exception as error:
            reply["failure"] = repr(error)
        for name in ("wall_ns", "cpu_ns"):
            reply[name] = [time[name] for time in times]
        return reply | {"accepted": accepted}

    def may_end(self):
        """Whether the document may end here: a special token is allowed, or nothing at all is. A refusal leaves an engine where it was.

        Some engines take another special token for the end than the model does, and some allow nothing behind a document that is over.
        """
        self.engine.compute_mask()
        allows = self.engine.commit_token
        return any(map(allows, self.special)) or not any(map(allows, self.text))

    def drop(self, request):
        for masker in request["maskers"]:
            self.schemas.pop(masker, None)
        return {}

    def answer(self, request):
        work = {"hello": self.hello, "setup": self.setup, "compile": self.compile, "replay": self.replay, "drop": self.drop}
        if request["op"] not in work:
            return {"error": f"MaskBench's engines do not offer {request['op']}: they judge documents, and write none"}
        return work[request["op"]](request)


def main():
    if len(sys.argv) != 2:
        raise SystemExit("usage: maskbench.py module.Class")
    # What adapters print is no reply.
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdin.reconfigure(encoding="utf-8")
    with tempfile.TemporaryDirectory() as hub:
        offline_hub(hub)
        worker = Worker(sys.argv[1], hub)
        for line in sys.stdin:
            try:
                reply = worker.answer(json.loads(line))
            except Exception as error:
                traceback.print_exc()
                reply = {"error": repr(error)}
            replies.write(json.dumps(reply) + "\n")
            replies.flush()


main()
