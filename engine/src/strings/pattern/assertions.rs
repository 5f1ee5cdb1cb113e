//! Boundaries of words as lookarounds.

use crate::strings::charset::CharSet;
use crate::strings::pattern::ast::{Ast, AstForm, AstId};

/// Whether a character of words stands before a place, and behind it: lookarounds that all boundaries of a pattern share, because
/// lookbehinds are few.
#[derive(Clone, Copy)]
pub(super) struct WordSides {
    pub(super) before: AstId,
    pub(super) not_before: AstId,
    pub(super) behind: AstId,
    pub(super) not_behind: AstId,
}

impl WordSides {
    /// The lookarounds for words of the characters of `word`.
    pub(super) fn new(ast: &mut Ast, word: &CharSet) -> Self {
        Self {
            before: ast.look(true, false, word.clone()),
            not_before: ast.look(true, true, word.clone()),
            behind: ast.look(false, false, word.clone()),
            not_behind: ast.look(false, true, word.clone()),
        }
    }

    /// `\b`, or `\B` if negated.
    pub(super) fn boundary(self, ast: &mut Ast, negated: bool) -> AstId {
        let (start, end) = match negated {
            true => ([self.before, self.behind], [self.not_before, self.not_behind]),
            false => ([self.before, self.not_behind], [self.not_before, self.behind]),
        };
        let parts = [start, end].map(|both| ast.add(AstForm::Concat(both.to_vec())));
        ast.add(AstForm::Alternatives(parts.to_vec()))
    }

    /// The beginning of a word.
    pub(super) fn start(self, ast: &mut Ast) -> AstId {
        ast.add(AstForm::Concat(vec![self.not_before, self.behind]))
    }

    /// The end of a word.
    pub(super) fn end(self, ast: &mut Ast) -> AstId {
        ast.add(AstForm::Concat(vec![self.before, self.not_behind]))
    }
}
