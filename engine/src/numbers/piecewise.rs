//! A set of decimals in normal form: finitely many breakpoints, each of which is or is not a member, and one periodic set
//! between each two.

use super::periodic::{PeriodicSetId, PeriodicSets};
use crate::decimal::{Decimal, NumberLimitReached};

/// Intervals of at most this many members are written as single numbers, so that a small range and an `enum` of the same
/// numbers are one set. In larger intervals a rule takes less room than its members.
const MAX_SINGLE_MEMBERS: u64 = 8;

/// A number at which a set changes its rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Breakpoint {
    pub(super) at: Decimal,
    /// Whether the number itself is a member.
    pub(super) member: bool,
}

/// A set of decimals: the breakpoints ascend, and `rules[i]` holds on the open interval below `breakpoints[i]`, the last
/// rule above all breakpoints.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Piecewise {
    pub(super) breakpoints: Vec<Breakpoint>,
    pub(super) rules: Vec<PeriodicSetId>,
}

impl Piecewise {
    /// Returns a set with one rule for all numbers.
    pub(super) fn uniform(rule: PeriodicSetId) -> Self {
        Self {
            breakpoints: Vec::new(),
            rules: vec![rule],
        }
    }

    pub(super) fn contains(&self, periodic_sets: &PeriodicSets, value: &Decimal) -> bool {
        match self.breakpoints.binary_search_by(|breakpoint| breakpoint.at.cmp(value)) {
            Ok(found) => self.breakpoints[found].member,
            Err(interval) => periodic_sets.contains(self.rules[interval], value),
        }
    }

    /// The rule that holds right above `value`.
    pub(super) fn rule_above(&self, value: &Decimal) -> PeriodicSetId {
        self.rules[self.breakpoints.partition_point(|breakpoint| breakpoint.at <= *value)]
    }

    /// Ends of the open interval of `rules[index]`; `None` where there is none.
    pub(super) fn ends(&self, index: usize) -> (Option<&Decimal>, Option<&Decimal>) {
        let low = index.checked_sub(1).map(|before| &self.breakpoints[before].at);
        (low, self.breakpoints.get(index).map(|breakpoint| &breakpoint.at))
    }

    /// Adds a breakpoint above all others, and the rule above it.
    pub(super) fn push(&mut self, breakpoint: Breakpoint, above: PeriodicSetId) {
        self.breakpoints.push(breakpoint);
        self.rules.push(above);
    }

    /// The set in a form that depends little on how it came about: a rule is kept as long as it holds, from low
    /// to high, so that a breakpoint is where the rule first fails.
    pub(super) fn normalised(self, periodic_sets: &mut PeriodicSets) -> Result<Self, NumberLimitReached> {
        let Self { breakpoints, rules } = self.with_single_members(periodic_sets);
        let mut rule = rules[0];
        let mut result = Self::uniform(rule);
        let mut breakpoints = breakpoints.into_iter().zip(&rules[1..]).peekable();
        while let Some((mut breakpoint, &above)) = breakpoints.next() {
            let next = breakpoints.peek().map(|(next, _)| &next.at);
            let difference = periodic_sets.xor(rule, above)?;
            let difference = periodic_sets.get(difference);
            let holds_on = !difference.meets(Some(&breakpoint.at), next);
            if breakpoint.member == periodic_sets.contains(rule, &breakpoint.at) {
                if holds_on {
                    continue;
                }
                // The rule holds at the breakpoint: the breakpoint moves to where it first fails.
                if let Some(first) = difference.nth_above(&breakpoint.at, 1) {
                    breakpoint = Breakpoint {
                        member: periodic_sets.contains(above, &first),
                        at: first,
                    };
                    if next.is_some_and(|next| !difference.meets(Some(&breakpoint.at), Some(next))) {
                        // The rule failed only there: an exclusion or addition of one number.
                        result.push(breakpoint, rule);
                        continue;
                    }
                }
            }
            if !holds_on {
                rule = above;
            }
            result.push(breakpoint, rule);
        }
        Ok(result)
    }

    /// The set with the members of intervals that have few of them as breakpoints.
    fn with_single_members(self, periodic_sets: &PeriodicSets) -> Self {
        let mut result = Self {
            breakpoints: Vec::with_capacity(self.breakpoints.len()),
            rules: Vec::with_capacity(self.rules.len()),
        };
        for (index, &rule) in self.rules.iter().enumerate() {
            match single_members(periodic_sets, rule, self.ends(index)) {
                Some(members) => {
                    result.rules.push(PeriodicSets::NONE);
                    for at in members {
                        result.push(Breakpoint { at, member: true }, PeriodicSets::NONE);
                    }
                }
                None => result.rules.push(rule),
            }
            result.breakpoints.extend(self.breakpoints.get(index).cloned());
        }
        result
    }
}

/// The members between the ends, where they are at most [`MAX_SINGLE_MEMBERS`].
fn single_members(
    periodic_sets: &PeriodicSets,
    rule: PeriodicSetId,
    ends: (Option<&Decimal>, Option<&Decimal>),
) -> Option<Vec<Decimal>> {
    let (Some(low), Some(high), false) = (ends.0, ends.1, PeriodicSets::is_constant(rule)) else {
        return None;
    };
    let members = periodic_sets.get(rule);
    let count = members.count(Some(low), Some(high), MAX_SINGLE_MEMBERS)?;
    if count > MAX_SINGLE_MEMBERS {
        return None;
    }
    (1..=count).map(|rank| members.nth_above(low, rank)).collect()
}
