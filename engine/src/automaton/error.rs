//! [`AutomatonError`]: what can go wrong when the automaton is asked something.

use crate::limits::Exceeded;
use crate::{CompileError, CompileErrorKind};

/// What can go wrong when the automaton is asked something.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum AutomatonError {
    /// A limit was reached.
    #[error(transparent)]
    Limit(#[from] Exceeded),
    /// A limit of strings or numbers was reached.
    #[error("{0}")]
    Reached(String),
    /// A query came up that has to be answered first. Never leaves [`queries`].
    #[error("a query is open")]
    Pending,
    /// A subschema cannot be treated.
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

/// A limit of strings or numbers, where no place in the schema is at hand.
pub(super) fn limit_error(error: impl Into<AutomatonError>) -> CompileError {
    error.into().into()
}

/// Whether a count is within a limit.
///
/// # Errors
///
/// [`AutomatonError::Limit`], where it is not.
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
