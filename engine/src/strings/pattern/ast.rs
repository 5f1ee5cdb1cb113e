//! Syntax tree of regular expressions, shared by all dialects.

use crate::strings::charset::CharSet;

/// Index of an expression in an [`Ast`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AstId(pub(super) u32);

impl AstId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A form of an expression.
#[derive(Clone, Debug)]
pub(crate) enum AstForm {
    Empty,
    Class(CharSet),
    Concat(Vec<AstId>),
    Alternatives(Vec<AstId>),
    Repeat {
        inner: AstId,
        min: u64,
        max: u64,
    },
    /// `^`
    Start,
    /// `$`
    End,
    /// `\b`, or `\B` if negated.
    WordBoundary {
        negated: bool,
    },
    /// `(?=…)`, `(?!…)`, `(?<=…)`, `(?<!…)`
    Look {
        behind: bool,
        negated: bool,
        inner: AstId,
    },
}

/// The expressions of one pattern. Children come before parents.
#[derive(Debug, Default)]
pub(crate) struct Ast {
    forms: Vec<AstForm>,
    /// Whether an expression contains an assertion.
    asserts: Vec<bool>,
}

impl Ast {
    pub(super) fn add(&mut self, form: AstForm) -> AstId {
        let asserts = match &form {
            AstForm::Empty | AstForm::Class(_) => false,
            AstForm::Concat(parts) | AstForm::Alternatives(parts) => parts.iter().any(|&part| self.asserts(part)),
            AstForm::Repeat { inner, .. } => self.asserts(*inner),
            AstForm::Start | AstForm::End | AstForm::WordBoundary { .. } | AstForm::Look { .. } => true,
        };
        let id = AstId(self.forms.len() as u32);
        self.forms.push(form);
        self.asserts.push(asserts);
        id
    }

    /// A lookaround at one character of `set`.
    pub(super) fn look(&mut self, behind: bool, negated: bool, set: CharSet) -> AstId {
        let inner = self.add(AstForm::Class(set));
        self.add(AstForm::Look { behind, negated, inner })
    }

    pub(crate) fn form(&self, id: AstId) -> &AstForm {
        &self.forms[id.0 as usize]
    }

    pub(crate) fn asserts(&self, id: AstId) -> bool {
        self.asserts[id.0 as usize]
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = AstId> + use<> {
        (0..self.forms.len() as u32).map(AstId)
    }
}
