//! ECMA-262 regular expressions as languages of the texts in which they find a match.

mod ast;
mod compile;
mod escapes;
mod parse;
mod unicode;

#[cfg(test)]
pub(super) use ast::{Ast, AstId, Form};
pub(super) use escapes::SPACES;
pub(super) use unicode::{is_name_part, is_name_start, name_parts, property, property_endings};

use super::limits::{LanguageLimits, LimitReached};
use super::node::{Arena, LanguageId};

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

/// The texts in which `source` finds a match.
pub(super) fn compile(arena: &mut Arena, source: &str, limits: &LanguageLimits) -> Result<LanguageId, PatternError> {
    let (ast, whole) = parse::parse(source, limits)?;
    compile::Compiler::new(arena, &ast, limits)?.search(whole)
}

/// Whether `source` is read by the grammar with the `u` flag alone.
#[cfg(test)]
pub(super) fn read_strictly(source: &str) -> Result<(), PatternError> {
    parse::read_strictly(source, &LanguageLimits::default())
}

/// The parsed form of `source`, for tests that match by other means.
#[cfg(test)]
pub(super) fn parse(source: &str, limits: &LanguageLimits) -> Result<(Ast, AstId), PatternError> {
    parse::parse(source, limits)
}
