//! A style with bounded numerals keeps some number of each set, and every number of usual length.

use super::walks::{check_next_digits, check_written, plainly, reaches_end};
use super::{Random, Rule, decimal};
use crate::Limits;
use crate::NumberStyle;
use crate::decimal::Decimal;
use crate::numbers::{NumberCount, NumberSetId, NumberSets, NumeralAutomaton, Precision, SchemaNumbers};

const BOUNDS: [&str; 24] = [
    "-1e25",
    "-9223372036854775808",
    "-100",
    "-0.00000000000000000001",
    "0",
    "5e-324",
    "1e-21",
    "0.12345678901234567",
    "0.1234567890123456789",
    "0.12345678901234567891",
    "0.123456789012345678912",
    "0.5",
    "1",
    "7",
    "99.5",
    "100",
    "9007199254740991",
    "9007199254740992",
    "99999999999999999",
    "1e17",
    "1e20",
    "18446744073709551615",
    "123456789012345678901234567890",
    "1.7976931348623157e308",
];

const STEPS: [&str; 12] = [
    "1", "1", "7", "0.01", "0.3", "1e-19", "1e-20", "3e-22", "1e12", "35", "64", "1e18",
];

/// Returns the number sets that bounded numerals can write, and the set of a rule among them.
fn narrowed(rule: &Rule) -> (NumberSets, NumberSetId) {
    let mut numbers = SchemaNumbers::default();
    collect(rule, &mut numbers);
    let mut sets = NumberSets::writable(&Limits::default(), &numbers);
    let (all, set) = (sets.all(), rule.set(&mut sets));
    let set = sets.and(all, set).unwrap();
    (sets, set)
}

fn collect(rule: &Rule, numbers: &mut SchemaNumbers) {
    match rule {
        Rule::AtLeast(at) | Rule::Above(at) | Rule::AtMost(at) | Rule::Below(at) => numbers.bounds.push(at.clone()),
        Rule::Exactly(value) => numbers.values.push(value.clone()),
        Rule::Multiple(of) => numbers.multiples.push(of.clone()),
        Rule::Not(rule) => collect(rule, numbers),
        Rule::And(rules) | Rule::Or(rules) => rules.iter().for_each(|rule| collect(rule, numbers)),
    }
}

fn random_rule(random: &mut Random) -> Rule {
    let (bounds, steps) = (BOUNDS.map(decimal), STEPS.map(decimal));
    match random.below(3) {
        0 => Rule::And(vec![
            Rule::Above(random.pick(&bounds).clone()),
            Rule::Below(random.pick(&bounds).clone()),
            Rule::random(random, &bounds, &steps, 0),
        ]),
        _ => Rule::random(random, &bounds, &steps, 2),
    }
}

/// A schema with a valid number has one that can be written, whatever the schema says.
#[test]
fn no_set_with_a_number_becomes_empty() {
    let (mut random, mut full) = (Random(11), 0);
    for _ in 0..1500 {
        let rule = random_rule(&mut random);
        let mut exact = NumberSets::within(&Limits::default());
        let of_all = rule.set(&mut exact);
        let (sets, of_writable) = narrowed(&rule);
        assert_eq!(exact.is_empty(of_all), sets.is_empty(of_writable), "{rule:?}");
        full += usize::from(!exact.is_empty(of_all));
    }
    assert!((500..1400).contains(&full), "{full}");
}

/// Enough numbers can be written for items that have to differ, where a schema admits infinitely many, or more than any array has
/// items.
#[test]
fn no_set_of_many_numbers_becomes_small() {
    const MAX_COUNTED: u64 = 10_000;
    let (mut random, mut large) = (Random(15), 0);
    for _ in 0..1500 {
        let rule = random_rule(&mut random);
        let mut exact = NumberSets::within(&Limits::default());
        let of_all = rule.set(&mut exact);
        let (mut sets, of_writable) = narrowed(&rule);
        if !matches!(exact.cardinality(of_all, MAX_COUNTED).unwrap(), NumberCount::Exactly(_)) {
            let writable = sets.cardinality(of_writable, MAX_COUNTED).unwrap();
            assert!(!matches!(writable, NumberCount::Exactly(_)), "{rule:?}");
            large += 1;
        }
    }
    assert!((500..1400).contains(&large), "{large}");
}

