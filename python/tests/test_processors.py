"""Processors of logits: sequences are followed, also where they go back, and end within their limits."""

import sys
from types import ModuleType
from typing import Any

import pytest
from conftest import POINT, STOP

import maskwright
import maskwright.hf
import maskwright.llamacpp
import maskwright.mlx
import maskwright.outlines
from maskwright._follow import BatchFollower

PROMPT = [7, 8]


def test_sequences_may_go_back(compiler: maskwright.Compiler) -> None:
    batch = BatchFollower(compiler.compile_json_schema({"enum": [True, False, 12]}), None)
    batch.follow([PROMPT, PROMPT])
    batch.follow([[*PROMPT, *b"tr"], [*PROMPT, *b"1"]])
    # The beams change places.
    first, second = batch.follow([[*PROMPT, *b"12"], [*PROMPT, *b"true"]])
    assert first.is_completed() and second.is_completed()
    # Behind the end comes padding.
    batch.follow([[*PROMPT, *b"12", STOP, 0, 0], [*PROMPT, *b"true"]])
    assert first.is_terminated() and not second.is_terminated()
    with pytest.raises(ValueError, match="token 120 is not allowed after 2 tokens"):
        batch.follow([[*PROMPT, *b"12"], [*PROMPT, *b"trx"]])
    with pytest.raises(ValueError, match="1 sequences"):
        batch.follow([PROMPT])


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
