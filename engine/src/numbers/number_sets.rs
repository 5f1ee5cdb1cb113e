//! Sets of numbers as pairs of sets of decimals, because draft 4 judges a number by its numeral as well.

use super::decimal_sets::{DecimalSetId, DecimalSets};
use super::enumerate::NumberCount;
use super::writable::{SchemaNumbers, Writable};
use crate::Limits;
use crate::decimal::{Decimal, NumberLimitReached};

/// Number of members up to which they are counted where each set is finite: no document has more values.
const COUNTED: u64 = 1 << 40;

/// Number of decimals with fractions from which on some need more than 17 digits.
const LONGEST_COUNT: u64 = 100_000_000_000_000_000;

/// A set of numbers. Equal handles are equal sets; equal sets have, but for rare cases and for how their integers are
/// best written, equal handles.
///
/// Outside the integers, which alone have numerals without fraction and exponent, both sets are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NumberSetId {
    /// The numbers that may be written without fraction and exponent.
    pub(super) literals: DecimalSetId,
    /// The numbers that may be written with a fraction or an exponent.
    pub(super) others: DecimalSetId,
    /// Whether a style that chooses among the numerals of a number may write integers of the set with a fraction of
    /// zeros, `2.0`. It says nothing of membership: integers of `"type": "integer"` are best written without.
    pub(super) zero_fractions: bool,
}

impl NumberSetId {
    fn however_written(set: DecimalSetId) -> Self {
        Self {
            literals: set,
            others: set,
            zero_fractions: set != DecimalSets::NONE,
        }
    }

    /// Whether integers of the set may be written with a fraction of zeros.
    pub(crate) fn may_have_zero_fractions(self) -> bool {
        self.zero_fractions
    }

    /// Has the integers of the set written without a fraction.
    #[must_use]
    pub(crate) fn as_integer_literals(self) -> Self {
        Self {
            zero_fractions: false,
            ..self
        }
    }

    /// Whether how a number is written decides on its membership.
    pub(crate) fn depends_on_spelling(self) -> bool {
        self.literals != self.others
    }
}

/// Arena of hash-consed sets of numbers.
///
/// Operations that could grow a set without measure fail with [`NumberLimitReached`]; the sets they make are small
/// enough for every question about them to be answered in bounded time.
#[derive(Debug)]
pub(crate) struct NumberSets {
    pub(super) decimals: DecimalSets,
    /// The numbers that there are, where a style leaves some out.
    pub(super) writable: Option<Writable>,
}

impl NumberSets {
    /// An arena with the empty set and its complement, whose sets stay within limits.
    pub(crate) fn within(limits: &Limits) -> Self {
        Self {
            decimals: DecimalSets::within(limits),
            writable: None,
        }
    }

    /// An arena as [`Self::within`] makes it, in which all numbers are those that have a bounded numeral, and those beside
    /// them that the numbers of a schema tell apart.
    pub(crate) fn writable(limits: &Limits, numbers: &SchemaNumbers) -> Self {
        let mut decimals = DecimalSets::within(limits);
        let writable = Writable::of(numbers, &mut decimals);
        Self { decimals, writable }
    }

    /// An arena as [`Self::writable`] makes it, in which only integers are bounded, because exponents make numerals of all other
    /// numbers short.
    pub(crate) fn writable_with_exponents(limits: &Limits, numbers: &SchemaNumbers) -> Self {
        let mut sets = Self::writable(limits, numbers);
        if let Some(writable) = &mut sets.writable {
            writable.numbers = DecimalSets::ALL;
        }
        sets
    }

    /// No number.
    pub(crate) fn none(&self) -> NumberSetId {
        NumberSetId::however_written(DecimalSets::NONE)
    }

    /// Every number that there is.
    pub(crate) fn all(&self) -> NumberSetId {
        let all = self.writable.as_ref().map(|writable| writable.numbers);
        NumberSetId::however_written(all.unwrap_or(DecimalSets::ALL))
    }

    /// The integral numbers, however they are written; best as integer literals.
    pub(crate) fn integers(&mut self) -> NumberSetId {
        NumberSetId::however_written(self.all_integers()).as_integer_literals()
    }

    /// The numbers that are written without fraction and exponent.
    pub(crate) fn integer_literals(&mut self) -> NumberSetId {
        NumberSetId {
            literals: self.all_integers(),
            others: DecimalSets::NONE,
            zero_fractions: false,
        }
    }

    fn all_integers(&mut self) -> DecimalSetId {
        let integers = self.writable.as_ref().map(|writable| writable.integers);
        integers.unwrap_or_else(|| self.decimals.integers())
    }

    /// The numbers from `bound` upwards, without `bound` itself if it is exclusive.
    pub(crate) fn bounded_below(&mut self, bound: Decimal, exclusive: bool) -> NumberSetId {
        NumberSetId::however_written(self.decimals.split(false, bound, !exclusive, true))
    }

    /// The numbers up to `bound`, without `bound` itself if it is exclusive.
    pub(crate) fn bounded_above(&mut self, bound: Decimal, exclusive: bool) -> NumberSetId {
        NumberSetId::however_written(self.decimals.split(true, bound, !exclusive, false))
    }

    /// The one number `value`.
    pub(crate) fn exactly(&mut self, value: Decimal) -> NumberSetId {
        NumberSetId::however_written(self.decimals.split(false, value, true, false))
    }