/// Digits of the longest numeral that any schema here has: the digits of 1.8e308 and the places of 5e-324.
const LONGEST: usize = 700;

/// Walks that go on as long as they can.
#[test]
fn numerals_end() {
    let (mut random, mut walked, mut given_up) = (Random(12), 0, 0);
    for round in 0..400 {
        let rule = random_rule(&mut random);
        let (sets, set) = narrowed(&rule);
        if sets.is_empty(set) {
            continue;
        }
        let mut automaton = NumeralAutomaton::new(NumberStyle::Plain, sets);
        let precision = [Precision::Usual, Precision::Full][round % 2];
        let start = automaton.start(set, precision).unwrap();
        for _ in 0..6 {
            let (mut text, mut state) = (Vec::new(), start);
            let favourite = *random.pick(b"0123456789");
            loop {
                let bytes = b"0123456789-.".iter().copied();
                let next: Vec<_> = bytes
                    .filter_map(|byte| Some((byte, automaton.step(state, byte)?)))
                    .collect();
                let favoured = next.iter().find(|(byte, _)| *byte == favourite && random.below(8) > 0);
                let Some(&(byte, after)) = favoured.or_else(|| (!next.is_empty()).then(|| random.pick(&next))) else {
                    assert!(
                        automaton.can_end(state),
                        "{} in {rule:?}",
                        String::from_utf8_lossy(&text)
                    );
                    break;
                };
                text.push(byte);
                state = after;
                check_next_digits(&mut automaton, state);
                let shown = String::from_utf8_lossy(&text);
                assert!(text.len() < LONGEST, "{shown} in {rule:?}");
                let is_member = Decimal::parse(&text).is_ok_and(|value| automaton.sets().contains(set, &value, false));
                assert_eq!(
                    automaton.can_end(state),
                    is_member && shown != "-0",
                    "{shown} in {rule:?}"
                );
                if random.below(8) == 0 {
                    match reaches_end(&mut automaton, state) {
                        Some(reached) => assert!(reached, "{shown} in {rule:?}"),
                        None => given_up += 1,
                    }
                }
            }
            walked += 1;
        }
    }
    assert!(
        walked > 1000 && given_up * 50 < walked,
        "{walked} walks, {given_up} given up"
    );
}

#[test]
fn numbers_of_usual_length_can_be_written() {
    let (mut random, mut written) = (Random(13), 0);
    for _ in 0..300 {
        let rule = random_rule(&mut random);
        let (mut sets, set) = narrowed(&rule);
        let members = sets.members(set, 8).unwrap();
        let few = matches!(sets.cardinality(set, 8).unwrap(), NumberCount::Exactly(_));
        let mut automaton = NumeralAutomaton::new(NumberStyle::Plain, sets);
        for value in &members {
            check_written(&mut automaton, set, value, &plainly(value), Precision::Full);
            if few {
                check_written(&mut automaton, set, value, &plainly(value), Precision::Usual);
            }
        }
        for _ in 0..60 {
            let digits = 1 + random.below(17) as u32;
            let exponent = random.below(18 - digits as usize) as i64 - random.below(1 + 2 * digits as usize) as i64;
            let value = Decimal::new(false, (random.below(10usize.pow(digits))).into(), exponent);
            let all = automaton.sets().all();
            let is_usual = -value.exponent() <= 20;
            assert!(!is_usual || automaton.sets().contains(all, &value, false), "{value}");
            if is_usual && automaton.sets().contains(set, &value, false) {
                check_written(&mut automaton, set, &value, &plainly(&value), Precision::Usual);
                written += 1;
            }
        }
    }
    assert!(written > 1000, "{written}");
}

