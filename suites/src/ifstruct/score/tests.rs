//! The rules one by one: a request, a reply, and its failures.

use FailureKind::*;
use serde_json::json;

use super::*;

mod reading;
mod strict;

/// One item of each kind of field, in a request for JSON without further rules.
fn sample() -> Sample {
    let schema = json!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "s": {"type": "string"},
                "e": {"type": "string", "enum": ["a", "b"]},
                "i": {"type": "integer", "minimum": 1, "maximum": 5},
                "n": {"type": "number", "minimum": 0.5},
                "b": {"type": "boolean"},
                "o": {"type": ["string", "null"]},
                "l": {"type": "array", "minItems": 1, "maxItems": 2, "items": {
                    "type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]
                }}
            },
            "required": ["s"]
        }
    });
    serde_json::from_value(json!({
        "seed": 1, "entity_type": "test__thing", "prompt": "?", "json_schema": schema, "top_level_count": null,
        "top_level_key": null, "require_wrapper_key": false, "require_code_block": false,
        "require_no_commentary": false, "output_format": "json"
    }))
    .unwrap()
}

fn yaml_sample() -> Sample {
    Sample {
        output_format: OutputFormat::Yaml,
        ..sample()
    }
}

fn score(sample: &Sample, reply: &str) -> Score {
    Scorer::new(sample, Level::Public).unwrap().score(reply)
}

/// The failures as kinds with paths.
fn failures(score: &Score) -> Vec<(FailureKind, &str)> {
    assert_eq!(score.passed, score.failures.is_empty());
    score
        .failures
        .iter()
        .map(|failure| (failure.kind, failure.path.as_str()))
        .collect()
}

#[track_caller]
fn expect(sample: &Sample, cases: &[(&str, &[(FailureKind, &str)])]) {
    for (reply, expected) in cases {
        let score = score(sample, reply);
        assert_eq!(failures(&score), *expected, "{reply:?}: {:?}", score.failures);
    }
}

