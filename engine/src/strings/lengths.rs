//! Sets of text lengths: ultimately periodic sets of natural numbers, as a few arithmetic progressions of intervals.

/// More steps than this, and a set is not kept.
const MAX_STEPS: usize = 64;
/// Largest smallest length whose multiples are worked out residue by residue.
const MAX_RESIDUES: u64 = 256;
const FOREVER: u64 = u64::MAX;

/// The intervals `low + k·step ..= high + k·step` for `k` from 0 to `times`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Stair {
    low: u64,
    high: u64,
    step: u64,
    times: u64,
}

/// A set of lengths, exactly. Operations return `None` where the result would need too many progressions or numbers
/// past 64 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lengths(Vec<Stair>);

impl Stair {
    fn interval(low: u64, high: u64) -> Self {
        if high == FOREVER {
            return Self {
                low,
                high: low,
                step: 1,
                times: FOREVER,
            };
        }
        Self {
            low,
            high,
            step: 0,
            times: 0,
        }
    }

    /// A progression whose intervals touch is an interval.
    fn simplified(self) -> Option<Self> {
        let Self { low, high, step, times } = self;
        if step == 0 || times == 0 {
            return Some(Self {
                low,
                high,
                step: 0,
                times: 0,
            });
        }
        if high - low < step - 1 {
            return Some(self);
        }
        let end = if times == FOREVER {
            FOREVER
        } else {
            high.checked_add(step.checked_mul(times)?)?
        };
        Some(Self::interval(low, end))
    }

    /// Adds the part from `min` to `max`: whole rounds, and cut ones before and behind them.
    fn clip(self, min: u64, max: u64, to: &mut Vec<Self>) -> Option<()> {
        let Self { low, high, step, times } = self;
        let mut cut = |low: u64, high: u64| {
            let (low, high) = (low.max(min), high.min(max));
            if low <= high {
                to.push(Self::interval(low, high));
            }
        };
        if step == 0 {
            cut(low, high);
            return Some(());
        }
        let first = min.saturating_sub(low).div_ceil(step);
        if first > 0 && first - 1 <= times {
            let shift = step.checked_mul(first - 1)?;
            cut(low.checked_add(shift)?, high.checked_add(shift)?);
        }
        // Rounds from `first` on start at `min` or later; those before `end` also finish by `max`.
        let end = match max.checked_sub(high) {
            _ if max == FOREVER => times.saturating_add(1),
            Some(room) => (room / step + 1).min(times.saturating_add(1)),
            None => 0,
        };
        if max != FOREVER && end <= times && end >= first {
            let shift = step.checked_mul(end)?;
            cut(low.checked_add(shift)?, high.checked_add(shift)?);
        }
        if end > first {
            let shift = step.checked_mul(first)?;
            let times = if max == FOREVER && times == FOREVER {
                FOREVER
            } else {
                end - 1 - first
            };
            to.push(Self {
                low: low.checked_add(shift)?,
                high: high.checked_add(shift)?,
                step,
                times,
            });
        }
        Some(())
    }

    /// The end of the set, if it has one.
    fn last(self) -> Option<u64> {
        if self.times == FOREVER {
            None
        } else {
            Some(self.high.saturating_add(self.step.saturating_mul(self.times)))
        }
    }

    /// The smallest element that is at least `min`.
    fn next(self, min: u64) -> Option<u64> {
        if min <= self.high {
            return Some(min.max(self.low));
        }
        let round = (min - self.high).div_ceil(self.step.max(1));
        if self.step == 0 || round > self.times {
            return None;
        }
        Some(min.max(self.low.checked_add(self.step.checked_mul(round)?)?))
    }

    fn plus(self, other: Self) -> Option<Vec<Self>> {
        let low = self.low.checked_add(other.low)?;
        let high = self.high.checked_add(other.high)?;
        if self.step == 0 || other.step == 0 || self.step == other.step {
            let times = match (self.times, other.times) {
                (FOREVER, _) | (_, FOREVER) => FOREVER,
                (a, b) => a.checked_add(b)?,
            };
            return Some(vec![
                Self {
                    low,
                    high,
                    step: self.step.max(other.step),
                    times,
                }
                .simplified()?,
            ]);
        }
        // Write the rarer progression out. With two endless ones that is as far as the other's step: what follows is
        // covered by rounds of the other.
        let (short, long) = if self.times <= other.times {
            (self, other)
        } else {
            (other, self)
        };
        let rounds = if short.times == FOREVER {
            long.step - 1
        } else {
            short.times
        };
        if rounds as usize >= MAX_STEPS {
            return None;
        }
        let shifted = |k: u64| {
            let shift = short.step.checked_mul(k)?;
            Self {
                low: low.checked_add(shift)?,
                high: high.checked_add(shift)?,
                ..long
            }
            .simplified()
        };
        (0..=rounds).map(shifted).collect()
    }
}

