//! Places inside of strings and numbers that are values.

use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::decimal::Decimal;
use crate::json::{Shape, Value};
use crate::limits::Exceeded;
use crate::numbers::{NumberSetId, NumberState};
use crate::strings::{Cardinality, LanguageId};

use super::super::assertion::{Assertion, AssertionId};
use super::super::atom::TextId;
use super::super::decision_diagram::DiagramId;
use super::super::decode::{Decode, Decoded, several_plain};
use super::super::few::Sorted;
use super::{
    Automaton, AutomatonError, Expected, ExpectedId, OpenId, StackId, State, Step, Top, Verdicts, is_of_number,
};

/// Open assertions of a string from which on its text is kept instead.
const MANY_OPEN: usize = 8;

/// Open assertions up to which texts are told apart by what they make of them.
const MOST_SPLIT: usize = 3;
/// Words of open assertions up to which these are told from all other texts.
pub(super) const MOST_WORDS: usize = 64;

impl Automaton {
    pub(super) fn begin_string(&mut self, expected: ExpectedId, stack: StackId) -> Step {
        let what = self.expected(expected);
        let viable = self.strings_of(expected)?;
        if self.languages.is_empty(viable)? {
            return Ok(None);
        }
        let mut open = Vec::new();
        for (&assertion, certain) in what.assertions.iter().zip(self.certain_of_strings(&what)?) {
            if certain.is_none() {
                open.push(self.constraint(assertion)?.strings);
            }
        }
        let by_text = open.len() >= MANY_OPEN;
        if by_text {
            open.clear();
        }
        let text = (by_text || self.keeps(stack)).then(|| self.texts.intern(""));
        let open = self.open_languages(open);
        let top = Top::String(Decode::default(), viable, open, text, expected);
        Ok(Some(State::new(top, stack)))
    }

    /// The verdicts of a value's assertions that are certain of all strings: those that only one will do of, or that are the
    /// same for all of them.
    pub(super) fn certain_of_strings(
        &mut self,
        what: &Expected,
    ) -> Result<SmallVec<[Option<bool>; 4]>, AutomatonError> {
        let mut certain = self.forced(what);
        for (verdict, &assertion) in certain.iter_mut().zip(&what.assertions) {
            if verdict.is_none() {
                let strings = self.constraint(assertion)?.strings;
                *verdict = match strings {
                    _ if strings == self.languages.any() => Some(true),
                    _ if strings == self.languages.none() => Some(false),
                    _ => None,
                };
            }
        }
        Ok(certain)
    }

    /// The strings that a value's surroundings can live with.
    pub(super) fn strings_of(&mut self, expected: ExpectedId) -> Result<LanguageId, AutomatonError> {
        if let Some(&known) = self.strings_expected.get(&expected) {
            return Ok(known);
        }
        let what = self.expected(expected);
        let strings = self.strings_expected(&what)?;
        self.strings_expected.insert(expected, strings);
        Ok(strings)
    }

    /// The assertion that a value must satisfy, where that is all.
    fn only_assertion(&self, what: &Expected) -> Option<AssertionId> {
        match what.assertions[..] {
            [assertion] => self.diagrams.asks_for_one(what.diagram).then_some(assertion),
            _ => None,
        }
    }

