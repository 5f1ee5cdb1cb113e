//! `maskwright bowtie`: a framework as an implementation for Bowtie's comparison.

use std::io::{self, BufRead as _};
use std::time::Duration;

use clap::Args;

use crate::bowtie::Session;
use crate::commands::arguments::frameworks::WorkerOptions;
use crate::commands::arguments::numbers::seconds;
use crate::error::CommandError;
use crate::frameworks;
use crate::vocabularies::NamedVocabulary;

/// Arguments of `maskwright bowtie`.
#[derive(Debug, Args)]
pub struct BowtieArguments {
    /// The framework
    framework: String,
    #[command(flatten)]
    workers: WorkerOptions,
    /// Vocabulary: o200k_base, cl100k_base, or that of a model (builtin, a directory, a hub id)
    #[arg(long, default_value = "builtin", value_name = "NAME")]
    vocabulary: String,
    /// Seconds that a compilation, and the instances of a schema together, may take
    #[arg(long, default_value_t = 40.0, value_parser = seconds, value_name = "S")]
    time_limit: f64,
}

/// Answers requests on standard input until it ends, or asks to stop.
///
/// # Errors
///
/// [`CommandError`], where the framework cannot be prepared, or a request is not in Bowtie's protocol.
pub fn run(arguments: &BowtieArguments) -> Result<(), CommandError> {
    let names = [arguments.framework.clone()];
    let frameworks = frameworks::choose(&names, &arguments.workers.workers)?;
    let Some(framework) = frameworks.first() else {
        return Ok(());
    };
    let vocabulary = NamedVocabulary::load(&arguments.vocabulary)?;
    let limits = arguments.workers.limits(Duration::from_secs_f64(arguments.time_limit));
    let mut session = Session::new(framework, &vocabulary, limits)?;
    for line in io::stdin().lock().lines() {
        let line = line.map_err(|error| CommandError::Arguments(format!("standard input: {error}")))?;
        match session
            .answer(&line)
            .map_err(|error| CommandError::Arguments(error.to_string()))?
        {
            Some(reply) => crate::print(&format!("{reply}\n"))?,
            None => break,
        }
    }
    Ok(())
}
