"""A logits processor for `llama-cpp-python`.

>>> tokenizer = maskwright.llamacpp.tokenizer(llama)
>>> compiled = maskwright.Compiler(tokenizer).compile_json_schema(schema)
>>> llama.create_completion(prompt, logits_processor=LogitsProcessorList([maskwright.llamacpp.LogitsProcessor(compiled)]))
"""

from __future__ import annotations

from typing import Any

from ._bitmask import allocate_token_bitmask, apply_token_bitmask_inplace
from ._follow import BatchFollower
from ._native import Compiled, Tokenizer


def tokenizer(llama: Any) -> Tokenizer:
    """The tokens of a model that `llama_cpp.Llama` has loaded. Tokens without text, such as those of chat templates, never stand for text.

    Raises `TokenizerError`.
    """
    vocab_size: int = llama.n_vocab()
    tokens = [llama.detokenize([token], special=False) or None for token in range(vocab_size)]
    return Tokenizer.from_bytes(tokens, stop_token_ids=[llama.token_eos()])


class LogitsProcessor:
    """Makes a completion write a valid answer. An object serves one completion."""

    def __init__(self, compiled: Compiled, *, max_tokens: int | None = None) -> None:
        self._batch = BatchFollower(compiled, max_tokens)
        self._bitmask = allocate_token_bitmask(1, compiled.vocab_size, kind="numpy")

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Forbids tokens in `scores`, an array of the vocabulary's size, behind the array `input_ids`.

        Raises `ValueError` if there is a token that the schema does not allow.
        """
        (matcher,) = self._batch.follow([input_ids.tolist()])
        matcher.fill_next_token_bitmask(self._bitmask)
        apply_token_bitmask_inplace(scores, self._bitmask[0])
        return scores
