//! Residues of the digits written so far, modulo the divisors of a set, by which divisibility is decided.

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::{One, ToPrimitive, Zero};

use super::exponent::ExponentSet;
use crate::decimal::{Decimal, power, strip_factor};
use crate::numbers::divisor::Divisor;
use crate::numbers::periodic::PeriodicSet;

/// The digits of a numeral's beginning from the first that is not zero: those of one of the texts that lead to a state.
#[derive(Clone, Debug)]
pub(super) struct WrittenDigits {
    pub(super) digits: BigUint,
    /// Number of zeros with which the digits end.
    pub(super) zeros: u64,
    /// Number of digits behind the point.
    pub(super) scale: u64,
}

impl WrittenDigits {
    /// The first digit, as the last of so many that follow the point.
    pub(super) fn first(digit: u8, scale: u64) -> Self {
        Self {
            digits: digit.into(),
            zeros: 0,
            scale,
        }
    }

    /// The digits with one more.
    pub(super) fn push(&self, digit: u8, after_point: bool) -> Self {
        Self {
            digits: &self.digits * 10u8 + digit,
            zeros: if digit == 0 { self.zeros + 1 } else { 0 },
            scale: self.scale + u64::from(after_point),
        }
    }

    /// The written number at a relative exponent, and the next one with as many digits: between the two are the
    /// numbers that more digits lead to.
    pub(super) fn bounds(&self, exponent: i64) -> (Decimal, Decimal) {
        let exponent = exponent.saturating_sub_unsigned(self.scale);
        let next = &self.digits + 1u8;
        (
            Decimal::new(false, self.digits.clone(), exponent),
            Decimal::new(false, next, exponent),
        )
    }

    /// Whether a multiple of this power of ten is among the written number at a relative exponent and those that more
    /// digits lead to: the written one is, if any.
    pub(super) fn has_multiple(&self, power: i64, exponent: i64) -> bool {
        let zeros = exponent
            .saturating_sub_unsigned(self.scale)
            .saturating_add_unsigned(self.zeros);
        zeros >= power
    }

    /// Whether the multiples of a divisor all have no more digits after the point than were written.
    pub(super) fn is_settled(&self, divisor: &Divisor) -> bool {
        let scale = -(self.scale as i64);
        divisor.twos >= scale && divisor.fives >= scale
    }

    /// The digits without the zeros at their end.
    fn stripped(&self) -> BigUint {
        &self.digits / power(10, self.zeros)
    }

    /// Adds the exponents from `low` to `high` at which the written number is in `set`.
    ///
    /// The digits decide whether the unit of a divisor divides the number, and the exponent whether its powers of two and
    /// five do: they do from some exponent on.
    pub(super) fn exponents(&self, set: &PeriodicSet, low: i64, high: i64, into: &mut ExponentSet) {
        let digits = self.stripped();
        let twos = digits.trailing_zeros().unwrap_or(0);
        let (_, fives) = strip_factor(digits.clone(), 5);
        let written = self.zeros as i64 - self.scale as i64;
        let hits = set
            .terms
            .iter()
            .filter(|(divisor, _)| divisor.unit.is_one() || (&digits % &divisor.unit).is_zero());
        let mut starts: Vec<(i64, i64)> = hits
            .map(|(divisor, sign)| {
                let needed =
                    (divisor.twos.saturating_sub_unsigned(twos)).max(divisor.fives.saturating_sub_unsigned(fives));
                (needed.saturating_sub(written), *sign)
            })
            .collect();
        starts.sort_unstable();
        let (mut value, mut from) = (i64::from(set.generic), low);
        for (start, sign) in starts {
            let until = start.saturating_sub(1).min(high);
            if value != 0 && from <= until {
                into.push(from, until);
            }
            (value, from) = (value + sign, from.max(start));
        }
        if value != 0 && from <= high {
            into.push(from, high);
        }
    }
}

