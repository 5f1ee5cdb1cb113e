//! Random walks over numerals of sets that are too large for brute force.
//!
//! Three properties together say that the walk is exact, each for itself falsifiable: a text may end iff its value is a
//! member; every text of a member can be written; from wherever a walk may get, some end can be reached.

use std::collections::HashSet;

use super::{Random, Rule, decimal};
use crate::Limits;
use crate::NumberStyle;
use crate::decimal::Decimal;
use crate::numbers::{NextDigits, NumberSetId, NumberSets, NumberState, NumeralAutomaton, Precision};

fn bounds() -> Vec<Decimal> {
    [
        "-1e25",
        "-12345.678",
        "-100",
        "-90",
        "-1",
        "-0.001",
        "-1e-9",
        "0",
        "1e-9",
        "0.01",
        "0.1",
        "0.125",
        "1",
        "7",
        "9.99",
        "10",
        "99.5",
        "100",
        "101",
        "255",
        "999.999",
        "1000",
        "65535",
        "2147483647",
        "9223372036854775807",
        "1e20",
        "1e25",
    ]
    .map(decimal)
    .to_vec()
}

fn steps() -> Vec<Decimal> {
    [
        "1", "1", "1", "0.01", "0.1", "0.5", "0.3", "7", "10", "100", "1000", "12.5", "0.32", "64", "1e-5", "1e12",
        "35",
    ]
    .map(decimal)
    .to_vec()
}

/// A rule as schemas have them (bounds and a step, perhaps negated), or a random one.
fn rule(random: &mut Random, bounds: &[Decimal], steps: &[Decimal]) -> Rule {
    if random.below(2) == 0 {
        return Rule::random(random, bounds, steps, 2);
    }
    let mut rules = vec![Rule::Multiple(random.pick(steps).clone())];
    if random.below(2) == 0 {
        rules.push(Rule::AtLeast(random.pick(bounds).clone()));
    }
    if random.below(2) == 0 {
        rules.push(Rule::Below(random.pick(bounds).clone()));
    }
    if random.below(3) == 0 {
        rules.push(Rule::Not(Box::new(Rule::Multiple(random.pick(steps).clone()))));
    }
    Rule::And(rules)
}

/// Whether an end can be reached; `None` where the search was given up.
pub(super) fn reaches_end(automaton: &mut NumeralAutomaton, state: NumberState) -> Option<bool> {
    let (mut seen, mut level) = (HashSet::from([state]), vec![state]);
    while !level.is_empty() {
        if level.iter().any(|&state| automaton.can_end(state)) {
            return Some(true);
        }
        if seen.len() > 30_000 {
            return None;
        }
        let mut next_level = Vec::new();
        for state in level {
            for &byte in b"0123456789.-e" {
                next_level.extend(automaton.step(state, byte).filter(|&next| seen.insert(next)));
            }
        }
        level = next_level;
    }
    Some(false)
}

fn random_walks(automaton: &mut NumeralAutomaton, set: NumberSetId, random: &mut Random) -> usize {
    let start = automaton.start(set, Precision::Usual).unwrap();
    let mut given_up = 0;
    for _ in 0..20 {
        let (mut text, mut state) = (Vec::new(), start);
        check_next_digits(automaton, state);
        for _ in 0..1 + random.below(14) {
            let all = b"00011223344556677889999--+...e";
            let steps: Vec<_> = all
                .iter()
                .filter_map(|&byte| Some((byte, automaton.step(state, byte)?)))
                .collect();
            if steps.is_empty() {
                break;
            }
            let &(byte, next) = random.pick(&steps);
            text.push(byte);
            state = next;
            check_next_digits(automaton, state);
            let member = Decimal::parse(&text).is_ok_and(|value| automaton.sets().contains(set, &value, false));
            let shown = String::from_utf8_lossy(&text).into_owned();
            // In the plain style a zero has no sign.
            assert_eq!(
                automaton.can_end(state),
                member && !(shown == "-0" && !text.contains(&b'e') && plain(automaton)),
                "{shown}"
            );
        }
        match reaches_end(automaton, state) {
            Some(true) => {}
            Some(false) => panic!("no end after {}", String::from_utf8_lossy(&text)),
            None => given_up += 1,
        }
    }
    given_up
}

/// Asserts that `NumeralAutomaton::next_digits` is right: each of the digits that it names may follow, and so may each behind
/// them.
pub(super) fn check_next_digits(automaton: &mut NumeralAutomaton, state: NumberState) {
    for longest in 1..4 {
        let first = match automaton.next_digits(state, longest) {
            NextDigits::Any => b'0',
            NextDigits::NonZero => b'1',
            NextDigits::Some => continue,
        };
        let mut level: Vec<_> = (first..=b'9').map(|digit| automaton.step(state, digit)).collect();
        for _ in 1..longest {
            let next = level
                .iter()
                .flat_map(|state| (b'0'..=b'9').map(move |digit| (*state, digit)));
            level = next.map(|(state, digit)| automaton.step(state?, digit)).collect();
            level.sort_unstable();
            level.dedup();
        }
        assert!(level.iter().all(Option::is_some), "{longest}");
    }
}

