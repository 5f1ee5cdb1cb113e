//! One positive decimal, factored so that the set of its multiples is easy to reason about.

use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;
use num_traits::{One, ToPrimitive, Zero};

use crate::decimal::Decimal;

/// A positive decimal `unit × 2^twos × 5^fives`, `unit` coprime to ten: the divisor of the periodic of its integer
/// multiples.
///
/// A decimal is a multiple iff `unit` divides its significand and its valuations at 2 and 5 are large enough. So
/// powers of ten, wherever they come from (scale of the divisor, exponent of the number), only ever add to the
/// valuations, and common multiples and divisors are taken factor by factor.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Divisor {
    pub(super) unit: BigUint,
    pub(super) twos: i64,
    pub(super) fives: i64,
}

impl Divisor {
    /// The divisor one, whose multiples are the integers.
    pub(super) fn one() -> Self {
        Self {
            unit: BigUint::one(),
            twos: 0,
            fives: 0,
        }
    }

    /// The factors of the magnitude of `value`; `None` for zero, which generates nothing but itself.
    pub(super) fn of(value: &Decimal) -> Option<Self> {
        if value.is_zero() {
            return None;
        }
        let twos = value.significand().trailing_zeros().unwrap_or(0);
        let (unit, fives) = strip_fives(value.significand() >> twos);
        let exponent = value.exponent();
        Some(Self {
            unit,
            twos: exponent.saturating_add_unsigned(twos),
            fives: exponent.saturating_add_unsigned(fives),
        })
    }

    /// The number itself.
    pub(super) fn value(&self) -> Decimal {
        let exponent = self.twos.min(self.fives);
        let twos = &self.unit << self.twos.abs_diff(exponent);
        Decimal::new(false, twos * pow5(self.fives.abs_diff(exponent)), exponent)
    }

    /// The exponent of ten, if this is a power of that.
    pub(super) fn power_of_ten(&self) -> Option<i64> {
        (self.unit.is_one() && self.twos == self.fives).then_some(self.twos)
    }

    /// Divisor of the common multiples.
    pub(super) fn lcm(&self, other: &Self) -> Self {
        Self {
            unit: self.unit.lcm(&other.unit),
            twos: self.twos.max(other.twos),
            fives: self.fives.max(other.fives),
        }
    }

    /// Divisor of the least periodic that holds the multiples of both.
    pub(super) fn gcd(&self, other: &Self) -> Self {
        Self {
            unit: self.unit.gcd(&other.unit),
            twos: self.twos.min(other.twos),
            fives: self.fives.min(other.fives),
        }
    }

    /// Whether `value` is a multiple.
    pub(super) fn divides(&self, value: &Decimal) -> bool {
        if value.is_zero() {
            return true;
        }
        let (significand, exponent) = (value.significand(), value.exponent());
        let twos = self.twos.saturating_sub(exponent);
        let fives = self.fives.saturating_sub(exponent);
        (twos <= 0 || significand.trailing_zeros().unwrap_or(0) >= twos.unsigned_abs())
            && (fives <= 0 || divisible_by_pow5(significand, fives.unsigned_abs()))
            && (self.unit.is_one() || (significand % &self.unit).is_zero())
    }

    /// The largest integer not above `value` divided by the divisor.
    ///
    /// Writes out numbers as long as that integer or as `value` and the divisor; callers see to it that the integer
    /// has a reasonable length.
    pub(super) fn floor_ratio(&self, value: &Decimal) -> BigInt {
        if let Some(short) = self.short_floor_ratio(value, value.is_negative()) {
            return short.into();
        }
        let (numerator, denominator) = self.ratio(value);
        let sign = if value.is_negative() { Sign::Minus } else { Sign::Plus };
        BigInt::from_biguint(sign, numerator).div_floor(&denominator.into())
    }

    /// The same of a number of this magnitude, negative or not, where it is short.
    fn short_floor_ratio(&self, value: &Decimal, is_negative: bool) -> Option<i128> {
        if value.is_zero() {
            return Some(0);
        }
        if value.magnitude() < self.least_magnitude() {
            return Some(-i128::from(is_negative));
        }
        let (twos, fives) = (
            value.exponent().checked_sub(self.twos)?,
            value.exponent().checked_sub(self.fives)?,
        );
        // A product of less than 2^64 and this fits.
        let scale = |shift: i64, power: i64| match (shift.max(0), power.max(0)) {
            (shift @ 0..20, power @ 0..18) => Some(5_u128.pow(power as u32) << shift),
            _ => None,
        };
        let numerator = u128::from(value.significand().to_u64()?) * scale(twos, fives)?;
        let denominator = u128::from(self.unit.to_u64()?) * scale(-twos, -fives)?;
        match is_negative {
            true => Some(-i128::try_from(numerator.div_ceil(denominator)).ok()?),
            false => i128::try_from(numerator / denominator).ok(),
        }
    }

