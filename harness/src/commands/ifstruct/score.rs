//! `maskwright ifstruct score`.

use std::path::PathBuf;

use clap::Args;
use maskwright_suites::ifstruct::{JsonLines, ReplyRow, RowError, Samples, Score, Scorer};
use serde_json::{Map, Value, json};

use super::{Judgement, lines_of};
use crate::error::CommandError;
use crate::ifstruct::tally::Tally;
use crate::run::progress;

/// Arguments of `maskwright ifstruct score`.
#[derive(Debug, Args)]
pub struct ScoreArguments {
    /// File of replies, one JSON object a line: a sample with `response`, or the `seed` of one with `response`; `-` reads
    /// standard input
    file: PathBuf,
    #[command(flatten)]
    judgement: Judgement,
    /// List what speaks against each reply that fails
    #[arg(long)]
    failures: bool,
    /// Print one JSON object, with the verdict on each reply
    #[arg(long)]
    json: bool,
}

/// Scores a file of replies and prints the pass rates.
///
/// # Errors
///
/// [`CommandError::Found`], where lines could not be scored; [`CommandError::Read`] and [`CommandError::Samples`], where a
/// file cannot be read.
pub fn run(arguments: &ScoreArguments) -> Result<(), CommandError> {
    let samples = arguments.judgement.samples()?;
    let mut tally = Tally::default();
    let (mut verdicts, mut bad) = (Vec::new(), Vec::new());
    for line in JsonLines::new(lines_of(&arguments.file)?) {
        let (number, row) = line.map_err(|source| CommandError::read(&arguments.file, source))?;
        match row.map_err(|problem| problem.to_string()).and_then(|row| {
            let score = scored(row, samples.as_ref(), &arguments.judgement, &mut tally)?;
            Ok(score)
        }) {
            Ok((seed, score)) => {
                if arguments.failures && !arguments.json {
                    say_failures(number, seed, &score);
                }
                if arguments.json {
                    verdicts.push(json!({ "line": number, "seed": seed, "score": score }));
                }
            }
            Err(problem) => {
                progress::say(&format!("{}:{number}: {problem}", arguments.file.display()));
                bad.push(json!({ "line": number, "error": problem }));
            }
        }
    }
    let unusable: &[RowError] = samples.as_ref().map_or(&[], |samples| &samples.errors);
    if arguments.json {
        let mut report = tally.json();
        report["level"] = json!(arguments.judgement.level());
        report["bad_lines"] = json!(bad);
        report["bad_samples"] = json!(unusable.iter().map(ToString::to_string).collect::<Vec<_>>());
        report["replies"] = json!(verdicts);
        crate::print(&format!("{report}\n"))?;
    } else {
        crate::print(&tally.text())?;
    }
    let counts = [
        (bad.len(), "lines could not be scored"),
        (unusable.len(), "samples could not be used"),
    ];
    let found: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    match found.is_empty() {
        true => Ok(()),
        false => Err(CommandError::Found(found.join(", "))),
    }
}

/// The seed and the verdict of a line, which goes into the tally.
fn scored(
    row: Map<String, Value>,
    samples: Option<&Samples>,
    judgement: &Judgement,
    tally: &mut Tally,
) -> Result<(u64, Score), String> {
    let row = ReplyRow::new(row).map_err(|problem| problem.to_string())?;
    let sample = row.sample(samples).map_err(|problem| problem.to_string())?;
    let scorer = Scorer::new(sample, judgement.level()).map_err(|error| error.to_string())?;
    let score = scorer.score(&row.response);
    tally.add(sample, &score);
    Ok((sample.seed, score))
}

fn say_failures(line: usize, seed: u64, score: &Score) {
    for failure in &score.failures {
        progress::say(&format!("line {line}, seed {seed}: {failure}"));
    }
    if score.omitted > 0 {
        progress::say(&format!("line {line}, seed {seed}: {} more", score.omitted));
    }
}
