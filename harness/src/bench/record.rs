//! [`Record`]: result of one framework on one schema. Tables are derived from records, never stored in their place.

use std::time::Duration;

use maskwright::{CompileError, CompileErrorKind};
use maskwright_models::{DecodeError, FinishReason, Generation, MaskEffect, ReasoningSpan};
use maskwright_suites::validate::{Scoring, Verdict};
use maskwright_worker::protocol::WireCompileError;
use serde::{Deserialize, Serialize};

use crate::run::directory::Recorded;
use crate::server::{Answer, Outcome, Prices, TokenSource, Unanswered};

/// One line of `records.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Model, framework, dataset and schema of the record.
    #[serde(flatten)]
    pub key: RecordKey,
    /// Reason why the schema cannot be used at all: an unreadable row, or a schema that no answer can be judged by. Such
    /// a schema counts for no framework.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unusable: Option<String>,
    /// Whether the framework documents everything that the schema uses as supported; absent for the model alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theoretical: Option<bool>,
    /// The compilation; absent for the model alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compile: Option<CompileRecord>,
    /// The generation; absent where the schema did not compile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<GenerationRecord>,
    /// The judgement of the generated text by [`Scoring::Strict`]; absent where nothing was generated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// The judgement of the generated text by [`Scoring::Paper`]; absent where nothing was generated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper_verdict: Option<Verdict>,
    /// The server's part of the record, where a server was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerRecord>,
    /// Total times of all repetitions, in seconds, where the answer was generated several times. The record is then the repetition with
    /// the middle total time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeats_s: Vec<f64>,
}

/// Subject of a record: model, framework, dataset and schema. A run has one record for each key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RecordKey {
    /// The model, as the user named it.
    pub model: String,
    /// The framework, or `none` for the model alone.
    pub framework: String,
    /// The dataset.
    pub dataset: String,
    /// The schema's name in the dataset.
    pub instance: String,
}

/// Time and error of a compilation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompileRecord {
    /// Time in `compile` (grammar compilation time), in seconds; the limit where the compilation reached it. Absent for
    /// servers, whose compilation cannot be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Whether the compilation ran while the model read the prompt, so that its time is part of the generation's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub beside_prefill: bool,
    /// Reason why the schema was refused, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<CompileFailure>,
}

/// Reason why a schema was refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompileFailure {
    /// Kind of the error.
    pub kind: CompileErrorKind,
    /// JSON Pointer to the subschema at fault, where the framework says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// The keyword at fault, where the framework says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keyword: Option<String>,
    /// The framework's own words.
    pub message: String,
}

impl From<&CompileError> for CompileFailure {
    fn from(error: &CompileError) -> Self {
        Self {
            kind: error.kind(),
            pointer: error.pointer().map(str::to_owned),
            keyword: error.keyword().map(str::to_owned),
            message: error.message().to_owned(),
        }
    }
}

impl From<WireCompileError> for CompileFailure {
    fn from(error: WireCompileError) -> Self {
        Self {
            kind: error.kind,
            pointer: error.pointer,
            keyword: error.keyword,
            message: error.message,
        }
    }
}

/// Reasoning of a model of this machine before its answer; neither constrained nor judged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReasoningRecord {
    /// Number of tokens, which `output_tokens` leaves out.
    pub tokens: usize,
    /// Time from the first token of the reasoning to its last, in seconds: a part of the time to the answer's first token.
    pub seconds: f64,
    /// Whether the reasoning was cut off: its limit was reached, or the model ended its turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

impl ReasoningRecord {
    fn new(span: &ReasoningSpan) -> Self {
        Self {
            tokens: span.tokens,
            seconds: span.time.as_secs_f64(),
            cut: span.cut,
        }
    }
}

