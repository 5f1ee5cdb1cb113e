//! [`SplitSamples`]: requests of a split that fit the model's limits, with their tokens.

use std::collections::HashSet;

use maskwright_models::{LoadedModel, ModelTokenizer, TokenSequence};
use maskwright_suites::ifstruct::{Sample, SampleGenerator, reference};
use maskwright_suites::prompt::{Message, Role};
use rand::SeedableRng;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::TrainError;
use crate::bench::prompts::encode_at_once;
use crate::error::CommandError;

/// Limits on the tokens of a sample's prompt and reply.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Largest number of tokens of a prompt.
    pub prompt: usize,
    /// Largest number of tokens of a reply, its end included.
    pub reply: usize,
    /// Largest number of tokens of prompt and reply together.
    pub context: usize,
    /// Whether references are short and have plain values.
    pub plain_references: bool,
}

/// A request within the limits, with the tokens of its prompt.
#[derive(Clone, Debug)]
pub struct PromptedSample {
    /// The request and the requirements on its reply.
    pub sample: Sample,
    /// Tokens of the prompt.
    pub prompt: Vec<u32>,
}

/// The samples of a split that fit the limits.
#[derive(Clone, Debug)]
pub struct SplitSamples {
    /// The samples that fit.
    pub fitting: Vec<PromptedSample>,
    /// Number of samples generated, those that do not fit included.
    pub generated: usize,
}

impl SplitSamples {
    /// Takes the first `count` of `samples`, without those whose prompt or reference exceeds `room`. References end with the token `end`.
    ///
    /// # Errors
    ///
    /// [`TrainError::NothingFits`]; [`CommandError::Model`], where the model's template refuses a request.
    pub fn generate(
        samples: SampleGenerator,
        count: usize,
        model: &LoadedModel,
        room: Room,
        end: u32,
    ) -> Result<Self, CommandError> {
        let split = samples.split();
        let mut all = Self {
            fitting: Vec::new(),
            generated: 0,
        };
        for sample in samples.take(count) {
            all.generated += 1;
            let messages = vec![Message::new(Role::User, sample.prompt.as_str())];
            let prompt = encode_at_once(model, messages, None)?;
            let prompted = PromptedSample { sample, prompt };
            if prompted.prompt.len() <= room.prompt
                && prompted.with_reference(model.tokenizer(), room, end, 0)?.is_some()
            {
                all.fitting.push(prompted);
            }
        }
        match all.fitting.is_empty() {
            true => Err(TrainError::NothingFits {
                split: split.name(),
                max_prompt_tokens: room.prompt,
                max_tokens: room.reply,
            }
            .into()),
            false => Ok(all),
        }
    }

    /// Returns the indices of the samples of a step that takes `count`. Every sample comes once in each pass over the split, in an order of that
    /// pass's own. With each index comes the number of the pass.
    pub fn of_step(&self, seed: u64, step: usize, count: usize) -> Vec<(usize, u64)> {
        let all = self.fitting.len();
        let mut orders: Vec<(usize, Vec<usize>)> = Vec::new();
        let places = (step * count..(step + 1) * count).map(|position| {
            let time = position / all;
            if orders.last().is_none_or(|(known, _)| *known != time) {
                let mut order: Vec<usize> = (0..all).collect();
                order.shuffle(&mut ChaCha8Rng::seed_from_u64(mixed(&[seed, time as u64])));
                orders.push((time, order));
            }
            let place = orders.last().map_or(0, |(_, order)| order[position % all]);
            (place, time as u64)
        });
        places.collect()
    }
}

impl PromptedSample {
    /// Returns the prompt followed by the reference of this number and its end; `None` where they exceed `room`.
    ///
    /// # Errors
    ///
    /// [`CommandError::Model`], where the tokenizer fails.
    pub fn with_reference(
        &self,
        tokenizer: &ModelTokenizer,
        room: Room,
        end: u32,
        number: u64,
    ) -> Result<Option<TokenSequence>, CommandError> {
        let reference = match room.plain_references {
            true => reference::plain_reply(&self.sample),
            false => reference::reply(&self.sample, number),
        };
        // All samples of the generator have references.
        let text = reference.map_err(|error| CommandError::Arguments(error.to_string()))?;
        let mut reply = tokenizer.encode(&text, false)?;
        reply.push(end);
        let fits = reply.len() <= room.reply && self.prompt.len() + reply.len() <= room.context;
        Ok(fits.then(|| TokenSequence {
            from: self.prompt.len(),
            tokens: [self.prompt.clone(), reply].concat(),
        }))
    }
}

/// Returns the token that ends the model's turn in a conversation: the first end-of-sequence token in a rendered conversation, or the
/// first that the model has at all.
///
/// # Errors
///
/// [`TrainError::NoEnd`].
pub fn end_of_turn(model: &LoadedModel) -> Result<u32, CommandError> {
    use maskwright_models::Message;
    let talk = ["user", "assistant", "user"].map(|role| Message::new(role, "x"));
    // Where the template refuses such a conversation, the first end-of-sequence token is taken.
    let rendered = model.render_prompt(&talk).and_then(|text| model.encode_prompt(&text));
    let ends = model.eos_ids();
    let used = rendered
        .ok()
        .and_then(|tokens| tokens.into_iter().find(|token| ends.contains(token)));
    used.or(ends.first().copied()).ok_or_else(|| {
        let model = model.name().to_owned();
        TrainError::NoEnd { model }.into()
    })
}

/// Checks that no schema is in both splits.
///
/// # Errors
///
/// [`TrainError::SharedSchemas`].
pub fn check_apart(train: &SplitSamples, test: &SplitSamples) -> Result<(), TrainError> {
    let schemas = train.fitting.iter().map(|one| &one.sample.json_schema);
    let seen: HashSet<&Map<String, Value>> = schemas.collect();
    let is_shared = |one: &&PromptedSample| seen.contains(&one.sample.json_schema);
    let mut shared = test.fitting.iter().filter(is_shared);
    match shared.next() {
        None => Ok(()),
        Some(first) => Err(TrainError::SharedSchemas {
            seed: first.sample.seed,
            count: 1 + shared.count(),
        }),
    }
}

/// Derives a seed from several numbers by a hash: other numbers give another seed.
pub fn mixed(numbers: &[u64]) -> u64 {
    let mut hash = Sha256::new();
    for number in numbers {
        hash.update(number.to_le_bytes());
    }
    let bytes: [u8; 32] = hash.finalize().into();
    bytes[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
