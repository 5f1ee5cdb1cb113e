"""Processors of logits: sequences are followed, also where they go back, and end within their limits."""

import ctypes
import logging
import os
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import pytest
from conftest import POINT, STOP
from test_matcher import allowed

import maskwright
import maskwright.hf
import maskwright.llamacpp
import maskwright.mlx
import maskwright.outlines
from maskwright._executor import shared_executor
from maskwright._follow import BatchFollower

PROMPT = [7, 8]
ENUM = {"enum": [True, False, 12]}


def test_sequences_may_go_back(compiler: maskwright.Compiler) -> None:
    batch = BatchFollower(compiler.compile_json_schema(ENUM), None)
    batch.follow([PROMPT, PROMPT])
    batch.follow([[*PROMPT, *b"tr"], [*PROMPT, *b"1"]])
    # The beams change places.
    first, second = batch.follow([[*PROMPT, *b"12"], [*PROMPT, *b"true"]])
    assert first.is_completed() and second.is_completed()
    # Behind the end comes padding.
    batch.follow([[*PROMPT, *b"12", STOP, 0, 0], [*PROMPT, *b"true"]])
    assert first.is_terminated() and not second.is_terminated()
    with pytest.raises(ValueError, match="1 sequences"):
        batch.follow([PROMPT])


def test_a_token_that_is_not_allowed_ends_its_own_sequence(compiler: maskwright.Compiler, caplog: pytest.LogCaptureFixture) -> None:
    batch = BatchFollower(compiler.compile_json_schema(ENUM), None)
    bitmask = maskwright.allocate_token_bitmask(2, compiler.tokenizer.vocab_size, kind="memoryview")

    def masks(*answers: Sequence[int]) -> list[set[int]]:
        for row, matcher in enumerate(batch.follow([[*PROMPT, *answer] for answer in answers])):
            matcher.fill_next_token_bitmask(bitmask, row)
        batch.end_dead(bitmask)
        return [allowed(bitmask, row) for row in range(len(answers))]

    masks([], [])
    with caplog.at_level(logging.WARNING):
        assert masks(b"trx", b"fal") == [{STOP}, {ord("s")}]
        assert masks([*b"trx", STOP, 0], b"false") == [{STOP}, {STOP}]
        # The beams change places.
        assert masks(b"fals", b"t?") == [{ord("e")}, {STOP}]
        # The sequence goes back before the token, and on.
        assert masks(b"false", b"tru") == [{STOP}, {ord("e")}]
        assert masks(b"false", [*b"tru", -1]) == [{STOP}, {STOP}]
    assert [record.getMessage() for record in caplog.records] == [
        "token 120 is not allowed after 2 tokens of the answer: was the mask applied last?"
    ]


def over_numpy(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Any]:
    """Has the processor for transformers take arrays of numpy, and returns a function that makes scores for a number of sequences."""
    numpy = pytest.importorskip("numpy")
    allocate = maskwright.allocate_token_bitmask
    monkeypatch.setattr(maskwright.hf, "allocate_token_bitmask", lambda rows, width, kind: allocate(rows, width, kind="numpy"))
    scores = type("Scores", (numpy.ndarray,), {"clone": numpy.ndarray.copy})
    return lambda rows: numpy.zeros((rows, 310), dtype=numpy.float32).view(scores)


