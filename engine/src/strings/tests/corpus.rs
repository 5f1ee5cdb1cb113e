//! Every pattern of JSONSchemaBench: parsed or refused for a reason, and agreeing with another engine.
//!
//! `MASKWRIGHT_PATTERNS` names a file with a JSON array of patterns.

use std::collections::BTreeMap;
use std::time::Instant;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::strings::{LanguageId, LanguageLimits, Languages};

fn patterns() -> Vec<String> {
    let path =
        std::env::var_os("MASKWRIGHT_PATTERNS").expect("MASKWRIGHT_PATTERNS names a file with an array of patterns");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A text along random transitions, ended where it may end.
fn walk(languages: &mut Languages, start: LanguageId, rng: &mut ChaCha8Rng) -> (String, bool) {
    let mut text = String::new();
    let mut state = start;
    for _ in 0..rng.random_range(1..60) {
        if languages.accepts_empty(state) && rng.random_bool(0.3) {
            break;
        }
        let rows = languages.transitions(state).unwrap();
        if rows.is_empty() {
            break;
        }
        let (range, target) = rows[rng.random_range(0..rows.len())];
        text.push(if rng.random_bool(0.5) {
            range.first()
        } else {
            range.last()
        });
        state = target;
    }
    let accepted = languages.accepts_empty(state);
    (text, accepted)
}

fn mutated(text: &str, rng: &mut ChaCha8Rng) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    let place = rng.random_range(0..=chars.len());
    let pool: Vec<char> = "a0-_./ \n{}A".chars().collect();
    match rng.random_range(0..3) {
        0 if place < chars.len() => drop(chars.remove(place)),
        1 if place < chars.len() => chars[place] = pool[rng.random_range(0..pool.len())],
        _ => chars.insert(place, pool[rng.random_range(0..pool.len())]),
    }
    chars.into_iter().collect()
}

#[test]
#[ignore = "needs the corpus"]
fn corpus_patterns_agree_with_another_engine() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut refused: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (mut compared, mut uncompared) = (0, 0);
    let mut slowest = Vec::new();
    for source in patterns() {
        let mut languages = Languages::new(&LanguageLimits::default());
        let mut start = Instant::now();
        let language = match languages.pattern(&source) {
            Ok(language) => language,
            Err(error) => {
                refused
                    .entry(error.to_string())
                    .or_default()
                    .push(source.chars().take(150).collect());
                continue;
            }
        };
        let mut ours_alone = start.elapsed();
        let other = regress::Regex::with_flags(&source, "u").or_else(|_| regress::Regex::new(&source));
        for _ in 0..40 {
            start = Instant::now();
            let (text, accepted) = walk(&mut languages, language, &mut rng);
            ours_alone += start.elapsed();
            let changed = mutated(&text, &mut rng);
            for (text, accepted) in [(text, Some(accepted)), (changed, None)] {
                let ours = languages.contains(language, &text).unwrap();
                assert!(accepted.is_none_or(|accepted| accepted == ours));
                let Ok(other) = &other else {
                    uncompared += 1;
                    continue;
                };
                compared += 1;
                // Backtracking takes exponential time on this one.
                if source.contains(r"gov\.uk") && text.len() > 40 {
                    continue;
                }
                assert_eq!(ours, other.find(&text).is_some(), "{source:?} on {text:?}");
            }
        }
        slowest.push((ours_alone, languages.cells(), source));
    }
    slowest.sort();
    for (time, cells, source) in slowest.iter().rev().take(10) {
        println!(
            "{time:?} {cells} cells: {}",
            source.chars().take(100).collect::<String>()
        );
    }
    println!(
        "{compared} texts compared, {uncompared} not; median {:?}",
        slowest[slowest.len() / 2].0
    );
    println!("refused: {refused:#?}");
}
