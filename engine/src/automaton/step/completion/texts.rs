//! Completions of strings and numbers.

use super::TextPiece;
use crate::Escapes;
use crate::automaton::error::AutomatonError;
use crate::automaton::step::Automaton;
use crate::json::push_escaped;
use crate::numbers::{NumberSetId, NumberState, Precision};
use crate::strings::LanguageId;
use hashbrown::HashSet;
use std::collections::VecDeque;
use std::sync::Arc;

/// Number of states within a number that are visited before its digits are counted.
const SEARCHED_STATES: usize = 512;

/// Number of steps of a number whose digits are counted.
const COUNTED_STEPS: usize = 1 << 14;

/// Number of digits up to which they are counted.
const COUNTED_DIGITS: u32 = 64;

/// Bytes that may occur in a number, those first that are preferred.
const NUMBER_BYTES: &[u8] = b"0123456789.-e+";

impl Automaton {
    /// A short text of a number of a set; `None` if none was found.
    pub(super) fn number_text(&mut self, numbers: NumberSetId) -> Result<Option<TextPiece>, AutomatonError> {
        let start = self.search.algebra.number_texts.start(numbers, Precision::Full)?;
        if let Some(text) = self.number_rest(start) {
            return Ok(Some(text));
        }
        // A single number of many digits: with exponents it has so many spellings that a search does not come to an end of one.
        let texts = &mut self.search.algebra.number_texts;
        let members = texts.sets_mut().members(numbers, 1)?;
        let text = members.first().map(|number| number.to_string().into_bytes());
        let Some(text) = text else { return Ok(None) };
        let end = text.iter().try_fold(start, |state, byte| texts.step(state, *byte));
        let found = end.is_some_and(|end| texts.can_end(end)).then(|| TextPiece::from(text));
        if let Some(text) = &found {
            self.completions.numbers.insert(start, found.clone());
            self.completions.count(text.len());
        }
        Ok(found)
    }

    /// A short text that completes a number; `None` if none was found.
    pub(super) fn number_rest(&mut self, from: NumberState) -> Option<TextPiece> {
        if let Some(known) = self.completions.numbers.get(&from) {
            return known.clone();
        }
        let found = self.nearest_number_end(from);
        let found = found.or_else(|| (0..=COUNTED_DIGITS).find_map(|exponent| self.number_end_at(from, exponent)));
        let found = found.or_else(|| {
            let mut steps = COUNTED_STEPS;
            (1..=COUNTED_DIGITS).find_map(|digits| {
                let mut text = Vec::new();
                self.number_end_after(from, digits, &mut text, &mut steps)
                    .then_some(text)
            })
        });
        let found = found.map(TextPiece::from);
        self.completions.count(found.as_ref().map_or(0, |text| text.len()));
        self.completions.numbers.insert(from, found.clone());
        found
    }

    /// A shortest text that completes a number, if few states are nearer.
    fn nearest_number_end(&mut self, from: NumberState) -> Option<Vec<u8>> {
        let mut known = HashSet::<NumberState>::from([from]);
        let mut left = VecDeque::from([(from, Vec::new())]);
        while let Some((state, text)) = left.pop_front() {
            if self.search.algebra.number_texts.can_end(state) {
                return Some(text);
            }
            if known.len() > SEARCHED_STATES {
                return None;
            }
            for &byte in NUMBER_BYTES {
                let next = self.search.algebra.number_texts.step(state, byte);
                if let Some(next) = next.filter(|next| known.insert(*next)) {
                    left.push_back((next, [&text[..], &[byte]].concat()));
                }
            }
        }
        None
    }

    /// The digits of the next number of the set, with an exponent of ten where that is not zero, if they complete the number.
    fn number_end_at(&mut self, from: NumberState, exponent: u32) -> Option<Vec<u8>> {
        let numbers = &mut self.search.algebra.number_texts;
        let text = numbers.next_member(from, exponent)?;
        let end = text.iter().try_fold(from, |state, byte| numbers.step(state, *byte))?;
        numbers.can_end(end).then_some(text)
    }

    /// Whether so many more bytes complete a number, which `text` then holds.
    fn number_end_after(&mut self, from: NumberState, count: u32, text: &mut Vec<u8>, steps: &mut usize) -> bool {
        let numbers = &mut self.search.algebra.number_texts;
        let Some(left) = count.checked_sub(1) else {
            return numbers.can_end(from);
        };
        if !numbers.may_end_after(from, count) {
            return false;
        }
        for &byte in NUMBER_BYTES {
            let Some(fewer) = steps.checked_sub(1) else {
                return false;
            };
            *steps = fewer;
            if let Some(next) = self.search.algebra.number_texts.step(from, byte) {
                text.push(byte);
                if self.number_end_after(next, left, text, steps) {
                    return true;
                }
                text.pop();
            }
        }
        false
    }

    /// A shortest text of a language, escaped as it stands between quotes, with the closing quote.
    pub(super) fn word(&mut self, language: LanguageId) -> Result<Option<TextPiece>, AutomatonError> {
        if let Some(known) = self.completions.words.get(&language) {
            return Ok(known.clone());
        }
        let word = match self.only_bounded(language)? {
            Some((least, _)) => usize::try_from(least)
                .ok()
                .filter(|least| *least <= super::MAX_BYTES)
                .map(|least| self.filler(least)),
            // If the texts of a language cannot be listed within the limits, none is found.
            None => {
                let words = self.languages_mut().members(language, 1).unwrap_or_default();
                let escapes = self.search.algebra.style.escapes;
                let word = words.first().map(|word| [&*escaped(word, escapes), b"\""].concat());
                self.completions.count(word.as_ref().map_or(0, Vec::len));
                word.map(TextPiece::from)
            }
        };
        self.completions.count(0);
        self.completions.words.insert(language, word.clone());
        Ok(word)
    }

    /// Returns a text of so many letters and a quote. All such texts share their bytes.
    fn filler(&mut self, letters: usize) -> TextPiece {
        let known = self.completions.filler.clone().filter(|known| known.len() > letters);
        let whole = known.unwrap_or_else(|| {
            let text = [&b"a".repeat(letters.next_power_of_two())[..], b"\""].concat();
            self.completions.count(text.len());
            self.completions.filler.insert(Arc::from(text)).clone()
        });
        let from = whole.len() - letters - 1;
        TextPiece { whole, from }
    }
}

/// A text as it stands between quotes, with only the escapes that are needed.
pub(super) fn escaped(text: &str, escapes: Escapes) -> Vec<u8> {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match escapes.hides(character) {
            true => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    escaped.push_str(&format!("\\u{unit:04x}"));
                }
            }
            false => push_escaped(&mut escaped, character),
        }
    }
    escaped.into_bytes()
}
