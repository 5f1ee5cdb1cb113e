//! Numbers that must differ from others.
//!
//! Mostly more numbers begin with the digits read than a document has items, and then one of them differs from all others.
//! Otherwise all numbers that may still come are enumerated, or some of them where they are many. Only where all of these are
//! among the others does the automaton of numbers continue in a set without the others that have the same leading digits.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{Assertion, AssertionId, ByNumber, SetId, TextId};
use crate::automaton::search::ExpectationId;
use crate::automaton::step::{Automaton, Cursor, StackId, State};
use crate::decimal::Decimal;
use crate::json::Value;
use crate::numbers::{NextDigits, NumberState, NumeralAutomaton, Precision};
use hashbrown::HashSet;

/// Maximal number of states visited to show that many numbers have a prefix.
const LOOKED_AT: usize = 96;

/// Maximal number of continuations of a number that are enumerated.
const MAX_RESTS: usize = 16;

/// Bytes that may occur in a number.
const NUMBER_BYTES: &[u8] = b"0123456789.-+eE";

/// Digits that are tried behind the part of a number that has been read.
const TRIED_DIGITS: [&str; 18] = [
    "", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", ".0", ".5", "11", "29", "47", "83", "101",
];

/// Exponents that are tried behind these digits.
const TRIED_EXPONENTS: [&str; 7] = ["", "e0", "e1", "e2", "e3", "e4", "e5"];

/// The part of a number's state that decides how many numbers may still come, for a number that must differ from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PartialNumber {
    /// Whether all digits before the exponent are zero.
    is_zero: bool,
    has_exponent: bool,
    /// A number of digits in which more numbers can be written than there are numbers to differ from, even without leading zeros.
    digits: u32,
}

impl PartialNumber {
    /// The partial number `text`, which must differ from `others` numbers.
    fn of(text: &str, others: usize) -> Self {
        let begun = Self {
            is_zero: true,
            has_exponent: false,
            digits: others.checked_ilog10().map_or(1, |log| log + 2),
        };
        text.bytes().fold(begun, Self::after)
    }

    /// The number after one more byte.
    pub(crate) fn after(self, byte: u8) -> Self {
        Self {
            is_zero: self.is_zero && (self.has_exponent || !matches!(byte, b'1'..=b'9')),
            has_exponent: self.has_exponent || matches!(byte, b'e' | b'E'),
            ..self
        }
    }
}

impl Automaton {
    /// Whether the number `text` that is being read can become a number that is none of `others`.
    pub(super) fn number_can_be_distinct(
        &mut self,
        number: NumberState,
        text: TextId,
        expected: ExpectationId,
        others: SetId<AssertionId>,
    ) -> Result<bool, AutomatonError> {
        if others == SetId::EMPTY {
            return Ok(true);
        }
        let begun = PartialNumber::of(
            self.search.algebra.texts.get(text),
            self.search.algebra.values.others.len(others),
        );
        if self.has_many_numbers(number, begun) {
            return Ok(true);
        }
        if let Some(rests) = self.all_rests(number) {
            return Ok(rests.iter().any(|rest| self.is_distinct(text, rest, others)));
        }
        Ok(self.tried_rest(number, text, others).is_some() || self.number_beside(text, expected, others)?.is_some())
    }

    /// Returns the `PartialNumber` of the number that a state is in or before; with the state, it decides how many numbers may
    /// come.
    pub(crate) fn partial_number(&mut self, at: State) -> Result<PartialNumber, AutomatonError> {
        let others = self.distinctness(at.stack)?.child.others;
        let read = match at.cursor {
            Cursor::Number(_, Some(text), _) => self.search.algebra.texts.get(text),
            _ => "",
        };
        Ok(PartialNumber::of(read, self.search.algebra.values.others.len(others)))
    }

    /// Whether more numbers continue from a state than there are numbers to differ from; `false` also if this is not decided
    /// within a few steps.
    pub(crate) fn has_many_numbers(&mut self, number: NumberState, begun: PartialNumber) -> bool {
        // Whatever its exponent, zero is zero.
        if begun.is_zero && begun.has_exponent {
            return false;
        }
        let key = (number, begun.digits);
        if let Some(&known) = self.distinct_memo.many_numbers.get(&key) {
            return known;
        }
        let mut seen: HashSet<NumberState> = HashSet::from([number]);
        let mut open = vec![number];
        let mut is_many = false;
        while let Some(at) = open.pop()
            && !is_many
        {
            let numbers = &mut self.search.algebra.number_texts;
            // Numbers of different digits differ, and so do those of different exponents if these go on without end.
            let repeats = |numbers: &mut NumeralAutomaton, byte| numbers.step(at, byte) == Some(at);
            is_many = numbers.next_digits(at, begun.digits) != NextDigits::Some
                || repeats(numbers, b'1') && repeats(numbers, b'2');
            for byte in *b"1205.-" {
                if let Some(next) = numbers.step(at, byte)
                    && seen.len() < LOOKED_AT
                    && seen.insert(next)
                {
                    open.push(next);
                }
            }
        }
        self.distinct_memo.many_numbers.insert(key, is_many);
        is_many
    }

