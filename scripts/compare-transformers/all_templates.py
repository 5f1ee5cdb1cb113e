"""Renders every chat template of a directory with transformers and with this project, and compares.

Each template is given conversations as people have them: with and without instructions, with several turns, with thoughts,
with tools, calls of tools and their results; and each of these with the template's switches for thinking on, off and absent.
A case that a template refuses in both counts as equal. Two differences are known, and told apart: Python refuses to walk
through `none`, where the Jinja of this project finds nothing in it; and what is added to a text marked `safe` is escaped there.
"""

import argparse
import html
import json
import subprocess
import sys
from pathlib import Path

import jinja2
from chat_templates import SPECIAL_TOKENS, Clock
from transformers.utils import chat_template_utils

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "find_train",
            "description": "Finds the next train.\nTimes are local.",
            "parameters": {
                "type": "object",
                "properties": {
                    "from": {"type": "string", "description": "Where it starts: \"Zürich HB\", say."},
                    "to": {"type": "string"},
                    "class": {"type": "integer", "enum": [1, 2], "default": 2},
                    "via": {"type": "array", "items": {"type": "string"}},
                    "limit": {"type": ["number", "null"], "minimum": 0.5},
                },
                "required": ["from", "to"],
            },
            "return": {"type": "string"},
        },
    },
    {"type": "function", "function": {"name": "now", "description": "The time.", "parameters": {"type": "object", "properties": {}}}},
]
CALL = {"id": "call00001", "type": "function", "function": {"name": "find_train", "arguments": {"from": "Bern", "to": "Zürich HB", "class": 1}}}
QUESTION = {"role": "user", "content": "When does the next train leave?\n"}
SYSTEM = {"role": "system", "content": "  Be brief: <answer> & \"quote\".\n"}
ANSWERED = [QUESTION, {"role": "assistant", "content": "<think>\nHm.\n</think>\n\nAt 9:02."}, {"role": "user", "content": " And then?"}]
THOUGHT = [QUESTION, {"role": "assistant", "content": "At 9:02.", "reasoning_content": "Hm.", "thinking": "Hm."}, {"role": "user", "content": "Thanks 😀"}]
CALLED = [
    QUESTION,
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call00001", "name": "find_train", "content": "{\"departure\": \"9:02\"}"},
]
CONVERSATIONS = {
    "question": ([QUESTION], None),
    "instructions": ([SYSTEM, QUESTION], None),
    "turns": ([SYSTEM, *ANSWERED], None),
    "thought": (THOUGHT, None),
    "tools": ([QUESTION], TOOLS),
    "tools, instructions": ([SYSTEM, *ANSWERED], TOOLS),
    "call": (CALLED, TOOLS),
    "call, instructions": ([SYSTEM, *CALLED, {"role": "assistant", "content": "At 9:02."}, {"role": "user", "content": "Thanks."}], TOOLS),
}
SWITCHES = {
    "": {},
    ", thinking": {"enable_thinking": True, "thinking": True, "reasoning_effort": "high"},
    ", no thinking": {"enable_thinking": False, "thinking": False, "reasoning_effort": "low"},
}


def cases() -> dict[str, dict]:
    """The variables of each case by its name."""
    return {
        name + switch: {"messages": messages, "tools": tools, "documents": None, "add_generation_prompt": True, **SPECIAL_TOKENS, **variables}
        for name, (messages, tools) in CONVERSATIONS.items()
        for switch, variables in SWITCHES.items()
    }


def of_transformers(text: str) -> list[str | None]:
    """For each case the prompt; None where the template refuses."""
    template = chat_template_utils._compile_jinja_template(text)
    prompts = []
    for variables in cases().values():
        try:
            # Templates may change what they are given.
            prompts.append(template.render(**json.loads(json.dumps(variables))))
        # A template's mistakes are errors of all kinds, endless recursion among them.
        except Exception:
            prompts.append(None)
    return prompts


def of_this_project(program: str, path: Path) -> list[dict]:
    """For each case what the program prints."""
    command = [program, "chat-prompts", str(path), "--clock", "2026-01-05T12:30:00"]
    run = subprocess.run(command, input=json.dumps(list(cases().values())), capture_output=True, text=True)
    if run.returncode:
        return [{"error": run.stderr.strip()}] * len(cases())
    return json.loads(run.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path, help="Jinja files, one template each")
    parser.add_argument("--program", required=True, help="maskwright-models")
    arguments = parser.parse_args()
    chat_template_utils.datetime = Clock
    paths = sorted(arguments.directory.glob("*.jinja"))
    differing = compared = rendered = known = 0
    for path in paths:
        try:
            expected = of_transformers(path.read_text())
        except jinja2.exceptions.TemplateError as error:
            print(f"left out: transformers does not parse {path.name}: {error}")
            continue
        found = of_this_project(arguments.program, path)
        for name, theirs, ours in zip(cases(), expected, found, strict=True):
            compared += 1
            rendered += theirs is not None
            if ours.get("prompt") == theirs:
                continue
            if theirs is None or "safe" in path.read_text() and html.unescape(theirs) == ours.get("prompt"):
                known += 1
            else:
                differing += 1
                print(f"{path.name}, {name}:\n  transformers {theirs!r}\n  here         {ours.get('prompt', ours)!r}")
    equal = compared - differing - known
    print(f"{equal} of {compared} prompts of {len(paths)} templates are equal, {known} differ as is known; transformers refuses {compared - rendered}")
    sys.exit(differing > 0 or not compared)


if __name__ == "__main__":
    main()
