//! Questions about what may follow in a string, beyond those that [`Languages`](crate::strings::Languages) answers.

use crate::automaton::decode::{DecodeState, without};
use crate::automaton::error::AutomatonError;
use crate::automaton::step::machine::Automaton;
use crate::strings::{Cardinality, LanguageId};

impl Automaton {
    /// Whether a text of a language begins with a character of one of `ranges`, whose ends are included, that is none
    /// of `but`; both are sorted.
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

    /// Whether a language that is not empty has a text that is not among some, which are all different.
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

    /// How many of some texts belong to a language.
    fn count_texts(&mut self, language: LanguageId, texts: &[&str]) -> Result<u64, AutomatonError> {
        let mut among = 0;
        for text in texts {
            among += u64::from(self.languages_mut().contains(language, text)?);
        }
        Ok(among)
    }

    /// Number of texts of a language, up to `most`.
    pub(super) fn count_strings(&mut self, language: LanguageId, most: u64) -> Result<u64, AutomatonError> {
        Ok(match self.languages_mut().cardinality(language, most)? {
            Cardinality::Finite(count) => count,
            Cardinality::AtLeast(_) | Cardinality::Infinite => most,
        })
    }

    /// What may follow a character in texts of a language; none where nothing does.
    pub(crate) fn content_after(
        &mut self,
        language: LanguageId,
        c: char,
    ) -> Result<Option<LanguageId>, AutomatonError> {
        let after = self.languages_mut().derivative(language, c)?;
        Ok((after != self.languages().none()).then_some(after))
    }

    /// The least and the largest number of characters in texts of a language that asks for nothing but lengths; none of
    /// others.
    pub(crate) fn only_bounded(&mut self, language: LanguageId) -> Result<Option<(u64, u64)>, AutomatonError> {
        if language == self.languages().any() {
            return Ok(Some((0, u64::MAX)));
        }
        let split = self.languages_mut().split_length(language)?;
        Ok(split.and_then(|(rest, min, max)| (rest == self.languages().any()).then_some((min, max))))
    }

    /// The texts of a language with at least and at most so many characters.
    pub(crate) fn bounded(
        &mut self,
        language: LanguageId,
        (min, max): (u64, u64),
    ) -> Result<LanguageId, AutomatonError> {
        let bound = self.languages_mut().length(min, Some(max))?;
        Ok(self.languages_mut().and(&[language, bound])?)
    }

    /// How many texts of a language begin with one of some characters, given as ranges without what they have in
    /// common: up to so many, all others counted as one more.
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
                // Surrogates are no characters.
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

    /// Whether a character that `decode` may still become can follow.
    pub(super) fn may_follow(&mut self, decode: DecodeState, language: LanguageId) -> Result<bool, AutomatonError> {
        let possible = decode.possible(self.search.algebra.style.escapes);
        Ok(self.languages_mut().may_begin(language, &possible)?)
    }
}
