"""Answers of the project's built-in model through transformers, with and without a schema.

pip install ./python torch transformers
python python/examples/transformers_generate.py [SCHEMA.json] [--model DIRECTORY]
"""

import argparse
import json
from pathlib import Path

from transformers import AutoModelForCausalLM, AutoTokenizer

import maskwright
import maskwright.hf

SCHEMA = {
    "type": "object",
    "required": ["name", "born"],
    "additionalProperties": False,
    "properties": {"name": {"type": "string", "minLength": 1}, "born": {"type": "integer", "minimum": 1800, "maximum": 2000}},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("schema", nargs="?", type=Path)
    parser.add_argument("--model", type=Path, default=Path(__file__).parents[2] / "models" / "builtin")
    parser.add_argument("--max-tokens", type=int, default=64)
    arguments = parser.parse_args()
    schema = arguments.schema.read_text() if arguments.schema else json.dumps(SCHEMA)

    model = AutoModelForCausalLM.from_pretrained(arguments.model)
    tokenizer = AutoTokenizer.from_pretrained(arguments.model)
    compiler = maskwright.Compiler(maskwright.Tokenizer.from_file(arguments.model))
    compiled = compiler.compile_json_schema(schema)

    chat = [{"role": "user", "content": f"Write JSON for this schema: {schema}"}]
    inputs = tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_tensors="pt", return_dict=True)
    prompt = inputs["input_ids"].shape[1]
    for processors in [[], [maskwright.hf.LogitsProcessor(compiled, max_tokens=arguments.max_tokens)]]:
        answer = model.generate(
            input_ids=inputs["input_ids"],
            attention_mask=inputs["attention_mask"],
            max_new_tokens=arguments.max_tokens,
            logits_processor=processors,
            do_sample=False,
        )
        text = tokenizer.decode(answer[0][prompt:], skip_special_tokens=True)
        print("with the schema:   " if processors else "without the schema:", text)
    json.loads(text)


if __name__ == "__main__":
    main()
