//! Transitions of the numeral automaton: the state after one more byte.

use std::ops::Range;
use std::sync::Arc;

use super::automaton::{DEAD, NumberState, NumeralAutomaton, PrefixState, UNKNOWN};
use super::exponent::{Magnitudes, Remainder};
use super::prefix::{
    LeadingZeros, NumeralGrammar, NumeralPart, NumeralPrefix, PlainForm, SignificantDigits, Successor,
};
use super::residue::WrittenDigits;
use crate::numbers::half_line::{ENDLESS, ExponentRun, Residual, residual_at};
use crate::style::NumberStyle;

/// Classes of bytes beside the digits, which are their own classes.
const MINUS: usize = 10;
const PLUS: usize = 11;
const POINT: usize = 12;
const LETTER: usize = 13;

fn class(byte: u8) -> Option<usize> {
    match byte {
        b'0'..=b'9' => Some(usize::from(byte - b'0')),
        b'-' => Some(MINUS),
        b'+' => Some(PLUS),
        b'.' => Some(POINT),
        b'e' | b'E' => Some(LETTER),
        _ => None,
    }
}

impl NumeralAutomaton {
    /// The state after one more byte; `None` where no numeral that begins so denotes a member.
    pub(crate) fn step(&mut self, state: NumberState, byte: u8) -> Option<NumberState> {
        let next = self.after(state.0, class(byte)?);
        (next != DEAD).then_some(NumberState(next))
    }

    fn after(&mut self, state: u32, class: usize) -> u32 {
        if state == DEAD {
            return DEAD;
        }
        match self.next[state as usize][class] {
            UNKNOWN => self.work_out(state, class),
            known => known,
        }
    }

    fn work_out(&mut self, state: u32, class: usize) -> u32 {
        let PrefixState { prefix, written, .. } = &self.states[state as usize];
        let (prefix, written) = (Arc::clone(prefix), written.clone());
        let next = match *prefix {
            NumeralPrefix::Either { literal, other } => self.after_either(literal, other, class),
            _ => {
                let successor = self.successor(&prefix, written.as_deref(), class);
                self.intern_successor(successor)
            }
        };
        let alike = self.digits_alike(&prefix);
        match alike.contains(&class) {
            true => self.next[state as usize][alike].fill(next),
            false => self.next[state as usize][class] = next,
        }
        next
    }

    fn intern_successor(&mut self, successor: Successor) -> u32 {
        match successor {
            Some((prefix, written)) => self.intern(prefix, written),
            None => DEAD,
        }
    }

    /// The digits that all lead to one state because the set tells no number from another.
    fn digits_alike(&self, prefix: &NumeralPrefix) -> Range<usize> {
        match prefix {
            NumeralPrefix::Start { above: half_line, .. }
            | NumeralPrefix::Minus { below: half_line, .. }
            | NumeralPrefix::Zeros(LeadingZeros { half_line, .. })
                if self.half_lines[*half_line as usize].is_constant() =>
            {
                1..10
            }
            NumeralPrefix::Digits(digits) if digits.runs.iter().all(|run| self.takes_any_digit(digits, run)) => 0..10,
            NumeralPrefix::Free { .. } => 0..10,
            _ => 0..0,
        }
    }

    /// Whether digits make no difference in a run, but for how many there are: because all numbers are members, or none, or in
    /// the integer part all integers.
    fn takes_any_digit(&self, digits: &SignificantDigits, run: &ExponentRun) -> bool {
        match run.residual {
            _ if run.is_constant() => true,
            Residual::Rule(rule) if digits.part == NumeralPart::Integer && !digits.grammar.has_exponents() => {
                let power = self.sets().decimals.periodic_sets.get(rule).exponent_of_ten();
                run.last < ENDLESS && power.is_some_and(|power| power <= 0)
            }
            _ => false,
        }
    }

