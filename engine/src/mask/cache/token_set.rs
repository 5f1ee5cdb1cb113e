//! [`TokenSet`]: the tokens that may come at a place, as little more than a few others that are shared; [`MaskBuffers`]: where
//! they are drawn as masks.
//!
//! A mask of two hundred thousand tokens is 25 KB. Few are unlike all others: mostly one is a set that the vocabulary
//! has ready, or nothing, and some hundred tokens more or less. So that is what is kept, and a masker draws it over what
//! it has drawn last, which it takes back token by token.

use std::sync::{Arc, Mutex};

use smallvec::SmallVec;

use crate::{TokenId, TokenMask};

use crate::mask::cache::bounded::lock;
use crate::mask::index::contents::{Sets, Words, bit, set};

/// Tokens from which on they are kept as a set of bits rather than a list.
const MANY: usize = 4096;
/// Masks that a masker draws on.
const MAX_BUFFERS: usize = 16;
/// BufferPool that are kept for maskers to come.
const MAX_POOLED: usize = 8;

/// What a set is drawn over.
#[derive(Clone, Debug)]
pub(crate) enum Base {
    /// No token.
    None,
    /// Those that are whitespace only, where any may come.
    Spaces,
    /// They, and those of digits only.
    Digits,
    /// The same without digits that begin with a zero.
    NonZeroDigits,
    /// All that stay inside of a string.
    Any,
    /// They, and those that end with the closing quote.
    AnyOrQuote,
    /// Those that are whitespace only, and those that begin a name of any kind and stay in it or end with its quote.
    Names,
    /// All that stay inside of a string and add at most so many characters.
    UpTo(usize),
    /// These, 32 a word.
    Words(Words),
    /// The same, which are kept elsewhere.
    Kept(Words),
}

/// Tokens that may come at a place.
#[derive(Clone, Debug)]
pub(crate) struct TokenSet {
    pub(crate) base: Base,
    /// Tokens of the base that may not come.
    pub(crate) without: Arc<[TokenId]>,
    /// Tokens besides the base.
    pub(crate) with: SmallVec<[Arc<[TokenId]>; 3]>,
}

