//! Periodic sets: Boolean combinations of "multiple of m", in a canonical form that counts.
//!
//! The indicator function of a Boolean combination of sets of multiples `mℤ` is a linear combination
//! `c + Σ c_m [m divides x]` with integer coefficients: the common multiples of two divisors are the multiples of their
//! least common multiple, a complement is one minus. The functions `1` and `[m divides x]` are linearly independent over
//! the decimals (evaluate at a number that no divisor divides, then at a divisor that no other one present divides, and
//! so on), so that equal combinations have equal coefficients, and counting members of an interval is one division per
//! term.

use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashMap;
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive, Zero};

use super::divisor::Divisor;
use crate::Limits;
use crate::decimal::{Decimal, NumberLimitReached};

/// Handle of a periodic set: equal sets have equal handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct PeriodicSetId(u32);

/// A Boolean combination of sets of multiples.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct PeriodicSet {
    /// Whether numbers that no divisor divides are members. Such numbers are dense, so then every open interval has members.
    pub(super) generic: bool,
    /// Generators and nonzero coefficients, in the order of divisors.
    pub(super) terms: Vec<(Divisor, i64)>,
    /// The set repeats with this period; that of the integers where there are no terms.
    pub(super) period: Divisor,
    /// Every divisor is a multiple of this one.
    pub(super) base: Divisor,
}

/// Arena of combinations.
#[derive(Debug)]
pub(super) struct PeriodicSets {
    /// Most terms of one combination: `k` independent negated divisors make `2^k`.
    max_terms: u64,
    /// Most digits that the least common multiple of a combination's divisors may have more than the smallest of them.
    max_spread: u64,
    items: Vec<Arc<PeriodicSet>>,
    ids: HashMap<Arc<PeriodicSet>, PeriodicSetId>,
    products: HashMap<(PeriodicSetId, PeriodicSetId), PeriodicSetId>,
}

impl PeriodicSets {
    /// No number.
    pub(super) const NONE: PeriodicSetId = PeriodicSetId(0);
    /// Every number.
    pub(super) const ALL: PeriodicSetId = PeriodicSetId(1);
    /// The integers.
    pub(super) const INTEGERS: PeriodicSetId = PeriodicSetId(2);

    /// An arena with the three named combinations.
    pub(super) fn within(limits: &Limits) -> Self {
        let mut sets = Self {
            max_terms: limits.number_terms as u64,
            max_spread: limits.number_multiple_digits as u64,
            items: Vec::new(),
            ids: HashMap::new(),
            products: HashMap::new(),
        };
        sets.insert(PeriodicSet::new(false, Vec::new()));
        sets.insert(PeriodicSet::new(true, Vec::new()));
        sets.insert(PeriodicSet::new(false, vec![(Divisor::one(), 1)]));
        sets
    }

    pub(super) fn get(&self, id: PeriodicSetId) -> &Arc<PeriodicSet> {
        &self.items[id.0 as usize]
    }

    /// Whether the set is everything or nothing.
    pub(super) fn is_constant(id: PeriodicSetId) -> bool {
        id == Self::NONE || id == Self::ALL
    }

    /// Everything or nothing.
    pub(super) fn constant(member: bool) -> PeriodicSetId {
        if member { Self::ALL } else { Self::NONE }
    }

    /// The multiples of a divisor.
    pub(super) fn multiples(&mut self, divisor: Divisor) -> Result<PeriodicSetId, NumberLimitReached> {
        self.intern(false, BTreeMap::from([(divisor, 1)]))
    }

    /// The numbers outside a set.
    pub(super) fn not(&mut self, id: PeriodicSetId) -> PeriodicSetId {
        let set = self.get(id);
        let terms = set.terms.iter().map(|(divisor, sign)| (divisor.clone(), -sign));
        let complement = PeriodicSet {
            generic: !set.generic,
            terms: terms.collect(),
            period: set.period.clone(),
            base: set.base.clone(),
        };
        self.insert(complement)
    }