    /// The strings whose verdicts will do.
    pub(super) fn strings_expected(&mut self, what: &Expected) -> Result<LanguageId, AutomatonError> {
        if let Some(assertion) = self.only_assertion(what) {
            return Ok(self.constraint(assertion)?.strings);
        }
        let sorted = self.sort_few(&what.assertions)?;
        let mut done: HashMap<DiagramId, LanguageId> = HashMap::new();
        for case in self.diagrams.cases(what.diagram) {
            let language = match self.diagrams.split(case) {
                None if case == DiagramId::ALWAYS => self.languages.any(),
                None => self.languages.none(),
                Some((assertion, _, invalid)) if is_few(&sorted, assertion) => done[&invalid],
                Some((assertion, valid, invalid)) => {
                    let language = self.constraint(what.assertions[assertion as usize])?.strings;
                    let others = self.languages.not(language)?;
                    let yes = self.languages.and(&[language, done[&valid]])?;
                    let no = self.languages.and(&[others, done[&invalid]])?;
                    self.languages.or(&[yes, no])?
                }
            };
            done.insert(case, language);
        }
        let language = done[&what.diagram];
        let Some(sorted) = sorted else {
            return Ok(language);
        };
        let (mut all, mut admitted) = (Vec::new(), Vec::new());
        for (value, verdicts) in &sorted.known {
            if let Assertion::Equal(value) = self.assertions.get(*value)
                && let Shape::String(text) = value.as_ref().shape()
            {
                all.push(text);
                if self
                    .diagrams
                    .admits(what.diagram, |assertion| verdicts[assertion as usize])
                {
                    admitted.push(text);
                }
            }
        }
        let (all, admitted) = (self.languages.one_of(&all)?, self.languages.one_of(&admitted)?);
        let others = self.languages.not(all)?;
        let others = self.languages.and(&[language, others])?;
        Ok(self.languages.or(&[admitted, others])?)
    }

    pub(super) fn in_string(
        &mut self,
        (decode, language): (Decode, LanguageId),
        (open, text): (OpenId, Option<TextId>),
        expected: ExpectedId,
        stack: StackId,
        byte: u8,
    ) -> Step {
        match decode.step(byte, self.style.escapes) {
            Decoded::Refused => Ok(None),
            Decoded::Partial(decode) => {
                let viable = self.may_follow(decode, language)?;
                let top = Top::String(decode, language, open, text, expected);
                Ok(viable.then_some(State::new(top, stack)))
            }
            Decoded::Character(character) => {
                self.character_of_string(character, (language, open, text), expected, stack)
            }
            Decoded::End if !self.languages.accepts_empty(language) => Ok(None),
            Decoded::End => {
                let what = self.expected(expected);
                let open = self.open(open);
                let mut open = open.iter();
                let mut verdicts = Verdicts::with_capacity(what.assertions.len());
                for (&assertion, certain) in what.assertions.iter().zip(self.certain_of_strings(&what)?) {
                    if let Some(certain) = certain {
                        verdicts.push(certain);
                        continue;
                    }
                    verdicts.push(match open.next() {
                        Some(language) => self.languages.accepts_empty(*language),
                        None => {
                            let strings = self.constraint(assertion)?.strings;
                            let text = text.map_or("", |text| self.texts.get(text));
                            self.languages.contains(strings, text)?
                        }
                    });
                }
                let text = text.filter(|_| self.keeps(stack));
                let value = text.map(|text| Value::string(self.texts.get(text)));
                let value = value.map(|value| self.assertions.intern(Assertion::Equal(value)));
                self.value_done(expected, verdicts, value, stack)
            }
        }
    }

    /// The place after the characters that come first in `bytes` and stand for themselves in a string, and how many these
    /// are, where the verdict of no assertion is open. None where it is not so easy.
    pub(super) fn read_in_string(
        &mut self,
        at: State,
        bytes: &[u8],
    ) -> Result<Option<(Option<State>, usize)>, AutomatonError> {
        let Top::String(Decode::Between, mut language, OpenId::NONE, text, expected) = at.top else {
            return Ok(None);
        };
        let Some(more) = several_plain(bytes) else {
            return Ok(None);
        };
        // Nothing follows a text that none goes on with.
        if language != self.languages.any() {
            for character in more.chars() {
                language = self.languages.derivative(language, character)?;
            }
        }
        if self.languages.is_empty(language)? {
            return Ok(Some((None, more.len())));
        }
        let text = text.map(|text| self.texts.extended(text, more));
        let top = Top::String(Decode::default(), language, OpenId::NONE, text, expected);
        let next = self.if_apart(Some(State::new(top, at.stack)))?;
        Ok(Some((next, more.len())))
    }

