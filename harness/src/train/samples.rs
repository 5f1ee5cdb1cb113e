//! [`SplitSamples`]: requests of a split that a model has room for, with their tokens.

use std::collections::HashSet;

use maskwright_models::{LoadedModel, TokenSequence};
use maskwright_suites::ifstruct::{GenerateError, Sample, SampleGenerator, Split, reference};
use maskwright_suites::prompt::{Message, Role};
use rand::SeedableRng;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::TrainError;
use crate::bench::prompts::encode_at_once;
use crate::error::CommandError;

/// What a sample may need.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Tokens of a prompt.
    pub prompt: usize,
    /// Tokens of a reply, its end included.
    pub reply: usize,
    /// Tokens of both.
    pub context: usize,
    /// Whether references are short and of plain values.
    pub plain_references: bool,
}

/// A request that there is room for.
#[derive(Clone, Debug)]
pub struct PromptedSample {
    /// The request and what its reply must be.
    pub sample: Sample,
    /// The tokens that put it before the model.
    pub prompt: Vec<u32>,
}

/// The samples of a split that fit.
#[derive(Clone, Debug)]
pub struct SplitSamples {
    /// Those that fit.
    pub fitting: Vec<PromptedSample>,
    /// How many were generated.
    pub generated: usize,
}

impl SplitSamples {
    /// The first `count` samples of `split` under `seed`, without those whose prompt or reference `model` has no room for. References end with
    /// the token `end`.
    ///
    /// # Errors
    ///
    /// [`TrainError::NothingFits`]; [`CommandError::Arguments`] for a seed that is too large; [`CommandError::Model`], where the model's template
    /// refuses a request.
    pub fn generate(
        (split, seed, count): (Split, u64, usize),
        model: &LoadedModel,
        room: Room,
        end: u32,
    ) -> Result<Self, CommandError> {
        let refused = |error: GenerateError| CommandError::Arguments(error.to_string());
        let mut all = Self {
            fitting: Vec::new(),
            generated: 0,
        };
        for sample in SampleGenerator::new(seed, split).map_err(refused)?.take(count) {
            all.generated += 1;
            let messages = vec![Message::new(Role::User, sample.prompt.as_str())];
            let prompt = encode_at_once(model, messages, None)?;
            let prompted = PromptedSample { sample, prompt };
            if prompted.prompt.len() <= room.prompt && prompted.with_reference(model, room, end, 0)?.is_some() {
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

    /// The places of the samples of a step that takes `count`: every sample once, in an order of its own for each time through, before any
    /// comes again. With each place comes the number of the time through.
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
    /// The prompt with the reference of that number and its end behind it; none where there is no room for it.
    ///
    /// # Errors
    ///
    /// [`CommandError::Model`], where the tokenizer fails.
    pub fn with_reference(
        &self,
        model: &LoadedModel,
        room: Room,
        end: u32,
        number: u64,
    ) -> Result<Option<TokenSequence>, CommandError> {
        let reference = match room.plain_references {
            true => reference::plain_reply,
            false => reference::reply,
        };
        // The generator's samples all have references.
        let text = reference(&self.sample, number).map_err(|error| CommandError::Arguments(error.to_string()))?;
        let mut reply = model.tokenizer().encode(&text, false)?;
        reply.push(end);
        let fits = reply.len() <= room.reply && self.prompt.len() + reply.len() <= room.context;
        Ok(fits.then(|| TokenSequence {
            from: self.prompt.len(),
            tokens: [self.prompt.clone(), reply].concat(),
        }))
    }
}

/// The token that ends what the model says in a conversation: the first end-of-sequence token behind a message of its own, or the first that
/// it has at all.
///
/// # Errors
///
/// [`TrainError::NoEnd`].
pub fn end_of_turn(model: &LoadedModel) -> Result<u32, CommandError> {
    use maskwright_models::Message;
    let talk = ["user", "assistant", "user"].map(|role| Message::new(role, "x"));
    // A template that refuses such a talk has no say.
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

/// Errs where a schema is in both splits.
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

/// One number of several, for seeds: other numbers give another.
pub fn mixed(numbers: &[u64]) -> u64 {
    let mut hash = Sha256::new();
    for number in numbers {
        hash.update(number.to_le_bytes());
    }
    let bytes: [u8; 32] = hash.finalize().into();
    bytes[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
