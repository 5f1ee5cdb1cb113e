//! [`PatternError`]: why a pattern has no language here.

use crate::CompileErrorKind;
use crate::strings::limits::LimitReached;

/// The reason for which a pattern has no language here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PatternError {
    /// The pattern is not a regular expression of its dialect.
    #[error("syntax error at byte {offset} of the pattern: expected {expected}")]
    Syntax {
        /// Byte offset into the pattern.
        offset: usize,
        /// The syntax that was expected.
        expected: &'static str,
    },
    /// The pattern has syntax of other dialects, which ECMA-262 does not have.
    #[error("{what} at byte {offset} of the pattern is no syntax of ECMA-262: {remedy}")]
    Foreign {
        /// Byte offset into the pattern.
        offset: usize,
        /// The syntax that ECMA-262 does not have.
        what: String,
        /// Advice on what to write instead.
        remedy: &'static str,
    },
    /// The pattern is a regular expression whose language is not regular, or is not treated.
    #[error("{what} at byte {offset} of the pattern is not supported")]
    Unsupported {
        /// Byte offset into the pattern.
        offset: usize,
        /// The construct that is not supported.
        what: &'static str,
    },
    /// The pattern cannot be read by the parser of its dialect.
    #[error("byte {offset} of the pattern: {message}")]
    Dialect {
        /// Byte offset into the pattern.
        offset: usize,
        /// The parser's own words.
        message: String,
    },
    /// The pattern is larger than the limits allow.
    #[error("the pattern has more than {allowed} {what}")]
    TooLarge {
        /// The kind of thing of which there is too much.
        what: &'static str,
        /// The largest number allowed.
        allowed: usize,
    },
    /// The pattern's language does not fit beside the others.
    #[error(transparent)]
    Limit(#[from] LimitReached),
}

/// Characters of a pattern that a message quotes at most.
const QUOTED: usize = 120;

impl PatternError {
    /// The kind of the error of compiling a schema with this pattern.
    pub(crate) fn kind(&self) -> CompileErrorKind {
        match self {
            Self::Syntax { .. } | Self::Foreign { .. } | Self::Dialect { .. } => CompileErrorKind::Malformed,
            Self::Unsupported { .. } => CompileErrorKind::Unsupported,
            Self::TooLarge { .. } | Self::Limit(_) => CompileErrorKind::LimitExceeded,
        }
    }

    /// The error, with the text of the pattern it is about before it.
    pub(crate) fn about(&self, source: &str) -> String {
        format!("{}: {self}", quoted(source))
    }
}

/// The beginning of a pattern between quotation marks for messages.
pub(crate) fn quoted(source: &str) -> String {
    match source.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("`{}…`", &source[..end]),
        None => format!("`{source}`"),
    }
}
