//! Languages in different schemas: their fingerprints, and what schemas share of them.

use std::collections::HashMap;

use crate::strings::{Horizon, LanguageId, LanguageLimits, Languages};

const PATTERNS: [&str; 10] = [
    "^a+$",
    "^a*$",
    "^[ab]+$",
    "^[^ab]+$",
    "^(ab|ba){2,3}$",
    "^(ab|ba){2,4}$",
    "^(?=.*a)b?[^]*$",
    r"\bab\b",
    "a.b",
    "^(x|yy|zzz)$",
];
const FORMATS: [&str; 6] = ["date-time", "date", "ipv4", "uri", "uuid", "hostname"];

/// All of them and what follows some characters of each, made in one order or the other.
fn made(backwards: bool) -> (Languages, Vec<LanguageId>) {
    made_in(Languages::new(&LanguageLimits::default()), backwards)
}

fn made_in(mut languages: Languages, backwards: bool) -> (Languages, Vec<LanguageId>) {
    let mut order: Vec<usize> = (0..PATTERNS.len() + FORMATS.len()).collect();
    if backwards {
        order.reverse();
    }
    let mut found = vec![languages.none(); order.len()];
    for place in order {
        found[place] = match PATTERNS.get(place) {
            Some(pattern) => languages.pattern(pattern).unwrap(),
            None => languages.format(FORMATS[place - PATTERNS.len()]).unwrap().unwrap(),
        };
    }
    let length = languages.length(2, Some(30)).unwrap();
    for place in 0..found.len() {
        let bounded = [found[place], length];
        found.push(languages.and(&bounded).unwrap());
    }
    for place in 0..found.len() {
        let mut language = found[place];
        for c in "2ba".chars() {
            language = languages.derivative(language, c).unwrap();
            found.push(language);
        }
    }
    (languages, found)
}

#[test]
fn schemas_agree_on_them_and_nothing_else_has_the_same() {
    let (mut one, ones) = made(false);
    let (mut other, others) = made(true);
    let mut seen: HashMap<u128, LanguageId> = HashMap::new();
    for (id, other_id) in ones.into_iter().zip(others) {
        let fingerprint = one.fingerprint(id);
        assert_eq!(fingerprint, other.fingerprint(other_id));
        if let Some(fingerprint) = fingerprint {
            assert_eq!(*seen.entry(fingerprint).or_insert(id), id);
        }
    }
    assert!(seen.len() > 40, "{}", seen.len());
}

/// Over shared languages the same is found out as without, whether it is shared already or not, and none of it is lost
/// on others.
#[test]
fn languages_over_shared_ones_are_the_same() {
    let (mut alone, expected) = made(false);
    let mut some = Languages::new(&LanguageLimits::default());
    for format in FORMATS.into_iter().step_by(2) {
        let mut language = some.format(format).unwrap().unwrap();
        for c in "2b".chars() {
            some.transitions(language).unwrap();
            some.fingerprint(language);
            language = some.derivative(language, c).unwrap();
        }
    }
    let all = made(true).0;
    for shared in [some.share(), all.share()] {
        for backwards in [false, true] {
            let (mut over, found) = made_in(shared.over(&crate::Limits::default(), 0), backwards);
            for (&id, &expected) in found.iter().zip(&expected) {
                assert_eq!(over.fingerprint(id), alone.fingerprint(expected));
                assert_eq!(over.is_empty(id), alone.is_empty(expected));
                assert_eq!(over.lengths(id), alone.lengths(expected));
                assert_eq!(over.is_prefix_universal(id), alone.is_prefix_universal(expected));
                assert_eq!(over.cardinality(id, 9), alone.cardinality(expected, 9));
                let horizon = Horizon {
                    characters: 16,
                    blanks: 2,
                    octets: 32,
                };
                let near = (
                    over.over_approximation(id, horizon).unwrap(),
                    alone.over_approximation(expected, horizon).unwrap(),
                );
                assert_eq!(over.fingerprint(near.0), alone.fingerprint(near.1));
                let (rows, expected_rows) = (over.transitions(id).unwrap(), alone.transitions(expected).unwrap());
                assert_eq!(rows.len(), expected_rows.len());
                for ((range, target), (expected_range, expected_target)) in rows.iter().zip(&*expected_rows) {
                    assert_eq!(range, expected_range);
                    assert_eq!(over.fingerprint(*target), alone.fingerprint(*expected_target));
                }
            }
        }
    }
}