    /// The numbers in both sets.
    ///
    /// # Errors
    ///
    /// Where the result would have too many terms or digits.
    pub(super) fn and(
        &mut self,
        left: PeriodicSetId,
        right: PeriodicSetId,
    ) -> Result<PeriodicSetId, NumberLimitReached> {
        let (left, right) = (left.min(right), left.max(right));
        if left == right || right == Self::ALL || left == Self::NONE {
            return Ok(left);
        }
        if left == Self::ALL {
            return Ok(right);
        }
        if let Some(&known) = self.products.get(&(left, right)) {
            return Ok(known);
        }
        let product = self.product(left, right)?;
        self.products.insert((left, right), product);
        Ok(product)
    }

    /// The numbers in at least one set.
    ///
    /// # Errors
    ///
    /// Where the result would have too many terms or digits.
    pub(super) fn or(
        &mut self,
        left: PeriodicSetId,
        right: PeriodicSetId,
    ) -> Result<PeriodicSetId, NumberLimitReached> {
        let (not_left, not_right) = (self.not(left), self.not(right));
        let neither = self.and(not_left, not_right)?;
        Ok(self.not(neither))
    }

    /// The numbers in exactly one of the two.
    pub(super) fn xor(
        &mut self,
        left: PeriodicSetId,
        right: PeriodicSetId,
    ) -> Result<PeriodicSetId, NumberLimitReached> {
        if left == right {
            return Ok(Self::NONE);
        }
        let (not_left, not_right) = (self.not(left), self.not(right));
        let (only_left, only_right) = (self.and(left, not_right)?, self.and(not_left, right)?);
        self.or(only_left, only_right)
    }

    /// The members that are not integers.
    pub(super) fn without_integers(&mut self, id: PeriodicSetId) -> Result<PeriodicSetId, NumberLimitReached> {
        let fractions = self.not(Self::INTEGERS);
        self.and(id, fractions)
    }

    /// The combination of only those terms of a set whose divisors `keep` wants.
    pub(super) fn retain(&mut self, id: PeriodicSetId, mut keep: impl FnMut(&Divisor) -> bool) -> PeriodicSetId {
        let set = Arc::clone(self.get(id));
        let mut terms = set.terms.clone();
        terms.retain(|(divisor, _)| keep(divisor));
        match terms.len() == set.terms.len() {
            true => id,
            false => self.insert(PeriodicSet::new(set.generic, terms)),
        }
    }

    /// Whether `value` is a member.
    pub(super) fn contains(&self, id: PeriodicSetId, value: &Decimal) -> bool {
        self.get(id).value(|divisor| divisor.divides(value))
    }

    fn product(&mut self, left: PeriodicSetId, right: PeriodicSetId) -> Result<PeriodicSetId, NumberLimitReached> {
        let (left, right) = (Arc::clone(self.get(left)), Arc::clone(self.get(right)));
        let mut terms = BTreeMap::new();
        let (most, too_many) = (self.max_terms.saturating_mul(4), self.too_many_terms());
        let mut add = |divisor: Divisor, coefficient: Option<i64>| -> Result<(), NumberLimitReached> {
            let sum = terms.entry(divisor).or_insert(0i64);
            *sum = coefficient
                .and_then(|coefficient| sum.checked_add(coefficient))
                .ok_or(too_many)?;
            match terms.len() as u64 > most {
                true => Err(too_many),
                false => Ok(()),
            }
        };
        for (one, other) in [(&left, &right), (&right, &left)] {
            for (divisor, coefficient) in one.terms.iter().filter(|_| other.generic) {
                add(divisor.clone(), Some(*coefficient))?;
            }
        }
        for (one, first) in &left.terms {
            for (other, second) in &right.terms {
                add(one.lcm(other), first.checked_mul(*second))?;
            }
        }
        self.intern(left.generic && right.generic, terms)
    }

