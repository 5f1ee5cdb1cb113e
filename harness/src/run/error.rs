//! [`RunDirectoryError`]: reasons for which the directory of a run cannot be used.

use std::io;
use std::path::{Path, PathBuf};

/// A run's directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RunDirectoryError {
    /// The file system refused, for instance because the disk is full.
    #[error("cannot write {}: {source}{}", path.display(), kept_records(*kept, directory))]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
        /// Number of records on disk.
        kept: usize,
        /// The run's directory.
        directory: PathBuf,
    },
    /// The file system refused to read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// A new run was to be written over another.
    #[error("{} holds a run{} already: continue it with --resume, or choose another --out", path.display(), of_command(command))]
    Exists {
        /// The directory.
        path: PathBuf,
        /// The command whose run it is; empty where nothing tells.
        command: String,
    },
    /// The directory has files that are not a run's.
    #[error("{} has files that are not a run's: choose an empty directory, or one that is not there yet", path.display())]
    HoldsOthers {
        /// The directory.
        path: PathBuf,
    },
    /// Another process writes the run.
    #[error("another process is writing the run in {}: wait until it ends, or choose another --out", path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// Two runs that are read together have a record of the same.
    #[error("{} and {} both have a record of {key}, which would count twice: give one of them", first.display(), second.display())]
    Twice {
        /// The run that was read first.
        first: PathBuf,
        /// The other one, or the same again.
        second: PathBuf,
        /// Key of the records, as JSON.
        key: String,
    },
    /// There is no run to resume.
    #[error("there is no run to resume in {}: start it without --resume", path.display())]
    NothingToResume {
        /// The directory.
        path: PathBuf,
    },
    /// A file of the run is damaged.
    #[error("{}, line {line}: {message}; remove the line or start a new run", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// 1-based line number.
        line: usize,
        /// The damage found.
        message: String,
    },
    /// The manifest is damaged.
    #[error(
        "{}: {message}; where its records are to be kept, remove this file and give the run's options again with --resume, or for a part of a run with its --shard",
        path.display()
    )]
    DamagedManifest {
        /// The file.
        path: PathBuf,
        /// The damage found.
        message: String,
    },
    /// The run to resume is another command's.
    #[error("{} holds a run of `maskwright {theirs}`, which `maskwright {ours}` cannot continue", path.display())]
    OtherCommand {
        /// The directory.
        path: PathBuf,
        /// The command whose run it is.
        theirs: String,
        /// The command that was to continue it.
        ours: &'static str,
    },
    /// The run to resume measured something else.
    #[error(
        "the run in {path} cannot be continued with these options: {}{}",
        differences.join("; "),
        match is_part {
            true => String::new(),
            false => format!(
                "; `--resume --out {}` alone takes the options from its manifest, and where a file has changed since, a new run is to be started with \
                 another --out",
                path.display()
            ),
        },
        path = path.display()
    )]
    OtherRun {
        /// The directory.
        path: PathBuf,
        /// Differences between the settings, option by option.
        differences: Vec<String>,
        /// Whether it is a part of a run.
        is_part: bool,
    },
}

/// Returns the end of an error's text: the number of records on disk, and how to continue the run.
fn kept_records(kept: usize, directory: &Path) -> String {
    let continued = format!(
        "--resume --out {} continues the run, and a part of one its own command",
        directory.display()
    );
    match kept {
        0 => String::new(),
        1 => format!("; 1 record is kept: {continued}"),
        _ => format!("; {kept} records are kept: {continued}"),
    }
}

fn of_command(command: &str) -> String {
    match command {
        "" => String::new(),
        command => format!(" of `maskwright {command}`"),
    }
}

pub(super) fn write_error(path: &Path, directory: &Path, source: io::Error, kept: usize) -> RunDirectoryError {
    RunDirectoryError::Write {
        path: path.to_owned(),
        source,
        kept,
        directory: directory.to_owned(),
    }
}

pub(super) fn read_error(path: &Path, source: io::Error) -> RunDirectoryError {
    RunDirectoryError::Read {
        path: path.to_owned(),
        source,
    }
}
