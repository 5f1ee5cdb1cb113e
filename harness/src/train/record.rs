//! [`TrainRecord`]: what a step came to, or an evaluation.

use serde::{Deserialize, Serialize};

use crate::run::directory::Recorded;

/// One line of `records.jsonl` of a run of `maskwright train`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainRecord {
    /// Phase and step.
    #[serde(flatten)]
    pub key: TrainKey,
    /// What the step came to, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metrics: Option<StepMetrics>,
    /// What the evaluation came to, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluation: Option<Evaluation>,
}

/// What a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TrainKey {
    /// The phase.
    pub phase: Phase,
    /// Steps of the phase made when it was measured, this one included.
    pub step: usize,
    /// What was measured.
    pub what: Measured,
}

/// A part of the training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// References become likelier.
    Supervised,
    /// Replies that the judge passes become likelier.
    Grpo,
}

impl Phase {
    /// As files and tables call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Supervised => "supervised",
            Self::Grpo => "grpo",
        }
    }
}

/// What a record measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measured {
    /// A step.
    Step,
    /// The weights after a step, by the test split.
    Evaluation,
}

/// The figures of a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepMetrics {
    /// The loss: in a supervised step the mean negative log-probability of a token, in nats; in one of GRPO the clipped objective with the
    /// weighted divergence, a mean over tokens. Of several updates, the last one's.
    pub loss: f64,
    /// Mean reward of the replies; those that were cut off earn nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reward: Option<f64>,
    /// Share of the replies that pass and were not cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<f64>,
    /// Share of the groups whose rewards are not all alike: the others teach nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
    /// Mean divergence of a token from the start of the phase, in nats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kl: Option<f64>,
    /// Share of the tokens whose ratio was clipped, in the last update.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clipped: Option<f64>,
    /// Share of the replies that were cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<f64>,
    /// Mean tokens of a reference or reply.
    pub tokens: f64,
    /// Norm of the gradient before it was shortened.
    pub gradient_norm: f64,
    /// The learning rate.
    pub learning_rate: f64,
    /// How long the step took, in seconds.
    pub seconds: f64,
}

/// The figures of the test split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Replies, greedy and unconstrained.
    pub replies: usize,
    /// Replies that pass, also where they were cut off.
    pub passed: usize,
    /// Replies that were cut off.
    pub truncated: usize,
    /// Mean tokens of a reply.
    pub tokens: f64,
    /// How long the evaluation took, in seconds.
    pub seconds: f64,
}

impl Evaluation {
    /// Share of the replies that pass, from 0 to 1; 0 where there are none.
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
