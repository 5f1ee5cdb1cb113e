//! The generator of requests.
//!
//! A [`SampleGenerator`] draws an entity of the taxonomies, some of its fields, and what the reply must look like; then it puts that into
//! words: half of the requests show the structure as a block (bullets, a schema, an example, a glossary, a table) or in plain
//! sentences, the other half are prose in the voice of somebody who asks.
//!
//! A sample is determined by its split, its [`Difficulty`] and its `seed`, and `seed` by the generator's seed and the sample's place, so that the
//! same arguments give the same bytes on every platform, whatever the number of samples. No schema is in both splits: the first field of
//! an entity is in all of its schemas, and in none of the other split's.
//!
//! ```
//! use maskwright_suites::ifstruct::{SampleGenerator, Split};
//!
//! let sample = SampleGenerator::new(7, Split::Train)?.next().expect("a generator does not end");
//! println!("{}", sample.prompt);
//! # Ok::<(), maskwright_suites::ifstruct::GenerateError>(())
//! ```

mod difficulty;
mod frame;
mod layout;
mod made_up;
mod phrase;
mod prose;
mod spec;
mod statistics;
mod taxonomy;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::draw::Draw;
use super::{Presentation, Sample};
pub use difficulty::Difficulty;
pub use made_up::name_pieces;
use prose::voices;
use spec::{Fence, Spec};
pub use statistics::{SizeRange, Statistics};
use taxonomy::Entity;
pub use taxonomy::TaxonomyError;

/// Which part of all entities a [`SampleGenerator`] draws from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Split {
    /// For training.
    Train,
    /// For measuring.
    Test,
}

impl Split {
    /// Its name, as samples' `entity_type` begins.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Test => "test",
        }
    }
}

/// Why there is no generator.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// The taxonomies within the program are damaged.
    #[error(transparent)]
    Taxonomy(#[from] TaxonomyError),
    /// A seed, or a place behind it, that is too large.
    #[error("seed {seed}: seeds go up to {MAX_SEED}, for `seed` to be exact wherever JSON is read")]
    Seed {
        /// The seed.
        seed: u64,
    },
}

/// Number of samples of one seed of the generator. The `seed` of a sample is the generator's seed times this number plus the sample's place.
pub const SAMPLES_PER_SEED: u64 = 1_000_000;

/// The largest seed: that of its last sample is below 2^53.
pub const MAX_SEED: u64 = (1 << 53) / SAMPLES_PER_SEED - 1;

/// A deterministic stream of [`SAMPLES_PER_SEED`] samples.
#[derive(Clone, Debug)]
pub struct SampleGenerator {
    entities: Vec<Entity>,
    split: Split,
    difficulty: Difficulty,
    made_up_names: Option<Vec<String>>,
    next: u64,
    end: u64,
}

impl SampleGenerator {
    /// The samples of `split` under `seed`.
    ///
    /// # Errors
    ///
    /// [`GenerateError::Seed`], where the seed is over [`MAX_SEED`]. [`GenerateError::Taxonomy`] would be a defect of this crate.
    pub fn new(seed: u64, split: Split) -> Result<Self, GenerateError> {
        if seed > MAX_SEED {
            return Err(GenerateError::Seed { seed });
        }
        let mut entities = taxonomy::read()?;
        entities.retain(|entity| entity.split == split);
        Ok(Self {
            entities,
            split,
            difficulty: Difficulty::default(),
            made_up_names: None,
            next: seed * SAMPLES_PER_SEED,
            end: (seed + 1) * SAMPLES_PER_SEED,
        })
    }

    /// Has the samples ask for as much as `difficulty` says. The same seed and difficulty give the same samples.
    #[must_use]
    pub fn difficulty(mut self, difficulty: Difficulty) -> Self {
        self.difficulty = difficulty;
        self
    }

    /// Has the entity, its fields, and the choices of enumerations made-up names of one to three words instead of the taxonomy's, and numbers other
    /// lower bounds. A model that learns from the samples can then not know them by heart and learns to read them in the request. Most
    /// words are made of `pieces`, unless there are none: the [`name_pieces`] of a tokenizer, for a model to learn to copy each token.
    #[must_use]
    pub fn made_up_names(mut self, pieces: Vec<String>) -> Self {
        self.made_up_names = Some(pieces);
        self
    }