impl Lengths {
    pub(super) fn none() -> Self {
        Self(Vec::new())
    }

    /// The lengths from `min` to `max`, [`u64::MAX`] for no end.
    pub(super) fn interval(min: u64, max: u64) -> Self {
        Self(vec![Stair::interval(min, max)])
    }

    /// The lengths below `from` that `belongs`, and from there on those whose residue does, for ever.
    pub(super) fn periodic(from: u64, period: u64, belongs: impl Fn(u64) -> bool) -> Option<Self> {
        let before = (0..from).filter(|&n| belongs(n)).map(|n| Stair::interval(n, n));
        let after = (from..from + period).filter(|&n| belongs(n));
        let after = after.map(|n| Stair {
            low: n,
            high: n,
            step: period,
            times: FOREVER,
        });
        Self::normal(before.chain(after).collect())
    }

    fn normal(stairs: Vec<Stair>) -> Option<Self> {
        let mut stairs: Vec<Stair> = stairs.into_iter().map(Stair::simplified).collect::<Option<_>>()?;
        stairs.sort_unstable_by_key(|stair| (stair.step, stair.times, stair.low, stair.high));
        stairs.dedup();
        let mut kept: Vec<Stair> = Vec::with_capacity(stairs.len());
        for stair in stairs {
            if let Some(previous) = kept.last_mut()
                && previous.step == stair.step
                && previous.times == stair.times
            {
                if stair.step == 0 && stair.low <= previous.high.saturating_add(1) {
                    previous.high = previous.high.max(stair.high);
                    continue;
                }
                if stair.step > 0 && stair.low <= previous.high.saturating_add(1) && stair.times == FOREVER {
                    previous.high = previous.high.max(stair.high);
                    *previous = previous.simplified()?;
                    continue;
                }
            }
            kept.push(stair);
        }
        Self(kept).without_covered()
    }

    /// Merges the intervals that an infinite interval covers into that interval.
    fn without_covered(mut self) -> Option<Self> {
        let is_tail = |stair: &Stair| stair.step == 1 && stair.times == FOREVER;
        let Some(mut from) = self.0.iter().filter(|s| is_tail(s)).map(|s| s.low).min() else {
            return (self.0.len() <= MAX_STEPS).then_some(self);
        };
        while let Some(lower) = self
            .0
            .iter()
            .filter(|s| s.step == 0 && s.low < from && s.high.saturating_add(1) >= from)
            .map(|s| s.low)
            .min()
        {
            from = lower;
        }
        self.0.retain(|stair| stair.low < from);
        self.0.push(Stair::interval(from, FOREVER));
        (self.0.len() <= MAX_STEPS).then_some(self)
    }

    pub(super) fn union(&self, other: &Self) -> Option<Self> {
        Self::normal(self.0.iter().chain(&other.0).copied().collect())
    }

    /// The lengths from `min` to `max`.
    pub(super) fn clipped(&self, min: u64, max: u64) -> Option<Self> {
        let mut stairs = Vec::new();
        for &stair in &self.0 {
            stair.clip(min, max, &mut stairs)?;
        }
        Self::normal(stairs)
    }

    /// The sums of a length of each.
    pub(super) fn plus(&self, other: &Self) -> Option<Self> {
        if self.0.len() * other.0.len() > MAX_STEPS * MAX_STEPS {
            return None;
        }
        let mut sums = Vec::new();
        for &a in &self.0 {
            for &b in &other.0 {
                sums.extend(a.plus(b)?);
            }
        }
        Self::normal(sums)
    }

    /// The sums of `min` to `max` lengths.
    pub(super) fn times(&self, min: u64, max: u64) -> Option<Self> {
        if max == 0 || self.0.is_empty() {
            return Some(if min == 0 || max == 0 {
                Self::interval(0, 0)
            } else {
                Self::none()
            });
        }
        if let [Stair { low, high, step: 0, .. }] = self.0[..] {
            return Self::multiples(low, high, min, max);
        }
        let fewest = self.power(min)?;
        if min == max {
            return Some(fewest);
        }
        let more = if max == FOREVER {
            self.closure()?
        } else {
            self.union(&Self::interval(0, 0))?.power(max - min)?
        };
        fewest.plus(&more)
    }

