"""Exact token masks for JSON Schema: the tokens that may come next, so that a language model writes valid documents only.

>>> tokenizer = maskwright.Tokenizer.from_file("path/to/model")
>>> compiler = maskwright.Compiler(tokenizer)
>>> matcher = compiler.compile_json_schema({"type": "integer"}).matcher(max_tokens=20)
>>> bitmask = maskwright.allocate_token_bitmask(1, tokenizer.vocab_size)
>>> matcher.fill_next_token_bitmask(bitmask)
True

`Executor` fills the masks of a batch. The modules `maskwright.hf`, `maskwright.outlines`, `maskwright.mlx` and `maskwright.llamacpp` have processors of
logits for transformers, Outlines, mlx-lm and llama-cpp-python; vLLM and SGLang find the package by its entry points.
"""

from ._bitmask import allocate_token_bitmask, apply_token_bitmask_inplace, bitmask_words
from ._native import (
    Compiled,
    CompileError,
    Compiler,
    Executor,
    MaskError,
    Matcher,
    Tokenizer,
    TokenizerError,
    __version__,
)

__all__ = [
    "CompileError",
    "Compiled",
    "Compiler",
    "Executor",
    "MaskError",
    "Matcher",
    "Tokenizer",
    "TokenizerError",
    "__version__",
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "bitmask_words",
]
