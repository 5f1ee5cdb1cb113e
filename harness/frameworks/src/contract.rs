//! Tests of the contract of `Compiler` and `Masker`, run on every framework.
//!
//! The workers' packages, which stand outside the workspace, include this file by its path. It therefore uses nothing
//! of the harness: the module that includes it has a function `subjects`, which names the frameworks to be tested.
//!
//! Two clauses leave room, and no more than this: a framework may force no tokens at all, and it may insist on the
//! separators `", "` and `": "`, so that the instance below is written with them.

use std::sync::Arc;

use ::maskwright::{CompileErrorKind, Compiler, MaskError, Masker, TokenId, TokenMask, Tokenize, Vocabulary};

use super::subjects;

/// Makes a framework ready for a vocabulary.
pub(super) type Prepare = Box<dyn Fn(Arc<Vocabulary>) -> Box<dyn Compiler>>;

/// A framework under test.
pub(super) struct Subject {
    pub(super) name: &'static str,
    pub(super) prepare: Prepare,
}

const EOS: TokenId = 300;
const END_OF_TURN: TokenId = 301;
const WORDS: [&str; 15] = [
    "{\"",
    "\":",
    "\": ",
    "\",\"",
    "\", \"",
    "\"}",
    "name",
    "size",
    "\":\"",
    "true",
    "small",
    "large",
    " ",
    "{\"size\":\"",
    "{\"size\": \"",
];
const SCHEMA: &str = r#"{
    "type": "object",
    "properties": {"size": {"enum": ["small", "large"]}, "count": {"type": "integer"}},
    "required": ["size", "count"],
    "additionalProperties": false
}"#;
const INSTANCE: &str = r#"{"size": "large", "count": 12}"#;

/// Tokenizer that takes the longest match first. BPE merges differently, but the result is always the same, and so canonical for these tests.
struct LongestMatch(Vec<(Vec<u8>, TokenId)>);

impl Tokenize for LongestMatch {
    fn tokenize(&self, text: &[u8]) -> Vec<TokenId> {
        let mut tokens = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let candidates = self.0.iter().filter(|(bytes, _)| rest.starts_with(bytes));
            let (bytes, token) = candidates
                .max_by_key(|(bytes, _)| bytes.len())
                .expect("every byte is a token");
            tokens.push(*token);
            rest = &rest[bytes.len()..];
        }
        tokens
    }
}

fn vocabulary() -> Arc<Vocabulary> {
    let bytes = (0..=255_u8).map(|byte| vec![byte]);
    let words = WORDS.iter().map(|word| word.as_bytes().to_vec());
    let tokens: Vec<(Vec<u8>, TokenId)> = bytes.chain(words).zip(0..).collect();
    let mut builder = Vocabulary::builder();
    for (bytes, id) in &tokens {
        builder = builder.text(*id, bytes.clone()).unwrap();
    }
    let vocabulary = builder
        .special(EOS, "<eos>")
        .and_then(|builder| builder.special(END_OF_TURN, "<turn>"))
        .and_then(|builder| builder.special(302, "<pad>"))
        .map(|builder| builder.eos([EOS, END_OF_TURN]).size(330))
        .and_then(|builder| builder.tokenizer(Arc::new(LongestMatch(tokens))).build());
    Arc::new(vocabulary.unwrap())
}

fn tokens(text: &str) -> Vec<TokenId> {
    vocabulary().tokenizer().unwrap().tokenize(text.as_bytes())
}

fn masker(framework: &Subject) -> Box<dyn Masker> {
    (framework.prepare)(vocabulary()).compile(SCHEMA).unwrap()
}

fn mask(masker: &mut dyn Masker) -> TokenMask {
    masker.mask().unwrap().clone()
}

