//! Tests of the style's bounds: strings, arrays and objects without end are ended, nothing else is lost, and no document comes to
//! a dead end.

use super::*;
use crate::WritingBounds;
use crate::automaton::WrittenState;

/// Bounds that documents of the tests reach: those of texts so small that they hold from the beginning, or not.
fn small(characters: u32) -> WritingBounds {
    WritingBounds {
        free_depth: Some(1),
        string_characters: Some(characters),
        name_characters: Some(64),
        array_items: Some(2),
        object_members: Some(1),
    }
}

fn style(bounds: WritingBounds) -> Style {
    Style {
        bounds,
        whitespace: Whitespace::Compact,
        ..Style::generation()
    }
}

/// Reads a text with regard to the bounds.
fn read(subject: &mut Subject, text: &str) -> Option<WrittenState> {
    let mut at = WrittenState::start(subject.start, &subject.automaton.bounds(), 1);
    for byte in text.bytes() {
        if !subject.automaton.read_bounded(&mut at, byte).unwrap() {
            return None;
        }
    }
    Some(at)
}

fn accepts(schema: &str, bounds: WritingBounds, text: &str) -> bool {
    let mut subject = styled(schema, style(bounds));
    let at = read(&mut subject, text);
    at.is_some_and(|at| subject.automaton.is_complete(at.state).unwrap())
}

#[test]
fn walks_within_bounds_end_in_valid_documents() {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    // Some ends are not found in any style.
    let mut missing = 0;
    for bounds in [small(1), small(3)] {
        for schema in SCHEMAS.into_iter().chain(DEPENDENT) {
            let mut subject = styled(schema, style(bounds));
            for _ in 0..15 {
                let mut at = WrittenState::start(subject.start, &bounds, 1);
                let mut text = Vec::new();
                for length in 0..120 {
                    let rest = subject.automaton.completion(at.state).unwrap();
                    let shown = String::from_utf8_lossy(&text).into_owned();
                    missing += usize::from(rest.is_none());
                    if let Some(rest) = rest {
                        let whole = String::from_utf8([&text[..], &rest].concat()).unwrap();
                        let end = read(&mut subject, &whole);
                        assert!(
                            end.is_some_and(|end| subject.automaton.is_complete(end.state).unwrap()),
                            "{schema}\n{whole} after {shown}"
                        );
                        assert!(subject.judge(&whole), "{schema}\n{whole}");
                    }
                    let mut allowed = Vec::new();
                    for byte in 0..=255 {
                        let mut next = at;
                        if subject.automaton.read_bounded(&mut next, byte).unwrap() {
                            allowed.push((byte, next));
                        }
                    }
                    let complete = subject.automaton.is_complete(at.state).unwrap();
                    assert!(complete || !allowed.is_empty(), "{schema}: dead end after {shown}");
                    let closing = allowed.iter().find(|(byte, _)| b"]}\"".contains(byte));
                    let Some((byte, next)) = closing
                        .filter(|_| length > 60)
                        .or_else(|| allowed.choose(&mut random))
                        .copied()
                    else {
                        break;
                    };
                    text.push(byte);
                    at = next;
                }
            }
        }
    }
    assert!(missing < 10, "{missing} ends are missing");
}

