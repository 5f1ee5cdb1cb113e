//! [`Reading`]: an answer put together from the pieces that arrive.

use std::time::Duration;

use serde_json::Value;

use super::answer::{Answer, Outcome};
use super::dialect::Dialect;
use super::error::ServerError;
use super::protocol::NoPiece;
use super::usage::{TokenSource, TokenUsage};

/// Data of the event that ends a stream of chat completions.
const DONE: &[u8] = b"[DONE]";

/// State of an answer that is read from a server, piece by piece.
#[derive(Debug)]
pub struct Reading {
    dialect: Dialect,
    text: String,
    refusal: String,
    arrivals: Vec<Duration>,
    reasoning_pieces: u64,
    finish: Option<String>,
    usage: Option<TokenUsage>,
    model: Option<String>,
    fingerprint: Option<String>,
    last: Duration,
    events: usize,
    done: bool,
}

impl Reading {
    /// A reading of which nothing has arrived.
    pub fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            text: String::new(),
            refusal: String::new(),
            arrivals: Vec::new(),
            reasoning_pieces: 0,
            finish: None,
            usage: None,
            model: None,
            fingerprint: None,
            last: Duration::ZERO,
            events: 0,
            done: false,
        }
    }

    /// Adds the data of an event, or a whole answer, which arrived `at`.
    pub fn take(&mut self, data: &[u8], at: Duration) -> Result<(), NoPiece> {
        self.events += 1;
        if data.is_empty() || self.done {
            return Ok(());
        }
        if data == DONE {
            self.done = true;
            return Ok(());
        }
        let malformed = |problem: String| NoPiece::Malformed(format!("event {}: {problem}", self.events));
        let event: Value = serde_json::from_slice(data).map_err(|error| malformed(error.to_string()))?;
        let piece = self.dialect.piece(&event).map_err(|problem| match problem {
            NoPiece::Malformed(problem) => malformed(problem),
            error => error,
        })?;
        if !piece.text.is_empty() {
            self.arrivals.push(at);
            self.text.push_str(&piece.text);
        }
        if !piece.text.is_empty() || piece.finish.is_some() {
            self.last = at;
        }
        self.reasoning_pieces += u64::from(piece.reasoning);
        self.refusal.push_str(&piece.refusal);
        self.finish = piece.finish.or(self.finish.take());
        self.usage = piece.usage.or(self.usage);
        self.model = piece.model.or(self.model.take());
        self.fingerprint = piece.fingerprint.or(self.fingerprint.take());
        Ok(())
    }

    /// Whether nothing more can come.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Whether the model's answer is complete, whatever else may come.
    pub fn is_finished(&self) -> bool {
        self.done || self.finish.is_some()
    }

    /// The answer, cut off at `total` by a limit.
    pub fn cut_off(self, outcome: Outcome, message: Option<String>, total: Duration) -> Answer {
        let pieces = self.arrivals.len() as u64;
        let mut usage = self.usage.unwrap_or(TokenUsage {
            completion: pieces + self.reasoning_pieces,
            source: TokenSource::Pieces,
            ..TokenUsage::default()
        });
        if self.reasoning_pieces > 0 {
            // Servers that do not count it say 0 or nothing.
            let told = usage.reasoning.filter(|&tokens| tokens > 0);
            usage.reasoning = told.or(Some(self.reasoning_pieces.min(usage.completion)));
        }
        Answer {
            outcome,
            message,
            text: self.text,
            total,
            usage,
            arrivals: self.arrivals,
            attempts: 1,
            request_bytes: 0,
            model: self.model,
            fingerprint: self.fingerprint,
        }
    }

    /// Returns the answer after the end of the response, which had `bytes` bytes.
    pub fn end(mut self, bytes: usize, failed: Option<String>) -> Result<Answer, ServerError> {
        if !self.is_finished() {
            return Err(ServerError::BrokenOff { bytes, message: failed });
        }
        let is_nothing = self.text.is_empty() && self.refusal.is_empty() && self.reasoning_pieces == 0;
        if self.finish.is_none() && is_nothing {
            let message = Some("no part of an answer came before the end".to_owned());
            return Err(ServerError::BrokenOff { bytes, message });
        }
        let refusal = std::mem::take(&mut self.refusal);
        let reason = self.finish.take();
        let (outcome, message) = match reason.as_deref().map(|reason| self.dialect.outcome(reason)) {
            _ if !refusal.is_empty() => (Outcome::Refused, Some(refusal)),
            None => (Outcome::Finished, None),
            Some(Some(outcome @ (Outcome::Filtered | Outcome::Other))) => (outcome, reason),
            Some(Some(outcome)) => (outcome, None),
            Some(None) => {
                return Err(ServerError::Failed {
                    status: 200,
                    message: format!("the answer ended with {:?}", reason.unwrap_or_default()),
                    wait: None,
                    names_schema: false,
                });
            }
        };
        let total = self.last;
        Ok(self.cut_off(outcome, message, total))
    }
}
