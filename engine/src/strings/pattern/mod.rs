//! Regular expressions of `pattern`, compiled to the language of the texts in which they find a match.
//!
//! The dialect is ECMA-262 and, unless [`PatternSyntax`] says otherwise, also syntax that is an error there and
//! has one meaning in Go, Python, Rust and PCRE; [`PatternSyntax`] may also ask for the dialect of Rust or Python. All dialects are parsed
//! to one syntax tree, in which classes are sets of characters and assertions are lookarounds.

mod assertions;
mod ast;
mod compile;
pub(super) mod error;
mod escapes;
mod flags;
mod foreign;
mod parse;
mod python;
mod python_items;
mod reader;
mod rust;
mod syntax;

#[cfg(test)]
pub(super) use ast::{Ast, AstForm, AstId};

use crate::strings::expr::arena::Arena;
use crate::strings::language_id::LanguageId;
use crate::strings::limits::LanguageLimits;
use crate::strings::pattern::error::PatternError;

pub use syntax::PatternSyntax;

/// The texts in which `source` finds a match.
pub(super) fn compile(
    arena: &mut Arena,
    source: &str,
    syntax: PatternSyntax,
    limits: &LanguageLimits,
) -> Result<LanguageId, PatternError> {
    let (ast, whole) = parse::parse(source, syntax, limits)?;
    compile::PatternCompiler::new(arena, &ast, limits)?.search(whole)
}

/// Whether `source` can be read by `syntax`, whatever it means.
///
/// # Errors
///
/// [`PatternError`], where it cannot. [`PatternError::Unsupported`] is a pattern that can be read and not treated.
pub(crate) fn check(source: &str, syntax: PatternSyntax, limits: &LanguageLimits) -> Result<(), PatternError> {
    parse::parse(source, syntax, limits).map(|_| ())
}

/// Whether `source` says something of the text around what it matches: with anchors, word boundaries, lookaheads or lookbehinds.
///
/// # Errors
///
/// [`PatternError`], where `source` cannot be read by `syntax`.
pub(crate) fn asserts(source: &str, syntax: PatternSyntax, limits: &LanguageLimits) -> Result<bool, PatternError> {
    parse::parse(source, syntax, limits).map(|(ast, whole)| ast.asserts(whole))
}

/// Whether `source` is read by the grammar with the `u` flag alone.
#[cfg(test)]
pub(super) fn read_strictly(source: &str) -> Result<(), PatternError> {
    parse::read_strictly(source, &LanguageLimits::default())
}

/// The parsed form of `source`, for tests that match by other means.
#[cfg(test)]
pub(super) fn parse(source: &str, limits: &LanguageLimits) -> Result<(Ast, AstId), PatternError> {
    parse_by(source, PatternSyntax::Common, limits)
}

/// The parsed form of `source` in a dialect, for tests that match by other means.
#[cfg(test)]
pub(super) fn parse_by(
    source: &str,
    syntax: PatternSyntax,
    limits: &LanguageLimits,
) -> Result<(Ast, AstId), PatternError> {
    parse::parse(source, syntax, limits)
}
