//! The values that a style leaves out, by kind and place; that something is left out exactly where a valid document shows it.

use crate::explain::{Explainer, NarrowingKind};
use crate::{ExactOptions, Formats, Style, WritingBounds};

/// The kinds of narrowing of a schema by code, with the pointers of their places.
fn narrowings(schema: &str, style: Style) -> Vec<(&'static str, Vec<String>)> {
    let options = ExactOptions::default().style(style).formats(Formats::Asserted);
    let narrowings = Explainer::new(schema, &options).unwrap().narrowings();
    assert!(narrowings.is_complete, "{schema}");
    let of = |place: &crate::explain::KeywordLocation| place.pointer.clone();
    let found = narrowings.found.iter();
    found
        .map(|one| (one.kind.code(), one.places.iter().map(of).collect()))
        .collect()
}

fn check(schema: &str, style: Style, expected: &[(&str, &[&str])]) {
    let found = narrowings(schema, style);
    let found: Vec<(&str, Vec<&str>)> = found
        .iter()
        .map(|(kind, places)| (*kind, places.iter().map(String::as_str).collect()))
        .collect();
    let expected: Vec<(&str, Vec<&str>)> = expected.iter().map(|(kind, places)| (*kind, places.to_vec())).collect();
    assert_eq!(found, expected, "{schema}");
}

/// A schema, and the kinds of its narrowings with their places.
type Case = (String, &'static [(&'static str, &'static [&'static str])]);

#[test]
fn what_is_left_out_is_named_where_it_is() {
    let style = Style::generation();
    let closed = r#""type": "object", "additionalProperties": false"#;
    let cases: &[Case] = &[
        // Nothing is left out of what the schema bounds itself.
        (
            format!(
                r#"{{{closed}, "properties": {{"a": {{"type": "string", "maxLength": 100000}}, "b": {{"type": "integer", "minimum": 0, "maximum": 100}},
                "c": {{"type": "array", "maxItems": 9999, "items": {{"type": "boolean"}}}}, "d": {{"enum": [1e30, "x", {{"y": [[]]}}]}},
                "e": {{"type": "string", "pattern": "^[a-z]{{2,5}}$"}}, "f": {{"type": "array", "uniqueItems": true, "items": {{"enum": [1, 2, 3]}}}}}}}}"#
            ),
            &[],
        ),
        (r#"{"type": "string"}"#.to_owned(), &[("long-strings", &[""])]),
        // Keywords of several subschemas count together.
        (
            r##"{"allOf": [{"$ref": "#/$defs/base"}, {"properties": {"kind": {"const": "a"}}}], "unevaluatedProperties": false, "type": "object",
                "$defs": {"base": {"properties": {"kind": {"type": "string"}, "free": {"type": "string"}}}}}"##
                .to_owned(),
            &[("long-strings", &["/$defs/base/properties/free"])],
        ),
        (
            format!(
                r#"{{{closed}, "properties": {{"kind": {{"type": "string"}}}}, "required": ["kind"],
                "oneOf": [{{"properties": {{"kind": {{"const": "a"}}}}}}, {{"properties": {{"kind": {{"const": "b"}}}}}}]}}"#
            ),
            &[],
        ),
        // Free values, numbers, arrays, objects, names.
        (
            r#"{"type": "object"}"#.to_owned(),
            &[("free-depth", &[""]), ("long-names", &[""]), ("large-objects", &[""])],
        ),
        (
            r#"{"type": "object", "additionalProperties": {"type": "null"}, "maxProperties": 3}"#.to_owned(),
            &[("long-names", &[""])],
        ),
        (
            r#"{"type": "object", "propertyNames": {"maxLength": 20}, "additionalProperties": {"type": "null"}}"#
                .to_owned(),
            &[("large-objects", &[""])],
        ),
        (
            r#"{"type": "array", "items": {"type": "number"}}"#.to_owned(),
            &[("long-arrays", &[""]), ("long-numbers", &["/items"])],
        ),
        (
            r#"{"type": "array", "prefixItems": [{"type": "null"}], "maxItems": 2}"#.to_owned(),
            &[("free-depth", &[""])],
        ),
        (r#"{"enum": [1, 2.5], "type": "number"}"#.to_owned(), &[]),
        (
            r#"{"type": "integer", "minimum": 0, "maximum": 1e30}"#.to_owned(),
            &[("long-numbers", &[""])],
        ),
        (
            r#"{"type": "integer", "minimum": -9223372036854775808, "maximum": 9223372036854775807}"#.to_owned(),
            &[],
        ),
        // One branch lists its values, the other does not.
        (
            r#"{"anyOf": [{"enum": [{"x": []}]}, {"type": "object", "additionalProperties": {"type": "string", "maxLength": 3}}, {"type": "array", "maxItems": 2}]}"#.to_owned(),
            &[("free-depth", &[""]), ("long-names", &[""]), ("large-objects", &[""])],
        ),
        // Strings in other than their usual spelling.
        (
            r#"{"type": "string", "format": "date-time", "maxLength": 40}"#.to_owned(),
            &[("unusual-strings", &[""])],
        ),
        (r#"{"type": "string", "format": "date"}"#.to_owned(), &[]),
    ];
    for (schema, expected) in cases {
        check(schema, style, expected);
        check(schema, Style::rfc8259(), &[]);
    }
}