fn plain(automaton: &NumeralAutomaton) -> bool {
    automaton.style() == NumberStyle::Plain
}

/// A text of `value` with a random place for the point.
fn spelled(value: &Decimal, random: &mut Random) -> String {
    let digits = value.abs().significand().to_string() + &"0".repeat(random.below(3));
    let zeros = digits.len() as i64 - value.significand().to_string().len() as i64;
    let exponent = value.exponent() - zeros;
    let sign = if value.is_negative() { "-" } else { "" };
    let whole = random.below(digits.len() + 1);
    let (whole, fraction) = digits.split_at(whole);
    let exponent = exponent + fraction.len() as i64;
    let leading = "0".repeat(random.below(2));
    let (whole, point) = match (whole, fraction) {
        ("", _) => ("0", "."),
        (_, "") => (whole, ""),
        _ => (whole, "."),
    };
    let whole = if whole.len() > 1 {
        whole.trim_start_matches('0')
    } else {
        whole
    };
    let whole = if whole.is_empty() { "0" } else { whole };
    let mark = if exponent < 0 {
        format!("e-{leading}{}", -exponent)
    } else {
        format!("E+{leading}{exponent}")
    };
    if exponent == 0 && random.below(2) == 0 {
        format!("{sign}{whole}{point}{fraction}")
    } else {
        format!("{sign}{whole}{point}{fraction}{mark}")
    }
}

/// Writes a number without exponent and with no digit that is not needed.
pub(super) fn plainly(value: &Decimal) -> String {
    let digits = value.abs().significand().to_string();
    let sign = if value.is_negative() { "-" } else { "" };
    let (exponent, magnitude) = (value.exponent(), value.magnitude());
    match () {
        () if value.is_zero() => "0".into(),
        () if exponent >= 0 => format!("{sign}{digits}{}", "0".repeat(exponent as usize)),
        () if magnitude <= 0 => format!("{sign}0.{}{digits}", "0".repeat(-magnitude as usize)),
        () => format!(
            "{sign}{}.{}",
            &digits[..magnitude as usize],
            &digits[magnitude as usize..]
        ),
    }
}

pub(super) fn check_written(
    automaton: &mut NumeralAutomaton,
    set: NumberSetId,
    value: &Decimal,
    text: &str,
    precision: Precision,
) {
    assert_eq!(decimal(text), *value, "the test spells {value} as {text}");
    let mut state = automaton.start(set, precision).unwrap();
    for (at, byte) in text.bytes().enumerate() {
        state = automaton
            .step(state, byte)
            .unwrap_or_else(|| panic!("{} of {text} is refused", &text[..=at]));
    }
    assert!(automaton.can_end(state), "{text} cannot end");
}

fn candidates(
    automaton: &mut NumeralAutomaton,
    set: NumberSetId,
    random: &mut Random,
    bounds: &[Decimal],
) -> Vec<Decimal> {
    let mut values = automaton.sets_mut().members(set, 6).unwrap();
    values.extend(bounds.iter().cloned());
    for _ in 0..60 {
        let digits = 1 + random.below(6) as u32;
        let significand = random.below(10usize.pow(digits));
        let exponent = random.below(12) as i64 - 6;
        values.push(Decimal::new(random.below(2) == 0, significand.into(), exponent));
    }
    values.retain(|value| automaton.sets().contains(set, value, false));
    values
}

fn check_sets(style: NumberStyle, seed: u64, rounds: usize) {
    let (bounds, steps, mut random) = (bounds(), steps(), Random(seed));
    let (mut written, mut walked, mut given_up) = (0, 0, 0);
    for _ in 0..rounds {
        let rule = rule(&mut random, &bounds, &steps);
        let mut sets = NumberSets::within(&Limits::default());
        let set = rule.set(&mut sets);
        if sets.is_empty(set) {
            continue;
        }
        let mut automaton = NumeralAutomaton::new(style, sets);
        for value in candidates(&mut automaton, set, &mut random, &bounds) {
            let text = if style == NumberStyle::Plain {
                plainly(&value)
            } else {
                spelled(&value, &mut random)
            };
            check_written(&mut automaton, set, &value, &text, Precision::Usual);
            written += 1;
        }
        given_up += random_walks(&mut automaton, set, &mut random);
        walked += 20;
    }
    assert!(
        written > 10 * rounds && walked > 5 * rounds,
        "{written} numbers, {walked} walks"
    );
    assert!(
        given_up * 50 < walked,
        "{given_up} of {walked} searches for an end were given up"
    );
}

#[test]
fn plain_walks() {
    check_sets(NumberStyle::Plain, 6, 400);
}

#[test]
fn rfc8259_walks() {
    check_sets(NumberStyle::Rfc8259, 7, 400);
}
