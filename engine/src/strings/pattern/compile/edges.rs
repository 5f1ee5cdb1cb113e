//! The edges of texts: which texts of a language begin with one of some characters, end in one, or are not empty.

use std::rc::Rc;

use crate::strings::charset::CharSet;
use crate::strings::expr::arena::Arena;
use crate::strings::expr::expression::Expr;
use crate::strings::language_id::{ANY, EMPTY, LanguageId, NONE, UNBOUNDED};
use crate::strings::pattern::ast::{AstForm, AstId};
use crate::strings::pattern::error::PatternError;
use crate::strings::unicode_properties::word;

use super::{PatternCompiler, PatternLanguage};

/// Maximal depth of an expression whose beginnings are told by its structure.
const BEGINNING_DEPTH: usize = 8;

/// A set of characters that an assertion asks for of the next character.
pub(super) struct NextSet {
    characters: CharSet,
    /// The texts that begin with one of them.
    texts: LanguageId,
}

impl PatternCompiler<'_> {
    /// The texts of an expression without assertions that are not empty and end in a character of some kinds, which are given as bits.
    pub(super) fn ending(&mut self, id: AstId, kinds: u8) -> PatternLanguage {
        if let Some(&known) = self.endings.get(&(id, kinds)) {
            return Ok(known);
        }
        let language = self.ending_anew(id, kinds)?;
        self.endings.insert((id, kinds), language);
        Ok(language)
    }

    fn ending_anew(&mut self, id: AstId, kinds: u8) -> PatternLanguage {
        self.step()?;
        let ast = self.ast;
        match ast.form(id) {
            AstForm::Class(class) => {
                let set = self.characters_of(kinds);
                self.count_ranges(class.ranges().len() + set.ranges().len())?;
                Ok(self.arena.class(&class.intersection(&set))?)
            }
            AstForm::Concat(parts) => {
                let mut ways = Vec::new();
                for (i, &part) in parts.iter().enumerate().rev() {
                    let mut text = self.ending(part, kinds)?;
                    for &part in parts[..i].iter().rev() {
                        // The first of the ways takes no more than the parts themselves.
                        if !ways.is_empty() {
                            self.step()?;
                        }
                        let before = self.plain(part)?;
                        text = self.arena.concat(before, text)?;
                    }
                    ways.push(text);
                    let part = self.plain(part)?;
                    if !self.arena.nullable(part) {
                        break;
                    }
                }
                Ok(self.arena.or(ways)?)
            }
            AstForm::Alternatives(parts) => {
                let parts: Result<Vec<_>, _> = parts.iter().map(|&part| self.ending(part, kinds)).collect();
                Ok(self.arena.or(parts?)?)
            }
            &AstForm::Repeat { inner, min, max } if max > 0 => {
                // Rounds that match nothing may come first.
                let last = self.ending(inner, kinds)?;
                let before = self.plain(inner)?;
                let fewer = if max == UNBOUNDED { max } else { max - 1 };
                let before = self.arena.repeat(before, min.saturating_sub(1), fewer)?;
                Ok(self.arena.concat(before, last)?)
            }
            _ => Ok(NONE),
        }
    }

    /// The texts of `id` that begin with a character that a lookahead's expression matches, or `\w` where there is none, or those that do
    /// not.
    pub(super) fn beginning(&mut self, id: LanguageId, asked: Option<AstId>, is_asked: bool) -> PatternLanguage {
        let set = self.next_set(asked, is_asked)?;
        let begun = self.beginning_with(id, &set, BEGINNING_DEPTH)?;
        if is_asked {
            return Ok(begun);
        }
        let empty = self.arena.and(vec![EMPTY, id])?;
        Ok(self.arena.or(vec![empty, begun])?)
    }

    /// The characters that a lookahead's expression matches, or those of `\w` where there is none, or all others.
    fn next_set(&mut self, asked: Option<AstId>, is_asked: bool) -> Result<Rc<NextSet>, PatternError> {
        if let Some(known) = self.next_sets.get(&(asked, is_asked)) {
            return Ok(known.clone());
        }
        let set = match asked {
            None => word(),
            Some(inner) => self.single.get(&inner).cloned().unwrap_or_default(),
        };
        let characters = if is_asked { set } else { set.complement() };
        let class = self.arena.class(&characters)?;
        let texts = self.arena.concat(class, ANY)?;
        let found = Rc::new(NextSet { characters, texts });
        self.next_sets.insert((asked, is_asked), found.clone());
        Ok(found)
    }

    /// The texts of `id` that begin with a character of `set`, by the structure of `id` up to a depth: an intersection would hide what
    /// texts begin like.
    fn beginning_with(&mut self, id: LanguageId, set: &NextSet, depth: usize) -> PatternLanguage {
        let mut ways = Vec::new();
        let mut rest = id;
        loop {
            self.step()?;
            let (first, tail) = match *self.arena.node(rest) {
                Expr::Concat(first, tail) => (first, tail),
                _ => (rest, EMPTY),
            };
            let Some(begun) = self.begun(first, set, depth)? else {
                ways.push(self.arena.and(vec![set.texts, rest])?);
                break;
            };
            ways.push(self.arena.concat(begun, tail)?);
            if tail == EMPTY || !self.arena.nullable(first) {
                break;
            }
            rest = tail;
        }
        Ok(self.arena.or(ways)?)
    }

    /// The texts of `id`, which is not two languages one after the other, that begin with a character of `set`; none where its structure
    /// does not show them.
    fn begun(&mut self, id: LanguageId, set: &NextSet, depth: usize) -> Result<Option<LanguageId>, PatternError> {
        let key = (id, set.texts);
        if let Some(&known) = self.beginnings.get(&key) {
            return Ok(known);
        }
        let nullable = self.arena.facts(id).nullable;
        // Whether texts begin here or behind it may depend on the past.
        let is_plain = nullable == 0 || nullable == u64::MAX;
        let begun = match self.arena.node(id).clone() {
            Expr::None | Expr::Empty => Some(NONE),
            Expr::Class(ranges) => {
                self.count_ranges(ranges.len() + set.characters.ranges().len())?;
                let class = CharSet::from_char_ranges(ranges.iter().copied());
                Some(self.arena.class(&class.intersection(&set.characters))?)
            }
            Expr::Or(members) if is_plain && depth > 0 => {
                let mut begun = Vec::new();
                for &member in &members {
                    begun.push(self.beginning_with(member, set, depth - 1)?);
                }
                Some(self.arena.or(begun)?)
            }
            Expr::Repeat { inner, min, max } if is_plain && depth > 0 => {
                let once = self.beginning_with(inner, set, depth - 1)?;
                let fewer = if max == UNBOUNDED { max } else { max - 1 };
                let more = self.arena.repeat(inner, min.saturating_sub(1), fewer)?;
                Some(self.arena.concat(once, more)?)
            }
            _ => None,
        };
        self.beginnings.insert(key, begun);
        Ok(begun)
    }
}

