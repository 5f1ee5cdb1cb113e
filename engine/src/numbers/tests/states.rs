//! The number of states that sets lead to, and numerals and sets made to be costly.

use std::collections::HashSet;

use super::{Rule, decimal};
use crate::Limits;
use crate::NumberStyle;
use crate::numbers::{NumberSetId, NumberSets, NumberState, NumeralAutomaton, Precision, SchemaNumbers};

const BYTES: &[u8] = b"0123456789-+.eE";

/// Number of states that numerals of up to `length` bytes lead to.
fn reachable(automaton: &mut NumeralAutomaton, start: NumberState, length: usize) -> usize {
    let (mut seen, mut level) = (HashSet::from([start]), vec![start]);
    for _ in 0..length {
        let mut next_level = Vec::new();
        for state in level {
            let next = BYTES.iter().filter_map(|&byte| automaton.step(state, byte));
            next_level.extend(next.filter(|&next| seen.insert(next)));
        }
        level = next_level;
    }
    seen.len()
}

fn states(style: NumberStyle, length: usize, set: impl FnOnce(&mut NumberSets) -> NumberSetId) -> usize {
    let mut sets = NumberSets::within(&Limits::default());
    let id = set(&mut sets);
    let mut automaton = NumeralAutomaton::new(style, sets);
    let start = automaton.start(id, Precision::Usual).unwrap();
    reachable(&mut automaton, start, length)
}

fn between(sets: &mut NumberSets, low: &str, high: &str) -> NumberSetId {
    Rule::And(vec![Rule::AtLeast(decimal(low)), Rule::AtMost(decimal(high))]).set(sets)
}

fn integers_between(sets: &mut NumberSets, low: &str, high: &str) -> NumberSetId {
    let (range, integers) = (between(sets, low, high), sets.integers());
    sets.and(range, integers).unwrap()
}

/// A name, how to make the set, and how many states its numerals of any length lead to.
type Typical = (&'static str, fn(&mut NumberSets) -> NumberSetId, usize);

const PLAIN: [Typical; 14] = [
    ("number", |sets| sets.all(), 11),
    ("integer", |sets| sets.integers(), 4),
    ("number from 0", |sets| sets.bounded_below(decimal("0"), false), 9),
    ("integer from 0", |sets| non_negative_integers(sets), 3),
    ("integer 0 to 100", |sets| integers_between(sets, "0", "100"), 7),
    ("number 0 to 100", |sets| between(sets, "0", "100"), 16),
    ("number above 0 below 1", |sets| strictly_between(sets, "0", "1"), 7),
    ("number -90 to 90", |sets| between(sets, "-90", "90"), 17),
    (
        "multiple of 0.01",
        |sets| sets.multiple_of(&decimal("0.01")).unwrap(),
        11,
    ),
    ("multiple of 7", |sets| sets.multiple_of(&decimal("7")).unwrap(), 16),
    (
        "multiple of 1000",
        |sets| sets.multiple_of(&decimal("1000")).unwrap(),
        13,
    ),
    ("multiple of 0.25 from 0 to 99.75", |sets| prices(sets), 11),
    (
        "int64",
        |sets| integers_between(sets, "-9223372036854775808", "9223372036854775807"),
        59,
    ),
    (
        "500 squares",
        |sets| sets.one_of((0..500).map(|n| (n * n).into())).unwrap(),
        955,
    ),
];

fn non_negative_integers(sets: &mut NumberSets) -> NumberSetId {
    let (integers, from) = (sets.integers(), sets.bounded_below(decimal("0"), false));
    sets.and(integers, from).unwrap()
}

fn strictly_between(sets: &mut NumberSets, low: &str, high: &str) -> NumberSetId {
    Rule::And(vec![Rule::Above(decimal(low)), Rule::Below(decimal(high))]).set(sets)
}

fn prices(sets: &mut NumberSets) -> NumberSetId {
    let (range, steps) = (between(sets, "0", "99.75"), sets.multiple_of(&decimal("0.25")).unwrap());
    sets.and(range, steps).unwrap()
}

#[test]
fn plain_states_do_not_grow_with_the_text() {
    let counts = PLAIN.map(|(name, set, _)| (name, states(NumberStyle::Plain, 60, set)));
    let expected = PLAIN.map(|(name, _, count)| (name, count));
    assert_eq!(counts, expected);
    for (name, set, count) in PLAIN {
        assert_eq!(states(NumberStyle::Plain, 400, set), count, "{name}");
    }
}

/// A name, how to make the set, the bounds and the multiples that the schema has, and how many states its numerals lead to.
type TypicalOfSchema = (
    &'static str,
    fn(&mut NumberSets) -> NumberSetId,
    &'static [&'static str],
    &'static [&'static str],
    usize,
);

