"""Batches are filled as matchers fill one by one."""

import os
import signal
import time

import pytest
from conftest import POINT, STOP
from test_matcher import VOCAB, allowed, mask

import maskwright
from maskwright._executor import shared_executor

TEXT = b'{"x":1,"label":"ab"}'


def matchers(compiler: maskwright.Compiler, count: int) -> list[maskwright.Matcher]:
    made = []
    for number in range(count):
        matcher = compiler.compile_json_schema(POINT).matcher()
        matcher.accept_tokens(TEXT[: number % len(TEXT)])
        made.append(matcher)
    return made


@pytest.mark.parametrize("threads", [1, 3, None])
def test_rows_are_those_of_the_matchers(compiler: maskwright.Compiler, threads: int | None) -> None:
    executor = maskwright.Executor(threads)
    assert threads is None or executor.num_threads == threads
    batch = matchers(compiler, 70)
    bitmask = maskwright.allocate_token_bitmask(100, VOCAB, kind="memoryview")
    rows = list(range(99, 29, -1))
    executor.fill(batch, bitmask, rows)
    for matcher, row in zip(batch, rows, strict=True):
        assert allowed(bitmask, row) == mask(matcher)
    assert len(allowed(bitmask, 0)) == bitmask.shape[1] * 32
    assert executor.accept([(batch[0], ord("{")), (batch[1], STOP)]) == [True, False]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_has_threads_of_its_own(compiler: maskwright.Compiler) -> None:
    # More matchers than one thread takes.
    batch = matchers(compiler, 20)
    bitmask = maskwright.allocate_token_bitmask(20, VOCAB, kind="memoryview")
    shared_executor().fill(batch, bitmask)
    child = os.fork()
    if child == 0:
        # The child ends here, whatever happens: the tests go on in the parent.
        try:
            again = maskwright.allocate_token_bitmask(20, VOCAB, kind="memoryview")
            shared_executor().fill(batch, again)
            os._exit(0 if again == bitmask else 1)
        finally:
            os._exit(2)
    ended, status, last = 0, 0, time.monotonic() + 60
    while not ended and time.monotonic() < last:
        ended, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.01)
    if not ended:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert ended == child and os.waitstatus_to_exitcode(status) == 0


def test_rows_that_are_not_there_are_errors(compiler: maskwright.Compiler) -> None:
    executor, batch = maskwright.Executor(1), matchers(compiler, 2)
    bitmask = maskwright.allocate_token_bitmask(2, VOCAB, kind="memoryview")
    for rows, message in [([0, 2], "number 2"), ([1, 1], "twice"), ([0], "1 rows")]:
        with pytest.raises(ValueError, match=message):
            executor.fill(batch, bitmask, rows)
    for requests, message in [([(batch[0], 0, [1, 2])], "number 2"), ([(batch[0], 0, [1]), (batch[1], 1, [])], "twice")]:
        with pytest.raises(ValueError, match=message):
            executor.fill_with_drafts(requests, bitmask)
    with pytest.raises(ValueError):
        maskwright.Executor(0)
    with pytest.raises(ValueError, match="one thread"):
        maskwright.Executor(-1)


def test_drafted_tokens_have_rows(compiler: maskwright.Compiler) -> None:
    first, second = matchers(compiler, 2)
    bitmask = maskwright.allocate_token_bitmask(7, VOCAB, kind="memoryview")
    maskwright.Executor(2).fill_with_drafts([(second, 4, b'"x'), (first, 0, b"{x{")], bitmask)
    assert allowed(bitmask, 0) == mask(first) and allowed(bitmask, 4) == mask(second)
    assert first.accept_tokens(b"{") == 1 and allowed(bitmask, 1) == mask(first)
    every = set(range(32 * bitmask.shape[1]))
    assert allowed(bitmask, 2) == allowed(bitmask, 3) == every
    assert second.accept_tokens(b'"x') == 2 and allowed(bitmask, 6) == mask(second)


def test_padding_of_drafts_is_not_allowed(compiler: maskwright.Compiler) -> None:
    (matcher,) = matchers(compiler, 1)
    executor, bitmask = maskwright.Executor(1), maskwright.allocate_token_bitmask(3, VOCAB, kind="memoryview")
    executor.fill_with_drafts([(matcher, 0, [ord("{"), -1])], bitmask)
    assert allowed(bitmask, 0) == mask(matcher) and allowed(bitmask, 2) == set(range(32 * bitmask.shape[1]))
    assert executor.accept([(matcher, -1), (matcher, 2**40), (matcher, ord("{"))]) == [False, False, True]
    assert allowed(bitmask, 1) == mask(matcher)


def test_trees_of_drafted_tokens_have_rows(compiler: maskwright.Compiler) -> None:
    (matcher,) = matchers(compiler, 1)
    bitmask = maskwright.allocate_token_bitmask(4, VOCAB, kind="memoryview")
    # `{` and `[` behind the root, `"` behind the brace.
    assert not matcher.traverse_draft_tree([1, 3, -1, -1], [-1, 2, -1, -1], [0, *b'{["'], bitmask)
    assert allowed(bitmask, 0) == mask(matcher) and matcher.num_accepted_tokens == 0
    assert matcher.accept_tokens(b'{"') == 2 and allowed(bitmask, 3) == mask(matcher)
    for links in [([0], [-1]), ([-1], [5])]:
        with pytest.raises(ValueError, match="tree"):
            matcher.traverse_draft_tree(*links, [0], bitmask)
