"""A logits processor for `llama-cpp-python`.

>>> tokenizer = maskwright.llamacpp.tokenizer(llama)
>>> compiled = maskwright.Compiler(tokenizer).compile_json_schema(schema)
>>> llama.create_completion(prompt, logits_processor=LogitsProcessorList([maskwright.llamacpp.LogitsProcessor(compiled)]))
"""

from __future__ import annotations

import ctypes
from typing import Any

from ._bitmask import allocate_token_bitmask, apply_token_bitmask_inplace
from ._follow import BatchFollower
from ._native import Compiled, Tokenizer


def tokenizer(llama: Any) -> Tokenizer:
    """The tokens of a model that `llama_cpp.Llama` has loaded. Tokens without text, such as those of chat templates, never stand for text.
    Every token with which llama.cpp ends a generation ends an answer.

    Raises `TokenizerError`, also if no token ends a generation.
    """
    ids = range(llama.n_vocab())
    vocabulary = _vocabulary(llama)
    if vocabulary is None:
        texts: list[bytes] = [llama.detokenize([token], special=False) for token in ids]
        ends = [token for token in [llama.token_eos()] if token >= 0]
    else:
        import llama_cpp

        texts = [_text(vocabulary, token) for token in ids]
        ends = [token for token in ids if llama_cpp.llama_vocab_is_eog(vocabulary, token)]
    return Tokenizer.from_bytes([text or None for text in texts], stop_token_ids=ends)


def _vocabulary(llama: Any) -> Any:
    """llama.cpp's vocabulary of a model; None for old versions of llama-cpp-python, and for objects that have only methods of `Llama`."""
    if not hasattr(llama, "model"):
        return None
    import llama_cpp

    return llama_cpp.llama_model_get_vocab(llama.model) if hasattr(llama_cpp, "llama_vocab_is_eog") else None


def _text(vocabulary: Any, token: int) -> bytes:
    """The bytes of a token, empty for control tokens. `Llama.detokenize` gives none for tokens of more than 32 bytes."""
    import llama_cpp

    size = 32
    while True:
        buffer = ctypes.create_string_buffer(size)
        length: int = llama_cpp.llama_token_to_piece(vocabulary, token, buffer, size, 0, False)
        if length >= 0:
            return buffer.raw[:length]
        # The negative number of bytes that the token has.
        size = -length


class LogitsProcessor:
    """Makes a completion write a valid answer. An object serves one completion. After a token that the schema does not allow, only stop tokens
    are allowed.
    """

    def __init__(self, compiled: Compiled, *, max_tokens: int | None = None) -> None:
        self._batch = BatchFollower(compiled, max_tokens)
        self._bitmask = allocate_token_bitmask(1, compiled.vocab_size, kind="numpy")

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Forbids tokens in `scores`, an array of the vocabulary's size, behind the array `input_ids`."""
        (matcher,) = self._batch.follow([input_ids.tolist()])
        matcher.fill_next_token_bitmask(self._bitmask)
        self._batch.end_dead(self._bitmask)
        apply_token_bitmask_inplace(scores, self._bitmask[0])
        return scores
