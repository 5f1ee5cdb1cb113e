//! Masks under a limit on tokens: whatever is chosen, the document ends in time.

use std::ops::RangeInclusive;
use std::sync::Arc;

use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::{TOKENS, compiler, vocabulary};
use crate::{Compiler as _, ExactOptions, Limits, Masker, Style, TokenId, TokenMask, Vocabulary};

fn masker(schema: &str) -> Box<dyn Masker> {
    compiler(vocabulary(&TOKENS), ExactOptions::default())
        .compile(schema)
        .unwrap()
}

/// The tokens that the shortest end known takes, the end of sequence among them.
fn needed(masker: &mut dyn Masker) -> usize {
    masker.completion_length().unwrap().unwrap() + 1
}

/// Asserts that a mask is written as it is, whatever the words held before.
fn assert_writes(masker: &mut dyn Masker, limit: Option<usize>, mask: &[u32]) {
    let mut words = vec![u32::MAX; mask.len()];
    masker.write_mask(limit, &mut words).unwrap();
    assert_eq!(words, mask);
}

const SCHEMAS: [&str; 6] = [
    "true",
    r#"{"type": "array", "items": {"type": "array"}}"#,
    r#"{"type": "object", "required": ["a", "b"], "properties": {"a": {"type": "string"}, "b": {"type": "integer"}, "c": true}}"#,
    r#"{"anyOf": [{"const": 1}, {"const": {"a": ["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbb"]}}]}"#,
    r#"{"type": "string", "pattern": "^(a|b.{300}|c*d)$"}"#,
    r##"{"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "object", "required": ["a"],
        "properties": {"a": {"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#/$defs/tree"}, "minItems": 1}]}}}}}"##,
];

#[test]
fn every_choice_ends_in_time() {
    let vocabulary = vocabulary(&TOKENS);
    let mut random = ChaCha8Rng::seed_from_u64(3);
    for schema in SCHEMAS {
        let start = masker(schema);
        for more in [0, 1, 2, 5, 9, 30] {
            for _ in 0..8 {
                let mut masker = start.fork().unwrap();
                let limit = needed(&mut *masker) + more;
                let mut left = limit;
                loop {
                    let mask = masker.mask_within(left).unwrap().clone();
                    assert_writes(&mut *masker, Some(left), mask.words());
                    let tokens: Vec<TokenId> = mask.iter().collect();
                    let token = *tokens
                        .choose(&mut random)
                        .unwrap_or_else(|| panic!("{schema}: no token"));
                    if random.random_bool(0.2) && masker.position() > 0 {
                        // Tokens that were drafted and taken back change nothing.
                        masker.rollback(1).unwrap();
                        left += 1;
                        continue;
                    }
                    masker
                        .advance(token)
                        .unwrap_or_else(|error| panic!("{schema}: {error}"));
                    left -= 1;
                    if vocabulary.is_eos(token) {
                        break;
                    }
                    assert!(left > 0, "{schema}: not ended after {limit} tokens");
                }
            }
        }
    }
}

#[test]
fn no_more_is_forbidden_than_has_to_be() {
    for schema in SCHEMAS {
        let mut masker = masker(schema);
        let mut left = needed(&mut *masker) + 3;
        for _ in 0..4 {
            let (whole, mask) = (
                masker.mask().unwrap().clone(),
                masker.mask_within(left).unwrap().clone(),
            );
            assert_eq!(*masker.mask_within(100_000).unwrap(), whole, "{schema}");
            assert_writes(&mut *masker, Some(100_000), whole.words());
            assert_writes(&mut *masker, None, whole.words());
            for token in whole.iter() {
                let mut next = masker.fork().unwrap();
                next.advance(token).unwrap();
                // Behind the end of sequence nothing more is needed.
                let in_time = next.mask().unwrap().allows_none() || needed(&mut *next) < left;
                assert!(!in_time || mask.allows(token), "{schema}: {token} with {left} left");
            }
            let Some(token) = mask.iter().next() else { break };
            masker.advance(token).unwrap();
            left -= 1;
        }
    }
}

