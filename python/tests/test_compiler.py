"""Compiling: what is taken, what is kept, and what errors say."""

import json
import random
import re
import threading
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from conftest import OTHER_STOP, POINT

import maskwright


def test_schemas_are_kept_by_their_text(compiler: maskwright.Compiler) -> None:
    compiler.clear_cache()
    compiled = compiler.compile_json_schema(POINT)
    compiler.compile_json_schema(json.dumps(POINT))
    assert compiler.cached_schemas == 1
    assert compiler.cached_bytes >= compiled.memory_bytes > 0
    assert json.loads(compiled.source) == POINT
    compiler.compile_json_schema(True)
    assert compiler.cached_schemas == 2


def test_models_of_pydantic_say_their_schema(compiler: maskwright.Compiler) -> None:
    class Model:
        @classmethod
        def model_json_schema(cls) -> dict[str, object]:
            return {"const": 1}

    assert compiler.compile_json_schema(Model).matcher().find_jump_forward_string() in ("1", "")
    assert json.loads(compiler.compile_json_schema(Model).source) == {"const": 1}


def test_errors_have_place_keyword_and_reason(compiler: maskwright.Compiler) -> None:
    schema = {"properties": {"a": {"type": "string", "pattern": "(a)\\1"}}}
    with pytest.raises(maskwright.CompileError) as raised:
        compiler.compile_json_schema(schema)
    error = raised.value
    assert (error.kind, error.pointer, error.keyword) == ("unsupported", "/properties/a", "pattern")
    assert error.reason in str(error) and isinstance(error, ValueError)
    assert compiler.check(schema) == [str(error)]
    refused: list[tuple[Any, str]] = [
        ("{", "malformed"),
        ({"type": 1}, "malformed"),
        ({"allOf": [False]}, "unsatisfiable"),
    ]
    for other, kind in refused:
        with pytest.raises(maskwright.CompileError) as raised:
            compiler.compile_json_schema(other)
        assert raised.value.kind == kind
        assert len(compiler.check(other)) == 1
    assert compiler.check(POINT) == []


def test_options_that_are_not_known_are_errors(tokenizer: maskwright.Tokenizer) -> None:
    unknown: list[dict[str, Any]] = [{"style": "loose"}, {"style": {"colour": 1}}, {"formats": "some"}, {"patterns": "posix"}, {"draft": "5"}]
    for options in unknown:
        with pytest.raises(ValueError, match=next(iter(options))):
            maskwright.Compiler(tokenizer, **options)


