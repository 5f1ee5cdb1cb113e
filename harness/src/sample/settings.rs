//! [`SampleSettings`]: options of the sampler of documents.

use std::time::Duration;

use clap::ValueEnum;
use maskwright::{CompileError, MaskError, VocabularyError};

/// Optional members that are written: those that a schema declares and does not require.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OptionalMembers {
    /// Every optional member that is allowed, except deep inside of recursive schemas
    All,
    /// Some optional members, by chance
    #[default]
    Some,
    /// No optional member
    None,
}

/// Options of the sampler of documents.
#[derive(Clone, Copy, Debug)]
pub struct SampleSettings {
    /// Optional members that are written.
    pub optional: OptionalMembers,
    /// Bytes of a document, at most.
    pub max_bytes: usize,
    /// Time that a document may take.
    pub time_limit: Duration,
}

/// Reason for which a document could not be written.
#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    /// The schema was refused.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The masks failed.
    #[error(transparent)]
    Mask(#[from] MaskError),
    /// The vocabulary failed.
    #[error(transparent)]
    Vocabulary(#[from] VocabularyError),
    /// No document fits.
    #[error("no document can be ended within the bytes that are allowed")]
    TooLong,
    /// The time limit was reached.
    #[error("a document takes longer than is allowed")]
    TimeLimit,
}
