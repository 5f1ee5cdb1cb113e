//! Kinds of characters: what the assertions of a pattern that ask for the last character tell apart.

use std::rc::Rc;

use crate::strings::charset::CharSet;
use crate::strings::language_id::LanguageId;
use crate::strings::pattern::ast::{AstForm, AstId};
use crate::strings::pattern::error::PatternError;
use crate::strings::unicode_properties::word;

use super::PatternCompiler;

/// Maximal number of kinds of characters: each lookbehind for one character may double it, and each kind makes a language larger.
const MAX_KINDS: usize = 8;

impl PatternCompiler<'_> {
    /// Divides the characters by the assertions about the last one.
    pub(super) fn find_kinds(&mut self) -> Result<(), PatternError> {
        let ast = self.ast;
        let word = word();
        let is_boundary = |id| matches!(ast.form(id), AstForm::WordBoundary { .. });
        if ast.ids().any(is_boundary) {
            self.divide(&word)?;
        }
        let mut behind = Vec::new();
        for id in ast.ids() {
            let &AstForm::Look {
                behind: looks_behind,
                inner,
                ..
            } = ast.form(id)
            else {
                continue;
            };
            let Some(set) = self.one_character(inner) else {
                continue;
            };
            if looks_behind {
                self.divide(&set)?;
                behind.push(inner);
            }
            self.single.insert(inner, set);
        }
        self.word_kinds = self.kinds_of(&word).unwrap_or(0);
        for inner in behind {
            let kinds = self.single.get(&inner).and_then(|set| self.kinds_of(set));
            self.decided.extend(kinds.map(|kinds| (inner, kinds)));
        }
        for id in ast.ids() {
            let asks = |id: &AstId| self.asks_for_kind[id.index()];
            self.asks_for_kind[id.index()] = match ast.form(id) {
                AstForm::WordBoundary { .. } => true,
                AstForm::Look { behind, inner, .. } => asks(inner) || *behind && self.decided.contains_key(inner),
                AstForm::Repeat { inner, .. } => asks(inner),
                AstForm::Concat(parts) | AstForm::Alternatives(parts) => parts.iter().any(asks),
                AstForm::Empty | AstForm::Class(_) | AstForm::Start | AstForm::End => false,
            };
        }
        Ok(())
    }

    /// Divides each kind by whether a character is of `set`, unless these are too many kinds.
    fn divide(&mut self, set: &CharSet) -> Result<(), PatternError> {
        let ranges = self.kinds.iter().map(|kind| kind.ranges().len() + set.ranges().len());
        self.count_ranges(ranges.sum())?;
        let sides = [set.clone(), set.complement()];
        let parts = (self.kinds.iter()).flat_map(|kind| sides.each_ref().map(|side| kind.intersection(side)));
        let kinds: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
        if kinds.len() <= MAX_KINDS {
            self.kinds = kinds;
        }
        Ok(())
    }

    /// The kinds that make up `set`, as bits; none where it has a part of a kind.
    pub(super) fn kinds_of(&self, set: &CharSet) -> Option<u8> {
        let mut kinds = 0;
        for (i, kind) in self.kinds.iter().enumerate() {
            let common = kind.intersection(set);
            if common == *kind {
                kinds |= 1 << i;
            } else if !common.is_empty() {
                return None;
            }
        }
        Some(kinds)
    }

    /// The characters that an expression matches, where it matches one character whatever is around it.
    fn one_character(&self, id: AstId) -> Option<CharSet> {
        let mut ranges = Vec::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            match self.ast.form(id) {
                AstForm::Class(set) => ranges.extend_from_slice(set.ranges()),
                AstForm::Concat(parts) if parts.len() == 1 => open.extend_from_slice(parts),
                AstForm::Alternatives(parts) => open.extend_from_slice(parts),
                _ => return None,
            }
        }
        Some(CharSet::from_char_ranges(ranges))
    }

    /// The different languages among those of all kinds, each with its kinds, as bits.
    pub(super) fn by_language(&self, languages: &[LanguageId]) -> Vec<(u8, LanguageId)> {
        let mut different: Vec<(u8, LanguageId)> = Vec::new();
        for (kind, &language) in languages.iter().enumerate() {
            match different.iter_mut().find(|(_, known)| *known == language) {
                Some((kinds, _)) => *kinds |= 1 << kind,
                None => different.push((1 << kind, language)),
            }
        }
        different
    }

    /// The characters of some kinds, which are given as bits.
    pub(super) fn characters_of(&mut self, kinds: u8) -> Rc<CharSet> {
        let all = self.kinds.iter().enumerate().filter(|(i, _)| kinds >> i & 1 == 1);
        let united = self.united_kinds.entry(kinds).or_insert_with(|| {
            let ranges = all.flat_map(|(_, kind)| kind.ranges().iter().copied());
            Rc::new(CharSet::from_char_ranges(ranges))
        });
        united.clone()
    }
}
