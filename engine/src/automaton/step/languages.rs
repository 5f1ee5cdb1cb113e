//! Queries on string languages that combine answers of [`Languages`](crate::strings::Languages).

use crate::automaton::decode::{DecodeState, without};
use crate::automaton::error::AutomatonError;
use crate::automaton::step::machine::Automaton;
use crate::strings::{Cardinality, LanguageId};

impl Automaton {
    /// Whether some text of a language begins with a character in `ranges` and not in `but`. Both are sorted; `ranges`
    /// holds inclusive ranges of code points, `but` single code points.
    pub(crate) fn may_begin_otherwise(
        &mut self,
        language: LanguageId,
        ranges: &[(u32, u32)],
        but: &[u32],
    ) -> Result<bool, AutomatonError> {
        Ok(self
            .languages_mut()
            .may_begin(language, &without(ranges, but.iter().map(|code| (*code, *code))))?)
    }

    /// Whether a language has a text that is not among `texts`. The language must not be empty, and the texts must be
    /// distinct.
    pub(crate) fn has_other_texts(&mut self, language: LanguageId, texts: &[&str]) -> Result<bool, AutomatonError> {
        let many = texts.len() as u64;
        if texts.is_empty()
            || !self.languages().is_non_enumerable(language) && self.count_strings(language, many + 1)? > many
        {
            return Ok(true);
        }
        let among = self.count_texts(language, texts)?;
        Ok(self.count_strings(language, among + 1)? > among)
    }

    /// The texts of a language that are not among `texts`.
    pub(super) fn except(&mut self, language: LanguageId, texts: &[&str]) -> Result<LanguageId, AutomatonError> {
        if texts.is_empty() {
            return Ok(language);
        }
        let texts = self.languages_mut().one_of(texts)?;
        let others = self.languages_mut().not(texts)?;
        Ok(self.languages_mut().and(&[language, others])?)
    }

    /// Number of texts among `texts` that belong to a language.
    fn count_texts(&mut self, language: LanguageId, texts: &[&str]) -> Result<u64, AutomatonError> {
        let mut among = 0;
        for text in texts {
            among += u64::from(self.languages_mut().contains(language, text)?);
        }
        Ok(among)
    }

    /// Number of texts of a language, or `most` if there are more.
    pub(super) fn count_strings(&mut self, language: LanguageId, most: u64) -> Result<u64, AutomatonError> {
        Ok(match self.languages_mut().cardinality(language, most)? {
            Cardinality::Finite(count) => count,
            Cardinality::AtLeast(_) | Cardinality::Infinite => most,
        })
    }

    /// Returns the derivative of a language by a character; `None` if no text continues with it.
    pub(crate) fn content_after(
        &mut self,
        language: LanguageId,
        c: char,
    ) -> Result<Option<LanguageId>, AutomatonError> {
        let after = self.languages_mut().derivative(language, c)?;
        Ok((after != self.languages().none()).then_some(after))
    }

    /// The least and the largest number of characters in the texts of a language that restricts nothing but lengths;
    /// `None` for other languages.
    pub(crate) fn only_bounded(&mut self, language: LanguageId) -> Result<Option<(u64, u64)>, AutomatonError> {
        if language == self.languages().any() {
            return Ok(Some((0, u64::MAX)));
        }
        let split = self.languages_mut().split_length(language)?;
        Ok(split.and_then(|(rest, min, max)| (rest == self.languages().any()).then_some((min, max))))
    }

    /// The texts of a language whose number of characters is from `min` to `max`.
    pub(crate) fn bounded(
        &mut self,
        language: LanguageId,
        (min, max): (u64, u64),
    ) -> Result<LanguageId, AutomatonError> {
        let bound = self.languages_mut().length(min, Some(max))?;
        Ok(self.languages_mut().and(&[language, bound])?)
    }

    /// Number of texts of a language that begin with a character in `characters`, which are disjoint inclusive ranges;
    /// `up_to + 1` if there are more than `up_to`.
    pub(crate) fn count_behind(
        &mut self,
        language: LanguageId,
        characters: &[(u32, u32)],
        up_to: u64,
    ) -> Result<u64, AutomatonError> {
        let mut count = 0;
        for &(range, target) in self.languages_mut().transitions(language)?.iter() {
            for &(first, last) in characters {
                let (first, last) = (first.max(range.first().into()), last.min(range.last().into()));
                if first > last {
                    continue;
                }
                let texts = match self
                    .languages_mut()
                    .cardinality(target, (up_to + 1).next_power_of_two())?
                {
                    Cardinality::Finite(texts) => texts,
                    Cardinality::AtLeast(_) | Cardinality::Infinite => return Ok(up_to + 1),
                };
                // Surrogates are not characters.
                let surrogates = u64::from((last + 1).min(0xE000).saturating_sub(first.max(0xD800)));
                count += texts
                    .saturating_mul(u64::from(last - first) + 1 - surrogates)
                    .min(up_to + 1);
                if count > up_to {
                    return Ok(up_to + 1);
                }
            }
        }
        Ok(count)
    }

    /// Whether a character that `decode` may still become can come next in texts of a language.
    pub(super) fn may_follow(&mut self, decode: DecodeState, language: LanguageId) -> Result<bool, AutomatonError> {
        let possible = decode.possible(self.search.algebra.style.escapes);
        Ok(self.languages_mut().may_begin(language, &possible)?)
    }
}
