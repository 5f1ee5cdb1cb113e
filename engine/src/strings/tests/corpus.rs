//! Every pattern of JSONSchemaBench: parsed or refused for a reason, and agreeing with another engine.
//!
//! `MASKWRIGHT_DATA` names the folder with `jsonschemabench/data` in it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Instant;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use crate::strings::{LanguageId, LanguageLimits, Languages};

/// Every `pattern` and every name in `patternProperties`, once.
fn patterns() -> BTreeSet<String> {
    let data = std::env::var_os("MASKWRIGHT_DATA").expect("MASKWRIGHT_DATA names the folder with the datasets");
    let root = PathBuf::from(data).join("jsonschemabench");
    let folders = std::fs::read_dir(root.join("data"))
        .unwrap()
        .map(|folder| folder.unwrap().path());
    let mut found = BTreeSet::new();
    for folder in folders.chain([root.join("maskbench/data")]) {
        for file in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            let Ok(mut schema) = serde_json::from_str::<Value>(&text) else {
                continue;
            };
            if let (Some(_), Some(inner)) = (schema.get("tests"), schema.get("schema")) {
                schema = inner.clone();
            }
            let mut stack = vec![schema];
            while let Some(value) = stack.pop() {
                match value {
                    Value::Array(items) => stack.extend(items),
                    Value::Object(members) => {
                        if let Some(Value::String(pattern)) = members.get("pattern") {
                            found.insert(pattern.clone());
                        }
                        if let Some(Value::Object(patterns)) = members.get("patternProperties") {
                            found.extend(patterns.keys().cloned());
                        }
                        stack.extend(members.into_iter().map(|member| member.1));
                    }
                    _ => {}
                }
            }
        }
    }
    found
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
    println!("{} patterns, refused: {refused:#?}", slowest.len());
    assert!(slowest.len() > 1_000 && refused.is_empty());
}
