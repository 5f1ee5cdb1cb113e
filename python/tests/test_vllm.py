"""The plugin of vLLM, over stand-ins with the shape of vLLM's modules."""

import abc
import dataclasses
import enum
import json
import sys
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any, Literal

import pytest
from conftest import OTHER_STOP, POINT, STOP, TEXTS, Failing
from test_matcher import allowed

import maskwright
import maskwright.vllm

Kind = enum.Enum("Kind", ["JSON", "JSON_OBJECT", "REGEX", "GRAMMAR", "CHOICE", "STRUCTURAL_TAG"])


# The token with which stand-ins end their reasoning.
THOUGHT = OTHER_STOP


class Refused(ValueError):
    pass


class StructuredOutputGrammar(abc.ABC):
    """The class of grammars that vLLM asserts."""


@dataclasses.dataclass
class Params:
    kind: Any
    text: str
    json_object: bool | None = None
    _backend: str | None = None

    def __post_init__(self) -> None:
        pass


def key_of(params: Params) -> tuple[Any, str]:
    if params.json_object is False:
        raise ValueError("No valid structured output parameter found")
    return params.kind, params.text


@pytest.fixture
def plugged(monkeypatch: pytest.MonkeyPatch, compiler: maskwright.Compiler) -> Iterator[Any]:
    """vLLM's modules, as far as the plugin touches them, with the plugin registered."""

    @dataclasses.dataclass
    class StructuredOutputsConfig:
        backend: str = "auto"
        reasoning_parser: str = ""

    class StructuredOutputManager:
        backend: Any = None
        backend_name: str | None = None
        tokenizer = None
        reasoner_cls: Any = None
        vllm_config = SimpleNamespace(model_config=SimpleNamespace(get_vocab_size=lambda: 300))

        def grammar_init(self, request: Any) -> None:
            request.structured_output_request.grammar = self._create_grammar(request)

        def _create_grammar(self, request: Any) -> Any:
            kind, text = request.structured_output_request.key
            stops = request.sampling_params.all_stop_token_ids
            return self.backend.compile_grammar(kind, text, stop_token_ids=stops)

        def accept_tokens(self, request: Any, new_token_ids: list[int]) -> bool:
            asked = request.structured_output_request
            if self.reasoner_cls is not None and not asked.reasoning_ended:
                asked.reasoning_ended = THOUGHT in new_token_ids
                new_token_ids = new_token_ids[new_token_ids.index(THOUGHT) + 1 :] if asked.reasoning_ended else []
            accepted: bool = asked.grammar.accept_tokens(request.request_id, new_token_ids)
            return accepted

    class SamplingParams:
        structured_outputs: Any
        max_tokens: int | None = None

        def _validate_structured_outputs(self, model_config: Any, config: Any, tokenizer: Any) -> None:
            self.structured_outputs._backend = f"validated as {config.backend}"

    rebuilt: list[type] = []
    modules = {
        "vllm": {},
        "vllm.config": {},
        "vllm.config.structured_outputs": {
            "StructuredOutputsConfig": StructuredOutputsConfig,
            "StructuredOutputsBackend": Literal["auto", "xgrammar"],
        },
        "vllm.sampling_params": {"SamplingParams": SamplingParams, "VLLMValidationError": Refused},
        "vllm.v1": {},
        "vllm.v1.structured_output": {"StructuredOutputManager": StructuredOutputManager},
        "vllm.v1.structured_output.backend_types": {"StructuredOutputGrammar": StructuredOutputGrammar},
        "vllm.v1.structured_output.request": {"get_structured_output_key": key_of},
        "pydantic": {},
        "pydantic.dataclasses": {"rebuild_dataclass": lambda config, force: rebuilt.append(config)},
    }
    for name, members in modules.items():
        module = ModuleType(name)
        for member, value in members.items():  # type: ignore[attr-defined]
            setattr(module, member, value)
        monkeypatch.setitem(sys.modules, name, module)
        parent, _, child = name.rpartition(".")
        if parent:
            monkeypatch.setattr(sys.modules[parent], child, module, raising=False)
    tokenizers = SimpleNamespace(from_huggingface=lambda *_, **__: compiler.tokenizer)
    monkeypatch.setattr(maskwright.vllm, "Tokenizer", tokenizers)
    monkeypatch.setattr(StructuredOutputManager, "tokenizer", [0] * 300)
    maskwright.vllm.register()
    first = StructuredOutputManager.grammar_init
    maskwright.vllm.register()
    assert StructuredOutputManager.grammar_init is first and rebuilt == [StructuredOutputsConfig]
    yield SimpleNamespace(manager=StructuredOutputManager, sampling=SamplingParams, config=StructuredOutputsConfig)


