//! [`NextKeys`]: the keys that may come next; [`KeyList`]: a list of keys.

use crate::automaton::formula::TextId;
use crate::strings::LanguageId;
use std::hash::Hash;

/// The keys that may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum NextKeys {
    /// None.
    None,
    /// Some, which have not been looked at yet: nothing has been read of the key.
    Unopened,
    /// Any that has not come and of which a member can come.
    Any,
    /// By a list, whatever has been read of the key.
    Listed(KeyListId),
    /// Those of a list that have not been seen.
    Of(KeyListId),
    /// Those of a language that have not been seen: what may follow, were it not for these. All keys seen are of it.
    In(LanguageId),
    /// By a language: what may follow.
    Language(LanguageId),
}

/// A [`KeyList`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct KeyListId(pub(crate) u32);

/// The keys of a list, or all others.
#[derive(Debug)]
pub(crate) struct KeyList {
    /// Sorted by their characters.
    pub(crate) names: Box<[TextId]>,
    /// Whether the keys listed are those that may not come.
    pub(crate) excludes: bool,
    /// The characters of ASCII that they begin with, as bits.
    pub(crate) firsts: u128,
}

impl KeyList {
    /// Whether one of them begins with a character of ASCII.
    pub(crate) fn has_first(&self, first: u8) -> bool {
        self.firsts >> first & 1 == 1
    }
}
