//! Transitions within the leading zeros of a numeral.

use std::sync::Arc;

use super::automaton::NumeralAutomaton;
use super::exponent::ExponentSet;
use super::prefix::{DigitCount, LeadingZeros, NumeralGrammar, NumeralPart, NumeralPrefix, Successor};
use super::residue::WrittenDigits;
use crate::decimal::Decimal;
use crate::numbers::half_line::{ENDLESS, ExponentRun, HalfLine, residual_at};
use crate::style::NumberStyle;

impl NumeralAutomaton {
    /// Returns the successor by the first digit of the integer part.
    pub(super) fn first_digit(
        &mut self,
        half_line: u32,
        grammar: NumeralGrammar,
        digit: u8,
        negative: bool,
    ) -> Successor {
        let HalfLine { zero, root, .. } = &*Arc::clone(&self.half_lines[half_line as usize]);
        if digit > 0 {
            let written = WrittenDigits::first(digit, 0);
            let mut context = self.context(Some(half_line), grammar);
            let count = DigitCount::default().after(NumeralPart::Integer);
            return context.after_digit(root, digit, NumeralPart::Integer, Some(written), count);
        }
        let ends = *zero && (!negative || grammar.has_signed_zero());
        let viable = ends
            || match grammar {
                NumeralGrammar::Any { .. } => self.context(Some(half_line), grammar).half_line_meets(None, false),
                NumeralGrammar::Plain(_) | NumeralGrammar::IntegerLiteral => {
                    self.has_member_below_one(half_line, grammar)
                }
            };
        let zeros = LeadingZeros {
            grammar,
            part: NumeralPart::Integer,
            half_line,
            scale: 0,
            ends,
        };
        viable.then_some((NumeralPrefix::Zeros(zeros), None))
    }

    /// Whether the half-line has a member between zero and one.
    pub(super) fn has_member_below_one(&mut self, half_line: u32, grammar: NumeralGrammar) -> bool {
        self.context(Some(half_line), grammar)
            .half_line_meets(Some(&Decimal::power_of_ten(0)), true)
    }

    /// Returns the successor by the letter of an exponent behind zeros: any exponent makes zero.
    pub(super) fn letter_after_zeros(&mut self, zeros: &LeadingZeros) -> Successor {
        let may = zeros.grammar == NumeralGrammar::Any { brief: false }
            && zeros.part != NumeralPart::Point
            && self.half_lines[zeros.half_line as usize].zero;
        may.then(|| (NumeralPrefix::Exponent(ExponentSet::all()), None))
    }

    /// Returns the successor by one more digit of the fraction.
    pub(super) fn digit_after_zeros(&mut self, zeros: &LeadingZeros, digit: u8) -> Successor {
        match (zeros.part, digit) {
            (NumeralPart::Integer, _) => None,
            (_, 0) => self.zero_of_fraction(zeros),
            (_, digit) => self.first_digit_of_fraction(zeros, digit),
        }
    }

    fn zero_of_fraction(&mut self, zeros: &LeadingZeros) -> Successor {
        // Either the number is zero already, or an exponent does as well.
        if zeros.grammar.is_brief() && zeros.scale >= NumberStyle::BRIEF_ZEROS {
            return None;
        }
        let most = self.scale_that_matters(zeros);
        let scale = (zeros.scale + 1).min(most);
        let may_end = !zeros.grammar.is_plain() || scale <= NumberStyle::ENDING_ZEROS.into();
        let viable = may_end && self.half_lines[zeros.half_line as usize].zero || {
            let high = Decimal::power_of_ten(-(scale as i64));
            let high = Some(&high).filter(|_| !zeros.grammar.has_exponents());
            self.context(Some(zeros.half_line), zeros.grammar)
                .half_line_meets(high, false)
        };
        let part = NumeralPart::Fraction;
        let zeros = LeadingZeros { part, scale, ..*zeros };
        viable.then_some((NumeralPrefix::Zeros(zeros), None))
    }

    /// Returns the successor by the first digit after the point that is not zero.
    fn first_digit_of_fraction(&mut self, zeros: &LeadingZeros, digit: u8) -> Successor {
        let scale = zeros.scale as i64;
        let root = &self.half_lines[zeros.half_line as usize].root;
        let runs = match zeros.grammar {
            NumeralGrammar::Plain(_) | NumeralGrammar::IntegerLiteral => vec![ExponentRun {
                last: 0,
                residual: residual_at(root, -scale),
            }],
            NumeralGrammar::Any { .. } => {
                // Exponents count from that of the written digits.
                let mut runs = root.clone();
                for run in runs.iter_mut().filter(|run| run.last != ENDLESS) {
                    run.last += scale;
                }
                runs
            }
        };
        let written = WrittenDigits::first(digit, zeros.scale + 1);
        let mut context = self.context(Some(zeros.half_line), zeros.grammar);
        let count = DigitCount {
            significant: 1,
            places: u32::try_from(zeros.scale + 1).unwrap_or(u32::MAX),
        };
        context.after_digit(&runs, digit, NumeralPart::Fraction, Some(written), count)
    }

    /// The number of zeros after the point from which on more of them make no difference.
    fn scale_that_matters(&mut self, zeros: &LeadingZeros) -> u64 {
        let half_line = &self.half_lines[zeros.half_line as usize];
        match zeros.grammar {
            NumeralGrammar::Any { brief: true } => NumberStyle::BRIEF_ZEROS,
            NumeralGrammar::Any { .. } if half_line.is_constant() => 0,
            NumeralGrammar::Any { .. } => u64::MAX,
            // Below every breakpoint and every divisor only one rule is left.
            NumeralGrammar::Plain(_) | NumeralGrammar::IntegerLiteral => {
                let first = half_line.breakpoints.first().map(|first| first.at.magnitude());
                let terms = &self.sets().decimals.periodic_sets.get(half_line.rules[0]).terms;
                let divisors = terms.iter().map(|(divisor, _)| divisor.value().magnitude());
                let least: i64 = first.into_iter().chain(divisors).min().unwrap_or(1);
                // More zeros at the end than may be are told apart, too.
                (1 - least)
                    .max(0)
                    .unsigned_abs()
                    .max(u64::from(NumberStyle::ENDING_ZEROS) + 1)
            }
        }
    }
}
