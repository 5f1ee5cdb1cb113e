//! The messages between the harness and a worker.
//!
//! A message is one line of JSON in UTF-8, ended by `\n`. A message with a member `bytes` is followed by that many
//! raw bytes. The harness sends a [`Request`], the worker answers it with exactly one reply before it reads the
//! next. A reply that has a member `error` (text) says that the request was not understood or is not offered.
//!
//! | request | reply |
//! |---|---|
//! | `hello` | [`Description`] |
//! | `setup` | `{}`, or `error` where the framework cannot work with the vocabulary |
//! | `compile` | [`Compiled`] |
//! | `replay` | [`Replayed`] |
//! | `mask` | [`MaskReply`], followed by the mask: one bit per token, little-endian 32-bit words |
//! | `advance`, `rollback` | [`Done`] |
//! | `is_complete` | [`Completeness`] |
//! | `forced_tokens` | [`Forced`] |
//! | `completion` | [`Completion`] |
//! | `fork` | [`Forked`] |
//! | `drop` | `{}` |
//!
//! Times are nanoseconds spent in the framework, measured in the worker: `wall_ns` on a monotonic clock, `cpu_ns` the
//! processor time of the whole process, all threads. Those of a replay are without what reading the clocks takes at the
//! least, half a microsecond perhaps, which is a good part of what a mask takes. The end of input is the request to exit.

use std::borrow::Cow;
use std::collections::BTreeMap;

use maskwright::{CompileError, CompileErrorKind, MaskError, TokenId};
use serde::{Deserialize, Serialize};

use crate::style::StyleChanges;
use crate::vocabulary::WireVocabulary;

/// Version of this protocol, sent with `hello`.
pub const VERSION: u32 = 1;

/// Requests of the harness to a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Request<'a> {
    /// Asks the worker to describe itself; always the first request.
    Hello {
        /// The harness's [`VERSION`].
        protocol: u32,
    },
    /// Makes the framework ready; once, before everything below.
    Setup {
        /// The tokens.
        vocabulary: Box<WireVocabulary>,
        /// JSON texts by URI that `$ref` may lead to. Empty unless the worker accepts documents.
        #[serde(default)]
        documents: BTreeMap<String, String>,
        /// Whether documents are judged with `format` as an assertion, for frameworks that can vary this.
        #[serde(default)]
        assert_formats: bool,
        /// Purpose of the masks.
        #[serde(default)]
        purpose: Purpose,
        /// Changes to the style of documents, for frameworks that can vary it.
        #[serde(default, skip_serializing_if = "StyleChanges::is_empty")]
        style: StyleChanges,
        /// The kind of text that `compile` brings: structural tags only to workers that say they take them.
        #[serde(default)]
        grammar: Grammar,
    },
    /// Compiles a schema, or what else `setup` has said.
    Compile {
        /// The text of the schema, or of the structural tag.
        schema: Cow<'a, str>,
        /// Whether to compute the first mask too and report its time. It must not make later replays faster than
        /// they would be without: compute it on a copy that is thrown away.
        #[serde(default)]
        first_mask: bool,
        /// JSON texts by URI that `$ref` may lead to in this schema, besides those of `setup`. Empty unless the worker
        /// accepts documents.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        documents: Cow<'a, BTreeMap<String, String>>,
    },
    /// Feeds tokens to a copy of a masker, asking for the mask before each. The masker itself does not advance.
    Replay {
        /// The masker.
        masker: u64,
        /// The tokens, without an end of sequence.
        tokens: Cow<'a, [TokenId]>,
        /// Whether to count forced tokens too, in a second pass that is not timed.
        #[serde(default)]
        forced: bool,
    },
    /// The mask of a masker.
    Mask {
        /// The masker.
        masker: u64,
    },
    /// Accepts a token.
    Advance {
        /// The masker.
        masker: u64,
        /// The token.
        token: TokenId,
    },
    /// Rolls the masker back by some tokens.
    Rollback {
        /// The masker.
        masker: u64,
        /// Number of tokens.
        tokens: usize,
    },
    /// Asks whether the document may end here.
    IsComplete {
        /// The masker.
        masker: u64,
    },
    /// Asks for the tokens that must come next.
    ForcedTokens {
        /// The masker.
        masker: u64,
    },
    /// Asks for tokens that would end the document. Sent only to workers that say they can tell.
    Completion {
        /// The masker.
        masker: u64,
    },
    /// Copies a masker.
    Fork {
        /// The masker.
        masker: u64,
    },
    /// Forgets maskers.
    Drop {
        /// The maskers.
        maskers: Vec<u64>,
    },
}

