"""The plugin of SGLang, over stand-ins with the shape of SGLang's modules."""

import dataclasses
import functools
import json
import logging
import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from conftest import POINT, STOP, Failing
from test_matcher import VOCAB, allowed

import maskwright
import maskwright.sglang as plugin


class Hooks:
    """SGLang's registry of hooks, as far as the plugin uses it."""

    def __init__(self) -> None:
        self.registered: dict[str, Any] = {}
        self.applied = 0

    def register(self, target: str, hook: Any, kind: str) -> None:
        assert kind == "after" and target not in self.registered
        self.registered[target] = hook

    def apply_hooks(self) -> None:
        self.applied += 1


class Object:
    """The base of grammars."""

    def __init__(self) -> None:
        self.finished, self.grammar_stats, self.current_token = False, None, None


class Invalid(Object):
    def __init__(self, error_message: str) -> None:
        super().__init__()
        self.error_message = error_message


class Other(Object):
    """A grammar of another backend, which allows nothing."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    def fill_vocab_mask(self, vocab_mask: Any, idx: int) -> None:
        words = vocab_mask.shape[1]
        for word in range(words):
            vocab_mask[idx, word] = 0


class OtherBackend:
    def __init__(self, tokenizer: Any, **options: Any) -> None:
        self.options = options

    def dispatch_ebnf(self, text: str) -> Other:
        return Other(text)

    def dispatch_structural_tag(self, text: str) -> Other:
        return Other(text)


@dataclasses.dataclass
class Reasoner:
    """The wrapper of SGLang for servers that parse reasoning."""

    backend: Any
    parser: Any
    tokenizer: Any
    enable_strict_thinking: bool


class Reasoned:
    """A grammar in this wrapper, whose request has reasoned for some tokens."""

    def __init__(self, grammar: Any, tokens: int, reasoning_in_grammar: bool) -> None:
        self.grammar, self.tokens_in_think, self.think_end_ids = grammar, tokens, (7, 8)
        self.reasoning_in_grammar = reasoning_in_grammar


class Parser:
    def __init__(self, model_type: str, stream_reasoning: bool, tokenizer: Any) -> None:
        ends = [7] if model_type == "known" else []
        self.detector = SimpleNamespace(get_think_end_token_ids=lambda tokenizer: ends)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, compiler: maskwright.Compiler) -> Iterator[Any]:
    """SGLang's modules, as far as the plugin touches them, with the plugin registered twice."""
    choices: list[str] = ["xgrammar"]
    backends: dict[str, Any] = {}
    hooks = Hooks()
    serving = SimpleNamespace(reasoning_parser=None, enable_strict_thinking=True)
    constrained = "sglang.srt.constrained"
    modules: dict[str, dict[str, Any]] = {
        "sglang": {},
        "sglang.srt": {},
        "sglang.srt.arg_groups": {},
        "sglang.srt.arg_groups.choices": {
            "GRAMMAR_BACKEND_CHOICES": choices,
            "add_grammar_backend_choices": choices.extend,
        },
        constrained: {},
        f"{constrained}.base_grammar_backend": {
            "BaseGrammarBackend": type("BaseGrammarBackend", (), {"reset": lambda self: None}),
            "BaseGrammarObject": Object,
            "GrammarStats": functools.partial(SimpleNamespace),
            "InvalidGrammarObject": Invalid,
            "register_grammar_backend": backends.__setitem__,
            "register_vocab_mask_buffer": lambda name, mask, rows: mask,
        },
        f"{constrained}.reasoner_grammar_backend": {"ReasonerGrammarBackend": Reasoner},
        f"{constrained}.xgrammar_backend": {"XGrammarGrammarBackend": OtherBackend},
        "sglang.srt.parser": {},
        "sglang.srt.parser.reasoning_parser": {"ReasoningParser": Parser},
        "sglang.srt.plugins": {},
        "sglang.srt.plugins.hook_registry": {"HookRegistry": hooks, "HookType": SimpleNamespace(AFTER="after")},
        "sglang.srt.runtime_context": {"get_serving": lambda: serving},
    }
    for name, members in modules.items():
        module = ModuleType(name)
        for member, value in members.items():
            setattr(module, member, value)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "maskwright.sglang.backend", raising=False)
    plugin._take_limits.cache_clear()
    plugin.register()
    plugin.register()
    assert choices == ["xgrammar", "maskwright"]
    import maskwright.sglang.backend as classes

    tokenizers = SimpleNamespace(from_huggingface=lambda *_, **__: compiler.tokenizer)
    monkeypatch.setattr(classes, "Tokenizer", tokenizers)
    yield SimpleNamespace(create=backends["maskwright"], hooks=hooks, serving=serving, classes=classes)
    plugin._take_limits.cache_clear()