#[test]
fn members_that_the_style_leaves_out() {
    let base = Style {
        bounds: WritingBounds::NONE,
        ..Style::generation()
    };
    let closed = Style { closed: true, ..base };
    let required = Style {
        all_required: true,
        ..base
    };
    let both = Style {
        all_required: true,
        ..closed
    };
    let schema = r#"{"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "object", "additionalProperties": false}}, "required": ["a"]}"#;
    check(schema, closed, &[("closed", &[""])]);
    check(schema, required, &[("all-required", &[""])]);
    check(schema, both, &[("closed", &[""]), ("all-required", &[""])]);
    // Objects that take no further names have none that are too long, or too many.
    let narrow = Style {
        closed: true,
        ..Style::generation()
    };
    check(schema, narrow, &[("closed", &[""])]);
    let full = r#"{"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a"], "additionalProperties": false}"#;
    check(full, both, &[]);
    check(
        r#"{"properties": {"a": {"type": "null"}}, "additionalProperties": false}"#,
        closed,
        &[("long-numbers", &[""]), ("closed", &[""])],
    );
}

#[test]
fn orders_that_are_mixed_are_told() {
    let branches = |count: usize| {
        let branches = (0..count).map(|at| {
            let mut names: Vec<String> = (0..20).map(|name| format!(r#""n{name}": {{"type": "null"}}"#)).collect();
            names.swap(at % 20, (at % 20 + at / 20 + 1) % 20);
            let names = names.join(",");
            format!(r#"{{"type": "object", "additionalProperties": false, "properties": {{"k": {{"const": {at}}}, {names}}}, "required": ["k"]}}"#)
        });
        format!(r#"{{"oneOf": [{}]}}"#, branches.collect::<Vec<_>>().join(","))
    };
    check(&branches(12), Style::generation(), &[]);
    check(&branches(100), Style::generation(), &[("mixed-order", &[""])]);
}

#[test]
fn messages() {
    let options = ExactOptions::default();
    let schema = r#"{"type": "object", "additionalProperties": false, "properties": {"a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "string"}, "d": {"type": "string"}}}"#;
    let found = Explainer::new(schema, &options).unwrap().narrowings().found;
    assert_eq!(
        found[0].to_string(),
        "strings of more than 65536 characters: at `/properties/a`, `/properties/b`, `/properties/c` and one other place"
    );
    assert_eq!(
        (found.len(), found[0].kind, found[0].count),
        (1, NarrowingKind::LongStrings, 4)
    );
}
