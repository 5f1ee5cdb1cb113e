"""A logits processor for Outlines, for its models that run in this process: transformers, llama-cpp-python and mlx-lm.

>>> generator = outlines.Generator(model, processor=maskwright.outlines.LogitsProcessor(compiled, max_tokens=200))
>>> generator(prompt, max_new_tokens=200)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ._native import Compiled


class LogitsProcessor:
    """Makes a generator write valid answers, under one schema or one for each prompt of a batch. An object serves one call at a time.

    `max_tokens`, if given, is at most the number of tokens that the call allows: the answers then end in time. After a token that its schema
    does not allow, an answer ends: only stop tokens are allowed.
    """

    def __init__(self, compiled: Compiled | Sequence[Compiled], *, max_tokens: int | None = None) -> None:
        self._compiled, self._max_tokens = compiled, max_tokens
        self._process: Callable[[Any, Any], Any] | None = None

    def reset(self) -> None:
        """Begins new answers. Outlines does so before each call."""
        self._process = None

    def __call__(self, input_ids: Any, logits: Any) -> Any:
        """Returns `logits` with negative infinity for tokens that are forbidden after `input_ids`, in arrays of the model's library.

        Raises `ValueError` if there are not as many schemas as sequences, or several for a model that answers one prompt at a time.
        """
        if self._process is None:
            self._process = self._processor_of(logits)
        return self._process(input_ids, logits)

    def _processor_of(self, logits: Any) -> Callable[[Any, Any], Any]:
        from . import hf, llamacpp, mlx

        library = type(logits).__module__.partition(".")[0]
        if library == "torch":
            return hf.LogitsProcessor(self._compiled, max_tokens=self._max_tokens)
        if not isinstance(self._compiled, Compiled):
            raise ValueError(f"models over {library} answer one prompt at a time: they take one schema")
        if library == "mlx":
            return mlx.LogitsProcessor(self._compiled, max_tokens=self._max_tokens)
        return llamacpp.LogitsProcessor(self._compiled, max_tokens=self._max_tokens)