def backend(server: Any) -> Any:
    return server.create(None, object(), VOCAB, {STOP})


def test_schemas_and_expressions_are_answered(server: Any) -> None:
    ours = backend(server)
    for grammar, answer in [
        (ours.dispatch_json(json.dumps(POINT)), b'{"x":1}'),
        (ours.dispatch_json("$$ANY$$"), b"[1]"),
        (ours.dispatch_regex("[ab]+"), b"ab"),
        (ours.dispatch_ebnf('root ::= "(" root ")" | [ab]'), b"((a))"),
    ]:
        tokens = [*answer, STOP]
        copy = grammar.copy()
        for token in tokens:
            assert not grammar.is_terminated()
            grammar.accept_token(token)
        assert grammar.is_terminated() and grammar.current_token == STOP and not copy.is_terminated()
        grammar.accept_token(tokens[0])
        grammar.rollback(len(tokens))
        with pytest.raises(ValueError, match="token 63"):
            grammar.accept_token(ord("?"))
        grammar.accept_token(tokens[0])
    ours.reset()


def test_a_schema_that_came_to_a_limit_is_compiled_anew_for_a_copy(server: Any, compiler: maskwright.Compiler) -> None:
    asked = []

    def compile() -> Any:
        compiled = compiler.compile_json_schema(POINT)
        assert not compiled.is_limit_reached
        asked.append(SimpleNamespace(matcher=compiled.matcher, is_limit_reached=False))
        return asked[-1]

    grammar = server.classes.Grammar(compile, compile(), "json")
    assert grammar.copy().copy() is not grammar and len(asked) == 1
    asked[0].is_limit_reached = True
    assert grammar.copy().copy() is not grammar and len(asked) == 2
    grammar.accept_token(ord("{"))
    assert grammar.copy().matcher.num_accepted_tokens == 1 and len(asked) == 2


def test_refusals_carry_the_reason(server: Any) -> None:
    ours = backend(server)
    assert "unsatisfiable" in ours.dispatch_json('{"allOf": [false]}').error_message
    assert "malformed" in ours.dispatch_regex("(").error_message
    assert "unsatisfiable" in ours.dispatch_ebnf('root ::= "a" root').error_message


def test_batches_may_have_grammars_of_others(server: Any) -> None:
    ours = backend(server)
    grammar = ours.dispatch_json("true")
    bitmask = maskwright.allocate_token_bitmask(3, VOCAB, kind="memoryview")
    entries = [
        SimpleNamespace(row=0, grammar=ours.dispatch_regex("b")),
        SimpleNamespace(row=2, grammar=ours.dispatch_ebnf("root ::= 'a'")),
    ]
    grammar.fill_vocab_mask_batched(entries, bitmask)
    assert (allowed(bitmask, 0), allowed(bitmask, 2)) == ({ord("b")}, set())
    assert max(allowed(bitmask, 1)) >= VOCAB, "the row of nobody allows every token"


