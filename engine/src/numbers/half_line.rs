//! One side of zero of a set of numbers, and its residuals behind leading digits.

use super::divisor::Divisor;
use super::periodic::{PeriodicSet, PeriodicSetId, PeriodicSets};
use super::piecewise::{Breakpoint, Piecewise};
use crate::decimal::Decimal;

/// The last exponent of a run without end.
pub(super) const ENDLESS: i64 = i64::MAX;

/// A positive number at which the set changes its rule.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct HalfLineBreakpoint {
    pub(super) at: Decimal,
    /// The significant digits.
    pub(super) digits: Vec<u8>,
    pub(super) member: bool,
}

/// One side of a set: the magnitudes of its positive members, or of its negative ones; and whether zero is a member.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct HalfLine {
    pub(super) zero: bool,
    pub(super) breakpoints: Vec<HalfLineBreakpoint>,
    /// `rules[i]` holds below `breakpoints[i]`, the last rule above all breakpoints.
    pub(super) rules: Vec<PeriodicSetId>,
    /// The members among the numbers `0.d… × 10^n`, `d` nonzero, by runs of exponents `n`.
    pub(super) root: Vec<ExponentRun>,
}

/// The residual of a set at a run of exponents: those above the run before, up to `last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ExponentRun {
    pub(super) last: i64,
    pub(super) residual: Residual,
}

impl ExponentRun {
    /// Whether this run is the last and has members at some exponent, whatever more digits there are.
    pub(super) fn is_endless(&self) -> bool {
        self.last == ENDLESS && matches!(self.residual, Residual::Rule(rule) if rule != PeriodicSets::NONE)
    }

    /// Whether all are members, or none.
    pub(super) fn is_constant(&self) -> bool {
        matches!(self.residual, Residual::Rule(rule) if PeriodicSets::is_constant(rule))
    }
}

/// The membership of the numbers with some leading digits, at one exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Residual {
    /// One rule for all numbers.
    Rule(PeriodicSetId),
    /// Whether the number with only zeros behind the leading digits is a member. Of all others the opposite is true.
    OnlyZeros(bool),
    /// The breakpoints from `low` to before `high` start with the leading digits, of which there are `depth`; digits past
    /// the end of a breakpoint are zeros.
    Breakpoints { low: u32, high: u32, depth: u32 },
}

/// The residual of a set without members.
pub(super) const EMPTY: Residual = Residual::Rule(PeriodicSets::NONE);

impl HalfLine {
    pub(super) fn of(set: &Piecewise, periodic_sets: &PeriodicSets, negative: bool) -> Self {
        let zero = set.contains(periodic_sets, &Decimal::zero());
        let magnitude = |breakpoint: &Breakpoint| HalfLineBreakpoint {
            at: breakpoint.at.abs(),
            digits: breakpoint.at.digit_values(),
            member: breakpoint.member,
        };
        let all = &set.breakpoints;
        let (mut breakpoints, rules): (Vec<_>, Vec<_>) = if negative {
            let end = all.partition_point(|breakpoint| breakpoint.at.is_negative());
            (
                all[..end].iter().rev().map(magnitude).collect(),
                set.rules[..=end].iter().rev().copied().collect(),
            )
        } else {
            let start = all.partition_point(|breakpoint| breakpoint.at <= Decimal::zero());
            (
                all[start..].iter().map(magnitude).collect(),
                set.rules[start..].to_vec(),
            )
        };
        shorten(&mut breakpoints, &rules, periodic_sets);
        let root = root_runs(&breakpoints, &rules);
        Self {
            zero,
            breakpoints,
            rules,
            root,
        }
    }

    /// Whether all magnitudes but zero are members, or none.
    pub(super) fn is_constant(&self) -> bool {
        self.breakpoints.is_empty() && PeriodicSets::is_constant(self.rules[0])
    }

    /// Whether all magnitudes are members.
    pub(super) fn is_all(&self) -> bool {
        self.zero && self.breakpoints.is_empty() && self.rules[0] == PeriodicSets::ALL
    }

    /// The residual after one more digit.
    pub(super) fn after_digit(
        half_line: Option<&Self>,
        periodic_sets: &PeriodicSets,
        residual: Residual,
        digit: u8,
    ) -> Residual {
        match (residual, half_line) {
            (Residual::Rule(_), _) | (Residual::Breakpoints { .. }, None) => residual,
            (Residual::OnlyZeros(_), _) if digit == 0 => residual,
            (Residual::OnlyZeros(at), _) => Residual::Rule(PeriodicSets::constant(!at)),
            (Residual::Breakpoints { low, high, depth }, Some(half_line)) => {
                // These breakpoints are in the order of their digits from here on.
                let breakpoints = &half_line.breakpoints[low as usize..high as usize];
                let digit_of =
                    |breakpoint: &HalfLineBreakpoint| breakpoint.digits.get(depth as usize).copied().unwrap_or(0);
                let first = low + breakpoints.partition_point(|breakpoint| digit_of(breakpoint) < digit) as u32;
                let end = low + breakpoints.partition_point(|breakpoint| digit_of(breakpoint) <= digit) as u32;
                if first == end {
                    Residual::Rule(half_line.rules[first as usize])
                } else {
                    half_line.between(periodic_sets, first, end, depth + 1)
                }
            }
        }
    }

