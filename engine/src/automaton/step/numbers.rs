//! Transitions within numbers.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{Assertion, TextId};
use crate::automaton::search::{ExpectationId, Verdicts};
use crate::automaton::step::{Automaton, Cursor, StackId, State, StepResult, is_of_number};
use crate::decimal::Decimal;
use crate::json::Value;
use crate::numbers::{NextDigits, NumberState, Precision};

impl Automaton {
    /// The state of a number after one more byte; `None` if no number of the set continues like that.
    pub(crate) fn number_step(&mut self, number: NumberState, byte: u8) -> Option<NumberState> {
        self.search.algebra.number_texts.step(number, byte)
    }

    /// The digits that may follow in a number, if those that follow are at most `longest`.
    pub(crate) fn next_digits(&self, number: NumberState, longest: u32) -> NextDigits {
        self.search.algebra.number_texts.next_digits(number, longest)
    }

    /// The state after the number that a state is in; `None` if the number cannot end there, or if nothing can follow
    /// it.
    pub(crate) fn after_number(&mut self, at: State) -> Result<Option<State>, AutomatonError> {
        let Cursor::Number(number, text, expected) = at.cursor else {
            return Ok(None);
        };
        let after = self.number_done(number, text, expected, at.stack)?;
        self.if_distinct(after)
    }

    /// Whether a state is within a number.
    pub(crate) fn is_in_number(&self, at: State) -> bool {
        matches!(at.cursor, Cursor::Number(..))
    }

    /// The state after the first byte of a number.
    pub(super) fn begin_number(&mut self, expected: ExpectationId, stack: StackId, byte: u8) -> StepResult {
        let Some(start) = self.number_start(expected, stack)? else {
            return Ok(None);
        };
        let text = self.keeps_number(expected, stack).then_some(TextId::EMPTY);
        self.continue_number(start, text, expected, stack, byte)
    }

    /// Whether the value of a number matters when the number ends, and not only that it meets an expectation.
    fn keeps_number(&self, expected: ExpectationId, stack: StackId) -> bool {
        let what = self.search.expected(expected);
        self.search.forced(&what).iter().any(Option::is_none) || self.keeps_values(stack)
    }

    /// The state before the first byte of a number that meets an expectation; `None` if there is no such number.
    pub(super) fn number_start(
        &mut self,
        expected: ExpectationId,
        stack: StackId,
    ) -> Result<Option<NumberState>, AutomatonError> {
        let viable = match self.search.expectations.numbers.get(&expected) {
            Some(&known) => known,
            None => {
                let what = self.search.expected(expected);
                let viable = self.search.numbers_expected(&what)?;
                self.search.expectations.numbers.insert(expected, viable);
                viable
            }
        };
        if self.search.algebra.number_texts.sets().is_empty(viable) {
            return Ok(None);
        }
        // A number cut short is told apart from fewer others.
        let precision = match self.keeps_number(expected, stack) {
            true => Precision::Full,
            false => Precision::Usual,
        };
        Ok(Some(self.search.algebra.number_texts.start(viable, precision)?))
    }

    /// The state after a byte that belongs to the number.
    fn continue_number(
        &mut self,
        number: NumberState,
        text: Option<TextId>,
        expected: ExpectationId,
        stack: StackId,
        byte: u8,
    ) -> StepResult {
        let Some(number) = self.search.algebra.number_texts.step(number, byte) else {
            return Ok(None);
        };
        let text = text.map(|text| self.search.algebra.texts.longer(text, char::from(byte)));
        let cursor = Cursor::Number(number, text, expected);
        Ok(Some(State::new(cursor, stack)))
    }

    /// The state after a byte within a number or behind it.
    pub(super) fn in_number(
        &mut self,
        number: NumberState,
        text: Option<TextId>,
        expected: ExpectationId,
        stack: StackId,
        byte: u8,
    ) -> StepResult {
        if is_of_number(byte) {
            return self.continue_number(number, text, expected, stack, byte);
        }
        // A number has no end mark of its own: it ends where another byte begins something else.
        match self.number_done(number, text, expected, stack)? {
            Some(after) => self.read(&after, byte),
            None => Ok(None),
        }
    }

    /// The state after a number that ends here.
    pub(super) fn number_done(
        &mut self,
        number: NumberState,
        text: Option<TextId>,
        expected: ExpectationId,
        stack: StackId,
    ) -> StepResult {
        let Some(verdicts) = self.number_end(number, text, expected)? else {
            return Ok(None);
        };
        let value = match text.filter(|_| self.keeps_values(stack)) {
            Some(text) => Some(
                self.search
                    .algebra
                    .assertions
                    .intern(Assertion::Equal(Value::number(self.decimal(text)?))),
            ),
            None => None,
        };
        self.value_done(expected, verdicts, value, stack)
    }

    /// The verdicts of the assertions for a number that ends here; `None` if it cannot end here.
    pub(super) fn number_end(
        &mut self,
        number: NumberState,
        text: Option<TextId>,
        expected: ExpectationId,
    ) -> Result<Option<Verdicts>, AutomatonError> {
        if !self.search.algebra.number_texts.can_end(number) {
            return Ok(None);
        }
        let what = self.search.expected(expected);
        let forced = self.search.forced(&what);
        let Some(text) = text else {
            return Ok(Some(forced.into_iter().map(|forced| forced.unwrap_or(false)).collect()));
        };
        let value = self.decimal(text)?;
        let is_literal = !self.search.algebra.texts.get(text).contains(['.', 'e', 'E']);
        let mut verdicts = Verdicts::with_capacity(forced.len());
        for &assertion in &what.assertions {
            let numbers = self.search.algebra.constraint(assertion)?.numbers;
            verdicts.push(
                self.search
                    .algebra
                    .number_texts
                    .sets()
                    .contains(numbers, &value, is_literal),
            );
        }
        Ok(Some(verdicts))
    }

    /// The value of a number's text.
    fn decimal(&self, text: TextId) -> Result<Decimal, AutomatonError> {
        let text = self.search.algebra.texts.get(text).as_bytes();
        Decimal::parse(text).map_err(|error| AutomatonError::Reached(format!("a number cannot be compared: {error}")))
    }
}
