//! [`ValueTokens`]: the tokens that begin a value, as far as the value's shape determines them.

use std::sync::Arc;

use crate::TokenId;
use crate::mask::cache::token_set::{Base, TokenSet};
use crate::mask::index::base_sets::{Words, set};

/// Tokens that begin a value and stay in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenTokens {
    tokens: Arc<[TokenId]>,
    /// The tokens, and those that are whitespace only, where they are many: as a base of sets.
    words: Option<Words>,
}

impl OpenTokens {
    pub(crate) fn new(tokens: Vec<TokenId>, is_shared: bool, spaces: &[u32]) -> Self {
        let words = (is_shared && tokens.len() >= LISTED).then(|| {
            let mut words = spaces.to_vec();
            for &token in &tokens {
                set(&mut words, token);
            }
            words.into()
        });
        let tokens = tokens.into();
        Self { tokens, words }
    }

    pub(crate) fn bytes(&self) -> usize {
        4 * (self.tokens.len() + self.words.as_ref().map_or(0, |words| words.len()))
    }

    /// The tokens, and those that are whitespace only.
    pub(crate) fn and_spaces(&self) -> TokenSet {
        match &self.words {
            Some(words) => TokenSet::over(Base::Kept(words.clone())),
            None => TokenSet::over(Base::Spaces).and(self.tokens.clone()),
        }
    }

    /// The tokens beside others.
    pub(crate) fn beside(&self, others: TokenSet) -> TokenSet {
        others.and(self.tokens.clone())
    }
}

/// Tokens up to which those that begin values of many schemas are kept as a list only: drawing these takes no longer than a set.
const LISTED: usize = 200;

/// Tokens that may begin a value of a shape.
#[derive(Debug)]
pub(crate) struct ValueTokens {
    pub(crate) open: OpenTokens,
    /// The tokens that end the value, each with its suffix behind the value.
    pub(crate) whole: Box<[(u32, TokenId)]>,
}
