//! Errors of reading samples and replies: of a whole file, or of one row.

use std::io;
use std::path::PathBuf;

/// The longest line that is read, in bytes.
pub const MAX_LINE_BYTES: usize = 128 << 20;

/// Error of a line or row that cannot be used. Readers go on with the next one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}:{row}: {problem}", file.display())]
pub struct RowError {
    /// The file.
    pub file: PathBuf,
    /// The line or row, from 1.
    pub row: usize,
    /// The problem with the line or row.
    pub problem: RowProblem,
}

/// Problem with a line or row.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowProblem {
    /// The line is longer than [`MAX_LINE_BYTES`].
    #[error("the line has more than {MAX_LINE_BYTES} bytes: split it, or leave it out")]
    TooLong,
    /// The bytes are not UTF-8.
    #[error("not UTF-8: invalid bytes at offset {offset}")]
    NotUtf8 {
        /// Offset in the line of the first invalid byte.
        offset: usize,
    },
    /// The line is not one JSON object.
    #[error("not a JSON object: {0}")]
    NotAnObject(String),
    /// A member is missing or has not the required form.
    #[error("not a sample: {0}")]
    NotASample(String),
    /// The reply is missing.
    #[error("expected the reply as a string in `response`")]
    NoResponse,
    /// The line names no sample.
    #[error("expected a whole sample, or the `seed` of one in the file of samples")]
    NoSample,
    /// No sample has this seed.
    #[error("there is no sample with the seed {seed}: is this the right file of samples?")]
    UnknownSeed {
        /// The seed.
        seed: u64,
    },
    /// An earlier sample has the same seed.
    #[error("the seed {seed} was given before, in row {earlier}")]
    SeedTaken {
        /// The seed.
        seed: u64,
        /// The row, from 1.
        earlier: usize,
    },
}

/// Error of a whole file of samples.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file system refused.
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The file is called parquet and is none.
    #[error("{} cannot be read: {message}; fetch it again", path.display())]
    NotParquet {
        /// The file.
        path: PathBuf,
        /// The reason.
        message: String,
    },
}