    fn intern(
        &mut self,
        generic: bool,
        mut terms: BTreeMap<Divisor, i64>,
    ) -> Result<PeriodicSetId, NumberLimitReached> {
        terms.retain(|_, coefficient| *coefficient != 0);
        if terms.len() as u64 > self.max_terms {
            return Err(self.too_many_terms());
        }
        let set = PeriodicSet::new(generic, terms.into_iter().collect());
        let PeriodicSet { period, base, .. } = &set;
        let least = period.twos.min(period.fives).min(base.twos).min(base.fives);
        let most = period.twos.max(period.fives).max(base.twos).max(base.fives);
        let digits = most.abs_diff(least).saturating_add(period.unit.bits() / 3);
        if digits > self.max_spread {
            return Err(NumberLimitReached {
                what: "digits of the least common multiple of `multipleOf` values (`number_multiple_digits`)",
                limit: self.max_spread,
            });
        }
        Ok(self.insert(set))
    }

    fn too_many_terms(&self) -> NumberLimitReached {
        NumberLimitReached {
            what: "terms of a combination of `multipleOf` values (`number_terms`)",
            limit: self.max_terms,
        }
    }

    /// Interns a set that is within the limits.
    fn insert(&mut self, set: PeriodicSet) -> PeriodicSetId {
        let set = Arc::new(set);
        if let Some(&id) = self.ids.get(&set) {
            return id;
        }
        let id = PeriodicSetId(self.items.len() as u32);
        self.items.push(Arc::clone(&set));
        self.ids.insert(set, id);
        id
    }
}

impl PeriodicSet {
    fn new(generic: bool, terms: Vec<(Divisor, i64)>) -> Self {
        let divisors = || terms.iter().map(|(divisor, _)| divisor.clone());
        Self {
            generic,
            period: divisors()
                .reduce(|period, next| period.lcm(&next))
                .unwrap_or(Divisor::one()),
            base: divisors()
                .reduce(|base, next| base.gcd(&next))
                .unwrap_or(Divisor::one()),
            terms,
        }
    }

    /// Membership of a number of which `divides` says which divisors divide it.
    pub(super) fn value(&self, mut divides: impl FnMut(&Divisor) -> bool) -> bool {
        let hits = self.terms.iter().filter(|(divisor, _)| divides(divisor));
        i64::from(self.generic) + hits.map(|(_, coefficient)| coefficient).sum::<i64>() != 0
    }

    /// Whether the set is empty.
    pub(super) fn is_none(&self) -> bool {
        !self.generic && self.terms.is_empty()
    }

    /// The exponent of ten, if these are the multiples of a power of ten, as the integers are.
    pub(super) fn exponent_of_ten(&self) -> Option<i64> {
        match (self.generic, &self.terms[..]) {
            (false, [(divisor, 1)]) => divisor.exponent_of_ten(),
            _ => None,
        }
    }

    /// Whether the open interval from `low` to `high`, `None` for no end, has a member.
    pub(super) fn meets(&self, low: Option<&Decimal>, high: Option<&Decimal>) -> bool {
        self.count(low, high, 0) != Some(0)
    }

    /// Whether a set that is not empty has a member in each half-open interval as wide as this power of ten, as far as is
    /// easily said.
    pub(super) fn meets_all(&self, exponent: i64) -> bool {
        self.generic || self.period.is_at_most_power(exponent)
    }

