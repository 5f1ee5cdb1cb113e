"""A logits processor for `mlx-lm`.

>>> processor = maskwright.mlx.LogitsProcessor(compiled, max_tokens=200)
>>> mlx_lm.generate(model, tokenizer, prompt, max_tokens=200, logits_processors=[processor])
"""

from __future__ import annotations

from typing import Any

from ._bitmask import allocate_token_bitmask
from ._follow import BatchFollower
from ._native import Compiled


class LogitsProcessor:
    """Makes `generate` write a valid answer, also with a draft model. An object serves one call of `generate`.

    `max_tokens`, if given, is at most `generate`'s: the answer then ends in time. After a token that the schema does not allow, only stop
    tokens are allowed.
    """

    def __init__(self, compiled: Compiled, *, max_tokens: int | None = None) -> None:
        self._batch = BatchFollower(compiled, max_tokens)
        self._bitmask = allocate_token_bitmask(1, compiled.vocab_size, kind="numpy")

    def __call__(self, tokens: Any, logits: Any) -> Any:
        """Returns `logits`, of shape `(1, vocabulary)`, with negative infinity for tokens that are forbidden after `tokens`."""
        import mlx.core as mx
        import numpy

        (matcher,) = self._batch.follow([tokens.tolist()])
        matcher.fill_next_token_bitmask(self._bitmask)
        self._batch.end_dead(self._bitmask)
        # Zeros, where there are more logits than tokens.
        bits = numpy.unpackbits(self._bitmask[0].view(numpy.uint8), bitorder="little")
        allowed = numpy.zeros(logits.shape[-1], dtype=bool)
        covered = min(bits.size, allowed.size)
        allowed[:covered] = bits[:covered]
        return mx.where(mx.array(allowed), logits, mx.array(-mx.inf, dtype=logits.dtype))
