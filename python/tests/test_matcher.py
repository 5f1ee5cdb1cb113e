"""Matchers: masks, the end, limits on tokens, and the way back."""

import random
import struct
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from conftest import OTHER_STOP, POINT, STOP

import maskwright

VOCAB = 300


def allowed(bitmask: memoryview, row: int = 0) -> set[int]:
    words = bitmask.nbytes // 4 // len(bitmask)
    numbers = struct.unpack(f"={bitmask.nbytes // 4}I", bitmask.tobytes())[row * words : (row + 1) * words]
    return {32 * at + bit for at, word in enumerate(numbers) for bit in range(32) if word >> bit & 1}


def mask(matcher: maskwright.Matcher) -> set[int]:
    bitmask = maskwright.allocate_token_bitmask(1, VOCAB, kind="memoryview")
    matcher.fill_next_token_bitmask(bitmask)
    return allowed(bitmask)


def test_a_mask_has_the_tokens_that_are_accepted(compiler: maskwright.Compiler) -> None:
    matcher = compiler.compile_json_schema(POINT).matcher()
    for token in b'{"x":1,"label":"a"}':
        accepted = {other for other in range(VOCAB) if matcher.validate_tokens([other])}
        assert mask(matcher) == accepted
        assert matcher.accept_token(token)
    assert mask(matcher) == {STOP}


def test_numbers_that_are_no_tokens_are_not_allowed(compiler: maskwright.Compiler) -> None:
    compiled = compiler.compile_json_schema({"type": "boolean"})
    matcher = compiled.matcher()
    for number in (-1, VOCAB, 2**32 + ord("t"), 2**40, -(2**63)):
        assert matcher.accept_token(number) is False
    assert matcher.validate_tokens([*b"tr", -1]) == 2
    with pytest.raises(ValueError, match="max_tokens 0"):
        compiled.matcher(max_tokens=-1)
    for number in (-1, 2**32):
        with pytest.raises(ValueError, match="stop token"):
            compiled.matcher(stop_token_ids=[number])
    with pytest.raises(ValueError, match="none of number -1"):
        matcher.fill_next_token_bitmask(maskwright.allocate_token_bitmask(1, VOCAB, kind="memoryview"), -1)
    assert matcher.accept_tokens([*b"tr", 2**40, ord("u")]) == 2 and matcher.num_accepted_tokens == 2


def test_the_end_can_be_taken_back(compiler: maskwright.Compiler) -> None:
    matcher = compiler.compile_json_schema({"type": "boolean"}).matcher()
    assert matcher.accept_tokens([*b"true", STOP, STOP]) == 5
    assert matcher.is_terminated() and matcher.is_completed() and mask(matcher) == {STOP}
    matcher.rollback()
    assert not matcher.is_terminated() and matcher.is_completed()
    matcher.reset()
    assert matcher.num_accepted_tokens == 0 and not matcher.is_completed()
    with pytest.raises(maskwright.MaskError, match="roll back"):
        matcher.rollback(1)


def test_an_answer_has_stop_tokens_of_its_own(compiler: maskwright.Compiler) -> None:
    compiled = compiler.compile_json_schema({"const": 1})
    matcher = compiled.matcher(stop_token_ids=[OTHER_STOP])
    assert matcher.accept_tokens(b"1") == 1 and mask(matcher) == {OTHER_STOP}
    assert not matcher.accept_token(STOP) and matcher.accept_token(OTHER_STOP)
    assert maskwright.Matcher(compiled, stop_token_ids=[7]).stop_token_ids == [7]
    for ids in [[], [VOCAB]]:
        with pytest.raises(ValueError, match="stop token"):
            compiled.matcher(stop_token_ids=ids)


def test_forks_go_their_own_way(compiler: maskwright.Compiler) -> None:
    matcher = compiler.compile_json_schema({"enum": [True, False]}).matcher()
    fork = matcher.fork()
    assert matcher.accept_tokens(b"true") == 4 and fork.accept_tokens(b"false") == 5


def test_what_must_come_is_known(compiler: maskwright.Compiler) -> None:
    matcher = compiler.compile_json_schema({"const": {"é": 1}}).matcher()
    assert matcher.accept_tokens(b"{") == 1
    text = matcher.find_jump_forward_string()
    assert text.startswith('"é"') or text == ""
    completion = matcher.completion()
    assert completion is not None and matcher.accept_tokens(completion) == len(completion)
    assert matcher.is_completed()


