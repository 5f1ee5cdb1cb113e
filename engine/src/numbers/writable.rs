//! The numbers that a style with bounded numerals can write.
//!
//! A numeral without exponent is as long as its number is large or fine, so that a bound on its length leaves numbers out. They
//! are left out here, of the set of all numbers, so that whatever is asked about sets of numbers (whether one is empty, how many
//! members it has, which) is answered for the numbers that can be written, and no numeral is begun that has no end.
//!
//! The conditions of a schema on numbers must not lose their meaning by that: each Boolean combination of its bounds, multiples
//! and values that has a number has one that can be written. This holds because
//!
//! - there is a place behind the point more than any multiple and any value of usual size needs, so that between two
//!   such numbers there is one that is no multiple of anything;
//! - beyond the largest bound of usual size there is room for many periods of all multiples;
//! - bounds and values of unusual size or fineness have numbers right around them beside all others.
//!
//! Where numbers have to differ from one another, one is not enough. So a combination that infinitely many numbers meet is met by
//! [`10^ROOM`](ROOM) that can be written at least, unless its bounds have more than [`MAX_DIGITS`] digits.

use num_bigint::BigInt;

use super::decimal_sets::{DecimalSetId, DecimalSets};
use super::divisor::Divisor;
use super::periodic::{PeriodicSetId, PeriodicSets};
use crate::decimal::{Decimal, NumberLimitReached};
use crate::style::NumberStyle;

/// Decimal digits of the number of numbers that are left where infinitely many meet a condition: more than an array has items.
const ROOM: i64 = 6;

/// Decimal digits of the number of periods around a bound of unusual size: more than are counted before a set is taken for infinite.
const PERIODS_AROUND: i64 = 13;

/// Bounds and values of unusual size that have numbers around them of their own. Where there are more, all numbers may be as long.
const MAX_SINGLE: usize = 64;

/// Digits of numbers that are written out. Around longer bounds and values there are no numbers that arithmetic has to find.
const MAX_DIGITS: i64 = 4096;

/// Bits of a step, without its factors of two and five, up to which the period of several steps is worked out: about as many as
/// numbers of [`MAX_DIGITS`] digits have.
const MAX_UNIT_BITS: u64 = 4 * MAX_DIGITS as u64;

/// The numbers that a schema speaks of.
#[derive(Clone, Debug, Default)]
pub(crate) struct SchemaNumbers {
    /// The bounds, but for those of a usual size.
    pub(crate) bounds: Vec<Decimal>,
    /// The numbers of `const` and `enum`, but for those of a usual size.
    pub(crate) values: Vec<Decimal>,
    /// The numbers of `multipleOf`.
    pub(crate) multiples: Vec<Decimal>,
}

impl SchemaNumbers {
    /// Whether a bound or value may be longer than all numbers can be, or leave too few of these beside it: of others nothing
    /// depends on them.
    pub(crate) fn is_unusual(value: &Decimal) -> bool {
        value.magnitude() >= NumberStyle::INTEGER_DIGITS || -value.exponent() >= NumberStyle::PLACES - ROOM
    }
}

/// The numbers that can be written.
#[derive(Debug)]
pub(crate) struct Writable {
    /// All numbers that can be written.
    pub(super) numbers: DecimalSetId,
    /// The integers among the numbers that can be written.
    pub(super) integers: DecimalSetId,
    /// The multiples of the power of ten of the last place: the rule of those that no bound and no multiple tells apart.
    pub(super) grid: PeriodicSetId,
    /// Places behind the point.
    pub(super) places: u32,
}

impl Writable {
    /// The numbers that can be written beside those of a schema; `None` where the schema's numbers are too long for
    /// that to be worked out, so that all can.
    pub(super) fn of(numbers: &SchemaNumbers, sets: &mut DecimalSets) -> Option<Self> {
        Self::within(numbers, sets).ok().flatten()
    }

