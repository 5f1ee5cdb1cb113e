//! TODO

use crate::automaton::decode::DecodeState;
use crate::automaton::error::AutomatonError;
use crate::automaton::step::machine::Automaton;
use crate::strings::{
    Cardinality, CoarseCharSet, CustomDfaStates, Fingerprint, Horizon, LanguageId, Lengths, Transitions, WordEdges,
};
use std::sync::Arc;

impl Automaton {
    /// Whether a text of a language begins with a character of one of `ranges`, whose ends are included, that is none of
    /// `but`; both are sorted.
    pub(crate) fn may_begin_otherwise(
        &mut self,
        language: LanguageId,
        ranges: &[(u32, u32)],
        but: &[u32],
    ) -> Result<bool, AutomatonError> {
        Ok(self
            .search
            .algebra
            .languages
            .may_begin(language, &without(ranges, but))?)
    }

    /// Whether a language that is not empty has a text that is not among some, which are all different.
    pub(crate) fn has_other_texts(&mut self, language: LanguageId, texts: &[&str]) -> Result<bool, AutomatonError> {
        let many = texts.len() as u64;
        if texts.is_empty()
            || !self.search.algebra.languages.is_non_enumerable(language)
                && self.count_strings(language, many + 1)? > many
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
            among += u64::from(self.search.algebra.languages.contains(language, text)?);
        }
        Ok(among)
    }

    /// Number of texts of a language, up to `most`.
    pub(super) fn count_strings(&mut self, language: LanguageId, most: u64) -> Result<u64, AutomatonError> {
        Ok(match self.search.algebra.languages.cardinality(language, most)? {
            Cardinality::Finite(count) => count,
            Cardinality::AtLeast(_) | Cardinality::Infinite => most,
        })
    }

    /// The characters that may come first in texts of a language, with what may follow them.
    pub(crate) fn content_transitions(&mut self, language: LanguageId) -> Result<Transitions, AutomatonError> {
        Ok(self.search.algebra.languages.transitions(language)?)
    }

    /// Whether a text of a language begins with a character of one of `ranges`, whose ends are included.
    pub(crate) fn content_may_begin(
        &mut self,
        language: LanguageId,
        ranges: &[(u32, u32)],
    ) -> Result<bool, AutomatonError> {
        Ok(self.search.algebra.languages.may_begin(language, ranges)?)
    }

    /// The characters that may come first in words of a list, and what is left of the words behind them; none of languages
    /// that are no such list, or do not look like one.
    pub(crate) fn word_edges(&self, language: LanguageId) -> Option<WordEdges<'_>> {
        self.search.algebra.languages.word_edges(language)
    }

    /// Which characters may come first in texts of a language, as far as that shows at once.
    pub(crate) fn content_firsts(&self, language: LanguageId) -> CoarseCharSet {
        self.search.algebra.languages.coarse_first_characters(language)
    }

    /// What a language is known by in all schemas, where there is such a thing.
    pub(crate) fn fingerprint(&mut self, language: LanguageId) -> Option<Fingerprint> {
        self.search.algebra.languages.fingerprint(language)
    }

    /// The machines whose states make up a language, where it is that and no more.
    pub(crate) fn machine(&mut self, language: LanguageId) -> Result<Option<CustomDfaStates>, AutomatonError> {
        Ok(self.search.algebra.languages.custom_dfa_states(language)?)
    }

    /// Whether a language has so many states that they are better made for one character at a time.
    pub(crate) fn is_read_singly(&self, language: LanguageId) -> bool {
        self.search.algebra.languages.is_non_enumerable(language)
    }

    /// What may follow a character in texts of a language; none where nothing does.
    pub(crate) fn content_after(
        &mut self,
        language: LanguageId,
        c: char,
    ) -> Result<Option<LanguageId>, AutomatonError> {
        let after = self.search.algebra.languages.derivative(language, c)?;
        Ok((after != self.search.algebra.languages.none()).then_some(after))
    }

    /// Whether every text at all is the beginning of some text of a language, where that shows.
    pub(crate) fn is_dense(&mut self, language: LanguageId) -> Result<bool, AutomatonError> {
        Ok(self.search.algebra.languages.is_prefix_universal(language)?)
    }

    /// The least and the largest number of characters in texts of a language that asks for nothing but lengths; none of
    /// others.
    pub(crate) fn only_bounded(&mut self, language: LanguageId) -> Result<Option<(u64, u64)>, AutomatonError> {
        if language == self.search.algebra.languages.any() {
            return Ok(Some((0, u64::MAX)));
        }
        let split = self.search.algebra.languages.split_length(language)?;
        Ok(split.and_then(|(rest, min, max)| (rest == self.search.algebra.languages.any()).then_some((min, max))))
    }

    /// A language without its bound on the number of characters, and that: the least and the most, [`u64::MAX`] for no end.
    pub(crate) fn split_length(
        &mut self,
        language: LanguageId,
    ) -> Result<Option<(LanguageId, u64, u64)>, AutomatonError> {
        Ok(self.search.algebra.languages.split_length(language)?)
    }

    /// The texts of a language with at least and at most so many characters.
    pub(crate) fn bounded(
        &mut self,
        language: LanguageId,
        (min, max): (u64, u64),
    ) -> Result<LanguageId, AutomatonError> {
        let bound = self.search.algebra.languages.length(min, Some(max))?;
        Ok(self.search.algebra.languages.and(&[language, bound])?)
    }

    /// The numbers of characters that the texts of a language have, where its expression shows them.
    pub(crate) fn plain_lengths(&mut self, language: LanguageId) -> Result<Option<Arc<Lengths>>, AutomatonError> {
        Ok(self.search.algebra.languages.plain_lengths(language)?)
    }

    /// A language with the same texts and beginnings of texts up to a horizon, but for some with hyphens: see
    /// [`Languages::over_approximation`].
    ///
    /// [`Languages::over_approximation`]: crate::strings::Languages::over_approximation
    pub(crate) fn near(&mut self, language: LanguageId, horizon: Horizon) -> Result<LanguageId, AutomatonError> {
        Ok(self.search.algebra.languages.over_approximation(language, horizon)?)
    }

    /// How many texts of a language begin with one of some characters, given as ranges without what they have in common:
    /// up to so many, all others counted as one more.
    pub(crate) fn count_behind(
        &mut self,
        language: LanguageId,
        characters: &[(u32, u32)],
        up_to: u64,
    ) -> Result<u64, AutomatonError> {
        let mut count = 0;
        for &(range, target) in self.search.algebra.languages.transitions(language)?.iter() {
            for &(first, last) in characters {
                let (first, last) = (first.max(range.first().into()), last.min(range.last().into()));
                if first > last {
                    continue;
                }
                let texts = match self
                    .search
                    .algebra
                    .languages
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

    /// Whether the empty text belongs to a language.
    pub(crate) fn accepts_empty(&self, language: LanguageId) -> bool {
        self.search.algebra.languages.accepts_empty(language)
    }

    /// Whether a text belongs to a language.
    pub(crate) fn content_has(&mut self, language: LanguageId, text: &str) -> Result<bool, AutomatonError> {
        Ok(self.search.algebra.languages.contains(language, text)?)
    }

    /// Whether a character that `decode` may still become can follow.
    pub(super) fn may_follow(&mut self, decode: DecodeState, language: LanguageId) -> Result<bool, AutomatonError> {
        self.content_may_begin(language, &decode.possible(self.search.algebra.style.escapes))
    }
}

/// The characters of some ranges without some of them; both are sorted.
fn without(ranges: &[(u32, u32)], characters: &[u32]) -> Vec<(u32, u32)> {
    let mut left = Vec::new();
    for &(mut first, last) in ranges {
        let from = characters.partition_point(|character| *character < first);
        for &character in characters[from..].iter().take_while(|character| **character <= last) {
            if first < character {
                left.push((first, character - 1));
            }
            first = character + 1;
        }
        if first <= last {
            left.push((first, last));
        }
    }
    left
}