/// A name may be any but those that came before, so that nearly all tokens within it lead to the same end; a few are parts of characters, or
/// of names that came or that are listed.
#[test]
fn tokens_within_names_are_limited_exactly() {
    let pairs = pairs_of_letters('a'..='z');
    let parts = [
        &b"\xE2\x82"[..],
        b"\xF0\x9F",
        b"a\xC3",
        b"\\",
        b"\\u00",
        b"\\u0061",
        b"\\ud83d",
        b"\\n",
    ];
    let texts: Vec<Vec<u8>> = pairs
        .into_iter()
        .map(String::into_bytes)
        .chain(parts.map(<[u8]>::to_vec))
        .collect();
    let bytes = (0..=255_u8).map(|byte| vec![byte]);
    let mut builder = Vocabulary::builder();
    for (id, text) in (0..).zip(bytes.chain(texts)) {
        builder = builder.text(id, text).unwrap();
    }
    let vocabulary = Arc::new(builder.special(2_000, "<eos>").unwrap().eos([2_000]).build().unwrap());
    let schemas = [
        r#"{"type": "object"}"#,
        r#"{"type": "object", "additionalProperties": {"type": "string"}}"#,
        r#"{"type": "object", "properties": {"abc": {"minLength": 200}, "abd": {"type": "string"}}, "required": ["abd"]}"#,
        r#"{"type": "object", "patternProperties": {"^a": {"minLength": 3, "type": "string"}}, "minProperties": 2}"#,
    ];
    for (schema, style) in schemas
        .iter()
        .flat_map(|schema| [(schema, Style::rfc8259()), (schema, Style::generation())])
    {
        let start = compiler(vocabulary.clone(), ExactOptions::default().style(style))
            .compile(schema)
            .unwrap();
        for text in ["{\"", "{\"a", "{\"ac\":\"\",\"", "{\"ac\":\"\",\"a", "{\"ac\":\"\",\"é"] {
            let mut masker = start.fork().unwrap();
            if text.bytes().any(|byte| masker.advance(byte.into()).is_err()) {
                continue;
            }
            let whole = masker.mask().unwrap().clone();
            let lengths: Vec<(TokenId, usize)> = whole
                .iter()
                .map(|token| {
                    let mut next = masker.fork().unwrap();
                    next.advance(token).unwrap();
                    (token, needed(&mut *next))
                })
                .collect();
            let shortest = needed(&mut *masker.fork().unwrap());
            for left in shortest..shortest + 20 {
                let mask = masker.fork().unwrap().mask_within(left).unwrap().clone();
                let late = lengths
                    .iter()
                    .filter(|(token, length)| mask.allows(*token) && *length >= left);
                assert!(late.count() <= 1, "{schema}: {text} with {left} left: the plan alone");
                let missed = lengths
                    .iter()
                    .find(|(token, length)| !mask.allows(*token) && *length < left);
                assert_eq!(missed, None, "{schema}: {text} with {left} left");
            }
        }
    }
}

/// A mask under a limit on tokens depends on the tokens accepted so far, not on where masks were asked for.
#[test]
fn a_completion_that_was_begun_without_a_mask_is_followed() {
    let vocabulary = vocabulary(&TOKENS);
    let mut random = ChaCha8Rng::seed_from_u64(5);
    for schema in SCHEMAS {
        let start = masker(schema);
        for more in [0, 1, 3] {
            let (mut asked, mut silent) = (start.fork().unwrap(), start.fork().unwrap());
            let mut left = needed(&mut *asked) + more;
            loop {
                let mask = asked.mask_within(left).unwrap().clone();
                assert_eq!(*silent.fork().unwrap().mask_within(left).unwrap(), mask, "{schema}");
                let tokens: Vec<TokenId> = mask.iter().collect();
                let token = *tokens.choose(&mut random).unwrap();
                asked.advance(token).unwrap();
                silent.advance(token).unwrap();
                left -= 1;
                if vocabulary.is_eos(token) {
                    break;
                }
            }
        }
    }
}

#[test]
fn without_an_end_in_reach_the_mask_is_the_usual_one() {
    let mut masker = masker(SCHEMAS[2]);
    let whole = masker.mask().unwrap().clone();
    for tokens in 0..needed(&mut *masker) {
        assert_eq!(*masker.mask_within(tokens).unwrap(), whole, "{tokens}");
    }
    assert_ne!(
        *masker.mask_within(needed(&mut *masker.fork().unwrap())).unwrap(),
        whole
    );
}

