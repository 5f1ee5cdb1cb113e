//! [`KeyCell`]: an equivalence class of keys that no atom of a formula distinguishes.

use crate::automaton::formula::texts::TextId;
use crate::strings::LanguageId;

/// A cell of keys that no atom mentions by themselves, that have not been used, and that are in the same languages of
/// the formula's atoms. A cell of all keys but listed ones may have used keys, too.
#[derive(Clone, Debug)]
pub(crate) struct KeyCell {
    /// The languages of atoms that contain the keys.
    pub(crate) within: Vec<LanguageId>,
    /// The keys of the cell.
    pub(crate) names: CellKeys,
    /// Number of keys in the cell; `None` if it cannot run out.
    pub(crate) left: Option<u64>,
}

/// A set of keys in one of three representations.
#[derive(Clone, Debug)]
pub(crate) enum CellKeys {
    /// Exactly these keys.
    These(Vec<TextId>),
    /// All keys but these.
    AllBut(Vec<TextId>),
    /// The texts of a language.
    Language(LanguageId),
}

/// A language of keys that is a short list, or the complement of one.
#[derive(Debug)]
pub(crate) struct EnumeratedKeys {
    /// The listed keys, sorted by their ids.
    pub(crate) names: Box<[TextId]>,
    /// Whether the listed keys are those outside of the language.
    pub(crate) excludes: bool,
}

impl EnumeratedKeys {
    /// Whether a key is in the language.
    pub(crate) fn has(&self, name: TextId) -> bool {
        self.names.binary_search(&name).is_ok() != self.excludes
    }
}

/// Number of keys up to which a language of keys is listed, so that a look-up costs no derivatives.
pub(crate) const ENUMERATED_KEYS: usize = 1024;
