//! Arena of sets of decimals in the normal form of [`super::piecewise`], with Boolean operations interval by interval.

use std::sync::Arc;

use hashbrown::HashMap;

use super::divisor::Divisor;
use super::periodic::{PeriodicSetId, PeriodicSets};
use super::piecewise::{Breakpoint, Piecewise};
use crate::Limits;
use crate::decimal::{Decimal, NumberLimitReached};

/// Handle of a set in [`DecimalSets`]. Equal handles are equal sets; equal sets have, but for rare cases, equal handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct DecimalSetId(u32);

/// Arena of hash-consed sets of decimals.
///
/// Operations that could grow a set without measure fail with [`NumberLimitReached`]; the sets they make are small
/// enough for every question about them to be answered in bounded time.
#[derive(Debug)]
pub(super) struct DecimalSets {
    /// Most breakpoints of one set.
    max_breakpoints: u64,
    pub(super) periodic_sets: PeriodicSets,
    items: Vec<Arc<Piecewise>>,
    ids: HashMap<Arc<Piecewise>, DecimalSetId>,
    results: HashMap<(Operation, DecimalSetId, DecimalSetId), DecimalSetId>,
    complements: HashMap<DecimalSetId, DecimalSetId>,
    /// Breakpoints of all sets together.
    breakpoints: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Operation {
    And,
    Or,
}

impl DecimalSets {
    pub(super) const NONE: DecimalSetId = DecimalSetId(0);
    pub(super) const ALL: DecimalSetId = DecimalSetId(1);

    /// An arena with the empty set and its complement, whose sets stay within limits.
    pub(super) fn within(limits: &Limits) -> Self {
        let mut sets = Self {
            max_breakpoints: limits.number_values as u64,
            periodic_sets: PeriodicSets::within(limits),
            items: Vec::new(),
            ids: HashMap::new(),
            results: HashMap::new(),
            complements: HashMap::new(),
            breakpoints: 0,
        };
        sets.insert(Piecewise::uniform(PeriodicSets::NONE));
        sets.insert(Piecewise::uniform(PeriodicSets::ALL));
        sets
    }

    /// Bytes of memory that the sets take, roughly.
    pub(super) fn memory(&self) -> usize {
        // The significand of a breakpoint is one more allocation, and each interval has a rule.
        let breakpoint = size_of::<Breakpoint>() + 2 * size_of::<u64>() + size_of::<PeriodicSetId>();
        breakpoint * self.breakpoints + 160 * self.items.len()
    }

    /// The integral decimals.
    pub(super) fn integers(&mut self) -> DecimalSetId {
        self.insert(Piecewise::uniform(PeriodicSets::INTEGERS))
    }

    /// All or none of the numbers below `at`, `at` itself or not, and all or none of the numbers above.
    pub(super) fn split(&mut self, below: bool, at: Decimal, member: bool, above: bool) -> DecimalSetId {
        self.insert(Piecewise {
            breakpoints: vec![Breakpoint { at, member }],
            rules: vec![PeriodicSets::constant(below), PeriodicSets::constant(above)],
        })
    }

    /// The members of a rule from `first`, a member, to before `end`. The rule has members on either side of both.
    pub(super) fn members_from(&mut self, rule: PeriodicSetId, first: Decimal, end: Decimal) -> DecimalSetId {
        let ends = [(first, true), (end, false)];
        self.insert(Piecewise {
            breakpoints: ends.map(|(at, member)| Breakpoint { at, member }).into(),
            rules: vec![PeriodicSets::NONE, rule, PeriodicSets::NONE],
        })
    }

    /// The integer multiples of `divisor`, whatever its sign; of zero, only zero.
    ///
    /// # Errors
    ///
    /// Where `divisor` has too many digits for exact arithmetic in bounded time.
    pub(super) fn multiple_of(&mut self, divisor: &Decimal) -> Result<DecimalSetId, NumberLimitReached> {
        let Some(divisor) = Divisor::of(divisor) else {
            return Ok(self.split(false, Decimal::zero(), true, false));
        };
        let multiples = self.periodic_sets.multiples(divisor)?;
        Ok(self.insert(Piecewise::uniform(multiples)))
    }

    /// The given numbers, as an `enum` has them.
    ///
    /// # Errors
    ///
    /// Where there are too many.
    pub(super) fn one_of(
        &mut self,
        values: impl IntoIterator<Item = Decimal>,
    ) -> Result<DecimalSetId, NumberLimitReached> {
        let mut values: Vec<Decimal> = values.into_iter().collect();
        values.sort_unstable();
        values.dedup();
        let breakpoints: Vec<Breakpoint> = values.into_iter().map(|at| Breakpoint { at, member: true }).collect();
        let rules = vec![PeriodicSets::NONE; breakpoints.len() + 1];
        self.intern(Piecewise { breakpoints, rules })
    }

