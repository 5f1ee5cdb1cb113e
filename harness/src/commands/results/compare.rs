//! `maskwright compare`.

use std::path::PathBuf;

use clap::Args;
use serde_json::Value;

use super::arguments::ReadingArguments;
use crate::compare::differences::{ComparisonMethod, differences};
use crate::compare::pairs::{pairs, side};
use crate::compare::report::ComparisonReport;
use crate::error::CommandError;
use crate::figures::pairing;
use crate::report::table::Style;
use crate::results::run::Run;

/// Arguments of `maskwright compare`.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// The runs before: a run's directory, or one that holds several
    #[arg(value_name = "A")]
    before: PathBuf,
    /// The runs after
    #[arg(value_name = "B")]
    after: PathBuf,
    /// End with exit code 1 where anything is found to be worse
    #[arg(long)]
    fail_on_regression: bool,
    /// Compare times although the runs are of different hardware
    #[arg(long)]
    across_hardware: bool,
    /// Compare what comes out right only
    #[arg(long, conflicts_with = "across_hardware")]
    no_times: bool,
    /// Share by which a time has to change to be a finding
    #[arg(long, default_value_t = 0.05, value_parser = tolerance, value_name = "SHARE")]
    tolerance: f64,
    /// Seed of the bootstrap and of the tests
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
    /// Name every question that changed
    #[arg(long)]
    names: bool,
    /// Print Markdown
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadingArguments,
}

/// Reads a share by which something may change.
fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=10.0).contains(&share) => Ok(share),
        _ => Err("must be a number from 0 to 10".to_owned()),
    }
}

/// Prints what changed between two sets of runs.
///
/// # Errors
///
/// [`CommandError::Found`], where something is worse and that is to be an error; [`CommandError::Arguments`], where the runs are of
/// different hardware or share nothing; and where they cannot be read.
pub fn run(arguments: &CompareArguments) -> Result<(), CommandError> {
    let before = Run::read_all(std::slice::from_ref(&arguments.before))?;
    let after = Run::read_all(std::slice::from_ref(&arguments.after))?;
    check_asked(&before, &after)?;
    if !arguments.no_times && !arguments.across_hardware {
        check_hardware(&before, &after)?;
    }
    let reading = arguments.reading.reading();
    let (one, other) = (side(&before, reading.scoring), side(&after, reading.scoring));
    let groups = pairs(&one, &other);
    if groups.is_empty() {
        let message = format!(
            "{} and {} share no question of one framework: there is nothing to compare",
            arguments.before.display(),
            arguments.after.display()
        );
        return Err(CommandError::NothingMeasured(message));
    }
    let method = ComparisonMethod {
        confidence: reading.confidence,
        seed: arguments.seed,
        times: !arguments.no_times,
        tolerance: arguments.tolerance,
    };
    let alone = one.keys().count() + other.keys().count() - 2 * groups.len();
    let mut notes = Vec::new();
    if alone > 0 {
        notes.push(format!("{alone} rows are in one of the two only, and left out."));
    }
    let report = ComparisonReport {
        differences: differences(&groups, method),
        confidence: reading.confidence,
        notes,
    };
    match (arguments.json, arguments.markdown) {
        (true, _) => crate::print(&format!("{}\n", report.json()))?,
        (false, true) => crate::print_text(&report.text(Style::Markdown, arguments.names))?,
        (false, false) => crate::print_text(&report.text(Style::Terminal, arguments.names))?,
    }
    match report.worse() {
        worse @ 1.. if arguments.fail_on_regression => Err(CommandError::Found(format!(
            "{worse} of {} figures are worse in {}",
            report.differences.len(),
            arguments.after.display()
        ))),
        _ => Ok(()),
    }
}

/// Whether runs of one command asked alike what they both asked: what they were asked decides what they answer.
fn check_asked(before: &[Run], after: &[Run]) -> Result<(), CommandError> {
    for one in before {
        for other in after.iter().filter(|other| other.command() == one.command()) {
            let named =
                |run: &Run, manifest: &Value| (run.paths[0].display().to_string(), manifest["settings"].clone());
            let both = [named(one, &one.manifests[0]), named(other, &other.manifests[0])];
            pairing::check(&both).map_err(|problem| {
                CommandError::Arguments(problem.replace("cannot be in the same figures", "cannot be compared"))
            })?;
        }
    }
    Ok(())
}

/// Whether runs of one command ran on the same hardware.
fn check_hardware(before: &[Run], after: &[Run]) -> Result<(), CommandError> {
    let described = |run: &Run| -> Vec<String> {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let devices = |manifest: &Value| -> Vec<String> {
            let models = manifest["settings"]["models"].as_array().into_iter().flatten();
            models.map(|model| text(&model["device"])).collect()
        };
        let of = |manifest: &Value| {
            let hardware = &manifest["hardware"];
            format!(
                "{} × {}, {}",
                hardware["cpus"],
                text(&hardware["cpu"]),
                devices(manifest).join(", ")
            )
        };
        run.manifests.iter().map(of).collect()
    };
    for one in before {
        for other in after.iter().filter(|other| other.command() == one.command()) {
            let (theirs, ours) = (described(one), described(other));
            if theirs != ours {
                return Err(CommandError::Arguments(format!(
                    "{} ran on {} and {} on {}: their times do not compare; --no-times leaves them out, --across-hardware compares them all the same",
                    one.paths[0].display(),
                    theirs.join("; "),
                    other.paths[0].display(),
                    ours.join("; ")
                )));
            }
        }
    }
    Ok(())
}
