//! Grammars: what is read, and which replies are a text of one.

mod reading;

use std::sync::Arc;

use crate::reply::ReplyCompiler;
use crate::{CompileError, ExactOptions, GrammarSyntax, Masker, TokenId, Vocabulary};

/// Tokens besides single bytes.
const TOKENS: [&str; 24] = [
    "ab", "aa", "a+", "((", "))", "(a", "a)", "1+", "+1", "\"a", "a\"", "\":", "{\"", "\"}", "}}", "[[", "]]", "],",
    "\n\n", "  ", "é", "éa", "\u{20ac}", "\",\"",
];

/// Every byte and some texts, each a token, and the end.
fn vocabulary() -> Arc<Vocabulary> {
    let mut builder = Vocabulary::builder();
    let bytes = (0..=255_u8).map(|byte| vec![byte]);
    let texts = TOKENS.map(|text| text.as_bytes().to_vec());
    let count = 256 + texts.len() as TokenId;
    for (id, text) in (0..).zip(bytes.chain(texts)) {
        builder = builder.text(id, text).unwrap();
    }
    let tokenizer = |text: &[u8]| text.iter().map(|byte| TokenId::from(*byte)).collect();
    let builder = builder.special(count, "<end>").unwrap().tokenizer(Arc::new(tokenizer));
    Arc::new(builder.eos([count]).build().unwrap())
}

fn compiler() -> ReplyCompiler {
    ReplyCompiler::new(vocabulary(), ExactOptions::default())
}

fn compile(grammar: &str, syntax: GrammarSyntax) -> Result<Box<dyn Masker>, CompileError> {
    compiler().compile_grammar(grammar, syntax)
}

fn ebnf(grammar: &str) -> Box<dyn Masker> {
    compile(grammar, GrammarSyntax::Ebnf).unwrap_or_else(|error| panic!("{grammar}: {error}"))
}

fn lark(grammar: &str) -> Box<dyn Masker> {
    compile(grammar, GrammarSyntax::Lark).unwrap_or_else(|error| panic!("{grammar}: {error}"))
}

/// Whether a text is accepted byte by byte.
fn accepts(masker: &dyn Masker, text: &str) -> bool {
    let mut masker = masker.fork().unwrap();
    text.bytes().all(|byte| masker.advance(TokenId::from(byte)).is_ok()) && masker.is_complete().unwrap()
}

/// Fails unless all of some texts are accepted, and none of others.
fn check(masker: &dyn Masker, inside: &[&str], outside: &[&str]) {
    for text in inside {
        assert!(accepts(masker, text), "{text:?} is not accepted");
    }
    for text in outside {
        assert!(!accepts(masker, text), "{text:?} is accepted");
    }
}
