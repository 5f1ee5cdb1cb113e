//! Styles that narrow how documents look, and tests of their bounds where tokens come near them.

use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::{FixedWhitespace, Indent, SpacesAround};

/// Styles with fixed whitespace, and with bounds that short documents reach.
pub(super) fn narrow_styles() -> [Style; 4] {
    let laid_out = |layout| Style {
        whitespace: Whitespace::Fixed(layout),
        ..Style::rfc8259()
    };
    let lines = laid_out(FixedWhitespace {
        indent: Some(Indent::Spaces(1)),
        ..FixedWhitespace::default()
    });
    let padded = laid_out(FixedWhitespace {
        comma: SpacesAround { before: 1, behind: 1 },
        padding: 1,
        ..FixedWhitespace::default()
    });
    let bounds = |items: u32| WritingBounds {
        free_depth: Some(2),
        string_characters: Some(items),
        name_characters: Some(3),
        array_items: Some(items),
        object_members: Some(1),
    };
    let close = Style {
        bounds: bounds(1),
        ..Style::rfc8259()
    };
    let wider = Style {
        bounds: bounds(3),
        ..Style::generation()
    };
    [lines, padded, close, wider]
}

/// Writes documents that would rather go on than end, token by token. They end within the bounds; on the way masks say what
/// accepting says, and completions are accepted.
#[test]
fn documents_that_go_on_end_within_their_bounds() {
    const CHARACTERS: usize = 270;
    const ITEMS: usize = 70;
    let bounds = WritingBounds {
        free_depth: Some(1),
        string_characters: Some(CHARACTERS as u32),
        name_characters: Some(CHARACTERS as u32),
        array_items: Some(ITEMS as u32),
        object_members: Some(3),
    };
    let style = Style {
        bounds,
        whitespace: Whitespace::Compact,
        ..Style::generation()
    };
    let vocabulary = vocabulary(&TOKENS);
    let options = ExactOptions {
        style,
        ..ExactOptions::judging()
    };
    let compiler = compiler(vocabulary.clone(), options);
    let mut random = ChaCha8Rng::seed_from_u64(5);
    for schema in [
        r#"{"type": "string"}"#,
        r#"{"type": "string", "pattern": "^(ab?)*$"}"#,
        r#"{"type": "array", "items": {"type": ["boolean", "null"]}}"#,
        r#"{"type": "array", "items": {"type": "array", "items": {"const": true}}, "maxItems": 2}"#,
        r#"{"type": "array", "items": {"type": "string", "pattern": "^a*$"}, "uniqueItems": true, "maxItems": 3}"#,
        r#"{"type": "object", "additionalProperties": {"type": "null"}}"#,
    ] {
        let mut masker = compiler.compile(schema).unwrap();
        let mut text = Vec::new();
        for place in 0.. {
            let mask = masker.mask().unwrap().clone();
            let allowed: Vec<TokenId> = (0..256 + TOKENS.len() as TokenId)
                .filter(|token| mask.allows(*token))
                .collect();
            if random.random_bool(0.02) {
                agree(&mut *masker, &vocabulary, schema);
            }
            if random.random_bool(0.05) {
                let mut tokens = Vec::new();
                assert!(masker.completion(&mut tokens).unwrap(), "{schema}");
                let mut ahead = masker.fork().unwrap();
                for token in tokens {
                    ahead.advance(token).unwrap();
                }
                assert!(ahead.is_complete().unwrap(), "{schema}");
            }
            let goes_on = |token: &&TokenId| {
                let bytes = vocabulary.token_bytes(**token);
                bytes.is_ascii() && !bytes.iter().any(|byte| matches!(byte, b'}' | b']' | b'"' | b'\\'))
            };
            let going_on: Vec<TokenId> = allowed.iter().filter(goes_on).copied().collect();
            // A value that has to begin or end does so by a single byte.
            let single = allowed.iter().find(|token| **token < 256);
            let Some(&token) = going_on.choose(&mut random).or(single).or(allowed.first()) else {
                break;
            };
            text.extend_from_slice(vocabulary.token_bytes(token));
            masker.advance(token).unwrap();
            assert!(place < 4 * ITEMS * CHARACTERS, "{schema}: no end");
        }
        assert!(masker.is_complete().unwrap(), "{schema}");
        let value: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let (characters, items) = longest(&value);
        assert!(characters <= CHARACTERS && items <= ITEMS, "{schema}: {value}");
        // A value that goes on until it has to end comes to the bound itself.
        assert!(
            characters == CHARACTERS || items == ITEMS || value.as_object().is_some_and(|members| members.len() == 3),
            "{schema}: {value}"
        );
    }
}

/// A free object beside members that the schema declares is as deep as the bound allows, also where one token goes on from
/// its name into its value.
#[test]
fn tokens_that_go_on_into_free_values_keep_to_their_depth() {
    let vocabulary = vocabulary(&["x\":[[", "\":[[", "\":[[[", "\":{\"a\":[", "\":[{\"x\":1"]);
    for depth in 0..3 {
        let options = ExactOptions {
            style: Style {
                bounds: WritingBounds {
                    free_depth: Some(depth),
                    ..WritingBounds::NONE
                },
                ..Style::rfc8259()
            },
            ..ExactOptions::judging()
        };
        let compiler = compiler(vocabulary.clone(), options);
        for schema in [
            r#"{"properties": {"b": {"type": "object"}}}"#,
            r#"{"properties": {"b": true}, "patternProperties": {"^x": {"type": "array"}}}"#,
            r#"{"additionalProperties": {"type": ["object", "array"]}}"#,
        ] {
            for text in [r#"{"b":{"#, r#"{""#, r#"{"b":{"y":{},""#, r#"{"x"#, r#"{"b"#] {
                let mut masker = compiler.compile(schema).unwrap();
                for (place, byte) in text.bytes().enumerate() {
                    agree(&mut *masker, &vocabulary, &text[..place]);
                    if masker.advance(byte.into()).is_err() {
                        break;
                    }
                }
                agree(&mut *masker, &vocabulary, text);
            }
        }
    }
}

/// The most characters of a string or name in a value, and the most items of an array.
fn longest(value: &serde_json::Value) -> (usize, usize) {
    let of_parts = |parts: Vec<(usize, usize)>, own: (usize, usize)| {
        parts
            .into_iter()
            .fold(own, |most, part| (most.0.max(part.0), most.1.max(part.1)))
    };
    match value {
        serde_json::Value::String(text) => (text.chars().count(), 0),
        serde_json::Value::Array(items) => of_parts(items.iter().map(longest).collect(), (0, items.len())),
        serde_json::Value::Object(members) => {
            let names = members.keys().map(|name| name.chars().count()).max();
            of_parts(members.values().map(longest).collect(), (names.unwrap_or(0), 0))
        }
        _ => (0, 0),
    }
}
