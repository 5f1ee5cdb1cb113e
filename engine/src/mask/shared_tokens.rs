//! [`SharedTokens`]: the token index of a vocabulary, and the caches that all schemas over it share.

use crate::mask::cache::mask_buffers::BufferPool;
use crate::mask::cache::shapes::SharedShapes;
use crate::mask::index::tokens::TokenIndex;
use crate::mask::objects::suffixes::SharedSuffixes;
use crate::mask::strings::cache::SharedStringCache;
use crate::mask::tuning::Tuning;
use crate::mask::value_tokens::ValueTokens;
use crate::{Style, Vocabulary};

/// The tokens of a vocabulary in a style, and the caches that are the same in all schemas.
#[derive(Debug)]
pub(crate) struct SharedTokens {
    pub(crate) index: TokenIndex,
    pub(crate) strings: SharedStringCache,
    /// The tokens that begin values.
    pub(crate) value_tokens: SharedShapes<ValueTokens>,
    /// The suffixes that may come behind names and after members.
    pub(crate) suffixes: SharedSuffixes,
    /// Masks to draw on.
    pub(crate) buffers: BufferPool,
}

impl SharedTokens {
    /// Sorts the tokens of a vocabulary, which takes a fraction of a second.
    pub(crate) fn new(vocabulary: &Vocabulary, style: Style, tuning: Tuning) -> Self {
        Self::of(TokenIndex::new(vocabulary, style, tuning))
    }

    /// Bytes that the caches take, roughly.
    pub(crate) fn cache_bytes(&self) -> usize {
        self.strings.bytes() + self.value_tokens.bytes() + self.suffixes.bytes()
    }

    /// Tokens that are sorted.
    pub(crate) fn of(index: TokenIndex) -> Self {
        Self {
            index,
            strings: SharedStringCache::default(),
            value_tokens: SharedShapes::default(),
            suffixes: SharedSuffixes::default(),
            buffers: BufferPool::default(),
        }
    }
}