def test_a_row_that_is_padded_before_its_end_leaves_the_others_exact(
    compiler: maskwright.Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    numpy, scores = pytest.importorskip("numpy"), over_numpy(monkeypatch)
    process = maskwright.hf.LogitsProcessor(compiler.compile_json_schema(ENUM))

    def masks(*answers: Sequence[int]) -> list[set[int]]:
        processed = process(numpy.array([[*PROMPT, *answer] for answer in answers]), scores(len(answers)))
        return [set(numpy.flatnonzero(row == 0).tolist()) for row in processed]

    masks([], [])
    assert masks(b"t", b"f") == [{ord("r")}, {ord("a")}]
    # A criterion other than the end of the answer has stopped the second row.
    assert masks(b"tr", [*b"f", 0]) == [{ord("u")}, {STOP}]
    assert masks(b"tru", [*b"f", 0, 0]) == [{ord("e")}, {STOP}]
    assert masks(b"true", [*b"f", 0, 0, 0]) == [{STOP}, {STOP}]


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted in Linux's /proc")
def test_processors_share_their_threads(compiler: maskwright.Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    numpy, scores = pytest.importorskip("numpy"), over_numpy(monkeypatch)
    compiled = compiler.compile_json_schema(ENUM)
    before = len(os.listdir("/proc/self/task"))
    processors = [maskwright.hf.LogitsProcessor(compiled) for _ in range(50)]
    for process in processors:
        process(numpy.array([PROMPT]), scores(1))
    assert len(os.listdir("/proc/self/task")) - before <= shared_executor().num_threads


def test_prompts_may_have_schemas_of_their_own(compiler: maskwright.Compiler) -> None:
    schemas = [compiler.compile_json_schema({"const": value}) for value in (1, 2)]
    batch = BatchFollower(schemas, None)
    batch.follow([[], [], [], []])
    batch.follow([[*b"1"], [*b"1"], [*b"2"], [*b"2"]])
    with pytest.raises(ValueError, match="2 schemas for 3"):
        BatchFollower(schemas, None).follow([[], [], []])


def answer(process: Any, width: int, prefers: bytes) -> list[int]:
    """What a model writes that likes some tokens best, and then those with low numbers."""
    numpy = pytest.importorskip("numpy")
    tokens = list(PROMPT)
    while STOP not in tokens:
        scores = numpy.zeros(width, dtype=numpy.float32)
        scores[list(prefers)] = 1
        scores = process(numpy.array(tokens), scores)
        assert scores.max() > -numpy.inf
        tokens.append(int(scores.argmax()))
    return tokens[len(PROMPT) : -1]


def test_completions_of_llama_cpp_end_in_time(compiler: maskwright.Compiler) -> None:
    compiled = compiler.compile_json_schema(POINT)
    processor = maskwright.llamacpp.LogitsProcessor(compiled, max_tokens=14)
    tokens = answer(processor, 310, b"1")
    assert len(tokens) < 14
    matcher = compiled.matcher()
    assert matcher.accept_tokens(tokens) == len(tokens) and matcher.is_completed()


def test_generators_of_outlines_begin_anew(compiler: maskwright.Compiler) -> None:
    compiled = compiler.compile_json_schema(POINT)
    processor = maskwright.outlines.LogitsProcessor(compiled, max_tokens=14)
    answers = []
    for _ in range(2):
        processor.reset()
        answers.append(answer(processor, 310, b"1"))
    assert answers[0] == answers[1] and len(answers[0]) < 14
    several = maskwright.outlines.LogitsProcessor([compiled])
    with pytest.raises(ValueError, match="numpy"):
        answer(several, 310, b"1")


def test_generate_of_mlx_lm_ends_in_time(compiler: maskwright.Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    numpy = pytest.importorskip("numpy")
    core = ModuleType("mlx.core")
    # What the processor uses of mlx has the same names in numpy.
    for name in ("array", "where", "inf"):
        setattr(core, name, getattr(numpy, name))
    monkeypatch.setitem(sys.modules, "mlx", ModuleType("mlx"))
    monkeypatch.setitem(sys.modules, "mlx.core", core)
    monkeypatch.setattr(sys.modules["mlx"], "core", core, raising=False)
    compiled = compiler.compile_json_schema(POINT)
    for width in (310, 290):
        processor = maskwright.mlx.LogitsProcessor(compiled, max_tokens=14)
        tokens = answer(lambda tokens, scores, process=processor: process(tokens, scores[None])[0], width, b"1")
        assert len(tokens) < 14 and compiled.matcher().accept_tokens(tokens) == len(tokens)


def test_tokens_of_llama_cpp() -> None:
    class Llama:
        def n_vocab(self) -> int:
            return 258

        def token_eos(self) -> int:
            return 257

        def detokenize(self, tokens: list[int], special: bool) -> bytes:
            return bytes(token for token in tokens if token < 256)

    tokenizer = maskwright.llamacpp.tokenizer(Llama())
    assert (tokenizer.vocab_size, tokenizer.token_bytes(65), tokenizer.token_bytes(256)) == (258, b"A", None)


def test_ends_and_long_tokens_of_llama_cpp(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [*(bytes([byte]) for byte in range(256)), b"a" * 40, b"", b""]
    ends = {257, 258}

    def token_to_piece(vocabulary: Any, token: int, buffer: Any, size: int, lstrip: int, special: bool) -> int:
        assert vocabulary == "the model's" and (lstrip, special) == (0, False)
        if len(texts[token]) > size:
            return -len(texts[token])
        ctypes.memmove(buffer, texts[token], len(texts[token]))
        return len(texts[token])

    functions: dict[str, Any] = {
        "llama_model_get_vocab": lambda model: f"{model}'s",
        "llama_vocab_is_eog": lambda vocabulary, token: token in ends,
        "llama_token_to_piece": token_to_piece,
    }
    module = ModuleType("llama_cpp")
    for name, function in functions.items():
        setattr(module, name, function)
    monkeypatch.setitem(sys.modules, "llama_cpp", module)

    class Llama:
        model = "the model"

        def n_vocab(self) -> int:
            return len(texts)

        def token_eos(self) -> int:
            return -1

        def detokenize(self, tokens: list[int], special: bool) -> bytes:
            return texts[tokens[0]]

    tokenizer = maskwright.llamacpp.tokenizer(Llama())
    assert (tokenizer.stop_token_ids, tokenizer.vocab_size) == ([257, 258], 259)
    assert [tokenizer.token_bytes(token) for token in (65, 256, 257)] == [b"A", b"a" * 40, None]
    ends.clear()
    with pytest.raises(maskwright.TokenizerError, match="end-of-sequence"):
        maskwright.llamacpp.tokenizer(Llama())
    # An older version, which has other functions.
    monkeypatch.delattr(module, "llama_vocab_is_eog")
    with pytest.raises(maskwright.TokenizerError, match="end-of-sequence"):
        maskwright.llamacpp.tokenizer(Llama())


def test_generate_of_transformers_ends_in_time(compiler: maskwright.Compiler) -> None:
    torch = pytest.importorskip("torch")
    compiled = compiler.compile_json_schema(POINT)
    processor = maskwright.hf.LogitsProcessor(compiled, max_tokens=14)
    tokens = torch.tensor([PROMPT, PROMPT])
    while not bool((tokens == STOP).any(dim=1).all()):
        scores = torch.zeros(2, 310)
        scores[0, ord("1")] = scores[1, ord('"')] = 1
        processed = processor(tokens, scores)
        assert bool((scores[:, :300] >= 0).all()), "what is handed over stays as it is"
        tokens = torch.cat([tokens, processed.argmax(dim=1, keepdim=True)], dim=1)
    for row in tokens.tolist():
        written = row[len(PROMPT) :]
        written = written[: written.index(STOP)]
        assert len(written) < 14 and compiled.matcher().accept_tokens(written) == len(written)
