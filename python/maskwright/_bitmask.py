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
    width = bitmask.shape[1]
    if isinstance(bitmask, memoryview):
        # Views of two dimensions have no rows to assign to.
        for word in range(width):
            bitmask[row, word] = 0
    else:
        bitmask[row] = 0
    words: dict[int, int] = {}
    for token in tokens:
        words[token // 32] = words.get(token // 32, 0) | 1 << token % 32
    for word, bits in words.items():
        if word < width:
            # The sign of a 32-bit integer is its highest bit.
            bitmask[row, word] = bits - (bits >> 31 << 32)


def apply_token_bitmask_inplace(logits: Any, bitmask: Any, *, indices: Sequence[int] | None = None) -> None:
    """Sets the logits of forbidden tokens, and of ids beyond the bitmask, to negative infinity.

    `logits` is a tensor of torch or an array of numpy, of shape `(batch, vocabulary)` or `(vocabulary,)` and of a floating type;
    `bitmask`, of any kind that `allocate_token_bitmask` makes, is of shape `(batch, words)` or `(words,)`. `indices` names the rows to
    apply, in both; other rows do not change.
    A bitmask of torch is copied to the device of the logits, which may be any device of torch; once the call returns, the bitmask may be
    filled anew. Temporary memory is one byte for each logit of the rows that are applied, and with `indices` a copy of the named rows
    of torch, too; for arrays of numpy, two bytes for each logit of one row.

    Raises `ValueError` if the shapes do not fit, `TypeError` if the bitmask is not of 32-bit integers in this machine's byte order.
    """
    bitmask = _like(logits, bitmask)
    kind = str(bitmask.dtype).removeprefix("torch.")
    if kind not in ("int32", "uint32"):
        raise TypeError(f"the bitmask is of {kind}, not of int32")
    one_row = logits.ndim == 1
    rows, masks = (logits[None], bitmask) if one_row else (logits, bitmask)
    masks = masks[None] if masks.ndim == 1 else masks
    if rows.shape[0] != masks.shape[0]:
        raise ValueError(f"the logits have {rows.shape[0]} rows, the bitmask {masks.shape[0]}")
    if hasattr(logits, "masked_fill_"):
        _apply_torch(rows, masks, indices)
    else:
        _apply_numpy(rows, masks, indices)


def _like(logits: Any, bitmask: Any) -> Any:
    """The bitmask as a tensor of torch or an array of numpy, as the logits are."""
    if hasattr(logits, "masked_fill_"):
        if hasattr(bitmask, "to"):
            return bitmask
        import torch

        words = torch.frombuffer(bytearray(bitmask.tobytes()), dtype=torch.int32)
        return words.reshape(tuple(bitmask.shape))
    if isinstance(bitmask, memoryview):
        import numpy

        return numpy.asarray(bitmask)
    return bitmask


def _apply_torch(logits: Any, bitmask: Any, indices: Sequence[int] | None) -> None:
    import torch

    # A pending copy from pinned memory would see what is written into the bitmask next.
    bitmask = bitmask.to(logits.device)
    if indices is not None:
        chosen = torch.as_tensor(indices, dtype=torch.long, device=logits.device)
        rows = logits.index_select(0, chosen)
        _apply_torch(rows, bitmask.index_select(0, chosen), None)
        logits.index_copy_(0, chosen, rows)
        return
    # Bytes, which are shifted into bytes: words would take four for each logit.
    forbidden_bytes = (~bitmask).contiguous().view(torch.uint8)
    shifts = torch.arange(8, dtype=torch.uint8, device=logits.device)
    forbidden = (forbidden_bytes.unsqueeze(-1) >> shifts).bitwise_and_(1).view(torch.bool).flatten(1)
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
