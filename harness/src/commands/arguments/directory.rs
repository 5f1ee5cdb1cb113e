//! The arguments that name the directory of a run.

use std::collections::HashSet;
use std::env;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::CommandError;
use crate::run::directory::{self, Recorded, RunDirectory};
use crate::run::manifest::{Manifest, Settings};
use crate::run::shard::{Division, Shard};

/// Directory of a run's files, and whether a run is continued.
#[derive(Debug, Args)]
pub struct DirectoryArguments {
    /// Directory of the run's records, manifest and tables [default: runs/COMMAND-DATE-TIME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Continue the run in --out. Options that are not given again are those that it was started with
    #[arg(long, requires = "out")]
    resume: bool,
    /// Measure one part of the run: the I-th of N, or `auto`, which asks Slurm's job array or Kubernetes' Indexed Job. It has a directory
    /// of its own in --out, is continued where that is there, and makes no tables; `maskwright merge` puts parts together
    #[arg(long, requires = "out", conflicts_with = "resume", value_parser = shard, value_name = "I/N")]
    shard: Option<Shard>,
}

fn shard(text: &str) -> Result<Shard, String> {
    Shard::read(text, &|name| env::var(name).ok()).map_err(|error| error.to_string())
}

impl DirectoryArguments {
    /// Checks that the command `ours` can use the directory, as far as can be told before anything is loaded or measured.
    ///
    /// # Errors
    ///
    /// [`CommandError::RunDirectory`], with the obstacle.
    pub fn check(&self, ours: &'static str) -> Result<(), CommandError> {
        let Some(path) = self.path() else {
            let path = Path::new("runs");
            return directory::writable(path).map_err(|source| CommandError::write(path, source));
        };
        if self.is_continued() {
            directory::check_command(&path, ours)?;
        }
        if self.resume
            && let Some(shard) = directory::shard_of(&path)
        {
            return Err(CommandError::Arguments(format!(
                "{} holds part {shard} of a run: the command that began it, with --shard and without --resume, continues it",
                path.display()
            )));
        }
        Ok(directory::check_place(&path, self.is_continued())?)
    }

    /// Whether the run continues from existing records.
    pub fn is_continued(&self) -> bool {
        self.resume || self.shard.is_some() && self.path().is_some_and(|path| directory::holds_run(&path))
    }

    /// Returns the questions that the process asks, out of those to `models`, the models of the whole run.
    pub fn division(&self, models: impl IntoIterator<Item = String>) -> Division {
        Division::new(self.shard, models)
    }

    /// Creates the directory of a new run, or opens that of the run to be continued; `planned` are the keys of this process's records.
    ///
    /// # Errors
    ///
    /// [`CommandError::RunDirectory`], where there is a run already, none to continue, one that measures something else, or one
    /// that another process writes.
    pub fn open<R, S>(
        &self,
        manifest: &mut Manifest<S>,
        planned: HashSet<R::Key>,
    ) -> Result<RunDirectory<R>, CommandError>
    where
        R: Recorded,
        S: Settings,
    {
        manifest.shard = self.shard;
        manifest.planned = Some(planned.len());
        let path = self.path().unwrap_or_else(|| default_directory(S::COMMAND));
        Ok(match self.is_continued() {
            true => RunDirectory::resume(&path, manifest, planned)?,
            false => RunDirectory::create(&path, manifest, planned)?,
        })
    }

    /// Returns the directory that the user named, or the part's directory within it.
    fn path(&self) -> Option<PathBuf> {
        let out = self.out.clone()?;
        Some(match self.shard {
            Some(Shard { number, count }) => out.join(format!("shard-{number}-of-{count}")),
            None => out,
        })
    }
}

/// Returns the directory of a run's files where the user names none: `runs/COMMAND-DATE-TIME`, followed by a number where that exists already.
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