/// Purpose of masks. A framework that restricts the style of documents may do so where a model writes them; where documents of others are judged,
/// every spelling of a valid document counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Documents are given, and each is judged.
    #[default]
    Judge,
    /// A model writes documents.
    Generate,
}

/// The kind of text that is compiled to masks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grammar {
    /// JSON Schemas: masks are those of documents.
    #[default]
    JsonSchema,
    /// Structural tags, in XGrammar's JSON: masks are those of whole replies, with calls of tools in them.
    StructuralTag,
}

/// A worker's description of itself and its framework.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// The framework's name.
    pub name: String,
    /// Version of the framework.
    pub version: String,
    /// The options that the framework runs with, as its own documentation calls them; printed with every result.
    pub options: String,
    /// Whether `setup` and `compile` may bring documents for `$ref`.
    #[serde(default)]
    pub accepts_documents: bool,
    /// Whether the worker answers `completion`.
    #[serde(default)]
    pub completes: bool,
    /// Whether it compiles structural tags, where `setup` asks for that.
    #[serde(default)]
    pub structural_tags: bool,
    /// Keywords and formats that the framework documents as supported; none where it tells nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documented: Option<Documented>,
}

/// The keywords and formats that a framework's documentation says it supports. With them a schema's theoretical
/// coverage is decided (JSONSchemaBench, definition C.1).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Documented {
    /// Address of that documentation.
    #[serde(default)]
    pub source: String,
    /// Keywords that are enforced. Annotations need not be listed. A keyword that is supported under a condition only is
    /// followed by a colon and the condition: `all-required`, `alone`, `boolean`, `disjoint`, `false`, `integer`, `local`,
    /// `no-lookaround`, `not-recursive` or `one-schema`.
    pub keywords: Vec<String>,
    /// Values of `format` that are enforced.
    pub formats: Vec<String>,
    /// Whether formats that no draft defines are left alone instead of being refused.
    #[serde(default)]
    pub ignores_unknown_formats: bool,
}

/// Time spent in the framework.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Time {
    /// Elapsed time, in nanoseconds.
    pub wall_ns: u64,
    /// Processor time of the process, in nanoseconds.
    #[serde(default)]
    pub cpu_ns: u64,
}

/// The outcome of `compile`: a masker or an error, and the time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Compiled {
    /// The new masker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub masker: Option<u64>,
    /// Reason for which there is no masker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compile_error: Option<WireCompileError>,
    /// Time of the compilation.
    #[serde(flatten)]
    pub time: Time,
    /// Time of the first mask, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_mask: Option<Time>,
}

/// The outcome of `replay`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Replayed {
    /// Number of tokens accepted: that many were in their mask and taken by `advance`.
    pub accepted: usize,
    /// Whether the document may end after the last token; false where a token was refused.
    pub complete: bool,
    /// The framework's message where it failed or contradicted its own mask; none for a plain refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// For each token tried, the time of its mask and of advancing, in nanoseconds.
    pub wall_ns: Vec<u64>,
    /// For each token tried, the processor time of its mask and of advancing, in nanoseconds.
    #[serde(default)]
    pub cpu_ns: Vec<u64>,
    /// Number of the accepted tokens that were forced, where that was asked for and the framework tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forced: Option<usize>,
    /// Bytes that the compiled schema takes after the replay, where the framework tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<usize>,
}

