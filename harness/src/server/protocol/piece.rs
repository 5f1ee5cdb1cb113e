//! [`Piece`]: the content of one event of a stream, or of a whole answer.

use serde_json::Value;

use crate::server::error::ErrorBody;
use crate::server::usage::{TokenSource, TokenUsage};

/// One piece of an answer; members that the event lacks are empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Piece {
    /// Next piece of the text.
    pub text: String,
    /// Next piece of a refusal.
    pub refusal: String,
    /// Whether the piece belongs to the model's reasoning, which is kept out of the text.
    pub reasoning: bool,
    /// The server's name of the reason for which the answer ended.
    pub finish: Option<String>,
    /// Tokens so far.
    pub usage: Option<TokenUsage>,
    /// The server's name of the model.
    pub model: Option<String>,
    /// The server's mark of the configuration.
    pub fingerprint: Option<String>,
}

/// Error for an event that is not a piece of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum NoPiece {
    /// The event is a server's error message.
    Error(ErrorBody),
    /// The event does not follow the protocol; the text says how.
    Malformed(String),
}

/// Largest number of tokens that is accepted from a server: sums of more could overflow.
const LARGEST_COUNT: u64 = 1 << 40;

/// A server's number of tokens.
pub(super) fn tokens(count: &Value) -> Option<u64> {
    count.as_u64().map(|count| count.min(LARGEST_COUNT))
}

/// Reads the token counts out of a server's JSON, given the JSON Pointers of the prompt's and the answer's count.
pub(super) fn usage(counts: &Value, prompt: &str, completion: &str) -> Option<TokenUsage> {
    let count = |pointer: &str| counts.pointer(pointer).and_then(tokens);
    Some(TokenUsage {
        prompt: count(prompt)?,
        completion: count(completion).unwrap_or(0),
        reasoning: None,
        cached: None,
        source: TokenSource::Usage,
    })
}