def request(kind: Any, text: str, max_tokens: int | None = None, stops: set[int] | None = None) -> Any:
    params = SimpleNamespace(
        structured_outputs=Params(kind, text, _backend="maskwright"), max_tokens=max_tokens, all_stop_token_ids=stops or set()
    )
    return SimpleNamespace(
        request_id="r",
        sampling_params=params,
        structured_output_request=SimpleNamespace(key=(kind, text), grammar=None, reasoning_ended=False),
        num_output_tokens=0,
    )


def test_every_kind_of_ours_is_answered(plugged: Any) -> None:
    manager = plugged.manager()
    for kind, text, answer in [
        (Kind.JSON, json.dumps(POINT), b'{"x":1}'),
        (Kind.JSON_OBJECT, "", b"{}"),
        (Kind.REGEX, "[ab]+", b"ab"),
        (Kind.CHOICE, '["yes", "no"]', b"no"),
        (Kind.GRAMMAR, 'root ::= "(" root ")" | [ab]', b"((a))"),
        (Kind.GRAMMAR, 'start: "(" start ")" | /[ab]/', b"(b)"),
        (Kind.STRUCTURAL_TAG, '{"format": {"type": "const_string", "value": "ab"}}', b"ab"),
    ]:
        asked = request(kind, text)
        manager.grammar_init(asked)
        grammar = asked.structured_output_request.grammar
        assert isinstance(asked.structured_output_request.grammar, StructuredOutputGrammar)
        tokens = [*answer, STOP]
        assert grammar.validate_tokens([*tokens, STOP]) == tokens and not grammar.is_terminated()
        assert grammar.accept_tokens("r", tokens) and grammar.is_terminated()
        grammar.rollback(1)
        assert not grammar.is_terminated() and not grammar.accept_tokens("r", [ord("?")])
        grammar.reset()
        assert grammar.accept_tokens("r", tokens[:1])
    assert manager.backend_name == "maskwright"
    manager.backend.destroy()


def test_limits_and_stop_tokens_reach_the_matcher(plugged: Any) -> None:
    manager = plugged.manager()
    asked = request(Kind.JSON, '{"type": "string"}', max_tokens=5, stops={OTHER_STOP})
    manager.grammar_init(asked)
    grammar = asked.structured_output_request.grammar
    bitmask = maskwright.allocate_token_bitmask(1, 300, kind="memoryview")
    assert grammar.accept_tokens("r", [*b'"ab'])
    grammar.fill_bitmask(bitmask, 0)
    assert allowed(bitmask) == {ord('"'), 256 + TEXTS.index('{"')}, "the string is closed, and then the answer ends"
    assert grammar.accept_tokens("r", [*b'"', OTHER_STOP]) and grammar.is_terminated()
    with pytest.raises(ValueError, match="max_tokens 2"):
        manager.grammar_init(request(Kind.JSON, '{"type": "string"}', max_tokens=2))