/// Tokens, times, masks and text of a generation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GenerationRecord {
    /// Tokens of the prompt; 0 where a server does not tell.
    pub prompt_tokens: usize,
    /// Tokens of the answer, the end-of-sequence token not counted. Servers may count it.
    pub output_tokens: usize,
    /// Tokens of the answer that were forced, not sampled; 0 for servers, which do not tell.
    pub forced_tokens: usize,
    /// Reasoning before the answer, where the model reasoned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<ReasoningRecord>,
    /// Forward passes of the model, those of the prompt and the reasoning included; 0 for servers, which do not tell.
    pub forward_passes: usize,
    /// Reason why the generation ended; absent after an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<FinishReason>,
    /// The error that ended the generation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether the error was the framework's, not the model's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub framework_failed: bool,
    /// Whether tokens other than those of the model and the mask alone were taken, so that the answer ended before its limit on
    /// tokens.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub helped: bool,
    /// Time to the first token of the answer, reasoning included, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttft_s: Option<f64>,
    /// Mean time per token after the first, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tpot_ms: Option<f64>,
    /// Total time, in seconds.
    pub tgt_s: f64,
    /// Masks computed.
    pub masks: usize,
    /// Time of the framework per mask, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask_us: Option<f64>,
    /// Time per mask that the model waited, in microseconds: the part of [`Self::mask_us`] that the forward pass did not hide, and the
    /// handing over between threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exposed_mask_us: Option<f64>,
    /// Time for which the framework prepared likely tokens while the model ran, per mask, in microseconds; part of neither of the
    /// two figures above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepared_mask_us: Option<f64>,
    /// Effect of the masks on the model's choices, where it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask_effect: Option<MaskEffectRecord>,
    /// Time at which each token was known, in microseconds since the start of the generation; for servers, time of arrival of each
    /// piece of the answer.
    pub token_times_us: Vec<u64>,
    /// The answer's text; bytes that are not UTF-8 appear as U+FFFD.
    pub text: String,
}

/// Effect of masks on the choices of one answer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MaskEffectRecord {
    /// Number of tokens chosen under a mask; forced tokens are not counted.
    pub choices: usize,
    /// Probability that the model gave to forbidden tokens, summed over all choices: the number of forbidden tokens that it would have
    /// taken on average, had it been free at each choice.
    pub removed: f64,
    /// Choices at which the most likely token was forbidden.
    pub first_choice_forbidden: usize,
}

impl MaskEffectRecord {
    /// Sums up effects; `None` for an empty list.
    fn of(effects: &[MaskEffect]) -> Option<Self> {
        (!effects.is_empty()).then(|| Self {
            choices: effects.len(),
            removed: effects.iter().map(|effect| effect.removed).sum(),
            first_choice_forbidden: effects.iter().filter(|effect| effect.first_choice_forbidden).count(),
        })
    }
}

impl GenerationRecord {
    /// The framework's words, where it failed during the answer.
    pub fn failure(&self) -> Option<&str> {
        self.framework_failed.then(|| self.error.as_deref().unwrap_or_default())
    }

    /// Makes the record of a generation; `text` is the answer's text.
    pub fn new(prompt_tokens: usize, generation: &Generation, text: String) -> Self {
        let times = generation.mask_times;
        let per_mask = |time: Duration| (times.masks > 0).then(|| time.as_secs_f64() * 1e6 / times.masks as f64);
        let (finish, error) = match &generation.finish {
            Ok(finish) => (Some(*finish), None),
            Err(error) => (None, Some(error.to_string())),
        };
        Self {
            prompt_tokens,
            output_tokens: generation.tokens.len(),
            forced_tokens: generation.forced_tokens(),
            reasoning: generation.reasoning.as_ref().map(ReasoningRecord::new),
            forward_passes: generation.forward_passes,
            finish,
            error,
            framework_failed: matches!(&generation.finish, Err(error) if !matches!(error, DecodeError::Model(_))),
            helped: generation.budget_intervened,
            ttft_s: generation.time_to_first_token().map(|time| time.as_secs_f64()),
            tpot_ms: generation.time_per_output_token().map(|time| time.as_secs_f64() * 1e3),
            tgt_s: generation.total.as_secs_f64(),
            masks: times.masks,
            mask_us: per_mask(times.total),
            exposed_mask_us: per_mask(times.exposed),
            prepared_mask_us: per_mask(times.speculation),
            mask_effect: MaskEffectRecord::of(&generation.mask_effects),
            token_times_us: generation
                .tokens
                .iter()
                .map(|token| token.at.as_micros() as u64)
                .collect(),
            text,
        }
    }

