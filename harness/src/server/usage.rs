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

    /// Tokens of the whole request, as a provider's limits count them, with an estimate of its prompt where the server counted none; `None` where
    /// nothing is known of the answer either, such as that of a refused schema.
    pub fn of_request(&self, estimated_prompt: u64) -> Option<u64> {
        match self.source {
            TokenSource::Usage => Some(self.prompt + self.completion),
            TokenSource::Pieces => (self.completion > 0).then_some(estimated_prompt + self.completion),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_a_prompt_whether_or_not_the_server_counts_it() {
        let usage = |prompt, completion, source| TokenUsage {
            prompt,
            completion,
            source,
            ..TokenUsage::default()
        };
        assert_eq!(usage(30, 5, TokenSource::Usage).of_request(40), Some(35));
        assert_eq!(usage(0, 5, TokenSource::Pieces).of_request(40), Some(45));
        assert_eq!(TokenUsage::default().of_request(40), None);
    }
}
