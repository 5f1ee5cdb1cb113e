//! Whole masks against brute force: over a small vocabulary, a token is allowed if and only if some text that the judge
//! finds valid begins with the text so far and the token.
//!
//! The oracle knows nothing of the engine. It appends pieces of JSON to a text, in every way up to a number of pieces, and
//! asks serde_json whether the result is JSON or the beginning of some, and the `jsonschema` crate whether it is valid. Each case
//! names its pieces and how many are enough to finish whatever can be finished within its horizon. Were they too few, the
//! oracle would forbid what the engine allows, and the test would fail: it cannot pass by looking at too little.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr, reason = "tests")]

mod common;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use common::setting;
use maskwright::{
    Compiler as _, Formats, KeyOrder, MaskError, Masker, Style, TokenId, TokenKind, Vocabulary, Whitespace,
};
use maskwright_fuzz::engine::{compiler, vocabulary_of};
use maskwright_fuzz::spelling::{plain, read};
use maskwright_suites::strict_json;
use maskwright_suites::validate::Validator;
use serde_json::Value;

/// A schema and how far it is looked at.
struct Case {
    schema: &'static str,
    form: Form,
    /// Pieces that end a string and may go on after it.
    strings: Pieces,
    /// Other pieces that may follow first, numbers aside.
    others: Pieces,
    /// Pieces that may follow then, to the end.
    tails: Pieces,
    /// Texts up to this length have their masks compared.
    horizon: usize,
}

/// The texts of a value that a case allows.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// All that JSON has.
    Any,
    /// The text that serde_json writes, members in any order.
    Compact,
    /// The text that serde_json writes, but with these members first, in this order.
    Ordered(&'static [&'static str]),
}

impl Form {
    fn style(self) -> Style {
        let compact = Style {
            whitespace: Whitespace::Compact,
            key_order: KeyOrder::Any,
            ..Style::generation()
        };
        match self {
            Self::Any => Style::rfc8259(),
            Self::Compact => compact,
            Self::Ordered(_) => Style {
                key_order: KeyOrder::Schema,
                ..compact
            },
        }
    }

    /// Whether `text`, which spells `value`, is one of them.
    fn has(self, text: &str, value: &Value) -> bool {
        let place = |name: &String, order: &[&str]| order.iter().position(|one| one == name).unwrap_or(order.len());
        let written = value.to_string();
        match self {
            Self::Any => true,
            Self::Compact => text == written,
            Self::Ordered(order) => {
                let names = value.as_object().into_iter().flat_map(|members| members.keys());
                text == written && names.map(|name| place(name, order)).is_sorted()
            }
        }
    }
}

type Pieces = &'static [&'static [u8]];

/// Tokens of every case.
const TOKENS: Pieces = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b":",
    b",",
    b"\\",
    b" ",
    b"\r\n\t",
    b"a",
    b"b",
    b"0",
    b"1",
    b"2",
    b"5",
    b"-",
    b".",
    b"e",
    b"u",
    b"true",
    b"nul",
    b"l",
    b"\"a\":",
    b",\"",
    b"\\u00",
    b"61",
    b"\"}",
    b"1,",
    b"\"a",
    b"a\"",
    b"{\"",
    b"[1",
    b"0]",
    b",1",
    b"}}",
    b"]]",
    b"],",
    b"\":1",
    b"00",
    b".5",
    b"1.",
    b"e1",
    b"-0",
    b"\": ",
    b"\\ud83d",
    b"\\ude00",
    b"\xC3",
    b"\xA9",
    b"\xC3\xA9",
    b"\xF0\x9F",
    b"\x98\x80",
    b"\xED",
    b"\xFF",
    b"\x00",
    b"a",
    b"\"}",
    b"",
    b"",
    b"{\"a\":1,\"b\":2}",
    b"[[]]",
    b"rue",
    b"[1, 2]",
];

