//! Made-up names of fields, for training.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::taxonomy::{Field, FieldKind};
use crate::synthetic::names::{Style, property};

/// Gives `fields`, those within them, and the choices of their enumerations names of one to three words, no two alike. The same `seed` gives
/// the same names.
pub(super) fn rename(fields: &mut [Field], seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut taken = Vec::new();
    let mut name = || {
        let made_up = property(&mut rng, Style::Snake, &taken).text;
        taken.push(made_up.clone());
        made_up
    };
    let mut left: Vec<&mut Field> = fields.iter_mut().collect();
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