    /// The sums of `min` to `max` numbers from `low` to `high`.
    fn multiples(low: u64, high: u64, min: u64, max: u64) -> Option<Self> {
        let scaled = |count: u64, by: u64| {
            if count == FOREVER {
                Some(FOREVER)
            } else {
                count.checked_mul(by)
            }
        };
        if high == 0 {
            return Some(Self::interval(0, 0));
        }
        if low == high {
            let times = if max == FOREVER { FOREVER } else { max - min };
            let low = min.checked_mul(low)?;
            return Self::normal(vec![Stair {
                low,
                high: low,
                step: high,
                times,
            }]);
        }
        // From this many on, the intervals of neighbouring counts touch.
        let touching = if low == 0 { 0 } else { (low - 1).div_ceil(high - low) };
        let mut stairs = Vec::new();
        for count in min..touching.min(max) {
            if stairs.len() > MAX_STEPS {
                return None;
            }
            stairs.push(Stair::interval(count.checked_mul(low)?, count.checked_mul(high)?));
        }
        let count = touching.clamp(min, max);
        stairs.push(Stair::interval(count.checked_mul(low)?, scaled(max, high)?));
        Self::normal(stairs)
    }

    fn power(&self, mut exponent: u64) -> Option<Self> {
        let mut power = Self::interval(0, 0);
        let mut square = self.clone();
        while exponent > 0 {
            if exponent & 1 == 1 {
                power = power.plus(&square)?;
            }
            exponent >>= 1;
            if exponent > 0 {
                square = square.plus(&square)?;
            }
        }
        Some(power)
    }

    /// The sums of any number of lengths: for each residue of the smallest length, the least sum that leaves it.
    fn closure(&self) -> Option<Self> {
        let Some(unit) = self.0.iter().filter_map(|stair| stair.next(1)).min() else {
            return Some(Self::interval(0, 0));
        };
        if unit > MAX_RESIDUES {
            return None;
        }
        let mut generators = vec![u64::MAX; unit as usize];
        for stair in &self.0 {
            for round in 0..=stair.times.min(unit) {
                let low = stair.low.checked_add(stair.step.checked_mul(round)?)?;
                let high = stair
                    .high
                    .checked_add(stair.step * round)?
                    .min(low.saturating_add(unit - 1));
                for sum in low..=high {
                    let least = &mut generators[(sum % unit) as usize];
                    *least = sum.min(*least);
                }
            }
        }
        let mut least = vec![u64::MAX; unit as usize];
        least[0] = 0;
        let mut done = vec![false; unit as usize];
        while let Some(at) = (0..unit as usize)
            .filter(|&r| !done[r] && least[r] < u64::MAX)
            .min_by_key(|&r| least[r])
        {
            done[at] = true;
            for &generator in generators.iter().filter(|&&generator| generator < u64::MAX) {
                let sum = least[at].checked_add(generator)?;
                let place = &mut least[(sum % unit) as usize];
                *place = sum.min(*place);
            }
        }
        let stairs = least.iter().filter(|&&sum| sum < u64::MAX);
        Self::normal(
            stairs
                .map(|&sum| Stair {
                    low: sum,
                    high: sum,
                    step: unit,
                    times: FOREVER,
                })
                .collect(),
        )
    }

    /// Whether there is a length from `min` to `max`.
    pub(crate) fn meets(&self, min: u64, max: u64) -> bool {
        self.0
            .iter()
            .any(|stair| stair.next(min).is_some_and(|length| length <= max))
    }

    /// The smallest length.
    pub(crate) fn min(&self) -> Option<u64> {
        self.0.iter().map(|stair| stair.low).min()
    }

    /// The smallest length, if all beyond it are in the set.
    pub(crate) fn all_from(&self) -> Option<u64> {
        match self.0[..] {
            [
                Stair {
                    low,
                    step: 1,
                    times: FOREVER,
                    ..
                },
            ] => Some(low),
            _ => None,
        }
    }

    /// The largest length; `Some(None)` where there is no end, `None` where there is no length.
    pub(crate) fn max(&self) -> Option<Option<u64>> {
        self.0.iter().map(|stair| stair.last()).reduce(|a, b| Some(a?.max(b?)))
    }

    /// Returns the length from which on membership repeats, and the period.
    pub(super) fn tail(&self) -> Option<(u64, u64)> {
        self.0
            .iter()
            .try_fold((0u64, 1u64), |(from, period), stair| match stair.last() {
                Some(u64::MAX) => None,
                Some(last) => Some((from.max(last + 1), period)),
                None if period % stair.step == 0 => Some((from.max(stair.low), period)),
                None if stair.step % period == 0 => Some((from.max(stair.low), stair.step)),
                None => Some((from.max(stair.low), period.checked_mul(stair.step)?)),
            })
    }
}