/// Endings of numbers: digits, and powers of ten that bring digits to where they should be.
const NUMBER_ENDS: Pieces = &[
    b"0", b"1", b"2", b"3", b"4", b"5", b"6", b".0", b".1e1", b"1e1", b"1e2", b"1e3", b"1e4", b"1e5", b"1e6", b"2e1",
    b"2e2", b"2e3", b"2e4", b"2e5", b"e1", b"e2", b"e3", b"e4", b"e5", b"e-1", b"e-2", b"e-3", b"e-4", b"e-5", b"e-6",
    b"e-7", b"0e-5", b"0e-1", b"0e-2", b"0e-3", b"0e-4", b"-0", b"-1", b"-2", b"-3", b"-4", b".2e1", b"0e1", b"0e2",
    b"0e3",
];

/// Ends of a string that holds at most one character.
const ANY_STRING: Pieces = &[
    b"\"",
    b"n\"",
    b"0\"",
    b"00\"",
    b"000\"",
    b"0000\"",
    b"u0061\"",
    b"\\ude00\"",
    b"ude00\"",
    b"\xA9\"",
    b"\x98\x80\"",
    b"\x80\"",
    b"\x80\x80\"",
];
/// Ends of a string of `a` and `b`.
const AB_STRING: Pieces = &[
    b"\"",
    b"a\"",
    b"b\"",
    b"ab\"",
    b"ba\"",
    b"u0061\"",
    b"u0062\"",
    b"u0061b\"",
    b"61\"",
    b"62\"",
    b"61b\"",
    b"0061b\"",
    b"0061\"",
    b"0062\"",
    b"061\"",
    b"062\"",
    b"061b\"",
    b"1\"",
    b"2\"",
    b"1b\"",
];
/// Ends of the names `a` and `b`, with a value.
const AB_NAME: Pieces = &[
    b"aa\":1",
    b"\":1",
    b"\":2",
    b"a\":1",
    b"b\":1",
    b"b\":2",
    b"u0061\":1",
    b"u0062\":1",
    b"u0062\":2",
    b"0061\":1",
    b"0062\":2",
    b"0062\":1",
    b"061\":1",
    b"062\":2",
    b"062\":1",
    b"61\":1",
    b"62\":1",
    b"62\":2",
    b"1\":1",
    b"2\":1",
    b"2\":2",
    b"b\":[2]",
    b"u0062\":[2]",
    b"0062\":[2]",
    b"62\":[2]",
    b"\":[2]",
];
/// Ends of a name of at most two characters.
const SHORT_NAME: Pieces = &[
    b"aa\":1",
    b"\":1",
    b"a\":1",
    b"n\":1",
    b"u0061\":1",
    b"0061\":1",
    b"061\":1",
    b"61\":1",
    b"1\":1",
    b"0\":1",
    b"00\":1",
    b"000\":1",
    b"\\ude00\":1",
    b"\xA9\":1",
    b"\x98\x80\":1",
    b"\x80\":1",
    b"\x80\x80\":1",
];
const MEMBERS: Pieces = &[
    b"\"aa\":1",
    b"{\"a\":1",
    b"\"a\":1",
    b"\"b\":1",
    b"\"b\":2",
    b"\"b\":[2]",
    b":1",
    b":2",
    b":[2]",
    b"1",
    b"2",
    b"[2]",
    b"2]",
];
const MEMBER_TAILS: Pieces = &[
    b",\"aa\":1}",
    b"}",
    b",\"a\":1}",
    b",\"b\":1}",
    b",\"b\":2}",
    b",\"b\":[2]}",
    b"]}",
    b"],\"a\":1}",
];
const ITEMS: Pieces = &[b"[", b"[1", b"1", b"2", b"[1]", b"\"a\"", b"[[1]"];
const ITEM_TAILS: Pieces = &[
    b"]",
    b",1]",
    b",2]",
    b",\"a\"]",
    b",[1]]",
    b"]]",
    b"],1]",
    b"],2]",
    b"]]]",
    b"]]]]",
    b"]]]]]",
    b"]]]]]]",
    b"]]]]]]]",
    b"]]]]]]]]",
    b"]]]]]]]]]",
];

