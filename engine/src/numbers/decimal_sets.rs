//! Sets of decimals in a normal form: finitely many *breakpoints*, decimals of which each is or is not a member, and between
//! neighbouring breakpoints one Boolean combination of periodic_sets (see [`super::periodic`]).
//!
//! Boolean operations go breakpoint by breakpoint. Emptiness and cardinality are exact by counting, without enumeration.

use std::cmp::Ordering;
use std::sync::Arc;

use hashbrown::HashMap;

use super::divisor::Divisor;
use super::periodic::{PeriodicSetId, PeriodicSets};
use super::piecewise::{Breakpoint, Piecewise};
use crate::Limits;
use crate::decimal::{Decimal, LimitReached};

/// Handle of a set in [`DecimalSets`]. Equal handles are equal sets; equal sets have, but for rare cases, equal handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct DecimalSetId(u32);

/// Arena of hash-consed sets of decimals.
///
/// Operations that could grow a set without measure fail with [`LimitReached`]; what they hand out is small enough for
/// every question about it to be answered in bounded time.
#[derive(Debug)]
pub(super) struct DecimalSets {
    /// Most breakpoints of one set.
    max_cuts: u64,
    pub(super) periodic_sets: PeriodicSets,
    items: Vec<Arc<Piecewise>>,
    ids: HashMap<Arc<Piecewise>, DecimalSetId>,
    results: HashMap<(Operation, DecimalSetId, DecimalSetId), DecimalSetId>,
    complements: HashMap<DecimalSetId, DecimalSetId>,
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
        let (items, ids, results) = (Vec::new(), HashMap::new(), HashMap::new());
        let mut sets = Self {
            max_cuts: limits.number_values as u64,
            periodic_sets: PeriodicSets::within(limits),
            items,
            ids,
            results,
            complements: HashMap::new(),
        };
        sets.insert(Piecewise::uniform(PeriodicSets::NONE));
        sets.insert(Piecewise::uniform(PeriodicSets::ALL));
        sets
    }

    /// The integral decimals.
    pub(super) fn integers(&mut self) -> DecimalSetId {
        self.insert(Piecewise::uniform(PeriodicSets::INTEGERS))
    }

    /// The numbers `x >= bound`.
    pub(super) fn at_least(&mut self, bound: Decimal) -> DecimalSetId {
        self.insert(Piecewise::split(
            PeriodicSets::NONE,
            Breakpoint {
                at: bound,
                member: true,
            },
            PeriodicSets::ALL,
        ))
    }

    /// The numbers `x > bound`.
    pub(super) fn above(&mut self, bound: Decimal) -> DecimalSetId {
        self.insert(Piecewise::split(
            PeriodicSets::NONE,
            Breakpoint {
                at: bound,
                member: false,
            },
            PeriodicSets::ALL,
        ))
    }

    /// The numbers `x <= bound`.
    pub(super) fn at_most(&mut self, bound: Decimal) -> DecimalSetId {
        self.insert(Piecewise::split(
            PeriodicSets::ALL,
            Breakpoint {
                at: bound,
                member: true,
            },
            PeriodicSets::NONE,
        ))
    }

    /// The numbers `x < bound`.
    pub(super) fn below(&mut self, bound: Decimal) -> DecimalSetId {
        self.insert(Piecewise::split(
            PeriodicSets::ALL,
            Breakpoint {
                at: bound,
                member: false,
            },
            PeriodicSets::NONE,
        ))
    }

    /// The integer multiples of `step`, whatever its sign; of zero, only zero.
    ///
    /// # Errors
    ///
    /// Where `step` has too many digits for exact arithmetic in bounded time.
    pub(super) fn multiple_of(&mut self, step: &Decimal) -> Result<DecimalSetId, LimitReached> {
        let Some(divisor) = Divisor::of(step) else {
            return Ok(self.exactly(Decimal::zero()));
        };
        let periodic = self.periodic_sets.multiples(divisor)?;
        Ok(self.insert(Piecewise::uniform(periodic)))
    }

    /// The one number `value`.
    pub(super) fn exactly(&mut self, value: Decimal) -> DecimalSetId {
        self.insert(Piecewise::split(
            PeriodicSets::NONE,
            Breakpoint {
                at: value,
                member: true,
            },
            PeriodicSets::NONE,
        ))
    }

    /// The given numbers, as an `enum` has them.
    ///
    /// # Errors
    ///
    /// Where there are too many.
    pub(super) fn one_of(&mut self, values: impl IntoIterator<Item = Decimal>) -> Result<DecimalSetId, LimitReached> {
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
    pub(super) fn and(&mut self, left: DecimalSetId, right: DecimalSetId) -> Result<DecimalSetId, LimitReached> {
        let (left, right) = (left.min(right), left.max(right));
        match (left, right) {
            (Self::NONE, _) => Ok(Self::NONE),
            (Self::ALL, other) => Ok(other),
            _ if left == right => Ok(left),
            _ => self.combine(Operation::And, left, right),
        }
    }

    /// The numbers in at least one set. As [`Self::and`].
    pub(super) fn or(&mut self, left: DecimalSetId, right: DecimalSetId) -> Result<DecimalSetId, LimitReached> {
        let (left, right) = (left.min(right), left.max(right));
        match (left, right) {
            (Self::NONE, other) => Ok(other),
            (Self::ALL, _) => Ok(Self::ALL),
            _ if left == right => Ok(left),
            _ => self.combine(Operation::Or, left, right),
        }
    }

    /// The numbers outside the set.
    pub(super) fn not(&mut self, id: DecimalSetId) -> DecimalSetId {
        match id {
            Self::NONE => return Self::ALL,
            Self::ALL => return Self::NONE,
            id => {
                if let Some(&known) = self.complements.get(&id) {
                    return known;
                }
            }
        }
        let set = Arc::clone(self.get(id));
        let breakpoints = set
            .breakpoints
            .iter()
            .map(|breakpoint| Breakpoint {
                at: breakpoint.at.clone(),
                member: !breakpoint.member,
            })
            .collect();
        let rules = set.rules.iter().map(|&piece| self.periodic_sets.not(piece)).collect();
        // The complement of a normal form is one, but for small finite stretches, which are written as single numbers
        // only where the rest is empty.
        let complement = Piecewise { breakpoints, rules };
        let complement = self
            .intern(complement.clone())
            .unwrap_or_else(|_| self.insert(complement));
        self.complements.insert(id, complement);
        complement
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
    ) -> Result<DecimalSetId, LimitReached> {
        if let Some(&known) = self.results.get(&(operation, left, right)) {
            return Ok(known);
        }
        let (first, second) = (Arc::clone(self.get(left)), Arc::clone(self.get(right)));
        let combined = self.merge(operation, &first, &second)?;
        let id = self.intern(combined)?;
        self.results.insert((operation, left, right), id);
        Ok(id)
    }

    /// Combines two sets breakpoint by breakpoint and piece by piece.
    fn merge(&mut self, operation: Operation, left: &Piecewise, right: &Piecewise) -> Result<Piecewise, LimitReached> {
        let mut result = Piecewise {
            breakpoints: Vec::new(),
            rules: vec![self.apply(operation, left.rules[0], right.rules[0])?],
        };
        let (mut i, mut j) = (0, 0);
        loop {
            let order = match (left.breakpoints.get(i), right.breakpoints.get(j)) {
                (None, None) => return Ok(result),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(one), Some(other)) => one.at.cmp(&other.at),
            };
            let at = if order.is_le() {
                &left.breakpoints[i].at
            } else {
                &right.breakpoints[j].at
            };
            let first = if order.is_le() {
                left.breakpoints[i].member
            } else {
                self.periodic_sets.contains(left.rules[i], at)
            };
            let second = if order.is_ge() {
                right.breakpoints[j].member
            } else {
                self.periodic_sets.contains(right.rules[j], at)
            };
            let member = match operation {
                Operation::And => first && second,
                Operation::Or => first || second,
            };
            result.breakpoints.push(Breakpoint { at: at.clone(), member });
            (i, j) = (i + usize::from(order.is_le()), j + usize::from(order.is_ge()));
            result.rules.push(self.apply(operation, left.rules[i], right.rules[j])?);
        }
    }

    fn apply(
        &mut self,
        operation: Operation,
        left: PeriodicSetId,
        right: PeriodicSetId,
    ) -> Result<PeriodicSetId, LimitReached> {
        match operation {
            Operation::And => self.periodic_sets.and(left, right),
            Operation::Or => self.periodic_sets.or(left, right),
        }
    }

    /// Interns the normal form of a set.
    fn intern(&mut self, set: Piecewise) -> Result<DecimalSetId, LimitReached> {
        let normal = set.normalised(&mut self.periodic_sets)?;
        if normal.breakpoints.len() as u64 > self.max_cuts {
            return Err(LimitReached {
                what: "bounds and single values of a set of numbers (`number_values`)",
                limit: self.max_cuts,
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
        self.items.push(Arc::clone(&set));
        self.ids.insert(set, id);
        id
    }
}
