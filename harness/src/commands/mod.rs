//! The commands, one file each.

mod bench;
mod census;
mod list;
mod model_arguments;

use crate::error::CommandError;

/// What `maskwright` can do.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Generate with a model, constrained by each framework and not, and compare time, coverage and compliance
    Bench(Box<bench::BenchArguments>),
    /// Count what the schemas of datasets use: keywords, formats, drafts, sizes
    Census(census::CensusArguments),
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
        Command::List(arguments) => list::run(&arguments),
    }
}
