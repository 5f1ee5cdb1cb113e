//! ECMA-262 regular expressions as languages of the texts in which they find a match.

mod ast;
mod compile;
pub(super) mod error;
mod escapes;
mod parse;
mod reader;

#[cfg(test)]
pub(super) use ast::{Ast, AstForm, AstId};

use crate::strings::expr::arena::Arena;
use crate::strings::language_id::LanguageId;
use crate::strings::limits::LanguageLimits;
use crate::strings::pattern::error::PatternError;

/// The texts in which `source` finds a match.
pub(super) fn compile(arena: &mut Arena, source: &str, limits: &LanguageLimits) -> Result<LanguageId, PatternError> {
    let (ast, whole) = parse::parse(source, limits)?;
    compile::PatternCompiler::new(arena, &ast, limits)?.search(whole)
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
