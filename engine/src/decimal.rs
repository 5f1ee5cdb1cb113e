//! Exact decimal numbers of any size, read from the texts of JSON numbers.
//!
//! A [`Decimal`] is `±significand × 10^exponent`. Only the digits that were written are stored, so that `1e400` or `1e-999999999`
//! costs no more than `1`; no operation here writes out a power of ten for an exponent that a text made up. A number that does
//! not fit is refused with [`NumberLimitReached`], never rounded.

use std::cmp::Ordering;
use std::fmt;

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::{One, ToPrimitive, Zero};

/// Most significant digits that a number may have.
pub(crate) const MAX_DIGITS: u64 = 65_536;

/// Largest magnitude of a number's exponent, far enough inside `i64` that sums of a few never overflow.
pub(crate) const MAX_EXPONENT: i64 = 1 << 60;

/// A limit on size that exact arithmetic reached; the operation was given up, nothing was approximated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} over the limit of {limit}")]
pub(crate) struct NumberLimitReached {
    /// The quantity that is too large.
    pub(crate) what: &'static str,
    /// The largest allowed.
    pub(crate) limit: u64,
}

/// The reason for which a text gives no [`Decimal`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DecimalError {
    /// The text is not a number of the JSON grammar.
    #[error("not a JSON number: unexpected byte or end at offset {0}")]
    Syntax(usize),
    /// The number is too long or its exponent too large.
    #[error(transparent)]
    Limit(#[from] NumberLimitReached),
}

/// An exact decimal number in canonical form: equal numbers are equal structures.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Decimal {
    negative: bool,
    /// Zero, or not divisible by ten.
    significand: BigUint,
    /// Number of decimal digits of the significand; 0 for zero.
    digits: u64,
    exponent: i64,
}

impl Decimal {
    /// The digits without zeros at the beginning and the end; none of zero.
    pub(crate) fn significant_digits(&self) -> String {
        match self.digits {
            0 => String::new(),
            _ => self.significand.to_string(),
        }
    }

    /// Zero.
    pub(crate) fn zero() -> Self {
        Self {
            negative: false,
            significand: BigUint::ZERO,
            digits: 0,
            exponent: 0,
        }
    }

    /// `±significand × 10^exponent`. The exponent's magnitude must stay below a few times [`MAX_EXPONENT`].
    pub(crate) fn new(negative: bool, significand: BigUint, exponent: i64) -> Self {
        if significand.is_zero() {
            return Self::zero();
        }
        let (significand, zeros) = strip_factor(significand, 10);
        let digits = count_digits(&significand);
        Self {
            negative,
            significand,
            digits,
            exponent: exponent.saturating_add_unsigned(zeros),
        }
    }

    /// `10^exponent`.
    pub(crate) fn power_of_ten(exponent: i64) -> Self {
        Self {
            negative: false,
            significand: BigUint::one(),
            digits: 1,
            exponent,
        }
    }

    /// The number that a JSON number text denotes.
    ///
    /// # Errors
    ///
    /// Where the text is not a JSON number, or has over [`MAX_DIGITS`] significant digits, or an exponent past
    /// [`MAX_EXPONENT`].
    pub(crate) fn parse(text: &[u8]) -> Result<Self, DecimalError> {
        let parts = NumeralParts::of(text).map_err(DecimalError::Syntax)?;
        let digits = parts.whole.iter().chain(parts.fraction);
        let digits: Vec<u8> = digits.map(|byte| byte - b'0').collect();
        let is_significant = |digit: &u8| *digit != 0;
        let (Some(first), Some(last)) = (
            digits.iter().position(is_significant),
            digits.iter().rposition(is_significant),
        ) else {
            return Ok(Self::zero());
        };
        let end = last + 1;
        let (kept, count) = (&digits[first..end], (end - first) as u64);
        if count > MAX_DIGITS {
            return Err(NumberLimitReached {
                what: "significant digits of a number",
                limit: MAX_DIGITS,
            }
            .into());
        }
        let shift = (digits.len() - end) as i64 - parts.fraction.len() as i64;
        let exponent = parts.exponent.saturating_add(shift);
        if exponent.unsigned_abs() > MAX_EXPONENT as u64 {
            return Err(NumberLimitReached {
                what: "exponent of a number",
                limit: MAX_EXPONENT as u64,
            }
            .into());
        }
        let significand = match kept.len() {
            0..=19 => kept
                .iter()
                .fold(0u64, |value, &digit| value * 10 + u64::from(digit))
                .into(),
            _ => BigUint::from_radix_be(kept, 10).unwrap_or_default(),
        };
        Ok(Self {
            negative: parts.negative,
            significand,
            digits: count,
            exponent,
        })
    }

