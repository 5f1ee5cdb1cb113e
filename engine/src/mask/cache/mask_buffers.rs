//! [`MaskBuffers`]: bit masks into which a masker draws token sets; [`BufferPool`]: buffers that no masker uses.

use std::sync::{Arc, Mutex};

use crate::mask::index::base_sets::BaseSets;
use crate::{TokenId, TokenMask};

use super::bounded::lock;
use super::token_set::{Base, TokenSet};

/// Masks that one masker draws on, of 25 KB each in a vocabulary of 200,000 tokens.
const MAX_BUFFERS: usize = 16;
/// Masks of former maskers that are kept for others: as many sets as maskers are likely to begin at once.
const MAX_POOLED: usize = 8;

/// The masks that a masker draws on.
#[derive(Debug, Default)]
pub(crate) struct MaskBuffers {
    /// The buffers, by last use: the most recent one is last.
    buffers: Vec<MaskBuffer>,
}

/// Mask buffers that no masker uses, with the sets drawn on them last: a new masker mostly draws the like.
#[derive(Debug, Default)]
pub(crate) struct BufferPool(Mutex<Vec<MaskBuffers>>);

impl BufferPool {
    /// Takes buffers out of the pool, or makes new ones.
    pub(crate) fn take(&self) -> MaskBuffers {
        lock(&self.0).pop().unwrap_or_default()
    }

    /// Puts the buffers of a masker that has ended into the pool.
    pub(crate) fn put_back(&self, buffers: MaskBuffers) {
        let mut buffer_pool = lock(&self.0);
        if buffer_pool.len() < MAX_POOLED && !buffers.buffers.is_empty() {
            buffer_pool.push(buffers);
        }
    }
}

/// A mask, and the set that is drawn on it.
#[derive(Debug)]
struct MaskBuffer {
    mask: TokenMask,
    base: Base,
    drawn: Option<Arc<TokenSet>>,
}

impl MaskBuffers {
    /// The mask of a set, over a vocabulary of `len` tokens.
    pub(crate) fn draw(&mut self, tokens: &Arc<TokenSet>, sets: &BaseSets, len: usize) -> &TokenMask {
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
    /// Draws a set over the one drawn before, but for the tokens that both have in common.
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
    use crate::mask::index::base_sets::Words;

    /// A buffer shows the set drawn last, whatever was drawn before.
    #[test]
    fn drawings_leave_no_trace() {
        let len = 100;
        let any: Words = vec![0xFFFF, 0, 7, 0].into();
        let up_to: Words = vec![0xFF, 0, 0, 0].into();
        let sets = BaseSets {
            spaces: vec![0, 0, 0, 1].into(),
            digits: vec![0, 0, 0, 3].into(),
            nonzero_digits: vec![0, 0, 0, 1].into(),
            any_or_quote: any.clone(),
            names: any.clone(),
            whole: any.clone(),
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
            let mut words = vec![u32::MAX; len.div_ceil(32)];
            tokens.write(&mut words, &sets);
            assert_eq!(words, fresh.words());
        }
        let mask = buffers.draw(&drawings[4], &sets, len);
        assert_eq!(mask.count(), 16 + 3 - 2 + 1);
        assert!(!mask.allows(0) && mask.allows(1) && !mask.allows(65) && mask.allows(99));
    }
}
