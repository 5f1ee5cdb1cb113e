//! Places inside of strings and numbers that are values.

use crate::decimal::Decimal;
use crate::json::Value;
use crate::numbers::{NumberSetId, NumberState};
use crate::strings::LanguageId;

use super::super::atom::TextId;
use super::super::decision::DecisionId;
use super::super::decode::{Decode, Decoded};
use super::super::goal::Goal;
use super::{Automaton, ExpectedId, StackId, State, Step, Top, Trouble};

impl Automaton {
    pub(super) fn begin_string(&mut self, expected: ExpectedId, stack: StackId) -> Step {
        let what = self.expected(expected);
        let mut languages = Vec::with_capacity(what.goals.len());
        for &goal in &what.goals {
            languages.push(self.constraint(goal)?.strings);
        }
        let viable = self.language_of(what.decision, &languages)?;
        if self.languages.is_empty(viable)? {
            return Ok(None);
        }
        let forced = self.forced(&what);
        let open = languages.into_iter().zip(forced).filter(|(_, forced)| forced.is_none());
        let languages: Box<[LanguageId]> = std::iter::once(viable)
            .chain(open.map(|(language, _)| language))
            .collect();
        let text = self.keeps(stack).then(|| self.texts.intern(""));
        let top = Top::String(Decode::default(), languages, text, expected);
        Ok(Some(State::new(top, stack)))
    }

    /// The strings whose outcomes will do.
    pub(super) fn language_of(
        &mut self,
        decision: DecisionId,
        languages: &[LanguageId],
    ) -> Result<LanguageId, Trouble> {
        Ok(match self.decisions.split(decision) {
            None if decision == DecisionId::ALWAYS => self.languages.any(),
            None => self.languages.none(),
            Some((goal, valid, invalid)) => {
                let language = languages[goal as usize];
                let others = self.languages.not(language)?;
                let valid = self.language_of(valid, languages)?;
                let invalid = self.language_of(invalid, languages)?;
                let yes = self.languages.and(&[language, valid])?;
                let no = self.languages.and(&[others, invalid])?;
                self.languages.or(&[yes, no])?
            }
        })
    }

    pub(super) fn in_string(
        &mut self,
        decode: Decode,
        languages: &[LanguageId],
        text: Option<TextId>,
        expected: ExpectedId,
        stack: StackId,
        byte: u8,
    ) -> Step {
        match decode.step(byte, self.style.escapes) {
            Decoded::Refused => Ok(None),
            Decoded::Partial(decode) => {
                let viable = self.may_follow(decode, languages[0])?;
                let top = Top::String(decode, languages.into(), text, expected);
                Ok(viable.then_some(State::new(top, stack)))
            }
            Decoded::Character(character) => {
                let viable = self.languages.derivative(languages[0], character)?;
                if self.languages.is_empty(viable)? {
                    return Ok(None);
                }
                let mut after = vec![viable];
                for &language in &languages[1..] {
                    after.push(self.languages.derivative(language, character)?);
                }
                let text = text.map(|text| {
                    let longer = format!("{}{character}", self.texts.get(text));
                    self.texts.intern(&longer)
                });
                let top = Top::String(Decode::default(), after.into(), text, expected);
                Ok(Some(State::new(top, stack)))
            }
            Decoded::End if !self.languages.accepts_empty(languages[0]) => Ok(None),
            Decoded::End => {
                let mut open = languages[1..].iter();
                let what = self.expected(expected);
                let outcomes = self.forced(&what).into_iter().map(|forced| {
                    let open = || {
                        open.next()
                            .is_some_and(|language| self.languages.accepts_empty(*language))
                    };
                    forced.unwrap_or_else(open)
                });
                let outcomes = outcomes.collect();
                let value = text.map(|text| Value::string(self.texts.get(text)));
                let value = value.map(|value| self.goals.intern(Goal::Equal(value)));
                self.value_done(expected, outcomes, value, stack)
            }
        }
    }

    /// Whether a character that `decode` may still become can follow.
    pub(crate) fn may_follow(&mut self, decode: Decode, language: LanguageId) -> Result<bool, Trouble> {
        let possible = decode.possible(self.style.escapes);
        let transitions = self.languages.transitions(language)?;
        Ok(transitions.iter().any(|(range, _)| {
            let (first, last) = (u32::from(range.first()), u32::from(range.last()));
            possible.iter().any(|(low, high)| *low <= last && first <= *high)
        }))
    }

    pub(super) fn begin_number(&mut self, expected: ExpectedId, stack: StackId, byte: u8) -> Step {
        let what = self.expected(expected);
        let mut sets = Vec::with_capacity(what.goals.len());
        for &goal in &what.goals {
            sets.push(self.constraint(goal)?.numbers);
        }
        let viable = self.set_of(what.decision, &sets)?;
        if self.number_texts.sets().is_empty(viable) {
            return Ok(None);
        }
        let open = self.forced(&what).iter().any(Option::is_none) || self.keeps(stack);
        let text = open.then(|| self.texts.intern(""));
        let start = self.number_texts.start(viable)?;
        self.continue_number(start, text, expected, stack, byte)
    }

    /// The numbers whose outcomes will do.
    pub(super) fn set_of(&mut self, decision: DecisionId, sets: &[NumberSetId]) -> Result<NumberSetId, Trouble> {
        Ok(match self.decisions.split(decision) {
            None if decision == DecisionId::ALWAYS => self.number_texts.sets_mut().all(),
            None => self.number_texts.sets_mut().none(),
            Some((goal, valid, invalid)) => {
                let set = sets[goal as usize];
                let others = self.number_texts.sets_mut().not(set);
                let valid = self.set_of(valid, sets)?;
                let invalid = self.set_of(invalid, sets)?;
                let yes = self.number_texts.sets_mut().and(set, valid)?;
                let no = self.number_texts.sets_mut().and(others, invalid)?;
                self.number_texts.sets_mut().or(yes, no)?
            }
        })
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
        let text = text.map(|text| {
            let longer = format!("{}{}", self.texts.get(text), char::from(byte));
            self.texts.intern(&longer)
        });
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
        if matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E') {
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
    ) -> Result<Option<Vec<bool>>, Trouble> {
        if !self.number_texts.can_end(number) {
            return Ok(None);
        }
        let what = self.expected(expected);
        let forced = self.forced(&what);
        let Some(text) = text else {
            return Ok(Some(forced.into_iter().map(|forced| forced.unwrap_or(false)).collect()));
        };
        let value = self.decimal(text)?;
        let mut outcomes = Vec::with_capacity(forced.len());
        for &goal in &what.goals {
            let numbers = self.constraint(goal)?.numbers;
            outcomes.push(self.number_texts.sets().contains(numbers, &value));
        }
        Ok(Some(outcomes))
    }

    pub(super) fn decimal(&self, text: TextId) -> Result<Decimal, Trouble> {
        Decimal::parse(self.texts.get(text).as_bytes()).map_err(|_| Trouble::Limit("size of a number"))
    }
}
