//! [`Question`] and [`Answer`]: a request to a server for one text, and its outcome.

use std::time::Duration;

use maskwright_models::SamplingOptions;
use maskwright_suites::prompt::Message;
use serde::{Deserialize, Serialize};

use super::usage::{Prices, TokenSource, TokenUsage};

/// A question for a server: prompt, schema, and limits of the answer.
#[derive(Clone, Debug)]
pub struct Question {
    /// The prompt, from the instruction on.
    pub messages: Vec<Message>,
    /// The schema's text, where the answer is to be constrained.
    pub schema: Option<String>,
    /// Tokens of the answer, at most; as many as the server likes where there is none.
    pub max_tokens: Option<usize>,
    /// Sampling options: temperature, top-k, top-p and the like.
    pub sampling: SamplingOptions,
    /// Longest time from sending to the last byte.
    pub limit: Duration,
}

/// A server's answer to a question, with the times at which its pieces arrived.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Outcome of the question.
    pub outcome: Outcome,
    /// The server's words where the outcome is not a plain end: a refusal, a reason, an error.
    pub message: Option<String>,
    /// The text, as far as it came.
    pub text: String,
    /// Arrival times of the pieces of the text, since the request was sent.
    pub arrivals: Vec<Duration>,
    /// Time from sending the request to the end of the answer.
    pub total: Duration,
    /// Tokens, as the server or else the pieces count them.
    pub usage: TokenUsage,
    /// Number of requests made for the answer, the first included.
    pub attempts: u32,
    /// Bytes of the request.
    pub request_bytes: usize,
    /// The server's own name of the model that answered.
    pub model: Option<String>,
    /// The server's mark of the configuration that answered.
    pub fingerprint: Option<String>,
}

/// Outcome of a question. All outcomes but [`Outcome::Unanswered`] are the server's verdict, and such a question is not asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The model ended its answer.
    Finished,
    /// The limit on tokens was reached.
    TokenLimit,
    /// The prompt and its answer do not fit the model's context.
    ContextFull,
    /// The limit on time was reached.
    TimeLimit,
    /// The server sent more bytes than any answer can have.
    SizeLimit,
    /// A filter of the provider's held the answer back.
    Filtered,
    /// The model refused to answer.
    Refused,
    /// The server refused the schema.
    SchemaRefused,
    /// The answer ended for a reason that belongs to none of the above.
    Other,
    /// There is no answer, for reasons that lie in the server or the network: to be asked again.
    Unanswered,
}

impl Outcome {
    /// Every outcome, in the order of tables.
    pub const ALL: [Self; 10] = [
        Self::Finished,
        Self::TokenLimit,
        Self::ContextFull,
        Self::TimeLimit,
        Self::SizeLimit,
        Self::Filtered,
        Self::Refused,
        Self::SchemaRefused,
        Self::Other,
        Self::Unanswered,
    ];

    /// The outcome in words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::TokenLimit => "token limit",
            Self::ContextFull => "context full",
            Self::TimeLimit => "time limit",
            Self::SizeLimit => "size limit",
            Self::Filtered => "filtered",
            Self::Refused => "refused to answer",
            Self::SchemaRefused => "schema refused",
            Self::Other => "ended otherwise",
            Self::Unanswered => "unanswered",
        }
    }
}

impl Answer {
    /// Returns the cost of the answer. Where the server reported no counts, a token is a piece of the answer or four bytes of the request.
    pub fn cost(&self, prices: &Prices) -> f64 {
        let mut usage = self.usage;
        if usage.source == TokenSource::Pieces {
            usage.prompt = self.request_bytes as u64 / 4;
        }
        prices.cost(&usage)
    }

    /// Time to the first piece of the text.
    pub fn time_to_first(&self) -> Option<Duration> {
        self.arrivals.first().copied()
    }

    /// Mean time per token of the text after the first; `None` where the whole text arrived at once.
    pub fn time_per_token(&self) -> Option<Duration> {
        let (first, last) = (self.arrivals.first()?, self.arrivals.last()?);
        let steps = u32::try_from(self.usage.visible()).ok()?.checked_sub(1)?;
        (self.arrivals.len() > 1 && steps > 0).then(|| (*last - *first) / steps)
    }
}
