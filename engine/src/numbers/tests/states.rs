//! How many states sets lead to, and texts and sets made to be costly.

use super::{Rule, decimal};
use crate::numbers::{NumberSetId, NumberSets, NumberState, NumberStyle, NumberTexts};

const BYTES: &[u8] = b"0123456789-+.eE";

/// Number of states that texts of up to `length` bytes lead to.
fn reachable(texts: &mut NumberTexts, start: NumberState, length: usize) -> usize {
    let (mut seen, mut level) = (vec![start], vec![start]);
    for _ in 0..length {
        let mut next_level = Vec::new();
        for state in level {
            for next in BYTES.iter().filter_map(|&byte| texts.step(state, byte)) {
                if !seen.contains(&next) {
                    seen.push(next);
                    next_level.push(next);
                }
            }
        }
        level = next_level;
    }
    seen.len()
}

fn states(style: NumberStyle, length: usize, set: impl FnOnce(&mut NumberSets) -> NumberSetId) -> usize {
    let mut sets = NumberSets::new();
    let id = set(&mut sets);
    let mut texts = NumberTexts::new(style, sets);
    let start = texts.start(id).unwrap();
    reachable(&mut texts, start, length)
}

fn between(sets: &mut NumberSets, low: &str, high: &str) -> NumberSetId {
    Rule::And(vec![Rule::AtLeast(decimal(low)), Rule::AtMost(decimal(high))]).set(sets)
}

fn integers_between(sets: &mut NumberSets, low: &str, high: &str) -> NumberSetId {
    let (range, integers) = (between(sets, low, high), sets.integers());
    sets.and(range, integers).unwrap()
}

#[test]
fn plain_states_of_typical_sets_are_few() {
    let of = |set: &dyn Fn(&mut NumberSets) -> NumberSetId| states(NumberStyle::Plain, 400, set);
    let counts = [
        ("number", of(&|sets| sets.all()), 8),
        ("integer", of(&|sets| sets.integers()), 4),
        ("number from 0", of(&|sets| sets.at_least(decimal("0"))), 6),
        (
            "integer from 0",
            of(&|sets| integers_between(sets, "0", "1e999999999")),
            0,
        ),
        ("integer 0 to 100", of(&|sets| integers_between(sets, "0", "100")), 12),
        ("number 0 to 100", of(&|sets| between(sets, "0", "100")), 20),
        ("number -90 to 90", of(&|sets| between(sets, "-90", "90")), 20),
        (
            "multiple of 0.01",
            of(&|sets| sets.multiple_of(&decimal("0.01")).unwrap()),
            20,
        ),
        (
            "multiple of 7",
            of(&|sets| sets.multiple_of(&decimal("7")).unwrap()),
            20,
        ),
        (
            "multiple of 1000",
            of(&|sets| sets.multiple_of(&decimal("1000")).unwrap()),
            20,
        ),
        (
            "int64",
            of(&|sets| integers_between(sets, "-9223372036854775808", "9223372036854775807")),
            300,
        ),
        (
            "enum",
            of(&|sets| sets.one_of((0..500).map(|n| (n * n).into())).unwrap()),
            3000,
        ),
    ];
    for (name, count, most) in counts {
        eprintln!("{name}: {count} (at most {most})");
    }
}
