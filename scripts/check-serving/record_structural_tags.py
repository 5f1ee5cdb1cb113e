"""Records the structural tags that vLLM makes for the tools in python/tests/structural_tags.json, into that file.

python record_structural_tags.py FILE [--check]     with --check: fails unless the file has what vLLM makes now
"""

import json
import sys
from importlib.metadata import version
from typing import Any

from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionToolsParam
from vllm.tool_parsers.structural_tag_registry import get_model_structural_tag


def made(recorded: dict[str, Any]) -> dict[str, Any]:
    tools = [ChatCompletionToolsParam(type="function", function=function) for function in recorded["functions"]]
    tags = {}
    for family in recorded["replies"]:
        tag = get_model_structural_tag(family, tools, "auto", True)
        assert tag is not None
        tags[family] = tag.model_dump(mode="json", exclude_none=True)
    return tags


def main() -> None:
    path, *options = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        recorded = json.load(file)
    tags = made(recorded)
    if options == ["--check"]:
        assert recorded["tags"] == tags, "vLLM makes other structural tags than those that are recorded"
        return
    recorded["source"] = f"vLLM {version('vllm')} with xgrammar {version('xgrammar')}: get_model_structural_tag(family, tools, 'auto', True)"
    recorded["tags"] = tags
    with open(path, "w", encoding="utf-8") as file:
        json.dump(recorded, file, indent=1, ensure_ascii=False)
        file.write("\n")


if __name__ == "__main__":
    main()
