"""Bitmasks: arrays for masks, and their application to logits."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Any


def bitmask_words(vocab_size: int) -> int:
    """Number of 32-bit words in the mask of one answer over `vocab_size` tokens."""
    return -(-vocab_size // 32)


def allocate_token_bitmask(batch_size: int, vocab_size: int, *, kind: str | None = None) -> Any:
    """Allocates a bitmask of shape `(batch_size, ceil(vocab_size / 32))` and of 32-bit signed integers, every token allowed.

    `kind` is "torch" for a tensor on the CPU (in pinned memory where there is a GPU), "numpy" for an array or "memoryview".
    The default is the first of these that is installed. Token `t` is bit `t % 32` of word `t // 32` of its row.

    Raises `ValueError` for another kind, and `ImportError` if the package is missing.
    """
    if kind is None:
        installed = [name for name in ("torch", "numpy") if importlib.util.find_spec(name)]
        kind = installed[0] if installed else "memoryview"
    shape = (batch_size, bitmask_words(vocab_size))
    if kind == "torch":
        import torch

        return torch.full(shape, -1, dtype=torch.int32, pin_memory=torch.cuda.is_available())
    if kind == "numpy":
        import numpy

        return numpy.full(shape, -1, dtype=numpy.int32)
    if kind == "memoryview":
        return memoryview(bytearray(b"\xff" * (4 * shape[0] * shape[1]))).cast("i", shape)
    raise ValueError(f"kind {kind!r} is not known; one of: torch, numpy, memoryview")


def allow_only(bitmask: Any, row: int, tokens: Sequence[int]) -> None:
    """Allows some tokens, and no other, in a row of a bitmask of shape `(rows, words)`."""
    for word in range(bitmask.shape[1]):
        bits = sum(1 << token % 32 for token in set(tokens) if token // 32 == word)
        # The sign of a 32-bit integer is its highest bit.
        bitmask[row, word] = bits - (bits >> 31 << 32)


def apply_token_bitmask_inplace(logits: Any, bitmask: Any, *, indices: Sequence[int] | None = None) -> None:
    """Sets the logits of forbidden tokens, and of ids beyond the bitmask, to negative infinity.

    `logits` is a tensor of torch or an array of numpy, of shape `(batch, vocabulary)` or `(vocabulary,)` and of a floating type;
    `bitmask` is of shape `(batch, words)` or `(words,)`. `indices` names the rows to apply, in both; other rows do not change.
    A bitmask of torch is copied to the device of the logits, which may be any device of torch. This takes a temporary tensor of one
    byte for each logit.

    Raises `ValueError` if the shapes do not fit.
    """
    one_row = logits.ndim == 1
    rows, masks = (logits[None], bitmask) if one_row else (logits, bitmask)
    masks = masks[None] if masks.ndim == 1 else masks
    if rows.shape[0] != masks.shape[0]:
        raise ValueError(f"the logits have {rows.shape[0]} rows, the bitmask {masks.shape[0]}")
    if hasattr(logits, "masked_fill_"):
        _apply_torch(rows, masks, indices)
    else:
        _apply_numpy(rows, masks, indices)


def _apply_torch(logits: Any, bitmask: Any, indices: Sequence[int] | None) -> None:
    import torch

    bitmask = bitmask.to(logits.device, non_blocking=True)
    if indices is not None:
        chosen = torch.as_tensor(indices, dtype=torch.long, device=logits.device)
        rows = logits.index_select(0, chosen)
        _apply_torch(rows, bitmask.index_select(0, chosen), None)
        logits.index_copy_(0, chosen, rows)
        return
    shifts = torch.arange(32, dtype=torch.int32, device=logits.device)
    forbidden = ((bitmask.unsqueeze(-1) >> shifts) & 1 == 0).flatten(1)
    covered = min(forbidden.shape[1], logits.shape[1])
    logits[:, :covered].masked_fill_(forbidden[:, :covered], float("-inf"))
    logits[:, covered:].fill_(float("-inf"))


def _apply_numpy(logits: Any, bitmask: Any, indices: Sequence[int] | None) -> None:
    import numpy

    for row in range(logits.shape[0]) if indices is None else indices:
        bits = numpy.unpackbits(numpy.ascontiguousarray(bitmask[row]).view(numpy.uint8), bitorder="little")
        covered = min(bits.size, logits.shape[1])
        logits[row, :covered][bits[:covered] == 0] = -numpy.inf
        logits[row, covered:] = -numpy.inf
