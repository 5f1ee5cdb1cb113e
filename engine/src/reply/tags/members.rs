//! Reads members of the JSON of a structural tag: texts, tokens, lists and truth values. Errors name the JSON Pointer of the member.

use crate::json::{Content, Document, NodeIndex};
use crate::{CompileError, CompileErrorKind, TokenId, TokenKind, Vocabulary};

use super::literal::{Literal, Part, SpecialNames, parts};
use super::program::ByteSet;

/// Reads members of the JSON of one structural tag.
#[derive(Clone, Copy)]
pub(super) struct Members<'a> {
    pub(super) document: &'a Document,
    pub(super) vocabulary: &'a Vocabulary,
    pub(super) names: &'a SpecialNames,
    /// The bytes that are tokens by themselves.
    pub(super) bytes: &'a ByteSet,
}

impl<'a> Members<'a> {
    pub(super) fn error(&self, kind: CompileErrorKind, at: NodeIndex, message: impl Into<String>) -> CompileError {
        CompileError::new(kind, message).at(self.document.pointer(at))
    }

    pub(super) fn malformed(&self, at: NodeIndex, message: impl Into<String>) -> CompileError {
        self.error(CompileErrorKind::Malformed, at, message)
    }

    pub(super) fn unsupported(&self, at: NodeIndex, message: impl Into<String>) -> CompileError {
        self.error(CompileErrorKind::Unsupported, at, message)
    }

    /// Fails if an object has a member that is not in `names`.
    pub(super) fn only(&self, object: NodeIndex, names: &[&str]) -> Result<(), CompileError> {
        if !self.document.is_object(object) {
            let found = self.document.content(object).describe();
            return Err(self.malformed(object, format!("an object is needed here, not {found}")));
        }
        match self.document.members(object).find(|(name, _)| !names.contains(name)) {
            Some((name, value)) => {
                let message = format!("`{name}` is none of the members known here: {}", names.join(", "));
                Err(self.unsupported(value, message))
            }
            None => Ok(()),
        }
    }

    pub(super) fn needed(&self, object: NodeIndex, name: &str) -> Result<NodeIndex, CompileError> {
        let found = self.document.member(object, name);
        found.ok_or_else(|| self.malformed(object, format!("`{name}` is missing")))
    }

    pub(super) fn string(&self, node: NodeIndex) -> Result<&'a str, CompileError> {
        self.document.string(node).ok_or_else(|| {
            let found = self.document.content(node).describe();
            self.malformed(node, format!("a string is needed here, not {found}"))
        })
    }

    pub(super) fn items(&self, node: NodeIndex) -> Result<Vec<NodeIndex>, CompileError> {
        match self.document.content(node) {
            Content::Array(_) => Ok(self.document.items(node).collect()),
            other => Err(self.malformed(node, format!("an array is needed here, not {}", other.describe()))),
        }
    }

    pub(super) fn some_items(&self, node: NodeIndex) -> Result<Vec<NodeIndex>, CompileError> {
        let items = self.items(node)?;
        match items.is_empty() {
            true => Err(self.malformed(node, "an array with at least one item is needed here")),
            false => Ok(items),
        }
    }

    /// A truth value; `otherwise` where the member is missing.
    pub(super) fn flag(&self, object: NodeIndex, name: &str, otherwise: bool) -> Result<bool, CompileError> {
        match self.document.member(object, name) {
            None => Ok(otherwise),
            Some(node) => match self.document.content(node) {
                Content::Bool(flag) => Ok(flag),
                other => Err(self.malformed(node, format!("a boolean is needed here, not {}", other.describe()))),
            },
        }
    }

    /// Fails unless a member is missing or null.
    pub(super) fn no_limit(&self, object: NodeIndex, name: &str) -> Result<(), CompileError> {
        match self.document.member(object, name) {
            Some(node) if self.document.content(node) != Content::Null => {
                let message = format!("`{name}` is not treated: leave it out, and limit the tokens of the whole reply");
                Err(self.unsupported(node, message))
            }
            _ => Ok(()),
        }
    }

    /// Reads a fixed text of replies, which the vocabulary's tokens must be able to spell.
    pub(super) fn text(&self, node: NodeIndex) -> Result<Literal, CompileError> {
        self.literal(self.string(node)?, node)
    }

    /// Encodes a fixed text of replies; fails, with the JSON Pointer of `node`, where the vocabulary's tokens cannot spell it.
    pub(super) fn literal(&self, text: &str, node: NodeIndex) -> Result<Literal, CompileError> {
        let literal = self.names.literal(text);
        let is_spelled = parts(&literal.bytes).all(|part| match part {
            Part::Token(_) => true,
            Part::Text(text) => {
                text.iter().all(|byte| self.bytes.contains(*byte)) || self.vocabulary.spell(text).is_some()
            }
        });
        match is_spelled {
            true => Ok(literal),
            false => Err(self.unsupported(node, "the vocabulary has no tokens that spell this text")),
        }
    }

    /// Reads a text to search for, such as a trigger, which must not be empty.
    pub(super) fn some_text(&self, node: NodeIndex) -> Result<Literal, CompileError> {
        match self.string(node)?.is_empty() {
            true => Err(self.malformed(node, "a string with at least one character is needed here")),
            false => Ok(self.names.literal(self.string(node)?)),
        }
    }

    /// The texts of an optional member, none of which is empty.
    pub(super) fn texts(&self, object: NodeIndex, name: &str) -> Result<Vec<Literal>, CompileError> {
        let list = self.document.member(object, name).map(|list| self.items(list));
        let list = list.transpose()?.unwrap_or_default();
        list.into_iter().map(|item| self.some_text(item)).collect()
    }

    /// A token by its id, by the name of a special token, or by its text.
    pub(super) fn token(&self, node: NodeIndex) -> Result<Literal, CompileError> {
        let token = match self.document.content(node) {
            Content::Number(digits) => {
                let token: Option<TokenId> = digits.parse().ok();
                token.filter(|token| (*token as usize) < self.vocabulary.len())
            }
            Content::String(name) => {
                let special = self.names.token(name);
                special.or_else(|| self.vocabulary.token_of(name.as_bytes()))
            }
            other => {
                let message = format!("a token's id or text is needed here, not {}", other.describe());
                return Err(self.malformed(node, message));
            }
        };
        let known = token.map(|token| (token, self.vocabulary.kind(token)));
        let is_there = |(token, kind): &(TokenId, TokenKind)| match kind {
            TokenKind::Special => true,
            TokenKind::Text => !self.vocabulary.token_bytes(*token).is_empty(),
            TokenKind::Unused => false,
        };
        match known.filter(is_there) {
            Some((token, kind)) => Ok(Literal::token(token, kind)),
            None => Err(self.malformed(node, "the vocabulary has no such token")),
        }
    }

    /// The tokens of an optional member.
    pub(super) fn tokens(&self, object: NodeIndex, name: &str) -> Result<Vec<Literal>, CompileError> {
        let list = self.document.member(object, name).map(|list| self.items(list));
        let list = list.transpose()?.unwrap_or_default();
        list.into_iter().map(|item| self.token(item)).collect()
    }
}
