//! [`Generation`]: an answer, the reason for its end, and its times and counts.

use std::time::Duration;

use maskwright::{MaskError, TokenId};

use crate::decode::mask_effect::MaskEffect;
use crate::error::ModelError;

/// One token of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeneratedToken {
    /// The token.
    pub id: TokenId,
    /// Whether the masker forced it, so that it was not sampled.
    pub forced: bool,
    /// Time from the start of the generation until the token was known.
    pub at: Duration,
}

/// Reason for the end of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model chose an end-of-sequence token, or nothing else was allowed.
    EndOfSequence,
    /// [`DecodeOptions::max_tokens`](crate::DecodeOptions::max_tokens) was reached.
    TokenLimit,
    /// [`DecodeOptions::time_limit`](crate::DecodeOptions::time_limit) was reached.
    TimeLimit,
    /// The model's context is full.
    ContextFull,
    /// The caller asked to stop.
    Cancelled,
}

/// Error that ends an answer early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The model failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The framework failed.
    #[error("framework {framework}: {source}")]
    Mask {
        /// The framework's name.
        framework: String,
        /// The framework's error.
        source: MaskError,
    },
    /// The framework allowed no token at all, not even the end: a dead end, from which nothing is sampled.
    #[error("framework {framework} allows no token after {position} tokens: a dead end")]
    DeadEnd {
        /// The framework's name.
        framework: String,
        /// Number of tokens before the dead end.
        position: usize,
    },
}

impl DecodeError {
    /// The error of `framework`, which allowed no token after `position` tokens.
    pub(crate) fn dead_end(framework: &str, position: usize) -> Self {
        Self::DeadEnd {
            framework: framework.to_owned(),
            position,
        }
    }
}

/// Times of the masks of one generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaskTimes {
    /// Number of masks computed.
    pub masks: usize,
    /// Time the framework worked: masks, accepting tokens, forced tokens, completions.
    pub total: Duration,
    /// Time that the model waited: the part of `total` that the forward passes did not hide, and the handing over between threads.
    pub exposed: Duration,
    /// Time for which the framework prepared tokens that were likely to be chosen, while forward passes ran
    /// ([`Masker::speculate`](maskwright::Masker::speculate)); not part of the above.
    pub speculation: Duration,
}

/// Length and time of the reasoning that a model wrote before its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReasoningSpan {
    /// Number of tokens that the model chose.
    pub tokens: usize,
    /// Time from the first of them to the last.
    pub time: Duration,
    /// Whether the model did not end the reasoning by itself: the reasoning reached its limit, or the model ended its turn.
    pub cut: bool,
}

/// An answer, as far as it came, with its times and counts.
#[derive(Debug)]
pub struct Generation {
    /// The reasoning before the answer; `None` where the model did not reason.
    pub reasoning: Option<ReasoningSpan>,
    /// The answer's tokens, the end-of-sequence token not included.
    pub tokens: Vec<GeneratedToken>,
    /// Reason for the end of the answer. An error leaves the tokens before it in place.
    pub finish: Result<FinishReason, DecodeError>,
    /// Time of the whole generation.
    pub total: Duration,
    /// Number of forward passes, those of the prompt and the reasoning included.
    pub forward_passes: usize,
    /// Times of the masks; zero where nothing was masked.
    pub mask_times: MaskTimes,
    /// Effects of the masks, one for each token that was chosen from a mask, the end-of-sequence token included. Forced tokens
    /// have none: the model was not asked. Empty unless [`DecodeOptions::mask_effects`](crate::DecodeOptions::mask_effects) asks
    /// for it.
    pub mask_effects: Vec<MaskEffect>,
    /// Whether a token was passed over because the answer could not have been ended within its limit after it.
    pub budget_intervened: bool,
}

impl Generation {
    /// The answer's token ids.
    pub fn token_ids(&self) -> Vec<TokenId> {
        self.tokens.iter().map(|token| token.id).collect()
    }

    /// Number of forced tokens.
    pub fn forced_tokens(&self) -> usize {
        self.tokens.iter().filter(|token| token.forced).count()
    }

    /// Time to the first token of the answer, reasoning included; `None` where there is none.
    pub fn time_to_first_token(&self) -> Option<Duration> {
        self.tokens.first().map(|token| token.at)
    }

    /// Mean time per token after the first, forced ones included; `None` below two tokens.
    pub fn time_per_output_token(&self) -> Option<Duration> {
        let (first, last) = (self.tokens.first()?, self.tokens.last()?);
        let steps = u32::try_from(self.tokens.len() - 1).ok().filter(|&steps| steps > 0)?;
        Some((last.at - first.at) / steps)
    }
}
