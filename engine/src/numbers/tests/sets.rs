//! Sets against brute force over a grid that tells apart everything that the rules can.

use std::collections::HashMap;

use super::{Random, Rule, decimal};
use crate::Limits;
use crate::decimal::Decimal;
use crate::numbers::{NumberCount, NumberSets, SchemaNumbers};

/// Bounds are quarters up to 5, steps have the least common multiple 6 and are multiples of a quarter. So what happens
/// on the eighths up to 12 happens everywhere: odd eighths stand for all numbers that are no multiple of any step, and
/// beyond 5 everything repeats with period 6.
fn grid() -> Vec<Decimal> {
    (-96i64..=96)
        .map(|eighths| Decimal::new(eighths < 0, (eighths.unsigned_abs() * 125).into(), -3))
        .collect()
}

fn bounds() -> Vec<Decimal> {
    [
        "-5", "-2.5", "-1", "-0.25", "0", "0.5", "1", "2", "2.75", "3", "4.5", "5",
    ]
    .map(decimal)
    .to_vec()
}

fn steps() -> Vec<Decimal> {
    ["1", "1", "0.5", "2", "3", "1.5", "0.25"].map(decimal).to_vec()
}

#[test]
fn membership_emptiness_and_identity_of_random_sets() {
    let (grid, bounds, steps) = (grid(), bounds(), steps());
    let (mut random, mut sets) = (Random(1), NumberSets::within(&Limits::default()));
    let (mut by_meaning, mut strays, mut empty) = (HashMap::new(), 0, 0);
    for round in 0..4000 {
        let rule = Rule::random(&mut random, &bounds, &steps, 3);
        let id = rule.set(&mut sets);
        let members: Vec<bool> = grid.iter().map(|value| rule.holds(value)).collect();
        for (value, &member) in grid.iter().zip(&members) {
            assert_eq!(
                sets.contains(id, value, true),
                member,
                "round {round}: {value} in {rule:?}"
            );
        }
        let none = !members.contains(&true);
        empty += usize::from(none);
        assert_eq!(sets.is_empty(id), none, "round {round}: {rule:?}");
        strays += usize::from(*by_meaning.entry(members).or_insert(id) != id);
    }
    assert!(empty > 50, "only {empty} sets were empty");
    assert!(strays < 40, "{strays} of 4000 sets have several handles");
}

#[test]
fn cardinality_and_members_of_random_sets() {
    let (grid, bounds, steps) = (grid(), bounds(), steps());
    let (mut random, mut sets) = (Random(2), NumberSets::within(&Limits::default()));
    let (low, high) = (decimal("-12"), decimal("12"));
    for round in 0..2000 {
        let rule = Rule::random(&mut random, &bounds, &steps, 3);
        // Quarters within the grid: a finite set of which the grid has every member.
        let finite = Rule::And(vec![
            rule.clone(),
            Rule::Multiple(decimal("0.25")),
            Rule::AtLeast(low.clone()),
            Rule::AtMost(high.clone()),
        ]);
        let id = finite.set(&mut sets);
        let mut members: Vec<Decimal> = grid.iter().filter(|value| finite.holds(value)).cloned().collect();
        let count = members.len() as u64;
        assert_eq!(
            sets.cardinality(id, 1000).unwrap(),
            NumberCount::Exactly(count),
            "round {round}: {finite:?}"
        );
        let up_to = count / 2;
        if count > up_to {
            assert_eq!(sets.cardinality(id, up_to).unwrap(), NumberCount::MoreThan(up_to));
        }
        members.sort_by(|left, right| left.cmp_abs(right).then_with(|| right.cmp(left)));
        assert_eq!(sets.members(id, 1000).unwrap(), members, "round {round}: {finite:?}");
        assert_eq!(sets.members(id, 3).unwrap(), members[..members.len().min(3)]);
        // Of an infinite set, members are wanted, and as many as asked for.
        let id = rule.set(&mut sets);
        let some = sets.members(id, 5).unwrap();
        assert!(
            some.iter().all(|value| sets.contains(id, value, true)),
            "round {round}: {some:?} of {rule:?}"
        );
        match sets.cardinality(id, 4).unwrap() {
            NumberCount::Exactly(count) => assert_eq!(some.len() as u64, count, "round {round}: {rule:?}"),
            _ => assert_eq!(some.len(), 5, "round {round}: {rule:?}"),
        }
    }
}