    /// Number of members of an open interval, not empty itself, where that is at most `up_to`; otherwise some larger
    /// number, `None` for infinitely many.
    pub(super) fn count(&self, low: Option<&Decimal>, high: Option<&Decimal>, up_to: u64) -> Option<u64> {
        if self.is_none() {
            return Some(0);
        }
        let (Some(low), Some(high), false) = (low, high, self.generic) else {
            return None;
        };
        // Mostly the counts need no numbers of any size.
        let short = |(divisor, sign): &(Divisor, i64)| divisor.short_between(low, high)?.checked_mul(i128::from(*sign));
        let mut counts = self.terms.iter().map(short);
        if let Some(count) = counts.try_fold(0_i128, |sum, count| sum.checked_add(count?)) {
            return Some(u64::try_from(count).unwrap_or(u64::MAX));
        }
        // A period holds at least one member, and a half-open interval of that width a whole period. The counts left
        // are short: the ends are multiples of some power of ten below the width, hence below a few periods.
        if is_wider(low, high, &self.period.value(), up_to.saturating_add(2)) {
            return Some(up_to.saturating_add(1));
        }
        let count: BigInt = self
            .terms
            .iter()
            .map(|(divisor, sign)| multiples_between(divisor, low, high) * sign)
            .sum();
        Some(count.to_u64().unwrap_or(u64::MAX))
    }

    /// The member `rank` places above `low` (1 for the next one); `None` where it is out of reach of arithmetic, or
    /// there is none. Only for sets without generic members.
    pub(super) fn nth_above(&self, low: &Decimal, rank: u64) -> Option<Decimal> {
        // Steps of the base beyond this many digits are given up.
        const MAX_DIGITS: i64 = 4096;
        if self.generic || self.terms.is_empty() || rank == 0 {
            return None;
        }
        if !low.is_zero() && low.magnitude().saturating_sub(self.base.least_magnitude()) > MAX_DIGITS {
            return None;
        }
        let start = self.base.floor_ratio(low);
        let enough = |steps: &BigInt| {
            let high = self.base.times(&(&start + steps));
            let count: BigInt = self
                .terms
                .iter()
                .map(|(divisor, sign)| multiples_upto(divisor, low, &high) * sign)
                .sum();
            count >= BigInt::from(rank)
        };
        let mut high = BigInt::from(1);
        while !enough(&high) {
            high *= 2;
        }
        let mut low_steps = &high / 2;
        while &high - &low_steps > BigInt::from(1) {
            let middle: BigInt = (&high + &low_steps) / 2;
            if enough(&middle) {
                high = middle
            } else {
                low_steps = middle
            }
        }
        Some(self.base.times(&(start + high)))
    }
}

/// Number of multiples strictly between `low` and `high`.
fn multiples_between(divisor: &Divisor, low: &Decimal, high: &Decimal) -> BigInt {
    let count: BigInt = divisor.ceil_ratio(high) - divisor.floor_ratio(low) - 1;
    if count.is_negative() { BigInt::zero() } else { count }
}

/// Number of multiples above `low` and not above `high`.
fn multiples_upto(divisor: &Divisor, low: &Decimal, high: &Decimal) -> BigInt {
    divisor.floor_ratio(high) - divisor.floor_ratio(low)
}

/// Whether `high - low`, positive, is surely at least `times × unit`. "No" means that it is not much larger.
fn is_wider(low: &Decimal, high: &Decimal, unit: &Decimal, times: u64) -> bool {
    let scale = unit.magnitude() - 3;
    let magnitude = |end: &Decimal| if end.is_zero() { i64::MIN } else { end.magnitude() };
    let most = magnitude(low).max(magnitude(high));
    // `times` is below 10^20. Ends of different signs or lengths are as far apart as nearly the larger one, others as a step of their last digits at
    // least. What is left has no more digits than are written: zeros that only an exponent stands for are not written out.
    let enough = unit.magnitude().saturating_add(20);
    let differ = low.is_zero()
        || high.is_zero()
        || low.is_negative() != high.is_negative()
        || low.magnitude().abs_diff(high.magnitude()) > 1;
    let apart = match differ {
        true => most.saturating_sub(2),
        false => low.exponent().min(high.exponent()),
    };
    if apart >= enough {
        return true;
    }
    let grid = Divisor::power_of_ten(scale);
    let steps = grid.floor_ratio(high) - grid.ceil_ratio(low);
    steps >= grid.ceil_ratio(unit) * times
}