impl Base {
    fn is_same(&self, other: &Self) -> bool {
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
    pub(crate) fn words<'a>(&'a self, sets: &'a Sets) -> &'a [u32] {
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
    /// No token.
    pub(crate) fn none() -> Self {
        Self::over(Base::None)
    }

    /// A base as it is.
    pub(crate) fn over(base: Base) -> Self {
        Self {
            base,
            without: Arc::default(),
            with: SmallVec::new(),
        }
    }

    /// These tokens, of a vocabulary of `len`.
    pub(crate) fn of(tokens: &[TokenId], len: usize) -> Self {
        if tokens.len() < MANY {
            return Self::none().and(tokens.into());
        }
        let mut words = vec![0; len.div_ceil(32)];
        for &token in tokens {
            set(&mut words, token);
        }
        Self::over(Base::Words(words.into()))
    }

    /// These tokens, and those of a set of bits but for some that are not among the tokens.
    pub(crate) fn joined(mut tokens: Vec<TokenId>, words: Option<Words>, without: &[TokenId], len: usize) -> Self {
        let Some(words) = words else {
            return Self::of(&tokens, len);
        };
        tokens.retain(|token| !bit(&words, *token));
        let without: Vec<TokenId> = without.iter().copied().filter(|token| bit(&words, *token)).collect();
        if tokens.len() < MANY && without.len() < MANY {
            return Self::over(Base::Words(words)).but_these(&without).and_these(&tokens);
        }
        let mut words = words.to_vec();
        for token in without {
            words[token as usize / 32] &= !(1 << (token % 32));
        }
        for token in tokens {
            set(&mut words, token);
        }
        Self::over(Base::Words(words.into()))
    }

    /// All tokens that stay inside of a string, but for these.
    pub(crate) fn all_but(tokens: Vec<TokenId>, sets: &Sets) -> Self {
        if tokens.len() < MANY {
            let without = tokens.into();
            return Self {
                without,
                ..Self::over(Base::Any)
            };
        }
        let mut words = sets.any.to_vec();
        for token in tokens {
            words[token as usize / 32] &= !(1 << (token % 32));
        }
        Self::over(Base::Words(words.into()))
    }

    /// Without some of its tokens.
    pub(crate) fn but(&self, tokens: &[TokenId], sets: &Sets) -> Self {
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

    /// And some tokens, which it may have.
    pub(crate) fn or(&self, tokens: &[TokenId], sets: &Sets) -> Self {
        let mut words = self.words(sets);
        for &token in tokens {
            set(&mut words, token);
        }
        Self::over(Base::Words(words.into()))
    }

    /// These tokens, too. None of them is in the base.
    pub(crate) fn and(mut self, tokens: Arc<[TokenId]>) -> Self {
        if !tokens.is_empty() {
            self.with.push(tokens);
        }
        self
    }

    /// The same of tokens that no other set has.
    pub(crate) fn and_these(self, tokens: &[TokenId]) -> Self {
        match tokens.is_empty() {
            true => self,
            false => self.and(tokens.into()),
        }
    }

    /// Without these tokens of the base.
    pub(crate) fn but_these(mut self, tokens: &[TokenId]) -> Self {
        if !tokens.is_empty() {
            self.without = tokens.into();
        }
        self
    }

    /// All of its tokens, 32 a word.
    pub(crate) fn words(&self, sets: &Sets) -> Vec<u32> {
        let mut words = self.base.words(sets).to_vec();
        words.resize(sets.any.len(), 0);
        for &token in self.without.iter() {
            words[token as usize / 32] &= !(1 << (token % 32));
        }
        for &token in self.with.iter().flat_map(|tokens| tokens.iter()) {
            set(&mut words, token);
        }
        words
    }

    /// Bytes that it takes; lists that it shares with others are counted for each.
    pub(crate) fn bytes(&self) -> usize {
        let words = match &self.base {
            Base::Words(words) => words.len(),
            _ => 0,
        };
        let listed: usize = self.with.iter().map(|tokens| tokens.len()).sum();
        4 * (words + listed + self.without.len()) + 128
    }
}

/// The masks that a masker draws on.
#[derive(Debug, Default)]
pub(crate) struct MaskBuffers {
    /// The one drawn on last comes last.
    buffers: Vec<MaskBuffer>,
}

/// BufferPool that no masker uses, with what was drawn on them last: a new masker mostly draws the like.
#[derive(Debug, Default)]
pub(crate) struct BufferPool(Mutex<Vec<MaskBuffers>>);

impl BufferPool {
    /// One of them, or a new one.
    pub(crate) fn take(&self) -> MaskBuffers {
        lock(&self.0).pop().unwrap_or_default()
    }

    /// Takes one back.
    pub(crate) fn put_back(&self, buffers: MaskBuffers) {
        let mut buffer_pool = lock(&self.0);
        if buffer_pool.len() < MAX_POOLED && !buffers.buffers.is_empty() {
            buffer_pool.push(buffers);
        }
    }
}

/// A mask, and what is drawn on it.
#[derive(Debug)]
struct MaskBuffer {
    mask: TokenMask,
    base: Base,
    drawn: Option<Arc<TokenSet>>,
}

impl MaskBuffers {
    /// The mask of a set, over a vocabulary of `len` tokens.
    pub(crate) fn draw(&mut self, tokens: &Arc<TokenSet>, sets: &Sets, len: usize) -> &TokenMask {
        let same = self.buffers.iter().position(|buffer| buffer.base.is_same(&tokens.base));
        let mut buffer = match same {
            Some(place) => self.buffers.remove(place),
            None => {
                let base = tokens.base.clone();
                let words = base.words(sets);
                let mask = match self.buffers.len() < MAX_BUFFERS {
                    true => TokenMask::from_words(words, len),
                    false => {
                        let mut mask = self.buffers.remove(0).mask;
                        mask.copy_from_words(words);
                        mask
                    }
                };
                MaskBuffer {
                    mask,
                    base,
                    drawn: None,
                }
            }
        };
        buffer.draw(tokens);
        // Lists have no token in common.
        debug_assert_eq!(*buffer.mask.words(), tokens.words(sets));
        self.buffers.push(buffer);
        &self.buffers[self.buffers.len() - 1].mask
    }
}

impl MaskBuffer {
    /// Draws a set over the one drawn before, but for what both have in common.
    fn draw(&mut self, tokens: &Arc<TokenSet>) {
        let (mut same, mut keeps_without) = (0, false);
        if let Some(drawn) = &self.drawn {
            if Arc::ptr_eq(drawn, tokens) {
                return;
            }
            let pairs = drawn.with.iter().zip(&tokens.with);
            same = pairs.take_while(|(one, other)| is_same(one, other)).count();
            keeps_without = is_same(&drawn.without, &tokens.without);
            for list in drawn.with.iter().skip(same) {
                self.mask.forbid_all(list);
            }
            if !keeps_without {
                self.mask.allow_all(&drawn.without);
            }
        }
        for list in tokens.with.iter().skip(same) {
            self.mask.allow_all(list);
        }
        if !keeps_without {
            self.mask.forbid_all(&tokens.without);
        }
        self.drawn = Some(tokens.clone());
    }
}

/// Whether two lists are the same, which are often made anew.
fn is_same(one: &Arc<[TokenId]>, other: &Arc<[TokenId]>) -> bool {
    Arc::ptr_eq(one, other) || one == other
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever was drawn before, a set is drawn as it is.
    #[test]
    fn drawings_leave_no_trace() {
        let len = 100;
        let any: Words = vec![0xFFFF, 0, 7, 0].into();
        let up_to: Words = vec![0xFF, 0, 0, 0].into();
        let sets = Sets {
            spaces: vec![0, 0, 0, 1].into(),
            digits: vec![0, 0, 0, 3].into(),
            nonzero_digits: vec![0, 0, 0, 1].into(),
            any_or_quote: any.clone(),
            names: any.clone(),
            any,
            up_to: [up_to].into(),
        };
        let words: Words = vec![0, 0xF0, 0, 0].into();
        let drawings = [
            TokenSet::over(Base::Spaces).and([3].into()),
            TokenSet::of(&[1, 50, 99], len),
            TokenSet::over(Base::Any).and([20, 99].into()).and([21].into()),
            TokenSet::over(Base::UpTo(0)),
            TokenSet::all_but(vec![0, 65], &sets).and([99].into()),
            TokenSet::over(Base::Words(words)).and([0].into()),
            TokenSet::of(&(0..50).collect::<Vec<_>>(), len),
            TokenSet::none(),
        ];
        let drawings = drawings.map(Arc::new);
        let mut buffers = MaskBuffers::default();
        for step in 0..200 {
            let tokens = &drawings[step * step % 8 * 3 % 8];
            let fresh = MaskBuffers::default().draw(tokens, &sets, len).clone();
            assert_eq!(*buffers.draw(tokens, &sets, len), fresh);
        }
        let mask = buffers.draw(&drawings[4], &sets, len);
        assert_eq!(mask.count(), 16 + 3 - 2 + 1);
        assert!(!mask.allows(0) && mask.allows(1) && !mask.allows(65) && mask.allows(99));
    }
}
