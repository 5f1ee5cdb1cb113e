//! [`TokenMask`]: a bit set of the tokens that may come next.

use std::fmt;

use crate::TokenId;

/// The set of tokens allowed at one position: one bit per token of a vocabulary.
///
/// Token `t` is bit `t % 32` of word `t / 32`; the bits past the last token are zero. This is the layout
/// of llguidance and xgrammar, so their masks are copied in without conversion.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenMask {
    words: Vec<u32>,
    len: usize,
}

impl TokenMask {
    /// A mask over `len` tokens that allows none.
    pub fn none(len: usize) -> Self {
        Self {
            words: vec![0; len.div_ceil(32)],
            len,
        }
    }

    /// A mask over `len` tokens that allows all.
    pub fn all(len: usize) -> Self {
        let mut mask = Self {
            words: vec![u32::MAX; len.div_ceil(32)],
            len,
        };
        mask.clear_tail();
        mask
    }

    /// A mask over `len` tokens from 32-bit words in this type's layout.
    ///
    /// Missing words count as zero; words and bits past `len` are dropped.
    pub fn from_words(words: &[u32], len: usize) -> Self {
        let count = len.div_ceil(32);
        let mut all = Vec::with_capacity(count);
        all.extend_from_slice(&words[..words.len().min(count)]);
        all.resize(count, 0);
        let mut mask = Self { words: all, len };
        mask.clear_tail();
        mask
    }

    /// Overwrites this mask with `words`, as [`TokenMask::from_words`] reads them, without allocating.
    pub fn copy_from_words(&mut self, words: &[u32]) {
        let shared = words.len().min(self.words.len());
        self.words[..shared].copy_from_slice(&words[..shared]);
        self.words[shared..].fill(0);
        self.clear_tail();
    }

    /// Lets `write` overwrite the mask's words in place, in this type's layout, for frameworks that fill a buffer of
    /// the caller's. Bits past the last token are cleared afterwards.
    ///
    /// `write` is given the words that the mask held before, and must set every word.
    pub fn fill_words(&mut self, write: impl FnOnce(&mut [u32])) {
        write(&mut self.words);
        self.clear_tail();
    }

    /// Number of tokens the mask speaks of: the vocabulary's size, not the number of allowed tokens.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the mask speaks of no token at all (a vocabulary of size zero).
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The mask's words, `len().div_ceil(32)` of them, tail bits zero.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Whether `token` may come next. False for ids outside the vocabulary.
    #[inline]
    pub fn allows(&self, token: TokenId) -> bool {
        let token = token as usize;
        token < self.len && self.words[token / 32] >> (token % 32) & 1 == 1
    }

    /// Allows `token`; returns false, and does nothing, for an id outside the vocabulary.
    #[inline]
    pub fn allow(&mut self, token: TokenId) -> bool {
        let index = token as usize;
        if index >= self.len {
            return false;
        }
        self.words[index / 32] |= 1 << (index % 32);
        true
    }

    /// Forbids `token`. Ids outside the vocabulary are forbidden already.
    #[inline]
    pub fn forbid(&mut self, token: TokenId) {
        let index = token as usize;
        if index < self.len {
            self.words[index / 32] &= !(1 << (index % 32));
        }
    }

    /// Allows several tokens. Ids outside the vocabulary must not be among them.
    pub(crate) fn allow_all(&mut self, tokens: &[TokenId]) {
        for token in tokens {
            if let Some(word) = self.words.get_mut(*token as usize / 32) {
                *word |= 1 << (token % 32);
            }
        }
    }

    /// Forbids several tokens. Ids outside the vocabulary must not be among them.
    pub(crate) fn forbid_all(&mut self, tokens: &[TokenId]) {
        for token in tokens {
            if let Some(word) = self.words.get_mut(*token as usize / 32) {
                *word &= !(1 << (token % 32));
            }
        }
    }

