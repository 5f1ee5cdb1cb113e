//! Exact decimal numbers, as JSON texts spell them.

use std::cmp::Ordering;
use std::fmt;

/// The largest exponent's absolute value. Far beyond any use, and far enough from the range of `i64` that sums of an
/// exponent and a number of digits never overflow.
const MAX_EXPONENT: i64 = 1_000_000_000_000_000;

/// An exact decimal number: ± digits × 10^exponent.
///
/// Equal numbers are equal structures (`1.0`, `1` and `10e-1`; `0` and `-0`), so `Eq` and `Hash` are numeric. Digits
/// are kept as text: comparing, hashing and printing are linear in them, and `1e1000000` takes one digit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Decimal {
    /// Never set for zero.
    negative: bool,
    /// ASCII digits without leading or trailing zeros; empty for zero.
    digits: Box<str>,
    /// Power of ten of the last digit; 0 for zero.
    exponent: i64,
}

/// Why a text is no [`Decimal`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecimalError {
    /// Not a number in JSON's grammar.
    Syntax,
    /// The exponent is beyond what is kept.
    ExponentTooLarge,
}

impl Decimal {
    /// The number that `text` spells in JSON's grammar.
    pub fn parse(text: &str) -> Result<Self, DecimalError> {
        if !is_json_number(text.as_bytes()) {
            return Err(DecimalError::Syntax);
        }
        let (negative, unsigned) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let joined;
        let digits = if fraction.is_empty() {
            integer
        } else {
            joined = [integer, fraction].concat();
            &joined
        };
        let significant = digits.trim_end_matches('0');
        if significant.is_empty() {
            return Ok(Self::zero());
        }
        let dropped = digits.len() - significant.len();
        let exponent = parse_exponent(exponent)
            .and_then(|exponent| exponent.checked_sub(i64::try_from(fraction.len()).ok()?))
            .and_then(|exponent| exponent.checked_add(i64::try_from(dropped).ok()?))
            .filter(|exponent| exponent.abs() <= MAX_EXPONENT)
            .ok_or(DecimalError::ExponentTooLarge)?;
        Ok(Self {
            negative,
            digits: significant.trim_start_matches('0').into(),
            exponent,
        })
    }

    /// 0.
    pub fn zero() -> Self {
        Self {
            negative: false,
            digits: "".into(),
            exponent: 0,
        }
    }

    pub fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// Whether the number is below 0.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// Whether the value is integral, however it was spelled: `1.0` is.
    pub fn is_integer(&self) -> bool {
        self.exponent >= 0
    }

    /// ASCII digits of the coefficient, without leading or trailing zeros; empty for zero.
    pub fn digits(&self) -> &str {
        &self.digits
    }

    /// Power of ten of the last of [`digits`](Self::digits).
    pub fn exponent(&self) -> i64 {
        self.exponent
    }

    /// The value, if it is an integer that is not negative; `u64::MAX` for larger ones. `None` for others.
    pub fn to_u64_saturating(&self) -> Option<u64> {
        if self.negative || !self.is_integer() {
            return None;
        }
        let value = self.digits.bytes().try_fold(0u64, |value, digit| {
            value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
        });
        // More than 19 zeros overflow whatever stands before them, unless nothing does.
        let zeros = u32::try_from(self.exponent).unwrap_or(u32::MAX);
        let scaled = value.and_then(|value| value.checked_mul(10u64.checked_pow(zeros)?));
        Some(scaled.unwrap_or(u64::MAX))
    }

    /// Order of the absolute values.
    fn cmp_magnitude(&self, other: &Self) -> Ordering {
        // Position of the first digit; zero is below every other number.
        let position = |number: &Self| (!number.is_zero()).then(|| number.exponent + number.digits.len() as i64);
        // With the first digits aligned and no trailing zeros, numeric order is the order of the texts.
        position(self)
            .cmp(&position(other))
            .then_with(|| self.digits.cmp(&other.digits))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.cmp_magnitude(other),
            (true, true) => other.cmp_magnitude(self),
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The canonical text: digits with a plain point where that takes at most 20 zeros, else an exponent.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MAX_ZEROS: i64 = 20;
        if self.is_zero() {
            return f.write_str("0");
        }
        if self.negative {
            f.write_str("-")?;
        }
        let len = self.digits.len() as i64;
        let before_point = len + self.exponent;
        if self.exponent > MAX_ZEROS || before_point < -MAX_ZEROS {
            write!(f, "{}e{}", self.digits, self.exponent)
        } else if self.exponent >= 0 {
            let zeros = self.exponent as usize;
            write!(f, "{}{:0<zeros$}", self.digits, "")
        } else if before_point > 0 {
            let (integer, fraction) = self.digits.split_at(before_point as usize);
            write!(f, "{integer}.{fraction}")
        } else {
            let zeros = before_point.unsigned_abs() as usize;
            write!(f, "0.{:0<zeros$}{}", "", self.digits)
        }
    }
}