    /// The residual of the given breakpoints, in its simplest form.
    fn between(&self, periodic_sets: &PeriodicSets, low: u32, high: u32, depth: u32) -> Residual {
        let breakpoint = &self.breakpoints[low as usize];
        if high - low > 1 || !breakpoint.ends_by(depth) {
            return Residual::Breakpoints { low, high, depth };
        }
        let above = self.rules[high as usize];
        if breakpoint.member == periodic_sets.contains(above, &breakpoint.at) {
            Residual::Rule(above)
        } else if PeriodicSets::is_constant(above) {
            Residual::OnlyZeros(breakpoint.member)
        } else {
            // All of its digits are used up: how many zeros follow makes no difference.
            Residual::Breakpoints {
                low,
                high,
                depth: breakpoint.digits.len() as u32,
            }
        }
    }

    /// Every rule that a residual refers to.
    pub(super) fn rules_of<'a>(half_line: Option<&'a Self>, residual: &'a Residual) -> &'a [PeriodicSetId] {
        match (residual, half_line) {
            (Residual::Rule(rule), _) => std::slice::from_ref(rule),
            (Residual::Breakpoints { low, high, .. }, Some(half_line)) => {
                &half_line.rules[*low as usize..=*high as usize]
            }
            _ => &[],
        }
    }
}

impl HalfLineBreakpoint {
    /// Whether only zeros come after so many digits.
    pub(super) fn ends_by(&self, depth: u32) -> bool {
        self.digits.len() <= depth as usize
    }
}

/// Moves breakpoints at which members begin or end to the shortest number that says the same: 100 ends the integers below 101, too.
fn shorten(breakpoints: &mut [HalfLineBreakpoint], rules: &[PeriodicSetId], periodic_sets: &PeriodicSets) {
    for index in 0..breakpoints.len() {
        let [below, above] = [0, 1].map(|side| periodic_sets.get(rules[index + side]));
        let HalfLineBreakpoint { at, digits, member } = &breakpoints[index];
        let before = |set: &PeriodicSet, at: &Decimal| Some(set.nth_above(&at.negated(), 1)?.negated());
        // The member that is the last or the first, and the number beside it that its rule has but the set does not.
        let ends = match (below.is_none(), above.is_none()) {
            _ if digits.len() < 2 => None,
            // A member that neither rule has stands alone, and stays where it is.
            _ if *member
                && !rules[index..=index + 1]
                    .iter()
                    .any(|rule| periodic_sets.contains(*rule, at)) =>
            {
                None
            }
            (false, true) => {
                let last = if *member { Some(at.clone()) } else { before(below, at) };
                last.and_then(|last| Some((below.nth_above(&last, 1)?, last)))
            }
            (true, false) => {
                let first = if *member {
                    Some(at.clone())
                } else {
                    above.nth_above(at, 1)
                };
                first.and_then(|first| Some((before(above, &first)?, first)))
            }
            _ => None,
        };
        let Some((beside, end)) = ends else {
            continue;
        };
        let low = index
            .checked_sub(1)
            .map_or(Decimal::zero(), |before| breakpoints[before].at.clone());
        let fits = |at: &Decimal| low < *at && breakpoints.get(index + 1).is_none_or(|next| *at < next.at);
        if !fits(&end) {
            continue;
        }
        let shortest = match beside < end {
            true => shortest_between(&beside, &end),
            false => shortest_between(&end, &beside),
        };
        let shortest = shortest.filter(|at| fits(at)).unwrap_or_else(|| end.clone());
        let digits = shortest.digit_values();
        if digits.len() < breakpoints[index].digits.len() {
            let member = shortest == end;
            breakpoints[index] = HalfLineBreakpoint {
                at: shortest,
                digits,
                member,
            };
        }
    }
}

/// The number with the fewest digits of a closed interval above zero; `None` where it is not near.
fn shortest_between(low: &Decimal, high: &Decimal) -> Option<Decimal> {
    const MOST_DIGITS: i64 = 64;
    (0..MOST_DIGITS).find_map(|digits| {
        let unit = Divisor::power_of_ten(high.magnitude() - digits);
        let next = unit.times(&unit.ceil_ratio(low));
        (!next.is_zero() && next <= *high).then_some(next)
    })
}

/// The runs before a digit was written: breakpoints of one magnitude, and the exponents between.
fn root_runs(breakpoints: &[HalfLineBreakpoint], rules: &[PeriodicSetId]) -> Vec<ExponentRun> {
    let (mut runs, mut low) = (Vec::new(), 0);
    for group in breakpoints.chunk_by(|one, other| one.at.magnitude() == other.at.magnitude()) {
        let (last, high) = (group[0].at.magnitude(), low + group.len() as u32);
        if runs.last().is_none_or(|run: &ExponentRun| run.last < last - 1) {
            runs.push(ExponentRun {
                last: last - 1,
                residual: Residual::Rule(rules[low as usize]),
            });
        }
        runs.push(ExponentRun {
            last,
            residual: Residual::Breakpoints { low, high, depth: 0 },
        });
        low = high;
    }
    runs.push(ExponentRun {
        last: ENDLESS,
        residual: Residual::Rule(rules[low as usize]),
    });
    runs
}

/// The residual at an exponent.
pub(super) fn residual_at(runs: &[ExponentRun], exponent: i64) -> Residual {
    let index = runs.partition_point(|run| run.last < exponent);
    runs.get(index).map_or(EMPTY, |run| run.residual)
}
