//! [`TrainSettings`]: the settings of a run of `maskwright train`, for its manifest.

use maskwright_models::AdamWOptions;
use maskwright_suites::ifstruct::Level;
use serde::{Deserialize, Serialize};

use crate::run::manifest::Settings;

/// Settings of a run of `maskwright train`. Two runs with equal settings come to the same weights on one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainSettings {
    /// The model that training starts from, as the only one of a list: name, family, revision, number format, device, hashes.
    pub models: Vec<serde_json::Value>,
    /// Seed of the samples, of their order, and of the tokens drawn.
    pub seed: u64,
    /// Number of samples of the train split, those that do not fit included.
    pub samples: usize,
    /// Number of samples of the test split, those that do not fit included.
    pub test_samples: usize,
    /// SHA-256 of the samples that fit, as lines of JSON.
    pub sha256: String,
    /// Longest prompt, in tokens.
    pub max_prompt_tokens: usize,
    /// Longest reply, in tokens.
    pub max_tokens: usize,
    /// Strictness of the judge of replies.
    pub level: Level,
    /// Number of supervised steps.
    pub supervised_steps: usize,
    /// Number of references in a supervised step.
    pub batch: usize,
    /// Whether references are short and have plain values.
    #[serde(default)]
    pub plain_references: bool,
    /// Whether entities and fields of the train split have made-up names.
    #[serde(default)]
    pub made_up_names: bool,
    /// Largest learning rate of supervised steps.
    pub learning_rate: f64,
    /// Number of steps of GRPO.
    pub grpo_steps: usize,
    /// Number of requests in a step of GRPO.
    pub prompts: usize,
    /// Number of replies to each request.
    pub group: usize,
    /// Number of updates of the weights by the same replies.
    pub updates: usize,
    /// Largest learning rate of GRPO.
    pub grpo_learning_rate: f64,
    /// Temperature that divides the logits when replies are drawn.
    pub temperature: f64,
    /// Clip range of GRPO: largest distance from 1 at which the ratio of new to old probability still counts.
    pub clip: f64,
    /// Weight of the divergence from the start of the phase in the loss.
    pub kl: f64,
    /// Whether replies that fail earn a part of the reward.
    pub partial_reward: bool,
    /// Options of the optimiser.
    pub optimiser: AdamWOptions,
    /// Largest number of tokens that go through the layers at once; a longer sequence goes alone.
    pub micro_batch_tokens: usize,
    /// Steps between two evaluations, beside those at the start and end of each phase; 0: no others.
    pub evaluate_every: usize,
    /// Number of threads, on which the order of some sums depends, and which replies are written side by side.
    pub threads: usize,
}

impl Settings for TrainSettings {
    const COMMAND: &'static str = "train";
}
