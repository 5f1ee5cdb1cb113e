//! The program `maskwright`, and of its parts the one that the benchmarks in `benches/` measure with: the frameworks
//! behind their traits.

mod bench;
mod commands;
mod error;
pub mod frameworks;
mod ifstruct;
mod masks;
mod report;
mod run;
mod server;
mod testsuite;
mod vocabularies;
mod worker;

use std::process::ExitCode;

use clap::Parser;
use tracing_subscriber::EnvFilter;

use crate::error::CommandError;

/// Benchmarks of constrained decoding for JSON Schema.
#[derive(Debug, Parser)]
#[command(
    name = "maskwright",
    version,
    after_help = "Exit codes: 0 done; 1 something was found: by `check`, or lines that `ifstruct` could not score; 2 wrong arguments; 3 a model, \
                  dataset, framework or schema cannot be used or fetched; 4 results cannot be written or read; 5 a server left questions \
                  unanswered or --max-cost was reached (records so far are kept); 130 interrupted (the same)."
)]
struct Cli {
    #[command(subcommand)]
    command: commands::Command,
}

/// Runs the command that the process's arguments name.
pub fn run() -> ExitCode {
    let filter = EnvFilter::try_from_env("MASKWRIGHT_LOG")
        .or_else(|_| EnvFilter::try_from_default_env())
        .unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
    match commands::run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            run::progress::say(&format!("error: {error}"));
            ExitCode::from(error.exit_code())
        }
    }
}

/// Writes a command's result to standard output. A reader that has gone away is no error.
fn print(text: &str) -> Result<(), CommandError> {
    use std::io::Write as _;
    let mut output = std::io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