    /// Number of multiples strictly between `low` and `high`, where it is short.
    pub(super) fn short_between(&self, low: &Decimal, high: &Decimal) -> Option<i128> {
        let from = self.short_floor_ratio(low, low.is_negative())?;
        let to = -self.short_floor_ratio(high, !high.is_negative())?;
        Some(to.checked_sub(from)?.checked_sub(1)?.max(0))
    }

    /// The least integer not below `value` divided by the divisor. As [`Self::floor_ratio`].
    pub(super) fn ceil_ratio(&self, value: &Decimal) -> BigInt {
        -self.floor_ratio(&value.negated())
    }

    /// Whether there is a multiple strictly between two close positive numbers: close, as [`Self::floor_ratio`] needs it
    /// where the divisor is not larger than they are.
    pub(super) fn multiple_between(&self, low: &Decimal, high: &Decimal) -> bool {
        self.ceil_ratio(high) - self.floor_ratio(low) > BigInt::one()
    }

    /// `multiple` times the divisor.
    pub(super) fn times(&self, multiple: &BigInt) -> Decimal {
        let one = self.value();
        let negative = multiple.sign() == Sign::Minus;
        Decimal::new(negative, one.significand() * multiple.magnitude(), one.exponent())
    }

    /// A lower bound of [`Decimal::magnitude`] of the number, without computing it.
    pub(super) fn least_magnitude(&self) -> i64 {
        self.twos.min(self.fives)
    }

    /// Whether it is no larger than a power of ten, as far as is easily said.
    pub(super) fn is_at_most_power(&self, exponent: i64) -> bool {
        match self.power_of_ten() {
            Some(power) => power <= exponent,
            None => self.value().magnitude() <= exponent,
        }
    }

    /// Magnitude of `value` over the divisor, as a fraction of integers.
    fn ratio(&self, value: &Decimal) -> (BigUint, BigUint) {
        let (twos, fives) = (value.exponent() - self.twos, value.exponent() - self.fives);
        let scale = |shift: i64, power: i64| (pow5(power.max(0).unsigned_abs())) << shift.max(0).unsigned_abs();
        (
            value.significand() * scale(twos, fives),
            &self.unit * scale(-twos, -fives),
        )
    }
}

/// `5^exponent`, written out.
pub(super) fn pow5(exponent: u64) -> BigUint {
    if exponent <= 27 {
        5u64.pow(exponent as u32).into()
    } else {
        num_traits::pow(BigUint::from(5u8), exponent as usize)
    }
}

/// How often five divides `value`, which is not zero, and what remains.
pub(super) fn strip_fives(value: BigUint) -> (BigUint, u64) {
    let (mut rest, mut count) = (value, 0);
    let mut step = 1u64;
    // Powers of five in ascending, then descending order: few divisions, and only one where five does not divide.
    loop {
        let (quotient, remainder) = rest.div_rem(&pow5(step));
        if remainder.is_zero() {
            (rest, count) = (quotient, count + step);
            step *= 2;
        } else if step == 1 {
            return (rest, count);
        } else {
            step /= 2;
        }
    }
}

fn divisible_by_pow5(value: &BigUint, exponent: u64) -> bool {
    // Five to the power has over twice as many bits as its exponent.
    exponent <= value.bits() / 2 && (value % pow5(exponent)).is_zero()
}

#[cfg(test)]
mod tests {
    use rand::{Rng as _, SeedableRng as _};

    use super::*;

    /// Whatever the length of the numbers.
    #[test]
    fn floors_are_the_multiples_next_below_and_tell_how_many_are_between() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(7);
        let (mut short, mut long) = (0, 0);
        for _ in 0..20_000 {
            let mut decimal = |negative| {
                let digits = random.random_range(1..=70);
                let significand = random.random_range(0..=u128::MAX >> (128 - digits));
                Decimal::new(negative, significand.into(), random.random_range(-12..=12))
            };
            let (value, other, step) = (decimal(false), decimal(false), decimal(false));
            let mut signed = |value: Decimal| match random.random_bool(0.5) {
                true => value.negated(),
                false => value,
            };
            let (value, other) = (signed(value), signed(other));
            let Some(step) = Divisor::of(&step) else { continue };
            let floor = step.floor_ratio(&value);
            let next: BigInt = &floor + 1;
            assert!(
                step.times(&floor) <= value && value < step.times(&next),
                "{value:?} {step:?}"
            );
            let (low, high) = match value < other {
                true => (value, other),
                false => (other, value),
            };
            match step.short_between(&low, &high) {
                Some(count) => {
                    short += 1;
                    let first: BigInt = step.floor_ratio(&low) + 1;
                    let between: BigInt = step.ceil_ratio(&high) - first;
                    assert_eq!(
                        BigInt::from(count),
                        between.max(BigInt::ZERO),
                        "{low:?} {high:?} {step:?}"
                    );
                }
                None => long += 1,
            }
        }
        assert!(short > 1_000 && long > 2_000, "{short} {long}");
    }
}