    /// Forbids every token.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Number of allowed tokens.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether no token is allowed: a dead end.
    pub fn allows_none(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// The only allowed token, where there is exactly one.
    pub fn single(&self) -> Option<TokenId> {
        let mut allowed = self.iter();
        let first = allowed.next()?;
        allowed.next().is_none().then_some(first)
    }

    /// The allowed tokens in increasing order.
    pub fn iter(&self) -> impl Iterator<Item = TokenId> + '_ {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            let base = index as TokenId * 32;
            std::iter::successors((word != 0).then_some(word), |&rest| {
                let rest = rest & (rest - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |rest| base + rest.trailing_zeros())
        })
    }

    /// Sets the logits of the tokens that are not allowed to negative infinity, so that they cannot be sampled.
    ///
    /// `logits[t]` is the logit of token `t`. Models often have more logits than the vocabulary has tokens: those past
    /// [`len`](Self::len) belong to no token and become negative infinity too. Fewer logits than tokens are treated as
    /// far as they go.
    pub fn apply_to(&self, logits: &mut [f32]) {
        let (known, padding) = logits.split_at_mut(self.len.min(logits.len()));
        for (word, logits) in self.words.iter().zip(known.chunks_mut(32)) {
            if *word == u32::MAX {
                continue;
            }
            for (bit, logit) in logits.iter_mut().enumerate() {
                if word >> bit & 1 == 0 {
                    *logit = f32::NEG_INFINITY;
                }
            }
        }
        padding.fill(f32::NEG_INFINITY);
    }

    fn clear_tail(&mut self) {
        let used = self.len % 32;
        if used != 0
            && let Some(last) = self.words.last_mut()
        {
            *last &= (1 << used) - 1;
        }
    }
}

impl fmt::Debug for TokenMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 16;
        let shown: Vec<TokenId> = self.iter().take(SHOWN).collect();
        write!(f, "TokenMask({} of {}: {shown:?}", self.count(), self.len)?;
        if self.count() > SHOWN {
            f.write_str(" …")?;
        }
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_is_bit_t_mod_32_of_word_t_div_32() {
        let mut mask = TokenMask::none(70);
        for token in [0, 31, 32, 69] {
            assert!(mask.allow(token));
        }
        assert!(!mask.allow(70), "past the vocabulary");
        assert_eq!(mask.words(), [1 | 1 << 31, 1, 1 << 5]);
        assert_eq!(mask.iter().collect::<Vec<_>>(), [0, 31, 32, 69]);
        assert_eq!(mask.count(), 4);
        mask.forbid(31);
        mask.forbid(1_000);
        assert!(!mask.allows(31) && !mask.allows(1_000) && mask.allows(69));
    }

    #[test]
    fn tail_bits_are_zero() {
        for len in [0, 1, 31, 32, 33, 64, 100] {
            assert_eq!(TokenMask::all(len).count(), len);
            let mask = TokenMask::from_words(&[u32::MAX; 8], len);
            assert_eq!(mask, TokenMask::all(len));
            assert_eq!(mask.words().len(), len.div_ceil(32));
        }
        assert!(TokenMask::from_words(&[], 40).allows_none(), "missing words are zero");
        let mut mask = TokenMask::none(40);
        mask.fill_words(|words| words.fill(u32::MAX));
        assert_eq!(mask, TokenMask::all(40));
    }

    #[test]
    fn forbidden_tokens_lose_their_logits() {
        let mut mask = TokenMask::none(70);
        for token in (0..32).chain([33, 69]) {
            mask.allow(token);
        }
        for count in [0, 20, 33, 70, 80] {
            let mut logits = vec![1.5; count];
            mask.apply_to(&mut logits);
            for (token, logit) in (0..).zip(logits) {
                let expected = if mask.allows(token) { 1.5 } else { f32::NEG_INFINITY };
                assert_eq!(logit, expected, "token {token} of {count}");
            }
        }
    }

    #[test]
    fn single_is_the_only_allowed_token() {
        let mut mask = TokenMask::none(64);
        assert_eq!(mask.single(), None);
        mask.allow(33);
        assert_eq!(mask.single(), Some(33));
        mask.allow(2);
        assert_eq!(mask.single(), None);
    }
}
