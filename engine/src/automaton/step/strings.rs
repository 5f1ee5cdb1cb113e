//! Transitions within strings that are values.
//!
//! A state within a string has the residual language of the texts that may follow. The verdicts of its assertions are tracked by the residual
//! languages of the open assertions; from [`OPEN_WORTH_TEXT`] assertions on, the string's text is kept instead and judged when the string ends.

use crate::automaton::decode::{DecodeState, Decoded, several_plain};
use crate::automaton::error::AutomatonError;
use crate::automaton::formula::TextId;
use crate::automaton::search::{ExpectationId, Verdicts};
use crate::automaton::step::{Automaton, Cursor, OpenId, StackId, State, StepResult};
use crate::strings::{Cardinality, LanguageId, Transitions};

/// Number of open assertions of a string from which on its text is kept instead of their languages.
const OPEN_WORTH_TEXT: usize = 8;
/// Number of open assertions up to which texts are grouped by their verdicts.
pub(super) const SPLIT_ASSERTIONS: usize = 3;
/// Number of words of open assertions up to which these words are told apart from all other texts.
pub(crate) const DISTINGUISHED_WORDS: usize = 64;

impl Automaton {
    /// The state after one more character of the string or key that a state is in. The state must be between two
    /// characters.
    pub(crate) fn read_character(&mut self, at: State, character: char) -> Result<Option<State>, AutomatonError> {
        let next = match at.cursor {
            Cursor::String(_, language, open, text, expected) => {
                self.character_of_string(character, (language, open, text), expected, at.stack)?
            }
            Cursor::Key(_, text, names) => self.character_of_key(character, (text, names), at.stack)?,
            _ => None,
        };
        self.if_distinct(next)
    }

    /// Ranges of the characters that may come next in a string, each with the texts that may follow it, where these tell the state that the
    /// character leads to; none elsewhere, as within a character.
    pub(crate) fn characters(&mut self, at: State) -> Result<Option<Transitions>, AutomatonError> {
        match at.cursor {
            Cursor::String(DecodeState::Between, language, OpenId::NONE, None, _)
                if !self.languages().is_non_enumerable(language) =>
            {
                Ok(Some(self.languages_mut().transitions(language)?))
            }
            _ => Ok(None),
        }
    }

    /// Whether a character that has been read in part can be completed in the string or key that a state is in.
    pub(crate) fn may_begin(&mut self, at: State, begun: DecodeState) -> Result<bool, AutomatonError> {
        let cursor = match at.cursor {
            Cursor::String(_, language, open, text, expected) => {
                if !self.may_follow(begun, language)? {
                    return Ok(false);
                }
                Cursor::String(begun, language, open, text, expected)
            }
            Cursor::Key(_, text, names) => {
                let names = self.opened(names, at.stack)?;
                if !self.key_may_continue(begun, (text, names), at.stack)? {
                    return Ok(false);
                }
                Cursor::Key(begun, text, names)
            }
            _ => return Ok(false),
        };
        Ok(self.if_distinct(Some(State { cursor, ..at }))?.is_some())
    }

    /// The state after the opening quote of a string.
    pub(super) fn begin_string(&mut self, expected: ExpectationId, stack: StackId) -> StepResult {
        let what = self.search.expected(expected);
        let strings = self.search.strings_of(expected)?;
        if self.languages_mut().is_empty(strings.valid)? {
            return Ok(None);
        }
        let mut open = Vec::new();
        for (&assertion, certain) in what.assertions.iter().zip(self.search.certain_of_strings(&what)?) {
            if certain.is_none() {
                open.push(self.search.algebra.constraint(assertion)?.strings);
            }
        }
        let by_text = open.len() >= OPEN_WORTH_TEXT;
        if by_text {
            open.clear();
        }
        let text = (by_text || self.keeps_values(stack)).then_some(TextId::EMPTY);
        // While verdicts are open or values are compared, any valid string may be needed, so the language stays as it is.
        let viable = match text.is_none() && open.is_empty() {
            true => self.within_small_bound(strings.written())?,
            false => strings.valid,
        };
        let open = self.open_languages(open);
        let cursor = Cursor::String(DecodeState::default(), viable, open, text, expected);
        Ok(Some(State::new(cursor, stack)))
    }

