//! A set of decimals as breakpoints with a periodic combination between each two, and its normal form.

use super::periodic::{PeriodicSetId, PeriodicSets};
use crate::decimal::{Decimal, LimitReached};

/// Finite stretches of at most this many members are written as single numbers, as an `enum` gives them.
const FEW: u64 = 8;

/// A number at which a set changes its rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Breakpoint {
    pub(super) at: Decimal,
    /// Whether the number itself is a member.
    pub(super) member: bool,
}

/// A set of decimals: the breakpoints ascend, and `rules[i]` holds on the open interval below `breakpoints[i]`, the last piece above
/// all breakpoints.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Piecewise {
    pub(super) breakpoints: Vec<Breakpoint>,
    pub(super) rules: Vec<PeriodicSetId>,
}

impl Piecewise {
    /// One rule for all numbers.
    pub(super) fn uniform(piece: PeriodicSetId) -> Self {
        Self {
            breakpoints: Vec::new(),
            rules: vec![piece],
        }
    }

    /// One rule below a breakpoint, another above.
    pub(super) fn split(below: PeriodicSetId, breakpoint: Breakpoint, above: PeriodicSetId) -> Self {
        Self {
            breakpoints: vec![breakpoint],
            rules: vec![below, above],
        }
    }

    pub(super) fn contains(&self, periodic_sets: &PeriodicSets, value: &Decimal) -> bool {
        match self.breakpoints.binary_search_by(|breakpoint| breakpoint.at.cmp(value)) {
            Ok(found) => self.breakpoints[found].member,
            Err(piece) => periodic_sets.contains(self.rules[piece], value),
        }
    }

    /// Ends of the open interval of `rules[index]`; `None` where there is none.
    pub(super) fn ends(&self, index: usize) -> (Option<&Decimal>, Option<&Decimal>) {
        let low = index.checked_sub(1).map(|before| &self.breakpoints[before].at);
        (low, self.breakpoints.get(index).map(|breakpoint| &breakpoint.at))
    }

    /// The same set in a form that depends little on how it came about: a rule is kept as long as it holds, from low
    /// to high, so that a breakpoint is where the rule first fails.
    pub(super) fn normalised(self, periodic_sets: &mut PeriodicSets) -> Result<Self, LimitReached> {
        let set = self.with_few_as_cuts(periodic_sets);
        let mut result = Self::uniform(set.rules[0]);
        let mut rule = set.rules[0];
        let Piecewise { breakpoints, rules } = set;
        let mut breakpoints = breakpoints.into_iter().peekable();
        for &piece in &rules[1..] {
            let Some(mut breakpoint) = breakpoints.next() else {
                break;
            };
            let difference = periodic_sets.xor(rule, piece)?;
            let next = breakpoints.peek().map(|next| &next.at);
            let holds_on =
                difference == PeriodicSets::NONE || !periodic_sets.get(difference).meets(Some(&breakpoint.at), next);
            if breakpoint.member == periodic_sets.contains(rule, &breakpoint.at) {
                if holds_on {
                    continue;
                }
                // The rule holds at the breakpoint: the breakpoint moves to where it first fails.
                if let Some(first) = periodic_sets.get(difference).nth_above(&breakpoint.at, 1) {
                    breakpoint = Breakpoint {
                        member: periodic_sets.contains(piece, &first),
                        at: first,
                    };
                    if next.is_some_and(|next| {
                        periodic_sets.get(difference).count(Some(&breakpoint.at), Some(next), 0) == Some(0)
                    }) {
                        // The rule failed only there: an exclusion or addition of one number.
                        result.push(breakpoint, rule);
                        continue;
                    }
                }
            }
            if !holds_on {
                rule = piece;
            }
            result.push(breakpoint, rule);
        }
        Ok(result)
    }

    fn push(&mut self, breakpoint: Breakpoint, above: PeriodicSetId) {
        self.breakpoints.push(breakpoint);
        self.rules.push(above);
    }

    /// Finite stretches of few members, as single members.
    fn with_few_as_cuts(self, periodic_sets: &PeriodicSets) -> Self {
        let mut result = Self {
            breakpoints: Vec::with_capacity(self.breakpoints.len()),
            rules: Vec::with_capacity(self.rules.len()),
        };
        for (index, &piece) in self.rules.iter().enumerate() {
            match few_members(periodic_sets, piece, self.ends(index)) {
                Some(few) => {
                    result.rules.push(PeriodicSets::NONE);
                    for at in few {
                        result.push(Breakpoint { at, member: true }, PeriodicSets::NONE);
                    }
                }
                None => result.rules.push(piece),
            }
            result.breakpoints.extend(self.breakpoints.get(index).cloned());
        }
        result
    }
}

/// The members between the ends, where they are at most [`FEW`].
fn few_members(
    periodic_sets: &PeriodicSets,
    piece: PeriodicSetId,
    ends: (Option<&Decimal>, Option<&Decimal>),
) -> Option<Vec<Decimal>> {
    let (Some(low), Some(high), false) = (ends.0, ends.1, PeriodicSets::is_constant(piece)) else {
        return None;
    };
    let periodic = periodic_sets.get(piece);
    let count = periodic
        .count(Some(low), Some(high), FEW)
        .filter(|&count| count <= FEW)?;
    (1..=count).map(|rank| periodic.nth_above(low, rank)).collect()
}