/// The outcome of `mask`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct MaskReply {
    /// Reason for which there is no mask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask_error: Option<WireMaskError>,
    /// Time of the mask; a reply with an error may leave it out.
    #[serde(flatten)]
    pub time: Option<Time>,
    /// Number of bytes of the mask that follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
}

/// The outcome of `advance` and `rollback`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Done {
    /// Reason for which the request failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask_error: Option<WireMaskError>,
    /// Time taken; a reply with an error may leave it out.
    #[serde(flatten)]
    pub time: Option<Time>,
}

/// The outcome of `is_complete`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Completeness {
    /// Reason for which there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask_error: Option<WireMaskError>,
    /// Whether the document may end here.
    #[serde(default)]
    pub complete: bool,
}

/// The outcome of `forced_tokens`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Forced {
    /// Reason for which there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask_error: Option<WireMaskError>,
    /// The tokens.
    #[serde(default)]
    pub tokens: Vec<TokenId>,
}

/// The outcome of `completion`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Completion {
    /// Reason for which there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask_error: Option<WireMaskError>,
    /// The tokens, without an end of sequence; none where the framework does not know of any.
    #[serde(default)]
    pub tokens: Option<Vec<TokenId>>,
}

/// The outcome of `fork`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Forked {
    /// Reason for which there is no copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask_error: Option<WireMaskError>,
    /// The copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub masker: Option<u64>,
}

/// A request that was not understood or is not offered.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Misunderstood {
    /// Reason for which the request is not served.
    pub error: String,
}

/// A [`CompileError`] in the form in which the protocol carries it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WireCompileError {
    /// Kind of the error; `refused` where the worker does not say.
    #[serde(default = "refused")]
    pub kind: CompileErrorKind,
    /// The reason.
    pub message: String,
    /// JSON Pointer to the subschema at fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// The keyword at fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keyword: Option<String>,
}

fn refused() -> CompileErrorKind {
    CompileErrorKind::Refused
}

impl From<&CompileError> for WireCompileError {
    fn from(error: &CompileError) -> Self {
        Self {
            kind: error.kind(),
            message: error.message().to_owned(),
            pointer: error.pointer().map(str::to_owned),
            keyword: error.keyword().map(str::to_owned),
        }
    }
}

impl From<WireCompileError> for CompileError {
    fn from(wire: WireCompileError) -> Self {
        let mut error = Self::new(wire.kind, wire.message);
        if let Some(pointer) = wire.pointer {
            error = error.at(pointer);
        }
        if let Some(keyword) = wire.keyword {
            error = error.on_keyword(keyword);
        }
        error
    }
}

/// A [`MaskError`] in the form in which the protocol carries it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WireMaskError {
    /// The token is not allowed; nothing changed.
    TokenRefused,
    /// More tokens were to be rolled back than had been accepted, or than the framework keeps.
    RollbackTooFar {
        /// Number of tokens that can be rolled back.
        available: usize,
    },
    /// A limit of the framework was reached.
    LimitExceeded {
        /// Description of the limit.
        message: String,
    },
    /// The framework failed.
    Failed {
        /// Description of the failure.
        message: String,
    },
}

impl From<MaskError> for WireMaskError {
    fn from(error: MaskError) -> Self {
        match error {
            MaskError::TokenRefused { .. } => Self::TokenRefused,
            MaskError::RollbackTooFar { available, .. } => Self::RollbackTooFar { available },
            MaskError::LimitExceeded(message) => Self::LimitExceeded { message },
            MaskError::Internal(message) => Self::Failed { message },
            other => Self::Failed {
                message: other.to_string(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn an_error_needs_no_time() {
        let done: Done = serde_json::from_str(r#"{"mask_error": {"kind": "token_refused"}}"#).unwrap();
        assert_eq!((done.mask_error, done.time), (Some(WireMaskError::TokenRefused), None));
        let mask: MaskReply = serde_json::from_str(r#"{"wall_ns": 3, "cpu_ns": 2, "bytes": 8}"#).unwrap();
        assert_eq!((mask.time.map(|time| time.wall_ns), mask.bytes), (Some(3), Some(8)));
    }
}
