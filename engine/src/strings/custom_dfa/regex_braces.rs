//! The braces of a quantifier in a regular expression, such as `{2,5}`.

/// The progress through the braces of a quantifier, with the bounds read so far.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Braces {
    /// Behind the opening brace.
    Start,
    /// Within the lower bound.
    Low(u64),
    /// Behind the comma.
    Comma(u64),
    /// Within the upper bound.
    High(u64, u64),
}

impl Braces {
    /// Returns the state after `c`: none where no braces go on so, and an inner none behind the closing brace.
    pub(super) fn after(&self, c: char) -> Option<Option<Self>> {
        let digit = c.to_digit(10).map(u64::from);
        let longer = |number: u64, digit: u64| number.saturating_mul(10).saturating_add(digit).min(u64::MAX - 1);
        Some(Some(match (self, digit, c) {
            (Self::Start, Some(digit), _) => Self::Low(digit),
            (Self::Low(low), Some(digit), _) => Self::Low(longer(*low, digit)),
            (Self::Comma(low), Some(digit), _) => Self::High(*low, digit),
            (Self::High(low, high), Some(digit), _) => Self::High(*low, longer(*high, digit)),
            (Self::Low(low), _, ',') => Self::Comma(*low),
            (Self::Low(_) | Self::Comma(_), _, '}') => return Some(None),
            (Self::High(low, high), _, '}') if low <= high => return Some(None),
            _ => return None,
        }))
    }

    /// Characters that close the braces, at least.
    pub(super) fn cheapest(&self) -> u64 {
        match *self {
            Self::Start => 2,
            Self::Low(_) | Self::Comma(_) => 1,
            Self::High(low, mut high) => {
                let mut digits = 0;
                while high < low {
                    high = high.saturating_mul(10).saturating_add(9).min(u64::MAX - 1);
                    digits += 1;
                }
                digits + 1
            }
        }
    }
}
