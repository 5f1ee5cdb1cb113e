//! [`AutomatonError`]: why the automaton could not answer.

use crate::limits::Exceeded;
use crate::{CompileError, CompileErrorKind};

/// The reason why the automaton could not answer.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum AutomatonError {
    /// A limit was reached.
    #[error(transparent)]
    Limit(#[from] Exceeded),
    /// A limit of strings or numbers was reached.
    #[error("{0}")]
    Reached(String),
    /// A query came up that has to be answered first. Only the search uses this error, and catches it itself.
    #[error("a query is open")]
    Pending,
    /// A subschema uses something that is not supported or malformed.
    #[error(transparent)]
    Schema(#[from] CompileError),
}

impl From<crate::strings::LimitReached> for AutomatonError {
    fn from(error: crate::strings::LimitReached) -> Self {
        Self::Reached(error.to_string())
    }
}

impl From<crate::decimal::NumberLimitReached> for AutomatonError {
    fn from(error: crate::decimal::NumberLimitReached) -> Self {
        Self::Reached(error.to_string())
    }
}

impl From<AutomatonError> for CompileError {
    fn from(error: AutomatonError) -> Self {
        match error {
            AutomatonError::Schema(error) => error,
            other => Self::new(CompileErrorKind::LimitExceeded, other.to_string()),
        }
    }
}

/// Turns an error of strings or numbers into a compile error where no location in the schema is known.
pub(super) fn limit_error(error: impl Into<AutomatonError>) -> CompileError {
    error.into().into()
}

/// Checks that a count is within a limit.
///
/// # Errors
///
/// [`AutomatonError::Limit`], if the count exceeds `allowed`.
pub(crate) fn check_limit(
    count: usize,
    (limit, allowed): (&'static str, usize),
    what: &'static str,
) -> Result<(), AutomatonError> {
    match count > allowed {
        true => Err(Exceeded { limit, what, allowed }.into()),
        false => Ok(()),
    }
}
