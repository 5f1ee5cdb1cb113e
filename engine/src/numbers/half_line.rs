//! The magnitudes of a set's members on one side of zero, arranged by leading digits.

use crate::decimal::Decimal;
use crate::numbers::periodic::{PeriodicSetId, PeriodicSets};
use crate::numbers::piecewise::Piecewise;

/// No last exponent.
pub(super) const ENDLESS: i64 = i64::MAX;

/// A positive number at which the set changes its rule.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct HalfLineBreakpoint {
    pub(super) at: Decimal,
    /// The significant digits.
    pub(super) digits: Vec<u8>,
    pub(super) member: bool,
}

/// The positive numbers whose value, or whose negative for the other half_line, is a member; and whether zero is one.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct HalfLine {
    pub(super) zero: bool,
    pub(super) breakpoints: Vec<HalfLineBreakpoint>,
    /// `rules[i]` holds below `breakpoints[i]`, the last residual above all breakpoints.
    pub(super) rules: Vec<PeriodicSetId>,
    /// What the members `0.d… × 10^n`, `d` nonzero, are, by `n`.
    pub(super) root: Vec<ExponentRun>,
}

/// The same rule for a stretch of exponents: those above the run before, up to `last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ExponentRun {
    pub(super) last: i64,
    pub(super) residual: Residual,
}

impl ExponentRun {
    /// Whether it is the last and has members at some exponent, whatever more digits there are.
    pub(super) fn is_endless(&self) -> bool {
        self.last == ENDLESS && matches!(self.residual, Residual::Pure(rule) if rule != PeriodicSets::NONE)
    }

    /// Whether all are members, or none.
    pub(super) fn is_constant(&self) -> bool {
        matches!(self.residual, Residual::Pure(rule) if PeriodicSets::is_constant(rule))
    }
}

/// Which numbers with some leading digits, at one exponent, are members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Residual {
    /// One rule for all of them.
    Pure(PeriodicSetId),
    /// The leading digits followed by zeros only are a member as said here, all others are not as said here.
    Spot(bool),
    /// The breakpoints from `low` to before `high` start with the leading digits, of which there are `depth`; digits past the
    /// end of a breakpoint are zeros.
    Path { low: u32, high: u32, depth: u32 },
}

impl HalfLine {
    pub(super) fn of(set: &Piecewise, periodic_sets: &PeriodicSets, negative: bool) -> Self {
        let zero = set.contains(periodic_sets, &Decimal::zero());
        let half_cut = |breakpoint: &crate::numbers::piecewise::Breakpoint| HalfLineBreakpoint {
            at: breakpoint.at.abs(),
            digits: breakpoint.at.digit_values(),
            member: breakpoint.member,
        };
        let (breakpoints, rules): (Vec<_>, Vec<_>) = if negative {
            let end = set
                .breakpoints
                .partition_point(|breakpoint| breakpoint.at.is_negative());
            (
                set.breakpoints[..end].iter().rev().map(half_cut).collect(),
                set.rules[..=end].iter().rev().copied().collect(),
            )
        } else {
            let start = set
                .breakpoints
                .partition_point(|breakpoint| breakpoint.at.is_negative() || breakpoint.at.is_zero());
            (
                set.breakpoints[start..].iter().map(half_cut).collect(),
                set.rules[start..].to_vec(),
            )
        };
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

    /// What remains of a residual after one more digit.
    pub(super) fn slice(
        half_line: Option<&Self>,
        periodic_sets: &PeriodicSets,
        residual: Residual,
        digit: u8,
    ) -> Residual {
        match (residual, half_line) {
            (Residual::Pure(_), _) | (Residual::Path { .. }, None) => residual,
            (Residual::Spot(at), _) => {
                if digit == 0 {
                    residual
                } else {
                    Residual::Pure(PeriodicSets::constant(!at))
                }
            }
            (Residual::Path { low, high, depth }, Some(half_line)) => {
                // The breakpoints of a path are in the order of their digits from here on.
                let breakpoints = &half_line.breakpoints[low as usize..high as usize];
                let digit_of =
                    |breakpoint: &HalfLineBreakpoint| breakpoint.digits.get(depth as usize).copied().unwrap_or(0);
                let first = low + breakpoints.partition_point(|breakpoint| digit_of(breakpoint) < digit) as u32;
                let end = low + breakpoints.partition_point(|breakpoint| digit_of(breakpoint) <= digit) as u32;
                if first == end {
                    Residual::Pure(half_line.rules[first as usize])
                } else {
                    half_line.path(periodic_sets, first, end, depth + 1)
                }
            }
        }
    }

    /// The path of the given breakpoints, or something simpler that means the same.
    fn path(&self, periodic_sets: &PeriodicSets, low: u32, high: u32, depth: u32) -> Residual {
        let breakpoint = &self.breakpoints[low as usize];
        if high - low > 1 || !breakpoint.ends_by(depth) {
            return Residual::Path { low, high, depth };
        }
        let above = self.rules[high as usize];
        if breakpoint.member == periodic_sets.contains(above, &breakpoint.at) {
            Residual::Pure(above)
        } else if PeriodicSets::is_constant(above) {
            Residual::Spot(breakpoint.member)
        } else {
            // All of its digits are used up: how many zeros follow makes no difference.
            Residual::Path {
                low,
                high,
                depth: breakpoint.digits.len() as u32,
            }
        }
    }

    /// Every rule that the residual refers to.
    pub(super) fn rules<'a>(half_line: Option<&'a Self>, residual: &'a Residual) -> &'a [PeriodicSetId] {
        match (residual, half_line) {
            (Residual::Pure(rule), _) => std::slice::from_ref(rule),
            (Residual::Path { low, high, .. }, Some(half_line)) => &half_line.rules[*low as usize..=*high as usize],
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

fn root_runs(breakpoints: &[HalfLineBreakpoint], rules: &[PeriodicSetId]) -> Vec<ExponentRun> {
    let (mut runs, mut low) = (Vec::new(), 0);
    for group in breakpoints.chunk_by(|one, other| one.at.magnitude() == other.at.magnitude()) {
        let (last, high) = (group[0].at.magnitude(), low + group.len() as u32);
        if runs.last().is_none_or(|run: &ExponentRun| run.last < last - 1) {
            runs.push(ExponentRun {
                last: last - 1,
                residual: Residual::Pure(rules[low as usize]),
            });
        }
        runs.push(ExponentRun {
            last,
            residual: Residual::Path { low, high, depth: 0 },
        });
        low = high;
    }
    runs.push(ExponentRun {
        last: ENDLESS,
        residual: Residual::Pure(rules[low as usize]),
    });
    runs
}
