//! Made-up names of an entity and its fields, for training.

use std::collections::BTreeSet;

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::taxonomy::{Bounds, Entity, Field, FieldKind, Item};
use crate::synthetic::names::{Style, property};

/// Gives `entity`, its fields, those within them, and the choices of their enumerations names of one to three words, no two alike, and half of
/// the lower bounds of numbers another value. The same `pieces` and `seed` give the same names.
///
/// Without pieces, half of the words are from the lists of [`crate::synthetic`] and half are invented. With pieces, an eighth
/// are from the lists, an eighth are invented, and the others are one or two pieces. Names of real requests have other words: where the
/// pieces are the tokens of a model's tokenizer, the model learns to copy each of them, and does not learn to copy one that no name of
/// training has.
pub(super) fn rename(entity: &mut Entity, pieces: &[String], seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut taken = Vec::new();
    let mut name = |rng: &mut ChaCha8Rng| {
        loop {
            let listed = property(rng, Style::Snake, &[]).text;
            let words = listed
                .split('_')
                .map(|word| match (pieces.is_empty(), rng.random_range(0..8)) {
                    (true, 0..4) | (false, 0) => word.to_owned(),
                    (true, _) | (false, 1) => invented(rng),
                    (false, _) => composed(pieces, rng),
                });
            let made_up = words.collect::<Vec<_>>().join("_");
            if !taken.contains(&made_up) {
                taken.push(made_up.clone());
                return made_up;
            }
        }
    };
    entity.name = name(&mut rng);
    entity.one = entity.name.replace('_', " ");
    entity.many = format!("{}s", entity.one);
    let mut left: Vec<&mut Field> = entity.fields.iter_mut().collect();
    while let Some(field) = left.pop() {
        field.name = name(&mut rng);
        match &mut field.kind {
            FieldKind::Enum(choices) => choices.iter_mut().for_each(|choice| *choice = name(&mut rng)),
            FieldKind::Object(fields) | FieldKind::Objects { fields, .. } => left.extend(fields),
            FieldKind::Integer(bounds)
            | FieldKind::List {
                item: Item::Integer(bounds),
                ..
            } => vary_minimum(bounds, 0, &mut rng),
            FieldKind::Number(bounds)
            | FieldKind::List {
                item: Item::Number(bounds),
                ..
            } => vary_minimum(bounds, 3, &mut rng),
            FieldKind::Text(_)
            | FieldKind::Boolean
            | FieldKind::List {
                item: Item::Text(_), ..
            } => {}
        }
    }
}

/// Returns the lower-case letters of each of a tokenizer's `tokens` that has nothing else, but blanks or underscores before them: sorted,
/// each once.
#[must_use]
pub fn name_pieces<'a>(tokens: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
    let words = tokens.into_iter().filter_map(|token| {
        let word = std::str::from_utf8(token).ok()?.trim_start_matches([' ', '_']);
        (!word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase())).then_some(word)
    });
    let pieces: BTreeSet<&str> = words.collect();
    pieces.into_iter().map(str::to_owned).collect()
}

/// Moves the lower bound of `bounds`, if it has one, in half of all cases: up or down, mostly a little, to a number of at most `decimals`
/// decimal places that is less than the upper bound.
fn vary_minimum(bounds: &mut Bounds, decimals: i32, rng: &mut ChaCha8Rng) {
    let Some(min) = bounds.min.filter(|_| rng.random_bool(0.5)) else {
        return;
    };
    let below = min.abs() + 10.0;
    let room = match rng.random_bool(0.5) {
        true => bounds.max.map_or(below, |max| max - min),
        false => -below,
    };
    let scale = 10f64.powi(rng.random_range(0..=decimals));
    // The sum with zero makes zero of what is rounded to minus zero.
    let moved = ((min + room * rng.random::<f64>().powi(3)) * scale).round() / scale + 0.0;
    if bounds.max.is_none_or(|max| moved < max) {
        bounds.min = Some(moved);
    }
}

/// One of the `pieces`, or two in a row.
fn composed(pieces: &[String], rng: &mut ChaCha8Rng) -> String {
    let count = rng.random_range(1..=2);
    pieces.choose_multiple(rng, count).map(String::as_str).collect()
}

/// A word of one to three syllables that reads like an English one. The invented words of [`crate::synthetic`] have open syllables alone,
/// and with other ones its held-out schemas would be others.
fn invented(rng: &mut ChaCha8Rng) -> String {
    const ONSETS: &[&str] = &[
        "", "b", "c", "ch", "d", "f", "g", "h", "l", "m", "n", "p", "pl", "pr", "r", "s", "sh", "st", "t", "tr", "v",
        "w",
    ];
    const VOWELS: &[&str] = &[
        "a", "e", "i", "o", "u", "a", "e", "i", "o", "ai", "ea", "ee", "io", "oo", "ou",
    ];
    const CODAS: &[&str] = &[
        "", "", "", "ck", "ct", "d", "ght", "l", "ll", "m", "n", "nd", "ng", "nt", "p", "r", "s", "ss", "st", "t",
        "te", "ve", "y",
    ];
    let mut word = String::new();
    for _ in 0..rng.random_range(1..=3) {
        for parts in [ONSETS, VOWELS, CODAS] {
            word.push_str(parts.choose(rng).copied().unwrap_or_default());
        }
    }
    word
}
