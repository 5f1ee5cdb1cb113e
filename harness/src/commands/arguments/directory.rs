//! The arguments that name the directory of a run.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::CommandError;
use crate::run::directory::{self, Recorded, RunDirectory};
use crate::run::manifest::{Manifest, Settings};

/// Where a run's files go, and whether one is continued.
#[derive(Debug, Args)]
pub struct DirectoryArguments {
    /// Directory of the run's records, manifest and tables [default: runs/COMMAND-DATE-TIME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Continue the run in --out. Options that are not given again are those that it was started with
    #[arg(long, requires = "out")]
    pub resume: bool,
}

impl DirectoryArguments {
    /// Whether the command `ours` can use the directory, as far as can be told before anything is loaded or measured.
    ///
    /// # Errors
    ///
    /// [`CommandError::RunDirectory`], with what stands in the way.
    pub fn check(&self, ours: &'static str) -> Result<(), CommandError> {
        let path = self.out.as_deref().unwrap_or(Path::new("runs"));
        match (&self.out, self.resume) {
            (Some(out), true) => {
                directory::check_command(out, ours)?;
                Ok(directory::check_place(out, true)?)
            }
            (Some(out), false) => Ok(directory::check_place(out, false)?),
            (None, _) => directory::writable(path).map_err(|source| CommandError::write(path, source)),
        }
    }

    /// The directory of a new run, or that of the run to be continued, whose records have to be of questions that
    /// `is_planned` knows.
    ///
    /// # Errors
    ///
    /// [`CommandError::RunDirectory`], where there is a run already, none to continue, one that measures something else, or one
    /// that another process writes.
    pub fn open<R, S>(
        &self,
        manifest: &Manifest<S>,
        is_planned: &dyn Fn(&R::Key) -> bool,
    ) -> Result<RunDirectory<R>, CommandError>
    where
        R: Recorded,
        S: Settings,
    {
        let path = self.out.clone().unwrap_or_else(|| default_directory(S::COMMAND));
        Ok(match self.resume {
            true => RunDirectory::resume(&path, manifest, is_planned)?,
            false => RunDirectory::create(&path, manifest)?,
        })
    }
}

/// Where a run's files go unless the user says: `runs/COMMAND-DATE-TIME`, with a number behind it where there is one already.
fn default_directory(command: &str) -> PathBuf {
    let command = command.split(' ').next().unwrap_or_default();
    let now = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S").to_string();
    let named = |suffix: String| Path::new("runs").join(format!("{command}-{now}{suffix}"));
    let others = (2..1000).map(|number| named(format!("-{number}")));
    let mut free = [named(String::new())]
        .into_iter()
        .chain(others)
        .filter(|path| !path.exists());
    free.next().unwrap_or_else(|| named(String::new()))
}
