"""Renders the templates of models/tests/all/templates with transformers and compares with, or writes, expected.json."""

import argparse
import datetime
import json
import sys
from pathlib import Path

import jinja2
from transformers.utils import chat_template_utils

DIRECTORY = Path(__file__).resolve().parents[2] / "models" / "tests" / "all" / "templates"
SPECIAL_TOKENS = {"bos_token": "<|bos|>", "eos_token": "<|eos|>", "pad_token": "<|pad|>"}


class Clock(datetime.datetime):
    """The time that models/tests/all/chat_templates.rs gives templates too."""

    @classmethod
    def now(cls, tz=None):
        return cls(2026, 1, 5, 12, 30)


def rendered() -> dict[str, list[str | None]]:
    """For each template and case the prompt; None where the template refuses."""
    chat_template_utils.datetime = Clock
    results = {}
    for path in sorted(DIRECTORY.glob("*.jinja")):
        results[path.stem] = []
        for case in json.loads((DIRECTORY / "cases.json").read_text()):
            variables = {"tools": None, "documents": None, "messages": case["messages"], **SPECIAL_TOKENS, **case["variables"]}
            template = chat_template_utils._compile_jinja_template(path.read_text())
            try:
                prompt = template.render(add_generation_prompt=True, **variables)
            # What a template does with messages that it was not made for ends in errors of other kinds, too.
            except (jinja2.exceptions.TemplateError, TypeError, AttributeError):
                prompt = None
            results[path.stem].append(prompt)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="replace expected.json")
    arguments = parser.parse_args()
    results = rendered()
    expected = DIRECTORY / "expected.json"
    if arguments.write:
        expected.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    elif results != json.loads(expected.read_text()):
        sys.exit(f"{expected} is not what transformers renders; see --write")
    print(f"ok   {sum(map(len, results.values()))} chat template cases")


if __name__ == "__main__":
    main()