    /// Whether this is zero.
    pub(crate) fn is_zero(&self) -> bool {
        self.digits == 0
    }

    /// Whether this is below zero.
    pub(crate) fn is_negative(&self) -> bool {
        self.negative
    }

    /// Whether the number is integral, as `1.0` and `1e2` are.
    pub(crate) fn is_integer(&self) -> bool {
        self.exponent >= 0
    }

    /// The value, if it is an integer that is not negative; `u64::MAX` for larger ones. `None` for others.
    pub(crate) fn to_u64_saturating(&self) -> Option<u64> {
        if self.negative || !self.is_integer() {
            return None;
        }
        let value = u64::try_from(&self.significand).ok();
        // More than 19 zeros overflow whatever stands before them, unless nothing does.
        let zeros = u32::try_from(self.exponent).unwrap_or(u32::MAX);
        let scaled = value.and_then(|value| value.checked_mul(10_u64.checked_pow(zeros)?));
        Some(scaled.unwrap_or(u64::MAX))
    }

    /// The significand, not divisible by ten unless zero.
    pub(crate) fn significand(&self) -> &BigUint {
        &self.significand
    }

    /// The power of ten that the significand is scaled by.
    pub(crate) fn exponent(&self) -> i64 {
        self.exponent
    }

    /// The `q` for which the magnitude is `0.d1d2… × 10^q` with `d1` nonzero: for a number of at least one, how many
    /// digits its integer part has. Meaningless for zero.
    pub(crate) fn magnitude(&self) -> i64 {
        self.exponent.saturating_add_unsigned(self.digits)
    }

    /// The significant digits, 0 to 9 each, first digit first; empty for zero.
    pub(crate) fn digit_values(&self) -> Vec<u8> {
        if self.is_zero() {
            Vec::new()
        } else {
            self.significand.to_radix_be(10)
        }
    }

    /// The number of this magnitude with the other sign.
    #[must_use]
    pub(crate) fn negated(&self) -> Self {
        let negative = !self.negative && !self.is_zero();
        Self {
            negative,
            ..self.clone()
        }
    }

    /// The magnitude.
    #[must_use]
    pub(crate) fn abs(&self) -> Self {
        Self {
            negative: false,
            ..self.clone()
        }
    }

    /// Order of the magnitudes.
    pub(crate) fn cmp_abs(&self, other: &Self) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => return Ordering::Equal,
            (true, false) => return Ordering::Less,
            (false, true) => return Ordering::Greater,
            (false, false) => {}
        }
        // With equal magnitudes the exponents differ by no more digits than were written.
        self.magnitude()
            .cmp(&other.magnitude())
            .then_with(|| match self.digits.cmp(&other.digits) {
                Ordering::Equal => self.significand.cmp(&other.significand),
                Ordering::Less => (&self.significand * power(10, other.digits - self.digits)).cmp(&other.significand),
                Ordering::Greater => self
                    .significand
                    .cmp(&(&other.significand * power(10, self.digits - other.digits))),
            })
    }
}

