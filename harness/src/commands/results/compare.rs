//! `maskwright compare`.

use std::path::PathBuf;

use clap::Args;

use super::arguments::ReadingArguments;
use crate::compare::conditions::{asked_differently, on_different_hardware};
use crate::compare::differences::{ComparisonMethod, differences};
use crate::compare::pairs::{pairs, side};
use crate::compare::report::ComparisonReport;
use crate::error::CommandError;
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
    /// End with exit code 1 where anything is found to be worse, or is in A and not in B
    #[arg(long)]
    fail_on_regression: bool,
    /// With --fail-on-regression: B may lack questions that A has
    #[arg(long, requires = "fail_on_regression")]
    allow_missing: bool,
    /// Compare although the runs were asked differently, such as with other limits; the differences are printed
    #[arg(long)]
    across_settings: bool,
    /// Compare times although the runs are of different hardware
    #[arg(long)]
    across_hardware: bool,
    /// Compare right answers only
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

/// Reads the share by which a time has to change to count.
fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=10.0).contains(&share) => Ok(share),
        _ => Err("must be a number from 0 to 10".to_owned()),
    }
}

/// Prints the changes between two sets of runs.
///
/// # Errors
///
/// [`CommandError::Found`], where something is worse or missing and the options make that an error; [`CommandError::Arguments`], where the
/// runs were asked differently or are of different hardware; [`CommandError::NothingMeasured`], where they share no question; and
/// [`CommandError`], where they cannot be read.
pub fn run(arguments: &CompareArguments) -> Result<(), CommandError> {
    let before = Run::read_all(std::slice::from_ref(&arguments.before))?;
    let after = Run::read_all(std::slice::from_ref(&arguments.after))?;
    let mut notes = asked_differently(&before, &after);
    if let Some(problem) = notes.first().filter(|_| !arguments.across_settings) {
        let message = format!("{problem}; --across-settings compares them all the same");
        return Err(CommandError::Arguments(message));
    }
    if !arguments.no_times {
        let others = on_different_hardware(&before, &after);
        if let Some(problem) = others.first().filter(|_| !arguments.across_hardware) {
            let message = format!(
                "{problem}: their times do not compare; --no-times leaves them out, --across-hardware compares them all the same"
            );
            return Err(CommandError::Arguments(message));
        }
        notes.extend(others);
    }
    let reading = arguments.reading.reading();
    let (one, repeated) = side(&before, reading.scoring);
    let (other, repeated_after) = side(&after, reading.scoring);
    let paired = pairs(&one, &other);
    if paired.groups.is_empty() {
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
    let report = ComparisonReport {
        differences: differences(&paired.groups, method),
        confidence: reading.confidence,
        unpaired: paired.unpaired,
        repeated: [repeated, repeated_after],
        notes,
    };
    match (arguments.json, arguments.markdown) {
        (true, _) => crate::print(&format!("{}\n", report.json()))?,
        (false, true) => crate::print_text(&report.text(Style::Markdown, arguments.names))?,
        (false, false) => crate::print_text(&report.text(Style::Terminal, arguments.names))?,
    }
    if !arguments.fail_on_regression {
        return Ok(());
    }
    let mut problems = Vec::new();
    if report.worse() > 0 {
        let (worse, all) = (report.worse(), report.differences.len());
        problems.push(format!(
            "{worse} of {all} figures are worse in {}",
            arguments.after.display()
        ));
    }
    if report.missing() > 0 && !arguments.allow_missing {
        problems.push(format!(
            "{} lacks {} questions that {} has (--allow-missing allows that)",
            arguments.after.display(),
            report.missing(),
            arguments.before.display()
        ));
    }
    match problems.is_empty() {
        true => Ok(()),
        false => Err(CommandError::Found(problems.join("; "))),
    }
}
