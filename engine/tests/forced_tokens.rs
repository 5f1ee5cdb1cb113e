//! Forced tokens where the tokenizer splits a text by what follows.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;

use maskwright::{ExactOptions, ReplyCompiler, TokenId, Vocabulary};

/// The token of two spaces.
const TWO: TokenId = 256;
/// The token of three spaces.
const THREE: TokenId = 257;
const END: TokenId = 258;

/// The tokens of a text whose runs of spaces are split by `\s+(?!\S)|\s+`.
fn tokenize(text: &[u8]) -> Vec<TokenId> {
    let (mut tokens, mut rest) = (Vec::new(), text);
    while let Some(&byte) = rest.first() {
        let run = rest.iter().take_while(|byte| **byte == b' ').count();
        // The last space is set apart where other text follows.
        let together = match run < rest.len() {
            true => run.saturating_sub(1),
            false => run,
        };
        let (token, length) = match together {
            2 => (TWO, 2),
            3 => (THREE, 3),
            _ => (byte.into(), 1),
        };
        tokens.push(token);
        rest = &rest[length..];
    }
    tokens
}

/// The tokens that are forced at the beginning of a text that matches a pattern.
fn forced(pattern: &str) -> Vec<TokenId> {
    let mut builder = Vocabulary::builder();
    for byte in 0..=255_u8 {
        builder = builder.text(byte.into(), [byte]).unwrap();
    }
    let vocabulary = builder
        .text(TWO, "  ")
        .and_then(|builder| builder.text(THREE, "   "))
        .and_then(|builder| builder.special(END, "<end>"))
        .and_then(|builder| builder.eos([END]).tokenizer(Arc::new(tokenize)).build())
        .unwrap();
    let compiler = ReplyCompiler::new(Arc::new(vocabulary), ExactOptions::default());
    let mut masker = compiler.compile_regex(pattern).unwrap();
    let mut tokens = Vec::new();
    masker.forced_tokens(&mut tokens).unwrap();
    tokens
}

#[test]
fn spaces_that_the_next_character_may_split_are_not_forced() {
    let [a, space, five] = [b'a', b' ', b'5'].map(TokenId::from);
    assert_eq!(tokenize(b"a   5"), [a, TWO, space, five]);
    for (pattern, text) in [("a {3}[0-9]", "a   5"), ("a {2}[0-9]", "a  5")] {
        let forced = forced(pattern);
        assert_eq!(forced, [a], "{pattern}");
        assert!(tokenize(text.as_bytes()).starts_with(&forced), "{pattern}");
    }
    assert_eq!(forced("a [0-9]"), [a, space], "one space is not split");
    assert_eq!(forced("a {3}"), [a, THREE], "nothing follows");
    assert_eq!(forced("a {3}5"), tokenize(b"a   5"), "what follows is known");
}
