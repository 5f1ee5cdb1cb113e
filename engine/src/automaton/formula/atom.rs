//! [`AtomKind`]: the atoms of formulas: elementary conditions on the unread members of an object or items of an array.

use crate::automaton::formula::{AssertionId, Atom, TextId};
use crate::automaton::memory::{list_bytes, table_bytes};
use crate::strings::LanguageId;
use hashbrown::HashMap;
use std::hash::Hash;

/// An elementary property of the members or items *still to come*. Positions are counted from the next item, so reading
/// an item turns an atom into another, and no separate position is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AtomKind {
    /// A member with this key will come.
    Has(TextId),
    /// Every member whose key is among these satisfies the assertion.
    Members(Keys, AssertionId),
    /// At least this many members will come (1 or more).
    CountAtLeast(u64),
    /// Every item of a range satisfies the assertion. Positions are counted from the next item.
    Items {
        /// Number of items before the range.
        from: u64,
        /// The end of the range, exclusive; `None` if it covers all items that follow.
        to: Option<u64>,
        /// The assertion that the items satisfy.
        assertion: AssertionId,
    },
    /// At least this many items will come (1 or more).
    LengthAtLeast(u64),
    /// At least this many items (1 or more) satisfy the assertion.
    Contains(AssertionId, u64),
    /// No two items are equal, counting those already read.
    Unique,
    /// The value of the member or item being read satisfies the assertion at this index of those it is judged by. Such
    /// atoms occur only while it is worked out which verdicts are admitted, never in the formulas of a state.
    Verdict(u32),
}

impl AtomKind {
    /// Whether the atom speaks of the members of an object, and not of the items of an array.
    pub(crate) fn is_of_objects(&self) -> bool {
        matches!(self, Self::Has(_) | Self::Members(..) | Self::CountAtLeast(_))
    }

    /// The atom's truth value if the container ends here.
    pub(crate) fn at_end(&self) -> bool {
        matches!(self, Self::Members(..) | Self::Items { .. } | Self::Unique)
    }
}

/// The keys that an [`AtomKind::Members`] atom speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Keys {
    /// A single key.
    Name(TextId),
    /// All keys in a language.
    Language(LanguageId),
}

/// All atoms of one compiled schema, each stored once.
#[derive(Debug, Default)]
pub(crate) struct Atoms {
    kinds: Vec<AtomKind>,
    ids: HashMap<AtomKind, Atom>,
}

impl Atoms {
    /// The atom of a kind, which is added if it is new.
    pub(crate) fn intern(&mut self, kind: AtomKind) -> Atom {
        *self.ids.entry(kind).or_insert_with(|| {
            self.kinds.push(kind);
            Atom(self.kinds.len() as u32 - 1)
        })
    }

    /// Bytes of memory that the atoms take.
    pub(crate) fn memory(&self) -> usize {
        list_bytes(&self.kinds) + table_bytes(&self.ids)
    }

    /// The kind of an atom.
    pub(crate) fn kind(&self, atom: Atom) -> AtomKind {
        self.kinds[atom.0 as usize]
    }
}
