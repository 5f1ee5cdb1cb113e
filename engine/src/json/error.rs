//! Errors of texts that are no JSON for this crate.

use crate::{CompileError, CompileErrorKind};

/// A defect of a JSON text, and where it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}: {message}")]
pub(crate) struct ParseError {
    pub kind: ParseErrorKind,
    /// Byte offset in the text.
    pub offset: usize,
    /// JSON Pointer to the value in which the defect shows.
    pub pointer: String,
    pub message: String,
}

/// The ways in which reading a JSON text fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParseErrorKind {
    /// The text is not JSON (RFC 8259).
    Syntax,
    /// An object has two members of one name: which of them counts is anyone's guess.
    DuplicateName,
    /// A limit was reached.
    Limit,
}

impl From<ParseErrorKind> for CompileErrorKind {
    fn from(kind: ParseErrorKind) -> Self {
        match kind {
            ParseErrorKind::Syntax | ParseErrorKind::DuplicateName => Self::Malformed,
            ParseErrorKind::Limit => Self::LimitExceeded,
        }
    }
}

impl From<ParseError> for CompileError {
    fn from(error: ParseError) -> Self {
        Self::new(error.kind.into(), error.to_string()).at(error.pointer)
    }
}