    /// The split that samples are drawn from.
    #[must_use]
    pub fn split(&self) -> Split {
        self.split
    }

    /// Number of entities that samples are drawn from.
    #[must_use]
    pub fn entities(&self) -> usize {
        self.entities.len()
    }

    /// An entity to ask for.
    fn entity(&self, draw: &mut Draw) -> &Entity {
        let Some(percent) = self.difficulty.escaping else {
            return &self.entities[draw.below(self.entities.len())];
        };
        let escaping = draw.chance(percent);
        let wanted: Vec<&Entity> = self
            .entities
            .iter()
            .filter(|entity| entity.escaping == escaping)
            .collect();
        draw.pick(&wanted)
    }

    /// The sample of that `seed`.
    fn sample(&self, seed: u64) -> Sample {
        let mut draw = Draw::new(seed, self.split as u64);
        let of_taxonomy = self.entity(&mut draw);
        let mut entity = Cow::Borrowed(of_taxonomy);
        if let Some(pieces) = &self.made_up_names {
            made_up::rename(entity.to_mut(), pieces, seed);
        }
        let entity = entity.as_ref();
        let mut spec = Spec::draw(entity, self.difficulty, &mut draw);
        if let Some(key) = spec
            .wrapper
            .take_if(|key| entity.fields.iter().any(|field| field.name == **key))
        {
            // The wrapper's key is no field's name, for either to be found without doubt.
            spec.wrapper = Some(format!("{key}_wrapper"));
        }
        let (presentation, voice) = match draw.chance(50) {
            true => (Presentation::Prose, draw.pick(&voices::REWRITERS)),
            false => (presentation(&spec, &mut draw), &voices::FORMAL),
        };
        let prompt = match presentation {
            Presentation::Prose => prose::render(&spec, voice, &mut draw),
            block => frame::render(&spec, block, &mut draw),
        };
        let escaping = if entity.escaping { "escaping__" } else { "" };
        Sample {
            seed,
            entity_type: format!("{}__{escaping}{}", self.split.name(), of_taxonomy.name),
            prompt,
            json_schema: spec.schema(),
            top_level_count: Some(spec.count),
            require_wrapper_key: spec.wrapper.is_some(),
            require_code_block: matches!(spec.fence, Fence::Any | Fence::Named),
            require_no_commentary: spec.no_commentary,
            output_format: spec.format,
            forbid_code_block: spec.fence == Fence::Forbidden,
            code_block_language: (spec.fence == Fence::Named).then(|| prose::requirements::language(&spec).to_owned()),
            top_level_key: spec.wrapper,
            presentation_style: Some(presentation),
            voice: Some(voice.name.to_owned()).filter(|name| !name.is_empty()),
            rewritten_by: None,
        }
    }
}

impl Iterator for SampleGenerator {
    type Item = Sample;

    fn next(&mut self) -> Option<Sample> {
        self.nth(0)
    }

    /// Passes over samples without drawing them.
    fn nth(&mut self, count: usize) -> Option<Sample> {
        self.next = self.next.saturating_add(count as u64).min(self.end);
        (self.next < self.end).then(|| {
            self.next += 1;
            self.sample(self.next - 1)
        })
    }
}

/// Draws the presentation of the structure in a request that nobody rewrote. An annotated example is in the format of the reply.
fn presentation(spec: &Spec<'_>, draw: &mut Draw) -> Presentation {
    let annotated = match spec.format {
        super::OutputFormat::Json => Presentation::AnnotatedJson,
        super::OutputFormat::Yaml => Presentation::AnnotatedYaml,
    };
    draw.weighted(&[
        (Presentation::Bullets, 22),
        (Presentation::JsonSchema, 18),
        (annotated, 24),
        (Presentation::PathGlossary, 14),
        (Presentation::AsciiTable, 14),
        (Presentation::Prose, 8),
    ])
}

#[cfg(test)]
mod tests;