    /// The integer multiples of `divisor`, whatever its sign; of zero, only zero.
    ///
    /// # Errors
    ///
    /// Where `divisor` has too many digits for exact arithmetic in bounded time.
    pub(crate) fn multiple_of(&mut self, divisor: &Decimal) -> Result<NumberSetId, NumberLimitReached> {
        Ok(NumberSetId::however_written(self.decimals.multiple_of(divisor)?))
    }

    /// The given numbers, as an `enum` has them.
    ///
    /// # Errors
    ///
    /// Where there are too many.
    pub(crate) fn one_of(
        &mut self,
        values: impl IntoIterator<Item = Decimal>,
    ) -> Result<NumberSetId, NumberLimitReached> {
        Ok(NumberSetId::however_written(self.decimals.one_of(values)?))
    }

    /// The numbers in both sets.
    ///
    /// # Errors
    ///
    /// Where the result would be too large.
    pub(crate) fn and(&mut self, left: NumberSetId, right: NumberSetId) -> Result<NumberSetId, NumberLimitReached> {
        let zero_fractions = left.zero_fractions && right.zero_fractions;
        self.both_ways(left, right, zero_fractions, DecimalSets::and)
    }

    /// The numbers in at least one set.
    ///
    /// # Errors
    ///
    /// Where the result would be too large.
    pub(crate) fn or(&mut self, left: NumberSetId, right: NumberSetId) -> Result<NumberSetId, NumberLimitReached> {
        let zero_fractions = left.zero_fractions || right.zero_fractions;
        self.both_ways(left, right, zero_fractions, DecimalSets::or)
    }

    /// The numbers outside the set.
    pub(crate) fn not(&mut self, id: NumberSetId) -> NumberSetId {
        let (literals, others) = (self.decimals.not(id.literals), self.decimals.not(id.others));
        NumberSetId {
            literals,
            others,
            zero_fractions: others != DecimalSets::NONE,
        }
    }

    /// Whether `value` is a member, written without fraction and exponent (`is_literal`) or with one.
    pub(crate) fn contains(&self, id: NumberSetId, value: &Decimal, is_literal: bool) -> bool {
        let set = if is_literal { id.literals } else { id.others };
        self.decimals.contains(set, value)
    }

    /// Whether the set has no member.
    pub(crate) fn is_empty(&self, id: NumberSetId) -> bool {
        self.decimals.is_empty(id.literals) && (!id.depends_on_spelling() || self.decimals.is_empty(id.others))
    }

    /// Whether the set has members that a style with bounded numerals cannot write beside the numbers of a schema. The arena has to
    /// be one of all numbers.
    ///
    /// # Errors
    ///
    /// Where a set would be too large.
    pub(crate) fn has_unwritable(
        &mut self,
        id: NumberSetId,
        numbers: &SchemaNumbers,
    ) -> Result<bool, NumberLimitReached> {
        let values = self.decimals.or(id.literals, id.others)?;
        let integers = self.decimals.integers();
        match self.decimals.cardinality(values, LONGEST_COUNT) {
            // Of infinitely many numbers some have any number of digits.
            NumberCount::Infinite => return Ok(true),
            NumberCount::MoreThan(_) => {
                let others = self.decimals.not(integers);
                let fractions = self.decimals.and(values, others)?;
                if !self.decimals.is_empty(fractions) {
                    return Ok(true);
                }
            }
            NumberCount::Exactly(_) => {}
        }
        let Some(writable) = Writable::of(numbers, &mut self.decimals) else {
            return Ok(false);
        };
        let unwritable = self.decimals.not(writable.numbers);
        let unwritable = self.decimals.and(values, unwritable)?;
        Ok(!self.decimals.is_empty(unwritable))
    }

    /// Number of members, counted up to `up_to`; one that may be written in both ways counts once.
    ///
    /// # Errors
    ///
    /// Where the union of both ways would be too large.
    pub(crate) fn cardinality(&mut self, id: NumberSetId, up_to: u64) -> Result<NumberCount, NumberLimitReached> {
        let values = self.decimals.or(id.literals, id.others)?;
        if self.writable.is_none() {
            return Ok(self.decimals.cardinality(values, up_to));
        }
        Ok(match self.decimals.cardinality(values, up_to.max(COUNTED)) {
            NumberCount::Exactly(count) if count > up_to => NumberCount::MoreThan(up_to),
            NumberCount::MoreThan(_) => NumberCount::Infinite,
            count => count,
        })
    }

    /// Returns up to `most` members, by ascending magnitude; all of them where there are at most so many. Of an interval in which
    /// members are dense, some with few digits.
    ///
    /// # Errors
    ///
    /// Where members exist but writing one down would take too many digits, or the union of both ways would be too
    /// large.
    pub(crate) fn members(&mut self, id: NumberSetId, most: usize) -> Result<Vec<Decimal>, NumberLimitReached> {
        match self.decimals.or(id.literals, id.others)? {
            DecimalSets::NONE => Ok(Vec::new()),
            values => self.decimals.members(values, most),
        }
    }

    fn both_ways(
        &mut self,
        left: NumberSetId,
        right: NumberSetId,
        zero_fractions: bool,
        operation: fn(&mut DecimalSets, DecimalSetId, DecimalSetId) -> Result<DecimalSetId, NumberLimitReached>,
    ) -> Result<NumberSetId, NumberLimitReached> {
        let literals = operation(&mut self.decimals, left.literals, right.literals)?;
        let others = operation(&mut self.decimals, left.others, right.others)?;
        Ok(NumberSetId {
            literals,
            others,
            zero_fractions: zero_fractions && others != DecimalSets::NONE,
        })
    }
}