    /// The state after a text that may still become a literal without fraction and exponent or a numeral with one.
    fn after_either(&mut self, literal: u32, other: u32, class: usize) -> u32 {
        let ends = |automaton: &Self, state: u32| state != DEAD && automaton.states[state as usize].ends;
        let after_other = self.after(other, class);
        match class {
            // An integer that is a member only with a fraction keeps a numeral in the plain style, too.
            POINT if after_other == DEAD && ends(self, other) && !ends(self, literal) => {
                let PrefixState { prefix, written, .. } = &self.states[other as usize];
                let (prefix, written) = (Arc::clone(prefix), written.clone());
                let point = self.point(&prefix, written.as_deref());
                self.intern_successor(point)
            }
            POINT | LETTER => after_other,
            _ => match self.after(literal, class) {
                DEAD if after_other == DEAD => DEAD,
                literal => {
                    let other = after_other;
                    self.intern(NumeralPrefix::Either { literal, other }, None)
                }
            },
        }
    }

    fn successor(&mut self, prefix: &NumeralPrefix, written: Option<&WrittenDigits>, class: usize) -> Successor {
        let digit = u8::try_from(class).ok().filter(|&digit| digit < 10);
        match (prefix, digit) {
            (&NumeralPrefix::Start { above, grammar, .. }, Some(digit)) => {
                self.first_digit(above, grammar, digit, false)
            }
            (&NumeralPrefix::Start { below, grammar, .. }, None) if class == MINUS => {
                let zero = self.half_lines[below as usize].zero && grammar.has_signed_zero();
                let viable = zero || self.context(Some(below), grammar).half_line_meets(None, false);
                viable.then_some((NumeralPrefix::Minus { below, grammar }, None))
            }
            (&NumeralPrefix::Minus { below, grammar }, Some(digit)) => self.first_digit(below, grammar, digit, true),
            (_, None) if class == POINT => match self.may_have_point(prefix, written) {
                true => self.point(prefix, written),
                false => None,
            },
            (NumeralPrefix::Zeros(zeros), Some(digit)) => self.digit_after_zeros(zeros, digit),
            (NumeralPrefix::Zeros(zeros), None) if class == LETTER => self.letter_after_zeros(zeros),
            (NumeralPrefix::Digits(digits), Some(_)) if self.is_long_enough(digits, written) => None,
            (NumeralPrefix::Digits(digits), Some(digit)) => {
                let part = match digits.part {
                    NumeralPart::Integer => NumeralPart::Integer,
                    NumeralPart::Point | NumeralPart::Fraction => NumeralPart::Fraction,
                };
                let written = written.map(|written| written.push(digit, part == NumeralPart::Fraction));
                let count = digits.count.after(part);
                let mut context = self.context(digits.half_line, digits.grammar);
                context.after_digit(&digits.runs, digit, part, written, count)
            }
            (&NumeralPrefix::Free { left, .. }, Some(_)) => {
                let (after_point, left) = (false, left.checked_sub(1)?);
                Some((NumeralPrefix::Free { after_point, left }, None))
            }
            (&NumeralPrefix::EndingZeros { left, .. }, Some(0)) => {
                let (after_point, left) = (false, left.checked_sub(1)?);
                Some((NumeralPrefix::EndingZeros { after_point, left }, None))
            }
            (NumeralPrefix::Digits(digits), None) if class == LETTER => self.letter(digits, written),
            (NumeralPrefix::Exponent(set), _) => {
                let magnitudes = set.magnitudes(class == MINUS);
                match digit {
                    Some(digit) => exponent_digit(&magnitudes, digit),
                    None if matches!(class, MINUS | PLUS) && !magnitudes.is_empty() => {
                        Some((NumeralPrefix::ExponentSign(magnitudes), None))
                    }
                    None => None,
                }
            }
            (NumeralPrefix::ExponentSign(set) | NumeralPrefix::ExponentZeros(set), Some(digit)) => {
                exponent_digit(set, digit)
            }
            (NumeralPrefix::ExponentDigits(rest), Some(digit)) => exponent_remainder(rest.after(digit)),
            _ => None,
        }
    }

