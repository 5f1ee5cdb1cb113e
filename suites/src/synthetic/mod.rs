//! Random schemas with a valid instance each: training data of the default model and the dataset `heldout`.
//!
//! A [`SchemaGenerator`] is an endless iterator of [`Example`]s. It draws a shape, then writes the shape down twice:
//! as a JSON Schema and as an instance. The instance lists every property in declared order, and most values follow
//! simple rules, so that a small model can learn them.
//!
//! A seed always gives the same examples. A hash of the schema text puts every schema in exactly one [`SchemaSplit`], so a
//! schema of [`SchemaSplit::HeldOut`] is never in [`SchemaSplit::Train`], whatever the seeds.
//!
//! ```
//! use maskwright_suites::synthetic::{SchemaGenerator, SchemaSplit};
//!
//! let example = SchemaGenerator::new(7, SchemaSplit::HeldOut).next().expect("the generator is endless");
//! println!("{} -> {}", example.schema, example.instance);
//! ```

pub(crate) mod names;
mod schema;
mod shape;
mod values;
// One line per word would hide the domains.
#[rustfmt::skip]
mod words;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use crate::json_text;

/// Part of all schemas that a [`SchemaGenerator`] may yield.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaSplit {
    /// The part for training: about fifteen in sixteen schemas.
    Train,
    /// Never trained on: the rest.
    HeldOut,
}

impl SchemaSplit {
    /// The split that the schema with this text belongs to, by a 64-bit FNV-1a hash of the text.
    #[must_use]
    pub fn of(schema_text: &str) -> Self {
        let hash = schema_text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        // The high bits of FNV-1a are the well-mixed ones.
        if hash >> 60 == 0 { Self::HeldOut } else { Self::Train }
    }
}

/// A schema, and one of its valid instances.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// The schema, keywords in the order of generation.
    pub schema: Value,
    /// A valid instance, properties in declared order.
    pub instance: Value,
}

/// An endless, deterministic stream of [`Example`]s.
#[derive(Clone, Debug)]
pub struct SchemaGenerator {
    rng: ChaCha8Rng,
    split: SchemaSplit,
}

impl SchemaGenerator {
    /// A generator of the examples of `split`, determined by `seed`.
    #[must_use]
    pub fn new(seed: u64, split: SchemaSplit) -> Self {
        Self {
            rng: ChaCha8Rng::seed_from_u64(seed),
            split,
        }
    }

    fn draw(&mut self) -> Example {
        let document = shape::SchemaShape::random(&mut self.rng);
        Example {
            schema: schema::write(&document, &mut self.rng),
            instance: values::instance(&document, &mut self.rng),
        }
    }
}

impl Iterator for SchemaGenerator {
    type Item = Example;

    fn next(&mut self) -> Option<Example> {
        loop {
            let example = self.draw();
            let text = json_text::to_string(&example.schema).ok()?;
            if SchemaSplit::of(&text) == self.split {
                return Some(example);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{SchemaGenerator, SchemaSplit};
    use crate::json_text;

    #[test]
    fn every_instance_is_valid() {
        for seed in 0..3000 {
            let split = if seed % 2 == 0 {
                SchemaSplit::Train
            } else {
                SchemaSplit::HeldOut
            };
            for example in SchemaGenerator::new(seed, split).take(2) {
                let validator = jsonschema::options()
                    .should_validate_formats(true)
                    .build(&example.schema)
                    .unwrap_or_else(|error| panic!("{error} in {}", example.schema));
                let errors: Vec<String> = validator
                    .iter_errors(&example.instance)
                    .map(|e| e.to_string())
                    .collect();
                assert!(
                    errors.is_empty(),
                    "{} / {} / {errors:?}",
                    example.schema,
                    example.instance
                );
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes() {
        let texts = |seed| -> Vec<String> {
            let examples = SchemaGenerator::new(seed, SchemaSplit::Train).take(50);
            examples.map(|e| format!("{} {}", e.schema, e.instance)).collect()
        };
        assert_eq!(texts(1), texts(1));
        assert_ne!(texts(1), texts(2));
    }

    #[test]
    fn splits_are_disjoint() {
        let schemas = |split| -> HashSet<String> {
            let examples = SchemaGenerator::new(3, split).take(1000);
            examples.map(|e| json_text::to_string(&e.schema).unwrap()).collect()
        };
        let (train, held_out) = (schemas(SchemaSplit::Train), schemas(SchemaSplit::HeldOut));
        assert!(train.is_disjoint(&held_out));
        assert!(
            held_out.len() > 900,
            "held-out schemas are almost all distinct, found {}",
            held_out.len()
        );
    }
}