const INT64: &[&str] = &["-9223372036854775808", "9223372036854775807"];

const WRITABLE: [TypicalOfSchema; 10] = [
    ("number", |sets| sets.all(), &[], &[], 77),
    ("integer", |sets| sets.integers(), &[], &[], 20),
    (
        "number from 0",
        |sets| sets.bounded_below(decimal("0"), false),
        &[],
        &[],
        75,
    ),
    ("integer from 0", |sets| non_negative_integers(sets), &[], &[], 19),
    (
        "integer 0 to 100",
        |sets| integers_between(sets, "0", "100"),
        &[],
        &[],
        7,
    ),
    ("number 0 to 100", |sets| between(sets, "0", "100"), &[], &[], 49),
    (
        "number above 0 below 1",
        |sets| strictly_between(sets, "0", "1"),
        &[],
        &[],
        39,
    ),
    (
        "multiple of 0.01",
        |sets| sets.multiple_of(&decimal("0.01")).unwrap(),
        &[],
        &["0.01"],
        27,
    ),
    (
        "multiple of 7",
        |sets| sets.multiple_of(&decimal("7")).unwrap(),
        &[],
        &["7"],
        122,
    ),
    (
        "int64",
        |sets| integers_between(sets, INT64[0], INT64[1]),
        INT64,
        &[],
        59,
    ),
];

/// With bounded numerals there is a state for each number of digits.
#[test]
fn states_of_bounded_numerals() {
    let count = |set: fn(&mut NumberSets) -> NumberSetId, bounds: &[&str], multiples: &[&str]| {
        let decimals = |texts: &[&str]| texts.iter().map(|text| decimal(text)).collect();
        let numbers = SchemaNumbers {
            bounds: decimals(bounds),
            multiples: decimals(multiples),
            ..SchemaNumbers::default()
        };
        let mut sets = NumberSets::writable(&Limits::default(), &numbers);
        let (set, all) = (set(&mut sets), sets.all());
        let set = sets.and(set, all).unwrap();
        let mut automaton = NumeralAutomaton::new(NumberStyle::Plain, sets);
        let start = automaton.start(set, Precision::Usual).unwrap();
        let count = reachable(&mut automaton, start, 60);
        assert_eq!(reachable(&mut automaton, start, 400), count);
        count
    };
    let counts = WRITABLE.map(|(name, set, bounds, multiples, _)| (name, count(set, bounds, multiples)));
    assert_eq!(counts, WRITABLE.map(|(name, .., count)| (name, count)));
}

#[test]
fn rfc8259_states_grow_with_the_text_only_where_bounds_or_steps_make_them() {
    let counts =
        |set: fn(&mut NumberSets) -> NumberSetId| [10, 20, 40].map(|length| states(NumberStyle::Rfc8259, length, set));
    assert_eq!(counts(|sets| sets.all()), [12; 3]);
    assert_eq!(counts(|sets| sets.bounded_below(decimal("0"), false)), [15; 3]);
    // With bounds the number of digits matters, so that there are a few states for each.
    assert_eq!(counts(|sets| between(sets, "0", "100")), [137, 301, 607]);
    // With steps, the place of the point and the zeros at the end matter independently of each other.
    assert_eq!(counts(|sets| sets.integers()), [152, 525, 1852]);
    assert_eq!(counts(|sets| integers_between(sets, "0", "100")), [372, 1383, 5169]);
}

/// The state after a text, which begins a number of the set.
fn walk(automaton: &mut NumeralAutomaton, start: NumberState, text: &str) -> NumberState {
    let mut state = start;
    for (at, byte) in text.bytes().enumerate() {
        state = automaton
            .step(state, byte)
            .unwrap_or_else(|| panic!("refused at byte {at} of {} bytes", text.len()));
    }
    state
}

