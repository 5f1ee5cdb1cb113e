//! Tests of fixed whitespace: exactly the texts that a writer of its own, over values, writes.

use super::*;
use crate::{FixedWhitespace, Indent, LineBreak, SpacesAround};

/// Layouts that differ in all their fields.
fn layouts() -> [FixedWhitespace; 6] {
    let one = FixedWhitespace::default();
    let spaced = SpacesAround { before: 1, behind: 2 };
    [
        one,
        FixedWhitespace {
            comma: spaced,
            colon: spaced,
            padding: 1,
            ..one
        },
        FixedWhitespace {
            comma: SpacesAround { before: 2, behind: 0 },
            padding: 2,
            ..one
        },
        FixedWhitespace {
            indent: Some(Indent::Spaces(2)),
            ..one
        },
        FixedWhitespace {
            indent: Some(Indent::Tab),
            line_break: LineBreak::CarriageReturnLineFeed,
            padding: 3,
            ..one
        },
        FixedWhitespace {
            indent: Some(Indent::Spaces(0)),
            comma: spaced,
            ..one
        },
    ]
}

fn style(layout: FixedWhitespace) -> Style {
    Style {
        whitespace: Whitespace::Fixed(layout),
        ..Style::generation()
    }
}

/// The text of a value in a layout, written from the value.
fn written(value: &serde_json::Value, layout: &FixedWhitespace, level: usize) -> String {
    let spaces = |count: u8| " ".repeat(count.into());
    let line = |level: usize| {
        let unit = match layout.indent? {
            Indent::Spaces(width) => spaces(width),
            Indent::Tab => "\t".to_owned(),
        };
        let end = match layout.line_break {
            LineBreak::LineFeed => "\n",
            LineBreak::CarriageReturnLineFeed => "\r\n",
        };
        Some(end.to_owned() + &unit.repeat(level))
    };
    let (open, close, parts): (_, _, Vec<String>) = match value {
        serde_json::Value::Array(items) => {
            let items = items.iter().map(|item| written(item, layout, level + 1));
            ('[', ']', items.collect())
        }
        serde_json::Value::Object(members) => {
            let colon = spaces(layout.colon.before) + ":" + &spaces(layout.colon.behind);
            let members = members.iter().map(|(name, value)| {
                let name = serde_json::Value::from(name.as_str());
                format!("{name}{colon}{}", written(value, layout, level + 1))
            });
            ('{', '}', members.collect())
        }
        scalar => return scalar.to_string(),
    };
    if parts.is_empty() {
        return format!("{open}{close}");
    }
    let comma = spaces(layout.comma.before) + "," + &spaces(layout.comma.behind) + &line(level + 1).unwrap_or_default();
    let first = line(level + 1).unwrap_or_else(|| spaces(layout.padding));
    let last = line(level).unwrap_or_else(|| spaces(layout.padding));
    format!("{open}{first}{}{last}{close}", parts.join(&comma))
}

/// A document without the whitespace between its parts.
fn without_whitespace(text: &str) -> String {
    let (mut is_inside, mut is_escaped) = (false, false);
    let keeps = |character: &char| {
        match (is_inside, character) {
            (true, '\\') => is_escaped = !is_escaped,
            (_, '"') if !is_escaped => is_inside = !is_inside,
            _ => is_escaped = false,
        }
        is_inside || !character.is_ascii_whitespace()
    };
    let mut keeps = keeps;
    text.chars().filter(|character| keeps(character)).collect()
}

#[test]
fn walks_in_a_layout_end_in_what_its_writer_writes() {
    let [_, spaced, _, _, lines, _] = layouts();
    for layout in [spaced, lines] {
        let mut compared = 0;
        let ended = walk(style(layout), &SCHEMAS, 60, &mut |text| {
            let value: serde_json::Value = serde_json::from_str(text).unwrap();
            // Members in another order, and numbers of many digits, come back otherwise.
            let compact = value.to_string();
            if compact == without_whitespace(text) {
                assert_eq!(text, written(&value, &layout, 0));
                compared += 1;
            }
        });
        assert!(ended >= SCHEMAS.len() - 6, "{layout:?}: {ended} schemas");
        assert!(compared > SCHEMAS.len(), "{layout:?}: {compared} documents");
    }
}

/// A text in a layout is accepted if and only if its compact form is accepted in the compact style.
#[test]
fn what_a_writer_writes_is_accepted() {
    let values = [
        r#"{"a":1,"b":[],"c":{}}"#,
        r#"[[1,2],[],{"a":{"b":[null]}}]"#,
        r#"{"a":0}"#,
        r#"["a,b:{",1.5,true]"#,
        r#"[]"#,
        r#""a""#,
        "[1]",
        r#"{"ab":{"a":[{}]}}"#,
    ];
    for schema in SCHEMAS.into_iter().chain(DEPENDENT) {
        let compact = Style {
            whitespace: Whitespace::Compact,
            ..Style::generation()
        };
        let mut compact = styled(schema, compact);
        for layout in layouts() {
            let mut subject = styled(schema, style(layout));
            for text in values {
                let value: serde_json::Value = serde_json::from_str(text).unwrap();
                let written = written(&value, &layout, 0);
                assert_eq!(subject.accepts(&written), compact.accepts(text), "{schema}\n{written}");
            }
        }
    }
}

#[test]
fn completions_are_laid_out() {
    let mut random = ChaCha8Rng::seed_from_u64(9);
    // Some ends are not found in any style.
    let mut missing = 0;
    for layout in layouts() {
        for schema in SCHEMAS.into_iter().chain(DEPENDENT) {
            let mut subject = styled(schema, style(layout));
            for _ in 0..6 {
                let (mut at, mut text) = (subject.start, Vec::new());
                for _ in 0..40 {
                    let rest = subject.automaton.completion(at).unwrap();
                    missing += usize::from(rest.is_none());
                    let whole = rest.map(|rest| String::from_utf8([&text[..], &rest].concat()).unwrap());
                    if let Some(whole) = whole {
                        assert!(subject.accepts(&whole), "{schema}\n{whole}");
                    }
                    let allowed = subject.allowed(at);
                    let Some((byte, next)) = allowed.choose(&mut random).copied() else {
                        break;
                    };
                    text.push(byte);
                    at = next;
                }
            }
        }
    }
    assert!(missing < 20, "{missing} ends are missing");
}