    /// The state after the opening quote of a string that is in a language as well; `None` if no such string may come.
    pub(crate) fn begin_string_within(
        &mut self,
        before: State,
        within: LanguageId,
    ) -> Result<Option<State>, AutomatonError> {
        let Some(at) = self.step(before, b'"')? else {
            return Ok(None);
        };
        let Cursor::String(decode, language, open, text, expected) = at.cursor else {
            return Ok(None);
        };
        let mut viable = self.languages_mut().and(&[language, within])?;
        if self.languages_mut().is_empty(viable)? {
            // None of the strings that the style prefers is in the language.
            let valid = self.search.strings_of(expected)?.valid;
            viable = self.languages_mut().and(&[valid, within])?;
        }
        let cursor = Cursor::String(decode, viable, open, text, expected);
        Ok((!self.languages_mut().is_empty(viable)?).then(|| State::new(cursor, at.stack)))
    }

    /// The state after a byte within a string.
    pub(super) fn in_string(
        &mut self,
        (decode, language): (DecodeState, LanguageId),
        (open, text): (OpenId, Option<TextId>),
        expected: ExpectationId,
        stack: StackId,
        byte: u8,
    ) -> StepResult {
        match decode.step(byte, self.search.algebra.style.escapes) {
            Decoded::Refused => Ok(None),
            Decoded::Partial(decode) => {
                let viable = self.may_follow(decode, language)?;
                let cursor = Cursor::String(decode, language, open, text, expected);
                Ok(viable.then_some(State::new(cursor, stack)))
            }
            Decoded::Character(character) => {
                self.character_of_string(character, (language, open, text), expected, stack)
            }
            Decoded::End if !self.languages().accepts_empty(language) => Ok(None),
            Decoded::End => {
                let what = self.search.expected(expected);
                let open = self.open(open);
                let mut open = open.iter();
                let mut verdicts = Verdicts::with_capacity(what.assertions.len());
                for (&assertion, certain) in what.assertions.iter().zip(self.search.certain_of_strings(&what)?) {
                    if let Some(certain) = certain {
                        verdicts.push(certain);
                        continue;
                    }
                    verdicts.push(match open.next() {
                        Some(language) => self.languages().accepts_empty(*language),
                        None => {
                            let strings = self.search.algebra.constraint(assertion)?.strings;
                            let text = text.map(|text| self.search.algebra.texts.written(text));
                            self.search
                                .algebra
                                .languages
                                .contains(strings, &text.unwrap_or_default())?
                        }
                    });
                }
                let text = text.filter(|_| self.keeps_values(stack));
                let value = text.map(|text| self.search.algebra.equal_to_text(text));
                self.value_done(expected, verdicts, value, stack)
            }
        }
    }

    /// The state after the characters at the beginning of `bytes` that stand for themselves in a string, and their
    /// number. `None` if there are fewer than two such characters.
    pub(super) fn read_in_string(
        &mut self,
        at: State,
        bytes: &[u8],
    ) -> Result<Option<(Option<State>, usize)>, AutomatonError> {
        let Cursor::String(DecodeState::Between, mut language, mut open, text, expected) = at.cursor else {
            return Ok(None);
        };
        let Some(more) = several_plain(bytes) else {
            return Ok(None);
        };
        // A language of all texts has no effect and needs no derivatives.
        if language != self.languages().any() {
            for character in more.chars() {
                language = self.languages_mut().derivative(language, character)?;
            }
        }
        if self.languages_mut().is_empty(language)? {
            return Ok(Some((None, more.len())));
        }
        if open != OpenId::NONE {
            let mut after = self.open(open).to_vec();
            for language in &mut after {
                for character in more.chars() {
                    *language = self.languages_mut().derivative(*language, character)?;
                }
            }
            open = self.open_languages(after);
        }
        let text = text.map(|text| self.search.algebra.texts.extended(text, more));
        let cursor = Cursor::String(DecodeState::default(), language, open, text, expected);
        let next = self.if_distinct(Some(State::new(cursor, at.stack)))?;
        Ok(Some((next, more.len())))
    }

    /// The state after one more character of a string.
    fn character_of_string(
        &mut self,
        character: char,
        (language, open, text): (LanguageId, OpenId, Option<TextId>),
        expected: ExpectationId,
        stack: StackId,
    ) -> StepResult {
        let language = self.languages_mut().derivative(language, character)?;
        if self.languages_mut().is_empty(language)? {
            return Ok(None);
        }
        let mut open = open;
        if open != OpenId::NONE {
            let mut after = Vec::new();
            for &language in self.open(open).iter() {
                after.push(self.languages_mut().derivative(language, character)?);
            }
            open = self.open_languages(after);
        }
        let text = text.map(|text| self.search.algebra.texts.longer(text, character));
        let cursor = Cursor::String(DecodeState::default(), language, open, text, expected);
        Ok(Some(State::new(cursor, stack)))
    }

