//! Structural tags that are refused, with the JSON Pointer of the error.

use crate::{compile, compiler};
use maskwright::CompileErrorKind::{LimitExceeded, Malformed, Unsatisfiable, Unsupported};

#[test]
fn errors_have_a_place_and_say_what_to_do() {
    let json = r#"{"type": "json_schema", "json_schema": true}"#;
    for (format, kind, place, words) in [
        (
            r#"{"type": "grammar", "grammar": "root ::= \"a\" | \"(\" root \")\""}"#.to_owned(),
            Unsupported,
            "/format/grammar",
            "line 1: the rule `root` is nested in itself",
        ),
        (
            r#"{"type": "grammar", "grammar": "root ::= [a"}"#.into(),
            Malformed,
            "/format/grammar",
            "line 1, column 10",
        ),
        (
            r#"{"type": "nonsense"}"#.into(),
            Malformed,
            "/format/type",
            "const_string",
        ),
        (
            r#"{"type": "any_text", "max_tokens": 4}"#.into(),
            Unsupported,
            "/format/max_tokens",
            "max_tokens",
        ),
        (
            r#"{"type": "any_text", "colour": 4}"#.into(),
            Unsupported,
            "/format/colour",
            "excludes",
        ),
        (
            r#"{"type": "any_text", "excludes": ["a", ""]}"#.into(),
            Malformed,
            "/format/excludes/1",
            "character",
        ),
        (
            r#"{"type": "json_schema", "json_schema": {}, "style": "cohere_xml"}"#.into(),
            Unsupported,
            "/format/style",
            "json",
        ),
        (
            r#"{"type": "json_schema", "json_schema": {}, "style": "qwen_xml", "any_order": true}"#.into(),
            Unsupported,
            "/format/any_order",
            "leave it out",
        ),
        (
            r#"{"type": "regex", "pattern": "a$b"}"#.into(),
            Unsatisfiable,
            "/format/pattern",
            "no text matches this expression: `a$b`",
        ),
        (
            r#"{"type": "json_schema", "json_schema": {"enum": []}}"#.into(),
            Unsatisfiable,
            "/format/json_schema",
            "",
        ),
        (
            r#"{"type": "json_schema", "json_schema": {"properties": {"a": {"type": 3}}}}"#.into(),
            Malformed,
            "/format/json_schema/properties/a",
            "type",
        ),
        (
            r#"{"type": "regex", "pattern": "("}"#.into(),
            Malformed,
            "/format/pattern",
            "(",
        ),
        (
            r#"{"type": "token", "token": "<|none|>"}"#.into(),
            Malformed,
            "/format/token",
            "no such token",
        ),
        (
            r#"{"type": "token", "token": 309}"#.into(),
            Malformed,
            "/format/token",
            "no such token",
        ),
        (
            r#"{"type": "sequence", "elements": [{"type": "or"}]}"#.into(),
            Malformed,
            "/format/elements/0",
            "elements",
        ),
        (
            r#"{"type": "repeat", "min": 3, "max": 2, "content": {"type": "any_text"}}"#.into(),
            Malformed,
            "/format/max",
            "min",
        ),
        (
            format!(
                r#"{{"type": "triggered_tags", "triggers": ["<b"], "tags": [{{"begin": "<a", "content": {json}, "end": ""}}]}}"#
            ),
            Malformed,
            "/format/tags/0/begin",
            "trigger",
        ),
        (
            format!(r#"{{"type": "sequence", "elements": [{{"type": "any_text"}}, {json}]}}"#),
            Unsupported,
            "/format/elements/1/json_schema",
            "excludes",
        ),
        (
            r#"{"type": "exclude_token", "exclude_tokens": ["<|none|>"]}"#.into(),
            Malformed,
            "/format/exclude_tokens/0",
            "no such token",
        ),
        (
            format!(r#"{{"type": "repeat", "min": 1000000, "max": -1, "content": {json}}}"#),
            LimitExceeded,
            "",
            "places",
        ),
        (
            format!(
                r#"{{"type": "or", "elements": [{}]}}"#,
                (0..300)
                    .map(|number| { format!(r#"{{"type": "json_schema", "json_schema": {{"const": {number}}}}}"#) })
                    .collect::<Vec<_>>()
                    .join(",")
            ),
            LimitExceeded,
            "",
            "ways",
        ),
        (two_free_texts(4_000), LimitExceeded, "", "two by two"),
        (many_searches(8_000, 16), LimitExceeded, "", "two by two"),
    ] {
        let error = compile(&format).err().unwrap_or_else(|| panic!("{format}"));
        assert_eq!((error.kind(), error.pointer()), (kind, Some(place)), "{error}");
        assert!(
            error.message().contains(words) || error.keyword() == Some(words),
            "{error}"
        );
    }
}

#[test]
fn what_is_no_structural_tag_is_refused() {
    for (tag, place) in [
        ("{", ""),
        ("[]", ""),
        (r#"{"type": "json"}"#, "/type"),
        (r#"{"type": "structural_tag"}"#, ""),
        (r#"{"format": {"type": "any_text"}, "triggers": []}"#, "/triggers"),
        (
            r#"{"structures": [{"begin": "a", "schema": 3, "end": "b"}], "triggers": ["a"]}"#,
            "/structures/0/schema",
        ),
    ] {
        let error = compiler().compile_structural_tag(tag).err().unwrap();
        assert_eq!(error.pointer(), Some(place), "{error}");
    }
    let deep = format!(
        "{}{}",
        r#"{"type":"star","content":"#.repeat(400),
        r#"{"type":"any_text"}"#
    );
    let deep = format!("{deep}{}", "}".repeat(400));
    assert!(compile(&deep).is_ok(), "nothing recurses");
}

/// Two free texts in a row, each with `count` patterns, after all of which the second may begin.
fn two_free_texts(count: usize) -> String {
    let rules: Vec<String> = (0..count)
        .map(|rule| format!(r#"["<{rule}>", {{"type": "const_string", "value": "x"}}]"#))
        .collect();
    let free = format!(r#"{{"type": "dispatch", "rules": [{}]}}"#, rules.join(","));
    format!(r#"{{"type": "sequence", "elements": [{free}, {free}]}}"#)
}

/// Free text with `count` patterns that end with the same byte, and behind it `searches` repeated expressions: for each of them the search for
/// ambiguity starts over, and looks at all pairs of the patterns.
fn many_searches(count: usize, searches: usize) -> String {
    let rules: Vec<String> = (0..count)
        .map(|rule| format!(r#"["{rule:04}z", {{"type": "const_string", "value": "x"}}]"#))
        .collect();
    let free = format!(
        r#"{{"type": "dispatch", "loop": false, "rules": [{}]}}"#,
        rules.join(",")
    );
    let expressions: Vec<String> = (0..searches)
        .map(|number| {
            format!(
                r#"{{"type": "plus", "content": {{"type": "regex", "pattern": "a{number}"}}}}, {{"type": "const_string", "value": "X"}}"#
            )
        })
        .collect();
    format!(
        r#"{{"type": "sequence", "elements": [{free}, {}]}}"#,
        expressions.join(",")
    )
}
