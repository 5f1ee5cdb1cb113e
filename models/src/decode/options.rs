//! [`DecodeOptions`] and [`Constraint`]: the options of [`generate`](crate::generate).

use std::time::Duration;

use maskwright::{Masker, TokenId};

use crate::decode::sampler::SamplingOptions;
use crate::prompt::reasoning::Reasoning;

/// When an answer ends, and how its tokens are chosen.
#[derive(Clone, Debug)]
pub struct DecodeOptions {
    /// Sampling settings, by which tokens are chosen.
    pub sampling: SamplingOptions,
    /// Token ids that end an answer.
    pub eos_tokens: Vec<TokenId>,
    /// Largest number of tokens of an answer, without its reasoning. The end-of-sequence token is not counted; an answer that has this
    /// many tokens is not given another forward pass to see whether it would have ended there.
    pub max_tokens: usize,
    /// Longest time for an answer, prompt processing and reasoning included.
    pub time_limit: Option<Duration>,
    /// Whether tokens that the masker forces are appended without being sampled.
    pub fast_forward: bool,
    /// Whether tokens are passed over after which the document could not be ended within `max_tokens` and the model's
    /// context, where the framework can tell ([`Masker::completion`]).
    pub finish_in_time: bool,
    /// Whether masks are computed on another thread while the forward pass runs.
    pub overlap: bool,
    /// Whether the effect of each mask on the model's choice is computed
    /// ([`Generation::mask_effects`](crate::Generation::mask_effects)), which takes time that belongs to neither the model nor
    /// the framework.
    pub mask_effects: bool,
    /// Reasoning that the model may write before its answer, unconstrained; `None` where the answer begins at once.
    pub reasoning: Option<Reasoning>,
}

impl DecodeOptions {
    /// Makes options for an answer of at most `max_tokens` tokens that one of `eos_tokens` ends, without a time limit and without reasoning.
    /// Under a constraint, forced tokens are not sampled, the document ends in time, and masks overlap with forward passes.
    pub fn new(sampling: SamplingOptions, eos_tokens: Vec<TokenId>, max_tokens: usize) -> Self {
        Self {
            sampling,
            eos_tokens,
            max_tokens,
            time_limit: None,
            fast_forward: true,
            finish_in_time: true,
            overlap: true,
            mask_effects: false,
            reasoning: None,
        }
    }
}

/// A masker for a generation, and the framework that its errors name.
pub struct Constraint {
    /// The framework's name.
    pub framework: String,
    /// A masker at the start of a document.
    pub masker: Box<dyn Masker>,
}