def test_the_style_is_kept(tokenizer: maskwright.Tokenizer) -> None:
    schema = {"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "additionalProperties": False}
    text = b'{"b":1,"a":1}'
    usual = maskwright.Compiler(tokenizer).compile_json_schema(schema).matcher()
    assert usual.validate_tokens(text) < len(text)
    styles: list[str | Mapping[str, Any]] = ["rfc8259", {"key_order": "any"}, MappingProxyType({"key_order": "any"})]
    for style in styles:
        matcher = maskwright.Compiler(tokenizer, style=style).compile_json_schema(schema).matcher()
        assert matcher.validate_tokens(text) == len(text)


def test_references_lead_to_documents(tokenizer: maskwright.Tokenizer) -> None:
    schema = {"$ref": "https://example.org/a"}
    with pytest.raises(maskwright.CompileError):
        maskwright.Compiler(tokenizer).compile_json_schema(schema)
    documents = {"https://example.org/a": {"const": "x"}}
    mappings: list[Mapping[str, Any]] = [
        documents,
        MappingProxyType(documents),
        {"https://example.org/a": MappingProxyType({"const": "x"})},
    ]
    for mapping in mappings:
        compiler = maskwright.Compiler(tokenizer, documents=mapping)
        assert compiler.compile_json_schema(schema).matcher().find_jump_forward_string() == '"x"'


def test_the_report_says_what_is_left_out(compiler: maskwright.Compiler) -> None:
    report = compiler.compile_json_schema({"type": "array", "minimun": 1}).report()
    assert report["draft"] and report["subschemas"] == 1 and report["narrowings_complete"]
    assert "long-arrays" in [narrowing["kind"] for narrowing in report["narrowings"]]
    assert [warning["pointer"] for warning in report["warnings"]] == ["/minimun"]


def test_only_schemas_have_a_report(compiler: maskwright.Compiler) -> None:
    tag = {"format": {"type": "const_string", "value": "ab"}}
    grammar = compiler.compile_grammar('root ::= "a"')
    # The texts of the first and the last could be read as schemas.
    for compiled in [compiler.compile_regex("true"), compiler.compile_choice(["a"]), grammar, compiler.compile_structural_tag(tag)]:
        with pytest.raises(maskwright.CompileError, match="report"):
            compiled.report()
    assert compiler.compile_json_object().report()["draft"]


def test_texts_stand_as_they_are(compiler: maskwright.Compiler) -> None:
    matcher = compiler.compile_regex('[a-c]+"\\n').matcher()
    assert matcher.accept_tokens(b'abc"\n') == 5 and matcher.is_completed()
    matcher = compiler.compile_choice(["yes", "no"]).matcher()
    assert matcher.accept_tokens(b"no") == 2 and matcher.is_completed()
    assert compiler.compile_json_object().matcher().find_jump_forward_string() == "{"
    for pattern in ["(", "a)(b"]:
        with pytest.raises(maskwright.CompileError) as raised:
            compiler.compile_regex(pattern)
        assert raised.value.kind == "malformed" and pattern in raised.value.reason
    with pytest.raises(maskwright.CompileError):
        compiler.compile_choice([])


def test_structural_tags_have_schemas_and_special_tokens(compiler: maskwright.Compiler) -> None:
    tag = {"begin": "<call>", "content": {"type": "json_schema", "json_schema": POINT}, "end": "<other>"}
    format = {"type": "triggered_tags", "triggers": ["<call>"], "tags": [tag], "stop_after_first": True}
    matcher = compiler.compile_structural_tag({"type": "structural_tag", "format": format}).matcher()
    assert matcher.accept_tokens(b'so: <call>{"x":1}') == 17 and not matcher.is_completed()
    assert not matcher.accept_token(ord("<")) and matcher.accept_token(OTHER_STOP) and matcher.is_completed()
    older = json.dumps({"structures": [{"begin": "<a>", "schema": POINT, "end": "</a>"}], "triggers": ["<a"]})
    assert compiler.compile_structural_tag(older).matcher().accept_tokens(b'<a>{"x":1}</a>') == 14
    with pytest.raises(maskwright.CompileError) as raised:
        compiler.compile_structural_tag({"format": {"type": "grammar", "grammar": 'root ::= "(" root? ")"'}})
    assert raised.value.kind == "unsupported" and raised.value.pointer == "/format/grammar"
    grammar = {"format": {"type": "grammar", "grammar": 'root ::= [ab]+ ("," root)?'}}
    assert compiler.compile_structural_tag(grammar).matcher().accept_tokens(b"ab,b") == 4


def test_structural_tags_may_be_instances_of_models(compiler: maskwright.Compiler) -> None:
    class Tag:
        @classmethod
        def model_json_schema(cls) -> dict[str, object]:
            return {"type": "object"}

        def model_dump_json(self, *, by_alias: bool) -> str:
            assert by_alias
            return '{"format": {"type": "const_string", "value": "ab"}}'

    compiled = compiler.compile_structural_tag(Tag())
    assert compiled.source == Tag().model_dump_json(by_alias=True) and compiled.matcher().accept_tokens(b"ab") == 2


def test_threads_share_a_compiler(tokenizer: maskwright.Tokenizer) -> None:
    compiler = maskwright.Compiler(tokenizer)
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for value in range(20):
                matcher = compiler.compile_json_schema({"const": value % 7}).matcher()
                assert matcher.accept_tokens(str(value % 7).encode()) == 1
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [] and compiler.cached_schemas == 7


def test_the_cache_is_bounded(tokenizer: maskwright.Tokenizer) -> None:
    compiler = maskwright.Compiler(tokenizer, cache_bytes=0)
    for value in range(5):
        compiler.compile_json_schema({"const": value})
    assert compiler.cached_schemas == 1


def test_expressions_are_of_the_dialect_that_is_named(tokenizer: maskwright.Tokenizer) -> None:
    def accepts(patterns: Any, pattern: str, text: str) -> bool:
        matcher = maskwright.Compiler(tokenizer, patterns=patterns).compile_regex(pattern).matcher()
        tokens = list(text.encode())
        return matcher.accept_tokens(tokens) == len(tokens) and matcher.is_completed()

    for patterns, pattern, inside, outside in [
        ("common", r"(?i)\d|k", "K", "٣"),
        ("ecma", r"\d|k", "k", "٣"),
        ("rust", r"(?x)\d # digits", "٣", "k"),
        ("python", r"\d$", "٣", "٣\n"),
    ]:
        assert accepts(patterns, pattern, inside) and not accepts(patterns, pattern, outside), (patterns, pattern)
    for patterns, pattern in [("ecma", "(?i)a"), ("rust", "a(?=b)"), ("python", "a**")]:
        with pytest.raises(maskwright.CompileError, match="byte") as raised:
            accepts(patterns, pattern, "")
        assert raised.value.kind == "malformed"


def test_expressions_of_python_match_as_its_module_does(tokenizer: maskwright.Tokenizer) -> None:
    compiler = maskwright.Compiler(tokenizer, patterns="python")
    chooser = random.Random(41)
    atoms = ["k", "[^k]", r"\d", r"\w", r"\W", r"\s", ".", "é", "[i-k]", r"\x4b", "^", "$", r"\b", r"\Z", r"\A", "(?=k)", "(?<!é)"]
    texts = ["", *(chr(one) for one in b"kK1-\n"), "٣", "é", "İ", "\u212a", "\x1c"]
    texts += [one + other for one in texts[1:] for other in texts[1:]]

    def written(depth: int) -> str:
        parts = []
        for _ in range(chooser.randint(1, 3)):
            part = chooser.choice(atoms)
            if depth and chooser.random() < 0.4:
                part = f"(?{chooser.choice(['', 'i', 's', 'm', 'a', 'ai'])}:{written(depth - 1)}|{written(depth - 1)})"
            plain = part not in ("^", "$", r"\b", r"\Z", r"\A")
            parts.append(part + (chooser.choice(["", "", "*", "+?", "{,2}", "{2}"]) if plain else ""))
        return "".join(parts)

    compared = 0
    for _ in range(150):
        pattern = written(2)
        expected = [bool(re.fullmatch(pattern, text)) for text in texts]
        try:
            matcher = compiler.compile_regex(pattern).matcher()
        except maskwright.CompileError as error:
            # Lookbehinds are few, and there may be no text at all.
            assert error.kind == "limit_exceeded" or (error.kind == "unsatisfiable" and not any(expected)), f"{pattern}: {error}"
            continue
        for text, is_matched in zip(texts, expected, strict=True):
            tokens = list(text.encode())
            accepted = matcher.accept_tokens(tokens) == len(tokens) and matcher.is_completed()
            matcher.reset()
            compared += 1
            assert accepted == is_matched, f"{pattern!r} on {text!r}"
    assert compared > 5_000


def test_grammars_are_read_in_both_notations(compiler: maskwright.Compiler) -> None:
    def answers(grammar: str, text: str, syntax: Any = None) -> bool:
        matcher = compiler.compile_grammar(grammar, syntax=syntax).matcher()
        return matcher.accept_tokens([*text.encode()]) == len(text) and matcher.is_completed()

    ebnf, lark = 'root ::= "(" root ")" | [a-c]+', 'start: "(" start ")" | /[a-c]+/'
    for grammar, syntax in [(ebnf, None), (ebnf, "ebnf"), (ebnf, "gbnf"), (lark, None), (lark, "lark")]:
        assert answers(grammar, "((ab))", syntax) and not answers(grammar, "((ab)", syntax)
    for grammar, kind, reason in [
        ('root ::= "a', "malformed", "line 1, column 10"),
        ('root ::= "a" root "a" | "a"', "unsupported", "line 1: in the rule `root`"),
        ('root ::= "a" root', "unsatisfiable", "no text"),
    ]:
        with pytest.raises(maskwright.CompileError) as raised:
            compiler.compile_grammar(grammar)
        assert (raised.value.kind, raised.value.keyword) == (kind, "grammar") and reason in raised.value.reason
    with pytest.raises(ValueError, match="syntax"):
        compiler.compile_grammar(ebnf, syntax="abnf")  # type: ignore[arg-type]
