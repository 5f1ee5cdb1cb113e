//! `maskwright all`.

mod options;
mod parts;
mod process;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use serde::{Deserialize, Serialize};

use self::parts::{BenchmarkPart, PARTS, Plan};
pub use self::process::PART;
use self::process::{PartEnd, run_part};
use super::results::report::write_page;
use crate::error::CommandError;
use crate::pages::report::{ReportOptions, RunReport};
use crate::report::table::Style;
use crate::results::bench::ReadOptions;
use crate::results::run::{Run, directories_of_runs};
use crate::run::{interrupt, progress};

/// Number of failures that the report explains by their schemas.
const EXPLAINED: usize = 200;
/// Share of the time that is left for the report.
const FOR_REPORT: f64 = 0.05;
/// Name of the report's page in the directory.
const PAGE: &str = "report.html";

/// Arguments of `maskwright all`. They are kept in the directory for `--resume`, except the directory and the time.
#[derive(Clone, Debug, Args, Serialize, Deserialize)]
pub struct AllArguments {
    /// The model: `builtin`, a directory in Hugging Face layout, a GGUF file, or a hub id
    #[arg(long, default_value = "builtin", value_name = "MODEL")]
    model: String,
    /// Time for everything, such as 90s, 10m or 2h. A part that comes to the end of its share keeps its records
    #[arg(long, default_value = "10m", value_parser = duration, value_name = "TIME")]
    #[serde(skip)]
    budget: Duration,
    /// Frameworks, comma-separated; the model alone runs beside them
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "maskwright,llguidance",
        value_name = "NAMES"
    )]
    frameworks: Vec<String>,
    /// Parts to run, comma-separated; all by default
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PARTS")]
    parts: Vec<BenchmarkPart>,
    /// Directory of public data [default: what `maskwright fetch` fetched], or of your own schemas, which `bench` takes. Parts whose data
    /// are in neither are left out, with a note
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Device: cpu, cuda or cuda:N
    #[arg(long, default_value = "cpu", value_name = "DEVICE")]
    device: String,
    /// Use only files in the download cache
    #[arg(long)]
    offline: bool,
    /// Directory of the runs and of the report [default: runs/all-DATE-TIME]
    #[arg(long, value_name = "DIR")]
    #[serde(skip)]
    out: Option<PathBuf>,
    /// Go on with the runs in --out as they were begun: only --budget, --parts and --offline may be given anew
    #[arg(long, requires = "out", conflicts_with_all = ["model", "frameworks", "data", "device"])]
    #[serde(skip)]
    resume: bool,
}

/// Runs the parts and writes the report.
///
/// # Errors
///
/// [`CommandError::NothingMeasured`], where no part has a record; [`CommandError::Found`], where a part failed or its run is damaged, once
/// the report of the others is written; [`CommandError`], where the report cannot be written.
pub fn run(arguments: &AllArguments) -> Result<(), CommandError> {
    let started = Instant::now();
    let out = arguments.out.clone().unwrap_or_else(|| {
        let now = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S").to_string();
        PathBuf::from("runs").join(format!("all-{now}"))
    });
    let arguments = match arguments.resume {
        true => &options::resumed(arguments, &out)?,
        false => {
            options::begin(arguments, &out)?;
            arguments
        }
    };
    interrupt::watch();
    let mut outcome = run_parts(arguments, &out, started)?;
    for note in &outcome.notes {
        progress::say(note);
    }
    if directories_of_runs(&out).is_empty() {
        return Err(CommandError::NothingMeasured(format!(
            "no part came to a record: {}",
            outcome.notes.join(" ")
        )));
    }
    outcome.failed.extend(write_report(arguments, &out)?);
    match outcome.failed.is_empty() {
        true => Ok(()),
        false => Err(CommandError::Found(outcome.failed.join("; "))),
    }
}

/// Outcome of the parts: notes and failures.
#[derive(Default)]
struct PartsOutcome {
    /// Notes on parts that were left out or cut off.
    notes: Vec<String>,
    /// Parts that failed, in words.
    failed: Vec<String>,
}

