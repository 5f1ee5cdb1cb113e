//! Checks of replies that the tests of grammars and of structural tags share.

use maskwright::{Masker, TokenId, TokenMask, Vocabulary};

/// Whether tokens are accepted to their end, which is one.
pub fn accepts_tokens(masker: &dyn Masker, tokens: &[TokenId]) -> bool {
    let mut masker = masker.fork().unwrap();
    tokens.iter().all(|token| masker.advance(*token).is_ok()) && masker.is_complete().unwrap()
}

/// Whether a text is accepted byte by byte.
pub fn accepts(masker: &dyn Masker, text: &str) -> bool {
    let tokens: Vec<TokenId> = text.bytes().map(TokenId::from).collect();
    accepts_tokens(masker, &tokens)
}

/// Asserts that the mask has exactly the accepted tokens, that a completion ends the reply, and that forced tokens are allowed. Returns the mask
/// and the forced tokens.
pub fn check_calls(masker: &mut dyn Masker, vocabulary: &Vocabulary, context: &str) -> (TokenMask, Vec<TokenId>) {
    let mask = masker.mask().unwrap().clone();
    for token in 0..vocabulary.len() as TokenId {
        let is_accepted = masker.fork().unwrap().advance(token).is_ok();
        let bytes = vocabulary.token_bytes(token);
        assert_eq!(is_accepted, mask.allows(token), "{context}: token {token} {bytes:?}");
    }
    let mut rest = Vec::new();
    assert!(masker.completion(&mut rest).unwrap(), "{context}: no end");
    assert_eq!(masker.completion_length().unwrap(), Some(rest.len()), "{context}");
    assert!(accepts_tokens(masker, &rest), "{context}: {rest:?} is no end");
    let mut forced = Vec::new();
    masker.forced_tokens(&mut forced).unwrap();
    let mut fork = masker.fork().unwrap();
    let are_allowed = forced.iter().all(|token| fork.advance(*token).is_ok());
    assert!(are_allowed, "{context}: forced {forced:?}");
    (mask, forced)
}
