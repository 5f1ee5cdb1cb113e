//! Preferred texts: of the strings that a schema allows those that a style would rather have written.
//!
//! A preference narrows what is written and never what is valid. So it stands beside the languages of strings, which say
//! what is valid: a language that was made of one with preferred texts has preferred texts itself, as long as any are left.
//! Where more depends on a string than its validity (strings that must differ, assertions whose verdict is open), all are
//! written.

use super::Algebra;
use crate::automaton::error::limit_error;
use crate::strings::{LanguageId, LimitReached, Usual};
use crate::{CompileError, CompileErrorKind};
use hashbrown::HashMap;

/// The preferred texts of languages that have any.
#[derive(Debug, Default)]
pub(crate) struct Preferences(HashMap<LanguageId, Usual>);

impl Algebra {
    /// The texts of a language that are written: those that are preferred, or all.
    pub(crate) fn preferred(&self, language: LanguageId) -> LanguageId {
        self.preferences.0.get(&language).map_or(language, |usual| usual.texts)
    }

    /// Notes the preferred texts of a format that is asserted.
    pub(super) fn prefer_format(&mut self, format: LanguageId, name: &str) -> Result<(), CompileError> {
        let usual = self.languages.usual_format(name, self.style.strings);
        let usual = usual.map_err(|error| CompileError::new(CompileErrorKind::LimitExceeded, error.to_string()))?;
        if let Some(usual) = usual {
            self.preferences.0.insert(format, usual);
        }
        Ok(())
    }

    /// Notes that the texts that a pattern matches whole are preferred to those in which it is found.
    pub(super) fn prefer_whole(&mut self, found: LanguageId, pattern: &str) -> Result<(), CompileError> {
        let is_asked = self.style.strings.anchored_patterns && found != self.languages.any();
        if !is_asked || self.preferences.0.contains_key(&found) {
            return Ok(());
        }
        // A pattern that can be read by itself can be read in a group as well, so that an error means a limit was reached.
        if let Ok(texts) = self.languages.pattern(&format!("^(?:{pattern})$"))
            && texts != found
            && !self.languages.is_empty(texts).map_err(limit_error)?
        {
            self.preferences.0.insert(found, Usual { texts, typical: texts });
        }
        Ok(())
    }

    /// The texts in all of `parts`, with those that are preferred in each.
    pub(crate) fn all_texts(&mut self, parts: &[LanguageId]) -> Result<LanguageId, LimitReached> {
        let all = self.languages.and(parts)?;
        self.prefer(all, parts, |algebra, parts| {
            let mut parts = parts.to_vec();
            parts.push(all);
            algebra.languages.and(&parts)
        })?;
        Ok(all)
    }

    /// The texts in any of `parts`, with those that are preferred in some.
    pub(crate) fn any_texts(&mut self, parts: &[LanguageId]) -> Result<LanguageId, LimitReached> {
        let any = self.languages.or(parts)?;
        self.prefer(any, parts, |algebra, parts| algebra.languages.or(parts))?;
        Ok(any)
    }

    /// Notes that of `language`, which holds no texts but those of `parts`, those are preferred that are in some.
    pub(super) fn prefer_some_of(&mut self, language: LanguageId, parts: &[LanguageId]) -> Result<(), LimitReached> {
        self.prefer(language, parts, |algebra, parts| {
            let any = algebra.languages.or(parts)?;
            algebra.languages.and(&[language, any])
        })
    }

    /// Notes the preferred texts of a language, if any are left of those of its parts.
    fn prefer(
        &mut self,
        language: LanguageId,
        parts: &[LanguageId],
        combine: impl Fn(&mut Self, &[LanguageId]) -> Result<LanguageId, LimitReached>,
    ) -> Result<(), LimitReached> {
        // A language that other subschemas have as well would take the preference to them.
        if language == self.languages.any() || parts.contains(&language) {
            return Ok(());
        }
        let known = &self.preferences.0;
        if known.contains_key(&language) || !parts.iter().any(|part| known.contains_key(part)) {
            return Ok(());
        }
        let of = |pick: fn(&Usual) -> LanguageId| -> Vec<LanguageId> {
            parts.iter().map(|part| known.get(part).map_or(*part, pick)).collect()
        };
        let (texts, typical) = (of(|usual| usual.texts), of(|usual| usual.typical));
        let (texts, typical) = (combine(self, &texts)?, combine(self, &typical)?);
        if !self.languages.is_empty(typical)? {
            self.preferences.0.insert(language, Usual { texts, typical });
        }
        Ok(())
    }
}