#[test]
fn a_valid_instance_is_allowed_token_by_token() {
    for framework in subjects() {
        let mut masker = masker(&framework);
        for (position, token) in tokens(INSTANCE).into_iter().enumerate() {
            assert_eq!(masker.position(), position);
            assert!(!masker.is_complete().unwrap());
            assert_eq!(masker.assert_done(), Err(MaskError::NotComplete { position }));
            let mask = mask(masker.as_mut());
            assert_eq!(mask.len(), 330);
            assert!(mask.allows(token), "{}: token {token} at {position}", framework.name);
            for never in [EOS, END_OF_TURN, 302, 303, 329, 255, u32::from(b'x')] {
                assert!(!mask.allows(never), "{}: token {never} at {position}", framework.name);
            }
            masker.advance(token).unwrap();
        }
        assert_eq!(masker.assert_done(), Ok(()));
        let end = mask(masker.as_mut());
        assert!(
            end.allows(EOS) && end.allows(END_OF_TURN),
            "{}: every end-of-sequence token",
            framework.name
        );
        masker.advance(END_OF_TURN).unwrap();
        assert!(masker.is_complete().unwrap());
        assert!(masker.mask().unwrap().allows_none());
        assert!(matches!(masker.advance(EOS), Err(MaskError::TokenRefused { .. })));
    }
}

#[test]
fn a_refused_token_changes_nothing() {
    for framework in subjects() {
        let mut masker = masker(&framework);
        for token in tokens("{\"size\": \"") {
            // Once without a mask computed before, once with.
            assert!(matches!(
                masker.advance(u32::from(b'x')),
                Err(MaskError::TokenRefused { .. })
            ));
            let before = mask(masker.as_mut());
            for wrong in [u32::from(b'x'), EOS, 302, 329, 330, u32::MAX] {
                let position = masker.position();
                assert_eq!(
                    masker.advance(wrong),
                    Err(MaskError::TokenRefused { token: wrong, position })
                );
            }
            assert_eq!(mask(masker.as_mut()), before);
            masker.advance(token).unwrap();
        }
    }
}

#[test]
fn forks_are_independent_and_rollback_restores_masks() {
    for framework in subjects() {
        let mut original = masker(&framework);
        let mut masks = vec![mask(original.as_mut())];
        for token in tokens(INSTANCE) {
            original.advance(token).unwrap();
            masks.push(mask(original.as_mut()));
        }
        let length = masks.len() - 1;
        let mut fork = original.fork().unwrap();
        fork.advance(EOS).unwrap();
        fork.rollback(1).unwrap();
        assert_eq!(
            mask(fork.as_mut()),
            masks[length],
            "{}: an end can be taken back",
            framework.name
        );
        for back in 1..=length {
            fork.rollback(1).unwrap();
            assert_eq!(fork.position(), length - back);
            assert_eq!(
                mask(fork.as_mut()),
                masks[length - back],
                "{}: {back} back",
                framework.name
            );
        }
        assert_eq!(
            fork.rollback(1),
            Err(MaskError::RollbackTooFar { asked: 1, available: 0 })
        );
        for token in tokens(INSTANCE) {
            fork.advance(token).unwrap();
        }
        assert!(fork.is_complete().unwrap() && original.is_complete().unwrap());
        assert_eq!(
            mask(original.as_mut()),
            masks[length],
            "{}: the original stayed",
            framework.name
        );
    }
}

#[test]
fn forced_tokens_are_allowed_and_canonical() {
    for framework in subjects() {
        let mut masker = masker(&framework);
        for token in tokens("{\"size\": \"l") {
            masker.advance(token).unwrap();
        }
        let mut forced = Vec::new();
        masker.forced_tokens(&mut forced).unwrap();
        assert_eq!(
            masker.position(),
            tokens("{\"size\": \"l").len(),
            "{}: it does not advance",
            framework.name
        );
        let text = vocabulary().text_bytes(&forced);
        assert!(b"arge\"".starts_with(text.as_slice()), "{}: {text:?}", framework.name);
        for token in forced {
            assert!(mask(masker.as_mut()).allows(token));
            masker.advance(token).unwrap();
        }
    }
}

#[test]
fn schemas_that_are_none_are_refused() {
    for framework in subjects() {
        let compiler = (framework.prepare)(vocabulary());
        let kind = |schema: &str| compiler.compile(schema).map(|_| ()).unwrap_err().kind();
        assert_eq!(kind("{"), CompileErrorKind::Malformed, "{}", framework.name);
        assert_eq!(kind(""), CompileErrorKind::Malformed, "{}", framework.name);
        let deep = "[".repeat(100_000);
        let too_deep = kind(&deep);
        let refusals = [CompileErrorKind::Malformed, CompileErrorKind::LimitExceeded];
        assert!(refusals.contains(&too_deep), "{}: {too_deep:?}", framework.name);
        compiler.compile("7").map(|_| ()).unwrap_err();
    }
}
