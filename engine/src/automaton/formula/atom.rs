//! [`AtomKind`]: what is not known of an object or array before it is read.

use crate::automaton::formula::{AssertionId, Atom, TextId};
use crate::strings::LanguageId;
use hashbrown::HashMap;
use std::hash::Hash;

/// A property of the members or items *still to come*, so that reading one turns atoms into other atoms and a position
/// never needs to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AtomKind {
    /// There will be a member of this name.
    Has(TextId),
    /// Every member with such a name satisfies the assertion.
    Members(Keys, AssertionId),
    /// There will be at least so many members (1 or more).
    CountAtLeast(u64),
    /// Every item satisfies the assertion from the first number on and before the second, counted from the next item.
    Items {
        /// Number of items before the range.
        from: u64,
        /// End of the range; none for all that follow.
        to: Option<u64>,
        /// The assertion.
        assertion: AssertionId,
    },
    /// There will be at least so many items (1 or more).
    LengthAtLeast(u64),
    /// At least so many items (1 or more) satisfy the assertion.
    Contains(AssertionId, u64),
    /// No two items, of those read and those to come, are equal.
    Unique,
}

impl AtomKind {
    /// What it comes to where nothing follows any more.
    pub(crate) fn at_end(&self) -> bool {
        matches!(self, Self::Members(..) | Self::Items { .. } | Self::Unique)
    }
}

/// Keys of members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Keys {
    /// One name.
    Name(TextId),
    /// All names in a language.
    Language(LanguageId),
}

/// The atoms of one compilation.
#[derive(Debug, Default)]
pub(crate) struct Atoms {
    kinds: Vec<AtomKind>,
    ids: HashMap<AtomKind, Atom>,
}

impl Atoms {
    /// The atom of that kind.
    pub(crate) fn intern(&mut self, kind: AtomKind) -> Atom {
        *self.ids.entry(kind).or_insert_with(|| {
            self.kinds.push(kind);
            Atom(self.kinds.len() as u32 - 1)
        })
    }

    /// What an atom says.
    pub(crate) fn kind(&self, atom: Atom) -> AtomKind {
        self.kinds[atom.0 as usize]
    }
}
