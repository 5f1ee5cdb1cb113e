//! The arguments that name the directory of a run.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::CommandError;
use crate::run::directory::{Recorded, RunDirectory};
use crate::run::manifest::Manifest;

/// Where a run's files go, and whether one is continued.
#[derive(Debug, Args)]
pub struct DirectoryArguments {
    /// Directory of the run's records, manifest and tables [default: runs/COMMAND-DATE-TIME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Continue the run in --out
    #[arg(long, requires = "out")]
    pub resume: bool,
}

impl DirectoryArguments {
    /// The directory of a new run of `command`, or that of the run to be continued.
    ///
    /// # Errors
    ///
    /// [`CommandError::RunDirectory`], where there is a run already, none to continue, or one that measures something else.
    pub fn open<R, S>(&self, command: &str, manifest: &Manifest<S>) -> Result<RunDirectory<R>, CommandError>
    where
        R: Recorded,
        S: Serialize + DeserializeOwned,
    {
        let path = self.out.clone().unwrap_or_else(|| default_directory(command));
        Ok(match self.resume {
            true => RunDirectory::resume(&path, manifest)?,
            false => RunDirectory::create(&path, manifest)?,
        })
    }
}

/// Where a run's files go unless the user says: `runs/COMMAND-DATE-TIME`.
fn default_directory(command: &str) -> PathBuf {
    let now = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S").to_string();
    Path::new("runs").join(format!("{command}-{now}"))
}