    /// The place after one more character of a string.
    pub(super) fn character_of_string(
        &mut self,
        character: char,
        (language, open, text): (LanguageId, OpenId, Option<TextId>),
        expected: ExpectedId,
        stack: StackId,
    ) -> Step {
        let language = self.languages.derivative(language, character)?;
        if self.languages.is_empty(language)? {
            return Ok(None);
        }
        let mut open = open;
        if open != OpenId::NONE {
            let mut after = Vec::new();
            for &language in self.open(open).iter() {
                after.push(self.languages.derivative(language, character)?);
            }
            open = self.open_languages(after);
        }
        let text = text.map(|text| self.texts.longer(text, character));
        let top = Top::String(Decode::default(), language, open, text, expected);
        Ok(Some(State::new(top, stack)))
    }

    /// The place after the string that a place is in, where it is the same whatever the string will be.
    pub(crate) fn after_any_text(&mut self, at: State) -> Result<Option<State>, AutomatonError> {
        let Top::String(_, _, OpenId::NONE, None, expected) = at.top else {
            return Ok(None);
        };
        let certain = self.certain_of_strings(&self.expected(expected))?;
        let Some(verdicts) = certain.into_iter().collect() else {
            return Ok(None);
        };
        self.value_done(expected, verdicts, None, at.stack)
    }

    /// The languages of what may follow in the string that a place is in, by what they make of assertions that are open, each
    /// with the place behind it; none where these are many, or more counts than that.
    pub(crate) fn after_texts(&mut self, at: State) -> Result<Option<Vec<(LanguageId, State)>>, AutomatonError> {
        let Top::String(_, language, open, None, expected) = at.top else {
            return Ok(None);
        };
        let open = self.open(open);
        let is_hard = |language: &LanguageId| self.languages.has_machines(*language);
        if open.is_empty() || open.len() > MOST_SPLIT || is_hard(&language) || open.iter().any(is_hard) {
            return Ok(None);
        }
        let mut classes = vec![(language, Vec::new())];
        for &assertion in open.iter() {
            let not = self.languages.not(assertion)?;
            let mut split = Vec::with_capacity(2 * classes.len());
            for (language, verdicts) in classes {
                for (side, verdict) in [(assertion, true), (not, false)] {
                    let part = self.languages.and(&[language, side])?;
                    if !self.languages.is_empty(part)? {
                        split.push((part, [&verdicts[..], &[verdict]].concat()));
                    }
                }
            }
            classes = split;
        }
        let certain = self.certain_of_strings(&self.expected(expected))?;
        let mut places = Vec::with_capacity(classes.len());
        for (language, verdicts) in classes {
            let mut verdicts = verdicts.into_iter();
            let all = certain.iter().map(|certain| certain.or_else(|| verdicts.next()));
            let all: Option<Verdicts> = all.collect();
            let Some(all) = all else { return Ok(None) };
            // What was read so far goes on, so that there is a place behind each.
            if let Some(after) = self.value_done(expected, all, None, at.stack)? {
                places.push((language, after));
            }
        }
        Ok(Some(places))
    }

    /// The place after the string that a place is in, where it is the same for all strings but those with a few rests, which
    /// open assertions list; none where there is no such place, or more counts than that.
    pub(crate) fn after_but_words(&mut self, at: State) -> Result<Option<(State, Vec<String>)>, AutomatonError> {
        let Top::String(_, language, open, None, expected) = at.top else {
            return Ok(None);
        };
        let open = self.open(open);
        if open.is_empty() || self.languages.has_machines(language) {
            return Ok(None);
        }
        let mut words: Vec<String> = Vec::new();
        for &assertion in open.iter() {
            match self.few_words(assertion, MOST_WORDS - words.len())? {
                Some(more) => words.extend(more),
                None => return Ok(None),
            }
        }
        words.sort_unstable();
        words.dedup();
        let certain = self.certain_of_strings(&self.expected(expected))?;
        let verdicts = certain.into_iter().map(|certain| certain.unwrap_or(false)).collect();
        let after = self.value_done(expected, verdicts, None, at.stack)?;
        Ok(after.map(|after| (after, words)))
    }

