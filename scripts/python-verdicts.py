#!/usr/bin/env python3
"""The JSON Schema Test Suite and MaskBench through the Python package: whether its matchers accept what is valid and nothing else.

    scripts/python-verdicts.py --test-suite DIR/JSON-Schema-Test-Suite --maskbench DIR/maskbench/data

Needs the package `maskwright` alone. Documents are accepted byte by byte, over a vocabulary in which each byte is a token; every text of
JSON is admitted. Prints how many verdicts are those of the suite, each that is not, and what was refused. Ends with 1 where a verdict is not, and
with 2 where there is nothing to judge.
"""

import argparse
import json
import sys
from pathlib import Path

import maskwright

STOP = 256
TOKENIZER = maskwright.Tokenizer.from_bytes([bytes([byte]) for byte in range(256)] + [b""], stop_token_ids=[STOP])
DRAFTS = {"draft4": "4", "draft6": "6", "draft7": "7", "draft2019-09": "2019-09", "draft2020-12": "2020-12"}


def accepts(compiled, value):
    """Whether a document is accepted to its end."""
    tokens = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return compiled.matcher().accept_tokens([*tokens, STOP]) == len(tokens) + 1


class Counts:
    def __init__(self, name):
        self.name, self.agreed, self.differ, self.refused = name, 0, [], []

    def judge(self, compiler, schema, documents, place):
        try:
            compiled = compiler.compile_json_schema(schema)
        except maskwright.CompileError as error:
            if error.kind == "unsatisfiable":
                verdicts = [(valid, False) for _, valid in documents]
            else:
                self.refused.append(f"{place}: {error}")
                return
        else:
            verdicts = [(valid, accepts(compiled, data)) for data, valid in documents]
        for number, (valid, accepted) in enumerate(verdicts):
            if valid == accepted:
                self.agreed += 1
            else:
                self.differ.append(f"{place}, document {number}: {'refused' if valid else 'accepted'}")

    def show(self):
        print(f"{self.name}: {self.agreed} verdicts agree, {len(self.differ)} differ, {len(self.refused)} schemas refused")
        for line in [*self.differ, *self.refused]:
            print(f"  {line}")


def files_in(directory):
    """The JSON files of a directory. Ends the program with 2 where there are none."""
    paths = sorted(directory.glob("*.json"))
    if not paths:
        print(f"python-verdicts.py: {directory} has no JSON files", file=sys.stderr)
        sys.exit(2)
    return paths


def test_suite(directory):
    remotes = directory / "remotes"
    documents = {
        f"http://localhost:1234/{path.relative_to(remotes).as_posix()}": path.read_text() for path in remotes.rglob("*.json")
    }
    for folder, draft in DRAFTS.items():
        counts = Counts(folder)
        compiler = maskwright.Compiler(TOKENIZER, style="rfc8259", draft=draft, documents=documents)
        for path in files_in(directory / "tests" / folder):
            for group in json.loads(path.read_text()):
                tests = [(test["data"], test["valid"]) for test in group["tests"]]
                counts.judge(compiler, group["schema"], tests, f"{path.name}, {group['description']}")
        yield counts


def mask_bench(directory):
    counts = Counts("MaskBench")
    compiler = maskwright.Compiler(TOKENIZER, style="rfc8259", formats="asserted", cache_bytes=0)
    for path in files_in(directory):
        data = json.loads(path.read_text())
        tests = [(test["data"], test["valid"]) for test in data.get("tests", [])]
        counts.judge(compiler, data["schema"], tests, path.name)
    yield counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--test-suite", type=Path)
    parser.add_argument("--maskbench", type=Path)
    arguments = parser.parse_args()
    if not (arguments.test_suite or arguments.maskbench):
        parser.error("give --test-suite, --maskbench or both")
    all_counts = [
        *(test_suite(arguments.test_suite) if arguments.test_suite else []),
        *(mask_bench(arguments.maskbench) if arguments.maskbench else []),
    ]
    for counts in all_counts:
        counts.show()
    sys.exit(any(counts.differ for counts in all_counts))


if __name__ == "__main__":
    main()