#[test]
fn lengths_of_numerals() {
    let mut sets = NumberSets::writable(&Limits::default(), &SchemaNumbers::default());
    let (all, integers) = (sets.all(), sets.integers());
    let mut automaton = NumeralAutomaton::new(NumberStyle::Plain, sets);
    let mut takes = |set, precision, text: &str| {
        let mut state = automaton.start(set, precision).unwrap();
        for byte in text.bytes() {
            match automaton.step(state, byte) {
                Some(next) => state = next,
                None => return false,
            }
        }
        automaton.can_end(state)
    };
    for text in [
        "0",
        "0.5",
        "12.50",
        "2.0",
        "2.00",
        "-0.000001",
        "0.30000000000000004",
        "12345678901234567",
        "1234567890123456.7",
    ] {
        assert!(takes(all, Precision::Usual, text), "{text}");
    }
    let long = [
        "123456789012345678",
        "12345678901234567.8",
        "0.5000000000000000000000",
        "0.123456789012345678",
    ];
    for text in long {
        assert!(!takes(all, Precision::Usual, text), "{text}");
    }
    assert!(takes(all, Precision::Full, "12345678901234567.12345678901234567891"));
    assert!(takes(integers, Precision::Usual, "42") && !takes(integers, Precision::Usual, "42.0"));
}

#[test]
fn numerals_with_exponents() {
    let mut sets = NumberSets::writable_with_exponents(&Limits::default(), &SchemaNumbers::default());
    let (all, integers) = (sets.all(), sets.integers());
    let mut automaton = NumeralAutomaton::new(NumberStyle::Scientific, sets);
    let mut takes = |set, text: &str| {
        let start = automaton.start(set, Precision::Usual).unwrap();
        let end = text.bytes().try_fold(start, |state, byte| automaton.step(state, byte));
        end.is_some_and(|end| automaton.can_end(end))
    };
    for text in [
        "0",
        "2.0",
        "1e21",
        "1.5e-7",
        "6.02E+23",
        "1e-07",
        "0.00000000000000000001",
        "12345678901234567",
    ] {
        assert!(takes(all, text), "{text}");
    }
    for text in [
        "-0",
        "1e007",
        "1e325",
        "0e1",
        "123456789012345678",
        "1.00000000000000000",
        "0.0000000000000000000001",
    ] {
        assert!(!takes(all, text), "{text}");
    }
    assert!(takes(integers, "1000") && !takes(integers, "1e3") && !takes(integers, "1000.0"));
}

#[test]
fn numerals_with_exponents_come_to_an_end() {
    let (mut random, mut walked, mut given_up) = (Random(14), 0, 0);
    for _ in 0..200 {
        let rule = random_rule(&mut random);
        let mut sets = NumberSets::writable_with_exponents(&Limits::default(), &SchemaNumbers::default());
        let set = rule.set(&mut sets);
        if sets.is_empty(set) {
            continue;
        }
        let mut automaton = NumeralAutomaton::new(NumberStyle::Scientific, sets);
        let start = automaton.start(set, Precision::Usual).unwrap();
        for _ in 0..6 {
            let (mut text, mut state) = (Vec::new(), start);
            for _ in 0..random.below(30) {
                let bytes = b"00011223344556677889999.-+e".iter().copied();
                let next: Vec<_> = bytes
                    .filter_map(|byte| Some((byte, automaton.step(state, byte)?)))
                    .collect();
                if next.is_empty() {
                    break;
                }
                let (byte, after) = *random.pick(&next);
                text.push(byte);
                state = after;
                check_next_digits(&mut automaton, state);
                let shown = String::from_utf8_lossy(&text);
                let is_member = Decimal::parse(&text).is_ok_and(|value| automaton.sets().contains(set, &value, false));
                assert_eq!(
                    automaton.can_end(state),
                    is_member && shown != "-0",
                    "{shown} in {rule:?}"
                );
            }
            match reaches_end(&mut automaton, state) {
                Some(reached) => assert!(reached, "{} in {rule:?}", String::from_utf8_lossy(&text)),
                None => given_up += 1,
            }
            walked += 1;
        }
    }
    assert!(
        walked > 500 && given_up * 20 < walked,
        "{walked} walks, {given_up} given up"
    );
}