/// A writer that never ends anything of its own accord comes to an end, and within the size that the bounds allow.
#[test]
fn runaways_end() {
    // Numbers aside, which have bounds of their own.
    let bytes = b"[{,a\":bn0123456789]}tfulrse";
    let bounds = |characters, items| WritingBounds {
        free_depth: Some(2),
        string_characters: Some(characters),
        name_characters: Some(characters.max(64)),
        array_items: Some(items),
        object_members: Some(items),
    };
    for (characters, items) in [(3, 2), (300, 2), (600, 100)] {
        for schema in [
            "true",
            r#"{"type": "string"}"#,
            r#"{"type": "string", "pattern": "^[a-z]+$"}"#,
            r#"{"type": "array", "items": {"type": "string"}}"#,
            r#"{"type": "array", "items": {"type": "string"}, "uniqueItems": true}"#,
            r#"{"type": "object", "additionalProperties": {"type": "string"}}"#,
            r#"{"type": "object", "propertyNames": {"pattern": "^[ab]+$"}, "additionalProperties": {"type": "null"}}"#,
            r#"{"type": "object", "properties": {"a": {"type": "array"}}}"#,
        ] {
            if schema != "true" || items < 10 {
                let bounds = bounds(characters, items);
                let mut subject = styled(schema, style(bounds));
                let mut at = WrittenState::start(subject.start, &bounds, 1);
                let (characters, items) = (characters as usize, items as usize);
                // A member is a name, a colon, a value and a comma.
                let scalar = characters + 2;
                let member = |value: usize| characters.max(64) + 4 + value;
                let within = (0..=2).fold(scalar, |value, _| 2 + items * member(value));
                let mut length = 0;
                while !subject.automaton.is_done(&at.state) {
                    let others = 0..=u8::MAX;
                    let next = bytes.iter().copied().chain(others).find_map(|byte| {
                        let mut next = at;
                        let may = subject.automaton.read_bounded(&mut next, byte).unwrap();
                        may.then_some(next)
                    });
                    at = next.unwrap_or_else(|| panic!("{schema}: dead end"));
                    length += 1;
                    assert!(length <= within, "{schema}: more than {within} bytes");
                }
            }
        }
    }
}