impl Arena {
    /// The texts of `id`, an expression without assertions, that are not empty.
    pub(super) fn without_empty(&mut self, id: LanguageId) -> Result<LanguageId, PatternError> {
        let mut parts = Vec::new();
        let mut rest = id;
        loop {
            if !self.nullable(rest) {
                parts.push(rest);
                break;
            }
            let (first, tail) = match *self.node(rest) {
                Expr::Concat(first, tail) => (first, tail),
                _ => (rest, EMPTY),
            };
            let inhabited = match self.node(first).clone() {
                Expr::Or(members) => {
                    let members: Result<Vec<_>, _> = members.iter().map(|&member| self.without_empty(member)).collect();
                    self.or(members?)?
                }
                Expr::Repeat { inner, max, .. } => {
                    let once = self.without_empty(inner)?;
                    let fewer = if max == UNBOUNDED { max } else { max - 1 };
                    let more = self.repeat(inner, 0, fewer)?;
                    self.concat(once, more)?
                }
                _ if first == EMPTY => NONE,
                _ => {
                    let some = self.length(1, UNBOUNDED)?;
                    self.and(vec![first, some])?
                }
            };
            parts.push(self.concat(inhabited, tail)?);
            if tail == EMPTY {
                break;
            }
            rest = tail;
        }
        Ok(self.or(parts)?)
    }
}
