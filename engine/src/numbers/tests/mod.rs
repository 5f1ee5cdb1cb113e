//! Sets and numerals of numbers against brute force.

mod divisors;
mod numerals;
mod sets;
mod states;
mod walks;
mod writable;

use crate::decimal::Decimal;
use crate::numbers::{NumberSetId, NumberSets};

pub(super) fn decimal(text: &str) -> Decimal {
    Decimal::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A small generator of reproducible pseudo-random numbers (SplitMix64).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    pub(super) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// A statement of a schema on numbers, with a meaning that owes nothing to the sets under test.
#[derive(Clone, Debug)]
pub(super) enum Rule<T = Decimal> {
    AtLeast(T),
    Above(T),
    AtMost(T),
    Below(T),
    Multiple(T),
    Exactly(T),
    Not(Box<Rule<T>>),
    And(Vec<Rule<T>>),
    Or(Vec<Rule<T>>),
}

impl Rule {
    /// A random rule over the given bounds and divisors.
    pub(super) fn random(random: &mut Random, bounds: &[Decimal], steps: &[Decimal], depth: usize) -> Self {
        let kinds = if depth == 0 { 6 } else { 12 };
        match random.below(kinds) {
            0 => Self::AtLeast(random.pick(bounds).clone()),
            1 => Self::Above(random.pick(bounds).clone()),
            2 => Self::AtMost(random.pick(bounds).clone()),
            3 => Self::Below(random.pick(bounds).clone()),
            4 => Self::Multiple(random.pick(steps).clone()),
            5 => Self::Exactly(random.pick(bounds).clone()),
            6 | 7 => Self::Not(Box::new(Self::random(random, bounds, steps, depth - 1))),
            kind => {
                let some = 2 + random.below(2);
                let rules = (0..some)
                    .map(|_| Self::random(random, bounds, steps, depth - 1))
                    .collect();
                if kind < 10 { Self::And(rules) } else { Self::Or(rules) }
            }
        }
    }

    pub(super) fn holds(&self, value: &Decimal) -> bool {
        self.scaled().holds_scaled(scaled(value))
    }

    /// Returns this rule on [`scaled`] numbers.
    pub(super) fn scaled(&self) -> Rule<i128> {
        let all = |rules: &[Self]| rules.iter().map(Self::scaled).collect();
        match self {
            Self::AtLeast(bound) => Rule::AtLeast(scaled(bound)),
            Self::Above(bound) => Rule::Above(scaled(bound)),
            Self::AtMost(bound) => Rule::AtMost(scaled(bound)),
            Self::Below(bound) => Rule::Below(scaled(bound)),
            Self::Exactly(bound) => Rule::Exactly(scaled(bound)),
            Self::Multiple(step) => Rule::Multiple(scaled(step)),
            Self::Not(rule) => Rule::Not(Box::new(rule.scaled())),
            Self::And(rules) => Rule::And(all(rules)),
            Self::Or(rules) => Rule::Or(all(rules)),
        }
    }

    pub(super) fn set(&self, sets: &mut NumberSets) -> NumberSetId {
        match self {
            Self::AtLeast(bound) => sets.bounded_below(bound.clone(), false),
            Self::Above(bound) => sets.bounded_below(bound.clone(), true),
            Self::AtMost(bound) => sets.bounded_above(bound.clone(), false),
            Self::Below(bound) => sets.bounded_above(bound.clone(), true),
            Self::Exactly(bound) => sets.exactly(bound.clone()),
            Self::Multiple(step) => sets.multiple_of(step).unwrap(),
            Self::Not(rule) => {
                let inner = rule.set(sets);
                sets.not(inner)
            }
            Self::And(rules) => {
                let all = sets.all();
                rules.iter().fold(all, |sum, rule| {
                    let next = rule.set(sets);
                    sets.and(sum, next).unwrap()
                })
            }
            Self::Or(rules) => {
                let none = sets.none();
                rules.iter().fold(none, |sum, rule| {
                    let next = rule.set(sets);
                    sets.or(sum, next).unwrap()
                })
            }
        }
    }
}

impl Rule<i128> {
    pub(super) fn holds_scaled(&self, value: i128) -> bool {
        match self {
            Self::AtLeast(bound) => value >= *bound,
            Self::Above(bound) => value > *bound,
            Self::AtMost(bound) => value <= *bound,
            Self::Below(bound) => value < *bound,
            Self::Exactly(bound) => value == *bound,
            Self::Multiple(step) => value % step == 0,
            Self::Not(rule) => !rule.holds_scaled(value),
            Self::And(rules) => rules.iter().all(|rule| rule.holds_scaled(value)),
            Self::Or(rules) => rules.iter().any(|rule| rule.holds_scaled(value)),
        }
    }
}

/// Digits after the point of [`scaled`] numbers.
pub(super) const SCALE: u32 = 15;

/// `value` times 10^15 as a machine integer; the tests that use it have few digits.
pub(super) fn scaled(value: &Decimal) -> i128 {
    let significand = i128::try_from(value.significand()).unwrap();
    let scaled = significand * 10i128.pow((value.exponent() + i64::from(SCALE)).try_into().unwrap());
    if value.is_negative() { -scaled } else { scaled }
}