    /// The state after the string that a state is in; `None` if it depends on which string it will be.
    pub(crate) fn after_any_text(&mut self, at: State) -> Result<Option<State>, AutomatonError> {
        let Cursor::String(_, _, OpenId::NONE, None, expected) = at.cursor else {
            return Ok(None);
        };
        let certain = self.search.certain_of_strings(&self.search.expected(expected))?;
        let Some(verdicts) = certain.into_iter().collect() else {
            return Ok(None);
        };
        self.value_done(expected, verdicts, None, at.stack)
    }

    /// The texts that may follow in the string that a state is in, grouped by the verdicts of open assertions, each
    /// group with the state after the string. `None` if there are too many groups, or if more than the verdicts counts.
    pub(crate) fn after_texts(&mut self, at: State) -> Result<Option<Vec<(LanguageId, State)>>, AutomatonError> {
        let Cursor::String(_, language, open, None, expected) = at.cursor else {
            return Ok(None);
        };
        let open = self.open(open);
        let is_hard = |language: &LanguageId| self.languages().is_non_enumerable(*language);
        if open.is_empty() || open.len() > SPLIT_ASSERTIONS || is_hard(&language) || open.iter().any(is_hard) {
            return Ok(None);
        }
        let mut classes = vec![(language, Vec::new())];
        for &assertion in open.iter() {
            let not = self.languages_mut().not(assertion)?;
            let mut split = Vec::with_capacity(2 * classes.len());
            for (language, verdicts) in classes {
                for (side, verdict) in [(assertion, true), (not, false)] {
                    let part = self.languages_mut().and(&[language, side])?;
                    if !self.languages_mut().is_empty(part)? {
                        split.push((part, [&verdicts[..], &[verdict]].concat()));
                    }
                }
            }
            classes = split;
        }
        let certain = self.search.certain_of_strings(&self.search.expected(expected))?;
        let mut places = Vec::with_capacity(classes.len());
        for (language, verdicts) in classes {
            let mut verdicts = verdicts.into_iter();
            let all = certain.iter().map(|certain| certain.or_else(|| verdicts.next()));
            let all: Option<Verdicts> = all.collect();
            let Some(all) = all else { return Ok(None) };
            // The text read so far can be continued, so there is a state after each group.
            if let Some(after) = self.value_done(expected, all, None, at.stack)? {
                places.push((language, after));
            }
        }
        Ok(Some(places))
    }

    /// The state after the string that a state is in for all strings except those with a few remaining texts, which
    /// open assertions list and which are returned as well. `None` if there is no such state, or if more than the
    /// verdicts counts.
    pub(crate) fn after_all_but_words(&mut self, at: State) -> Result<Option<(State, Vec<String>)>, AutomatonError> {
        let Cursor::String(_, language, open, None, expected) = at.cursor else {
            return Ok(None);
        };
        let open = self.open(open);
        if open.is_empty() || self.languages().is_non_enumerable(language) {
            return Ok(None);
        }
        let mut words: Vec<String> = Vec::new();
        for &assertion in open.iter() {
            match self.finite_words(assertion, DISTINGUISHED_WORDS - words.len())? {
                Some(more) => words.extend(more),
                None => return Ok(None),
            }
        }
        words.sort_unstable();
        words.dedup();
        let certain = self.search.certain_of_strings(&self.search.expected(expected))?;
        let verdicts = certain.into_iter().map(|certain| certain.unwrap_or(false)).collect();
        let after = self.value_done(expected, verdicts, None, at.stack)?;
        Ok(after.map(|after| (after, words)))
    }

    /// The texts of a language; `None` if there are more than `most`.
    pub(super) fn finite_words(
        &mut self,
        language: LanguageId,
        most: usize,
    ) -> Result<Option<Vec<String>>, AutomatonError> {
        if self.languages().is_non_enumerable(language) {
            return Ok(None);
        }
        if let Some(words) = self.languages().words(language, most + 1) {
            return Ok(Some(words).filter(|words| words.len() <= most));
        }
        Ok(match self.languages_mut().cardinality(language, most as u64 + 1)? {
            Cardinality::Finite(count) if count <= most as u64 => Some(self.languages_mut().members(language, most)?),
            _ => None,
        })
    }
}