    /// The numbers in both sets.
    ///
    /// # Errors
    ///
    /// Where the result would be too large.
    pub(super) fn and(&mut self, left: DecimalSetId, right: DecimalSetId) -> Result<DecimalSetId, NumberLimitReached> {
        match (left.min(right), left.max(right)) {
            (Self::NONE, _) => Ok(Self::NONE),
            (Self::ALL, other) => Ok(other),
            (left, right) if left == right => Ok(left),
            (left, right) => self.combine(Operation::And, left, right),
        }
    }

    /// The numbers in at least one set.
    ///
    /// # Errors
    ///
    /// Where the result would be too large.
    pub(super) fn or(&mut self, left: DecimalSetId, right: DecimalSetId) -> Result<DecimalSetId, NumberLimitReached> {
        match (left.min(right), left.max(right)) {
            (Self::NONE, other) => Ok(other),
            (Self::ALL, _) => Ok(Self::ALL),
            (left, right) if left == right => Ok(left),
            (left, right) => self.combine(Operation::Or, left, right),
        }
    }

    /// The numbers outside the set.
    pub(super) fn not(&mut self, id: DecimalSetId) -> DecimalSetId {
        match id {
            Self::NONE => return Self::ALL,
            Self::ALL => return Self::NONE,
            _ => {}
        }
        if let Some(&known) = self.complements.get(&id) {
            return known;
        }
        let mut complement = Piecewise::clone(self.get(id));
        for breakpoint in &mut complement.breakpoints {
            breakpoint.member = !breakpoint.member;
        }
        for rule in &mut complement.rules {
            *rule = self.periodic_sets.not(*rule);
        }
        // The complement of a normal form is one, but for intervals with few members, which are written as single
        // numbers only where the rest is empty.
        let id_of_complement = self
            .intern(complement.clone())
            .unwrap_or_else(|_| self.insert(complement));
        self.complements.insert(id, id_of_complement);
        id_of_complement
    }

    /// Whether `value` is a member.
    pub(super) fn contains(&self, id: DecimalSetId, value: &Decimal) -> bool {
        self.get(id).contains(&self.periodic_sets, value)
    }

    pub(super) fn get(&self, id: DecimalSetId) -> &Arc<Piecewise> {
        &self.items[id.0 as usize]
    }

    fn combine(
        &mut self,
        operation: Operation,
        left: DecimalSetId,
        right: DecimalSetId,
    ) -> Result<DecimalSetId, NumberLimitReached> {
        if let Some(&known) = self.results.get(&(operation, left, right)) {
            return Ok(known);
        }
        let (first, second) = (Arc::clone(self.get(left)), Arc::clone(self.get(right)));
        let combined = self.merge(operation, &first, &second)?;
        let id = self.intern(combined)?;
        self.results.insert((operation, left, right), id);
        Ok(id)
    }

    /// Combines two sets breakpoint by breakpoint and interval by interval.
    fn merge(
        &mut self,
        operation: Operation,
        left: &Piecewise,
        right: &Piecewise,
    ) -> Result<Piecewise, NumberLimitReached> {
        let mut ends: Vec<&Decimal> = [left, right]
            .into_iter()
            .flat_map(|set| set.breakpoints.iter().map(|breakpoint| &breakpoint.at))
            .collect();
        ends.sort();
        ends.dedup();
        let mut result = Piecewise::uniform(self.apply(operation, left.rules[0], right.rules[0])?);
        for at in ends {
            let of_both = [left, right].map(|set| set.contains(&self.periodic_sets, at));
            let member = match operation {
                Operation::And => of_both[0] && of_both[1],
                Operation::Or => of_both[0] || of_both[1],
            };
            let above = self.apply(operation, left.rule_above(at), right.rule_above(at))?;
            result.push(Breakpoint { at: at.clone(), member }, above);
        }
        Ok(result)
    }

    fn apply(
        &mut self,
        operation: Operation,
        left: PeriodicSetId,
        right: PeriodicSetId,
    ) -> Result<PeriodicSetId, NumberLimitReached> {
        match operation {
            Operation::And => self.periodic_sets.and(left, right),
            Operation::Or => self.periodic_sets.or(left, right),
        }
    }

    /// Interns the normal form of a set.
    fn intern(&mut self, set: Piecewise) -> Result<DecimalSetId, NumberLimitReached> {
        let normal = set.normalised(&mut self.periodic_sets)?;
        if normal.breakpoints.len() as u64 > self.max_breakpoints {
            return Err(NumberLimitReached {
                what: "bounds and single values of a set of numbers (`number_values`)",
                limit: self.max_breakpoints,
            });
        }
        Ok(self.insert(normal))
    }

    /// Interns a set that is in normal form.
    fn insert(&mut self, set: Piecewise) -> DecimalSetId {
        let set = Arc::new(set);
        if let Some(&id) = self.ids.get(&set) {
            return id;
        }
        let id = DecimalSetId(self.items.len() as u32);
        self.breakpoints += set.breakpoints.len();
        self.items.push(Arc::clone(&set));
        self.ids.insert(set, id);
        id
    }
}
