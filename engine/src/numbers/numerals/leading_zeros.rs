//! A number text of which only zeros were written.

use std::sync::Arc;

use num_bigint::BigUint;

use super::digits::{NumeralPart, residual_at};
use super::exponent::ExponentSet;
use super::residue::WrittenDigits;
use super::{LETTER, NumeralAutomaton, NumeralGrammar, NumeralPrefix};
use crate::decimal::Decimal;
use crate::numbers::half_line::{ENDLESS, ExponentRun, HalfLine};

/// What decides the future of such a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct LeadingZeros {
    pub(super) grammar: NumeralGrammar,
    pub(super) part: NumeralPart,
    pub(super) half_line: u32,
    /// How many zeros follow the point, as far as that matters.
    pub(super) scale: u64,
    /// Whether the text may be one of zero.
    pub(super) ends: bool,
}

type Next = Option<(NumeralPrefix, Option<WrittenDigits>)>;

impl NumeralAutomaton {
    /// After the first digit of the integer part.
    pub(super) fn first_digit(&mut self, index: u32, grammar: NumeralGrammar, digit: u8, negative: bool) -> Next {
        let half_line = Arc::clone(&self.half_lines[index as usize]);
        if digit == 0 {
            let ends = half_line.zero && !(negative && grammar == NumeralGrammar::Plain);
            let viable = ends
                || match grammar {
                    NumeralGrammar::Any => self.context(Some(index), grammar).half_meets(None, false),
                    NumeralGrammar::Plain | NumeralGrammar::Literal => self.below_one(index, grammar),
                };
            let zeros = LeadingZeros {
                grammar,
                part: NumeralPart::Integer,
                half_line: index,
                scale: 0,
                ends,
            };
            return viable.then_some((NumeralPrefix::LeadingZeros(zeros), None));
        }
        let written = WrittenDigits {
            digits: BigUint::from(digit),
            zeros: 0,
            scale: 0,
        };
        let mut context = self.context(Some(index), grammar);
        let runs = context.slice(&half_line.root, digit, NumeralPart::Integer);
        let (digits, written) = context.state(NumeralPart::Integer, runs, Some(written))?;
        Some((NumeralPrefix::SignificantDigits(digits), written))
    }

    /// Whether the half_line has a number between zero and one.
    pub(super) fn below_one(&mut self, half_line: u32, grammar: NumeralGrammar) -> bool {
        self.context(Some(half_line), grammar)
            .half_meets(Some(&Decimal::power_of_ten(0)), true)
    }

    pub(super) fn after_zeros(&mut self, zeros: &LeadingZeros, class: usize) -> Next {
        let half_line = Arc::clone(&self.half_lines[zeros.half_line as usize]);
        match (class, zeros.part) {
            (LETTER, NumeralPart::Integer | NumeralPart::Fraction) if zeros.grammar == NumeralGrammar::Any => half_line
                .zero
                .then(|| (NumeralPrefix::Exponent(ExponentSet::all()), None)),
            (0, NumeralPart::Point | NumeralPart::Fraction) => self.zero_of_fraction(zeros, &half_line),
            (1..=9, NumeralPart::Point | NumeralPart::Fraction) => {
                self.digit_of_fraction(zeros, &half_line, class as u8)
            }
            _ => None,
        }
    }

    /// After the point behind a zero.
    pub(super) fn point_of_zeros(&mut self, zeros: &LeadingZeros) -> Next {
        let point = LeadingZeros {
            part: NumeralPart::Point,
            ends: self.half_lines[zeros.half_line as usize].zero,
            ..*zeros
        };
        (zeros.part == NumeralPart::Integer).then_some((NumeralPrefix::LeadingZeros(point), None))
    }

    fn zero_of_fraction(&mut self, zeros: &LeadingZeros, half_line: &HalfLine) -> Next {
        let scale = (zeros.scale + 1).min(self.scale_that_matters(half_line, zeros.grammar));
        let viable = half_line.zero || {
            let high = Decimal::power_of_ten(-(scale as i64));
            let high = Some(&high).filter(|_| zeros.grammar != NumeralGrammar::Any);
            self.context(Some(zeros.half_line), zeros.grammar)
                .half_meets(high, false)
        };
        viable.then(|| {
            (
                NumeralPrefix::LeadingZeros(LeadingZeros {
                    part: NumeralPart::Fraction,
                    scale,
                    ..zeros.clone()
                }),
                None,
            )
        })
    }

    /// The first digit after the point that is not zero.
    fn digit_of_fraction(&mut self, zeros: &LeadingZeros, half_line: &HalfLine, digit: u8) -> Next {
        let scale = zeros.scale as i64;
        let runs = match zeros.grammar {
            NumeralGrammar::Plain | NumeralGrammar::Literal => vec![ExponentRun {
                last: 0,
                residual: residual_at(&half_line.root, -scale),
            }],
            NumeralGrammar::Any => {
                // Exponents count from that of the written digits.
                let moved = |run: &ExponentRun| if run.last == ENDLESS { ENDLESS } else { run.last + scale };
                half_line
                    .root
                    .iter()
                    .map(|run| ExponentRun {
                        last: moved(run),
                        residual: run.residual,
                    })
                    .collect()
            }
        };
        let written = WrittenDigits {
            digits: BigUint::from(digit),
            zeros: 0,
            scale: zeros.scale + 1,
        };
        let mut context = self.context(Some(zeros.half_line), zeros.grammar);
        let runs = context.slice(&runs, digit, NumeralPart::Fraction);
        let (digits, written) = context.state(NumeralPart::Fraction, runs, Some(written))?;
        Some((NumeralPrefix::SignificantDigits(digits), written))
    }

    /// The number of zeros after the point from which on more of them make no difference.
    fn scale_that_matters(&self, half_line: &HalfLine, grammar: NumeralGrammar) -> u64 {
        let first = half_line.rules[0];
        let steps = &self.sets.decimals.periodic_sets.get(first).terms;
        match grammar {
            NumeralGrammar::Any if half_line.is_constant() => 0,
            NumeralGrammar::Any => u64::MAX,
            // Below every breakpoint and every step only one rule is left.
            NumeralGrammar::Plain | NumeralGrammar::Literal => {
                let breakpoints = half_line
                    .breakpoints
                    .first()
                    .map(|breakpoint| breakpoint.at.magnitude());
                let steps = steps.iter().map(|(step, _)| step.value().magnitude());
                let least = breakpoints.into_iter().chain(steps).min().unwrap_or(1);
                (1_i64 - least).max(0).unsigned_abs()
            }
        }
    }
}
