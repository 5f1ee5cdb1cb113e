//! [`Replier`]: replies of the model in training, and their rewards.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use maskwright::Vocabulary;
use maskwright_models::{
    DecodeOptions, FinishReason, LanguageModel as _, ModelError, ModelTokenizer, SamplingOptions, Snapshot,
    TokenSequence, Transformer, generate_after, logits_to_host,
};
use maskwright_suites::ifstruct::{Count, Failure, FailureKind, Level, Sample, Score, Scorer};
use serde_json::Value;

use super::samples::{PromptedSample, Room};
use crate::error::CommandError;

/// Numerator of the partial reward of a reply that fails and can be read; its denominator is one more than the [`weight`] of its failures,
/// so that such a reply earns a quarter at most.
const PARTIAL: f64 = 0.5;

/// Failures after which nothing of the data is read.
const UNREAD: [FailureKind; 8] = [
    FailureKind::UnclosedCodeBlock,
    FailureKind::TrailingContent,
    FailureKind::NoData,
    FailureKind::WrongFormat,
    FailureKind::Syntax,
    FailureKind::NumberTooLong,
    FailureKind::TooDeep,
    FailureKind::TooLarge,
];

/// A reply and how it ended.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The prompt, the reply, and its end token where it has one.
    pub sequence: TokenSequence,
    /// The reply's text.
    pub text: String,
    /// Whether the reply was cut off: the model did not end it.
    pub is_truncated: bool,
}

/// Reward of a reply to a sample.
pub type Reward<'a> = dyn Fn(&Sample, &str) -> Result<Judged, CommandError> + Sync + 'a;

/// The verdict on a reply.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// The reward, from 0 to 1.
    pub reward: f64,
    /// Whether the reply passes.
    pub passed: bool,
}

impl Judged {
    /// Returns the verdict of IFStruct's judge. The reward is 1 for a reply that passes, else 0 or, with `partial` and data that can be read,
    /// the smaller the more failures there are.
    ///
    /// # Errors
    ///
    /// [`CommandError::Arguments`], where the sample's schema is not in IFStruct's form.
    pub fn of_ifstruct(sample: &Sample, reply: &str, level: Level, partial: bool) -> Result<Self, CommandError> {
        let scorer = Scorer::new(sample, level).map_err(|error| CommandError::Arguments(error.to_string()))?;
        let Score {
            passed,
            failures,
            omitted,
            items,
            ..
        } = scorer.score(reply);
        // A reply that cannot be read shows few of its failures, and would earn more than a reply that can be read.
        let is_read = !failures.iter().any(is_unread);
        let reward = match (passed, partial && is_read) {
            (true, _) => 1.0,
            (false, true) => PARTIAL / (1 + weight(sample, items, &failures) + omitted) as f64,
            (false, false) => 0.0,
        };
        Ok(Self { reward, passed })
    }
}

/// Whether nothing of the data is looked at behind the failure: it cannot be read, or is no list.
fn is_unread(failure: &Failure) -> bool {
    UNREAD.contains(&failure.kind) || failure.kind == FailureKind::WrongType && failure.path.is_empty()
}

/// Number of failures. An item that is missing, is one too many, or is no object counts as much as one without any of its required fields;
/// otherwise an empty list would earn more than items that lack a field each.
fn weight(sample: &Sample, items: Option<u64>, failures: &[Failure]) -> usize {
    let fields = sample.json_schema.get("items").and_then(|items| items.get("required"));
    let fields = fields.and_then(Value::as_array).map_or(1, |names| names.len().max(1));
    let wrong_count = match (sample.top_level_count, items) {
        (Some(Count::Exactly(count)), Some(found)) => count.abs_diff(found),
        (Some(Count::Between(least, most)), Some(found)) => least.saturating_sub(found).max(found.saturating_sub(most)),
        _ => 0,
    };
    let weight = |failure: &Failure| match failure.kind {
        FailureKind::ItemCount => fields.saturating_mul(wrong_count as usize),
        FailureKind::WrongType if !failure.path.contains('.') => fields,
        _ => 1,
    };
    failures.iter().map(weight).sum()
}

/// A model that replies, with the networks that it is given.
pub struct Replier<'a> {
    /// Tokenizer of the model.
    pub tokenizer: Arc<ModelTokenizer>,
    /// Vocabulary of the model, which has the bytes of tokens.
    pub vocabulary: Arc<Vocabulary>,
    /// Limits on prompts and replies, in tokens.
    pub room: Room,
    /// The token that ends a reply.
    pub end: u32,
    /// Flag that stops the decode loop.
    pub cancel: &'a AtomicBool,
}