def test_a_vllm_that_lacks_something_is_left_alone(
    plugged: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class OlderManager:
        grammar_init = _create_grammar = None

    monkeypatch.setattr(sys.modules["vllm.v1.structured_output"], "StructuredOutputManager", OlderManager)
    maskwright.vllm.register()
    assert "accept_tokens" in caplog.text and OlderManager.grammar_init is None


def test_the_half_of_a_request_that_only_reads_the_prompt_has_no_limit(plugged: Any) -> None:
    manager = plugged.manager()
    asked = request(Kind.JSON, '{"type": "string"}', max_tokens=1)
    asked.sampling_params.extra_args = {"kv_transfer_params": {"do_remote_decode": True}}
    manager.grammar_init(asked)
    assert asked.structured_output_request.grammar.accept_tokens("r", [*b'"ab'])


def test_a_limit_of_the_engine_ends_one_request() -> None:
    matcher: Any = Failing()
    grammar = maskwright.vllm.Grammar(matcher)
    bitmask = maskwright.allocate_token_bitmask(2, 300, kind="memoryview")
    grammar.fill_bitmask(bitmask, 1)
    assert allowed(bitmask, 1) == {*matcher.stop_token_ids} and len(allowed(bitmask, 0)) == 32 * bitmask.shape[1]
    assert grammar.validate_tokens([STOP]) == [] and not grammar.accept_tokens("r", [STOP])


def test_limits_count_the_reasoning_before_the_answer(plugged: Any) -> None:
    manager = plugged.manager()
    manager.reasoner_cls = object

    def masked(max_tokens: int, steps: list[list[int]]) -> set[int]:
        asked = request(Kind.JSON, '{"type": "string"}', max_tokens=max_tokens)
        manager.grammar_init(asked)
        for tokens in steps:
            asked.num_output_tokens += len(tokens)
            assert manager.accept_tokens(asked, tokens)
        bitmask = maskwright.allocate_token_bitmask(1, 300, kind="memoryview")
        asked.structured_output_request.grammar.fill_bitmask(bitmask, 0)
        return allowed(bitmask)

    # Of 8 tokens 4 are reasoning, the last two of the others close the string and end the answer.
    steps = [[*b"so"], [ord("!"), THOUGHT, ord('"')], [ord("a")]]
    assert ord("b") not in masked(8, steps) and ord("b") in masked(9, steps)
    assert ord("b") in masked(5, steps), "reasoning has left too few"


def validator(plugged: Any) -> Callable[..., str | None]:
    """Returns a function that validates a request and returns its backend."""
    tokenizer, model = object(), SimpleNamespace(is_diffusion=False, get_vocab_size=lambda: 300)

    def validate(params: Params, backend: str = "maskwright", max_tokens: int | None = None, reasoning: str = "") -> str | None:
        sampling = plugged.sampling()
        sampling.structured_outputs, sampling.max_tokens = params, max_tokens
        sampling._validate_structured_outputs(model, plugged.config(backend, reasoning), tokenizer)
        return params._backend

    return validate


def test_requests_are_validated_with_the_reason(plugged: Any) -> None:
    validate = validator(plugged)
    assert validate(Params(Kind.JSON, json.dumps(POINT))) == "maskwright"
    assert validate(Params(Kind.JSON, "{}"), "auto") == "validated as auto"
    assert validate(Params(Kind.GRAMMAR, 'root ::= "a"')) == "maskwright"
    # It is another's to say what is wrong with what is not read here.
    for grammar in ("root ::= 'a'", 'root ::= "a" root "a" | "a"'):
        assert validate(Params(Kind.GRAMMAR, grammar)) == "maskwright"
    for params, message in [
        (Params(Kind.JSON, '{"properties": {"a": {"pattern": "(a)\\\\1"}}}'), "/properties/a.*pattern"),
        (Params(Kind.JSON, '{"allOf": [false]}'), "unsatisfiable"),
        (Params(Kind.REGEX, "("), "malformed"),
        (Params(Kind.GRAMMAR, 'root ::= "a" root'), "unsatisfiable"),
        (Params(Kind.CHOICE, "[]"), "unsatisfiable"),
        (Params(Kind.JSON_OBJECT, "", json_object=False), "json_object"),
        (Params(Kind.JSON, "{}", _backend="xgrammar"), "xgrammar"),
    ]:
        with pytest.raises(Refused, match=message):
            validate(params)


def test_limits_and_structural_tags_are_validated_with_the_reason(plugged: Any) -> None:
    validate, compilers = validator(plugged), maskwright.vllm._checker.cache_info().misses

    def tag(**format: Any) -> Params:
        return Params(Kind.STRUCTURAL_TAG, json.dumps({"format": format}))

    point = json.dumps(POINT)
    assert validate(Params(Kind.JSON, point), max_tokens=30) == "maskwright"
    assert validate(tag(type="const_string", value="abc"), max_tokens=30) == "maskwright"
    # How much of the limit the reasoning leaves is known later.
    assert validate(Params(Kind.JSON, point), max_tokens=3, reasoning="qwen3") == "maskwright"
    # It is another's to say what is wrong with a grammar that is not treated here.
    assert validate(tag(type="grammar", grammar="b")) == "maskwright"
    for params, max_tokens, message in [
        (Params(Kind.JSON, point), 3, "max_tokens 3 are too few"),
        (Params(Kind.REGEX, "[ab]{9}"), 2, "max_tokens 2 are too few"),
        (tag(type="const_string", value="x-y-z"), 2, "max_tokens 2 are too few"),
        (tag(type="json_schema", json_schema={"type": "string", "pattern": "(a)\\1"}), None, "pattern"),
        (Params(Kind.STRUCTURAL_TAG, "{"), None, "malformed"),
    ]:
        with pytest.raises(Refused, match=message):
            validate(params, max_tokens=max_tokens)
    assert maskwright.vllm._checker.cache_info().misses == compilers + 1


def test_the_bitmask_of_the_engine_is_not_pinned(plugged: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    allocated: list[Any] = []
    # Without `cuda`, which makes a context on a GPU.
    torch = ModuleType("torch")
    for name, value in {"int32": "int32", "full": lambda *shape, **options: allocated.append((*shape, options))}.items():
        setattr(torch, name, value)
    monkeypatch.setitem(sys.modules, "torch", torch)
    maskwright.vllm.Backend(None, object(), 300).allocate_token_bitmask(3)
    assert allocated == [((3, 10), -1, {"dtype": "int32"})]
