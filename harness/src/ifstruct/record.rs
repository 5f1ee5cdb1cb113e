//! [`ReplyRecord`]: a model's reply to one sample, and the verdict on it.

use maskwright_models::FinishReason;
use maskwright_suites::ifstruct::Score;
use serde::{Deserialize, Serialize};

use crate::bench::record::{GenerationRecord, ServerRecord};
use crate::run::directory::Recorded;

/// One line of `records.jsonl` of a run of `maskwright ifstruct run`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplyRecord {
    /// Key of the record: model, mode and sample.
    #[serde(flatten)]
    pub key: ReplyKey,
    /// Reason for which the model could not be asked or constrained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// The reply; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<GenerationRecord>,
    /// Record of the request to a server: outcome, attempts, tokens, cost and software version; absent where the model ran on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerRecord>,
    /// The verdict on the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<Score>,
}

/// Key of a [`ReplyRecord`]: model, mode and sample.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ReplyKey {
    /// The model, as the user named it; of a server, its name and model.
    pub model: String,
    /// Whether its replies are constrained.
    pub mode: Mode,
    /// The sample.
    pub seed: u64,
}

/// Whether replies are constrained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The model alone.
    Unconstrained,
    /// The model constrained by this project's engine to replies that pass.
    Constrained,
}

impl Mode {
    /// Both modes.
    pub const ALL: [Self; 2] = [Self::Unconstrained, Self::Constrained];

    /// Returns the name of the mode in records and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unconstrained => "unconstrained",
            Self::Constrained => "constrained",
        }
    }
}

impl Recorded for ReplyRecord {
    type Key = ReplyKey;

    fn key(&self) -> &ReplyKey {
        &self.key
    }

    fn is_final(&self) -> bool {
        self.server.as_ref().is_none_or(ServerRecord::is_final)
    }
}

impl ReplyRecord {
    /// A record without results.
    pub fn empty(key: ReplyKey) -> Self {
        Self {
            key,
            refused: None,
            generation: None,
            server: None,
            score: None,
        }
    }

    /// Whether the model ended the reply itself.
    pub fn is_finished(&self) -> bool {
        let finish = self.generation.as_ref().and_then(|generation| generation.finish);
        finish == Some(FinishReason::EndOfSequence)
    }

    /// Whether the prompt did not fit into the model's context, so that nothing could be answered. A reply that fills the context is judged as it
    /// stands, like one that reaches the limit on tokens.
    pub fn lacked_room(&self) -> bool {
        let full = self
            .generation
            .as_ref()
            .filter(|generation| generation.finish == Some(FinishReason::ContextFull));
        full.is_some_and(|generation| generation.output_tokens == 0)
    }

    /// Whether the reply meets the request.
    pub fn passed(&self) -> bool {
        self.score.as_ref().is_some_and(|score| score.passed)
    }
}
