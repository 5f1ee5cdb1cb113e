//! Schemas and texts that are judged.

use super::*;

fn judge(schema: &str, text: &str) -> Verdict {
    Validator::new(schema).unwrap().judge(text)
}

fn valid(schema: &str, text: &str) -> bool {
    judge(schema, text).valid
}

#[test]
fn a_verdict_says_what_and_where() {
    let schema = r#"{"properties": {"a/b": {"items": {"type": "integer"}}}, "required": ["c"]}"#;
    let verdict = judge(schema, r#"{"a/b": [1, 2.5]}"#);
    assert!(verdict.parsed && !verdict.valid && !verdict.fenced);
    let places: Vec<_> = verdict
        .problems
        .iter()
        .map(|p| (p.kind, p.instance.as_str(), p.keyword.as_str()))
        .collect();
    let item = (ProblemKind::Invalid, "/a~1b/1", "/properties/a~1b/items/type");
    assert!(places.contains(&item), "{places:?}");
    assert!(places.contains(&(ProblemKind::Invalid, "", "/required")), "{places:?}");
    let many = format!("[{}1]", "1,".repeat(1000));
    assert_eq!(
        judge(r#"{"items": {"type": "string"}}"#, &many).problems.len(),
        MAX_PROBLEMS
    );
}

#[test]
fn the_text_is_one_document_or_one_fenced_block_of_it() {
    for text in [
        "1",
        " \n1\t",
        "```json\n1\n```",
        "\n```\n 1\n  ```\n",
        "````JSON\r\n1\r\n````",
    ] {
        assert!(valid("true", text), "{text:?}");
    }
    for text in [
        "",
        "1 2",
        "1;",
        "```json\n1",
        "```json\n1```",
        "```1```",
        "Here:\n```json\n1\n```",
        "```json\n1\n```\n.",
        "````\n1\n```",
        "```json\n1\n```\n```json\n2\n```",
        "```",
        "``````",
        "``\n1\n``",
        "```a b\n1\n```",
        "{'a': 1}",
        "NaN",
    ] {
        let verdict = judge("true", text);
        assert!(!verdict.parsed && !verdict.valid, "{text:?}");
        assert_eq!(verdict.problems[0].kind, ProblemKind::NotJson);
    }
    assert!(judge("true", "```json\n[1]\n```").fenced);
    assert!(valid("true", "\"\\n```\""));
}

#[test]
fn a_name_given_twice_is_json_but_not_valid() {
    let verdict = judge("true", r#"{"a": {"b": 1, "\u0062": 1}}"#);
    assert!(verdict.parsed && !verdict.valid);
    assert_eq!(verdict.problems[0].kind, ProblemKind::DuplicateName);
    assert_eq!(verdict.problems[0].instance, "/a/b");
}

#[test]
fn the_draft_is_the_one_stated_else_2020_12() {
    let tuple = |schema: &str| valid(&format!(r#"{{{schema} "items": [{{"type": "string"}}]}}"#), "[1]");
    assert!(!tuple(r#""$schema": "http://json-schema.org/draft-07/schema#","#));
    assert!(!tuple(r#""$schema": "http://json-schema.org/draft-04/schema","#));
    assert!(Validator::new(r#"{"items": [{"type": "string"}]}"#).is_err());
    for unknown in ["http://example.com/own#", "", "draft"] {
        let schema = format!(r#"{{"$schema": "{unknown}", "prefixItems": [{{"type": "string"}}]}}"#);
        assert!(!valid(&schema, "[1]"), "{unknown}");
    }
    let draft4 = r#"{"$schema": "http://json-schema.org/draft-04/schema#", "maximum": 3, "exclusiveMaximum": true}"#;
    assert!(valid(draft4, "2.9") && !valid(draft4, "3"));
}

#[test]
fn formats_are_asserted_in_every_draft() {
    for draft in [
        "draft-04/schema#",
        "draft-06/schema#",
        "draft-07/schema#",
        "draft/2019-09/schema",
        "draft/2020-12/schema",
    ] {
        let scheme = if draft.starts_with("draft-") { "http" } else { "https" };
        let schema = format!(r#"{{"$schema": "{scheme}://json-schema.org/{draft}", "format": "ipv4"}}"#);
        assert!(
            valid(&schema, "\"127.0.0.1\"") && !valid(&schema, "\"127.0.0.256\""),
            "{draft}"
        );
    }
    let draft4 = r#"{"$schema": "http://json-schema.org/draft-04/schema#", "format": "uuid"}"#;
    assert!(!valid(draft4, "\"1\"") && valid(draft4, "\"7d444840-9dc0-11d1-b245-5ffdce74fad2\"") && valid(draft4, "1"));
    assert!(valid(r#"{"format": "int32"}"#, "99999999999") && valid(r#"{"format": "colour"}"#, "\"?\""));
}

#[test]
fn brackets_in_patterns_need_no_backslash_where_they_close_nothing() {
    let schema = r#"{"pattern": "^\\[[0-9]{2}]$"}"#;
    assert!(valid(schema, "\"[12]\"") && !valid(schema, "\"12\""));
    assert!(Validator::new(r#"{"pattern": "^(]$"}"#).is_err());
}

/// Shows that these comparisons are made as doubles. Once numbers are compared by their digits, the cases belong in
/// [`numbers_are_compared_exactly`], and this test goes, with the exception that the module's documentation names.
#[test]
fn long_fractions_are_compared_with_whole_steps_as_doubles() {
    for (text, as_double) in [
        ("4731005210419100.1", true),
        ("1.00000000000000001", true),
        ("1.1", false),
    ] {
        assert_eq!(valid(r#"{"multipleOf": 1}"#, text), as_double, "{text}");
    }
}

#[test]
fn numbers_are_compared_exactly() {
    let cases = [
        (r#"{"type": "integer"}"#, "1.0", true),
        (r#"{"type": "integer"}"#, "1e400", true),
        (r#"{"type": "integer"}"#, "1e-1", false),
        (r#"{"multipleOf": 0.01}"#, "4.35", true),
        (r#"{"multipleOf": 0.01}"#, "1.005", false),
        (r#"{"multipleOf": 3}"#, "100000000000000000000000000002", true),
        (r#"{"multipleOf": 3}"#, "100000000000000000000000000003", false),
        (r#"{"maximum": 9007199254740992}"#, "9007199254740993", false),
        (
            r#"{"exclusiveMaximum": 18446744073709551616}"#,
            "18446744073709551615",
            true,
        ),
        (
            r#"{"exclusiveMaximum": 18446744073709551616}"#,
            "18446744073709551616",
            false,
        ),
        (r#"{"maximum": 0.1}"#, "0.1000000000000000000000001", false),
        (r#"{"maximum": 1e400}"#, "1e999999999999", false),
        (r#"{"maximum": 5}"#, "1e-999999999999", true),
        (r#"{"const": 1}"#, "10e-1", true),
        (r#"{"uniqueItems": true}"#, "[1, 1.0]", false),
    ];
    let wrong: Vec<_> = cases
        .iter()
        .filter(|(schema, text, expected)| valid(schema, text) != *expected)
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn endless_references_end() {
    for schema in [
        r##"{"$ref": "#"}"##,
        r##"{"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}"##,
        r##"{"allOf": [{"$ref": "#"}], "anyOf": [{"$ref": "#"}, {"type": "string"}]}"##,
        r##"{"not": {"$ref": "#"}}"##,
        r##"{"$dynamicRef": "#"}"##,
        r##"{"if": {"$ref": "#"}, "then": false}"##,
        r##"{"unevaluatedProperties": false, "allOf": [{"$ref": "#"}]}"##,
    ] {
        let validator = Validator::new(schema).unwrap();
        validator.judge("1");
        validator.judge(r#"{"a": 1}"#);
    }
}

#[test]
fn depth_is_bounded_in_schema_and_text() {
    let recursive = r##"{"anyOf": [{"type": "null"}, {"items": {"anyOf": [{"$ref": "#"}, {"allOf": [{"$ref": "#"}]}]}}], "unevaluatedItems": false}"##;
    let validator = Validator::new(recursive).unwrap();
    let nested = |depth: usize| format!("{}null{}", "[".repeat(depth), "]".repeat(depth));
    assert!(validator.judge(&nested(20)).parsed);
    let shallow =
        Validator::new(r##"{"type": "array", "items": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}"##).unwrap();
    assert!(shallow.judge(&nested(MAX_DEPTH)).valid);
    assert!(!shallow.judge(&nested(MAX_DEPTH).replace("null", "1")).valid);
    assert!(!shallow.judge(&nested(MAX_DEPTH + 1)).parsed);
    let deep = |depth: usize| format!("{}true{}", r#"{"not":"#.repeat(depth), "}".repeat(depth));
    assert!(Validator::new(&deep(MAX_DEPTH)).unwrap().judge("1").valid);
    assert_eq!(
        Validator::new(&deep(100_000)).unwrap_err().kind,
        SchemaProblemKind::NotJson
    );
}

#[test]
fn validation_that_recurses_far_does_not_exhaust_the_stack() {
    let text = format!("{}null{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
    let nested = format!(
        r##"{}{{"items": {{"$ref": "#"}}}}{}"##,
        r#"{"allOf": ["#.repeat(120),
        "]}".repeat(120)
    );
    assert!(valid(&nested, &text));
    let links: Vec<String> = (0..2000)
        .map(|link| format!(r##""{link}": {{"$ref": "#/$defs/{}"}}"##, link + 1))
        .collect();
    let chain = format!(
        r##"{{"$ref": "#/$defs/0", "$defs": {{{}, "2000": {{"items": {{"$ref": "#"}}, "not": {{"type": "string"}}}}}}}}"##,
        links.join(", ")
    );
    assert!(valid(&chain, &text));
    assert!(!valid(&chain, &text.replace("null", "\"\"")));
}

#[test]
fn unusable_schemas_say_why() {
    let kind = |schema: &str| Validator::new(schema).unwrap_err().kind;
    assert_eq!(kind("{"), SchemaProblemKind::NotJson);
    assert_eq!(kind("[]"), SchemaProblemKind::NotASchema);
    assert_eq!(
        kind(r#"{"$ref": "http://example.com/other.json"}"#),
        SchemaProblemKind::Reference
    );
    assert_eq!(
        kind(r#"{"$ref": "file:///etc/hostname"}"#),
        SchemaProblemKind::Reference
    );
    assert_eq!(kind(r##"{"$ref": "#/nowhere"}"##), SchemaProblemKind::Reference);
    // With an identifier and without one, a missing document is told alike.
    for id in ["", r#""$id": "http://example.com/","#] {
        let told = Validator::new(&format!(r#"{{{id} "$ref": "other.json"}}"#))
            .unwrap_err()
            .to_string();
        assert!(
            told.ends_with("other.json` is not at hand, and nothing is fetched"),
            "{told}"
        );
        assert!(told.starts_with("a reference cannot be resolved: "), "{told}");
    }
    let problem = Validator::new(r#"{"properties": {"a": {"type": "text"}}}"#).unwrap_err();
    assert_eq!(
        (problem.kind, problem.pointer.as_str()),
        (SchemaProblemKind::NotASchema, "/properties/a/type")
    );
}

#[test]
fn a_pattern_that_backtracks_without_end_is_undecided() {
    let text = format!("\"{}c\"", "a".repeat(40));
    for schema in [
        r#"{"pattern": "^(a|a)*\\1b$"}"#,
        r#"{"not": {"pattern": "^(a|a)*\\1b$"}}"#,
    ] {
        let verdict = judge(schema, &text);
        assert!(verdict.parsed && !verdict.valid);
        assert_eq!(verdict.problems[0].kind, ProblemKind::Undecided, "{schema}");
    }
}

#[test]
fn patterns_with_flags_are_judged() {
    for (pattern, inside, outside) in [
        ("(?i)^alt\\\\+c$", "ALT+C", "alt+d"),
        ("^(?i:a)b$", "Ab", "aB"),
        ("^(?P<n>a)$", "a", "b"),
        ("\\\\Aa\\\\z", "a", "ba"),
        ("(?s)^a.b$", "a\\nb", "ab"),
        ("(?m)^b$", "a\\nb\\nc", "ab"),
    ] {
        let schema = format!("{{\"pattern\": \"{pattern}\"}}");
        assert!(valid(&schema, &format!("\"{inside}\"")), "{pattern}");
        assert!(!valid(&schema, &format!("\"{outside}\"")), "{pattern}");
    }
    // The crate beneath does not read quoted text: the schema cannot be used to judge, which is told.
    let quoted = Validator::new(r#"{"pattern": "^\\Qa.b\\E$"}"#).map(|_| ());
    assert_eq!(quoted.unwrap_err().kind, SchemaProblemKind::NotASchema);
}
