//! Languages against enumeration.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::matcher::Matcher;
use super::random::{ALPHABET, pattern, texts};
use crate::strings::{Cardinality, LanguageId, LanguageLimits, Languages, pattern as patterns};

fn rounds(default: usize) -> usize {
    std::env::var("MASKWRIGHT_ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(default)
}

fn found(source: &str, text: &str) -> bool {
    let (ast, whole) = patterns::parse(source, &LanguageLimits::default()).unwrap();
    let text: Vec<char> = text.chars().collect();
    Matcher { ast: &ast, text: &text }.finds(whole)
}

#[test]
fn patterns_match_as_defined() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let all = texts(&ALPHABET, 4);
    for round in 0..rounds(120) {
        let depth = 1 + round / 2 % 2;
        let source = pattern(&mut rng, depth, round % 2 == 0);
        let mut languages = Languages::new(&LanguageLimits::default());
        let language = match languages.pattern(&source) {
            Ok(language) => language,
            Err(error) => {
                assert!(
                    matches!(error, crate::strings::PatternError::TooLarge { .. }),
                    "{source}: {error}"
                );
                continue;
            }
        };
        // Rounds that may be empty, and deep nests, make the other engine, which backtracks, run out of memory.
        let comparable = depth == 1 && ![")*", ")+", "){"].iter().any(|quantified| source.contains(quantified));
        let other = regress::Regex::with_flags(&source, "u").unwrap();
        for text in &all {
            let expected = found(&source, text);
            assert_eq!(
                languages.contains(language, text).unwrap(),
                expected,
                "{source} on {text:?}"
            );
            if comparable {
                let theirs = other.find(text).is_some();
                assert_eq!(theirs, expected, "{source} on {text:?} by another engine");
            }
        }
    }
}

/// A random Boolean combination and what it contains of `all`.
fn combination(
    rng: &mut ChaCha8Rng,
    languages: &mut Languages,
    all: &[String],
    depth: usize,
) -> (LanguageId, Vec<bool>) {
    if depth == 0 || rng.random_bool(0.2) {
        return match rng.random_range(0..6) {
            0 => {
                let min = rng.random_range(0..4);
                let max = rng.random_bool(0.7).then(|| min + rng.random_range(0..3));
                let holds = |text: &String| {
                    let length = text.chars().count() as u64;
                    length >= min && max.is_none_or(|max| length <= max)
                };
                (languages.length(min, max).unwrap(), all.iter().map(holds).collect())
            }
            1 => {
                let words: Vec<&str> = (0..rng.random_range(0..6))
                    .map(|_| all[rng.random_range(0..all.len())].as_str())
                    .collect();
                (
                    languages.one_of(&words).unwrap(),
                    all.iter().map(|text| words.contains(&text.as_str())).collect(),
                )
            }
            _ => {
                let asserts = rng.random_bool(0.2);
                let source = pattern(rng, 1, asserts);
                let source = if rng.random_bool(0.6) {
                    format!("^(?:{source})$")
                } else {
                    source
                };
                let Ok(language) = languages.pattern(&source) else {
                    return combination(rng, languages, all, 0);
                };
                (language, all.iter().map(|text| found(&source, text)).collect())
            }
        };
    }
    let (left, in_left) = combination(rng, languages, all, depth - 1);
    if rng.random_bool(0.25) {
        return (
            languages.not(left).unwrap(),
            in_left.iter().map(|holds| !holds).collect(),
        );
    }
    let (right, in_right) = combination(rng, languages, all, depth - 1);
    let both = in_left.iter().zip(&in_right);
    if rng.random_bool(0.6) {
        (
            languages.and(&[left, right]).unwrap(),
            both.map(|(a, b)| *a && *b).collect(),
        )
    } else {
        (
            languages.or(&[left, right]).unwrap(),
            both.map(|(a, b)| *a || *b).collect(),
        )
    }
}

#[test]
fn combinations_contain_what_they_should() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let all = texts(&ALPHABET, 3);
    for _ in 0..rounds(600) {
        let mut languages = Languages::new(&LanguageLimits::default());
        let (language, expected) = combination(&mut rng, &mut languages, &all, 3);
        for (text, expected) in all.iter().zip(&expected) {
            assert_eq!(languages.contains(language, text).unwrap(), *expected, "{text:?}");
        }
    }
}

/// Every text can be continued to a member of a language that is found to be prefix-universal.
#[test]
fn every_text_goes_on_in_prefix_universal_languages() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let (all, few) = (texts(&ALPHABET, 3), texts(&ALPHABET, 2));
    let (mut prefix_universal, mut others) = (0, 0);
    for _ in 0..rounds(600) {
        let mut languages = Languages::new(&LanguageLimits::default());
        let (mut language, _) = combination(&mut rng, &mut languages, &few, 2);
        if rng.random_bool(0.5) {
            language = languages.not(language).unwrap();
        }
        if let Some(class) = languages.open_class(language).unwrap() {
            let is_of = |c: char| class.iter().any(|range| range.contains(c));
            for text in all.iter().filter(|text| text.chars().all(is_of)) {
                let mut state = language;
                for c in text.chars() {
                    state = languages.derivative(state, c).unwrap();
                }
                assert!(!languages.is_empty(state).unwrap(), "{text:?}");
            }
        }
        if languages.is_prefix_universal(language).unwrap() {
            prefix_universal += 1;
            for text in &all {
                let mut state = language;
                for c in text.chars() {
                    state = languages.derivative(state, c).unwrap();
                }
                assert!(!languages.is_empty(state).unwrap(), "{text:?}");
            }
        } else {
            others += 1;
        }
    }
    assert!(prefix_universal > 100 && others > 100, "{prefix_universal} {others}");
}

