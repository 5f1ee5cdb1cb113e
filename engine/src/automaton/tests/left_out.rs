//! Texts that are left out of all strings and keys.

use super::*;

/// The texts that are left out.
const LEFT_OUT: [&str; 2] = ["ab", "c"];

/// A schema's automaton that leaves the texts out; `None` where no value is left.
fn without(schema: &str, style: Style) -> Option<Subject> {
    let load = || SchemaSet::load(schema, &SchemaOptions::default()).unwrap();
    let languages = Languages::within(load().limits());
    let (mut automaton, root) = Automaton::new(languages, load(), Formats::Annotation, style, &LEFT_OUT).unwrap();
    let start = automaton.start(root).unwrap()?;
    Some(Subject {
        set: load(),
        automaton,
        start,
    })
}

/// Whether a document has one of the texts in a string or a key, however it is spelled.
fn has_text(document: &str) -> bool {
    let spelled = [("\\u0061", "a"), ("\\u0062", "b"), ("\\u0031", "1")];
    let plain = spelled
        .iter()
        .fold(document.to_owned(), |text, (escape, one)| text.replace(escape, one));
    let mut strings = plain.split('"').skip(1).step_by(2);
    strings.any(|string| LEFT_OUT.iter().any(|text| string.contains(text)))
}

/// Schemas under which the texts are needed, or tell values apart.
const NEEDED: [&str; 14] = [
    r#"{"const": "ab"}"#,
    r#"{"const": ["ab"]}"#,
    r#"{"enum": [["ab"], {"ab": 1}, {"a": "ab"}, [["b"], "c"], "b", ["a", {"b": "a"}]]}"#,
    r#"{"required": ["c"], "type": "object"}"#,
    r#"{"anyOf": [{"required": ["ab"]}, {"required": ["a"]}], "type": "object"}"#,
    r#"{"type": "array", "contains": {"const": "ab"}}"#,
    r#"{"type": "array", "contains": {"enum": ["ab", "b"]}}"#,
    r#"{"type": "array", "items": {"enum": ["ab", "c", "a", 1]}, "uniqueItems": true, "minItems": 2}"#,
    r#"{"type": "array", "items": {"enum": ["ab", "c", "a"]}, "uniqueItems": true, "minItems": 2}"#,
    r#"{"anyOf": [{"type": "integer"}, {"not": {"uniqueItems": true}, "enum": [["ab", 1, 1], ["c", 1, 1], ["abx", 1, 1], ["cc", 1, 1]]}]}"#,
    r#"{"anyOf": [{"uniqueItems": true}, {"minItems": 3}], "enum": [["b"], ["b", "ab"], ["b", "c"], ["b", "abx"], ["b", "cc"]]}"#,
    r#"{"oneOf": [{"type": "string"}, {"minLength": 2}]}"#,
    r#"{"not": {"items": {"type": "string"}}}"#,
    r#"{"type": "object", "patternProperties": {"b$": {"type": "string"}}, "minProperties": 1}"#,
];

#[test]
fn strings_and_keys_have_none_of_the_texts() {
    let mut random = ChaCha8Rng::seed_from_u64(31);
    let documents: Vec<String> = (0..300).map(|_| document(&mut random, 3)).collect();
    let mut unsatisfiable = 0;
    for schema in SCHEMAS.into_iter().chain(DEPENDENT).chain(NEEDED) {
        let Some(mut subject) = without(schema, Style::rfc8259()) else {
            unsatisfiable += 1;
            let subject = subject(schema);
            let is_left = |text: &String| !has_text(text) && subject.judge(text);
            assert!(!documents.iter().any(is_left), "{schema}");
            continue;
        };
        for text in &documents {
            let expected = !has_text(text) && subject.judge(text);
            assert_eq!(subject.accepts(text), expected, "{schema}\n{text}");
        }
    }
    assert!((3..20).contains(&unsatisfiable), "{unsatisfiable}");
}

#[test]
fn walks_come_to_ends_without_the_texts() {
    let mut random = ChaCha8Rng::seed_from_u64(32);
    let generation = Style {
        closed: true,
        ..Style::generation()
    };
    let likely = b"[{,a\":b0]}tn";
    for style in [Style::rfc8259(), Style::generation(), generation] {
        for schema in SCHEMAS.into_iter().step_by(9).chain(NEEDED) {
            let Some(mut subject) = without(schema, style) else {
                continue;
            };
            for _ in 0..3 {
                let (mut at, mut text) = (subject.start, Vec::new());
                for _ in 0..20 {
                    if let Some(rest) = subject.automaton.completion(at).unwrap() {
                        let whole = String::from_utf8([&text[..], &rest].concat()).unwrap();
                        assert!(subject.accepts(&whole), "{schema}\n{whole}");
                        assert!(subject.judge(&whole) && !has_text(&whole), "{schema}\n{whole}");
                    }
                    let allowed = subject.allowed(at);
                    let shown = String::from_utf8_lossy(&text);
                    let complete = subject.automaton.is_complete(at).unwrap();
                    assert!(complete || !allowed.is_empty(), "{schema}: dead end after {shown}");
                    let some: Vec<_> = allowed.iter().filter(|(byte, _)| likely.contains(byte)).collect();
                    let Some(&&(byte, next)) = some
                        .choose(&mut random)
                        .or(allowed.iter().collect::<Vec<_>>().choose(&mut random))
                    else {
                        break;
                    };
                    text.push(byte);
                    at = next;
                }
            }
        }
    }
}

/// A value on which a schema says nothing is as deep as the style has it.
#[test]
fn free_values_keep_their_bound() {
    for schema in ["true", r#"{"type": "object"}"#, r#"{"type": "array"}"#] {
        let mut left_out = without(schema, Style::generation()).unwrap();
        let mut subject = styled(schema, Style::generation());
        for depth in [1, 7, 8, 9, 10] {
            for (open, close) in [("[", "]"), ("{\"b\":", "}")] {
                let text = format!("{}1{}", open.repeat(depth), close.repeat(depth));
                assert_eq!(left_out.accepts(&text), subject.accepts(&text), "{schema} {text}");
            }
        }
    }
}