#[test]
fn the_walk_checks_fields_types_values_and_lengths() {
    let cases: &[(&str, &[(FailureKind, &str)])] = &[
        ("{}", &[(WrongType, "")]),
        ("[1]", &[(WrongType, "[0]")]),
        ("[null]", &[(WrongType, "[0]")]),
        ("[{}]", &[(MissingField, "[0].s")]),
        (
            r#"[{"s": "x", "z": 1, "y": 2}]"#,
            &[(ExtraField, "[0].z"), (ExtraField, "[0].y")],
        ),
        (r#"[{"s": "x"}, {"s": null}]"#, &[(WrongType, "[1].s")]),
        (r#"[{"s": "x", "e": "c"}]"#, &[(NotInEnum, "[0].e")]),
        (r#"[{"s": "x", "e": 1}]"#, &[(WrongType, "[0].e"), (NotInEnum, "[0].e")]),
        (r#"[{"s": "x", "i": 1.0}]"#, &[(WrongType, "[0].i")]),
        (r#"[{"s": "x", "i": true}]"#, &[(WrongType, "[0].i")]),
        (
            r#"[{"s": "x", "i": 0}, {"s": "x", "i": 6}]"#,
            &[(OutOfBounds, "[0].i"), (OutOfBounds, "[1].i")],
        ),
        (r#"[{"s": "x", "n": false}]"#, &[(WrongType, "[0].n")]),
        (r#"[{"s": "x", "n": 1}, {"s": "x", "n": 0.5}]"#, &[]),
        (r#"[{"s": "x", "n": 0.4999}]"#, &[(OutOfBounds, "[0].n")]),
        (r#"[{"s": "x", "b": 1}]"#, &[(WrongType, "[0].b")]),
        (r#"[{"s": "x", "o": null}, {"s": "x", "o": "y"}]"#, &[]),
        (r#"[{"s": "x", "o": 1}]"#, &[(WrongType, "[0].o")]),
        (r#"[{"s": "x", "l": []}]"#, &[(ArrayLength, "[0].l")]),
        (
            r#"[{"s": "x", "l": [{"x": 1}, {"x": 2.5}, {}]}]"#,
            &[
                (ArrayLength, "[0].l"),
                (WrongType, "[0].l[1].x"),
                (MissingField, "[0].l[2].x"),
            ],
        ),
    ];
    expect(&sample(), cases);
}

#[test]
fn types_are_read_as_the_public_validator_reads_them() {
    let judge = |schema: serde_json::Value, reply: &str| {
        let mut sample = sample();
        sample.json_schema = schema.as_object().unwrap().clone();
        score(&sample, reply).passed
    };
    for (schema, reply, passes) in [
        (json!({"type": "null"}), "[1]", true),
        (json!({"items": {}}), "[1]", true),
        (json!({"type": "array", "items": {}}), "[null]", true),
        (json!({"type": "array", "items": {"title": "t"}}), "[null]", false),
        (json!({"type": "array", "items": {"type": "null"}}), "[null, 1]", true),
        (
            json!({"type": "array", "items": {"type": "null", "enum": [1]}}),
            "[1]",
            true,
        ),
        (
            json!({"type": "array", "items": {"type": "null", "enum": [1]}}),
            "[null]",
            false,
        ),
        (
            json!({"type": "array", "items": {"type": ["string", "null"], "enum": ["a"]}}),
            "[null]",
            true,
        ),
        (
            json!({"type": "array", "items": {"type": ["string", "integer"]}}),
            "[1.5]",
            true,
        ),
        (
            json!({"type": "array", "items": {"type": ["string", "integer"]}}),
            "[null]",
            false,
        ),
        (
            json!({"type": "array", "items": {"type": "number", "enum": [1]}}),
            "[1.0]",
            true,
        ),
        (
            json!({"type": "array", "items": {"type": "boolean", "enum": [1]}}),
            "[true]",
            true,
        ),
        (
            json!({"type": "array", "items": {"type": "integer", "enum": ["1"]}}),
            "[1]",
            false,
        ),
        (
            json!({"type": "array", "items": {"type": "integer", "maximum": 9007199254740992.0}}),
            "[9007199254740993]",
            false,
        ),
        (
            json!({"type": "array", "items": {"type": "array", "enum": [1]}}),
            "[[]]",
            true,
        ),
        (
            json!({"type": "array", "items": {"enum": [[1, {"a": null}]]}}),
            "[[1, {\"a\": null}]]",
            true,
        ),
        (json!({"type": "array", "minItems": 2, "maxItems": 2}), "[1]", false),
    ] {
        assert_eq!(judge(schema.clone(), reply), passes, "{schema} {reply}");
    }
}

#[test]
fn the_list_is_bare_or_wrapped_and_of_the_right_length() {
    let wrapped = Sample {
        require_wrapper_key: true,
        top_level_key: Some("things".to_owned()),
        top_level_count: Some(Count::Between(1, 2)),
        ..sample()
    };
    expect(
        &wrapped,
        &[
            (r#"{"things": [{"s": "x"}]}"#, &[]),
            (r#"[{"s": "x"}]"#, &[(MissingWrapper, "")]),
            (r#"{"Things": [{"s": "x"}]}"#, &[(WrongWrapperKey, "")]),
            (r#"{"things": {"s": "x"}}"#, &[(WrongType, "")]),
            (r#"{"things": [{"s": "x"}], "more": 1}"#, &[(WrongType, "")]),
            (r#"{"things": []}"#, &[(ItemCount, "")]),
            (
                r#"{"things": [{}, {"s": ""}, {"s": ""}]}"#,
                &[(MissingField, "[0].s"), (ItemCount, "")],
            ),
        ],
    );
    let bare = Sample {
        top_level_count: Some(Count::Exactly(1)),
        ..sample()
    };
    expect(
        &bare,
        &[
            (r#"[{"s": "x"}]"#, &[]),
            (r#"{"things": [{"s": "x"}]}"#, &[(UnexpectedWrapper, "")]),
            ("[]", &[(ItemCount, "")]),
            ("{}", &[(WrongType, "")]),
        ],
    );
    let any_key = Sample {
        top_level_key: None,
        ..wrapped
    };
    expect(&any_key, &[(r#"{"a": [{"s": "x"}]}"#, &[])]);
    let yaml = Sample {
        output_format: OutputFormat::Yaml,
        top_level_key: Some("true".to_owned()),
        ..any_key
    };
    expect(
        &yaml,
        &[("true:\n- s: x", &[(WrongWrapperKey, "")]), ("'true':\n- s: x", &[])],
    );
}

#[test]
fn fences_and_commentary_are_as_asked() {
    let block = "```json\n[]\n```";
    let required = Sample {
        require_code_block: true,
        require_no_commentary: true,
        ..sample()
    };
    expect(
        &required,
        &[
            (block, &[]),
            ("[]", &[(MissingCodeBlock, "")]),
            ("```json\n[]", &[(MissingCodeBlock, ""), (UnclosedCodeBlock, "")]),
            ("Sure:\n```json\n[]\n```", &[(Commentary, "")]),
            ("```json\n[]\n```\nok", &[(Commentary, "")]),
            ("<think>hm</think>\n```json\n[]\n```", &[]),
            ("Sure:\n```json\n[\n```", &[(Syntax, "")]),
        ],
    );
    let forbidden = Sample {
        forbid_code_block: true,
        ..sample()
    };
    expect(
        &forbidden,
        &[
            ("[]", &[]),
            (block, &[(ForbiddenCodeBlock, "")]),
            ("```\n[]", &[(ForbiddenCodeBlock, ""), (UnclosedCodeBlock, "")]),
        ],
    );
    let named = Sample {
        code_block_language: Some("json".to_owned()),
        ..required
    };
    expect(
        &named,
        &[
            (block, &[]),
            ("```JSON title\n[]\n```", &[]),
            ("```\n[]\n```", &[(WrongFenceLanguage, "")]),
            ("```json5\n[]\n```", &[(WrongFenceLanguage, "")]),
            ("[]", &[(MissingCodeBlock, "")]),
        ],
    );
}

#[test]
fn hostile_replies_are_bounded() {
    let (json, yaml) = (sample(), yaml_sample());
    let kinds = |sample: &Sample, reply: &str| -> Vec<FailureKind> {
        let score = score(sample, reply);
        assert!(score.failures.iter().all(|failure| failure.message.len() < 500));
        score.failures.iter().map(|failure| failure.kind).collect()
    };
    let deep = 100_000;
    assert_eq!(kinds(&json, &"[".repeat(deep)), [TooDeep]);
    assert_eq!(kinds(&json, &"{\"a\":".repeat(deep)), [TooDeep]);
    assert_eq!(kinds(&yaml, &"[".repeat(deep)), [TooDeep]);
    assert_eq!(kinds(&yaml, &"{a: ".repeat(deep)), [TooDeep]);
    assert_eq!(kinds(&yaml, &"- ".repeat(deep)), [TooDeep]);
    assert_eq!(kinds(&yaml, &"? ".repeat(deep)), [TooDeep]);
    assert_eq!(
        kinds(
            &json,
            &format!("{}{}", "[".repeat(MAX_JSON_DEPTH), "]".repeat(MAX_JSON_DEPTH))
        ),
        [WrongType]
    );
    let bomb = |levels: usize, link: &str| -> String {
        let lines = (1..levels).map(|level| {
            let below = vec![format!("*a{}", level - 1); 9].join(", ");
            format!("- &a{level} {}\n", link.replace('@', &below))
        });
        format!("- &a0 [x]\n{}", lines.collect::<String>())
    };
    assert_eq!(kinds(&yaml, &bomb(20, "[@]")), [TooLarge]);
    let merges = bomb(20, "\n  <<: [@]\n  k: v").replace("[x]", "\n  j: v");
    assert_eq!(kinds(&yaml, &merges), [TooLarge]);
    let chain = (1..deep).map(|level| format!("- &a{level}\n  - *a{}\n", level - 1));
    assert_eq!(
        kinds(&yaml, &format!("- &a0 x\n{}", chain.collect::<String>())),
        [TooDeep]
    );

    let long = "x".repeat(10 << 20);
    assert_eq!(kinds(&json, &format!("[{{\"s\": \"{long}\"}}]")), []);
    let long = &long[..1 << 20];
    assert_eq!(kinds(&yaml, &format!("- s: {long}")), []);
    // Aliases of long texts, as values and as keys; what a set holds does not stay, but its keys are read.
    let aliases = |first: &str, next: &str| format!("- {first}\n{}", format!("- {next}\n").repeat(300));
    assert_eq!(kinds(&yaml, &aliases(&format!("&a {long}"), "*a")), [TooLarge]);
    assert_eq!(
        kinds(&yaml, &aliases(&format!("&a\n  ? {long}\n  : 1"), "!!set\n  <<: *a")),
        [TooLarge]
    );
    assert_eq!(kinds(&json, &format!("[{{\"s\": \"{long}")), [Syntax]);
    assert_eq!(kinds(&yaml, &format!("- s: '{long}")), [Syntax]);
    assert_eq!(kinds(&yaml, &format!("- s: \"{}", "\\".repeat(1 << 20))), [Syntax]);
    assert_eq!(kinds(&json, &"```\n".repeat(500_001)), [NoData]);
    assert_eq!(kinds(&json, &" ".repeat(10 << 20)), [NoData]);
    assert_eq!(
        kinds(&yaml, &format!("- s: {}", "1:".repeat(1 << 20) + "1")),
        [NumberTooLong]
    );
    assert_eq!(
        kinds(&yaml, &format!("- s: 0x{}", "f".repeat(1 << 20))),
        [NumberTooLong]
    );
    for reply in [
        "\0", "a\r\nb\0", "\u{feff}", "&", "*", "!", "%", "- |", "- >9", "- \"\\u", "? ", "<<", "--- |",
    ] {
        let _ = (score(&yaml, reply), score(&json, reply));
    }
    let many = score(&json, &format!("[{}1]", "1,".repeat(100_000)));
    assert_eq!(
        (many.failures.len(), many.omitted),
        (MAX_FAILURES, 100_001 - MAX_FAILURES)
    );
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_are_whitespace() {
    expect(
        &yaml_sample(),
        &[
            ("```yaml\r\n- s: |\r\n    a\r\n    b\r\n```", &[]),
            ("\u{feff}- s: x", &[]),
        ],
    );
    expect(&sample(), &[("```json\r\n[\r\n{\"s\": \"x\"}\r\n]\r\n```\r\n", &[])]);
}

#[test]
fn unusable_schemas_say_where() {
    for (schema, pointer) in [
        (json!({"type": 1}), "/type"),
        (json!({"type": ["string", 1]}), "/type"),
        (json!({"type": "array", "items": true}), "/items"),
        (
            json!({"type": "array", "items": {"type": "object", "properties": []}}),
            "/items/properties",
        ),
        (json!({"type": "object", "properties": {"a/b": 1}}), "/properties/a~1b"),
        (json!({"type": "object", "required": "a"}), "/required"),
        (json!({"minimum": "1"}), "/minimum"),
        (json!({"enum": "a"}), "/enum"),
    ] {
        let mut sample = sample();
        sample.json_schema = schema.as_object().unwrap().clone();
        let error = Scorer::new(&sample, Level::Public).err().unwrap();
        assert_eq!(error.pointer, pointer, "{error}");
    }
    let mut sample = sample();
    sample.json_schema = json!({"items": {"pattern": "("}}).as_object().unwrap().clone();
    assert!(Scorer::new(&sample, Level::Public).is_ok());
    assert_eq!(
        Scorer::new(&sample, Level::Strict).err().unwrap().pointer,
        "/items/pattern"
    );
}