#[test]
fn one_set_said_in_different_ways_is_one_handle() {
    let mut sets = NumberSets::within(&Limits::default());
    let integers = sets.integers();
    let (above, at_least) = (
        sets.bounded_below(decimal("0"), true),
        sets.bounded_below(decimal("1"), false),
    );
    assert_eq!(sets.and(integers, above), sets.and(integers, at_least));
    let listed = sets.one_of(["0", "1", "2"].map(decimal)).unwrap();
    let range = Rule::And(vec![
        Rule::Multiple(decimal("1")),
        Rule::Above(decimal("-0.5")),
        Rule::Below(decimal("3")),
    ]);
    assert_eq!(range.set(&mut sets), listed);
    let fractional = sets.bounded_above(decimal("0.5"), true);
    let nonpositive = sets.bounded_above(decimal("0"), false);
    assert_eq!(sets.and(integers, fractional), sets.and(integers, nonpositive));
    let thirds = sets.multiple_of(&decimal("-0.30")).unwrap();
    assert_eq!(sets.multiple_of(&decimal("3e-1")), Ok(thirds));
    let (twos, threes, sixes) = (
        sets.multiple_of(&decimal("2")).unwrap(),
        sets.multiple_of(&decimal("3")).unwrap(),
        sets.multiple_of(&decimal("6")),
    );
    assert_eq!(sets.and(twos, threes), sixes);
    let zero = sets.exactly(Decimal::zero());
    assert_eq!(sets.multiple_of(&Decimal::zero()), Ok(zero));
}

#[test]
fn multiples_of_huge_numbers_are_found_at_once() {
    for step in ["1e1000000000000", "7e-1000000000000"] {
        let rule = Rule::Multiple(decimal(step));
        let numbers = SchemaNumbers {
            multiples: vec![decimal(step)],
            ..SchemaNumbers::default()
        };
        let mut sets = NumberSets::writable(&Limits::default(), &numbers);
        let set = rule.set(&mut sets);
        assert!(!sets.is_empty(set), "{step}");
        assert!(sets.contains(set, &Decimal::zero(), true), "{step}");
    }
}

#[test]
fn wide_intervals_are_counted_not_enumerated() {
    let mut sets = NumberSets::within(&Limits::default());
    let rule = |low: &str, high: &str, step: &str, not: &str| {
        Rule::And(vec![
            Rule::AtLeast(decimal(low)),
            Rule::AtMost(decimal(high)),
            Rule::Multiple(decimal(step)),
            Rule::Not(Box::new(Rule::Multiple(decimal(not)))),
        ])
    };
    let id = rule("0", "1000000000000000000", "3", "9").set(&mut sets);
    // Of 333333333333333333 + 1 multiples of 3, 111111111111111111 + 1 are multiples of 9.
    assert_eq!(
        sets.cardinality(id, u64::MAX).unwrap(),
        NumberCount::Exactly(222_222_222_222_222_222)
    );
    // Every multiple of 1000003 in this interval is one of 999983: there is exactly one, their product.
    let product = "999985999949";
    let lone = rule("999985000000", "999986000000", "1000003", "999983").set(&mut sets);
    let both = Rule::And(vec![
        Rule::Multiple(decimal("1000003")),
        Rule::Multiple(decimal("999983")),
    ])
    .set(&mut sets);
    assert!(sets.contains(both, &decimal(product), true));
    assert!(!sets.contains(lone, &decimal(product), true));
    assert!(sets.is_empty(lone));
}

#[test]
fn adversarial_bounds_and_steps() {
    let mut sets = NumberSets::within(&Limits::default());
    let integers = sets.integers();
    for (low, high, count) in [
        ("1e-999999999", "1", NumberCount::Exactly(1)),
        ("1e999999999999", "2e999999999999", NumberCount::MoreThan(7)),
        ("-1e-999999999999", "1e-999999999999", NumberCount::Exactly(1)),
        ("1e-999999999999", "2e-999999999999", NumberCount::Exactly(0)),
    ] {
        let between = Rule::And(vec![Rule::AtLeast(decimal(low)), Rule::AtMost(decimal(high))]).set(&mut sets);
        assert_eq!(sets.cardinality(between, 7).unwrap(), NumberCount::Infinite);
        let within = sets.and(between, integers).unwrap();
        assert_eq!(sets.cardinality(within, 7).unwrap(), count, "{low} to {high}");
        assert!(!sets.members(between, 3).unwrap().is_empty());
    }
    let tiny = sets.multiple_of(&decimal("1e-300")).unwrap();
    let not_tiny = sets.not(tiny);
    let between = Rule::And(vec![Rule::AtLeast(decimal("1")), Rule::AtMost(decimal("1.5"))]).set(&mut sets);
    let fine = sets.and(not_tiny, between).unwrap();
    assert_eq!(sets.members(fine, 2).unwrap().len(), 2);
    let long = sets.bounded_below(decimal(&"7".repeat(10_000)), false);
    let below = sets.bounded_above(decimal(&format!("{}9", "7".repeat(9_999))), false);
    let narrow = sets.and(long, below).unwrap();
    let narrow = sets.and(narrow, integers).unwrap();
    assert_eq!(sets.cardinality(narrow, 100).unwrap(), NumberCount::Exactly(3));
    // Twelve independent negated steps are 4096 terms: refused, not attempted.
    let mut set = sets.all();
    let mut limit = None;
    for prime in [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37] {
        let step = sets.multiple_of(&Decimal::from(prime)).unwrap();
        let not = sets.not(step);
        match sets.and(set, not) {
            Ok(both) => set = both,
            Err(error) => limit = Some(error),
        }
    }
    assert_eq!(limit.map(|limit| limit.limit), Some(1024));
}
