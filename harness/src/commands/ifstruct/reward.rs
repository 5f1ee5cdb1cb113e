//! `maskwright ifstruct reward`.

use std::io::Write as _;
use std::path::Path;

use clap::Args;
use maskwright_suites::ifstruct::{JsonLines, ReplyRow, Samples, Scorer};
use serde_json::{Map, Value, json};

use super::{Judgement, lines_of};
use crate::error::CommandError;

/// Arguments of `maskwright ifstruct reward`.
#[derive(Debug, Args)]
pub struct RewardArguments {
    #[command(flatten)]
    judgement: Judgement,
}

/// Answers each line of standard input with a line: `reward`, 1 or 0, and the verdict; or `error`, where the line
/// cannot be scored.
///
/// # Errors
///
/// [`CommandError::Output`], where nothing can be written; [`CommandError::Samples`].
pub fn run(arguments: &RewardArguments) -> Result<(), CommandError> {
    let samples = arguments.judgement.samples()?;
    let input = Path::new("-");
    let mut output = std::io::stdout().lock();
    for line in JsonLines::new(lines_of(input)?) {
        let (number, row) = line.map_err(|source| CommandError::read(input, source))?;
        let answer = row
            .map_err(|problem| problem.to_string())
            .and_then(|row| answer(row, samples.as_ref(), arguments));
        let answer = answer.unwrap_or_else(|error| json!({ "line": number, "error": error }));
        let written = writeln!(output, "{answer}").and_then(|()| output.flush());
        match written {
            // The program that asked has ended: nobody reads the answers.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(()),
            written => written?,
        }
    }
    Ok(())
}

fn answer(row: Map<String, Value>, samples: Option<&Samples>, arguments: &RewardArguments) -> Result<Value, String> {
    let row = ReplyRow::new(row).map_err(|problem| problem.to_string())?;
    let sample = row.sample(samples).map_err(|problem| problem.to_string())?;
    let scorer = Scorer::new(sample, arguments.judgement.level()).map_err(|error| error.to_string())?;
    let score = scorer.score(&row.response);
    Ok(json!({
        "seed": sample.seed,
        "reward": score.value(),
        "passed": score.passed,
        "failures": score.failures,
        "omitted": score.omitted,
    }))
}
