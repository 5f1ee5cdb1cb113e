//! [`KeyCell`]: keys that are alike to all atoms of a formula.

use crate::automaton::formula::texts::TextId;
use crate::strings::LanguageId;

/// Keys that no atom names and that have not been used, alike to all atoms.
#[derive(Clone, Debug)]
pub(crate) struct KeyCell {
    /// The languages of atoms that they are in.
    pub(crate) within: Vec<LanguageId>,
    /// The keys.
    pub(crate) names: CellKeys,
    /// How many there are; none where they never run out.
    pub(crate) left: Option<u64>,
}

/// A set of keys.
#[derive(Clone, Debug)]
pub(crate) enum CellKeys {
    /// These.
    These(Vec<TextId>),
    /// All but these.
    AllBut(Vec<TextId>),
    /// The texts of a language.
    Language(LanguageId),
}

/// A language of keys that is a list, or all but one.
#[derive(Debug)]
pub(crate) struct EnumeratedKeys {
    /// Sorted.
    pub(crate) names: Box<[TextId]>,
    /// Whether the keys listed are those outside of it.
    pub(crate) excludes: bool,
}

impl EnumeratedKeys {
    /// Whether a key is in the language.
    pub(crate) fn has(&self, name: TextId) -> bool {
        self.names.binary_search(&name).is_ok() != self.excludes
    }
}

/// Keys of a language that are listed.
pub(crate) const ENUMERATED_KEYS: usize = 1024;