@pytest.mark.parametrize("max_tokens", [9, 12, 30])
def test_an_answer_ends_within_its_limit(compiler: maskwright.Compiler, max_tokens: int) -> None:
    compiled = compiler.compile_json_schema(POINT)
    chooser = random.Random(max_tokens)
    for _ in range(20):
        matcher = compiled.matcher(max_tokens=max_tokens)
        while not matcher.is_terminated():
            tokens = sorted(mask(matcher))
            # A model that would rather go on for ever.
            going_on = [token for token in tokens if chr(token) in "a0 1"] or tokens
            assert matcher.accept_token(chooser.choice(going_on))
        assert matcher.num_accepted_tokens <= max_tokens


def test_a_limit_that_no_answer_keeps_is_an_error(compiler: maskwright.Compiler) -> None:
    with pytest.raises(ValueError, match="max_tokens 3"):
        compiler.compile_json_schema(POINT).matcher(max_tokens=3)


def test_a_thread_that_waits_for_a_matcher_holds_up_no_other(compiler: maskwright.Compiler) -> None:
    matcher = compiler.compile_grammar('root ::= "(" root ")" | "a"').matcher()
    tokens, seconds = [ord("(")] * 10_000, 0.0
    while seconds < 0.1:
        tokens *= 2
        begun = time.perf_counter()
        assert matcher.validate_tokens(tokens) == len(tokens)
        seconds = time.perf_counter() - begun
    works: list[Callable[[], object]] = [
        lambda: matcher.validate_tokens(tokens),
        matcher.is_terminated,
        lambda: matcher.vocab_size,
        lambda: matcher.num_accepted_tokens,
        lambda: matcher.stop_token_ids,
        lambda: repr(matcher),
    ]

    def turns() -> int:
        """How often this thread runs while others wait for the matcher."""
        threads = [threading.Thread(target=work) for work in works]
        for thread in threads:
            thread.start()
        count = 0
        while any(thread.is_alive() for thread in threads[1:]):
            time.sleep(0.001)
            count += 1
        threads[0].join()
        return count

    # On a busy machine the others may come before the first has begun.
    assert any(turns() > 5 for _ in range(3))


def test_bitmasks_of_other_shapes_are_refused(compiler: maskwright.Compiler) -> None:
    matcher = compiler.compile_json_schema(POINT).matcher()
    good = maskwright.allocate_token_bitmask(2, VOCAB, kind="memoryview")
    with pytest.raises(ValueError, match="number 2"):
        matcher.fill_next_token_bitmask(good, 2)
    with pytest.raises(ValueError, match="too short"):
        matcher.fill_next_token_bitmask(maskwright.allocate_token_bitmask(1, VOCAB - 32, kind="memoryview"))
    with pytest.raises(ValueError, match="read-only"):
        matcher.fill_next_token_bitmask(good.toreadonly())
    for other in [bytearray(400), memoryview(bytearray(400)).cast("f"), [1], None]:
        with pytest.raises(TypeError):
            matcher.fill_next_token_bitmask(other)


def test_arrays_of_numpy_are_written_in_place(compiler: maskwright.Compiler) -> None:
    numpy = pytest.importorskip("numpy")
    matcher = compiler.compile_json_schema(POINT).matcher()
    bitmask = maskwright.allocate_token_bitmask(3, VOCAB, kind="numpy")
    assert bitmask.shape == (3, maskwright.bitmask_words(VOCAB)) and bitmask.dtype == numpy.int32
    foreign = bitmask.astype(bitmask.dtype.newbyteorder())
    with pytest.raises(TypeError, match="byte order"):
        matcher.fill_next_token_bitmask(foreign)
    with pytest.raises(TypeError, match="int64"):
        maskwright.apply_token_bitmask_inplace(numpy.zeros((3, 310)), bitmask.astype(numpy.int64))
    assert matcher.fill_next_token_bitmask(bitmask, 1)
    assert (bitmask[0] == -1).all() and (bitmask[2] == -1).all()
    logits = numpy.zeros((3, 310), dtype=numpy.float32)
    maskwright.apply_token_bitmask_inplace(logits, bitmask, indices=[1])
    assert set(numpy.flatnonzero(logits[1] == 0)) == mask(matcher)
    assert (logits[0] == 0).all()
    maskwright.apply_token_bitmask_inplace(logits[1], bitmask[1])
    with pytest.raises(ValueError, match="contiguous"):
        matcher.fill_next_token_bitmask(bitmask[:, ::2])


