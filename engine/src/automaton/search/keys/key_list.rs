//! [`NextKeys`]: the set of keys that may come next in an object, as a list ([`KeyList`]), its complement or a language.

use crate::automaton::formula::TextId;
use crate::strings::LanguageId;
use std::hash::Hash;

/// The keys that may come next, or the texts that may follow the part of a key that has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum NextKeys {
    /// No key may come.
    None,
    /// Some key may come, but which ones has not been worked out: nothing of the key has been read yet.
    Unopened,
    /// Any key that has not been seen and for which a member is possible.
    Any,
    /// The keys of a list, or all others if the list excludes its keys.
    Listed(KeyListId),
    /// The keys of a list that have not been seen.
    Of(KeyListId),
    /// The texts of a language except those that complete a key already seen. All keys seen belong to the language.
    In(LanguageId),
    /// The texts of a language.
    Language(LanguageId),
}

/// The number of a [`KeyList`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct KeyListId(pub(crate) u32);

/// A list of keys that may come, or that may not.
#[derive(Debug)]
pub(crate) struct KeyList {
    /// The keys, sorted by their characters.
    pub(crate) names: Box<[TextId]>,
    /// Whether the listed keys are those that may not come.
    pub(crate) excludes: bool,
    /// Bit `n` is set if a listed key begins with the ASCII character `n`.
    pub(crate) firsts: u128,
}

impl KeyList {
    /// Whether a listed key begins with this ASCII character.
    pub(crate) fn has_first(&self, first: u8) -> bool {
        self.firsts >> first & 1 == 1
    }
}