    fn within(numbers: &SchemaNumbers, sets: &mut DecimalSets) -> Result<Option<Self>, NumberLimitReached> {
        let mut period = Divisor::one();
        for divisor in numbers.multiples.iter().filter_map(Divisor::of) {
            if period.unit.bits().max(divisor.unit.bits()) > MAX_UNIT_BITS {
                return Ok(None);
            }
            period = period.lcm(&divisor);
        }
        let period = period.value();
        let (bounds, values) = (distinct(&numbers.bounds), distinct(&numbers.values));
        let Extent { digits, places } = Extent::of(numbers, &bounds, &values, &period);
        if digits.max(places) > MAX_DIGITS {
            return Ok(None);
        }
        let end = Decimal::power_of_ten(digits);
        let last_place = Decimal::power_of_ten(-places);
        let grid = sets.periodic_sets.multiples(Divisor::power_of_ten(-places))?;
        let mut up_to_end = |rule, step| sets.members_from(rule, moved(&end, step, true).negated(), end.clone());
        let all = up_to_end(grid, &last_place);
        let integers = up_to_end(PeriodicSets::INTEGERS, &Decimal::power_of_ten(0));
        let last = u32::try_from(places).unwrap_or(u32::MAX);
        let mut ranges = Vec::new();
        let mut single: Vec<Decimal> = Vec::new();
        let fine = |value: &Decimal| -value.exponent() >= places;
        // Beside a bound there have to be many numbers, and not one only.
        let fine_bound = |bound: &Decimal| -bound.exponent() >= places - ROOM;
        let is_written_out = |value: &Decimal| value.magnitude().max(-value.exponent()) <= MAX_DIGITS;
        let written_out = || {
            bounds
                .iter()
                .chain(&values)
                .copied()
                .filter(|value| is_written_out(value))
        };
        let finest = written_out()
            .map(|value| -value.exponent())
            .max()
            .unwrap_or(0)
            .max(places)
            + 1;
        let step = Decimal::power_of_ten(-finest);
        let around = |value: &Decimal, by: &Decimal| (moved(value, by, true), moved(value, by, false));
        for value in values
            .iter()
            .copied()
            .filter(|value| fine(value) && is_written_out(value))
        {
            single.extend([true, false].map(|down| moved(value, &step, down)));
        }
        let mut fine_ranges = Vec::new();
        for bound in bounds
            .iter()
            .copied()
            .filter(|bound| fine_bound(bound) && is_written_out(bound))
        {
            fine_ranges.push(around(bound, &step));
        }
        for value in bounds.iter().chain(&values).copied() {
            if fine(value) || value.magnitude() > digits {
                single.push(value.clone());
            }
        }
        let periods = times_power_of_ten(&period, PERIODS_AROUND);
        for bound in bounds.into_iter().filter(|bound| bound.magnitude() > digits) {
            match is_written_out(bound) {
                true => ranges.push(around(bound, &periods)),
                false => single.extend([-1, 1].map(|power| times_power_of_ten(bound, power))),
            }
        }
        if ranges.is_empty() && fine_ranges.is_empty() && single.is_empty() {
            return Ok(Some(Self {
                numbers: all,
                integers,
                grid,
                places: last,
            }));
        }
        let wide = on_grid(sets, ranges, &last_place)?;
        let fine = on_grid(sets, fine_ranges, &times_power_of_ten(&step, -ROOM))?;
        let mut numbers = all;
        for more in [wide, fine, sets.one_of(single)?] {
            numbers = sets.or(numbers, more)?;
        }
        let integers = sets.integers();
        Ok(Some(Self {
            numbers,
            integers: sets.and(numbers, integers)?,
            grid,
            places: last,
        }))
    }
}

/// Bounds on the length of all numbers: digits before the point, and places behind it.
struct Extent {
    digits: i64,
    places: i64,
}

impl Extent {
    /// Bounds that leave room for the multiples, and for the bounds and values of usual size; where those of unusual size are
    /// many, for all.
    fn of(numbers: &SchemaNumbers, bounds: &[&Decimal], values: &[&Decimal], period: &Decimal) -> Self {
        let finer = |value: &Decimal| 1 - value.exponent();
        let all = || bounds.iter().chain(values).copied();
        let longest = all()
            .map(Decimal::magnitude)
            .filter(|digits| *digits <= NumberStyle::LONGEST_INTEGERS);
        let mut digits = longest.max().unwrap_or(0).max(NumberStyle::INTEGER_DIGITS);
        let mut places = numbers
            .multiples
            .iter()
            .map(finer)
            .max()
            .unwrap_or(0)
            .max(NumberStyle::PLACES);
        let is_unusual = |value: &Decimal, room| value.magnitude() > digits || finer(value) + room > places;
        let unusual = bounds.iter().filter(|bound| is_unusual(bound, ROOM)).count();
        if unusual + values.iter().filter(|value| is_unusual(value, 0)).count() > MAX_SINGLE {
            (digits, places) = all().fold((digits, places), |(digits, places), value| {
                (digits.max(value.magnitude()), places.max(finer(value) + ROOM))
            });
        }
        digits = digits.max(period.magnitude() + ROOM);
        if digits > MAX_DIGITS {
            return Self { digits, places };
        }
        // Beyond the largest bound there are many periods of all multiples.
        let room = times_power_of_ten(period, ROOM);
        let last = moved(&Decimal::power_of_ten(digits), &room, true);
        let reaches_end = |bound: &&Decimal| bound.magnitude() <= digits && bound.abs() >= last;
        digits += i64::from(bounds.iter().any(reaches_end));
        Self { digits, places }
    }
}

/// The multiples of `unit` in any of some closed intervals.
fn on_grid(
    sets: &mut DecimalSets,
    intervals: Vec<(Decimal, Decimal)>,
    unit: &Decimal,
) -> Result<DecimalSetId, NumberLimitReached> {
    let mut numbers = DecimalSets::NONE;
    if intervals.is_empty() {
        return Ok(numbers);
    }
    for (low, high) in intervals {
        let above = sets.split(false, low, true, true);
        let below = sets.split(true, high, true, false);
        let interval = sets.and(above, below)?;
        numbers = sets.or(numbers, interval)?;
    }
    let multiples = sets.multiple_of(unit)?;
    sets.and(numbers, multiples)
}

/// A number times a power of ten.
fn times_power_of_ten(number: &Decimal, power: i64) -> Decimal {
    Decimal::new(
        number.is_negative(),
        number.significand().clone(),
        number.exponent() + power,
    )
}

/// The numbers, each once.
fn distinct(numbers: &[Decimal]) -> Vec<&Decimal> {
    let mut numbers: Vec<&Decimal> = numbers.iter().collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// A number with another one, above zero, added or taken away.
fn moved(number: &Decimal, by: &Decimal, down: bool) -> Decimal {
    let exponent = number.exponent().min(by.exponent());
    let unit = Divisor::power_of_ten(exponent);
    let (at, by): (BigInt, BigInt) = (unit.floor_ratio(number), unit.floor_ratio(by));
    unit.times(&if down { at - by } else { at + by })
}