/// An exponent with optional sign. `None` beyond `i64`; leading zeros do not count.
fn parse_exponent(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes() {
        [b'-', ..] => (true, &text[1..]),
        [b'+', ..] => (false, &text[1..]),
        _ => (false, text),
    };
    let value = digits.bytes().try_fold(0i64, |value, digit| {
        value.checked_mul(10)?.checked_add(i64::from(digit - b'0'))
    })?;
    Some(if negative { -value } else { value })
}

/// Whether `text` is a number in JSON's grammar (RFC 8259, section 6).
fn is_json_number(text: &[u8]) -> bool {
    number_len(text) == Some(text.len())
}

/// Length of the longest number in JSON's grammar that `text` starts with; `None` without one, and where what follows
/// a point or an exponent sign is no digit.
pub(crate) fn number_len(text: &[u8]) -> Option<usize> {
    let digits = |from: usize| text[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = usize::from(text.first() == Some(&b'-'));
    at += match digits(at) {
        0 => return None,
        // A leading zero stands alone.
        _ if text[at] == b'0' => 1,
        count => count,
    };
    if text.get(at) == Some(&b'.') {
        at += 1 + Some(digits(at + 1)).filter(|&count| count > 0)?;
    }
    if let Some(b'e' | b'E') = text.get(at) {
        at += 1 + usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        at += Some(digits(at)).filter(|&count| count > 0)?;
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn one_number_has_one_form() {
        for same in [
            &["0", "-0", "0.00", "0e99999999999999999999999", "-0.0e5"] as &[&str],
            &["1", "1.0", "10e-1", "0.1E+1", "1e0", "1e-00000000000000000000000000"],
            &["-1200", "-1.2e3", "-12E2", "-1200.000"],
            &["0.05", "5e-2", "0.0500", "50e-3"],
        ] {
            for text in same.iter() {
                assert_eq!(decimal(text), decimal(same[0]), "{text}");
                assert_eq!(decimal(text).to_string(), decimal(same[0]).to_string());
            }
        }
    }

    #[test]
    fn order_is_numeric() {
        let sorted = [
            "-1e1000",
            "-123456789012345678901234567890",
            "-10",
            "-9.5",
            "-9",
            "-0.1",
            "-1e-9",
            "0",
            "1e-900000000000",
            "0.09",
            "0.1",
            "0.11",
            "1",
            "9",
            "10",
            "10.01",
            "11",
            "99999999999999999999",
            "1e20",
            "1e900000000000",
        ];
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                assert_eq!(decimal(a).cmp(&decimal(b)), i.cmp(&j), "{a} {b}");
            }
        }
    }

    #[test]
    fn texts_are_canonical() {
        for (text, canonical) in [
            ("-0.0", "0"),
            ("1e3", "1000"),
            ("1e21", "1e21"),
            ("12e20", "1200000000000000000000"),
            ("1.50", "1.5"),
            ("-0.0012", "-0.0012"),
            ("1e-21", "0.000000000000000000001"),
            ("1e-22", "1e-22"),
        ] {
            assert_eq!(decimal(text).to_string(), canonical, "{text}");
            assert_eq!(decimal(canonical), decimal(text));
        }
    }

    #[test]
    fn integers_and_counts() {
        assert!(decimal("1e2").is_integer() && decimal("2.0").is_integer() && decimal("-0.0").is_integer());
        assert!(!decimal("2.5").is_integer() && !decimal("1e-3").is_integer());
        assert_eq!(decimal("20e-1").to_u64_saturating(), Some(2));
        assert_eq!(decimal("0").to_u64_saturating(), Some(0));
        assert_eq!(decimal("1e900000000000").to_u64_saturating(), Some(u64::MAX));
        assert_eq!(decimal("18446744073709551616").to_u64_saturating(), Some(u64::MAX));
        assert_eq!(decimal("-1").to_u64_saturating(), None);
        assert_eq!(decimal("0.5").to_u64_saturating(), None);
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in [
            "", "-", "+1", "01", "1.", ".5", "1e", "1e+", "0x1", "NaN", "1 ", "1_0", "--1", "1.e1",
        ] {
            assert_eq!(Decimal::parse(text), Err(DecimalError::Syntax), "{text}");
        }
        for text in [
            "1e99999999999999999999",
            "1e-99999999999999999999",
            "1e1000000000000001",
        ] {
            assert_eq!(Decimal::parse(text), Err(DecimalError::ExponentTooLarge), "{text}");
        }
    }
}