#[test]
fn a_bound_ends_what_may_end_and_nothing_else() {
    let text = |characters: usize| format!("\"{}\"", "a".repeat(characters));
    let items = |count: usize| format!("[{}]", vec!["1"; count].join(","));
    let members = |count: usize| {
        let members: Vec<String> = (0..count).map(|number| format!("\"n{number}\":1")).collect();
        format!("{{{}}}", members.join(","))
    };
    let name = |characters: usize| format!("{{\"{}\":1}}", "a".repeat(characters));
    for (characters, count) in [(5, 3), (400, 90)] {
        let bounds = WritingBounds {
            free_depth: Some(3),
            string_characters: Some(characters),
            name_characters: Some(characters.max(64)),
            array_items: Some(count),
            object_members: Some(count),
        };
        let (longest, most) = (characters as usize, count as usize);
        let (longer, more) = (longest + 1, most + 1);
        let longest_name = longest.max(64);
        for (schema, text, may) in [
            ("true", text(longest), true),
            ("true", text(longer), false),
            (r#"{"pattern": "^a*$"}"#, text(longest), true),
            (r#"{"pattern": "^a*$"}"#, text(longer), false),
            ("true", items(most), true),
            ("true", items(more), false),
            ("true", members(most), true),
            ("true", members(more), false),
            ("true", name(longest_name), true),
            ("true", name(longest_name + 1), false),
            ("true", "[[[]]]".to_owned(), true),
            ("true", "[[[{}]]]".to_owned(), true),
            ("true", "[[[[1]]]]".to_owned(), false),
            ("true", r#"{"a":[{"a":[]}]}"#.to_owned(), true),
            ("true", r#"{"a":[{"a":[1]}]}"#.to_owned(), false),
            // Bounds of the schema hold instead.
            (r#"{"maxLength": 5000}"#, text(longer), true),
            (r#"{"pattern": "^a{1,5000}$"}"#, text(longer), true),
            (r#"{"maxItems": 5000}"#, items(more), true),
            (r#"{"maxProperties": 5000}"#, members(more), true),
            (
                r#"{"properties": {"a": {"items": {"items": {"items": {}}}}}}"#,
                r#"{"a":[[[[[1]]]]]}"#.to_owned(),
                true,
            ),
            // A string that has to go on does.
            (r#"{"minLength": 450}"#, text(450), true),
            (r#"{"minLength": 450}"#, text(451), false),
            (r#"{"minItems": 100}"#, items(100), true),
            (r#"{"minItems": 100}"#, items(101), false),
            (r#"{"minProperties": 100}"#, members(100), true),
            (r#"{"minProperties": 100}"#, members(101), false),
            (r#"{"contains": {"const": 2}}"#, items(100).replace("1]", "2]"), true),
            // An item that is too long may be what the array needs.
            (
                r#"{"not": {"items": {"maxItems": 99}}}"#,
                format!("[{}]", items(100)),
                true,
            ),
            (
                r#"{"not": {"items": {"maxProperties": 99}}}"#,
                format!("[{}]", members(100)),
                true,
            ),
            (
                r#"{"uniqueItems": true, "items": {"pattern": "^a{450,}$"}, "minItems": 2}"#,
                format!("[{},{}]", text(450), text(451)),
                true,
            ),
        ] {
            assert_eq!(accepts(schema, bounds, &text), may, "{bounds:?} {schema}\n{text}");
        }
    }
}

/// An escaped pair of surrogates is one character, like the character that it stands for.
#[test]
fn escaped_pairs_count_once() {
    let bounds = WritingBounds {
        string_characters: Some(400),
        ..WritingBounds::NONE
    };
    for (text, escapes) in [
        (r"\ud83d\ude00", Escapes::Ascii),
        ("\u{1f600}", Escapes::Needed),
        (r"\u00e9", Escapes::Ascii),
    ] {
        let style = Style {
            escapes,
            ..style(bounds)
        };
        for (characters, may) in [(400, true), (401, false)] {
            let mut subject = styled("true", style);
            let document = format!("\"{}\"", text.repeat(characters));
            assert_eq!(read(&mut subject, &document).is_some(), may, "{characters} {text}");
        }
    }
}

/// An array that the style ends before all items of its completion is ended by that completion, too.
#[test]
fn completions_end_where_the_style_ends_an_array() {
    let bounds = WritingBounds {
        array_items: Some(2),
        ..WritingBounds::NONE
    };
    let schema = r#"{"type": "array", "anyOf": [{"minItems": 3}, {"contains": {"const": 0}}]}"#;
    let mut subject = styled(schema, style(bounds));
    let begun = read(&mut subject, "[").unwrap();
    let rest = subject.automaton.completion(begun.state).unwrap().expect("an end");
    let whole = format!("[{}", String::from_utf8(rest).unwrap());
    assert!(subject.judge(&whole), "{whole}");
}

/// A member is as long as the object needs it where no other member can come: the completion of an object after a key that is not declared.
#[test]
fn an_array_of_an_open_verdict_is_as_long_as_the_object_needs() {
    let schema = r#"{"type": "object", "if": {"patternProperties": {"^[a-z]+$": {"maxItems": 4}}}, "then": {"required": ["c"]}}"#;
    let bounds = WritingBounds {
        array_items: Some(2),
        ..WritingBounds::NONE
    };
    let mut subject = styled(schema, style(bounds));
    let begun = read(&mut subject, r#"{"0":0,"#).unwrap();
    let whole = subject.completed(schema, br#"{"0":0,"#, begun.state);
    assert!(read(&mut subject, &whole).is_some(), "{whole}");
    assert_eq!(whole.matches(',').count(), 5, "{whole}");
    // The same for an item of an item.
    let mut subject = styled(
        r#"{"type": "array", "contains": {"const": [[1, 2, 3]]}}"#,
        style(bounds),
    );
    assert!(read(&mut subject, "[[[1,2,3]]]").is_some());
    // Where the array around may end with the verdict as it is, the bound holds.
    let schema = r#"{"type": "array", "contains": {"items": {"type": "integer"}, "type": "array"}}"#;
    let mut subject = styled(schema, style(bounds));
    assert!(read(&mut subject, "[[1,2]]").is_some());
    assert!(read(&mut subject, "[[1,2,").is_none());
}
