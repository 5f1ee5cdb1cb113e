//! Grammars with nested rules: the replies that they admit, the grammars that are refused, and masks that agree with accepting single tokens.

#![allow(clippy::unwrap_used, reason = "tests")]

mod examples;
mod hostile;
mod matcher;
mod random;
#[path = "../replies/mod.rs"]
mod replies;

use std::sync::Arc;

use maskwright::{CompileError, ExactOptions, GrammarSyntax, Masker, ReplyCompiler, TokenId, Vocabulary};
use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;
use replies::{accepts, check_calls};

/// Tokens besides single bytes.
const TOKENS: [&str; 40] = [
    "ab", "ba", "aa", "aaa", "abab", "a(", "((", "(a", "a)", "))", ")a", "a,", ",a", "[a", "a]", "]]", "[[", "],",
    "),(", "()", "[]", "1+", "+1", "(1", "1)", "\"a", "a\"", "\":", "{\"", "\"}", "}}", "\",\"", "\"a\":", "a\":{\"",
    " \n", "  ", "é", "éa", "\u{20ac}", "aé)",
];

/// Every byte and some texts, each a token, and the end.
fn vocabulary() -> Arc<Vocabulary> {
    let mut builder = Vocabulary::builder();
    let bytes = (0..=255_u8).map(|byte| vec![byte]);
    let texts = TOKENS.map(|text| text.as_bytes().to_vec());
    let end = 256 + texts.len() as TokenId;
    for (id, text) in (0..).zip(bytes.chain(texts)) {
        builder = builder.text(id, text).unwrap();
    }
    let tokenizer = |text: &[u8]| text.iter().map(|byte| TokenId::from(*byte)).collect();
    let builder = builder.special(end, "<end>").unwrap().tokenizer(Arc::new(tokenizer));
    Arc::new(builder.eos([end]).build().unwrap())
}

fn compile(grammar: &str) -> Result<Box<dyn Masker>, CompileError> {
    compiler().compile_grammar(grammar, GrammarSyntax::of(grammar))
}

fn compiler() -> ReplyCompiler {
    ReplyCompiler::new(vocabulary(), ExactOptions::default())
}

fn masker(grammar: &str) -> Box<dyn Masker> {
    compile(grammar).unwrap_or_else(|error| panic!("{grammar}: {error}"))
}

/// Asserts what [`check_calls`] does, and that text is forced exactly where all allowed tokens begin with one byte.
fn check(masker: &mut dyn Masker, vocabulary: &Vocabulary, context: &str) {
    let (mask, _) = check_calls(masker, vocabulary, context);
    let mut text = Vec::new();
    masker.forced_text(&mut text).unwrap();
    let begins = |token: TokenId| {
        vocabulary
            .token_bytes(token)
            .first()
            .copied()
            .filter(|_| !vocabulary.is_eos(token))
    };
    match text.first() {
        Some(first) => assert!(
            mask.iter().all(|token| begins(token) == Some(*first)),
            "{context}: {text:?} is not forced"
        ),
        None => {
            let mut firsts: Vec<_> = mask.iter().map(begins).collect();
            firsts.sort_unstable();
            firsts.dedup();
            assert!(firsts != [None] || masker.is_complete().unwrap(), "{context}");
            assert!(firsts.len() != 1 || firsts == [None], "{context}: {firsts:?} is forced");
        }
    }
}

/// Walks at random, checks each state, and gives the text up to a length; the walk ends where the reply does.
fn walk(
    mut masker: Box<dyn Masker>,
    vocabulary: &Vocabulary,
    random: &mut ChaCha8Rng,
    steps: usize,
    context: &str,
) -> Vec<u8> {
    let mut text = Vec::new();
    for _ in 0..steps {
        check(&mut *masker, vocabulary, context);
        let tokens: Vec<TokenId> = masker.mask().unwrap().iter().collect();
        let token = *tokens.choose(random).unwrap_or_else(|| panic!("{context}: a dead end"));
        masker.advance(token).unwrap();
        if vocabulary.is_eos(token) {
            break;
        }
        text.extend(vocabulary.token_bytes(token));
    }
    text
}
