//! Fingerprints of languages in different schemas.

use std::collections::HashMap;

use crate::strings::{LanguageId, LanguageLimits, Languages};

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
    let mut languages = Languages::new(&LanguageLimits::default());
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
