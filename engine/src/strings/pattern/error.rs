//! [`PatternError`]: why a pattern has no language here.

use crate::strings::limits::LimitReached;

/// Why a pattern has no language here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PatternError {
    /// It is not an ECMA-262 regular expression.
    #[error("syntax error at byte {offset} of the pattern: expected {expected}")]
    Syntax {
        /// Byte offset into the pattern.
        offset: usize,
        /// What could have stood there.
        expected: &'static str,
    },
    /// It is one, but its language is not regular or not treated.
    #[error("{what} at byte {offset} of the pattern is not supported")]
    Unsupported {
        /// Byte offset into the pattern.
        offset: usize,
        /// What is not supported.
        what: &'static str,
    },
    /// It is larger than the limits allow.
    #[error("the pattern has more than {allowed} {what}")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much is allowed.
        allowed: usize,
    },
    /// Its language does not fit beside the others.
    #[error(transparent)]
    Limit(#[from] LimitReached),
}
