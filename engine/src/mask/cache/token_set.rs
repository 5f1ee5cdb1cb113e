//! [`TokenSet`]: a set of tokens as the difference from a shared base set.
//!
//! A mask of two hundred thousand tokens is 25 KB, and most masks differ from the empty set or from a base set of the vocabulary in some hundred
//! tokens. So a set is a base, with short lists of tokens removed and added. A masker draws it over the set that it drew last, which it
//! undoes token by token.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::TokenId;
use crate::mask::index::base_sets::{BaseSets, Words, bit, set, unset};

/// Tokens up to which a set is a list; a set of bits over 200,000 tokens takes as much memory as a list of 6,000.
const MAX_LISTED: usize = 4096;
/// The tokens that a set is drawn over.
#[derive(Clone, Debug)]
pub(crate) enum Base {
    /// No token at all.
    None,
    /// The tokens that are whitespace only, where any may come.
    Spaces,
    /// The tokens that are whitespace only, and those of digits only.
    Digits,
    /// The tokens that are whitespace only, and those of digits only that do not begin with a zero.
    NonZeroDigits,
    /// All tokens that stay inside of a string.
    Any,
    /// All tokens that stay inside of a string or end with the closing quote.
    AnyOrQuote,
    /// The tokens that are whitespace only, and those that begin a name of any kind and stay in it or end with its quote.
    Names,
    /// All tokens that stay inside of a string and add at most so many characters.
    UpTo(usize),
    /// A set of its own, 32 tokens a word.
    Words(Words),
    /// A set that is kept elsewhere as well, so that its memory is not counted here; 32 tokens a word.
    Kept(Words),
}

/// A set of tokens that may come at a state.
#[derive(Clone, Debug)]
pub(crate) struct TokenSet {
    pub(crate) base: Base,
    /// Tokens of the base that may not come.
    pub(crate) without: Arc<[TokenId]>,
    /// Tokens besides the base.
    pub(crate) with: SmallVec<[Arc<[TokenId]>; 3]>,
}