/// Returns the residues that tell states apart where any exponent may follow: the digits without zeros at their end, modulo all
/// that more digits and an exponent cannot supply; the number of zeros; the number of places behind the point.
///
/// A number `s × 10^p`, `s` not divisible by ten, is a multiple of `u × 2^a × 5^b` iff `u` divides `s` and `p` is at
/// least `a - v₂(s)` and `b - v₅(s)`. One of the two valuations is zero. So `v₂(s)` matters up to `a - b`, and `v₅(s)`
/// up to `b - a`.
pub(super) fn any_exponent(written: &WrittenDigits, live: &[&Divisor]) -> Vec<BigUint> {
    let (zeros, scale) = (written.zeros.into(), written.scale.into());
    if live.iter().all(|divisor| divisor.exponent_of_ten().is_some()) {
        return vec![BigUint::ZERO, zeros, scale];
    }
    let mut unit = BigUint::one();
    let (mut twos, mut fives) = (0, 0);
    for divisor in live {
        unit = unit.lcm(&divisor.unit);
        twos = twos.max(divisor.twos.saturating_sub(divisor.fives));
        fives = fives.max(divisor.fives.saturating_sub(divisor.twos));
    }
    let modulus = (unit * power(5, fives.unsigned_abs())) << twos.unsigned_abs();
    let residue = if modulus.is_one() {
        BigUint::ZERO
    } else {
        written.stripped() % modulus
    };
    vec![residue, zeros, scale]
}

/// Returns the residues that tell states apart in the integer part of a numeral without exponent: for each divisor, the digits
/// that may follow.
pub(super) fn integer_part(written: &WrittenDigits, live: &[&Divisor]) -> Vec<BigUint> {
    let mut residues = Vec::new();
    for divisor in live {
        let modulus = integer_modulus(divisor, 0);
        let residue = &written.digits % &modulus;
        let is_integer = divisor.twos >= 0 && divisor.fives >= 0;
        match (modulus.to_u64(), residue.to_u64()) {
            (Some(modulus), Some(residue)) if is_integer && modulus < 1 << 62 => {
                residues.extend(completions(modulus, residue).into_iter().map(BigUint::from));
            }
            _ => residues.push(residue),
        }
    }
    residues
}

/// Returns, for digits with a residue, the further digits that make a multiple, by their number. There is at most one while they
/// are shorter than the modulus, and from then on they depend only on the residue shifted by so many digits.
fn completions(modulus: u64, residue: u64) -> Vec<u64> {
    let (mut signature, mut width, mut shifted) = (Vec::new(), 1u128, u128::from(residue));
    let modulus = u128::from(modulus);
    while width < modulus {
        let missing = (modulus - shifted) % modulus;
        // None is told apart from some: a missing part is below the width.
        signature.push(missing.min(width) as u64);
        (width, shifted) = (width * 10, shifted * 10 % modulus);
    }
    signature.push(shifted as u64);
    signature
}

/// Returns the residues that tell states apart in the fraction of a numeral without exponent: for each divisor of which further
/// digits can make a multiple the residue, for each other one whether the number is a multiple already.
pub(super) fn fraction(written: &WrittenDigits, live: &[&Divisor]) -> Vec<BigUint> {
    let mut residues = Vec::new();
    let mut pending = false;
    for divisor in live {
        let residue = &written.digits % integer_modulus(divisor, written.scale);
        let settled = written.is_settled(divisor);
        pending |= !settled;
        residues.push(if settled {
            u8::from(!residue.is_zero()).into()
        } else {
            residue
        });
    }
    if pending {
        residues.push(written.scale.into());
    }
    residues
}

/// The least integer that is a multiple of the divisor times `10^scale`.
fn integer_modulus(divisor: &Divisor, scale: u64) -> BigUint {
    let raised = |power: i64| power.saturating_add_unsigned(scale).max(0).unsigned_abs();
    (&divisor.unit * power(5, raised(divisor.fives))) << raised(divisor.twos)
}