/// Patterns that sort keys into more classes than may be told apart do not matter where one key of any class suffices.
#[test]
fn many_patterns_are_no_obstacle_to_an_end() {
    let patterns: Vec<String> = ('a'..='o')
        .zip(0..)
        .map(|(letter, least)| format!(r#""{letter}": {{"minimum": {least}}}"#))
        .collect();
    let schema = format!(
        r#"{{"type": "object", "patternProperties": {{{}}}}}"#,
        patterns.join(",")
    );
    let mut masker = masker(&schema);
    for byte in br#"{"a":1"# {
        masker.advance(TokenId::from(*byte)).unwrap();
    }
    let whole = masker.mask().unwrap().clone();
    assert_eq!(*masker.mask_within(60).unwrap(), whole);
    masker.advance(TokenId::from(b',')).unwrap();
    assert!(needed(&mut *masker) <= 8, "a key of no class is short");
}

/// Tokens within a free key are allowed without a look at each, and few ends are looked for behind the others.
#[test]
fn tokens_within_free_text_are_allowed_together() {
    let letters = ('a'..='z').flat_map(|one| ('a'..='z').map(move |other| format!("{one}{other}")));
    let mut texts: Vec<String> = letters.flat_map(|text| [format!("{text}\":{{\""), text]).collect();
    // A second token of the same text.
    let second = 256 + texts.len() as TokenId;
    texts.push("bc".to_owned());
    let compiler = compiler(vocabulary(&texts), ExactOptions::default());
    let schema = r#"{"type": "object", "properties": {"abc": {"minLength": 200, "type": "string"}}}"#;
    let mut masker = compiler.compile(schema).unwrap();
    for byte in br#"{"a"# {
        masker.advance(TokenId::from(*byte)).unwrap();
    }
    let whole = masker.mask().unwrap().clone();
    let limited = masker.mask_within(40).unwrap().clone();
    let id = |text: &str| 256 + texts.iter().position(|other| other == text).unwrap() as TokenId;
    assert!(
        [id("bc"), second]
            .iter()
            .all(|token| whole.allows(*token) && !limited.allows(*token)),
        "the value of the listed key has 200 characters"
    );
    assert!(limited.allows(id("zz")) && limited.allows(TokenId::from(b'"')));
    let opens = |mask: &TokenMask| {
        texts
            .iter()
            .filter(|text| text.len() > 2 && mask.allows(id(text)))
            .count()
    };
    assert_eq!(opens(&whole), 675, "the value of the listed key is a string");
    assert!(
        (1..600).contains(&opens(&limited)),
        "an end is looked for behind some of them"
    );
    // Within a value of any kind, whose depth the style bounds.
    for byte in br#"b":{"c"# {
        masker.advance(TokenId::from(*byte)).unwrap();
    }
    let limited = masker.mask_within(40).unwrap();
    let inside = texts[..texts.len() - 1].iter().filter(|text| text.len() == 2);
    assert_eq!(inside.filter(|text| limited.allows(id(text))).count(), 676);
}

/// Texts of two letters, of which the first is one of so many, and the first of them once more.
fn pairs_of_letters(firsts: RangeInclusive<char>) -> Vec<String> {
    let pairs = firsts.flat_map(|one| ('a'..='z').map(move |other| format!("{one}{other}")));
    pairs.chain(["aa".to_owned()]).collect()
}

