//! Mutated texts: loading ends without a panic whatever the text, and reads as JSON exactly the texts that others read as JSON.

use std::panic::catch_unwind;

use crate::json::{Document, ParseErrorKind};
use crate::schema::SchemaSet;
use crate::schema::meta_schemas::META_SCHEMAS;
use crate::{Limits, SchemaOptions};

const PIECES: &[&str] = &[
    "\"",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\\",
    "\\u12",
    "\\ud800",
    "0",
    "-",
    "1e9",
    ".5",
    "true",
    "null",
    "#",
    "/",
    "%41",
    "~1",
    "\u{0}",
    "é",
    "😀",
    "\"$ref\":\"#\",",
    "\"$id\":\"#a\",",
    "\"$schema\":\"http://json-schema.org/draft-04/schema#\",",
    "\"$dynamicRef\":\"#meta\",",
    "\"items\":[{}],",
    "\"id\":\"x/y\",",
    "\"enum\":[[1.0],{}],",
    "1e99999999999999999999",
    " ",
    "\n",
];

const SEEDS: &[&str] = &[
    r##"{"$id": "http://e.org/a/", "$defs": {"x": {"$id": "b", "$anchor": "c", "items": {"$ref": "#c"}}}, "$ref": "b#c"}"##,
    r##"{"type": ["integer", "null"], "enum": [1, 1.0, {"a": [true]}], "minimum": -1.5e3, "not": {"const": null}}"##,
    r##"{"properties": {"a\u0041\ud83d\ude00": {"$ref": "#/$defs/~1%20"}}, "$defs": {"/ ": {"minLength": 2}}}"##,
    r##"{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"a": {"$id": "#f"}}, "items": [{"$ref": "#f"}]}"##,
];

/// A small generator of pseudo-random numbers (a linear congruence; the high bits count).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit
    }
}

/// `text` with a few pieces put in, taken out or doubled.
fn mutate(text: &str, numbers: &mut Numbers) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=numbers.below(3) {
        let at = numbers.below(chars.len() + 1);
        let end = (at + numbers.below(6)).min(chars.len());
        let piece: Vec<char> = match numbers.below(3) {
            0 => Vec::new(),
            1 => PIECES[numbers.below(PIECES.len())].chars().collect(),
            _ => chars[at..end].repeat(2),
        };
        chars.splice(at..end, piece);
    }
    chars.into_iter().collect()
}

#[test]
fn no_text_makes_loading_panic() {
    let mut numbers = Numbers(1);
    let seeds: Vec<&str> = SEEDS
        .iter()
        .copied()
        .chain(META_SCHEMAS.iter().map(|(_, text)| *text))
        .collect();
    let options = SchemaOptions::default();
    let mut loaded = 0;
    for round in 0..4_000 {
        let text = mutate(seeds[round % seeds.len()], &mut numbers);
        let result = catch_unwind(|| SchemaSet::load(&text, &options).is_ok());
        loaded += usize::from(result.unwrap_or_else(|_| panic!("{text}")));
    }
    assert!(
        loaded > 100,
        "{loaded} of the mutated schemas load: the rest shows little"
    );
}

#[test]
fn texts_are_json_or_not_as_elsewhere() {
    let mut numbers = Numbers(2);
    let (mut good, mut bad) = (0, 0);
    for round in 0..20_000 {
        let text = mutate(SEEDS[round % SEEDS.len()], &mut numbers);
        let ours = Document::parse(&text, &Limits::default());
        let theirs = serde_json::from_str::<serde_json::Value>(&text);
        match (&ours, &theirs) {
            (Ok(_), Ok(_)) => good += 1,
            (Err(error), Ok(_)) if error.kind == ParseErrorKind::DuplicateName => {}
            (Err(error), Err(_)) => {
                let of_line = text
                    .split('\n')
                    .nth(error.line - 1)
                    .unwrap_or_else(|| panic!("{text}: {error}"));
                assert!(
                    (1..=of_line.chars().count() + 1).contains(&error.column),
                    "{text}: {error}"
                );
                bad += 1;
            }
            _ => panic!("{text}: {ours:?} {theirs:?}"),
        }
    }
    assert!(good > 1_000 && bad > 1_000, "{good} {bad}");
}