    /// Whether a brief numeral has all of its digits: as many as a usual number, and it may end or have an exponent.
    fn is_long_enough(&mut self, digits: &SignificantDigits, written: Option<&WrittenDigits>) -> bool {
        digits.grammar.is_brief()
            && digits.count.significant >= NumberStyle::SIGNIFICANT_DIGITS
            && digits.part != NumeralPart::Point
            && (self
                .context(digits.half_line, digits.grammar)
                .is_member(&digits.runs, written)
                || self.letter(digits, written).is_some())
    }

    /// Returns the successor by the letter of an exponent.
    fn letter(&mut self, digits: &SignificantDigits, written: Option<&WrittenDigits>) -> Successor {
        if !digits.grammar.has_exponents() || digits.part == NumeralPart::Point {
            return None;
        }
        let exponents = self
            .context(digits.half_line, digits.grammar)
            .exponents(&digits.runs, written);
        let exponents = if digits.grammar.is_brief() {
            exponents.brief()
        } else {
            exponents
        };
        (!exponents.is_empty()).then_some((NumeralPrefix::Exponent(exponents), None))
    }

    /// Whether the numeral may have a fraction: without exponents, where some member that is not an integer begins so, or
    /// where the integer is a member that may have a fraction of zeros.
    fn may_have_point(&mut self, prefix: &NumeralPrefix, written: Option<&WrittenDigits>) -> bool {
        let zero_fractions =
            |grammar| matches!(grammar, NumeralGrammar::Plain(PlainForm { zero_fractions, .. }) if zero_fractions);
        match prefix {
            NumeralPrefix::Zeros(zeros) => {
                zeros.grammar.has_exponents()
                    || zeros.ends && zero_fractions(zeros.grammar)
                    || self.has_member_below_one(zeros.half_line, zeros.grammar)
            }
            NumeralPrefix::Digits(digits) if digits.grammar.has_exponents() => !self.is_long_enough(digits, written),
            NumeralPrefix::Digits(digits) => {
                let context = self.context(digits.half_line, digits.grammar);
                zero_fractions(digits.grammar) && context.is_member(&digits.runs, written)
                    || context.takes_fraction(&digits.runs, written)
            }
            _ => false,
        }
    }

    /// Returns the successor by the point, where the numeral may have one.
    fn point(&mut self, prefix: &NumeralPrefix, written: Option<&WrittenDigits>) -> Successor {
        match prefix {
            NumeralPrefix::Zeros(zeros) if zeros.part == NumeralPart::Integer => Some((
                NumeralPrefix::Zeros(LeadingZeros {
                    part: NumeralPart::Point,
                    ends: self.half_lines[zeros.half_line as usize].zero,
                    ..*zeros
                }),
                None,
            )),
            NumeralPrefix::Digits(digits) if digits.part == NumeralPart::Integer => {
                let runs = match digits.grammar {
                    NumeralGrammar::Any { .. } => digits.runs.clone(),
                    NumeralGrammar::Plain(_) | NumeralGrammar::IntegerLiteral => vec![ExponentRun {
                        last: 0,
                        residual: residual_at(&digits.runs, 0),
                    }],
                };
                let mut context = self.context(digits.half_line, digits.grammar);
                context.prefix(NumeralPart::Point, runs, written.cloned(), digits.count)
            }
            _ => None,
        }
    }
}

fn exponent_digit(set: &Magnitudes, digit: u8) -> Successor {
    match digit {
        0 if set.is_empty() => None,
        0 => Some((NumeralPrefix::ExponentZeros(set.after_zero()?), None)),
        digit => exponent_remainder(set.after(digit)),
    }
}

fn exponent_remainder(rest: Remainder) -> Successor {
    (!rest.is_empty()).then_some((NumeralPrefix::ExponentDigits(rest), None))
}