    /// The texts of a language, if they are at most so many.
    pub(super) fn few_words(
        &mut self,
        language: LanguageId,
        most: usize,
    ) -> Result<Option<Vec<String>>, AutomatonError> {
        if self.languages.has_machines(language) {
            return Ok(None);
        }
        if let Some(words) = self.languages.words(language, most + 1) {
            return Ok(Some(words).filter(|words| words.len() <= most));
        }
        Ok(match self.languages.cardinality(language, most as u64)? {
            Cardinality::Finite(count) if count <= most as u64 => Some(self.languages.members(language, most)?),
            _ => None,
        })
    }

    /// Whether the empty text belongs to a language.
    pub(crate) fn accepts_empty(&self, language: LanguageId) -> bool {
        self.languages.accepts_empty(language)
    }

    /// Whether a text belongs to a language.
    pub(crate) fn content_has(&mut self, language: LanguageId, text: &str) -> Result<bool, AutomatonError> {
        Ok(self.languages.contains(language, text)?)
    }

    /// Whether a character that `decode` may still become can follow.
    pub(crate) fn may_follow(&mut self, decode: Decode, language: LanguageId) -> Result<bool, AutomatonError> {
        self.content_may_begin(language, &decode.possible(self.style.escapes))
    }

    pub(super) fn begin_number(&mut self, expected: ExpectedId, stack: StackId, byte: u8) -> Step {
        let Some(start) = self.number_start(expected)? else {
            return Ok(None);
        };
        let what = self.expected(expected);
        let open = self.forced(&what).iter().any(Option::is_none) || self.keeps(stack);
        let text = open.then(|| self.texts.intern(""));
        self.continue_number(start, text, expected, stack, byte)
    }

    /// The place before a number; none where there is none.
    pub(super) fn number_start(&mut self, expected: ExpectedId) -> Result<Option<NumberState>, AutomatonError> {
        let viable = match self.numbers_expected.get(&expected) {
            Some(&known) => known,
            None => {
                let what = self.expected(expected);
                let viable = self.numbers_expected(&what)?;
                self.numbers_expected.insert(expected, viable);
                viable
            }
        };
        match self.number_texts.sets().is_empty(viable) {
            true => Ok(None),
            false => Ok(Some(self.number_texts.start(viable)?)),
        }
    }

    /// The numbers whose verdicts will do.
    pub(super) fn numbers_expected(&mut self, what: &Expected) -> Result<NumberSetId, AutomatonError> {
        if let Some(assertion) = self.only_assertion(what) {
            return Ok(self.constraint(assertion)?.numbers);
        }
        let sorted = self.sort_few(&what.assertions)?;
        let mut done: HashMap<DiagramId, NumberSetId> = HashMap::new();
        for case in self.diagrams.cases(what.diagram) {
            let set = match self.diagrams.split(case) {
                None if case == DiagramId::ALWAYS => self.number_texts.sets().all(),
                None => self.number_texts.sets().none(),
                Some((assertion, _, invalid)) if is_few(&sorted, assertion) => done[&invalid],
                Some((assertion, valid, invalid)) => {
                    let set = self.constraint(what.assertions[assertion as usize])?.numbers;
                    let sets = self.number_texts.sets_mut();
                    let others = sets.not(set);
                    let yes = sets.and(set, done[&valid])?;
                    let no = sets.and(others, done[&invalid])?;
                    sets.or(yes, no)?
                }
            };
            done.insert(case, set);
        }
        let set = done[&what.diagram];
        let Some(sorted) = sorted else {
            return Ok(set);
        };
        let (mut all, mut admitted) = (Vec::new(), Vec::new());
        for (value, verdicts) in &sorted.known {
            if let Assertion::Equal(value) = self.assertions.get(*value)
                && let Shape::Number(number) = value.as_ref().shape()
            {
                all.push(number.clone());
                if self
                    .diagrams
                    .admits(what.diagram, |assertion| verdicts[assertion as usize])
                {
                    admitted.push(number.clone());
                }
            }
        }
        let sets = self.number_texts.sets_mut();
        let (all, admitted) = (sets.one_of(all)?, sets.one_of(admitted)?);
        let others = sets.not(all);
        let others = sets.and(set, others)?;
        Ok(sets.or(admitted, others)?)
    }

