//! [`Replier`]: replies of the model in training, and their rewards.

use std::sync::atomic::AtomicBool;

use maskwright_models::{
    DecodeOptions, FinishReason, LoadedModel, ModelError, SamplingOptions, TokenSequence, TrainableModel,
    generate_after, logits_to_host,
};
use maskwright_suites::ifstruct::{FailureKind, Level, Sample, Score, Scorer};

use super::samples::{PromptedSample, Room};
use crate::error::CommandError;

/// Numerator of the partial reward of a reply that fails and can be read; its denominator is one more than the number of failures, so that
/// such a reply earns a quarter at most.
const PARTIAL: f64 = 0.5;

/// Failures after which nothing of the data is read.
const UNREAD: [FailureKind; 6] = [
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
            ..
        } = scorer.score(reply);
        // A reply that cannot be read shows few of its failures, and would earn more than a reply that can be read.
        let is_read = !failures.iter().any(|failure| UNREAD.contains(&failure.kind));
        let reward = match (passed, partial && is_read) {
            (true, _) => 1.0,
            (false, true) => PARTIAL / (1 + failures.len() + omitted) as f64,
            (false, false) => 0.0,
        };
        Ok(Self { reward, passed })
    }
}

/// A model that replies with the current weights of the training.
pub struct Replier<'a> {
    /// Tokenizer and decode loop; the weights are replaced by those of the training.
    pub model: &'a mut LoadedModel,
    /// Limits on prompts and replies, in tokens.
    pub room: Room,
    /// The token that ends a reply.
    pub end: u32,
    /// Flag that stops the decode loop.
    pub cancel: &'a AtomicBool,
}

impl Replier<'_> {
    /// Replaces the weights by those of `trained`.
    ///
    /// # Errors
    ///
    /// [`ModelError`], where there is no room for the weights.
    pub fn take(&mut self, trained: &TrainableModel) -> Result<(), ModelError> {
        let threads = self.model.model.thread_pool();
        self.model.model = Box::new(trained.transformer(threads)?);
        Ok(())
    }

    /// Generates one reply for each seed; `None` where [`Self::cancel`] was set. The prompt is read once.
    ///
    /// # Errors
    ///
    /// [`ModelError`], where the model fails.
    pub fn replies(
        &mut self,
        sample: &PromptedSample,
        temperature: f64,
        seeds: &[u64],
    ) -> Result<Option<Vec<Reply>>, ModelError> {
        let prompt = &sample.prompt;
        let model = &mut self.model.model;
        model.reset();
        // The last token of the prompt is left to each reply, which begins with its logits.
        let read = match prompt.len() {
            0 | 1 => None,
            tokens => {
                logits_to_host(&model.append(&prompt[..tokens - 1])?, &mut Vec::new())?;
                Some(model.snapshot())
            }
        };
        let mut replies = Vec::new();
        for seed in seeds {
            let options = DecodeOptions {
                sampling: SamplingOptions {
                    temperature: temperature as f32,
                    seed: *seed,
                    ..SamplingOptions::default()
                },
                eos_tokens: vec![self.end],
                max_tokens: self.room.reply.min(self.room.context.saturating_sub(prompt.len())),
                time_limit: None,
                fast_forward: false,
                finish_in_time: false,
                overlap: false,
                mask_effects: false,
                reasoning: None,
            };
            let written = generate_after(
                self.model.model.as_mut(),
                read.as_ref(),
                prompt,
                None,
                &options,
                self.cancel,
            );
            let is_truncated = match &written.finish {
                Ok(FinishReason::Cancelled) => return Ok(None),
                Ok(finish) => *finish != FinishReason::EndOfSequence,
                Err(_) => false,
            };
            let reply = written.token_ids();
            if let Err(maskwright_models::DecodeError::Model(error)) = written.finish {
                return Err(error);
            }
            let text = self.model.vocabulary().text_bytes(&reply);
            let end = (!is_truncated).then_some(self.end);
            replies.push(Reply {
                text: String::from_utf8_lossy(&text).into_owned(),
                sequence: TokenSequence {
                    from: prompt.len(),
                    tokens: prompt.iter().copied().chain(reply).chain(end).collect(),
                },
                is_truncated,
            });
        }
        Ok(Some(replies))
    }
}