#[test]
fn bounds_with_huge_exponents() {
    for style in [NumberStyle::Plain, NumberStyle::Rfc8259] {
        let mut sets = NumberSets::within(&Limits::default());
        let tiny = between(&mut sets, "1e-999999999", "1");
        let huge = integers_between(&mut sets, "-1e999999999999", "1e999999999999");
        let mut automaton = NumeralAutomaton::new(style, sets);
        let start = automaton.start(tiny, Precision::Usual).unwrap();
        let state = walk(&mut automaton, start, "0.00000");
        assert!(!automaton.can_end(state));
        let state = walk(&mut automaton, state, "1");
        assert!(automaton.can_end(state) && automaton.step(start, b'-').is_none());
        let start = automaton.start(huge, Precision::Usual).unwrap();
        let state = walk(&mut automaton, start, "-99999999999999999999999");
        assert!(automaton.can_end(state));
        if style == NumberStyle::Rfc8259 {
            let state = walk(&mut automaton, start, "10e99999999999");
            assert!(
                automaton.can_end(state)
                    && automaton.step(state, b'8').is_some()
                    && automaton.step(state, b'9').is_none()
            );
            let state = walk(&mut automaton, start, "1e999999999999");
            assert!(automaton.can_end(state) && automaton.step(state, b'0').is_none());
            let state = walk(&mut automaton, start, "0.1e1000000000000");
            assert!(automaton.can_end(state));
            let start = automaton.start(tiny, Precision::Usual).unwrap();
            let state = walk(&mut automaton, start, "10e-1000000000");
            assert!(automaton.can_end(state) && automaton.step(state, b'0').is_none());
            let state = walk(&mut automaton, start, "1e+");
            assert!(automaton.step(state, b'0').is_some() && automaton.step(state, b'1').is_none());
        }
    }
}

#[test]
fn long_bounds_and_long_texts() {
    let bound = "7".repeat(10_000);
    let mut sets = NumberSets::within(&Limits::default());
    let set = integers_between(&mut sets, "0", &bound);
    let mut automaton = NumeralAutomaton::new(NumberStyle::Plain, sets);
    let start = automaton.start(set, Precision::Usual).unwrap();
    let last = walk(&mut automaton, start, &bound[1..]);
    assert!(automaton.can_end(last) && automaton.step(last, b'8').is_none());
    let state = walk(&mut automaton, last, "7");
    assert!(automaton.can_end(state) && automaton.step(state, b'0').is_none());
    // Numbers without bounds, as long as one likes, in a handful of states.
    let mut sets = NumberSets::within(&Limits::default());
    let set = sets.multiple_of(&decimal("0.07")).unwrap();
    let mut automaton = NumeralAutomaton::new(NumberStyle::Plain, sets);
    let start = automaton.start(set, Precision::Usual).unwrap();
    let state = walk(&mut automaton, start, &format!("{}.14", "7".repeat(100_000)));
    assert!(automaton.can_end(state));
    let state = walk(&mut automaton, start, &format!("{}.1", "123".repeat(50_000)));
    assert!(!automaton.can_end(state));
    assert!(automaton.len() < 60, "{}", automaton.len());
}

#[test]
fn tiny_and_huge_steps() {
    let rule = Rule::And(vec![
        Rule::Multiple(decimal("3e-300")),
        Rule::Not(Box::new(Rule::Multiple(decimal("3e300")))),
        Rule::AtLeast(decimal("-1e301")),
    ]);
    for style in [NumberStyle::Plain, NumberStyle::Rfc8259] {
        let mut sets = NumberSets::within(&Limits::default());
        let set = rule.set(&mut sets);
        let mut automaton = NumeralAutomaton::new(style, sets);
        let start = automaton.start(set, Precision::Usual).unwrap();
        let state = walk(&mut automaton, start, &format!("-0.{}3", "0".repeat(299)));
        assert!(automaton.can_end(state));
        let state = walk(&mut automaton, start, &format!("3{}", "0".repeat(300)));
        assert!(!automaton.can_end(state));
        let state = walk(&mut automaton, state, ".3");
        assert!(automaton.can_end(state));
    }
}