    pub(super) fn continue_number(
        &mut self,
        number: NumberState,
        text: Option<TextId>,
        expected: ExpectedId,
        stack: StackId,
        byte: u8,
    ) -> Step {
        let Some(number) = self.number_texts.step(number, byte) else {
            return Ok(None);
        };
        let text = text.map(|text| self.texts.longer(text, char::from(byte)));
        let top = Top::Number(number, text, expected);
        Ok(Some(State::new(top, stack)))
    }

    pub(super) fn in_number(
        &mut self,
        number: NumberState,
        text: Option<TextId>,
        expected: ExpectedId,
        stack: StackId,
        byte: u8,
    ) -> Step {
        if is_of_number(byte) {
            return self.continue_number(number, text, expected, stack, byte);
        }
        // A number ends where something else begins.
        match self.number_done(number, text, expected, stack)? {
            Some(after) => self.read(&after, byte),
            None => Ok(None),
        }
    }

    /// After a number that ends here.
    pub(super) fn number_done(
        &mut self,
        number: NumberState,
        text: Option<TextId>,
        expected: ExpectedId,
        stack: StackId,
    ) -> Step {
        let Some(verdicts) = self.number_end(number, text, expected)? else {
            return Ok(None);
        };
        let value = match text.filter(|_| self.keeps(stack)) {
            Some(text) => Some(
                self.assertions
                    .intern(Assertion::Equal(Value::number(self.decimal(text)?))),
            ),
            None => None,
        };
        self.value_done(expected, verdicts, value, stack)
    }

    /// The verdicts of the assertions where a number ends here; none where it cannot.
    pub(super) fn number_end(
        &mut self,
        number: NumberState,
        text: Option<TextId>,
        expected: ExpectedId,
    ) -> Result<Option<Verdicts>, AutomatonError> {
        if !self.number_texts.can_end(number) {
            return Ok(None);
        }
        let what = self.expected(expected);
        let forced = self.forced(&what);
        let Some(text) = text else {
            return Ok(Some(forced.into_iter().map(|forced| forced.unwrap_or(false)).collect()));
        };
        let value = self.decimal(text)?;
        let is_literal = !self.texts.get(text).contains(['.', 'e', 'E']);
        let mut verdicts = Verdicts::with_capacity(forced.len());
        for &assertion in &what.assertions {
            let numbers = self.constraint(assertion)?.numbers;
            verdicts.push(self.number_texts.sets().contains(numbers, &value, is_literal));
        }
        Ok(Some(verdicts))
    }

    pub(super) fn decimal(&self, text: TextId) -> Result<Decimal, AutomatonError> {
        Decimal::parse(self.texts.get(text).as_bytes()).map_err(|_| {
            let (limit, what) = ("number_digits", "digits in one number");
            let allowed = self.limits.number_digits;
            Exceeded { limit, what, allowed }.into()
        })
    }
}

/// Whether an assertion is one of few values.
fn is_few(sorted: &Option<Sorted>, assertion: u32) -> bool {
    let few = sorted.as_ref().map(|sorted| &sorted.few);
    few.is_some_and(|few| few.binary_search(&(assertion as usize)).is_ok())
}