/// An intersection of patterns has a text, wherever it is not said to be empty, and every pattern has that text.
#[test]
fn texts_are_found_that_have_all_that_is_asked_for() {
    let asked = [
        "^(?=.*a)",
        "^(?=.*b)",
        "^(?=[^a]*c)",
        "^(?=.*ab)",
        "a",
        "cb",
        "^(?=.*[bc].a)",
        "^[abc]*$",
        "^(?=(.*b){2})",
        "^..",
        "c$",
        "^(?!.*ccc)",
        "^(?=.*1)",
        "^\\w+$",
        "^(?![^]*aaaa)",
    ];
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let (mut found, mut open) = (0, 0);
    for _ in 0..rounds(200) {
        let mut languages = Languages::new(&LanguageLimits::default());
        let mut all = Vec::new();
        for _ in 0..rng.random_range(3..9) {
            all.push(languages.pattern(asked[rng.random_range(0..asked.len())]).unwrap());
        }
        let whole = languages.and(&all).unwrap();
        open += usize::from(languages.open_class(whole).unwrap().is_some());
        for text in texts(&['a', 'b', 'c', '\n'], 3) {
            let mut state = whole;
            for c in text.chars() {
                state = languages.derivative(state, c).unwrap();
            }
            let rest = languages.members(state, 1).unwrap();
            assert_eq!(rest.is_empty(), languages.is_empty(state).unwrap(), "{text:?}");
            for rest in rest {
                let text = text.clone() + &rest;
                for &one in &all {
                    assert!(languages.contains(one, &text).unwrap(), "{text:?}");
                }
                found += 1;
            }
        }
    }
    assert!(found > 100 && open > 20, "{found} {open}");
}

/// Emptiness, lengths, number, members and live prefixes of a combination cut to what enumeration covers.
#[test]
fn what_is_left_is_what_enumeration_finds() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let longest = 3;
    let all = texts(&ALPHABET, longest);
    for _ in 0..rounds(600) {
        let mut languages = Languages::new(&LanguageLimits::default());
        let (language, contained) = combination(&mut rng, &mut languages, &all, 2);
        let covered = languages.pattern(&format!("^[abcé-]{{0,{longest}}}$")).unwrap();
        let language = languages.and(&[language, covered]).unwrap();
        let members: Vec<&String> = all
            .iter()
            .zip(&contained)
            .filter(|pair| *pair.1)
            .map(|pair| pair.0)
            .collect();
        assert_eq!(languages.is_empty(language).unwrap(), members.is_empty());
        let count = members.len() as u64;
        assert_eq!(
            languages.cardinality(language, 10_000).unwrap(),
            Cardinality::Finite(count)
        );
        if let Some(lengths) = languages.lengths(language).unwrap() {
            for length in 0..=longest + 2 {
                let expected = members.iter().any(|text| text.chars().count() == length);
                assert_eq!(lengths.meets(length as u64, length as u64), expected, "length {length}");
            }
        }
        let mut listed = languages.members(language, 10_000).unwrap();
        assert!(listed.is_sorted_by_key(|text| text.chars().count()));
        listed.sort_unstable();
        let mut expected: Vec<String> = members.iter().map(|&text| text.clone()).collect();
        expected.sort_unstable();
        assert_eq!(listed, expected);
        for prefix in &all {
            let mut state = language;
            for c in prefix.chars() {
                state = languages.derivative(state, c).unwrap();
            }
            let live = members.iter().any(|text| text.starts_with(prefix.as_str()));
            assert_eq!(
                prefix.is_empty() || state != languages.none(),
                live || prefix.is_empty(),
                "{prefix:?}"
            );
        }
    }
}

/// Lengths of an intersection with a bound agree with a walk that counts.
#[test]
fn bounds_are_judged_by_exact_lengths() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for _ in 0..rounds(400) {
        let mut languages = Languages::new(&LanguageLimits::default());
        let parts: Vec<LanguageId> = (0..rng.random_range(1..3))
            .map(|_| {
                let source = format!("^(?:{})$", pattern(&mut rng, 2, false));
                let language = languages.pattern(&source).unwrap();
                if rng.random_bool(0.3) {
                    languages.not(language).unwrap()
                } else {
                    language
                }
            })
            .collect();
        let rest = languages.and(&parts).unwrap();
        let Some(lengths) = languages.lengths(rest).unwrap() else {
            continue;
        };
        // States after k characters, one set for each k: the definition.
        let mut states = vec![rest];
        for length in 0..24 {
            let expected = states.iter().any(|&state| languages.accepts_empty(state));
            assert_eq!(lengths.meets(length, length), expected, "length {length}");
            let bound = languages.length(length, Some(length)).unwrap();
            let bounded = languages.and(&[rest, bound]).unwrap();
            assert_eq!(languages.is_empty(bounded).unwrap(), !expected);
            let mut next = Vec::new();
            for &state in &states {
                next.extend(languages.transitions(state).unwrap().iter().map(|row| row.1));
            }
            next.sort_unstable();
            next.dedup();
            states = next;
        }
    }
}
