//! Numbers compared by their digits.

/// The value of a JSON number: its sign, its significant digits, and the power of ten of the last one. Two texts of the same
/// value have the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Numeral {
    is_negative: bool,
    digits: String,
    exponent: i64,
}

impl Numeral {
    /// Reads a JSON number. `None` where the text is none, or its exponent is no 32-bit number.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (is_negative, unsigned) = match text.strip_prefix('-') {
            Some(unsigned) => (true, unsigned),
            None => (false, text),
        };
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, i64::from(exponent.parse::<i32>().ok()?)),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !are_digits(whole) || !are_digits(fraction) || mantissa.ends_with('.') {
            return None;
        }
        let digits = format!("{whole}{fraction}");
        let significant = digits.trim_start_matches('0');
        let trimmed = significant.trim_end_matches('0');
        if trimmed.is_empty() {
            return Some(Self {
                is_negative: false,
                digits: String::new(),
                exponent: 0,
            });
        }
        Some(Self {
            is_negative,
            digits: trimmed.to_owned(),
            exponent: exponent - fraction.len() as i64 + (significant.len() - trimmed.len()) as i64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Numeral;

    #[test]
    fn texts_of_one_value_are_equal() {
        for alike in [
            &["18", "18.0", "18.00", "1.8e1", "180e-1", "018"][..],
            &["0", "-0", "0.0", "0e9", "-0.00e-3"],
            &["-2.5", "-2.50", "-25e-1"],
            &["1200", "12E2", "1.2e+3"],
            &["123456789012345678901234567890", "1.2345678901234567890123456789e29"],
        ] {
            for other in alike {
                assert_eq!(Numeral::read(alike[0]), Numeral::read(other), "{other}");
                assert!(Numeral::read(other).is_some(), "{other}");
            }
        }
        for (one, other) in [
            ("18", "-18"),
            ("18", "1.8"),
            ("18", "180"),
            ("1", "1.0000000000000000001"),
        ] {
            assert_ne!(Numeral::read(one), Numeral::read(other), "{one} {other}");
        }
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in ["", "-", ".5", "5.", "1,000", "1e", "1e99999999999", "+1", "1 ", "0x1"] {
            assert_eq!(Numeral::read(text), None, "{text}");
        }
    }
}
