"""An answer of the project's built-in model through Outlines.

pip install ./python torch transformers outlines
python python/examples/outlines_generate.py [--model DIRECTORY]
"""

import argparse
import json
from pathlib import Path

import outlines
from transformers import AutoModelForCausalLM, AutoTokenizer

import maskwright
import maskwright.outlines

SCHEMA = {
    "type": "object",
    "required": ["city", "inhabitants"],
    "additionalProperties": False,
    "properties": {"city": {"type": "string", "minLength": 1}, "inhabitants": {"type": "integer", "minimum": 1}},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=Path(__file__).parents[2] / "models" / "builtin")
    parser.add_argument("--max-tokens", type=int, default=48)
    arguments = parser.parse_args()

    tokenizer = AutoTokenizer.from_pretrained(arguments.model)
    model = outlines.from_transformers(AutoModelForCausalLM.from_pretrained(arguments.model), tokenizer)
    compiler = maskwright.Compiler(maskwright.Tokenizer.from_file(arguments.model))
    compiled = compiler.compile_json_schema(SCHEMA)

    generator = outlines.Generator(model, processor=maskwright.outlines.LogitsProcessor(compiled, max_tokens=arguments.max_tokens))
    for prompt in ["Write a city: ", "Write another: "]:
        answer = generator(prompt, max_new_tokens=arguments.max_tokens, do_sample=False)
        print(prompt, answer)
        json.loads(answer)


if __name__ == "__main__":
    main()
