//! [`Divisor`]: a positive decimal factored into powers of two and five and a rest coprime to ten, for tests of divisibility.

use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;
use num_traits::{One, ToPrimitive, Zero};

use crate::decimal::{Decimal, power, strip_factor};

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
        Self::power_of_ten(0)
    }

    /// The divisor `10^exponent`.
    pub(super) fn power_of_ten(exponent: i64) -> Self {
        Self {
            unit: BigUint::one(),
            twos: exponent,
            fives: exponent,
        }
    }

    /// The factors of the magnitude of `value`; `None` for zero, which generates nothing but itself.
    pub(super) fn of(value: &Decimal) -> Option<Self> {
        if value.is_zero() {
            return None;
        }
        let twos = value.significand().trailing_zeros().unwrap_or(0);
        let (unit, fives) = strip_factor(value.significand() >> twos, 5);
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
        Decimal::new(false, twos * power(5, self.fives.abs_diff(exponent)), exponent)
    }

    /// The exponent of ten, if this is a power of ten.
    pub(super) fn exponent_of_ten(&self) -> Option<i64> {
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
            && (fives <= 0 || divisible_by_power_of_five(significand, fives.unsigned_abs()))
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

    /// The largest integer not above the number of `value`'s magnitude, negative or not, divided by this divisor; `None`
    /// where it takes long numbers.
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
        let scaled = |unit: &BigUint, shift: i64, power: i64| {
            let (shift, power) = (shift.max(0).try_into().ok()?, power.max(0).try_into().ok()?);
            let scale = 5_u128.checked_pow(power)?.checked_mul(1_u128.checked_shl(shift)?)?;
            u128::from(unit.to_u64()?).checked_mul(scale)
        };
        let numerator = scaled(value.significand(), twos, fives)?;
        let denominator = scaled(&self.unit, -twos, -fives)?;
        match is_negative {
            true => Some(-i128::try_from(numerator.div_ceil(denominator)).ok()?),
            false => i128::try_from(numerator / denominator).ok(),
        }
    }

    /// Number of multiples strictly between `low` and `high`; `None` where it takes long numbers.
    pub(super) fn short_between(&self, low: &Decimal, high: &Decimal) -> Option<i128> {
        let from = self.short_floor_ratio(low, low.is_negative())?;
        let to = -self.short_floor_ratio(high, !high.is_negative())?;
        Some(to.checked_sub(from)?.checked_sub(1)?.max(0))
    }

    /// The least integer not below `value` divided by the divisor. It may be as long as with [`Self::floor_ratio`].
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

    /// Whether the divisor is no larger than a power of ten, as far as is easily said.
    pub(super) fn is_at_most_power(&self, exponent: i64) -> bool {
        match self.exponent_of_ten() {
            Some(power) => power <= exponent,
            None => self.value().magnitude() <= exponent,
        }
    }

    /// Magnitude of `value` over the divisor, as a fraction of integers.
    fn ratio(&self, value: &Decimal) -> (BigUint, BigUint) {
        let (twos, fives) = (value.exponent() - self.twos, value.exponent() - self.fives);
        let scale = |twos: i64, fives: i64| power(5, fives.max(0).unsigned_abs()) << twos.max(0).unsigned_abs();
        (
            value.significand() * scale(twos, fives),
            &self.unit * scale(-twos, -fives),
        )
    }
}

/// Whether `5^exponent` divides `value`.
fn divisible_by_power_of_five(value: &BigUint, exponent: u64) -> bool {
    // Five to the power has over twice as many bits as its exponent.
    exponent <= value.bits() / 2 && (value % power(5, exponent)).is_zero()
}
