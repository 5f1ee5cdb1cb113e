//! [`Replier`]: replies of the model in training, and their rewards.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use maskwright::Vocabulary;
use maskwright_models::{ModelError, ModelTokenizer, ReplyOptions, TokenSequence, TrainableModel};
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

/// Writes the replies of a model in training, by its tokenizer and within limits.
pub struct Replier<'a> {
    /// Tokenizer of the model.
    pub tokenizer: Arc<ModelTokenizer>,
    /// Vocabulary of the model, which has the bytes of tokens.
    pub vocabulary: Arc<Vocabulary>,
    /// Limits on prompts and replies, in tokens.
    pub room: Room,
    /// The token that ends a reply.
    pub end: u32,
    /// Flag that stops the replies.
    pub cancel: &'a AtomicBool,
}

impl Replier<'_> {
    /// Generates a reply of `model` to each sample with its seed, in order; `None` where [`Self::cancel`] was set. Neighbours that ask the same
    /// are cheaper, as the prompt is read once for all of them.
    ///
    /// # Errors
    ///
    /// [`ModelError`], where the model fails.
    pub fn replies(
        &self,
        model: &TrainableModel,
        asked: &[(&PromptedSample, u64)],
        temperature: f64,
    ) -> Result<Option<Vec<Reply>>, ModelError> {
        let options = ReplyOptions {
            temperature,
            end: self.end,
            max_tokens: self.room.reply,
        };
        let prompts: Vec<(&[u32], u64)> = asked
            .iter()
            .map(|(sample, seed)| (sample.prompt.as_slice(), *seed))
            .collect();
        let Some(replies) = model.replies(&prompts, &options, self.cancel)? else {
            return Ok(None);
        };
        let written = prompts.iter().zip(replies).map(|((prompt, _), reply)| {
            let text = self.vocabulary.text_bytes(&reply.tokens);
            let end = reply.is_ended.then_some(self.end);
            Reply {
                text: String::from_utf8_lossy(&text).into_owned(),
                sequence: TokenSequence {
                    from: prompt.len(),
                    tokens: prompt.iter().copied().chain(reply.tokens).chain(end).collect(),
                },
                is_truncated: !reply.is_ended,
            }
        });
        Ok(Some(written.collect()))
    }
}
