//! Made-up names of an entity and its fields, for training.

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::taxonomy::{Entity, Field, FieldKind};
use crate::synthetic::names::{Style, property};

/// Gives `entity`, its fields, those within them, and the choices of their enumerations names of one to three words, no two alike. Half of
/// the words are from the lists of [`crate::synthetic`], half are invented: a tokenizer trained on such requests has a token for each word of the
/// lists, and writes others, those of real requests among them, as several. The same `seed` gives the same names.
pub(super) fn rename(entity: &mut Entity, seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut taken = Vec::new();
    let mut name = || {
        loop {
            let listed = property(&mut rng, Style::Snake, &[]).text;
            let words = listed.split('_').map(|word| match rng.random_bool(0.5) {
                true => word.to_owned(),
                false => invented(&mut rng),
            });
            let made_up = words.collect::<Vec<_>>().join("_");
            if !taken.contains(&made_up) {
                taken.push(made_up.clone());
                return made_up;
            }
        }
    };
    entity.name = name();
    entity.one = entity.name.replace('_', " ");
    entity.many = format!("{}s", entity.one);
    let mut left: Vec<&mut Field> = entity.fields.iter_mut().collect();
    while let Some(field) = left.pop() {
        field.name = name();
        match &mut field.kind {
            FieldKind::Enum(choices) => choices.iter_mut().for_each(|choice| *choice = name()),
            FieldKind::Object(fields) | FieldKind::Objects { fields, .. } => left.extend(fields),
            FieldKind::Text(_)
            | FieldKind::Boolean
            | FieldKind::Integer(_)
            | FieldKind::Number(_)
            | FieldKind::List { .. } => {}
        }
    }
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