impl Base {
    /// Whether two bases are the same set, without looking at their tokens.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::None, Self::None)
            | (Self::Spaces, Self::Spaces)
            | (Self::Digits, Self::Digits)
            | (Self::NonZeroDigits, Self::NonZeroDigits)
            | (Self::Any, Self::Any)
            | (Self::AnyOrQuote, Self::AnyOrQuote)
            | (Self::Names, Self::Names) => true,
            (Self::UpTo(one), Self::UpTo(other)) => one == other,
            (Self::Words(one), Self::Words(other)) | (Self::Kept(one), Self::Kept(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// The set, 32 tokens a word; nothing where it is empty.
    pub(crate) fn words<'a>(&'a self, sets: &'a BaseSets) -> &'a [u32] {
        match self {
            Self::None => &[],
            Self::Spaces => &sets.spaces,
            Self::Digits => &sets.digits,
            Self::NonZeroDigits => &sets.nonzero_digits,
            Self::Any => &sets.any,
            Self::AnyOrQuote => &sets.any_or_quote,
            Self::Names => &sets.names,
            Self::UpTo(count) => &sets.up_to[*count],
            Self::Words(words) | Self::Kept(words) => words,
        }
    }
}

impl TokenSet {
    /// No token at all.
    pub(crate) fn none() -> Self {
        Self::over(Base::None)
    }

    /// All tokens of a base.
    pub(crate) fn over(base: Base) -> Self {
        Self {
            base,
            without: Arc::default(),
            with: SmallVec::new(),
        }
    }

    /// A set of these tokens, of a vocabulary of `len`.
    pub(crate) fn of(tokens: &[TokenId], len: usize) -> Self {
        if tokens.len() < MAX_LISTED {
            return Self::none().and(tokens.into());
        }
        let mut words = vec![0; len.div_ceil(32)];
        for &token in tokens {
            set(&mut words, token);
        }
        Self::over(Base::Words(words.into()))
    }

    /// A set of these tokens, and of those of a set of bits but for some that are not among the tokens.
    pub(crate) fn joined(mut tokens: Vec<TokenId>, words: Option<Words>, without: &[TokenId], len: usize) -> Self {
        let Some(words) = words else {
            return Self::of(&tokens, len);
        };
        tokens.retain(|token| !bit(&words, *token));
        let without: Vec<TokenId> = without.iter().copied().filter(|token| bit(&words, *token)).collect();
        if tokens.len() < MAX_LISTED && without.len() < MAX_LISTED {
            return Self::over(Base::Words(words)).but_these(&without).and_these(&tokens);
        }
        let mut words = words.to_vec();
        unset(&mut words, &without);
        for token in tokens {
            set(&mut words, token);
        }
        Self::over(Base::Words(words.into()))
    }

    /// All tokens that stay inside of a string, but for these.
    pub(crate) fn all_but(tokens: Vec<TokenId>, sets: &BaseSets) -> Self {
        if tokens.len() < MAX_LISTED {
            let without = tokens.into();
            return Self {
                without,
                ..Self::over(Base::Any)
            };
        }
        let mut words = sets.any.to_vec();
        unset(&mut words, &tokens);
        Self::over(Base::Words(words.into()))
    }

    /// A set without these tokens.
    pub(crate) fn but(&self, tokens: &[TokenId], sets: &BaseSets) -> Self {
        let mut set = self.clone();
        if tokens.is_empty() {
            return set;
        }
        let words = self.base.words(sets);
        let is_of_base = |token: &TokenId| {
            words
                .get(*token as usize / 32)
                .is_some_and(|word| word >> (token % 32) & 1 == 1)
        };
        let (of_base, mut others): (Vec<_>, Vec<_>) = tokens.iter().copied().partition(is_of_base);
        set.without = self.without.iter().copied().chain(of_base).collect();
        if !others.is_empty() {
            others.sort_unstable();
            for list in &mut set.with {
                *list = list
                    .iter()
                    .copied()
                    .filter(|token| others.binary_search(token).is_err())
                    .collect();
            }
        }
        set
    }

    /// A set with these tokens added, which it may have already.
    pub(crate) fn or(&self, tokens: &[TokenId], sets: &BaseSets) -> Self {
        let mut words = self.words(sets);
        for &token in tokens {
            set(&mut words, token);
        }
        Self::over(Base::Words(words.into()))
    }

    /// Adds tokens that are not in the base.
    pub(crate) fn and(mut self, tokens: Arc<[TokenId]>) -> Self {
        if !tokens.is_empty() {
            self.with.push(tokens);
        }
        self
    }

    /// Adds tokens that are not in the base and that no other set shares.
    pub(crate) fn and_these(self, tokens: &[TokenId]) -> Self {
        match tokens.is_empty() {
            true => self,
            false => self.and(tokens.into()),
        }
    }

    /// Takes out tokens of the base.
    pub(crate) fn but_these(mut self, tokens: &[TokenId]) -> Self {
        if !tokens.is_empty() {
            self.without = tokens.into();
        }
        self
    }

    /// All tokens of the set, 32 a word.
    pub(crate) fn words(&self, sets: &BaseSets) -> Vec<u32> {
        let mut words = vec![0; sets.any.len()];
        self.write(&mut words, sets);
        words
    }

    /// Writes all tokens of the set into words, 32 a word, as many as the vocabulary needs.
    pub(crate) fn write(&self, words: &mut [u32], sets: &BaseSets) {
        let (base, others) = words.split_at_mut(self.base.words(sets).len());
        base.copy_from_slice(self.base.words(sets));
        others.fill(0);
        unset(words, &self.without);
        for tokens in &self.with {
            for &token in tokens.iter() {
                set(words, token);
            }
        }
    }

    /// Bytes that the set takes; lists that sets share are counted for each.
    pub(crate) fn bytes(&self) -> usize {
        let words = match &self.base {
            Base::Words(words) => words.len(),
            _ => 0,
        };
        let listed: usize = self.with.iter().map(|tokens| tokens.len()).sum();
        4 * (words + listed + self.without.len()) + 128
    }
}