    /// Returns a tried continuation of a number that makes it none of `others`.
    fn tried_rest(&mut self, number: NumberState, text: TextId, others: SetId<AssertionId>) -> Option<String> {
        let step = |this: &mut Self, from: Option<NumberState>, text: &str| {
            let mut bytes = text.bytes();
            bytes.try_fold(from?, |at, byte| this.search.algebra.number_texts.step(at, byte))
        };
        for digits in TRIED_DIGITS {
            let Some(longer) = step(self, Some(number), digits) else {
                continue;
            };
            for exponent in TRIED_EXPONENTS {
                let Some(end) = step(self, Some(longer), exponent) else {
                    continue;
                };
                let rest = format!("{digits}{exponent}");
                if self.search.algebra.number_texts.can_end(end) && self.is_distinct(text, &rest, others) {
                    return Some(rest);
                }
            }
        }
        None
    }

    /// Whether a number of which `text` has been read and `rest` follows is none of `others`.
    fn is_distinct(&self, text: TextId, rest: &str, others: SetId<AssertionId>) -> bool {
        let algebra = &self.search.algebra;
        let whole = format!("{}{rest}", algebra.texts.get(text));
        Decimal::parse(whole.as_bytes()).is_ok_and(|value| {
            let value = algebra.assertions.find(&Assertion::Equal(Value::number(value)));
            value.is_none_or(|value| !algebra.values.others.has(others, value, &ByNumber))
        })
    }

    /// All that may follow in a number, if that is little.
    fn all_rests(&mut self, number: NumberState) -> Option<Vec<String>> {
        let mut open = vec![(number, String::new())];
        let mut rests = Vec::new();
        let mut looked_at = 0;
        while let Some((at, rest)) = open.pop() {
            looked_at += 1;
            if looked_at > MAX_RESTS {
                return None;
            }
            for &byte in NUMBER_BYTES {
                if let Some(next) = self.search.algebra.number_texts.step(at, byte) {
                    open.push((next, format!("{rest}{}", char::from(byte))));
                }
            }
            if self.search.algebra.number_texts.can_end(at) {
                rests.push(rest);
            }
        }
        Some(rests)
    }

    /// Returns a short text that completes the current number to one that meets its distinctness constraint; `None` if
    /// none is found at once.
    pub(crate) fn distinct_rest(
        &mut self,
        number: NumberState,
        text: TextId,
        stack: StackId,
    ) -> Result<Option<String>, AutomatonError> {
        let others = self.distinctness(stack)?.child.others;
        if others == SetId::EMPTY {
            return Ok(None);
        }
        Ok(self.tried_rest(number, text, others))
    }

    /// Restricts the current number to numbers that meet its distinctness constraint.
    pub(crate) fn distinct_number(
        &mut self,
        number: NumberState,
        text: Option<TextId>,
        expected: ExpectationId,
        stack: StackId,
    ) -> Result<NumberState, AutomatonError> {
        let others = self.distinctness(stack)?.child.others;
        let (Some(text), true) = (text, others != SetId::EMPTY) else {
            return Ok(number);
        };
        Ok(self.number_beside(text, expected, others)?.unwrap_or(number))
    }

    /// The number `text` that is being read, restricted to numbers that are none of `others`; `None` if there is no
    /// such number.
    fn number_beside(
        &mut self,
        text: TextId,
        expected: ExpectationId,
        others: SetId<AssertionId>,
    ) -> Result<Option<NumberState>, AutomatonError> {
        let start = self.numbers_beside(expected, self.begun_numbers(text, others))?;
        let mut state = start;
        for byte in self.search.algebra.texts.get(text).bytes() {
            state = state.and_then(|state| self.search.algebra.number_texts.step(state, byte));
        }
        Ok(state)
    }

    /// The numbers among `others` whose digits begin with those of `text`: the only ones that the number can still equal.
    fn begun_numbers(&self, text: TextId, others: SetId<AssertionId>) -> Vec<Decimal> {
        let algebra = &self.search.algebra;
        let read = algebra.texts.get(text).split(['e', 'E']).next().unwrap_or_default();
        let is_negative = read.starts_with('-');
        let digits: String = read.chars().filter(char::is_ascii_digit).collect();
        let digits = digits.trim_start_matches('0').trim_end_matches('0');
        let others = algebra.values.others.all(others).into_iter();
        let others = others.filter_map(|other| algebra.number_of(other));
        others
            .filter(|other| other.is_zero() || other.is_negative() == is_negative)
            .filter(|other| other.significant_digits().starts_with(digits))
            .collect()
    }

    /// The state before the numbers that meet an expectation and are none of `others`; `None` if there are no such numbers.
    fn numbers_beside(
        &mut self,
        expected: ExpectationId,
        others: Vec<Decimal>,
    ) -> Result<Option<NumberState>, AutomatonError> {
        let what = self.search.expected(expected);
        let viable = self.search.numbers_expected(&what)?;
        let numbers = self.search.algebra.number_texts.sets_mut();
        let others = numbers.one_of(others)?;
        let others = numbers.not(others);
        let viable = numbers.and(viable, others)?;
        Ok(match numbers.is_empty(viable) {
            true => None,
            false => Some(self.search.algebra.number_texts.start(viable, Precision::Full)?),
        })
    }
}
