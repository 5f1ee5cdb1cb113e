//! `maskwright ifstruct score`.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use clap::Args;
use maskwright_suites::ifstruct::{JsonLines, ReplyRow, Request, RowError, Samples, Score, Scorer};
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
    /// List the failures of each reply that fails
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
    let mut scored = Scored {
        judgement: &arguments.judgement,
        samples: samples.as_ref(),
        tally: Tally::default(),
        seen: HashMap::new(),
        names_samples: false,
        answered: HashSet::new(),
    };
    let (mut verdicts, mut bad) = (Vec::new(), Vec::new());
    for line in JsonLines::new(lines_of(&arguments.file)?) {
        let (number, row) = line.map_err(|source| CommandError::read(&arguments.file, source))?;
        let score = row
            .map_err(|problem| problem.to_string())
            .and_then(|row| scored.add(number, row));
        match score {
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
    if scored.seen.is_empty() {
        let file = arguments.file.display();
        return Err(CommandError::NothingMeasured(match bad.len() {
            0 => format!("{file} has no replies"),
            lines => format!("none of the {lines} lines of {file} could be scored"),
        }));
    }
    let missing = scored.missing();
    let unusable: &[RowError] = samples.as_ref().map_or(&[], |samples| &samples.errors);
    if arguments.json {
        let mut report = scored.tally.json();
        report["level"] = json!(arguments.judgement.level());
        report["bad_lines"] = json!(bad);
        report["bad_samples"] = json!(unusable.iter().map(ToString::to_string).collect::<Vec<_>>());
        report["missing"] = json!(missing);
        report["replies"] = json!(verdicts);
        crate::print(&format!("{report}\n"))?;
    } else {
        let mut text = scored.tally.text();
        if let (Some(missing @ 1..), Some(samples)) = (missing, &samples) {
            let all = samples.all().len();
            text +=
                &format!("\n{missing} of {all} samples have no reply, which counts neither as passed nor as failed.\n");
        }
        crate::print_text(&text)?;
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

/// Counts of the replies scored so far.
struct Scored<'a> {
    judgement: &'a Judgement,
    samples: Option<&'a Samples>,
    tally: Tally,
    /// Line of the first reply to each seed and prompt that could be scored.
    seen: HashMap<(u64, String), usize>,
    /// Whether some reply named its sample instead of containing it.
    names_samples: bool,
    /// Seeds of the samples, given beside the replies, that have a reply.
    answered: HashSet<u64>,
}

impl Scored<'_> {
    /// Scores a line, adds the verdict to the counts, and returns it with the sample's seed. A sample's second reply does not count.
    fn add(&mut self, number: usize, row: Map<String, Value>) -> Result<(u64, Score), String> {
        let row = ReplyRow::new(row).map_err(|problem| problem.to_string())?;
        let sample = row.sample(self.samples).map_err(|problem| problem.to_string())?;
        let scorer = Scorer::new(sample, self.judgement.level()).map_err(|error| error.to_string())?;
        match self.seen.entry((sample.seed, sample.prompt.clone())) {
            Entry::Occupied(first) => {
                let (seed, first) = (sample.seed, first.get());
                return Err(format!(
                    "a second reply to seed {seed}, which does not count: the first is in line {first}"
                ));
            }
            Entry::Vacant(place) => place.insert(number),
        };
        self.names_samples |= matches!(row.request, Request::Seed(_));
        let own = self.samples.and_then(|samples| samples.with_seed(sample.seed));
        if own.is_some_and(|own| own.prompt == sample.prompt) {
            self.answered.insert(sample.seed);
        }
        let score = scorer.score(&row.response);
        self.tally.add(sample, Some(&score));
        Ok((sample.seed, score))
    }

    /// Returns the number of samples without a reply, where replies name samples.
    fn missing(&self) -> Option<usize> {
        let samples = self.samples.filter(|_| self.names_samples)?;
        Some(samples.all().len().saturating_sub(self.answered.len()))
    }
}

fn say_failures(line: usize, seed: u64, score: &Score) {
    for failure in &score.failures {
        progress::complain(&format!("line {line}, seed {seed}: {failure}"));
    }
    if score.omitted > 0 {
        progress::complain(&format!("line {line}, seed {seed}: {} more", score.omitted));
    }
}
