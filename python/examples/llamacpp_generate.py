"""An answer of a model in a GGUF file through llama-cpp-python. The project's built-in model as such a file:

cargo run --release -p maskwright-models -- export-gguf builtin builtin.gguf

Its answer:

pip install ./python llama-cpp-python
python python/examples/llamacpp_generate.py builtin.gguf
"""

import argparse
import json
from pathlib import Path

from llama_cpp import Llama, LogitsProcessorList

import maskwright
import maskwright.llamacpp

SCHEMA = {
    "type": "object",
    "required": ["city", "inhabitants"],
    "additionalProperties": False,
    "properties": {"city": {"type": "string", "minLength": 1}, "inhabitants": {"type": "integer", "minimum": 1}},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="a GGUF file")
    parser.add_argument("--max-tokens", type=int, default=48)
    arguments = parser.parse_args()

    llama = Llama(model_path=str(arguments.model), n_ctx=512, verbose=False)
    compiler = maskwright.Compiler(maskwright.llamacpp.tokenizer(llama))
    compiled = compiler.compile_json_schema(SCHEMA)

    processor = maskwright.llamacpp.LogitsProcessor(compiled, max_tokens=arguments.max_tokens)
    answer = llama.create_completion(
        "Write a city: ", max_tokens=arguments.max_tokens, temperature=0, logits_processor=LogitsProcessorList([processor])
    )["choices"][0]["text"]
    print(answer)
    json.loads(answer)


if __name__ == "__main__":
    main()