const CASES: &[Case] = &[
    number(r#"{"type": "integer", "minimum": 0, "maximum": 12}"#),
    number(r#"{"type": "number", "multipleOf": 0.5, "exclusiveMaximum": 1, "minimum": -1}"#),
    number(r#"{"type": "integer", "not": {"multipleOf": 2}, "exclusiveMinimum": 9, "maximum": 20}"#),
    number(r#"{"enum": [0, 10, -1.5]}"#),
    number(
        r#"{"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer", "minimum": 0, "exclusiveMinimum": true, "maximum": 2}"#,
    ),
    string(r#"{"type": "string", "maxLength": 1}"#, ANY_STRING, 5),
    string(
        r#"{"type": "string", "pattern": "^(ab)+$", "maxLength": 4}"#,
        AB_STRING,
        9,
    ),
    string(
        r#"{"type": "string", "not": {"enum": ["", "a", "ab"]}, "pattern": "^[ab]*$", "maxLength": 2}"#,
        AB_STRING,
        8,
    ),
    Case {
        schema: r#"{"enum": ["é", "😀", "\u0000", "a\"", true, null]}"#,
        form: Form::Any,
        strings: &[
            b"\"",
            b"\xC3\xA9\"",
            b"\xA9\"",
            b"u00e9\"",
            b"00e9\"",
            b"e9\"",
            b"\xF0\x9F\x98\x80\"",
            b"\x98\x80\"",
            b"\\ude00\"",
            b"ude00\"",
            b"de00\"",
            b"0e9\"",
            b"9\"",
            b"ud83d\\ude00\"",
            b"0000\"",
            b"000\"",
            b"00\"",
            b"0\"",
            b"a\\\"\"",
            b"\\\"\"",
            b"61\\\"\"",
            b"1\\\"\"",
            b"061\\\"\"",
            b"\"\"",
            b"22\"",
            b"2\"",
            b"0022\"",
            b"u0022\"",
            b"u0061\\\"\"",
            b"022\"",
            b"0061\\\"\"",
        ],
        others: &[b"true", b"rue", b"l"],
        tails: &[],
        horizon: 8,
    },
    object(r#"{"const": {"a": 1, "b": [2]}}"#, 7),
    object(
        r#"{"type": "object", "properties": {"a": {"const": 1}, "b": {"const": 2}}, "additionalProperties": false, "minProperties": 1}"#,
        7,
    ),
    object(
        r#"{"type": "object", "required": ["a", "b"], "maxProperties": 2, "additionalProperties": {"enum": [1]}}"#,
        7,
    ),
    object(
        r#"{"type": "object", "propertyNames": {"enum": ["a", "b"]}, "additionalProperties": {"const": 1}, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}"#,
        7,
    ),
    object(
        r#"{"type": "object", "properties": {"a": {"const": 1}, "b": {"const": 1}}, "unevaluatedProperties": false, "dependentRequired": {"a": ["b"]}, "minProperties": 1}"#,
        7,
    ),
    object(
        r#"{"type": "object", "if": {"required": ["a"]}, "then": {"properties": {"a": {"const": 1}, "b": false}}, "else": {"required": ["b"]}, "propertyNames": {"enum": ["a", "b"]}, "additionalProperties": {"enum": [1, 2]}}"#,
        7,
    ),
    Case {
        schema: r#"{"type": "object", "patternProperties": {"^a": {"const": 1}}, "additionalProperties": false, "minProperties": 2, "propertyNames": {"maxLength": 2}}"#,
        form: Form::Any,
        strings: SHORT_NAME,
        others: &[b"{\"a\":1", b"\"a\":1", b"\"aa\":1", b":1", b"1"],
        tails: &[b"}", b",\"a\":1}", b",\"aa\":1}"],
        horizon: 5,
    },
    number(
        r#"{"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer", "minimum": -5, "maximum": 11}"#,
    ),
    number(
        r#"{"$schema": "http://json-schema.org/draft-04/schema#", "type": "number", "not": {"type": "integer"}, "multipleOf": 0.5, "minimum": -5, "maximum": 11}"#,
    ),
    number(
        r#"{"$schema": "http://json-schema.org/draft-04/schema#", "oneOf": [{"type": "integer"}, {"type": "number", "minimum": 1, "maximum": 5}]}"#,
    ),
    array(r#"{"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": true, "minItems": 1}"#),
    array(r#"{"type": "array", "items": {"enum": [1, 2, [1]]}, "contains": {"type": "array"}, "maxItems": 2}"#),
    array(r#"{"type": "array", "prefixItems": [{"const": 1}, {"const": "a"}], "items": false, "minItems": 1}"#),
    array(
        r#"{"type": "array", "uniqueItems": true, "items": {"enum": [1, 2, "a"]}, "contains": {"const": 2}, "minItems": 2, "maxItems": 2}"#,
    ),
    array(
        r#"{"type": "array", "anyOf": [{"prefixItems": [{"const": 1}]}, {"contains": {"const": 2}}], "unevaluatedItems": false, "minItems": 1, "maxItems": 2}"#,
    ),
    array(r##"{"type": "array", "items": {"$ref": "#"}, "maxItems": 1}"##),
    array(
        r#"{"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"const": 1}], "additionalItems": false, "type": "array"}"#,
    ),
    array(r#"{"type": "array", "not": {"uniqueItems": true}, "items": {"enum": [1, "a"]}, "maxItems": 2}"#),
    array(
        r#"{"type": "array", "not": {"uniqueItems": true}, "prefixItems": [{"enum": [1, 2]}, {"const": 1}], "maxItems": 2}"#,
    ),
    compact(string(r#"{"type": "string", "maxLength": 1}"#, ANY_STRING, 4)),
    compact(number(
        r#"{"type": "integer", "minimum": -2, "maximum": 12, "not": {"const": 1}}"#,
    )),
    compact(object(
        r#"{"type": "object", "properties": {"a": {"const": 1}, "b": {"const": 2}}, "additionalProperties": false, "minProperties": 1}"#,
        7,
    )),
    compact(array(
        r#"{"type": "array", "items": {"enum": [1, 2, "a"]}, "uniqueItems": true, "minItems": 1}"#,
    )),
    Case {
        form: Form::Ordered(&["b", "a"]),
        ..object(
            r#"{"type": "object", "properties": {"b": {"const": 1}, "a": {"const": 1}}, "additionalProperties": {"const": 1}, "propertyNames": {"enum": ["a", "b", "aa"]}, "minProperties": 1}"#,
            8,
        )
    },
    Case {
        form: Form::Ordered(&["b", "a"]),
        ..object(
            r#"{"type": "object", "required": ["b"], "properties": {"b": {"enum": [1, 2]}, "a": {"const": 1}}, "anyOf": [{"properties": {"b": {"const": 2}}, "required": ["a"]}, {"properties": {"b": {"const": 1}}}], "additionalProperties": false}"#,
            8,
        )
    },
];

const fn number(schema: &'static str) -> Case {
    let others: Pieces = &[
        b"1", b"2", b"-1", b"10", b"11", b".5", b"5e1", b"5e2", b"5e3", b"5e4", b"11e2", b"11e3", b"11e4", b"11e5",
        b"11e6", b"11e7", b"-5", b".5e1", b".11e2", b"1.5",
    ];
    Case {
        schema,
        form: Form::Any,
        strings: &[],
        others,
        tails: &[],
        horizon: 4,
    }
}

const fn string(schema: &'static str, strings: Pieces, horizon: usize) -> Case {
    Case {
        schema,
        form: Form::Any,
        strings,
        others: &[b"\"a\"", b"\"ab\"", b"\"b\""],
        tails: &[],
        horizon,
    }
}

const fn object(schema: &'static str, horizon: usize) -> Case {
    Case {
        schema,
        form: Form::Any,
        strings: AB_NAME,
        others: MEMBERS,
        tails: MEMBER_TAILS,
        horizon,
    }
}

const fn array(schema: &'static str) -> Case {
    Case {
        schema,
        form: Form::Any,
        strings: AB_STRING,
        others: ITEMS,
        tails: ITEM_TAILS,
        horizon: 5,
    }
}

const fn compact(case: Case) -> Case {
    Case {
        form: Form::Compact,
        ..case
    }
}

/// The verdict on a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Valid,
    /// JSON, or the beginning of some.
    Beginning,
    /// No JSON begins like this.
    Hopeless,
}

/// Brute force over a case.
struct Oracle<'c> {
    case: &'c Case,
    judge: Validator,
    known: HashMap<Vec<u8>, bool>,
    /// The judge's verdicts on values, by their texts.
    judged: RefCell<HashMap<String, bool>>,
}

impl Oracle<'_> {
    fn status(&self, text: &[u8]) -> Status {
        match serde_json::from_slice::<Value>(text) {
            Err(error) if error.is_eof() => Status::Beginning,
            Err(_) => Status::Hopeless,
            Ok(_) if self.is_valid(text) => Status::Valid,
            Ok(_) => Status::Beginning,
        }
    }

    fn is_valid(&self, text: &[u8]) -> bool {
        let document = strict_json::parse(std::str::from_utf8(text).unwrap(), 100).unwrap();
        // A name twice, or a number that is too long to write out: none of the cases has any.
        let value = plain(&document.value).filter(|_| document.duplicates.is_empty());
        value.is_some_and(|value| {
            let mut judged = self.judged.borrow_mut();
            let read = read(std::str::from_utf8(text).unwrap()).unwrap();
            let judge = || self.judge.judge_value(&read).valid;
            self.case.form.has(std::str::from_utf8(text).unwrap(), &value)
                && *judged.entry(read.to_string()).or_insert_with(judge)
        })
    }

    /// Whether some valid text begins with `text`.
    fn is_viable(&mut self, text: &[u8]) -> bool {
        // Whitespace before a document means nothing, where there may be any.
        let text = match self.case.form {
            Form::Any => text.trim_ascii_start(),
            Form::Compact | Form::Ordered(_) => text,
        };
        if let Some(&known) = self.known.get(text) {
            return known;
        }
        let viable = self.can_end(text);
        self.known.insert(text.to_vec(), viable);
        viable
    }

    /// Whether nothing, one of the pieces that may come first, one of the tails, or both make it valid.
    fn can_end(&self, text: &[u8]) -> bool {
        let heads: [Pieces; 2] = match (in_string(text), text.last()) {
            _ if self.status(text) == Status::Hopeless => return false,
            (true, _) => [self.case.strings, &[]],
            (false, Some(b'0'..=b'9' | b'.' | b'e' | b'-')) => [self.case.others, NUMBER_ENDS],
            _ => [self.case.others, &[]],
        };
        const NOTHING: Pieces = &[b""];
        heads.into_iter().chain([NOTHING]).flatten().any(|head| {
            let text = [text, head].concat();
            let can_be = self.status(&text) != Status::Hopeless;
            let mut tails = self.case.tails.iter().chain(NOTHING);
            can_be && tails.any(|tail| self.status(&[&text, *tail].concat()) == Status::Valid)
        })
    }
}

/// Whether `text`, the beginning of some JSON, ends inside of a string.
fn in_string(text: &[u8]) -> bool {
    let mut bytes = text.iter();
    let mut inside = false;
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => inside = !inside,
            b'\\' => drop(bytes.next()),
            _ => {}
        }
    }
    inside
}

fn vocabulary() -> Arc<Vocabulary> {
    let mut texts: Vec<Vec<u8>> = TOKENS.iter().map(|token| token.to_vec()).collect();
    texts.extend([vec![b' '; 1_025], [b"{\"a\":1", &vec![b' '; 1_020][..], b"}"].concat()]);
    Arc::new(vocabulary_of(texts))
}

/// Compares every mask up to the horizon; returns the number of masks, and the differences.
fn compare(case: &Case) -> (usize, Vec<String>) {
    let horizon = case.horizon + setting("MASKWRIGHT_FUZZ_DEPTH", 0) as usize;
    let mut different = Vec::new();
    let vocabulary = vocabulary();
    let compiled = compiler(vocabulary.clone(), Formats::Annotation, case.form.style()).compile(case.schema);
    let mut start = compiled.unwrap_or_else(|error| panic!("{}: {error}", case.schema));
    let mut oracle = Oracle {
        case,
        judge: Validator::new(case.schema).unwrap(),
        known: HashMap::new(),
        judged: RefCell::default(),
    };
    let mut seen = HashSet::from([Vec::new()]);
    let mut queue = VecDeque::from([(Vec::new(), start.fork().unwrap())]);
    while let Some((text, mut masker)) = queue.pop_front() {
        let shown = format!("{} after {:?}", case.schema, String::from_utf8_lossy(&text));
        let mask = masker.mask().unwrap().clone();
        let complete = oracle.status(&text) == Status::Valid;
        assert_eq!(masker.is_complete().unwrap(), complete, "{shown}");
        for token in 0..vocabulary.len() as TokenId + 1 {
            let longer = match vocabulary.kind(token) {
                TokenKind::Text => [&text, vocabulary.token_bytes(token)].concat(),
                _ => text.clone(),
            };
            let expected = match vocabulary.kind(token) {
                _ if vocabulary.is_eos(token) => complete,
                TokenKind::Text if longer.len() > text.len() => oracle.is_viable(&longer),
                _ => false,
            };
            let token_shown = String::from_utf8_lossy(vocabulary.token_bytes(token)).into_owned();
            if mask.allows(token) != expected {
                let word = if expected { "missing" } else { "too many" };
                different.push(format!("{shown}: token {token} {token_shown:?} is one {word}"));
                continue;
            }
            let mut next = masker.fork().unwrap();
            match next.advance(token) {
                Ok(()) => assert!(expected, "{shown}: {token_shown:?} is taken"),
                Err(MaskError::TokenRefused { position, .. }) => {
                    assert!(!expected, "{shown}: {token_shown:?} is refused");
                    assert_eq!(position, masker.position());
                    assert_eq!(next.mask().unwrap(), &mask, "{shown}: refused {token_shown:?}");
                    continue;
                }
                Err(error) => panic!("{shown}: {error}"),
            }
            if vocabulary.is_eos(token) {
                assert!(
                    next.is_complete().unwrap() && next.mask().unwrap().allows_none(),
                    "{shown}: at the end"
                );
            }
            there_and_back(&mut *next, &mask, &shown);
            if longer.len() <= horizon && seen.insert(longer.clone()) {
                next.advance(token).unwrap();
                queue.push_back((longer, next));
            }
        }
    }
    assert_eq!(start.position(), 0);
    assert!(start.mask().is_ok());
    (seen.len(), different)
}

/// Takes back the token that was taken last.
fn there_and_back(masker: &mut dyn Masker, before: &maskwright::TokenMask, shown: &str) {
    let position = masker.position();
    let _ = masker.mask().unwrap();
    masker.rollback(1).unwrap();
    assert_eq!(masker.position(), position - 1, "{shown}");
    assert_eq!(masker.mask().unwrap(), before, "{shown}: taken back");
}

#[test]
fn masks_are_those_of_brute_force() {
    let mut all = Vec::new();
    for case in CASES {
        let start = std::time::Instant::now();
        let (masks, different) = compare(case);
        println!("{masks} masks in {:?}: {}", start.elapsed(), case.schema);
        assert!(masks > 5, "{}", case.schema);
        all.extend(different);
    }
    assert!(
        all.is_empty(),
        "{} differ, the first being\n{}",
        all.len(),
        all[..all.len().min(20)].join("\n")
    );
}