    /// Makes the record of a server's answer, with the times at which it arrived; `text` is the answer's text. Returns `None` where
    /// there is no answer because the schema was refused.
    pub fn of_answer(answer: &Answer, text: String) -> Option<Self> {
        let finish = match answer.outcome {
            Outcome::Finished => Ok(FinishReason::EndOfSequence),
            Outcome::TokenLimit => Ok(FinishReason::TokenLimit),
            Outcome::ContextFull => Ok(FinishReason::ContextFull),
            Outcome::TimeLimit => Ok(FinishReason::TimeLimit),
            Outcome::SizeLimit | Outcome::Filtered | Outcome::Refused | Outcome::Other => {
                let message = answer.message.as_deref().unwrap_or_default();
                Err(format!("{}: {message}", answer.outcome.describe()))
            }
            Outcome::SchemaRefused | Outcome::Unanswered => return None,
        };
        let count = |tokens: u64| usize::try_from(tokens).unwrap_or(usize::MAX);
        let seconds = |time: Duration| time.as_secs_f64();
        Some(Self {
            prompt_tokens: count(answer.usage.prompt),
            output_tokens: count(answer.usage.visible()),
            forced_tokens: 0,
            reasoning: None,
            forward_passes: 0,
            finish: finish.as_ref().ok().copied(),
            error: finish.err(),
            framework_failed: false,
            helped: false,
            ttft_s: answer.time_to_first().map(seconds),
            tpot_ms: answer.time_per_token().map(|time| time.as_secs_f64() * 1e3),
            tgt_s: answer.total.as_secs_f64(),
            masks: 0,
            mask_us: None,
            exposed_mask_us: None,
            prepared_mask_us: None,
            mask_effect: None,
            token_times_us: answer.arrivals.iter().map(|at| at.as_micros() as u64).collect(),
            text,
        })
    }
}

/// Outcome, token counts and cost of a request to a server, answered or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerRecord {
    /// Outcome of the request.
    pub outcome: Outcome,
    /// The server's message where the request did not end plainly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Number of requests made, repetitions included.
    pub attempts: u32,
    /// The source of the token counts; absent without an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_by: Option<TokenSource>,
    /// Tokens of the answer that were reasoning, which `output_tokens` leaves out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// Tokens of the prompt that the server had in its cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Cost of the answer, in the currency of the prices that were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Version of the server's software, where the server names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The server's own name of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The server's fingerprint of the configuration that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

impl ServerRecord {
    /// Makes the record of a request with an answer.
    pub fn of_answer(answer: &Answer, prices: Option<&Prices>) -> Self {
        let usage = &answer.usage;
        Self {
            outcome: answer.outcome,
            message: answer.message.clone(),
            attempts: answer.attempts,
            tokens_by: (answer.outcome != Outcome::SchemaRefused).then_some(usage.source),
            reasoning_tokens: usage.reasoning,
            cached_tokens: usage.cached,
            cost: prices
                .filter(|_| answer.outcome != Outcome::SchemaRefused)
                .map(|prices| answer.cost(prices)),
            version: None,
            model: answer.model.clone(),
            fingerprint: answer.fingerprint.clone(),
        }
    }

    /// Makes the record of a request without an answer.
    pub fn unanswered(unanswered: &Unanswered) -> Self {
        Self {
            message: Some(unanswered.error.to_string()),
            ..Self::ended(Outcome::Unanswered, unanswered.attempts)
        }
    }

    /// Makes the record of a request with this outcome after `attempts` attempts, everything else unknown.
    pub fn ended(outcome: Outcome, attempts: u32) -> Self {
        Self {
            outcome,
            message: None,
            attempts,
            tokens_by: None,
            reasoning_tokens: None,
            cached_tokens: None,
            cost: None,
            version: None,
            model: None,
            fingerprint: None,
        }
    }