/// Runs the parts one after the other, each within its share of the time that is left, and returns the parts that were left out, cut off or failed.
fn run_parts(arguments: &AllArguments, out: &Path, started: Instant) -> Result<PartsOutcome, CommandError> {
    let wanted: Vec<BenchmarkPart> = match arguments.parts.is_empty() {
        true => PARTS.to_vec(),
        false => PARTS
            .iter()
            .copied()
            .filter(|part| arguments.parts.contains(part))
            .collect(),
    };
    let (mut notes, mut failed) = (Vec::new(), Vec::new());
    let plans = wanted.into_iter().filter_map(|part| {
        let plan = Plan::new(part, &arguments.frameworks, arguments.data.as_deref());
        plan.map_err(|missing| notes.push(format!("{}: {missing}", part.name())))
            .ok()
    });
    let plans: Vec<Plan> = plans.collect();
    let all = arguments.budget.mul_f64(1.0 - FOR_REPORT);
    for (number, plan) in plans.iter().enumerate() {
        let left = all.saturating_sub(started.elapsed());
        let weights: f64 = plans[number..].iter().map(|plan| plan.part.weight()).sum();
        let share = left.mul_f64(plan.part.weight() / weights);
        let name = plan.part.name();
        let place = out.join(name);
        let words = match arguments.resume && place.exists() {
            true => plan.part.resumed(&place, arguments.offline),
            false => plan.words(arguments, &place, share),
        };
        progress::say(&format!("{name}: up to {} s", share.as_secs()));
        match run_part(name, &words, share)? {
            PartEnd::Done => {}
            PartEnd::OutOfTime => notes.push(format!(
                "{name}: its time is up, and what it measured is kept; `maskwright all --resume --out {}` goes on",
                out.display()
            )),
            PartEnd::Failed(how) => failed.push(format!("{name} failed with {how}; its own words are above")),
            PartEnd::Interrupted => {
                let message = format!(
                    "interrupted; go on with `maskwright all --resume --out {}`",
                    out.display()
                );
                return Err(CommandError::Stopped(message));
            }
        }
    }
    Ok(PartsOutcome { notes, failed })
}

/// Writes the page of the runs that can be read, and returns a sentence for each run that cannot.
fn write_report(arguments: &AllArguments, out: &Path) -> Result<Vec<String>, CommandError> {
    let (mut runs, mut damaged) = (Vec::new(), Vec::new());
    for directory in directories_of_runs(out) {
        match Run::read(&directory) {
            Ok(run) => runs.push(run),
            Err(problem) => damaged.push(format!("{} is left out: {problem}", directory.display())),
        }
    }
    if runs.is_empty() {
        return Err(CommandError::NothingMeasured(damaged.join("; ")));
    }
    let options = ReportOptions {
        reading: ReadOptions::default(),
        explained: EXPLAINED,
        data: arguments.data.as_deref(),
    };
    let report = RunReport::new(runs, options, Style::Terminal)?;
    if let Some(overview) = report.sections.first() {
        crate::print_text(&overview.text(Style::Terminal))?;
    }
    let title = format!("maskwright report: {}", arguments.model);
    write_page(&out.join(PAGE), &report.html(&title, None), true)?;
    Ok(damaged)
}

/// Reads a time such as 90s, 10m or 2h.
fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "expected a time such as 90s, 10m or 2h".to_owned();
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1.0,
        'm' => 60.0,
        'h' => 3600.0,
        _ => return Err(wrong()),
    };
    let number: f64 = text[..text.len() - 1].trim().parse().map_err(|_| wrong())?;
    let all = number * seconds;
    match (10.0..=7.0 * 86_400.0).contains(&all) {
        true => Ok(Duration::from_secs_f64(all)),
        false => Err("must be from 10s to a week".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("2h"), Ok(Duration::from_secs(7200)));
        for text in ["", "10", "m", "ten m", "1s", "1000h", "-5m", "NaNm", "5€"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
