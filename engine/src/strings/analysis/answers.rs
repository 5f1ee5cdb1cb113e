//! Types of the results of analyses, as they are memoised.

use std::sync::Arc;

use crate::strings::lengths::Lengths;

/// The answer, as far as it is known, to whether a language is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::strings) enum Emptiness {
    #[default]
    Unknown,
    Empty,
    Inhabited,
}

/// The number of texts of a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cardinality {
    /// Exactly so many.
    Finite(u64),
    /// At least as many as were asked about, but not without end as far as is known.
    AtLeast(u64),
    /// Infinitely many texts.
    Infinite,
}

/// `None` where the set is too irregular to be kept, which is then not asked again.
pub(in crate::strings) type KnownLengths = Option<Arc<Lengths>>;

/// The lengths up to which a language and its [over-approximation](super::over_approximation) agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Horizon {
    /// Characters of a text.
    pub(crate) characters: u64,
    /// Stretches of blanks in the text: the number of words that it can have.
    pub(crate) blanks: u64,
    /// Octets of the text in UTF-8.
    pub(crate) octets: u64,
}

impl Horizon {
    /// Returns the larger bound of two horizons, quantity by quantity.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            characters: self.characters.max(other.characters),
            blanks: self.blanks.max(other.blanks),
            octets: self.octets.max(other.octets),
        }
    }
}

/// A hash that identifies an expression in all schemas.
pub(crate) type Fingerprint = u128;