impl Replier<'_> {
    /// Generates a reply to each sample with its seed, in order; `None` where [`Self::cancel`] was set. The `networks`, which have the same
    /// weights, write side by side, each on a thread of its own; a reply does not depend on their number. Neighbours that ask the same are
    /// cheaper, as each network reads a prompt once for all of them.
    ///
    /// # Errors
    ///
    /// [`ModelError`], where the model fails.
    pub fn replies(
        &self,
        networks: &mut [Transformer],
        asked: &[(&PromptedSample, u64)],
        temperature: f64,
    ) -> Result<Option<Vec<Reply>>, ModelError> {
        let next = &AtomicUsize::new(0);
        let written = std::thread::scope(|scope| {
            let writers = networks
                .iter_mut()
                .map(|network| scope.spawn(move || self.write(network, asked, next, temperature)));
            // All have to be spawned before one is waited for.
            let writers: Vec<_> = writers.collect();
            let written = writers.into_iter().map(|writer| match writer.join() {
                Ok(written) => written,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            written.collect::<Result<Option<Vec<Vec<(usize, Reply)>>>, ModelError>>()
        });
        let Some(written) = written? else {
            return Ok(None);
        };
        let mut replies: Vec<(usize, Reply)> = written.into_iter().flatten().collect();
        replies.sort_by_key(|(number, _)| *number);
        Ok(Some(replies.into_iter().map(|(_, reply)| reply).collect()))
    }

    /// Writes, with one network, replies to the `next` of those `asked` until none is left; `None` where [`Self::cancel`] was set.
    fn write(
        &self,
        network: &mut Transformer,
        asked: &[(&PromptedSample, u64)],
        next: &AtomicUsize,
        temperature: f64,
    ) -> Result<Option<Vec<(usize, Reply)>>, ModelError> {
        let mut written = Vec::new();
        let mut read: Option<(&PromptedSample, Option<Snapshot>)> = None;
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(&(sample, seed)) = asked.get(number) else {
                return Ok(Some(written));
            };
            let prompt = match &read {
                Some((same, snapshot)) if std::ptr::eq(*same, sample) => snapshot.clone(),
                _ => {
                    let snapshot = read_prompt(network, &sample.prompt)?;
                    read = Some((sample, snapshot.clone()));
                    snapshot
                }
            };
            match self.reply(network, sample, prompt.as_ref(), (temperature, seed))? {
                Some(reply) => written.push((number, reply)),
                None => return Ok(None),
            }
        }
    }

    /// Writes a reply to `sample`, whose prompt but for the last token has been `read`; `None` where [`Self::cancel`] was set.
    fn reply(
        &self,
        network: &mut Transformer,
        sample: &PromptedSample,
        read: Option<&Snapshot>,
        (temperature, seed): (f64, u64),
    ) -> Result<Option<Reply>, ModelError> {
        let prompt = &sample.prompt;
        let sampling = SamplingOptions {
            temperature: temperature as f32,
            seed,
            ..SamplingOptions::default()
        };
        let max_tokens = self.room.reply.min(self.room.context.saturating_sub(prompt.len()));
        let options = DecodeOptions::new(sampling, vec![self.end], max_tokens);
        let written = generate_after(network, read, prompt, None, &options, self.cancel);
        let is_truncated = match &written.finish {
            Ok(FinishReason::Cancelled) => return Ok(None),
            Ok(finish) => *finish != FinishReason::EndOfSequence,
            Err(_) => false,
        };
        let reply = written.token_ids();
        if let Err(maskwright_models::DecodeError::Model(error)) = written.finish {
            return Err(error);
        }
        let text = self.vocabulary.text_bytes(&reply);
        let end = (!is_truncated).then_some(self.end);
        Ok(Some(Reply {
            text: String::from_utf8_lossy(&text).into_owned(),
            sequence: TokenSequence {
                from: prompt.len(),
                tokens: prompt.iter().copied().chain(reply).chain(end).collect(),
            },
            is_truncated,
        }))
    }
}

/// Reads `prompt` into an empty sequence of `network` but for its last token, with whose logits each reply begins; returns the place behind
/// what was read, if anything was.
fn read_prompt(network: &mut Transformer, prompt: &[u32]) -> Result<Option<Snapshot>, ModelError> {
    network.reset();
    let Some((_, first @ [_, ..])) = prompt.split_last() else {
        return Ok(None);
    };
    logits_to_host(&network.append(first)?, &mut Vec::new())?;
    Ok(Some(network.snapshot()))
}
