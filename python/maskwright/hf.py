"""A logits processor for `transformers`.

>>> model.generate(**inputs, logits_processor=[maskwright.hf.LogitsProcessor(compiled, max_tokens=200)], max_new_tokens=200)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._bitmask import allocate_token_bitmask, apply_token_bitmask_inplace
from ._executor import shared_executor
from ._follow import BatchFollower
from ._native import Compiled


class LogitsProcessor:
    """Makes `generate` write valid answers, under one schema or one for each prompt. An object serves one call of `generate`.

    `max_tokens`, if given, is at most `generate`'s `max_new_tokens`: the answers then end in time. Beam search and sampling both work.
    After a token that its schema does not allow, a sequence ends: only stop tokens are allowed, and the log says so once.
    """

    # What transformers asks processors for.
    supports_continuous_batching = False

    def __init__(self, compiled: Compiled | Sequence[Compiled], *, max_tokens: int | None = None) -> None:
        self._batch = BatchFollower(compiled, max_tokens)
        self._bitmask: Any = None

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Forbids tokens in `scores`, of shape `(batch, vocabulary)`, behind `input_ids`, of shape `(batch, tokens)`.

        Raises `ValueError` if there are not as many schemas as sequences, or more or fewer sequences than at the first call.
        """
        matchers = self._batch.follow(input_ids.tolist())
        if self._bitmask is None:
            width = max(scores.shape[-1], *(matcher.vocab_size for matcher in matchers))
            self._bitmask = allocate_token_bitmask(len(matchers), width, kind="torch")
        shared_executor().fill(matchers, self._bitmask)
        self._batch.end_dead(self._bitmask)
        scores = scores.clone()
        apply_token_bitmask_inplace(scores, self._bitmask)
        return scores