def test_a_limit_of_the_engine_ends_one_request(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    matcher = Failing()
    compiled = SimpleNamespace(matcher=matcher.fail, is_limit_reached=False)
    failing = server.classes.Grammar(lambda: compiled, compiled, "json", matcher)
    monkeypatch.setattr(server.classes, "shared_executor", lambda: SimpleNamespace(fill=matcher.fail))
    bitmask = maskwright.allocate_token_bitmask(2, VOCAB, kind="memoryview")
    other = backend(server).dispatch_regex("b")
    failing.fill_vocab_mask_batched([SimpleNamespace(row=0, grammar=failing), SimpleNamespace(row=1, grammar=other)], bitmask)
    assert (allowed(bitmask, 0), allowed(bitmask, 1)) == ({*matcher.stop_token_ids}, {ord("b")})
    with pytest.raises(ValueError, match="a limit"):
        failing.accept_token(STOP)
    asked = request(failing, 4)
    plugin.limit(asked)
    assert asked.aborted == "a limit"


def test_what_is_not_ours_is_answered_by_another_and_said_once(
    server: Any, caplog: pytest.LogCaptureFixture
) -> None:
    ours = backend(server)
    with caplog.at_level(logging.WARNING):
        tag = '{"format": {"type": "grammar", "grammar": "b"}}'
        assert ours.dispatch_ebnf("a").text == "a" and ours.dispatch_structural_tag(tag).text == tag
    assert [record.getMessage() for record in caplog.records] == ["a grammar is not treated here: such requests are answered by xgrammar"]


def test_structural_tags_are_answered_and_their_schemas_are_not_left_to_others(server: Any) -> None:
    ours = backend(server)
    bitmask = maskwright.allocate_token_bitmask(1, VOCAB, kind="memoryview")
    ours.dispatch_structural_tag('{"format": {"type": "const_string", "value": "ab"}}').fill_vocab_mask(bitmask, 0)
    assert ord("a") in allowed(bitmask, 0) and ord("b") not in allowed(bitmask, 0)
    tag = '{"format": {"type": "json_schema", "json_schema": {"pattern": "(a)\\\\1"}}}'
    assert "/format/json_schema" in ours.dispatch_structural_tag(tag).error_message


def test_without_another_what_is_not_ours_is_refused(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "sglang.srt.constrained.xgrammar_backend")
    assert "xgrammar or llguidance" in backend(server).dispatch_ebnf("a").error_message


def test_servers_that_parse_reasoning_have_the_wrapper(server: Any) -> None:
    assert isinstance(backend(server), server.classes.Backend)
    server.serving.reasoning_parser = "known"
    wrapped = backend(server)
    assert isinstance(wrapped, Reasoner) and wrapped.enable_strict_thinking
    # What the wrapper asks of the backend.
    inner = wrapped.backend
    assert inner.is_support_token_filter and inner.allocate_vocab_mask and inner.move_vocab_mask and inner.apply_vocab_mask
    server.serving.reasoning_parser = "one whose end is not a token"
    assert isinstance(backend(server), server.classes.Backend)


def request(grammar: Any, max_tokens: int | None, require_reasoning: bool = False) -> Any:
    asked = SimpleNamespace(
        grammar=grammar,
        sampling_params=SimpleNamespace(max_new_tokens=max_tokens),
        require_reasoning=require_reasoning,
        finished=lambda: False,
        aborted=None,
    )
    asked.set_finish_with_abort = lambda message: setattr(asked, "aborted", message)
    return asked


def test_limits_reach_the_matcher(server: Any) -> None:
    ours = backend(server)
    first, second = sorted(server.hooks.registered.items())
    assert server.hooks.applied == 1 and "get_ready" in first[0] and "process_req" in second[0]

    def masked(grammar: Any) -> set[int]:
        for token in b'"a':
            grammar.accept_token(token)
        bitmask = maskwright.allocate_token_bitmask(1, VOCAB, kind="memoryview")
        grammar.fill_vocab_mask(bitmask, 0)
        return allowed(bitmask)

    schema = '{"type": "string"}'
    known, ready, wrapped = (request(ours.dispatch_json(schema), 4) for _ in range(3))
    wrapped.grammar = SimpleNamespace(grammar=wrapped.grammar)
    assert second[1](False, None, known) is None and first[1]([ready, wrapped], None) is None
    for asked in (known, ready):
        copy = asked.grammar.copy()
        assert ord("a") not in masked(asked.grammar) and ord("a") not in masked(copy)
    assert ord("a") not in masked(wrapped.grammar.grammar)
    # The request waits for its grammar; it has no limit; the grammar is another's.
    for asked, is_queued in [
        (request(ours.dispatch_json(schema), 4), True),
        (request(ours.dispatch_json(schema), None), False),
        (request(Other("a"), 4), False),
    ]:
        second[1](is_queued, None, asked)
        grammar = getattr(asked.grammar, "grammar", asked.grammar)
        assert isinstance(grammar, Other) or ord("a") in masked(grammar)
    # Of 9 tokens, 3 and the 2 of its end were reasoning; with 7 of reasoning none is left. A grammar that describes the reasoning counts it.
    for max_tokens, thought, in_grammar, is_limited in [(9, 3, False, True), (9, 7, False, False), (9, 3, True, False), (4, 3, True, True)]:
        reasoned = Reasoned(ours.dispatch_json(schema), thought, in_grammar)
        second[1](False, None, request(reasoned, max_tokens, require_reasoning=True))
        assert (ord("a") not in masked(reasoned.grammar)) is is_limited
    short = request(ours.dispatch_json(schema), 2)
    second[1](False, None, short)
    assert "max_tokens 2" in short.aborted
