//! [`SuffixSet`]: a set of token suffixes, such as those allowed behind a closing quote at a state.

use std::ops::{Index, Range};

use smallvec::SmallVec;

/// A set of suffixes, by their numbers. Vocabularies mostly have so few of them that a set is a word.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct SuffixSet(SmallVec<[u64; 2]>);

impl SuffixSet {
    /// An empty set of so many suffixes.
    pub(crate) fn none(len: usize) -> Self {
        Self(SmallVec::from_elem(0, len.div_ceil(64)))
    }

    /// A set of the suffixes for which this is true, in their order.
    pub(crate) fn of(suffixes: impl ExactSizeIterator<Item = bool>) -> Self {
        let mut set = Self::none(suffixes.len());
        for (suffix, is_in) in suffixes.enumerate() {
            set.put(suffix, is_in);
        }
        set
    }

    /// Puts a suffix in, or takes it out.
    pub(crate) fn put(&mut self, suffix: usize, is_in: bool) {
        let bit = 1 << (suffix % 64);
        match is_in {
            true => self.0[suffix / 64] |= bit,
            false => self.0[suffix / 64] &= !bit,
        }
    }

    /// Puts all suffixes of a range in.
    pub(crate) fn put_all(&mut self, suffixes: Range<usize>) {
        for suffix in suffixes {
            self.put(suffix, true);
        }
    }

    /// The suffixes of both sets, which are of as many.
    pub(crate) fn both(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(one, other)| one & other).collect())
    }

    /// The suffixes of this set that are not in another, which is of as many.
    pub(crate) fn but(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(one, other)| one & !other).collect())
    }

    /// Bytes that the set takes.
    pub(crate) fn bytes(&self) -> usize {
        8 * self.0.len() + 16
    }
}

impl Index<usize> for SuffixSet {
    type Output = bool;

    fn index(&self, suffix: usize) -> &bool {
        match self.0[suffix / 64] >> (suffix % 64) & 1 {
            0 => &false,
            _ => &true,
        }
    }
}
