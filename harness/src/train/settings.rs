//! [`TrainSettings`]: what a run of `maskwright train` does, for its manifest.

use maskwright_models::AdamWOptions;
use maskwright_suites::ifstruct::Level;
use serde::{Deserialize, Serialize};

use crate::run::manifest::Settings;

/// What a run of `maskwright train` does. Two runs with equal settings come to the same weights on one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainSettings {
    /// The model that training starts from, as the only one of a list: name, family, revision, number format, device, hashes.
    pub models: Vec<serde_json::Value>,
    /// Seed of the samples, their order, and the tokens drawn.
    pub seed: u64,
    /// Samples of the train split, those that do not fit included.
    pub samples: usize,
    /// Samples of the test split, those that do not fit included.
    pub test_samples: usize,
    /// SHA-256 of the samples that fit, as lines of JSON.
    pub sha256: String,
    /// Longest prompt, in tokens.
    pub max_prompt_tokens: usize,
    /// Longest reply, in tokens.
    pub max_tokens: usize,
    /// How strictly replies are judged.
    pub level: Level,
    /// Supervised steps.
    pub supervised_steps: usize,
    /// References of a supervised step.
    pub batch: usize,
    /// Whether references are short and of plain values.
    #[serde(default)]
    pub plain_references: bool,
    /// Largest learning rate of supervised steps.
    pub learning_rate: f64,
    /// Steps of GRPO.
    pub grpo_steps: usize,
    /// Requests of a step of GRPO.
    pub prompts: usize,
    /// Replies to each.
    pub group: usize,
    /// Times that the weights change by the same replies.
    pub updates: usize,
    /// Largest learning rate of GRPO.
    pub grpo_learning_rate: f64,
    /// Divides the logits when replies are drawn.
    pub temperature: f64,
    /// How far the ratio of new to old probability counts beyond 1.
    pub clip: f64,
    /// Weight of the divergence from the start of the phase.
    pub kl: f64,
    /// Whether replies that fail earn a part of the reward.
    pub partial_reward: bool,
    /// The optimiser.
    pub optimiser: AdamWOptions,
    /// Tokens that go through the layers at once.
    pub micro_batch_tokens: usize,
    /// Steps between two evaluations; 0: none between the first and the last.
    pub evaluate_every: usize,
    /// Threads, on which the order of some sums depends.
    pub threads: usize,
}

impl Settings for TrainSettings {
    const COMMAND: &'static str = "train";
}
