//! Tests of the numbers and strings that the style for models writes: the usual ones, and others where these are needed.

use super::super::{Automaton, Formats, State};
use super::alone;
use crate::schema::{SchemaOptions, SchemaSet};
use crate::{Escapes, StringStyle, Style};

fn automaton(schema: &str, strings: StringStyle) -> (Automaton, State) {
    let set = SchemaSet::load(schema, &SchemaOptions::default()).unwrap();
    let style = Style {
        strings,
        ..Style::generation()
    };
    let (mut automaton, root) = alone(set, Formats::Asserted, style).unwrap();
    let start = automaton.start(root).unwrap().expect("some value is valid");
    (automaton, start)
}

fn check(strings: StringStyle, schema: &str, written: &[&str], refused: &[&str]) {
    let (mut automaton, start) = automaton(schema, strings);
    for (texts, expected) in [(written, true), (refused, false)] {
        for text in texts {
            let end = text
                .bytes()
                .try_fold(start, |at, byte| automaton.step(at, byte).unwrap());
            let accepted = end.is_some_and(|end| automaton.is_complete(end).unwrap());
            assert_eq!(accepted, expected, "{text} under {schema}");
        }
    }
}

#[test]
fn numbers_as_writers_should() {
    let long = format!("0.5{}", "0".repeat(30));
    let thirty = "123456789012345678901234567890";
    let check =
        |schema: &str, written: &[&str], refused: &[&str]| check(StringStyle::usual(), schema, written, refused);
    check(
        "{}",
        &["1", "1.0", "12.50", "0.30000000000000004", "-7"],
        &["1e2", "-0", &long, thirty],
    );
    check(
        r#"{"type": "number", "maximum": 1}"#,
        &["1", "1.0", "0.5", "-3.00"],
        &["1.5", "1.000"],
    );
    check(
        r#"{"type": "number", "multipleOf": 0.5}"#,
        &["2", "2.0", "2.50"],
        &["2.25", "2.500"],
    );
    check(r#"{"multipleOf": 7}"#, &["14", "14.0", "0.0"], &["14.5"]);
    check(r#"{"const": 1.0}"#, &["1", "1.0"], &["1.5", "10"]);
    check(r#"{"enum": [1.0, 2.5]}"#, &["1", "1.0", "2.5", "2.50"], &["2", "2.0"]);
    check(r#"{"const": 1}"#, &["1"], &["1.0"]);
    check(r#"{"type": "integer"}"#, &["1", "-42"], &["1.0", thirty]);
    check(
        r#"{"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 5.5}]}"#,
        &["1", "5.5"],
        &["6", "6.0"],
    );
    check(
        r#"{"not": {"type": "integer"}, "type": "number"}"#,
        &["1.5"],
        &["1", "1.0"],
    );
    check(
        r#"{"type": "integer", "minimum": -9223372036854775808, "maximum": 9223372036854775807}"#,
        &["-9223372036854775808", "9223372036854775807"],
        &["9223372036854775808"],
    );
    check(&format!(r#"{{"enum": [{thirty}, 1]}}"#), &[thirty, "1"], &["12"]);
    check(
        r#"{"multipleOf": 1e-25, "exclusiveMinimum": 0}"#,
        &["0.0000000000000000000000001"],
        &["1e-25"],
    );
    check(
        r#"{"minimum": 0.12345678901234567890, "maximum": 0.12345678901234567891}"#,
        &["0.1234567890123456789", "0.12345678901234567891"],
        &["0.12345678901234567"],
    );
}

/// A number that counts for more than its validity may have any digits that there are.
#[test]
fn numbers_that_are_told_apart() {
    let check = |schema: &str, written: &[&str]| check(StringStyle::usual(), schema, written, &[]);
    check(
        r#"{"contains": {"const": 123456789012345678901234567890}, "maxItems": 1}"#,
        &["[123456789012345678901234567890]"],
    );
    check(
        r#"{"items": {"minimum": 9007199254740991.8, "maximum": 9007199254740992}, "uniqueItems": true, "minItems": 4}"#,
        &["[9007199254740991.8,9007199254740991.85,9007199254740991.9,9007199254740992]"],
    );
    check(
        r#"{"contains": {"exclusiveMinimum": 1e20}, "maxItems": 1}"#,
        &["[100000000000000000001]"],
    );
    // As many as have to differ beside bounds of any size.
    for bound in [
        r#""minimum": 1e23"#,
        r#""type": "integer", "minimum": 1e23"#,
        r#""type": "integer", "minimum": 99999999999999990"#,
        r#""multipleOf": 1e18, "exclusiveMaximum": -1e17"#,
        r#""exclusiveMinimum": 0, "exclusiveMaximum": 1e-19"#,
        r#""exclusiveMinimum": 0, "maximum": 5e-324"#,
    ] {
        let schema = format!(
            r#"{{"type": "array", "uniqueItems": true, "minItems": 30, "items": {{"type": "number", {bound}}}}}"#
        );
        let schema = schema.replace(r#""type": "number", "type": "integer""#, r#""type": "integer""#);
        let (mut automaton, start) = automaton(&schema, StringStyle::usual());
        assert!(automaton.completion(start).unwrap().is_some(), "{schema}");
    }
}

#[test]
fn formats_in_their_usual_spelling() {
    let check =
        |schema: &str, written: &[&str], refused: &[&str]| check(StringStyle::usual(), schema, written, refused);
    let date_time = ["\"2025-10-20T14:00:00Z\"", "\"2025-10-20T14:00:00.5+02:00\""];
    let unusual = [
        "\"2025-10-20t14:00:00z\"",
        "\"2025-10-20T23:59:60Z\"",
        "\"2025-10-20T14:00:00.1234567890Z\"",
    ];
    check(r#"{"type": "string", "format": "date-time"}"#, &date_time, &unusual);
    check(
        r#"{"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}"#,
        &date_time,
        &unusual,
    );
    check(
        r#"{"allOf": [{"format": "date-time"}, {"type": "string", "maxLength": 20}]}"#,
        &date_time[..1],
        &unusual,
    );
    check(
        r#"{"type": "string", "format": "date-time", "pattern": ":60"}"#,
        &unusual[1..2],
        &date_time,
    );
    check(
        r#"{"format": "date-time", "enum": ["2025-10-20t14:00:00z"]}"#,
        &unusual[..1],
        &date_time,
    );
    check(
        r#"{"type": "string", "not": {"format": "time"}}"#,
        &["\"x\""],
        &["\"12:00:00z\"", "\"12:00:00Z\""],
    );
    let (lower, upper) = (
        "\"0b0c4fb8-1e2a-4d2f-9d7c-3f6d3f1b2a10\"",
        "\"0B0C4FB8-1E2A-4D2F-9D7C-3F6D3F1B2A10\"",
    );
    check(r#"{"type": "string", "format": "uuid"}"#, &[lower], &[upper]);
    check(
        r#"{"type": "string", "format": "uuid", "pattern": "^[0-9A-F-]+$"}"#,
        &[upper],
        &[lower],
    );
}

/// A string that counts for more than its validity may be any.
#[test]
fn strings_that_are_told_apart() {
    let check = |schema: &str, written: &[&str]| check(StringStyle::usual(), schema, written, &[]);
    check(
        r#"{"items": {"type": "string", "format": "time", "pattern": "^12:00:00[zZ]"}, "uniqueItems": true, "minItems": 2}"#,
        &[r#"["12:00:00Z","12:00:00z"]"#],
    );
    check(
        r#"{"items": {"type": "string", "format": "time"}, "contains": {"pattern": "z$"}, "maxItems": 1}"#,
        &[r#"["12:00:00z"]"#],
    );
}

#[test]
fn preferences_by_option() {
    let any = StringStyle::any();
    let uri = r#"{"type": "string", "format": "uri"}"#;
    check(
        any.hosts(true),
        uri,
        &["\"https://example.org/a\"", "\"ftp://u@[::1]:21\""],
        &["\"a:\"", "\"a://\""],
    );
    check(any, uri, &["\"a:\""], &[]);
    let email = r#"{"type": "string", "format": "email"}"#;
    check(
        any.domains(true),
        email,
        &["\"a.b@example.org\""],
        &["\"a@b\"", "\"a@[127.0.0.1]\""],
    );
    let pattern = r#"{"type": "string", "pattern": "[a-z]+|[0-9]+"}"#;
    check(
        any.anchored_patterns(true),
        pattern,
        &["\"abc\"", "\"12\""],
        &["\" abc\"", "\"a1\""],
    );
    check(any, pattern, &["\" abc\""], &[]);
    // Two patterns that are found in the same strings, and match different ones whole.
    let patterns = r#"{"type": "object", "properties": {"a": {"type": "string", "pattern": "x"}, "b": {"type": "string", "pattern": "[^]*x"}}}"#;
    check(
        any.anchored_patterns(true),
        patterns,
        &[r#"{"a":"x","b":"yx"}"#],
        &[r#"{"a":"yx"}"#, r#"{"b":"xy"}"#],
    );
    // A preference says nothing of the same strings elsewhere, and nothing of strings that are listed.
    let times = r#"{"type": "object", "properties": {"a": {"format": "time", "type": "string"},
        "b": {"enum": ["12:00:00Z", "12:00:00z"], "format": "time"}, "c": {"type": "string", "not": {"not": {"format": "time"}}}}}"#;
    check(
        StringStyle::usual(),
        times,
        &[r#"{"a":"12:00:00Z","b":"12:00:00z","c":"12:00:00z"}"#],
        &[r#"{"a":"12:00:00z"}"#],
    );
}

#[test]
fn characters_beyond_ascii_are_escaped_by_option() {
    let set = SchemaSet::load(r#"{"enum": ["é😀\n"]}"#, &SchemaOptions::default()).unwrap();
    let style = Style {
        escapes: Escapes::Ascii,
        ..Style::generation()
    };
    let (mut automaton, root) = alone(set, Formats::Asserted, style).unwrap();
    let start = automaton.start(root).unwrap().expect("some value is valid");
    let written = automaton.completion(start).unwrap().unwrap();
    assert_eq!(String::from_utf8(written).unwrap(), r#""\u00e9\ud83d\ude00\n""#);
    for (text, expected) in [
        (r#""\u00E9\uD83D\ude00\n""#, true),
        ("\"é😀\\n\"", false),
        (r#""\u00e9😀\n""#, false),
    ] {
        let end = text
            .bytes()
            .try_fold(start, |at, byte| automaton.step(at, byte).unwrap());
        assert_eq!(
            end.is_some_and(|end| automaton.is_complete(end).unwrap()),
            expected,
            "{text}"
        );
    }
}
