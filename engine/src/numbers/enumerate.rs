//! How many members a set has, and which.

use std::sync::Arc;

use super::decimal_sets::{DecimalSetId, DecimalSets};
use super::divisor::Divisor;
use super::periodic::{PeriodicSetId, PeriodicSets};
use crate::decimal::{Decimal, LimitReached};

/// Number of members of a set, as far as it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberCount {
    /// So many.
    Exactly(u64),
    /// Finitely many, but over the number asked for.
    MoreThan(u64),
    /// Infinitely many.
    Infinite,
}

/// A piece of a set on one side of zero: an open interval of magnitudes, its rule, and the side.
struct Side {
    low: Decimal,
    high: Option<Decimal>,
    rule: PeriodicSetId,
    negative: bool,
}

impl DecimalSets {
    /// Whether the set has no member.
    pub(super) fn is_empty(&self, id: DecimalSetId) -> bool {
        self.cardinality(id, 0) == NumberCount::Exactly(0)
    }

    /// Number of members, counted up to `up_to`.
    pub(super) fn cardinality(&self, id: DecimalSetId, up_to: u64) -> NumberCount {
        let set = self.get(id);
        let mut total = set.breakpoints.iter().filter(|breakpoint| breakpoint.member).count() as u64;
        for (index, &piece) in set.rules.iter().enumerate() {
            let (low, high) = set.ends(index);
            match self.periodic_sets.get(piece).count(low, high, up_to) {
                Some(count) => total = total.saturating_add(count),
                None => return NumberCount::Infinite,
            }
        }
        if total <= up_to {
            NumberCount::Exactly(total)
        } else {
            NumberCount::MoreThan(up_to)
        }
    }

    /// Up to `most` members, by ascending magnitude; all of them where there are at most so many. Of a stretch where
    /// members are dense, some with few digits.
    ///
    /// # Errors
    ///
    /// Where members exist but writing one down would take too many digits.
    pub(super) fn members(&mut self, id: DecimalSetId, most: usize) -> Result<Vec<Decimal>, LimitReached> {
        let set = Arc::clone(self.get(id));
        let mut found: Vec<Decimal> = set
            .breakpoints
            .iter()
            .filter(|breakpoint| breakpoint.member)
            .map(|breakpoint| breakpoint.at.clone())
            .collect();
        for (index, &rule) in set.rules.iter().enumerate() {
            let (low, high) = set.ends(index);
            let around_zero = low.is_none_or(Decimal::is_negative) && high.is_none_or(|high| *high > Decimal::zero());
            if around_zero && self.periodic_sets.contains(rule, &Decimal::zero()) {
                found.push(Decimal::zero());
            }
            for side in sides(low, high, rule) {
                self.members_of_side(&side, most, &mut found)?;
            }
        }
        found.sort_by(|left, right| left.cmp_abs(right).then_with(|| right.cmp(left)));
        found.truncate(most);
        Ok(found)
    }

    fn members_of_side(&mut self, side: &Side, most: usize, found: &mut Vec<Decimal>) -> Result<(), LimitReached> {
        let Some(rule) = self.discrete_rule(side, most as u64)? else {
            return Ok(());
        };
        let periodic = Arc::clone(self.periodic_sets.get(rule));
        let count = periodic
            .count(Some(&side.low), side.high.as_ref(), most as u64)
            .unwrap_or(u64::MAX);
        for rank in 1..=count.min(most as u64) {
            let limit = LimitReached {
                what: "digits of a number of a set",
                limit: 4096,
            };
            let member = periodic.nth_above(&side.low, rank).ok_or(limit)?;
            found.push(if side.negative { member.negated() } else { member });
        }
        Ok(())
    }

    /// The rule itself where its members are discrete; otherwise its members on a decimal grid that is fine enough for
    /// `enough` of them. `None` where there are no members.
    fn discrete_rule(&mut self, side: &Side, enough: u64) -> Result<Option<PeriodicSetId>, LimitReached> {
        let periodic = Arc::clone(self.periodic_sets.get(side.rule));
        if !periodic.generic {
            return Ok(Some(side.rule).filter(|&rule| rule != PeriodicSets::NONE));
        }
        // On a grid finer than every step most numbers are generic, so that this ends.
        let mut scale = side.high.as_ref().map_or(0, |high| (high.magnitude() - 1).min(0));
        if !side.low.is_zero() && side.low.magnitude() > 20 {
            // Far from zero, short numbers are those with many zeros.
            scale = side.low.magnitude() - 1;
        }
        // Finer by one digit at a time while that is quick, for the sake of short numbers.
        let (mut tries, mut finer) = (0, 1);
        loop {
            let grid = self.periodic_sets.multiples(Divisor {
                unit: 1u8.into(),
                twos: scale,
                fives: scale,
            })?;
            let rule = self.periodic_sets.and(side.rule, grid)?;
            match self
                .periodic_sets
                .get(rule)
                .count(Some(&side.low), side.high.as_ref(), enough)
            {
                Some(count) if count < enough => {
                    (scale, tries) = (scale - finer, tries + 1);
                    finer *= if tries < 32 { 1 } else { 2 };
                }
                _ => return Ok(Some(rule)),
            }
        }
    }
}

/// The parts above and below zero of the open interval between the ends.
fn sides(low: Option<&Decimal>, high: Option<&Decimal>, rule: PeriodicSetId) -> Vec<Side> {
    let mut sides = Vec::new();
    if high.is_none_or(|high| *high > Decimal::zero()) {
        let low = low
            .filter(|low| !low.is_negative())
            .cloned()
            .unwrap_or_else(Decimal::zero);
        sides.push(Side {
            low,
            high: high.cloned(),
            rule,
            negative: false,
        });
    }
    if low.is_none_or(Decimal::is_negative) {
        let nearest = high
            .filter(|high| high.is_negative())
            .map_or_else(Decimal::zero, Decimal::abs);
        sides.push(Side {
            low: nearest,
            high: low.map(Decimal::abs),
            rule,
            negative: true,
        });
    }
    sides
}
