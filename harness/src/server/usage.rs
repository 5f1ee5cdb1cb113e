//! [`TokenUsage`]: the tokens of a request, the source of these counts, and the [`Prices`] of tokens.

use serde::{Deserialize, Serialize};

/// Tokens of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenUsage {
    /// Tokens of the prompt.
    pub prompt: u64,
    /// Tokens of the answer, reasoning included.
    pub completion: u64,
    /// Reasoning tokens of the answer: as the server tells, or else one for each piece of reasoning that arrived.
    pub reasoning: Option<u64>,
    /// Prompt tokens that the server still had in memory, where it tells.
    pub cached: Option<u64>,
    /// The source of these counts.
    pub source: TokenSource,
}

/// The source of a count of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenSource {
    /// The server counted the tokens.
    Usage,
    /// The server gave no counts: the answer has a token for each piece that arrived, though a piece may hold several, and the prompt none.
    #[default]
    Pieces,
}

impl TokenUsage {
    /// Tokens of the text itself.
    pub fn visible(&self) -> u64 {
        self.completion.saturating_sub(self.reasoning.unwrap_or(0))
    }
}

/// Prices per million tokens, in any currency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prices {
    /// Price of prompts.
    pub input: f64,
    /// Price of answers, reasoning included.
    pub output: f64,
}

impl Prices {
    /// Cost of a request, in the prices' currency.
    pub fn cost(&self, usage: &TokenUsage) -> f64 {
        (usage.prompt as f64 * self.input + usage.completion as f64 * self.output) / 1e6
    }
}
