//! Numbers that have to differ from others.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{AssertionId, TextId};
use crate::automaton::search::ExpectationId;
use crate::automaton::step::{Automaton, StackId};
use crate::decimal::Decimal;
use crate::numbers::NumberState;

/// Number of bytes by which a number is extended to find one that differs.
const EXTENSION_BYTES: usize = 12;

impl Automaton {
    /// Whether the number `text` that is being read can become a number that is none of `others`.
    pub(super) fn number_can_be_distinct(
        &mut self,
        number: NumberState,
        text: TextId,
        expected: ExpectationId,
        others: &[AssertionId],
    ) -> Result<bool, AutomatonError> {
        let others = self.numbers_of(others);
        if others.is_empty() || self.longer_number(number, text, &others) {
            return Ok(true);
        }
        Ok(self.number_beside(text, expected, others)?.is_some())
    }

    /// The number that is being read, restricted to numbers that differ from those it has to differ from.
    pub(crate) fn distinct_number(
        &mut self,
        number: NumberState,
        text: Option<TextId>,
        expected: ExpectationId,
        stack: StackId,
    ) -> Result<NumberState, AutomatonError> {
        let child = self.distinctness(stack)?.child;
        let (Some(text), false) = (text, child.is_empty()) else {
            return Ok(number);
        };
        let others = self.numbers_of(&child);
        Ok(self.number_beside(text, expected, others)?.unwrap_or(number))
    }

    /// The number `text` that is being read, restricted to numbers that are none of `others`; `None` if there is no
    /// such number.
    fn number_beside(
        &mut self,
        text: TextId,
        expected: ExpectationId,
        others: Vec<Decimal>,
    ) -> Result<Option<NumberState>, AutomatonError> {
        let what = self.search.expected(expected);
        let viable = self.search.numbers_expected(&what)?;
        let numbers = self.search.algebra.number_texts.sets_mut();
        let others = numbers.one_of(others)?;
        let others = numbers.not(others);
        let viable = numbers.and(viable, others)?;
        if numbers.is_empty(viable) {
            return Ok(None);
        }
        let mut state = Some(self.search.algebra.number_texts.start(viable)?);
        for byte in self.search.algebra.texts.get(text).bytes() {
            state = state.and_then(|state| self.search.algebra.number_texts.step(state, byte));
        }
        Ok(state)
    }

    /// Whether one of a few tried continuations of a number leads to a number that is none of `others`.
    fn longer_number(&mut self, start: NumberState, text: TextId, others: &[Decimal]) -> bool {
        for first in [3, 7, 1] {
            let (mut state, mut longer) = (start, self.search.algebra.texts.get(text).to_owned());
            for at in 0..3 * EXTENSION_BYTES {
                if at >= EXTENSION_BYTES && self.search.algebra.number_texts.can_end(state) {
                    break;
                }
                let digits = (0..10).map(|digit| b'0' + ((first + 7 * at + digit) % 10) as u8);
                let mut bytes = digits.chain(*b".e-");
                let Some((byte, next)) = bytes.find_map(|byte| {
                    self.search
                        .algebra
                        .number_texts
                        .step(state, byte)
                        .map(|next| (byte, next))
                }) else {
                    break;
                };
                longer.push(char::from(byte));
                state = next;
            }
            let value = Decimal::parse(longer.as_bytes()).ok();
            if self.search.algebra.number_texts.can_end(state) && value.is_some_and(|value| !others.contains(&value)) {
                return true;
            }
        }
        false
    }

    /// The numbers among `others`.
    fn numbers_of(&self, others: &[AssertionId]) -> Vec<Decimal> {
        let numbers = others.iter().filter_map(|other| self.search.algebra.number_of(*other));
        numbers.collect()
    }
}
