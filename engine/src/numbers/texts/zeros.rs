//! A number text of which only zeros were written.

use std::sync::Arc;

use num_bigint::BigUint;

use super::digits::{Phase, piece_at};
use super::exponent::ExponentSet;
use super::half::{ENDLESS, Half, Run};
use super::residue::Track;
use super::{LETTER, NumberTexts, Shape, Spelling};
use crate::decimal::Decimal;

/// What decides the future of such a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Zeros {
    pub(super) spelling: Spelling,
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
    pub(super) fn first_digit(&mut self, index: u32, spelling: Spelling, digit: u8, negative: bool) -> Next {
        let half = Arc::clone(&self.halves[index as usize]);
        if digit == 0 {
            let ends = half.zero && !(negative && spelling == Spelling::Plain);
            let viable = ends
                || match spelling {
                    Spelling::Any => self.context(Some(index), spelling).half_meets(None, false),
                    Spelling::Plain | Spelling::Literal => self.below_one(index, spelling),
                };
            let zeros = Zeros {
                spelling,
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
        let mut context = self.context(Some(index), spelling);
        let runs = context.slice(&half.root, digit, Phase::Integer);
        let (digits, track) = context.state(Phase::Integer, runs, Some(track))?;
        Some((Shape::Digits(digits), track))
    }

    /// Whether the half has a number between zero and one.
    pub(super) fn below_one(&mut self, half: u32, spelling: Spelling) -> bool {
        self.context(Some(half), spelling)
            .half_meets(Some(&Decimal::power_of_ten(0)), true)
    }

    pub(super) fn after_zeros(&mut self, zeros: &Zeros, class: usize) -> Next {
        let half = Arc::clone(&self.halves[zeros.half as usize]);
        match (class, zeros.phase) {
            (LETTER, Phase::Integer | Phase::Fraction) if zeros.spelling == Spelling::Any => {
                half.zero.then(|| (Shape::Exponent(ExponentSet::all()), None))
            }
            (0, Phase::Point | Phase::Fraction) => self.zero_of_fraction(zeros, &half),
            (1..=9, Phase::Point | Phase::Fraction) => self.digit_of_fraction(zeros, &half, class as u8),
            _ => None,
        }
    }

    /// After the point behind a zero.
    pub(super) fn point_of_zeros(&mut self, zeros: &Zeros) -> Next {
        let point = Zeros {
            phase: Phase::Point,
            ends: self.halves[zeros.half as usize].zero,
            ..*zeros
        };
        (zeros.phase == Phase::Integer).then_some((Shape::Zeros(point), None))
    }

    fn zero_of_fraction(&mut self, zeros: &Zeros, half: &Half) -> Next {
        let scale = (zeros.scale + 1).min(self.scale_that_matters(half, zeros.spelling));
        let viable = half.zero || {
            let high = Decimal::power_of_ten(-(scale as i64));
            let high = Some(&high).filter(|_| zeros.spelling != Spelling::Any);
            self.context(Some(zeros.half), zeros.spelling).half_meets(high, false)
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
        let runs = match zeros.spelling {
            Spelling::Plain | Spelling::Literal => vec![Run {
                last: 0,
                piece: piece_at(&half.root, -scale),
            }],
            Spelling::Any => {
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
        let mut context = self.context(Some(zeros.half), zeros.spelling);
        let runs = context.slice(&runs, digit, Phase::Fraction);
        let (digits, track) = context.state(Phase::Fraction, runs, Some(track))?;
        Some((Shape::Digits(digits), track))
    }

    /// The number of zeros after the point from which on more of them make no difference.
    fn scale_that_matters(&self, half: &Half, spelling: Spelling) -> u64 {
        let first = half.pieces[0];
        let steps = &self.sets.decimals.lattices.get(first).terms;
        match spelling {
            Spelling::Any if half.is_constant() => 0,
            Spelling::Any => u64::MAX,
            // Below every cut and every step only one rule is left.
            Spelling::Plain | Spelling::Literal => {
                let cuts = half.cuts.first().map(|cut| cut.at.magnitude());
                let steps = steps.iter().map(|(step, _)| step.value().magnitude());
                let least = cuts.into_iter().chain(steps).min().unwrap_or(1);
                (1 - least).max(0).unsigned_abs()
            }
        }
    }
}
