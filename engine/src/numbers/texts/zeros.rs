//! A number text of which only zeros were written.

use std::sync::Arc;

use num_bigint::BigUint;

use super::digits::{Phase, piece_at};
use super::exponent::ExponentSet;
use super::half::{ENDLESS, Half, Run};
use super::residue::Track;
use super::{LETTER, NumberStyle, NumberTexts, POINT, Shape};
use crate::decimal::Decimal;
use crate::numbers::lattice::Lattices;

/// What decides the future of such a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Zeros {
    pub(super) phase: Phase,
    pub(super) half: u32,
    /// How many zeros follow the point, as far as that matters.
    pub(super) scale: u64,
    /// Whether the text may be one of zero.
    pub(super) ends: bool,
}

type Next = Option<(Shape, Option<Track>)>;

impl NumberTexts {
    /// After the first digit of the integer part.
    pub(super) fn first_digit(&mut self, index: u32, digit: u8, negative: bool) -> Next {
        let half = Arc::clone(&self.halves[index as usize]);
        if digit == 0 {
            let plain = self.style == NumberStyle::Plain;
            let ends = half.zero && !(negative && plain);
            let viable = ends
                || if plain {
                    self.below_one(index)
                } else {
                    half.zero || self.context(Some(index)).half_meets(None, false)
                };
            let zeros = Zeros {
                phase: Phase::Integer,
                half: index,
                scale: 0,
                ends,
            };
            return viable.then_some((Shape::Zeros(zeros), None));
        }
        let track = Track {
            digits: BigUint::from(digit),
            zeros: 0,
            scale: 0,
        };
        let mut context = self.context(Some(index));
        let runs = context.slice(&half.root, digit, Phase::Integer);
        let (digits, track) = context.state(Phase::Integer, runs, Some(track))?;
        Some((Shape::Digits(digits), track))
    }

    /// Whether the half has a number between zero and one.
    fn below_one(&mut self, half: u32) -> bool {
        self.context(Some(half))
            .half_meets(Some(&Decimal::power_of_ten(0)), true)
    }

    pub(super) fn after_zeros(&mut self, zeros: &Zeros, class: usize) -> Next {
        let half = Arc::clone(&self.halves[zeros.half as usize]);
        match (class, zeros.phase) {
            (POINT, Phase::Integer) => {
                if self.style == NumberStyle::Plain && !self.below_one(zeros.half) {
                    return None;
                }
                Some((
                    Shape::Zeros(Zeros {
                        phase: Phase::Point,
                        ends: half.zero,
                        ..*zeros
                    }),
                    None,
                ))
            }
            (LETTER, Phase::Integer | Phase::Fraction) if self.style == NumberStyle::Rfc8259 => {
                half.zero.then(|| (Shape::Exponent(ExponentSet::all()), None))
            }
            (0, Phase::Point | Phase::Fraction) => self.zero_of_fraction(zeros, &half),
            (1..=9, Phase::Point | Phase::Fraction) => self.digit_of_fraction(zeros, &half, class as u8),
            _ => None,
        }
    }

    fn zero_of_fraction(&mut self, zeros: &Zeros, half: &Half) -> Next {
        let scale = (zeros.scale + 1).min(self.scale_that_matters(half));
        let viable = half.zero || {
            let high = Decimal::power_of_ten(-(scale as i64));
            let high = Some(&high).filter(|_| self.style == NumberStyle::Plain);
            self.context(Some(zeros.half)).half_meets(high, false)
        };
        viable.then(|| {
            (
                Shape::Zeros(Zeros {
                    phase: Phase::Fraction,
                    scale,
                    ..zeros.clone()
                }),
                None,
            )
        })
    }

    /// The first digit after the point that is not zero.
    fn digit_of_fraction(&mut self, zeros: &Zeros, half: &Half, digit: u8) -> Next {
        let scale = zeros.scale as i64;
        let runs = match self.style {
            NumberStyle::Plain => vec![Run {
                last: 0,
                piece: piece_at(&half.root, -scale),
            }],
            NumberStyle::Rfc8259 => {
                // Exponents count from that of the written digits.
                let moved = |run: &Run| if run.last == ENDLESS { ENDLESS } else { run.last + scale };
                half.root
                    .iter()
                    .map(|run| Run {
                        last: moved(run),
                        piece: run.piece,
                    })
                    .collect()
            }
        };
        let track = Track {
            digits: BigUint::from(digit),
            zeros: 0,
            scale: zeros.scale + 1,
        };
        let mut context = self.context(Some(zeros.half));
        let runs = context.slice(&runs, digit, Phase::Fraction);
        let (digits, track) = context.state(Phase::Fraction, runs, Some(track))?;
        Some((Shape::Digits(digits), track))
    }

    /// The number of zeros after the point from which on more of them make no difference.
    fn scale_that_matters(&self, half: &Half) -> u64 {
        let first = half.pieces[0];
        let steps = &self.sets.lattices.get(first).terms;
        match self.style {
            NumberStyle::Rfc8259 if half.cuts.is_empty() && Lattices::is_constant(first) => 0,
            NumberStyle::Rfc8259 => u64::MAX,
            // Below every cut and every step only one rule is left.
            NumberStyle::Plain => {
                let cuts = half.cuts.first().map(|cut| cut.at.magnitude());
                let steps = steps.iter().map(|(step, _)| step.value().magnitude());
                let least = cuts.into_iter().chain(steps).min().unwrap_or(1);
                (1 - least).max(0).unsigned_abs()
            }
        }
    }
}
