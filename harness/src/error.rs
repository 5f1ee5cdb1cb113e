//! [`CommandError`]: the failures of commands, with their exit codes.

use std::path::{Path, PathBuf};

use maskwright_models::{ModelError, SamplingOptionError};
use maskwright_suites::dataset::DatasetError;
use maskwright_suites::fetch::FetchError;
use maskwright_suites::ifstruct::LoadError;
use maskwright_suites::locate::NotFound;
use maskwright_suites::mask_bench::MaskBenchError;
use maskwright_suites::quality::QuestionError;
use maskwright_suites::test_suite::{Draft, TestSuiteError};
use maskwright_suites::tool_calls::ToolRequestError;

use crate::frameworks::FrameworkError;
use crate::masks::plot::PlotError;
use crate::results::merge::MergeError;
use crate::run::directory::{Recorded, RunDirectory};
use crate::run::error::RunDirectoryError;
use crate::run::interrupt;
use crate::server::ServerSettings;
use crate::train::TrainError;
use crate::vocabularies::VocabularySourceError;

/// Reason for which a command failed.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The model could not be loaded or does not work.
    #[error("model: {0}")]
    Model(#[source] ModelError),
    /// A dataset could not be read.
    #[error("dataset: {0}")]
    Dataset(#[from] DatasetError),
    /// Data could not be fetched, or is damaged.
    #[error("fetch: {0}")]
    Fetch(#[from] FetchError),
    /// Some of several sources could not be fetched; the reasons were printed before.
    #[error("fetch: {} of {of} failed: {}", failed.len(), failed.join(", "))]
    FetchSome {
        /// Names of the sources that failed.
        failed: Vec<String>,
        /// Number of sources asked for.
        of: usize,
    },
    /// Arguments that do not go together.
    #[error("{0}")]
    Arguments(String),
    /// A framework is unknown or could not be made ready.
    #[error(transparent)]
    Framework(#[from] FrameworkError),
    /// A vocabulary could not be read.
    #[error(transparent)]
    Vocabulary(#[from] VocabularySourceError),
    /// A sampling option is out of range.
    #[error(transparent)]
    Sampling(#[from] SamplingOptionError),
    /// The run's directory could not be written or read.
    #[error(transparent)]
    RunDirectory(#[from] RunDirectoryError),
    /// Directories are not the parts of one run.
    #[error(transparent)]
    Merge(#[from] MergeError),
    /// The Test Suite could not be read.
    #[error(transparent)]
    TestSuite(#[from] TestSuiteError),
    /// Data that was neither given nor fetched.
    #[error(transparent)]
    NotFound(#[from] NotFound),
    /// MaskBench could not be read.
    #[error(transparent)]
    MaskBench(#[from] MaskBenchError),
    /// Samples of IFStruct could not be read.
    #[error("samples: {0}")]
    Samples(#[from] LoadError),
    /// Questions with known answers could not be read.
    #[error("questions: {0}")]
    Questions(#[from] QuestionError),
    /// Requests that call functions could not be read.
    #[error("tools: {0}")]
    ToolRequests(#[from] ToolRequestError),
    /// A model cannot be trained, or its training not be continued.
    #[error("train: {0}")]
    Train(#[from] TrainError),
    /// No case of the Test Suite was chosen.
    #[error("draft {draft} of the Test Suite has no cases in the parts and categories asked for{hint}")]
    NoCases {
        /// The draft.
        draft: Draft,
        /// Suggestion of a category that may have been meant.
        hint: String,
    },
    /// Curves could not be drawn.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// A thread of this program panicked.
    #[error("an internal error: a thread panicked; please report this")]
    Panicked,
    /// A file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// Reason of the failure.
        source: std::io::Error,
    },
    /// A file that is there already would be lost.
    #[error("{} is there already: choose another name, or write over it with --force", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A check found something, which was printed.
    #[error("{0}")]
    Found(String),
    /// Warnings, which were printed, and which an option makes errors.
    #[error("denied warnings: {count}")]
    Denied {
        /// Number of warnings.
        count: usize,
    },
    /// A schema cannot be used.
    #[error("schema {}: {message}", path.display())]
    Schema {
        /// File of the schema; `-` for standard input.
        path: PathBuf,
        /// Reason of the failure.
        message: String,
    },
    /// Tokens do not make a vocabulary.
    #[error("vocabulary: {0}")]
    InvalidVocabulary(#[from] maskwright::VocabularyError),
    /// A file could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Reason of the failure.
        source: std::io::Error,
    },
    /// Standard output, or a worker's pipes, could not be written.
    #[error("cannot write to standard output: {0}")]
    Output(#[from] std::io::Error),
    /// A server cannot be used: it is not there, refuses the key, or does not speak the dialect.
    #[error("server {name} at {url}: {message}")]
    Server {
        /// The server.
        name: String,
        /// Address of the server.
        url: String,
        /// Reason of the failure, and advice.
        message: String,
    },
    /// A run came to its end without all answers.
    #[error("unfinished: {}; {}", reasons.join("; "), on_record(*kept, *planned, directory, *is_part))]
    Unfinished {
        /// Reasons, server by server.
        reasons: Vec<String>,
        /// Final records on disk.
        kept: usize,
        /// Number of records of the whole run, or of this part of the run.
        planned: usize,
        /// The run's directory.
        directory: String,
        /// Whether it is a part of a run.
        is_part: bool,
    },
    /// Nothing was measured, so that there is nothing to show.
    #[error("nothing was measured: {0}")]
    NothingMeasured(String),
    /// The user interrupted the run before it began.
    #[error("interrupted before anything was measured")]
    InterruptedEarly,
    /// The user interrupted the run.
    #[error("interrupted: {}", on_record(*kept, *planned, directory, *is_part))]
    Interrupted {
        /// Records on disk.
        kept: usize,
        /// Number of records of the whole run, or of this part of the run.
        planned: usize,
        /// The run's directory.
        directory: String,
        /// Whether it is a part of a run.
        is_part: bool,
    },
    /// The user interrupted a command that has several runs.
    #[error("{0}")]
    Stopped(String),
    /// The reader of standard output has closed it.
    #[error("standard output is closed")]
    OutputClosed,
}

impl From<ModelError> for CommandError {
    /// A file that could not be written is that to its user, whether it belongs to a model or not.
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::Write { path, source } => Self::Write { path, source },
            error => Self::Model(error),
        }
    }
}

/// Returns the end of an error's text: the number of records on disk, and the command that continues the run.
fn on_record(kept: usize, planned: usize, directory: &str, is_part: bool) -> String {
    match (kept, is_part) {
        (_, true) => format!(
            "{kept} of {planned} records are kept in {directory}; the same command continues this part of the run"
        ),
        (0, false) => format!("nothing of {planned} is on record yet; start over with --resume --out {directory}"),
        (_, false) => {
            format!("{kept} of {planned} records are kept in {directory}; continue with --resume --out {directory}")
        }
    }
}

impl CommandError {
    /// A file or directory that could not be written.
    pub fn write(path: &Path, source: std::io::Error) -> Self {
        Self::Write {
            path: path.to_owned(),
            source,
        }
    }

    /// A file that could not be read.
    pub fn read(path: &Path, source: std::io::Error) -> Self {
        Self::Read {
            path: path.to_owned(),
            source,
        }
    }

    /// The end of a run by the user's interruption, after which `directory` holds some of the planned records.
    pub fn interrupted<R: Recorded>(directory: &RunDirectory<R>) -> Self {
        Self::Interrupted {
            kept: directory.kept(),
            planned: directory.planned(),
            directory: directory.path().display().to_string(),
            is_part: directory.shard().is_some(),
        }
    }

    /// The error of a run that came to its end for `reasons` without all of the planned records; none without a reason.
    pub fn unless_finished<R: Recorded>(reasons: Vec<String>, directory: &RunDirectory<R>) -> Result<(), Self> {
        match reasons.is_empty() {
            true => Ok(()),
            false => Err(Self::Unfinished {
                reasons,
                kept: directory.kept(),
                planned: directory.planned(),
                directory: directory.path().display().to_string(),
                is_part: directory.shard().is_some(),
            }),
        }
    }

    /// A server that cannot be used, and why.
    pub fn server(settings: &ServerSettings, message: String) -> Self {
        Self::Server {
            name: settings.name.clone(),
            url: settings.url.clone(),
            message,
        }
    }

    /// Returns how a stopped run ended that is the part `part` of `all`, which knows the reason and how the run goes on; `None` for another error.
    pub fn end_of_part(&self, part: &str) -> Option<String> {
        match self {
            Self::Interrupted { kept, planned, .. } => Some(format!("{part}: {kept} of {planned} records are kept")),
            Self::InterruptedEarly => Some(format!("{part}: nothing was measured")),
            _ => None,
        }
    }

    /// The process's exit code, as `maskwright --help` documents them.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Framework(FrameworkError::Unknown { .. } | FrameworkError::NotAsked { .. })
            | Self::Fetch(FetchError::UnknownSource { .. })
            | Self::Dataset(DatasetError::Unknown { .. })
            | Self::NoCases { .. }
            | Self::Sampling(_)
            | Self::RunDirectory(RunDirectoryError::Twice { .. })
            | Self::Questions(QuestionError::Exhausted { .. })
            | Self::Arguments(_) => 2,
            Self::Model(_)
            | Self::Dataset(_)
            | Self::Framework(_)
            | Self::Vocabulary(_)
            | Self::TestSuite(_)
            | Self::MaskBench(_)
            | Self::Samples(_)
            | Self::Questions(_)
            | Self::ToolRequests(_)
            | Self::NotFound(_)
            | Self::Train(_)
            | Self::NothingMeasured(_)
            | Self::Schema { .. }
            | Self::InvalidVocabulary(_)
            | Self::Read { .. }
            | Self::Server { .. } => 3,
            Self::RunDirectory(_)
            | Self::Output(_)
            | Self::Write { .. }
            | Self::Exists { .. }
            | Self::Plot(_)
            | Self::Panicked => 4,
            Self::Found(_) => 1,
            Self::Denied { .. } => 6,
            Self::OutputClosed => 0,
            Self::Fetch(FetchError::Interrupted) => interrupt::EXIT_CODE,
            Self::Fetch(_) | Self::FetchSome { .. } => 3,
            Self::Unfinished { .. } | Self::Merge(MergeError::Incomplete { .. }) => 5,
            Self::Merge(_) => 2,
            Self::Interrupted { .. } | Self::InterruptedEarly | Self::Stopped(_) => interrupt::EXIT_CODE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopped_part_leaves_the_remedy_to_the_command_that_stopped_it() {
        let stopped = CommandError::Interrupted {
            kept: 20,
            planned: 21,
            directory: "out/bench".to_owned(),
            is_part: false,
        };
        assert!(stopped.to_string().ends_with("continue with --resume --out out/bench"));
        assert_eq!(
            stopped.end_of_part("bench").as_deref(),
            Some("bench: 20 of 21 records are kept")
        );
        assert_eq!(CommandError::Arguments("wrong".to_owned()).end_of_part("bench"), None);
    }
}