def test_tensors_of_torch_are_written_in_place(compiler: maskwright.Compiler) -> None:
    torch = pytest.importorskip("torch")
    matcher = compiler.compile_json_schema(POINT).matcher()
    bitmask = maskwright.allocate_token_bitmask(2, VOCAB, kind="torch")
    matcher.fill_next_token_bitmask(bitmask, 1)
    logits = torch.zeros(2, 310)
    maskwright.apply_token_bitmask_inplace(logits, bitmask, indices=[1])
    assert set(torch.nonzero(logits[1] == 0).flatten().tolist()) == mask(matcher)
    assert bool((logits[0] == 0).all())
    for other in [bitmask.to(torch.int64), bitmask.to(torch.float32)]:
        with pytest.raises(TypeError):
            matcher.fill_next_token_bitmask(other)
    with pytest.raises(ValueError, match="contiguous"):
        matcher.fill_next_token_bitmask(bitmask[:, ::2])


@pytest.mark.parametrize("of_logits", ["torch", "numpy"])
@pytest.mark.parametrize("kind", ["torch", "numpy", "memoryview"])
def test_bitmasks_of_each_kind_mask_logits_of_each_kind(compiler: maskwright.Compiler, of_logits: str, kind: str) -> None:
    numpy, torch = pytest.importorskip("numpy"), pytest.importorskip("torch")
    matcher = compiler.compile_json_schema(POINT).matcher()
    bitmask = maskwright.allocate_token_bitmask(2, VOCAB, kind=kind)
    matcher.fill_next_token_bitmask(bitmask, 1)
    logits = torch.zeros(2, VOCAB) if of_logits == "torch" else numpy.zeros((2, VOCAB), dtype=numpy.float32)
    maskwright.apply_token_bitmask_inplace(logits, bitmask)
    assert {token for token in range(VOCAB) if logits[1, token] == 0} == mask(matcher)
    assert bool((logits[0] == 0).all())


def test_a_negative_number_of_tokens_is_not_taken_back(compiler: maskwright.Compiler) -> None:
    with pytest.raises(ValueError, match="negative"):
        compiler.compile_json_schema(POINT).matcher().rollback(-1)


@pytest.mark.parametrize("width", [1, 31, 33, 300, 319, 330])
def test_tensors_of_any_width_are_masked_as_bits_say(width: int) -> None:
    torch = pytest.importorskip("torch")
    words = maskwright.bitmask_words(VOCAB)
    everything = torch.randint(-(2**31), 2**31, (6, 2 * words), generator=torch.Generator().manual_seed(width)).to(torch.int32)
    # Rows and words that do not lie side by side.
    bitmask, logits = everything[::2, ::2], torch.zeros(3, width)
    maskwright.apply_token_bitmask_inplace(logits, bitmask)
    for row in range(3):
        masked = {token for token in range(width) if logits[row, token] == 0}
        assert masked == {token for token in range(min(width, 32 * words)) if int(bitmask[row, token // 32]) >> token % 32 & 1}


def test_masking_takes_a_byte_for_each_logit() -> None:
    torch = pytest.importorskip("torch")
    overrides = pytest.importorskip("torch.overrides")
    sizes: list[int] = []

    def record(mode: object, function: Any, types: object, args: Any = (), kwargs: Any = None) -> Any:
        made = function(*args, **(kwargs or {}))
        # All tensors but the logits.
        if isinstance(made, torch.Tensor) and not made.is_floating_point():
            sizes.append(made.nbytes)
        return made

    bitmask, logits = maskwright.allocate_token_bitmask(4, 3200, kind="torch"), torch.zeros(4, 3200)
    with type("Sizes", (overrides.TorchFunctionMode,), {"__torch_function__": record})():
        maskwright.apply_token_bitmask_inplace(logits, bitmask)
    assert max(sizes) == 4 * 3200


def test_bitmasks_may_be_filled_anew_after_they_are_applied(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    copies: list[Any] = []
    to = torch.Tensor.to

    def copied(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        copies.append(kwargs)
        return to(tensor, *args, **kwargs)

    monkeypatch.setattr(torch.Tensor, "to", copied)
    maskwright.apply_token_bitmask_inplace(torch.zeros(1, VOCAB), maskwright.allocate_token_bitmask(1, VOCAB, kind="torch"))
    assert copies and not any(kwargs.get("non_blocking") for kwargs in copies)
