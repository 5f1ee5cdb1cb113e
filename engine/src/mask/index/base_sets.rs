//! [`BaseSets`]: bit sets of tokens that many masks are based on, made once per vocabulary.

use std::sync::Arc;

use crate::TokenId;

use super::contents::{CollectedTokens, Contents};
use super::suffix_set::SuffixSet;

/// Characters up to which there is a set of the tokens that add at most so many; hardly any token adds more.
const MAX_COUNTED: usize = 256;

/// A set of tokens, 32 a word, which is not copied where it is kept.
pub(crate) type Words = Arc<Vec<u32>>;

/// Sets of tokens that many masks are drawn over, 32 a word.
#[derive(Debug)]
pub(crate) struct BaseSets {
    /// The tokens that are whitespace only, where any may come.
    pub(crate) spaces: Words,
    /// The tokens that are whitespace only, and those of digits only.
    pub(crate) digits: Words,
    /// The tokens that are whitespace only, and those of digits only that do not begin with a zero.
    pub(crate) nonzero_digits: Words,
    /// All tokens that stay inside of a string.
    pub(crate) any: Words,
    /// All tokens that stay inside of a string and end with a whole character.
    pub(crate) whole: Words,
    /// All tokens that stay inside of a string or end with the closing quote.
    pub(crate) any_or_quote: Words,
    /// The tokens that are whitespace only, and those that begin a name of any kind and stay in it or end with its quote.
    pub(crate) names: Words,
    /// The tokens that add at most so many characters, partial ones included, by that number.
    pub(crate) up_to: Box<[Words]>,
}

impl BaseSets {
    /// Sets of the tokens that stay inside, that are whitespace, and that are digits of any kind or begin with no zero; of
    /// so many in all.
    pub(crate) fn new(
        tails: &CollectedTokens,
        spaces: impl Iterator<Item = TokenId>,
        (any_digits, nonzero_digits): (&[TokenId], &[TokenId]),
        tokens: usize,
    ) -> Self {
        let longest = tails.lengths().map(|(_, length)| length).max();
        let longest = longest.unwrap_or_default().min(MAX_COUNTED);
        let mut up_to = vec![vec![0_u32; tokens.div_ceil(32)]; longest + 1];
        let mut any = vec![0_u32; tokens.div_ceil(32)];
        let mut blank = any.clone();
        for token in spaces {
            set(&mut blank, token);
        }
        let and_spaces = |tokens: &[TokenId]| {
            let mut words = blank.clone();
            for &token in tokens {
                set(&mut words, token);
            }
            words.into()
        };
        let (digits, nonzero_digits) = (and_spaces(any_digits), and_spaces(nonzero_digits));
        for (token, length) in tails.lengths() {
            set(&mut any, token);
            if let Some(exactly) = up_to.get_mut(length) {
                set(exactly, token);
            }
        }
        for count in 1..up_to.len() {
            let (fewer, more) = up_to.split_at_mut(count);
            for (word, fewer) in more[0].iter_mut().zip(&fewer[count - 1]) {
                *word |= fewer;
            }
        }
        let mut whole = any.clone();
        unset(&mut whole, &tails.partial().collect::<Vec<_>>());
        let mut any_or_quote = any.clone();
        for token in tails.closing_only() {
            set(&mut any_or_quote, token);
        }
        let spaces: Words = blank.into();
        Self {
            any_or_quote: any_or_quote.into(),
            names: spaces.clone(),
            spaces,
            digits,
            nonzero_digits,
            any: any.into(),
            whole: whole.into(),
            up_to: up_to.into_iter().map(Vec::into).collect(),
        }
    }

    /// Adds the tokens that begin names, by the characters behind the opening quote.
    pub(crate) fn add_names(&mut self, contents: &Contents, nothing: &SuffixSet) {
        let mut words = self.names.to_vec();
        let quotes = contents
            .by_suffix
            .iter()
            .filter(|(suffix, _)| nothing[*suffix as usize]);
        for &token in quotes.flat_map(|(_, tokens)| tokens).chain(&*contents.tokens) {
            set(&mut words, token);
        }
        self.names = words.into();
    }
}

/// Adds a token to a set, 32 a word.
pub(crate) fn set(words: &mut [u32], token: TokenId) {
    words[token as usize / 32] |= 1 << (token % 32);
}

/// Whether a token is in a set.
pub(crate) fn bit(words: &[u32], token: TokenId) -> bool {
    words[token as usize / 32] >> (token % 32) & 1 == 1
}

/// Takes some tokens out of a set, 32 a word.
pub(crate) fn unset(words: &mut [u32], tokens: &[TokenId]) {
    for token in tokens {
        words[*token as usize / 32] &= !(1 << (token % 32));
    }
}
