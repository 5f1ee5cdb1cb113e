//! [`CompileError`], [`MaskError`] and [`VocabularyError`]: each names the defect, its position, and the remedy.

use std::fmt;

use crate::TokenId;

/// The error of a schema that could not be compiled.
///
/// An error has a [kind](Self::kind) and a message, and, where they are known, the [place](Self::pointer) in the schema as a
/// JSON Pointer and the [keyword](Self::keyword) at fault.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CompileError {
    kind: CompileErrorKind,
    pointer: Option<String>,
    keyword: Option<String>,
    message: String,
}

/// The ways in which compiling a schema fails.
///
/// [`Unsupported`](Self::Unsupported) says that the framework has its limits, [`Malformed`](Self::Malformed) that the schema
/// is defective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum CompileErrorKind {
    /// The text is not JSON, or not a JSON Schema.
    Malformed,
    /// The framework cannot treat a keyword, its value, or a combination of keywords. The schema may be fine.
    Unsupported,
    /// No JSON value is valid under the schema.
    Unsatisfiable,
    /// A limit on time, memory or size was reached, which the message names.
    LimitExceeded,
    /// The framework refused the schema, and its reason cannot be assigned to one of the other kinds.
    Refused,
    /// The framework failed: a panic, a crash, a broken invariant.
    Internal,
}

impl CompileErrorKind {
    /// The kind in a few words, with which error messages begin.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Malformed => "malformed schema",
            Self::Unsupported => "unsupported schema",
            Self::Unsatisfiable => "unsatisfiable schema",
            Self::LimitExceeded => "limit exceeded",
            Self::Refused => "schema refused",
            Self::Internal => "the framework failed",
        }
    }
}

impl CompileError {
    /// Makes an error of a kind, with the reason and without a place.
    pub fn new(kind: CompileErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            pointer: None,
            keyword: None,
            message: message.into(),
        }
    }

    /// Adds the place: a JSON Pointer (RFC 6901) into the schema, empty for the root.
    #[must_use]
    pub fn at(mut self, pointer: impl Into<String>) -> Self {
        self.pointer = Some(pointer.into());
        self
    }

    /// Puts the place below another: that of the schema in a larger document.
    #[must_use]
    pub(crate) fn within(mut self, place: &str) -> Self {
        self.pointer = Some(format!("{place}{}", self.pointer.unwrap_or_default()));
        self
    }

    /// Adds the keyword at fault.
    #[must_use]
    pub fn on_keyword(mut self, keyword: impl Into<String>) -> Self {
        self.keyword = Some(keyword.into());
        self
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> CompileErrorKind {
        self.kind
    }

    /// JSON Pointer to the subschema at fault; empty for the root, `None` where the framework does not say.
    pub fn pointer(&self) -> Option<&str> {
        self.pointer.as_deref()
    }

    /// The keyword at fault, where one is.
    pub fn keyword(&self) -> Option<&str> {
        self.keyword.as_deref()
    }

    /// The reason, without place and kind.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.describe())?;
        match self.pointer.as_deref() {
            Some("") => f.write_str(" at the root")?,
            Some(pointer) => write!(f, " at {pointer}")?,
            None => {}
        }
        if let Some(keyword) = &self.keyword {
            write!(f, " (keyword `{keyword}`)")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for CompileError {}

/// The error of a [`Masker`](crate::Masker) that could not do as asked.
///
/// After [`LimitExceeded`](Self::LimitExceeded) and [`Internal`](Self::Internal) the document cannot go on; the other errors
/// leave the masker as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MaskError {
    /// The token is not in the current mask. The masker's state is as it was before the call.
    #[error("token {token} is not allowed after {position} tokens")]
    TokenRefused {
        /// The refused token.
        token: TokenId,
        /// Number of tokens accepted before it.
        position: usize,
    },
    /// More tokens were to be rolled back than had been accepted, or than the framework keeps.
    #[error("cannot roll back {asked} tokens: only {available} can be undone")]
    RollbackTooFar {
        /// Number of tokens that were to be rolled back.
        asked: usize,
        /// Number of tokens that can be rolled back.
        available: usize,
    },
    /// The document may not end here.
    #[error("the document is not complete after {position} tokens")]
    NotComplete {
        /// Number of tokens accepted so far.
        position: usize,
    },
    /// The framework reached one of its limits while working out a mask.
    #[error("the framework reached a limit: {0}")]
    LimitExceeded(String),
    /// The framework failed; its masker must not be used further.
    #[error("the framework failed: {0}")]
    Internal(String),
}

/// The error of a tokenizer's data that does not make a [`Vocabulary`](crate::Vocabulary).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VocabularyError {
    /// The file is not JSON, has a name twice in one object, or exceeds a limit.
    #[error("tokenizer.json cannot be read: {message}")]
    Json {
        /// The byte at which the defect shows, and the defect.
        message: String,
    },
    /// A part of tokenizer.json is missing or of an unexpected shape.
    #[error("tokenizer.json at {pointer}: {message}")]
    TokenizerJson {
        /// JSON Pointer into tokenizer.json.
        pointer: String,
        /// The error found there, and the expected value.
        message: String,
    },
    /// The crate `tokenizers` fails on the tokenizer (only with the feature `tokenizers`).
    #[error("the tokenizers library fails: {0}")]
    Tokenizer(String),
    /// A line of a tiktoken rank file is not `base64 rank`.
    #[error("tiktoken ranks, line {line}: {message}")]
    TiktokenLine {
        /// 1-based line number.
        line: usize,
        /// The error in the line.
        message: String,
    },
    /// A file is no model of SentencePiece.
    #[error("model of SentencePiece, byte {offset}: {message}")]
    SentencePiece {
        /// Offset in the file.
        offset: usize,
        /// The error found there.
        message: &'static str,
    },
    /// A token id that is given to two different tokens.
    #[error("token id {id} is given twice: {first:?} and {second:?}")]
    DuplicateId {
        /// The id.
        id: TokenId,
        /// Bytes of the token that has it, as lossy text.
        first: String,
        /// Bytes of the token that claims it too.
        second: String,
    },
    /// An end-of-sequence id is not an id of the vocabulary.
    #[error("end-of-sequence id {id} is outside the vocabulary of {len} tokens")]
    EosOutOfRange {
        /// The id.
        id: TokenId,
        /// Size of the vocabulary.
        len: usize,
    },
    /// The vocabulary has no end-of-sequence token, so that no document could end.
    #[error("the vocabulary has no end-of-sequence token: name one (generation_config.json, eos_token_id)")]
    NoEos,
    /// The model has fewer outputs than the tokenizer has tokens.
    #[error(
        "the tokenizer has token id {id}, but the model only {len} outputs: tokenizer and model do not belong together"
    )]
    TooLarge {
        /// The highest token id.
        id: TokenId,
        /// The model's number of outputs.
        len: usize,
    },
    /// More tokens, or longer ones, than a vocabulary may have.
    #[error("{what} is {value}, over the limit of {limit}")]
    Limit {
        /// The quantity that is too large.
        what: &'static str,
        /// The quantity's value.
        value: usize,
        /// The largest allowed.
        limit: usize,
    },
}
