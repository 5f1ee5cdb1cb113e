//! [`mutants`]: documents that differ from another in one place, and [`reductions`]: smaller ones.

use std::collections::BTreeMap;

use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value, json};

/// Path to a value in a document: names of members and indices of items, from the root on.
type Path = Vec<Step>;

#[derive(Clone)]
enum Step {
    Member(String),
    Item(usize),
}

/// Largest number of places of a document among which a change is made.
const MAX_PLACES: usize = 2_000;
/// Number of places tried for each mutant asked for.
const TRIES: usize = 4;
/// Characters that a change appends to a string, so many that common bounds on lengths are passed.
const APPENDED_CHARACTERS: usize = 300;
/// Largest number of bytes of documents that are copied to make changed ones; this bounds time and memory where many are asked for.
const COPIED_BYTES: usize = 128 << 20;

/// Up to `count` different documents, each with one change somewhere; fewer where the document is large, since every try copies it. The same seed
/// gives the same documents.
pub fn mutants(document: &Value, count: usize, seed: u64) -> Vec<Value> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut places = Vec::new();
    collect(document, &mut Vec::new(), &mut places);
    let mut found: Vec<Value> = Vec::new();
    let affordable = COPIED_BYTES / document.to_string().len().max(1);
    for _ in 0..count.saturating_mul(TRIES).min(affordable) {
        if found.len() >= count {
            break;
        }
        let Some(place) = places.choose(&mut random) else { break };
        let mut changed = document.clone();
        let Some(target) = at(&mut changed, place) else {
            continue;
        };
        change(target, &mut random);
        if changed != *document && !found.contains(&changed) {
            found.push(changed);
        }
    }
    found
}

fn collect(value: &Value, path: &mut Path, places: &mut Vec<Path>) {
    if places.len() >= MAX_PLACES {
        return;
    }
    places.push(path.clone());
    match value {
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                path.push(Step::Item(number));
                collect(item, path, places);
                path.pop();
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                path.push(Step::Member(name.clone()));
                collect(member, path, places);
                path.pop();
            }
        }
        _ => {}
    }
}

fn at<'v>(value: &'v mut Value, path: &[Step]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, step| match step {
        Step::Member(name) => value.get_mut(name),
        Step::Item(number) => value.get_mut(number),
    })
}

fn change(value: &mut Value, random: &mut ChaCha8Rng) {
    // Once in a while something of another type takes its place.
    if random.random_ratio(1, 5) {
        let others = [
            json!(null),
            json!(true),
            json!(0),
            json!(1.5),
            json!(""),
            json!("x"),
            json!([]),
            json!({}),
        ];
        if let Some(other) = others.choose(random) {
            *value = other.clone();
        }
        return;
    }
    match value {
        Value::Null => *value = json!(false),
        Value::Bool(flag) => *flag = !*flag,
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or(0.0);
            let next = [number + 1.0, number - 1.0, -number, number * 10.0, number + 0.5, 0.0];
            let next = next.choose(random).copied().unwrap_or_default();
            // Whole numbers stay written as such.
            *value = match next.fract() == 0.0 && next.abs() < 1e15 {
                true => json!(next as i64),
                false => json!(next),
            };
        }
        Value::String(text) => change_text(text, random),
        Value::Array(items) => change_items(items, random),
        Value::Object(members) => change_members(members, random),
    }
}

fn change_text(text: &mut String, random: &mut ChaCha8Rng) {
    match random.random_range(0..7_u32) {
        0 => text.push('a'),
        1 => drop(text.pop()),
        2 => text.clear(),
        3 => *text = text.to_uppercase(),
        4 => text.insert(0, ' '),
        5 => text.extend(std::iter::repeat_n('x', APPENDED_CHARACTERS)),
        _ => text.push('\u{e9}'),
    }
}

fn change_items(items: &mut Vec<Value>, random: &mut ChaCha8Rng) {
    let place = random.random_range(0..items.len().max(1) as u32) as usize;
    match random.random_range(0..5_u32) {
        0 if !items.is_empty() => drop(items.remove(place)),
        1 if !items.is_empty() => items.insert(place, items[place].clone()),
        2 => items.clear(),
        3 => items.push(json!(null)),
        _ => items.reverse(),
    }
}

fn change_members(members: &mut Map<String, Value>, random: &mut ChaCha8Rng) {
    let names: Vec<String> = members.keys().cloned().collect();
    let name = names.choose(random).cloned();
    match (random.random_range(0..4_u32), name) {
        (0, Some(name)) => {
            members.shift_remove(&name);
        }
        (1, Some(name)) => {
            if let Some(member) = members.shift_remove(&name) {
                members.insert(format!("{name}_"), member);
            }
        }
        (2, _) => members.clear(),
        _ => {
            members.insert("zz".to_owned(), json!("zz"));
        }
    }
}

/// The `limit` shortest documents that are `document` with something left out or made smaller (members, items, the ends of strings), the
/// shortest first. No more than `limit` are in memory at a time.
pub fn reductions(document: &Value, limit: usize) -> Vec<Value> {
    let mut places = Vec::new();
    collect(document, &mut Vec::new(), &mut places);
    let mut smallest: BTreeMap<(usize, String), Value> = BTreeMap::new();
    let mut keep = |changed: Value| {
        let text = changed.to_string();
        smallest.insert((text.len(), text), changed);
        if smallest.len() > limit {
            smallest.pop_last();
        }
    };
    let mut original = document.clone();
    for place in &places {
        for reduce in REDUCTIONS {
            let mut changed = document.clone();
            let Some(target) = at(&mut changed, place) else {
                continue;
            };
            reduce(target);
            if changed != *document {
                keep(changed);
            }
        }
        // Every member or item by itself.
        let children = at(&mut original, place).map_or(0, |value| match value {
            Value::Object(members) => members.len(),
            Value::Array(items) => items.len(),
            _ => 0,
        });
        for child in 0..children.min(limit) {
            let mut changed = document.clone();
            match at(&mut changed, place) {
                Some(Value::Object(members)) => {
                    if let Some(name) = members.keys().nth(child).cloned() {
                        members.shift_remove(&name);
                    }
                }
                Some(Value::Array(items)) => drop(items.remove(child)),
                _ => {}
            }
            keep(changed);
        }
    }
    smallest.into_values().collect()
}

/// Reductions of a value: to the empty value of its type (zero for a number), to half of a string, to half of an array.
const REDUCTIONS: [fn(&mut Value); 3] = [
    |value| match value {
        Value::Object(members) => members.clear(),
        Value::Array(items) => items.clear(),
        Value::String(text) => text.clear(),
        Value::Number(_) => *value = json!(0),
        _ => {}
    },
    |value| {
        if let Value::String(text) = value {
            let half = text.chars().count() / 2;
            *text = text.chars().take(half).collect();
        }
    },
    |value| {
        if let Value::Array(items) = value {
            items.truncate(items.len() / 2);
        }
    },
];