    /// Whether the request is over: a request without an answer says nothing about the model or the framework, and is made again.
    pub fn is_final(&self) -> bool {
        self.outcome != Outcome::Unanswered
    }
}

impl Recorded for Record {
    type Key = RecordKey;

    fn key(&self) -> &RecordKey {
        &self.key
    }

    fn is_final(&self) -> bool {
        self.server.as_ref().is_none_or(ServerRecord::is_final)
    }
}

impl Record {
    /// Makes the record of a schema that cannot be used.
    pub fn unusable(key: RecordKey, reason: impl Into<String>) -> Self {
        Self {
            unusable: Some(reason.into()),
            ..Self::empty(key)
        }
    }

    /// Makes a record without any result.
    pub fn empty(key: RecordKey) -> Self {
        Self {
            key,
            unusable: None,
            theoretical: None,
            compile: None,
            generation: None,
            verdict: None,
            paper_verdict: None,
            server: None,
            repeats_s: Vec::new(),
        }
    }

    /// Returns the record with the middle total time among records of one question, with the time of the first compilation where both
    /// succeeded, since a framework may keep what it compiled; `None` for an empty list.
    pub fn middle(mut records: Vec<Self>) -> Option<Self> {
        let first = records.first()?.compile.clone();
        let total = |record: &Self| record.generation.as_ref().map(|generation| generation.tgt_s);
        let totals: Vec<f64> = records.iter().filter_map(total).collect();
        records.sort_by(|one, other| {
            total(one)
                .unwrap_or(f64::INFINITY)
                .total_cmp(&total(other).unwrap_or(f64::INFINITY))
        });
        let several = records.len() > 1;
        let at = records.len().saturating_sub(1) / 2;
        let mut middle = records.swap_remove(at);
        middle.repeats_s = if several { totals } else { Vec::new() };
        if let (Some(first), Some(compile)) = (first, &mut middle.compile)
            && first.error.is_none()
            && compile.error.is_none()
        {
            compile.seconds = first.seconds;
        }
        Some(middle)
    }

    /// Whether the framework compiled the schema within the limit and had no error of its own during the generation (paper,
    /// definition 5.1); `None` for the model alone.
    pub fn declared(&self) -> Option<bool> {
        let compile = self.compile.as_ref()?;
        let failed = self
            .generation
            .as_ref()
            .is_some_and(|generation| generation.framework_failed);
        Some(compile.error.is_none() && !failed)
    }

    /// Whether the answer came within the time limit and is valid by `scoring` (paper, definition 5.2).
    pub fn is_valid(&self, scoring: Scoring) -> bool {
        let late = |generation: &GenerationRecord| generation.finish == Some(FinishReason::TimeLimit);
        let verdict = match scoring {
            Scoring::Strict => &self.verdict,
            Scoring::Paper => &self.paper_verdict,
        };
        verdict.as_ref().is_some_and(|verdict| verdict.valid) && !self.generation.as_ref().is_some_and(late)
    }

    /// Whether the prompt, or the answer, did not fit into the model's context.
    pub fn lacked_room(&self) -> bool {
        let finish = self.generation.as_ref().and_then(|generation| generation.finish);
        finish == Some(FinishReason::ContextFull)
    }

    /// Whether the framework had to bring the answer to its end before the limit on tokens.
    pub fn was_helped(&self) -> bool {
        self.generation.as_ref().is_some_and(|generation| generation.helped)
    }

    /// Returns the generation where it is comparable with others: it ended by itself, at its token limit or at a full context, with at
    /// least one token.
    pub fn comparable(&self) -> Option<&GenerationRecord> {
        self.generation.as_ref().filter(|generation| {
            let ended = matches!(
                generation.finish,
                Some(FinishReason::EndOfSequence | FinishReason::TokenLimit | FinishReason::ContextFull)
            );
            ended && generation.output_tokens > 0
        })
    }
}
