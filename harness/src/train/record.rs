//! [`TrainRecord`]: figures of a training step or of an evaluation.

use serde::{Deserialize, Serialize};

use crate::run::directory::Recorded;

/// One line of `records.jsonl` of a run of `maskwright train`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainRecord {
    /// Phase, step and kind of the record.
    #[serde(flatten)]
    pub key: TrainKey,
    /// Figures of the step; `None` for an evaluation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metrics: Option<StepMetrics>,
    /// Figures of the evaluation; `None` for a step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluation: Option<Evaluation>,
}

/// Key of a record: phase, step, and whether the record is a step's or an evaluation's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TrainKey {
    /// The phase.
    pub phase: Phase,
    /// Number of steps of the phase made by then, this one included.
    pub step: usize,
    /// Kind of the record.
    pub what: Measured,
}

/// A phase of the training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Raises the likelihood of references.
    Supervised,
    /// Raises the likelihood of replies that the judge passes (group relative policy optimisation).
    Grpo,
}

impl Phase {
    /// Returns the phase's name in files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Supervised => "supervised",
            Self::Grpo => "grpo",
        }
    }
}

/// Kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measured {
    /// A training step.
    Step,
    /// An evaluation of the weights after a step, on the test split.
    Evaluation,
}

/// The figures of a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepMetrics {
    /// The loss: in a supervised step the mean negative log-probability of a token, in nats; in a step of GRPO the clipped objective with the
    /// weighted divergence, a mean over tokens. With several updates in a step, the loss of the last one.
    pub loss: f64,
    /// Mean reward of the replies; replies that were cut off earn nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reward: Option<f64>,
    /// Share of the replies that pass and were not cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<f64>,
    /// Share of the groups whose rewards differ; groups of equal rewards teach nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
    /// Mean divergence of the policy from the start of the phase for each token, in nats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kl: Option<f64>,
    /// Share of the tokens whose probability ratio was clipped, in the last update.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clipped: Option<f64>,
    /// Share of the replies that were cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<f64>,
    /// Mean number of tokens of a reference or reply.
    pub tokens: f64,
    /// Norm of the gradient before clipping.
    pub gradient_norm: f64,
    /// The learning rate.
    pub learning_rate: f64,
    /// Duration of the step, in seconds.
    pub seconds: f64,
}

/// Figures of the test split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Number of replies, greedy and unconstrained.
    pub replies: usize,
    /// Number of replies that pass, cut-off replies included.
    pub passed: usize,
    /// Number of replies that were cut off.
    pub truncated: usize,
    /// Mean number of tokens of a reply.
    pub tokens: f64,
    /// Duration of the evaluation, in seconds.
    pub seconds: f64,
}

impl Evaluation {
    /// Returns the share of the replies that pass, from 0 to 1; 0 where there are no replies.
    pub fn rate(&self) -> f64 {
        self.passed as f64 / self.replies.max(1) as f64
    }
}

impl Recorded for TrainRecord {
    type Key = TrainKey;

    fn key(&self) -> &TrainKey {
        &self.key
    }
}
