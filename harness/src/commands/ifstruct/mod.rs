//! `maskwright ifstruct`.

mod difficulty;
mod generate;
mod leaderboard;
mod reward;
mod run;
mod score;

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use clap::Subcommand;
use maskwright_suites::ifstruct::{Level, Samples};
use maskwright_suites::locate::locate;

use crate::error::CommandError;
use crate::run::progress;

/// Subcommands of `maskwright ifstruct`.
#[derive(Debug, Subcommand)]
pub enum IfstructCommand {
    /// Write requests for structured output with the requirements of their replies, one JSON object a line
    Generate(Box<generate::GenerateArguments>),
    /// Put several runs into one table
    Leaderboard(leaderboard::LeaderboardArguments),
    /// Ask models and servers, alone and constrained, and compare the numbers of replies that meet the request
    Run(Box<run::RunArguments>),
    /// Score a file of replies: do they have the structure they were asked for?
    Score(score::ScoreArguments),
    /// Score replies read line by line from standard input, each answered with a line, for training loops
    Reward(reward::RewardArguments),
}

/// Runs a command of `maskwright ifstruct`.
///
/// # Errors
///
/// [`CommandError`], with the exit code to end with.
pub fn run(command: &IfstructCommand) -> Result<(), CommandError> {
    match command {
        IfstructCommand::Generate(arguments) => generate::run(arguments),
        IfstructCommand::Leaderboard(arguments) => leaderboard::run(arguments),
        IfstructCommand::Run(arguments) => run::run(arguments),
        IfstructCommand::Score(arguments) => score::run(arguments),
        IfstructCommand::Reward(arguments) => reward::run(arguments),
    }
}

/// Options for the samples and the strictness by which replies are judged.
#[derive(Debug, clap::Args)]
struct Judgement {
    /// Samples that replies name by `seed`: JSON Lines, or the hub's parquet file. Without it, lines hold whole samples, or
    /// name those that `maskwright fetch ifstruct` has fetched
    #[arg(long, value_name = "FILE")]
    samples: Option<std::path::PathBuf>,
    /// Judge also what the public validator leaves out: patterns, formats, lengths, uniqueness, conditions, keys given
    /// twice, unquoted YAML scalars that are read as another type
    #[arg(long)]
    strict: bool,
}

impl Judgement {
    fn level(&self) -> Level {
        match self.strict {
            true => Level::Strict,
            false => Level::Public,
        }
    }

    /// Reads the samples given, or those fetched; `None` where there are neither. Rows that cannot be used are reported and left out.
    ///
    /// # Errors
    ///
    /// An error where a file cannot be read.
    fn samples(&self) -> Result<Option<Samples>, CommandError> {
        let path = match &self.samples {
            Some(path) => path.clone(),
            None => match locate("ifstruct", None) {
                Ok(path) => path,
                Err(_) => return Ok(None),
            },
        };
        let samples = Samples::load(&path)?;
        for error in &samples.errors {
            progress::say(&format!("left out: {error}"));
        }
        Ok(Some(samples))
    }
}

/// Opens a file for reading line by line; standard input where the path is `-`.
///
/// # Errors
///
/// [`CommandError::Read`].
fn lines_of(path: &Path) -> Result<Box<dyn BufRead>, CommandError> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(path).map_err(|source| CommandError::read(path, source))?;
    Ok(Box::new(BufReader::new(file)))
}
