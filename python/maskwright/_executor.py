"""The executor that processors of logits and plugins of servers share."""

from __future__ import annotations

import functools
import os

from ._native import Executor


@functools.cache
def shared_executor() -> Executor:
    """Returns the executor of this process, whose threads start at the first call. Callers do not keep it: a forked child has one of its own."""
    return Executor()


if hasattr(os, "register_at_fork"):
    # A forked child has none of its parent's threads.
    os.register_at_fork(after_in_child=shared_executor.cache_clear)
