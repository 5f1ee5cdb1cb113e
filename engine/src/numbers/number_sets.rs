//! Sets of numbers: sets of decimals that may depend on how a number is written.

use super::decimal_sets::{DecimalSetId, DecimalSets};
use super::enumerate::NumberCount;
use crate::Limits;
use crate::decimal::{Decimal, LimitReached};

/// A set of numbers. Equal handles are equal sets; equal sets have, but for rare cases, equal handles.
///
/// Outside the integers, which alone have literals without fraction and exponent, both sets are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NumberSetId {
    /// The numbers that may be written without fraction and exponent.
    pub(super) literals: DecimalSetId,
    /// The numbers that may be written with one.
    pub(super) others: DecimalSetId,
}

impl NumberSetId {
    fn however_written(set: DecimalSetId) -> Self {
        Self {
            literals: set,
            others: set,
        }
    }

    /// Whether how a number is written decides on its membership.
    pub(crate) fn depends_on_spelling(self) -> bool {
        self.literals != self.others
    }
}

/// Arena of hash-consed sets of numbers.
///
/// Operations that could grow a set without measure fail with [`LimitReached`]; what they hand out is small enough for
/// every question about it to be answered in bounded time.
#[derive(Debug)]
pub(crate) struct NumberSets {
    pub(super) decimals: DecimalSets,
}

impl NumberSets {
    /// An arena with the empty set and its complement.
    #[cfg(test)]
    pub(crate) fn new() -> Self {
        Self::within(&Limits::default())
    }

    /// An arena with the empty set and its complement, whose sets stay within limits.
    pub(crate) fn within(limits: &Limits) -> Self {
        Self {
            decimals: DecimalSets::within(limits),
        }
    }

    /// No number.
    pub(crate) fn none(&self) -> NumberSetId {
        NumberSetId::however_written(DecimalSets::NONE)
    }

    /// Every number.
    pub(crate) fn all(&self) -> NumberSetId {
        NumberSetId::however_written(DecimalSets::ALL)
    }

    /// The integral numbers, however they are written.
    pub(crate) fn integers(&mut self) -> NumberSetId {
        NumberSetId::however_written(self.decimals.integers())
    }

    /// The numbers that are written without fraction and exponent.
    pub(crate) fn integer_literals(&mut self) -> NumberSetId {
        NumberSetId {
            literals: self.decimals.integers(),
            others: DecimalSets::NONE,
        }
    }

    /// The numbers `x >= bound`.
    pub(crate) fn at_least(&mut self, bound: Decimal) -> NumberSetId {
        NumberSetId::however_written(self.decimals.at_least(bound))
    }

    /// The numbers `x > bound`.
    pub(crate) fn above(&mut self, bound: Decimal) -> NumberSetId {
        NumberSetId::however_written(self.decimals.above(bound))
    }

    /// The numbers `x <= bound`.
    pub(crate) fn at_most(&mut self, bound: Decimal) -> NumberSetId {
        NumberSetId::however_written(self.decimals.at_most(bound))
    }

    /// The numbers `x < bound`.
    pub(crate) fn below(&mut self, bound: Decimal) -> NumberSetId {
        NumberSetId::however_written(self.decimals.below(bound))
    }

    /// The integer multiples of `step`, whatever its sign; of zero, only zero.
    ///
    /// # Errors
    ///
    /// Where `step` has too many digits for exact arithmetic in bounded time.
    pub(crate) fn multiple_of(&mut self, step: &Decimal) -> Result<NumberSetId, LimitReached> {
        Ok(NumberSetId::however_written(self.decimals.multiple_of(step)?))
    }

    /// The one number `value`.
    pub(crate) fn exactly(&mut self, value: Decimal) -> NumberSetId {
        NumberSetId::however_written(self.decimals.exactly(value))
    }

    /// The given numbers, as an `enum` has them.
    ///
    /// # Errors
    ///
    /// Where there are too many.
    pub(crate) fn one_of(&mut self, values: impl IntoIterator<Item = Decimal>) -> Result<NumberSetId, LimitReached> {
        Ok(NumberSetId::however_written(self.decimals.one_of(values)?))
    }

    /// The numbers in both sets.
    ///
    /// # Errors
    ///
    /// Where the result would be too large.
    pub(crate) fn and(&mut self, left: NumberSetId, right: NumberSetId) -> Result<NumberSetId, LimitReached> {
        self.both_ways(left, right, DecimalSets::and)
    }

    /// The numbers in at least one set. As [`Self::and`].
    pub(crate) fn or(&mut self, left: NumberSetId, right: NumberSetId) -> Result<NumberSetId, LimitReached> {
        self.both_ways(left, right, DecimalSets::or)
    }

    /// The numbers outside the set.
    pub(crate) fn not(&mut self, id: NumberSetId) -> NumberSetId {
        let literals = self.decimals.not(id.literals);
        let others = match id.depends_on_spelling() {
            true => self.decimals.not(id.others),
            false => literals,
        };
        NumberSetId { literals, others }
    }

    /// Whether `value` is a member, written without fraction and exponent or with one.
    pub(crate) fn contains(&self, id: NumberSetId, value: &Decimal, is_literal: bool) -> bool {
        let set = if is_literal { id.literals } else { id.others };
        self.decimals.contains(set, value)
    }

    /// Whether the set has no member.
    pub(crate) fn is_empty(&self, id: NumberSetId) -> bool {
        self.decimals.is_empty(id.literals) && (!id.depends_on_spelling() || self.decimals.is_empty(id.others))
    }

    /// Number of members, counted up to `up_to`; one that may be written in both ways counts once.
    ///
    /// # Errors
    ///
    /// As [`Self::and`].
    pub(crate) fn cardinality(&mut self, id: NumberSetId, up_to: u64) -> Result<NumberCount, LimitReached> {
        let values = self.values(id)?;
        Ok(self.decimals.cardinality(values, up_to))
    }

    /// Up to `most` members, by ascending magnitude; all of them where there are at most so many. Of a stretch where
    /// members are dense, some with few digits.
    ///
    /// # Errors
    ///
    /// Where members exist but writing one down would take too many digits; and as [`Self::and`].
    pub(crate) fn members(&mut self, id: NumberSetId, most: usize) -> Result<Vec<Decimal>, LimitReached> {
        let values = self.values(id)?;
        self.decimals.members(values, most)
    }

    /// The members, whichever way they may be written.
    fn values(&mut self, id: NumberSetId) -> Result<DecimalSetId, LimitReached> {
        self.decimals.or(id.literals, id.others)
    }

    fn both_ways(
        &mut self,
        left: NumberSetId,
        right: NumberSetId,
        operation: fn(&mut DecimalSets, DecimalSetId, DecimalSetId) -> Result<DecimalSetId, LimitReached>,
    ) -> Result<NumberSetId, LimitReached> {
        let literals = operation(&mut self.decimals, left.literals, right.literals)?;
        let others = match left.depends_on_spelling() || right.depends_on_spelling() {
            true => operation(&mut self.decimals, left.others, right.others)?,
            false => literals,
        };
        Ok(NumberSetId { literals, others })
    }
}
