//! Bounds on the size of expressions, states and searches that untrusted patterns may cause.

use crate::Limits;

/// Resources that a [`super::Languages`] may spend before it answers with [`LimitReached`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LanguageLimits {
    /// Cells held by expressions and cached transitions together; a cell is a child or a range, up to 12 bytes.
    pub(crate) cells: usize,
    /// Maximal number of distinct states visited by one analysis (emptiness, lengths, cardinality).
    pub(crate) states: usize,
    /// Bytes of one pattern.
    pub(crate) pattern_bytes: usize,
    /// Groups and lookarounds inside one another in one pattern.
    pub(crate) pattern_nesting: usize,
    /// Copies of subexpressions that one pattern may be unrolled to: only repetitions of assertions are.
    pub(crate) pattern_steps: usize,
}

impl From<&Limits> for LanguageLimits {
    fn from(limits: &Limits) -> Self {
        Self {
            cells: limits.language_cells,
            states: limits.language_states,
            pattern_bytes: limits.pattern_bytes,
            pattern_nesting: limits.pattern_depth,
            pattern_steps: limits.pattern_steps,
        }
    }
}

impl Default for LanguageLimits {
    fn default() -> Self {
        Self::from(&Limits::default())
    }
}

/// A bound of [`LanguageLimits`] was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the strings of this schema need more than {allowed} {what}")]
pub(crate) struct LimitReached {
    /// The kind of thing of which there would be too many.
    pub(crate) what: &'static str,
    /// The largest number allowed.
    pub(crate) allowed: usize,
}
