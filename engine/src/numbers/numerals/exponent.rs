//! Sets of exponents as intervals of integers, and the automaton over the digits of their members, leading zeros included.
//!
//! Behind the digits of a number its exponent alone decides about membership, by a set of integers that is constant from some exponent
//! on in both directions. The states here are the residuals of that set by the part of the exponent that was written, so
//! states are equal exactly where their futures are.

/// A set of integers: disjoint, not adjacent, ascending intervals, ends included. `i64::MIN` and `i64::MAX` stand for
/// no end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ExponentSet {
    intervals: Vec<(i64, i64)>,
    zeros: LeadingZerosOfExponent,
}

/// The number of zeros with which an exponent may begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum LeadingZerosOfExponent {
    #[default]
    Any,
    One,
    None,
}

/// Largest magnitude of an exponent of a brief numeral, where any up to it will do: that of the least double, 5e-324.
const MAX_BRIEF_EXPONENT: i64 = 324;

impl ExponentSet {
    pub(super) fn all() -> Self {
        Self {
            intervals: vec![(i64::MIN, i64::MAX)],
            ..Self::default()
        }
    }

    /// The exponents that are as small as those of doubles, if there are any, to be written with at most one zero at the beginning.
    pub(super) fn brief(self) -> Self {
        let usual = self
            .intervals
            .iter()
            .map(|&(low, high)| (low.max(-MAX_BRIEF_EXPONENT), high.min(MAX_BRIEF_EXPONENT)));
        let usual: Vec<_> = usual.filter(|(low, high)| low <= high).collect();
        Self {
            intervals: if usual.is_empty() { self.intervals } else { usual },
            zeros: LeadingZerosOfExponent::One,
        }
    }

    /// Adds an interval that does not begin before the ones added so far.
    pub(super) fn push(&mut self, low: i64, high: i64) {
        match self.intervals.last_mut() {
            Some(last) if last.1 >= low.saturating_sub(1) => last.1 = last.1.max(high),
            _ => self.intervals.push((low, high)),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.intervals.is_empty()
    }

    /// The magnitudes of the members that may be written with the given sign; zero with either.
    pub(super) fn magnitudes(&self, negative: bool) -> Magnitudes {
        let mirrored = self
            .intervals
            .iter()
            .rev()
            .map(|&(low, high)| (mirror(high), mirror(low)));
        let intervals: Vec<_> = if negative {
            mirrored.collect()
        } else {
            self.intervals.clone()
        };
        let clipped = intervals.into_iter().filter(|interval| interval.1 >= 0);
        let magnitudes = clipped.map(|(low, high)| (low.max(0).unsigned_abs(), high.unsigned_abs()));
        Magnitudes {
            intervals: magnitudes.collect(),
            zeros: self.zeros,
        }
    }
}

/// The other end of an interval whose members change their sign.
fn mirror(end: i64) -> i64 {
    match end {
        i64::MIN => i64::MAX,
        i64::MAX => i64::MIN,
        end => -end,
    }
}

/// A set of natural numbers: disjoint, not adjacent, ascending intervals, ends included. [`NO_END`] stands for no end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Magnitudes {
    intervals: Vec<(u64, u64)>,
    zeros: LeadingZerosOfExponent,
}

const NO_END: u64 = i64::MAX as u64;

impl Magnitudes {
    pub(super) fn is_empty(&self) -> bool {
        self.intervals.is_empty()
    }

    /// The magnitudes that may follow a zero at the beginning; `None` where there can be none.
    pub(super) fn after_zero(&self) -> Option<Self> {
        let zeros = match self.zeros {
            LeadingZerosOfExponent::Any => LeadingZerosOfExponent::Any,
            LeadingZerosOfExponent::One => LeadingZerosOfExponent::None,
            LeadingZerosOfExponent::None => return None,
        };
        Some(Self { zeros, ..self.clone() })
    }

    pub(super) fn has_zero(&self) -> bool {
        self.intervals.first().is_some_and(|interval| interval.0 == 0)
    }

    /// Returns the magnitudes that remain after the first digit that is not zero.
    pub(super) fn after(&self, digit: u8) -> Remainder {
        let endless = self.intervals.last().is_some_and(|interval| interval.1 == NO_END);
        let finite = |&(low, high): &(u64, u64)| if high == NO_END { low } else { high };
        let most = u128::from(self.intervals.iter().map(finite).max().unwrap_or(0));
        let mut levels = Vec::new();
        let mut width = 1u128;
        while u128::from(digit) * width <= most {
            levels.push(window(&self.intervals, u128::from(digit) * width, width));
            width *= 10;
        }
        Remainder::new(levels, endless)
    }
}

/// The numbers of `i` digits, leading zeros included, that may follow a nonzero beginning of an exponent, by `i`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Remainder {
    levels: Vec<Vec<(u64, u64)>>,
    /// Whether all or none of the longer numbers may follow.
    longer: bool,
}

impl Remainder {
    fn new(mut levels: Vec<Vec<(u64, u64)>>, longer: bool) -> Self {
        while let Some(last) = levels.last() {
            let all = (0, 10u128.pow(levels.len() as u32 - 1) as u64 - 1);
            let as_longer = if longer { *last == [all] } else { last.is_empty() };
            if !as_longer {
                break;
            }
            levels.pop();
        }
        Self { levels, longer }
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.longer && self.levels.iter().all(Vec::is_empty)
    }

    /// Whether the exponent may end here.
    pub(super) fn ends(&self) -> bool {
        self.levels.first().map_or(self.longer, |level| !level.is_empty())
    }

    /// Returns the numbers that may follow one more digit.
    pub(super) fn after(&self, digit: u8) -> Self {
        let mut width = 1u128;
        let mut levels = Vec::new();
        for level in self.levels.iter().skip(1) {
            levels.push(window(level, u128::from(digit) * width, width));
            width *= 10;
        }
        Self::new(levels, self.longer)
    }
}

/// The members from `start` on, `width` numbers, counted from `start`.
fn window(intervals: &[(u64, u64)], start: u128, width: u128) -> Vec<(u64, u64)> {
    let mut inside = Vec::new();
    for &(low, high) in intervals {
        // An interval without end goes on past every window.
        let high = if high == NO_END { u128::MAX } else { u128::from(high) };
        let (low, high) = (u128::from(low).max(start), high.min(start + width - 1));
        if low <= high {
            inside.push(((low - start) as u64, (high - start) as u64));
        }
    }
    inside
}

#[cfg(test)]
mod tests;
