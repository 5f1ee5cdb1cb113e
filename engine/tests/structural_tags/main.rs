//! Structural tags: the replies that they admit, the tags that are refused, and masks that agree with accepting single tokens.

#![allow(clippy::unwrap_used, reason = "tests")]

mod errors;
mod formats;
mod json;
mod matcher;
mod parameter_values;
mod parameters;
mod random;
#[path = "../replies/mod.rs"]
mod replies;
mod sharing;
mod special;
mod threads;
mod vocabularies;

use std::sync::Arc;

use maskwright::{CompileError, ExactOptions, Masker, ReplyCompiler, Style, TokenId, Vocabulary, Whitespace};
use replies::{accepts, accepts_tokens, check_calls};

/// Tokens besides single bytes.
const TOKENS: [&str; 30] = [
    "<a>", "</a>", "<b", "a>", "a<", "<a>{", "}</", "}</a>", "\"}", "\"}</a>", "ab", "aab", "</a><a>", ",<a>", "1</a>",
    "12", "{\"a\":", "x<", "tr", "true", "a<a", "<a><", "é", "éa", "\u{20ac}", "bb", "></a>b", "\"a\"", "<|t|>", "a,",
];
/// A special token that tags name.
const SPECIAL: TokenId = 300;
/// Another, whose name begins as that of the first does.
const LONGER: TokenId = 301;
/// One of two ends of sequence.
const CALL: TokenId = 302;
/// The other.
const END: TokenId = 303;
/// A special token that no tag names.
const UNNAMED: TokenId = 304;

/// Every byte and some texts, each a token, and some special tokens.
fn vocabulary() -> Arc<Vocabulary> {
    let mut builder = Vocabulary::builder();
    let bytes = (0..=255_u8).map(|byte| vec![byte]);
    for (id, text) in (0..).zip(bytes.chain(TOKENS.map(|text| text.as_bytes().to_vec()))) {
        builder = builder.text(id, text).unwrap();
    }
    for (id, name) in [
        (SPECIAL, "<|t|>"),
        (LONGER, "<|t|>>"),
        (CALL, "<|call|>"),
        (END, "<|end|>"),
        (UNNAMED, "<|u|>"),
    ] {
        builder = builder.special(id, name).unwrap();
    }
    let tokenizer = |text: &[u8]| text.iter().map(|byte| TokenId::from(*byte)).collect();
    let builder = builder.tokenizer(Arc::new(tokenizer));
    Arc::new(builder.eos([END, CALL]).size(310).build().unwrap())
}

fn compiler() -> ReplyCompiler {
    let mut style = Style::generation();
    style.whitespace = Whitespace::Compact;
    ReplyCompiler::new(vocabulary(), ExactOptions::default().style(style))
}

fn compile(format: &str) -> Result<Box<dyn Masker>, CompileError> {
    compiler().compile_structural_tag(&format!(r#"{{"type": "structural_tag", "format": {format}}}"#))
}

fn masker(format: &str) -> Box<dyn Masker> {
    compile(format).unwrap_or_else(|error| panic!("{format}: {error}"))
}

/// Asserts what [`check_calls`] does, and that every allowed token begins as the first forced one does.
fn check(masker: &mut dyn Masker, vocabulary: &Vocabulary, context: &str) {
    let (mask, forced) = check_calls(masker, vocabulary, context);
    if let Some(first) = forced.first() {
        let first = vocabulary.token_bytes(*first)[0];
        let allowed = |token: TokenId| vocabulary.token_bytes(token)[0] == first;
        assert!(mask.iter().all(allowed), "{context}: {forced:?} is not forced");
    }
}
