"""An answer of the project's built-in model through mlx-lm.

pip install ./python mlx-lm        # without a GPU of Apple's: "mlx[cpu]" too
python python/examples/mlx_generate.py [--model DIRECTORY]
"""

import argparse
import json
from pathlib import Path

import mlx_lm

import maskwright
import maskwright.mlx

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

    model, tokenizer = mlx_lm.load(str(arguments.model))
    compiler = maskwright.Compiler(maskwright.Tokenizer.from_file(arguments.model))
    compiled = compiler.compile_json_schema(SCHEMA)

    chat = [{"role": "user", "content": "Write a city."}]
    prompt = tokenizer.apply_chat_template(chat, add_generation_prompt=True)
    processor = maskwright.mlx.LogitsProcessor(compiled, max_tokens=arguments.max_tokens)
    answer = mlx_lm.generate(
        model, tokenizer, prompt, max_tokens=arguments.max_tokens, logits_processors=[processor]
    )
    print(answer)
    json.loads(answer)


if __name__ == "__main__":
    main()
