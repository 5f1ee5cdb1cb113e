//! Places inside of strings and numbers that are values.

use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::decimal::Decimal;
use crate::json::{Shape, Value};
use crate::limits::Exceeded;
use crate::numbers::{NumberSetId, NumberState};
use crate::strings::{Cardinality, LanguageId};

use super::super::atom::TextId;
use super::super::decision::DecisionId;
use super::super::decode::{Decode, Decoded, several_plain};
use super::super::few::Sorted;
use super::super::goal::{Goal, GoalId};
use super::{Automaton, Expected, ExpectedId, OpenId, Outcomes, StackId, State, Step, Top, Trouble, is_of_number};

/// Open goals of a string from which on its text is kept instead.
const MANY_OPEN: usize = 8;

/// Open goals up to which texts are told apart by what they make of them.
const MOST_SPLIT: usize = 3;
/// Words of open goals up to which these are told from all other texts.
pub(super) const MOST_WORDS: usize = 64;

impl Automaton {
    pub(super) fn begin_string(&mut self, expected: ExpectedId, stack: StackId) -> Step {
        let what = self.expected(expected);
        let viable = self.strings_of(expected)?;
        if self.languages.is_empty(viable)? {
            return Ok(None);
        }
        let mut open = Vec::new();
        for (&goal, certain) in what.goals.iter().zip(self.certain_of_strings(&what)?) {
            if certain.is_none() {
                open.push(self.constraint(goal)?.strings);
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

    /// The outcomes of a value's goals that are certain of all strings: those that only one will do of, or that are the
    /// same for all of them.
    pub(super) fn certain_of_strings(&mut self, what: &Expected) -> Result<SmallVec<[Option<bool>; 4]>, Trouble> {
        let mut certain = self.forced(what);
        for (outcome, &goal) in certain.iter_mut().zip(&what.goals) {
            if outcome.is_none() {
                let strings = self.constraint(goal)?.strings;
                *outcome = match strings {
                    _ if strings == self.languages.any() => Some(true),
                    _ if strings == self.languages.none() => Some(false),
                    _ => None,
                };
            }
        }
        Ok(certain)
    }

    /// The strings that a value's surroundings can live with.
    pub(super) fn strings_of(&mut self, expected: ExpectedId) -> Result<LanguageId, Trouble> {
        if let Some(&known) = self.strings_expected.get(&expected) {
            return Ok(known);
        }
        let what = self.expected(expected);
        let strings = self.strings_expected(&what)?;
        self.strings_expected.insert(expected, strings);
        Ok(strings)
    }

    /// The goal that a value must satisfy, where that is all.
    fn only_goal(&self, what: &Expected) -> Option<GoalId> {
        match what.goals[..] {
            [goal] => self.decisions.asks_for_one(what.decision).then_some(goal),
            _ => None,
        }
    }

    /// The strings whose outcomes will do.
    pub(super) fn strings_expected(&mut self, what: &Expected) -> Result<LanguageId, Trouble> {
        if let Some(goal) = self.only_goal(what) {
            return Ok(self.constraint(goal)?.strings);
        }
        let sorted = self.sort_few(&what.goals)?;
        let mut done: HashMap<DecisionId, LanguageId> = HashMap::new();
        for case in self.decisions.cases(what.decision) {
            let language = match self.decisions.split(case) {
                None if case == DecisionId::ALWAYS => self.languages.any(),
                None => self.languages.none(),
                Some((goal, _, invalid)) if is_few(&sorted, goal) => done[&invalid],
                Some((goal, valid, invalid)) => {
                    let language = self.constraint(what.goals[goal as usize])?.strings;
                    let others = self.languages.not(language)?;
                    let yes = self.languages.and(&[language, done[&valid]])?;
                    let no = self.languages.and(&[others, done[&invalid]])?;
                    self.languages.or(&[yes, no])?
                }
            };
            done.insert(case, language);
        }
        let language = done[&what.decision];
        let Some(sorted) = sorted else {
            return Ok(language);
        };
        let (mut all, mut admitted) = (Vec::new(), Vec::new());
        for (value, outcomes) in &sorted.known {
            if let Goal::Equal(value) = self.goals.get(*value)
                && let Shape::String(text) = value.as_ref().shape()
            {
                all.push(text);
                if self.decisions.admits(what.decision, |goal| outcomes[goal as usize]) {
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
                let mut outcomes = Outcomes::with_capacity(what.goals.len());
                for (&goal, certain) in what.goals.iter().zip(self.certain_of_strings(&what)?) {
                    if let Some(certain) = certain {
                        outcomes.push(certain);
                        continue;
                    }
                    outcomes.push(match open.next() {
                        Some(language) => self.languages.accepts_empty(*language),
                        None => {
                            let strings = self.constraint(goal)?.strings;
                            let text = text.map_or("", |text| self.texts.get(text));
                            self.languages.contains(strings, text)?
                        }
                    });
                }
                let text = text.filter(|_| self.keeps(stack));
                let value = text.map(|text| Value::string(self.texts.get(text)));
                let value = value.map(|value| self.goals.intern(Goal::Equal(value)));
                self.value_done(expected, outcomes, value, stack)
            }
        }
    }

    /// The place after the characters that come first in `bytes` and stand for themselves in a string, and how many these
    /// are, where the outcome of no goal is open. None where it is not so easy.
    pub(super) fn read_in_string(
        &mut self,
        at: State,
        bytes: &[u8],
    ) -> Result<Option<(Option<State>, usize)>, Trouble> {
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
    pub(crate) fn after_any_text(&mut self, at: State) -> Result<Option<State>, Trouble> {
        let Top::String(_, _, OpenId::NONE, None, expected) = at.top else {
            return Ok(None);
        };
        let certain = self.certain_of_strings(&self.expected(expected))?;
        let Some(outcomes) = certain.into_iter().collect() else {
            return Ok(None);
        };
        self.value_done(expected, outcomes, None, at.stack)
    }

    /// The languages of what may follow in the string that a place is in, by what they make of goals that are open, each
    /// with the place behind it; none where these are many, or more counts than that.
    pub(crate) fn after_texts(&mut self, at: State) -> Result<Option<Vec<(LanguageId, State)>>, Trouble> {
        let Top::String(_, language, open, None, expected) = at.top else {
            return Ok(None);
        };
        let open = self.open(open);
        let is_hard = |language: &LanguageId| self.languages.has_machines(*language);
        if open.is_empty() || open.len() > MOST_SPLIT || is_hard(&language) || open.iter().any(is_hard) {
            return Ok(None);
        }
        let mut classes = vec![(language, Vec::new())];
        for &goal in open.iter() {
            let not = self.languages.not(goal)?;
            let mut split = Vec::with_capacity(2 * classes.len());
            for (language, outcomes) in classes {
                for (side, outcome) in [(goal, true), (not, false)] {
                    let part = self.languages.and(&[language, side])?;
                    if !self.languages.is_empty(part)? {
                        split.push((part, [&outcomes[..], &[outcome]].concat()));
                    }
                }
            }
            classes = split;
        }
        let certain = self.certain_of_strings(&self.expected(expected))?;
        let mut places = Vec::with_capacity(classes.len());
        for (language, outcomes) in classes {
            let mut outcomes = outcomes.into_iter();
            let all = certain.iter().map(|certain| certain.or_else(|| outcomes.next()));
            let all: Option<Outcomes> = all.collect();
            let Some(all) = all else { return Ok(None) };
            // What was read so far goes on, so that there is a place behind each.
            if let Some(after) = self.value_done(expected, all, None, at.stack)? {
                places.push((language, after));
            }
        }
        Ok(Some(places))
    }

    /// The place after the string that a place is in, where it is the same for all strings but those with a few rests, which
    /// open goals list; none where there is no such place, or more counts than that.
    pub(crate) fn after_but_words(&mut self, at: State) -> Result<Option<(State, Vec<String>)>, Trouble> {
        let Top::String(_, language, open, None, expected) = at.top else {
            return Ok(None);
        };
        let open = self.open(open);
        if open.is_empty() || self.languages.has_machines(language) {
            return Ok(None);
        }
        let mut words: Vec<String> = Vec::new();
        for &goal in open.iter() {
            match self.few_words(goal, MOST_WORDS - words.len())? {
                Some(more) => words.extend(more),
                None => return Ok(None),
            }
        }
        words.sort_unstable();
        words.dedup();
        let certain = self.certain_of_strings(&self.expected(expected))?;
        let outcomes = certain.into_iter().map(|certain| certain.unwrap_or(false)).collect();
        let after = self.value_done(expected, outcomes, None, at.stack)?;
        Ok(after.map(|after| (after, words)))
    }

    /// The texts of a language, if they are at most so many.
    pub(super) fn few_words(&mut self, language: LanguageId, most: usize) -> Result<Option<Vec<String>>, Trouble> {
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
    pub(crate) fn content_has(&mut self, language: LanguageId, text: &str) -> Result<bool, Trouble> {
        Ok(self.languages.contains(language, text)?)
    }

    /// Whether a character that `decode` may still become can follow.
    pub(crate) fn may_follow(&mut self, decode: Decode, language: LanguageId) -> Result<bool, Trouble> {
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
    pub(super) fn number_start(&mut self, expected: ExpectedId) -> Result<Option<NumberState>, Trouble> {
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

    /// The numbers whose outcomes will do.
    pub(super) fn numbers_expected(&mut self, what: &Expected) -> Result<NumberSetId, Trouble> {
        if let Some(goal) = self.only_goal(what) {
            return Ok(self.constraint(goal)?.numbers);
        }
        let sorted = self.sort_few(&what.goals)?;
        let mut done: HashMap<DecisionId, NumberSetId> = HashMap::new();
        for case in self.decisions.cases(what.decision) {
            let set = match self.decisions.split(case) {
                None if case == DecisionId::ALWAYS => self.number_texts.sets().all(),
                None => self.number_texts.sets().none(),
                Some((goal, _, invalid)) if is_few(&sorted, goal) => done[&invalid],
                Some((goal, valid, invalid)) => {
                    let set = self.constraint(what.goals[goal as usize])?.numbers;
                    let sets = self.number_texts.sets_mut();
                    let others = sets.not(set);
                    let yes = sets.and(set, done[&valid])?;
                    let no = sets.and(others, done[&invalid])?;
                    sets.or(yes, no)?
                }
            };
            done.insert(case, set);
        }
        let set = done[&what.decision];
        let Some(sorted) = sorted else {
            return Ok(set);
        };
        let (mut all, mut admitted) = (Vec::new(), Vec::new());
        for (value, outcomes) in &sorted.known {
            if let Goal::Equal(value) = self.goals.get(*value)
                && let Shape::Number(number) = value.as_ref().shape()
            {
                all.push(number.clone());
                if self.decisions.admits(what.decision, |goal| outcomes[goal as usize]) {
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
        let Some(outcomes) = self.number_end(number, text, expected)? else {
            return Ok(None);
        };
        let value = match text.filter(|_| self.keeps(stack)) {
            Some(text) => Some(self.goals.intern(Goal::Equal(Value::number(self.decimal(text)?)))),
            None => None,
        };
        self.value_done(expected, outcomes, value, stack)
    }

    /// The outcomes of the goals where a number ends here; none where it cannot.
    pub(super) fn number_end(
        &mut self,
        number: NumberState,
        text: Option<TextId>,
        expected: ExpectedId,
    ) -> Result<Option<Outcomes>, Trouble> {
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
        let mut outcomes = Outcomes::with_capacity(forced.len());
        for &goal in &what.goals {
            let numbers = self.constraint(goal)?.numbers;
            outcomes.push(self.number_texts.sets().contains(numbers, &value, is_literal));
        }
        Ok(Some(outcomes))
    }

    pub(super) fn decimal(&self, text: TextId) -> Result<Decimal, Trouble> {
        Decimal::parse(self.texts.get(text).as_bytes()).map_err(|_| {
            let (limit, what) = ("number_digits", "digits in one number");
            let allowed = self.limits.number_digits;
            Exceeded { limit, what, allowed }.into()
        })
    }
}

/// Whether a goal is one of few values.
fn is_few(sorted: &Option<Sorted>, goal: u32) -> bool {
    let few = sorted.as_ref().map(|sorted| &sorted.few);
    few.is_some_and(|few| few.binary_search(&(goal as usize)).is_ok())
}