impl From<i64> for Decimal {
    fn from(value: i64) -> Self {
        Self::new(value < 0, value.unsigned_abs().into(), 0)
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.cmp_abs(other),
            (true, true) => other.cmp_abs(self),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Decimal {
    /// A JSON number text: without an exponent unless that would take many zeros.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const ZEROS: i64 = 20;
        if self.negative {
            f.write_str("-")?;
        }
        let digits = self.significand.to_string();
        let (exponent, magnitude) = (self.exponent, self.magnitude());
        if (0..=ZEROS).contains(&exponent) {
            let zeros = if self.is_zero() { 0 } else { exponent as usize };
            write!(f, "{digits}{:0<zeros$}", "")
        } else if exponent < 0 && magnitude > 0 {
            let (whole, fraction) = digits.split_at(magnitude as usize);
            write!(f, "{whole}.{fraction}")
        } else if exponent < 0 && magnitude >= -ZEROS {
            let zeros = magnitude.unsigned_abs() as usize;
            write!(f, "0.{:0<zeros$}{digits}", "")
        } else {
            write!(f, "{digits}e{exponent}")
        }
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The parts of a JSON number text.
struct NumeralParts<'a> {
    negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
    /// Saturated.
    exponent: i64,
}

impl<'a> NumeralParts<'a> {
    /// Splits `text`.
    ///
    /// # Errors
    ///
    /// The offset of the byte that may not stand there.
    fn of(text: &'a [u8]) -> Result<Self, usize> {
        let is_one_of = |at: usize, bytes: &[u8]| text.get(at).is_some_and(|byte| bytes.contains(byte));
        let digits = |from: usize| {
            let count = text[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let digits = &text[from..from + count];
            (count > 0).then_some(digits).ok_or(from)
        };
        let negative = is_one_of(0, b"-");
        let mut at = usize::from(negative);
        let whole = digits(at)?;
        if whole.len() > 1 && whole[0] == b'0' {
            return Err(at + 1);
        }
        at += whole.len();
        let mut fraction: &[u8] = &[];
        if is_one_of(at, b".") {
            fraction = digits(at + 1)?;
            at += 1 + fraction.len();
        }
        let mut exponent = 0i64;
        if is_one_of(at, b"eE") {
            let below = is_one_of(at + 1, b"-");
            at += 1 + usize::from(is_one_of(at + 1, b"+-"));
            let digits = digits(at)?;
            at += digits.len();
            for &digit in digits {
                exponent = exponent.saturating_mul(10).saturating_add(i64::from(digit - b'0'));
            }
            exponent = if below { -exponent } else { exponent };
        }
        match at < text.len() {
            true => Err(at),
            false => Ok(Self {
                negative,
                whole,
                fraction,
                exponent,
            }),
        }
    }
}

/// `base^exponent`, written out: only for exponents that are bounded by lengths of inputs.
pub(crate) fn power(base: u64, exponent: u64) -> BigUint {
    let exponent = u32::try_from(exponent).unwrap_or(u32::MAX);
    match base.checked_pow(exponent) {
        Some(small) => small.into(),
        None => BigUint::from(base).pow(exponent),
    }
}

/// Divides `value`, which is not zero, by `factor` as often as possible without remainder; returns the quotient and the number of divisions.
pub(crate) fn strip_factor(value: BigUint, factor: u64) -> (BigUint, u64) {
    let (mut rest, mut count) = (value, 0);
    if let Some(mut small) = rest.to_u64() {
        while small.is_multiple_of(factor) {
            (small, count) = (small / factor, count + 1);
        }
        return (small.into(), count);
    }
    if factor.is_multiple_of(2) && rest.bit(0) {
        return (rest, 0);
    }
    // Powers in ascending, then descending order: few divisions, and only one where the factor does not divide.
    let mut step = 1;
    loop {
        let (quotient, remainder) = rest.div_rem(&power(factor, step));
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

/// Number of decimal digits of `value`, which is not zero.
fn count_digits(value: &BigUint) -> u64 {
    if let Some(small) = value.to_u64() {
        return u64::from(small.ilog10()) + 1;
    }
    // log10(2) from below: exact to one digit for every size that memory holds.
    let least = ((u128::from(value.bits()) - 1) * 301_029_995_663 / 1_000_000_000_000) as u64;
    if *value >= power(10, least + 1) {
        least + 2
    } else {
        least + 1
    }
}

#[cfg(test)]
mod tests;
