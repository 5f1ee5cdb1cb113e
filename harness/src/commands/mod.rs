//! The commands, one file each.

mod bench;
mod census;
mod fetch;
mod list;
mod model_arguments;

use std::path::Path;

use maskwright_suites::dataset::Catalog;
use maskwright_suites::locate;

use crate::error::CommandError;

/// What `maskwright` can do.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Generate with a model, constrained by each framework and not, and compare time, coverage and compliance
    Bench(Box<bench::BenchArguments>),
    /// Count what the schemas of datasets use: keywords, formats, drafts, sizes
    Census(census::CensusArguments),
    /// Fetch public datasets and the JSON Schema Test Suite into a cache, checked file by file; without names, list them
    Fetch(fetch::FetchArguments),
    /// Name the frameworks, models and datasets that can be used
    List(list::ListArguments),
}

/// Runs a command.
///
/// # Errors
///
/// [`CommandError`], with the exit code to end with.
pub fn run(command: Command) -> Result<(), CommandError> {
    match command {
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Census(arguments) => census::run(&arguments),
        Command::Fetch(arguments) => fetch::run(&arguments),
        Command::List(arguments) => list::run(&arguments),
    }
}

/// The built-in sample and the datasets in `data`, or else those that were fetched.
///
/// # Errors
///
/// [`CommandError::Dataset`], where there are none in `data`.
fn catalog(data: Option<&Path>) -> Result<Catalog, CommandError> {
    let mut catalog = Catalog::builtin();
    match data {
        Some(directory) => catalog.add_directory(directory)?,
        None => {
            for directory in locate::fetched_schemas() {
                catalog.add_directory(&directory)?;
            }
        }
    }
    Ok(catalog)
}
