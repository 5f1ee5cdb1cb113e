//! Cardinality and enumeration of a set of decimals, by counting multiples instead of trying numbers.

use std::sync::Arc;

use super::decimal_sets::{DecimalSetId, DecimalSets};
use super::divisor::Divisor;
use super::half_line::HalfLine;
use super::periodic::PeriodicSetId;
use crate::decimal::{Decimal, NumberLimitReached};

/// Number of members of a set, as far as it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberCount {
    /// Exactly so many members.
    Exactly(u64),
    /// Finitely many, but over the number asked for.
    MoreThan(u64),
    /// Infinitely many, or more than any document has values.
    Infinite,
}

/// Exponent of the least power of ten whose multiples are listed as they come. Of sets with finer members, those with few
/// places are listed first.
const LEAST_LISTED_EXPONENT: i64 = -6;

impl DecimalSets {
    /// Whether the set has no member.
    pub(super) fn is_empty(&self, id: DecimalSetId) -> bool {
        self.cardinality(id, 0) == NumberCount::Exactly(0)
    }

    /// Number of members, counted up to `up_to`.
    pub(super) fn cardinality(&self, id: DecimalSetId, up_to: u64) -> NumberCount {
        let set = self.get(id);
        let mut total = set.breakpoints.iter().filter(|breakpoint| breakpoint.member).count() as u64;
        for (index, &rule) in set.rules.iter().enumerate() {
            let (low, high) = set.ends(index);
            match self.periodic_sets.get(rule).count(low, high, up_to) {
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

    /// Returns up to `most` members, by ascending magnitude; all of them where there are at most so many. Of an interval in which
    /// members are dense, some with few digits.
    ///
    /// # Errors
    ///
    /// Where members exist but writing one down would take too many digits.
    pub(super) fn members(&mut self, id: DecimalSetId, most: usize) -> Result<Vec<Decimal>, NumberLimitReached> {
        let set = Arc::clone(self.get(id));
        let mut found = Vec::new();
        for negative in [true, false] {
            let half_line = HalfLine::of(&set, &self.periodic_sets, negative);
            let members = half_line.breakpoints.iter().filter(|breakpoint| breakpoint.member);
            let mut magnitudes: Vec<Decimal> = members.map(|breakpoint| breakpoint.at.clone()).collect();
            let mut low = Decimal::zero();
            for (index, &rule) in half_line.rules.iter().enumerate() {
                let high = half_line.breakpoints.get(index).map(|breakpoint| &breakpoint.at);
                self.members_between(rule, &low, high, most as u64, &mut magnitudes)?;
                low = high.cloned().unwrap_or(low);
            }
            match negative {
                true => found.extend(magnitudes.iter().map(Decimal::negated)),
                false => found.append(&mut magnitudes),
            }
            if half_line.zero && !negative {
                found.push(Decimal::zero());
            }
        }
        found.sort_by(|left, right| left.cmp_abs(right).then_with(|| right.cmp(left)));
        found.truncate(most);
        Ok(found)
    }

    /// Adds up to `most` members of an open interval of numbers above zero.
    fn members_between(
        &mut self,
        rule: PeriodicSetId,
        low: &Decimal,
        high: Option<&Decimal>,
        most: u64,
        found: &mut Vec<Decimal>,
    ) -> Result<(), NumberLimitReached> {
        let rule = self.discrete_rule(rule, low, high, most)?;
        let members = Arc::clone(self.periodic_sets.get(rule));
        let count = members.count(Some(low), high, most).unwrap_or(u64::MAX);
        for rank in 1..=count.min(most) {
            let limit = NumberLimitReached {
                what: "digits of a number of a set",
                limit: 4096,
            };
            found.push(members.nth_above(low, rank).ok_or(limit)?);
        }
        Ok(())
    }

    /// `rule` itself where its members are discrete and not fine, or not more than `enough`; otherwise its members on a decimal
    /// grid that is fine enough for `enough` of them in the interval.
    fn discrete_rule(
        &mut self,
        rule: PeriodicSetId,
        low: &Decimal,
        high: Option<&Decimal>,
        enough: u64,
    ) -> Result<PeriodicSetId, NumberLimitReached> {
        let set = self.periodic_sets.get(rule);
        let is_fine = set.generic || !set.is_none() && set.base.least_magnitude() < LEAST_LISTED_EXPONENT;
        if !is_fine || set.count(Some(low), high, enough).is_some_and(|count| count <= enough) {
            return Ok(rule);
        }
        // On a grid finer than every divisor most numbers are generic, so that this ends.
        let mut scale = high.map_or(0, |high| (high.magnitude() - 1).min(0));
        if !low.is_zero() && low.magnitude() > 20 {
            // Far from zero, short numbers are those with many zeros.
            scale = low.magnitude() - 1;
        }
        // Finer by one digit at a time while that is quick, for the sake of short numbers.
        let (mut tries, mut finer) = (0, 1);
        loop {
            let grid = self.periodic_sets.multiples(Divisor::power_of_ten(scale))?;
            let on_grid = self.periodic_sets.and(rule, grid)?;
            match self.periodic_sets.get(on_grid).count(Some(low), high, enough) {
                Some(count) if count < enough => {
                    (scale, tries) = (scale - finer, tries + 1);
                    finer *= if tries < 32 { 1 } else { 2 };
                }
                _ => return Ok(on_grid),
            }
        }
    }
}
