//! [`CommandError`]: how a command fails, and the exit code that says so.

use maskwright_models::{ModelError, SamplingOptionError};
use maskwright_suites::dataset::DatasetError;
use maskwright_suites::fetch::FetchError;

use crate::frameworks::FrameworkError;
use crate::run_directory::RunDirectoryError;

/// Why a command did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The model could not be loaded or does not work.
    #[error("model: {0}")]
    Model(#[from] ModelError),
    /// A dataset could not be read.
    #[error("dataset: {0}")]
    Dataset(#[from] DatasetError),
    /// Data could not be fetched, or is damaged.
    #[error("fetch: {0}")]
    Fetch(#[from] FetchError),
    /// Some of several sources could not be fetched; why was said before.
    #[error("fetch: {} of {of} failed: {}", failed.len(), failed.join(", "))]
    FetchSome {
        /// Those that failed.
        failed: Vec<String>,
        /// How many were asked for.
        of: usize,
    },
    /// Arguments that do not go together.
    #[error("{0}")]
    Arguments(String),
    /// A framework is unknown or could not be made ready.
    #[error(transparent)]
    Framework(#[from] FrameworkError),
    /// A sampling option is out of range.
    #[error(transparent)]
    Sampling(#[from] SamplingOptionError),
    /// The run's directory could not be written or read.
    #[error(transparent)]
    RunDirectory(#[from] RunDirectoryError),
    /// Standard output could not be written.
    #[error("cannot write to standard output: {0}")]
    Output(#[from] std::io::Error),
    /// The user interrupted the run.
    #[error(
        "interrupted: {kept} of {planned} records are kept in {directory}; continue with --resume --out {directory}"
    )]
    Interrupted {
        /// Records on disk.
        kept: usize,
        /// Records of the whole run.
        planned: usize,
        /// The run's directory.
        directory: String,
    },
}

impl CommandError {
    /// The process's exit code, as `maskwright --help` documents them.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Arguments(_) => 2,
            Self::Fetch(FetchError::Interrupted) => 130,
            Self::Fetch(_) | Self::FetchSome { .. } => 3,
            Self::Model(_) | Self::Dataset(_) | Self::Framework(_) | Self::Sampling(_) => 3,
            Self::RunDirectory(_) | Self::Output(_) => 4,
            Self::Interrupted { .. } => 130,
        }
    }
}
