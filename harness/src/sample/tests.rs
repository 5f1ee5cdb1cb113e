//! Tests of sampled documents: another judge finds them valid, their values are usual ones, and their length keeps to the limit.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use maskwright::{ExactOptions, FixedWhitespace, Formats, Indent, LineBreak, SpacesAround, Style, Whitespace};
use maskwright_suites::validate::Validator;
use serde_json::Value;

use super::*;

const ORDER: &str = r##"{
    "type": "object",
    "properties": {
        "id": {"type": "string", "format": "uuid"},
        "state": {"enum": ["open", "paid", "sent"]},
        "total": {"type": "number", "minimum": 0, "maximum": 900},
        "placed": {"type": "string", "format": "date-time"},
        "note": {"type": ["string", "null"], "maxLength": 60},
        "lines": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/line"}},
        "code": {"type": "string", "pattern": "^[A-Z]{2}-\\d{4}$"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}}
    },
    "required": ["id", "state", "lines"],
    "additionalProperties": false,
    "$defs": {"line": {
        "type": "object",
        "properties": {"article": {"type": "string", "minLength": 3}, "count": {"type": "integer", "minimum": 1}},
        "required": ["article", "count"]
    }}
}"##;

/// A tree, a union, and kinds of values that words and small numbers do not fit.
const OTHERS: [&str; 9] = [
    r##"{"type": "object", "properties": {"name": {"type": "string"}, "left": {"$ref": "#"}, "right": {"$ref": "#"},
        "all": {"type": "array", "items": {"$ref": "#"}}}, "required": ["name"]}"##,
    r#"{"oneOf": [{"type": "object", "properties": {"kind": {"const": "a"}, "x": {"type": "integer"}}, "required": ["kind", "x"]},
        {"type": "object", "properties": {"kind": {"const": "b"}, "y": {"type": "boolean"}}, "required": ["kind"]}]}"#,
    r#"{"type": "array", "items": {"type": "integer", "multipleOf": 7}, "minItems": 4, "uniqueItems": true}"#,
    r#"{"type": "string", "minLength": 300}"#,
    r#"{"type": "number", "minimum": 123456789, "maximum": 123456999, "multipleOf": 0.25}"#,
    r#"{"type": "string", "pattern": "^[^@]+@[^@]+\\.[a-z]{2,3}$"}"#,
    r#"{"patternProperties": {"^x-": {"type": "integer"}}, "additionalProperties": false, "minProperties": 1}"#,
    r#"{"enum": [{"a": [1, "é\n"]}, "two words", null, -1.5e3]}"#,
    "true",
];

fn compact() -> Style {
    Style {
        whitespace: Whitespace::Compact,
        ..Style::generation()
    }
}

/// Layouts in which whitespace stands before commas, colons and brackets.
fn layouts() -> [Style; 3] {
    let indented = FixedWhitespace {
        indent: Some(Indent::Spaces(2)),
        colon: SpacesAround { before: 0, behind: 1 },
        ..FixedWhitespace::default()
    };
    let spaced = SpacesAround { before: 1, behind: 2 };
    let padded = FixedWhitespace {
        comma: spaced,
        colon: spaced,
        padding: 3,
        ..FixedWhitespace::default()
    };
    let tabs = FixedWhitespace {
        comma: spaced,
        indent: Some(Indent::Tab),
        line_break: LineBreak::CarriageReturnLineFeed,
        ..FixedWhitespace::default()
    };
    [indented, padded, tabs].map(|layout| Style {
        whitespace: Whitespace::Fixed(layout),
        ..Style::generation()
    })
}

fn written(schema: &str, style: Style, optional: OptionalMembers, count: u64) -> Vec<String> {
    let settings = SampleSettings {
        optional,
        max_bytes: 3_000,
        time_limit: Duration::from_secs(600),
    };
    let options = ExactOptions::default().style(style).formats(Formats::Asserted);
    let writer = DocumentWriter::new(schema, &BTreeMap::new(), options, settings).unwrap();
    (0..count).map(|seed| writer.write(seed).unwrap()).collect()
}

#[test]
fn whatever_is_written_is_valid() {
    for schema in [ORDER].into_iter().chain(OTHERS) {
        let judge = Validator::new(schema).unwrap();
        for style in [compact(), Style::generation(), Style::rfc8259()]
            .into_iter()
            .chain(layouts())
        {
            for optional in [OptionalMembers::All, OptionalMembers::Some, OptionalMembers::None] {
                for document in written(schema, style, optional, 12) {
                    assert!(judge.judge(&document).valid, "{schema}\n{document}");
                    assert!(document.len() <= 3_000, "{document}");
                    assert!(style != compact() || !document.contains('\n'), "{document}");
                }
            }
        }
    }
}

#[test]
fn optional_members_are_written_as_asked() {
    let names = |document: &str| -> BTreeSet<String> {
        let document: Value = serde_json::from_str(document).unwrap();
        document.as_object().unwrap().keys().cloned().collect()
    };
    for style in [compact(), Style::rfc8259()].into_iter().chain(layouts()) {
        let all = written(ORDER, style, OptionalMembers::All, 30);
        let full = all.iter().filter(|document| names(document).len() == 8).count();
        assert!(full >= 20, "{all:?}");
        let none = written(ORDER, style, OptionalMembers::None, 30);
        let least = none.iter().filter(|document| names(document).len() == 3).count();
        assert!(least >= 20, "{none:?}");
        let some = written(ORDER, style, OptionalMembers::Some, 30);
        let sizes: BTreeSet<usize> = some.iter().map(|document| names(document).len()).collect();
        assert!(sizes.len() >= 4, "{some:?}");
    }
}

/// Strings are words, numbers small and arrays short, nearly always; and every value of an `enum` comes.
#[test]
fn documents_are_usual() {
    for style in [compact()].into_iter().chain(layouts()) {
        are_usual(&written(ORDER, style, OptionalMembers::Some, 200));
    }
    let kinds: BTreeSet<char> = written("true", compact(), OptionalMembers::Some, 200)
        .iter()
        .filter_map(|document| document.chars().next())
        .map(|first| if first.is_ascii_digit() { '0' } else { first })
        .collect();
    assert!("{[\"0tfn".chars().all(|kind| kinds.contains(&kind)), "{kinds:?}");
}

fn are_usual(documents: &[String]) {
    let (mut plain, mut states) = (0, BTreeSet::new());
    for document in documents {
        let document: Value = serde_json::from_str(document).unwrap();
        states.insert(document["state"].to_string());
        let lines = document["lines"].as_array().unwrap();
        let is_plain = |line: &Value| {
            let article = line["article"].as_str().unwrap();
            let letters = article
                .chars()
                .all(|character| character.is_ascii_lowercase() || character == ' ');
            letters && line["count"].as_u64().is_some_and(|count| count <= 2_024)
        };
        plain += usize::from(lines.len() <= 4 && lines.iter().all(is_plain));
    }
    assert_eq!(states.len(), 3);
    assert!(
        plain * 10 > documents.len() * 7,
        "{plain} of {}\n{}",
        documents.len(),
        documents.join("\n")
    );
}

#[test]
fn the_same_seed_gives_the_same_document() {
    let first = written(ORDER, compact(), OptionalMembers::Some, 5);
    assert_eq!(first, written(ORDER, compact(), OptionalMembers::Some, 5));
    assert!(first.iter().collect::<BTreeSet<_>>().len() > 1, "{first:?}");
}
