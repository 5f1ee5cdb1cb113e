//! Preferred texts: of the strings that a schema allows the subset that a style would rather have written.
//!
//! A preference narrows the texts that are written and never the valid ones. So [`Strings`] holds both languages, and each
//! Boolean operation is applied to the preferred one as well, as long as that stays inhabited. Where more depends on a string
//! than its validity (strings that must differ, assertions whose verdict is open), all are written.

use super::Algebra;
use super::assertion::Constraint;
use crate::automaton::Formats;
use crate::automaton::error::limit_error;
use crate::strings::{LanguageId, LimitReached, Usual};
use crate::{CompileError, CompileErrorKind};
use hashbrown::HashMap;

/// A set of strings, and those of it that are preferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Strings {
    /// The strings that are valid.
    pub(crate) valid: LanguageId,
    /// The valid strings that the style prefers; `None` if it prefers none.
    pub(crate) usual: Option<Usual>,
}

/// The preferred texts of formats, each found once.
#[derive(Debug, Default)]
pub(crate) struct Preferences(HashMap<String, Option<Usual>>);

impl Strings {
    /// A set of strings none of which is preferred to others.
    pub(crate) fn alike(valid: LanguageId) -> Self {
        Self { valid, usual: None }
    }

    /// The strings that are written: those that are preferred, or all.
    pub(crate) fn written(self) -> LanguageId {
        self.usual.map_or(self.valid, |usual| usual.texts)
    }

    fn typical(self) -> LanguageId {
        self.usual.map_or(self.valid, |usual| usual.typical)
    }
}

impl Constraint {
    /// The strings that satisfy the constraint, with those that are preferred.
    pub(crate) fn all_strings(&self) -> Strings {
        Strings {
            valid: self.strings,
            usual: self.usual,
        }
    }

    /// Replaces the strings of the constraint.
    #[must_use]
    pub(crate) fn with_strings(self, strings: Strings) -> Self {
        Self {
            strings: strings.valid,
            usual: strings.usual,
            ..self
        }
    }
}

impl Algebra {
    /// A format that is asserted, with its preferred texts.
    pub(super) fn preferred_of_format(&mut self, format: LanguageId, name: &str) -> Result<Strings, CompileError> {
        let known = self.preferences.0.get(name).copied();
        let usual = match known {
            Some(known) => known,
            None => {
                let usual = self
                    .languages
                    .usual_format(name, self.style.strings, self.formats == Formats::LocalTimes);
                let limit = |error| CompileError::new(CompileErrorKind::LimitExceeded, format!("{error}"));
                let usual = usual.map_err(limit)?;
                self.preferences.0.insert(name.to_owned(), usual);
                usual
            }
        };
        Ok(Strings { valid: format, usual })
    }

    /// The texts in which a pattern is found, of which the style may prefer those that it matches whole.
    pub(super) fn preferred_of_pattern(&mut self, found: LanguageId, pattern: &str) -> Result<Strings, CompileError> {
        let mut strings = Strings::alike(found);
        if !self.style.strings.anchored_patterns || found == self.languages.any() {
            return Ok(strings);
        }
        // A pattern that can be read by itself can be read in a group as well, so that an error means a limit was reached.
        let whole = self.languages.pattern_syntax().anchored(pattern);
        if let Ok(texts) = self.languages.pattern(&whole)
            && texts != found
            && !self.languages.is_empty(texts).map_err(limit_error)?
        {
            strings.usual = Some(Usual { texts, typical: texts });
        }
        Ok(strings)
    }

    /// The strings in all of `parts`, with those that are preferred in each.
    pub(crate) fn all_texts(&mut self, parts: &[Strings]) -> Result<Strings, LimitReached> {
        let valid: Vec<LanguageId> = parts.iter().map(|part| part.valid).collect();
        let valid = self.languages.and(&valid)?;
        let is_preferring = parts.iter().any(|part| part.usual.is_some());
        // Strings that the schema lists are wanted as they are.
        let is_list = |part: &Strings| part.usual.is_none() && self.languages.word_edges(part.valid).is_some();
        if !is_preferring || parts.iter().any(is_list) {
            return Ok(Strings::alike(valid));
        }
        self.with_preferred(valid, parts, |algebra, mut texts| {
            texts.push(valid);
            algebra.languages.and(&texts)
        })
    }

    /// The strings in any of `parts`, with those that are preferred in some.
    pub(crate) fn any_texts(&mut self, parts: &[Strings]) -> Result<Strings, LimitReached> {
        let valid: Vec<LanguageId> = parts.iter().map(|part| part.valid).collect();
        let valid = self.languages.or(&valid)?;
        self.with_preferred(valid, parts, |algebra, texts| algebra.languages.or(&texts))
    }

    /// The strings of `valid`, which holds none but those of `parts`, with those that are preferred in some.
    pub(super) fn some_texts_of(&mut self, valid: LanguageId, parts: &[Strings]) -> Result<Strings, LimitReached> {
        self.with_preferred(valid, parts, |algebra, texts| {
            let any = algebra.languages.or(&texts)?;
            algebra.languages.and(&[valid, any])
        })
    }

    /// A set of strings with those that are preferred, if any are left of those of its parts.
    fn with_preferred(
        &mut self,
        valid: LanguageId,
        parts: &[Strings],
        combine: impl Fn(&mut Self, Vec<LanguageId>) -> Result<LanguageId, LimitReached>,
    ) -> Result<Strings, LimitReached> {
        let alike = Strings::alike(valid);
        if parts.iter().all(|part| part.usual.is_none()) {
            return Ok(alike);
        }
        let texts = combine(self, parts.iter().map(|part| part.written()).collect())?;
        let typical = combine(self, parts.iter().map(|part| part.typical()).collect())?;
        let is_preferred = texts != valid && !self.languages.is_empty(typical)?;
        Ok(Strings {
            valid,
            usual: is_preferred.then_some(Usual { texts, typical }),
        })
    }
}
