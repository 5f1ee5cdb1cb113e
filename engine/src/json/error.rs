//! Errors of texts that are no JSON for this crate.

use crate::{CompileError, CompileErrorKind};

/// A defect of a JSON text, and where it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub(crate) struct ParseError {
    pub kind: ParseErrorKind,
    /// Line of the defect, from 1.
    pub line: usize,
    /// Column of the defect, from 1, in characters.
    pub column: usize,
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

/// Line and column of a byte, both from 1. Columns count characters; a byte within a character has its column.
pub(crate) fn line_and_column(text: &[u8], offset: usize) -> (usize, usize) {
    let before = &text[..offset.min(text.len())];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let is_character = |byte: &&u8| !matches!(byte, 0x80..=0xbf);
    let is_within = text.get(offset).is_some_and(|byte| !is_character(&byte));
    let begun = before[start..].iter().filter(is_character).count();
    (line, (begun + usize::from(!is_within)).max(1))
}
