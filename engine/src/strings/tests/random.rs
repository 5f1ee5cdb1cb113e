//! Random patterns over a handful of characters.

use rand::Rng;
use rand::seq::IndexedRandom;

/// One character of each kind that the patterns tell apart.
pub(super) const ALPHABET: [char; 5] = ['a', 'b', 'c', '-', 'é'];

/// Texts over [`ALPHABET`] of up to `longest` characters, shorter ones first.
pub(super) fn texts(alphabet: &[char], longest: usize) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut from = 0;
    for _ in 0..longest {
        let to = all.len();
        for place in from..to {
            for &c in alphabet {
                let longer = format!("{}{c}", all[place]);
                all.push(longer);
            }
        }
        from = to;
    }
    all
}

/// A pattern with at most `depth` levels, with assertions if `asserts`.
pub(super) fn pattern(rng: &mut impl Rng, depth: usize, asserts: bool) -> String {
    let parts = rng.random_range(1..=3);
    (0..parts).map(|_| part(rng, depth, asserts)).collect()
}

fn part(rng: &mut impl Rng, depth: usize, asserts: bool) -> String {
    let atoms = ["a", "b", "c", "-", ".", "[ab]", "[^a]", r"\w", r"\W", "ab", "[^]"];
    if depth == 0 || rng.random_bool(0.4) {
        let atom = atoms.choose(rng).unwrap();
        return quantified(rng, atom);
    }
    let inner = pattern(rng, depth - 1, asserts);
    let other = pattern(rng, depth - 1, asserts);
    if asserts && rng.random_bool(0.4) {
        let simple = pattern(rng, depth - 1, false);
        return match rng.random_range(0..9) {
            0 => "^".to_owned(),
            1 => "$".to_owned(),
            2 => r"\b".to_owned(),
            3 => r"\B".to_owned(),
            4 => format!("(?={inner})"),
            5 => format!("(?!{inner})"),
            6 => format!("(?<={simple})"),
            7 => format!("(?<!{simple})"),
            _ => format!("(?:^{inner}|{other}$)"),
        };
    }
    match rng.random_range(0..3) {
        0 => quantified(rng, &format!("(?:{inner})")),
        1 => quantified(rng, &format!("(?:{inner}|{other})")),
        _ => quantified(rng, &format!("({inner}|)")),
    }
}

fn quantified(rng: &mut impl Rng, atom: &str) -> String {
    let quantifier = ["", "", "", "*", "+", "?", "{2}", "{1,2}", "{0,3}", "{2,}", "*?"]
        .choose(rng)
        .unwrap();
    if atom == "ab" {
        format!("{atom}{}", if quantifier.is_empty() { "" } else { "?" })
    } else {
        format!("{atom}{quantifier}")
    }
}
