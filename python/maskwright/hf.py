"""A logits processor for `transformers`.

>>> model.generate(**inputs, logits_processor=[maskwright.hf.LogitsProcessor(compiled, max_tokens=200)], max_new_tokens=200)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._bitmask import allocate_token_bitmask, apply_token_bitmask_inplace
from ._follow import BatchFollower
from ._native import Compiled, Executor


class LogitsProcessor:
    """Makes `generate` write valid answers, under one schema or one for each prompt. An object serves one call of `generate`.

    `max_tokens`, if given, is at most `generate`'s `max_new_tokens`: the answers then end in time. Beam search and sampling both work.
    """

    # What transformers asks processors for.
    supports_continuous_batching = False

    def __init__(self, compiled: Compiled | Sequence[Compiled], *, max_tokens: int | None = None) -> None:
        self._batch = BatchFollower(compiled, max_tokens)
        self._executor = Executor()
        self._bitmask: Any = None

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Forbids tokens in `scores`, of shape `(batch, vocabulary)`, behind `input_ids`, of shape `(batch, tokens)`.

        Raises `ValueError` if a sequence has a token that its schema does not allow.
        """
        matchers = self._batch.follow(input_ids.tolist())
        if self._bitmask is None:
            width = max(scores.shape[-1], *(matcher.vocab_size for matcher in matchers))
            self._bitmask = allocate_token_bitmask(len(matchers), width, kind="torch")
        self._executor.fill(matchers, self._bitmask)
        scores = scores.clone()
        apply_token_bitmask_inplace(scores, self._bitmask)
        return scores