/// Returns for each token of `texts` whether the mask under a limit of `tokens` tokens allows it behind the quote of a string. The string is one
/// of an `enum`: for each text, the text, `between`, and the text again; the one of `ab` has a hundred letters more.
fn pairs_allowed(texts: &[String], between: &str, tokens: usize) -> Vec<bool> {
    let ends: Vec<String> = texts[..texts.len() - 1]
        .iter()
        .map(|text| match text.as_str() {
            "ab" => format!(r#""ab{between}ab{}""#, "x".repeat(100)),
            _ => format!(r#""{text}{between}{text}""#),
        })
        .collect();
    let mut masker = compiler(vocabulary(texts), ExactOptions::default())
        .compile(&format!(r#"{{"enum": [{}]}}"#, ends.join(",")))
        .unwrap();
    masker.advance(TokenId::from(b'"')).unwrap();
    let mask = masker.mask_within(tokens).unwrap();
    (256..).take(texts.len()).map(|token| mask.allows(token)).collect()
}

/// A mask looks for the ends of so many states at most. A token that leads to one of these states is allowed if the end is in time, however late
/// the token comes.
#[test]
fn tokens_that_lead_to_a_known_end_are_allowed_however_many_were_looked_at() {
    let allowed = pairs_allowed(&pairs_of_letters('a'..='z'), "", 40);
    assert_eq!(allowed[..4], [true, false, true, true], "the second text is too long");
    assert!(allowed[480] && !allowed[675], "ends are looked for behind some of them");
    assert!(allowed[676], "it leads where the first text leads");
}

/// The ends that are looked for in one mask have a mebibyte together at most.
#[test]
fn long_ends_are_looked_for_behind_few_tokens() {
    let allowed = pairs_allowed(&pairs_of_letters('a'..='f'), &"y".repeat(7_500), 7_540);
    let count = allowed.iter().filter(|is_allowed| **is_allowed).count();
    assert!(allowed[0] && (1..150).contains(&count), "{count}");
}

/// A masker under a limit on the memory of one compiled schema, at the end of a text.
fn masker_within(memory_bytes: usize, vocabulary: Arc<Vocabulary>, schema: &str, text: &str) -> Box<dyn Masker> {
    let limits = Limits {
        memory_bytes,
        ..Limits::default()
    };
    let mut masker = compiler(vocabulary, ExactOptions::default().limits(limits))
        .compile(schema)
        .unwrap();
    for byte in text.bytes() {
        masker.advance(TokenId::from(byte)).unwrap();
    }
    masker
}

/// All keys that match a pattern lead to the same end, so that it is looked for once and none of the keys is kept.
#[test]
fn keys_of_a_class_are_looked_at_together() {
    let mut texts = pairs_of_letters('a'..='z');
    texts.extend(["_a", "a\":1,\"", "ab\":\""].map(str::to_owned));
    let schema = r#"{"type": "object", "properties": {"ab": {"minLength": 200, "type": "string"}},
        "patternProperties": {"^[a-z]*$": true, "_": {"minLength": 200, "type": "string"}}, "minProperties": 2}"#;
    let mut masker = masker_within(1 << 30, vocabulary(&texts), schema, "{\"");
    let whole = masker.mask().unwrap().clone();
    let before = masker.memory_bytes().unwrap();
    let limited = masker.mask_within(60).unwrap().clone();
    let allowed: Vec<bool> = (256..).take(texts.len()).map(|token| limited.allows(token)).collect();
    assert!((256..).take(texts.len()).all(|token| whole.allows(token)));
    assert!(allowed[0] && !allowed[1] && allowed[2..675].iter().all(|is_allowed| *is_allowed));
    assert!(!allowed[677], "the value of a key with that character is long");
    let grown = masker.memory_bytes().unwrap() - before;
    assert!(grown < 400_000, "{grown} bytes");
}

/// Memory for the ends that are looked for near a limit on tokens is not given back, so each mask takes only a part of what is left.
#[test]
fn looks_leave_most_of_the_memory() {
    let texts = pairs_of_letters('a'..='z');
    let schema = r#"{"type": "array", "items": {"type": "string", "maxLength": 10}, "uniqueItems": true,
        "contains": {"const": "abc"}, "minItems": 9}"#;
    let mut masker = masker_within(64 << 20, vocabulary(&texts), schema, "[\"");
    let mut left = needed(&mut *masker) + 20;
    for token in [256, 290, 300, 301, 302] {
        let limited = masker.mask_within(left).unwrap().clone();
        assert!(!limited.allows_none());
        if !limited.allows(token) {
            break;
        }
        masker.advance(token).unwrap();
        left -= 1;
    }
    assert!(masker.used_of_limits() < 0.01, "{}", masker.used_of_limits());
}
