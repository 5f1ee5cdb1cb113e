//! `maskwright ifstruct leaderboard`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use clap::Args;
use maskwright_suites::ifstruct::{Sample, Samples};
use serde_json::Value;

use super::super::output_file::OutputFile;
use crate::error::CommandError;
use crate::ifstruct::record::ReplyRecord;
use crate::ifstruct::report;
use crate::ifstruct::settings::SAMPLES_FILE;
use crate::pages::sections::ifstruct::leaderboard_page;
use crate::report::table::Style;
use crate::run::directory::{MANIFEST, RECORDS, Recorded as _, read_records};
use crate::run::error::RunDirectoryError;
use crate::run::manifest::command_of;

/// Arguments of `maskwright ifstruct leaderboard`.
#[derive(Debug, Args)]
pub struct LeaderboardArguments {
    /// Directories of runs of `maskwright ifstruct run`
    #[arg(required = true, value_name = "DIR")]
    runs: Vec<PathBuf>,
    /// Also write the table as a separate page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write over a page that is there already
    #[arg(long, requires = "html")]
    force: bool,
    /// Print Markdown
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Checks that a directory holds a run of `ifstruct run`, and returns the level at which its replies are judged; null where its manifest does not
/// tell.
fn level_of_run(directory: &Path) -> Result<Value, CommandError> {
    let manifest = std::fs::read_to_string(directory.join(MANIFEST)).unwrap_or_default();
    let place = directory.display();
    match command_of(&manifest).as_str() {
        "ifstruct run" => {
            let manifest: Value = serde_json::from_str(&manifest).unwrap_or_default();
            Ok(manifest["settings"]["level"].clone())
        }
        "" if directory.join(SAMPLES_FILE).exists() => Ok(Value::Null),
        "" => Err(CommandError::Arguments(format!(
            "{place} holds no run of `maskwright ifstruct run`"
        ))),
        other => Err(CommandError::Arguments(format!(
            "{place} holds a run of `maskwright {other}`, not of `maskwright ifstruct run`"
        ))),
    }
}

/// Prints one table of several runs.
///
/// # Errors
///
/// [`CommandError`], where a directory holds no run, a damaged one, or one judged at another level.
pub fn run(arguments: &LeaderboardArguments) -> Result<(), CommandError> {
    let mut runs: Vec<(Samples, Vec<ReplyRecord>)> = Vec::new();
    let mut first: Option<(&PathBuf, Value)> = None;
    for directory in &arguments.runs {
        let level = level_of_run(directory)?;
        if !level.is_null() {
            let (other, wanted) = first.get_or_insert_with(|| (directory, level.clone()));
            if *wanted != level {
                return Err(CommandError::Arguments(format!(
                    "{} was judged at the level {wanted} and {} at {level}: give runs of one level",
                    other.display(),
                    directory.display()
                )));
            }
        }
        let path = directory.join(RECORDS);
        let samples = Samples::load(&directory.join(SAMPLES_FILE))?;
        let (mut records, mut seen) = (Vec::new(), HashSet::new());
        let (lines, _) = read_records::<ReplyRecord>(&path)?;
        for (line, record) in lines.into_iter().filter(|(_, record)| record.is_final()) {
            let damaged = |message: String| RunDirectoryError::Damaged {
                path: path.clone(),
                line,
                message,
            };
            let (model, seed) = (&record.key.model, record.key.seed);
            if samples.with_seed(seed).is_none() {
                return Err(damaged(format!("seed {seed} is no sample of this run")).into());
            }
            if !seen.insert(record.key.clone()) {
                return Err(damaged(format!("a second reply of {model} to seed {seed}")).into());
            }
            records.push(record);
        }
        if records.is_empty() {
            let message = format!("{} has no replies", directory.display());
            return Err(CommandError::NothingMeasured(message));
        }
        runs.push((samples, records));
    }
    let replies = runs.iter().flat_map(|(samples, records)| {
        let sample = |record: &ReplyRecord| samples.with_seed(record.key.seed);
        records.iter().filter_map(move |record| Some((record, sample(record)?)))
    });
    let replies: Vec<(&ReplyRecord, &Sample)> = replies.collect();
    let rows = report::rows(&replies);
    let html = arguments.html.as_ref().map(|path| {
        let mut file = OutputFile::create(path, arguments.force)?;
        file.write(&leaderboard_page(&rows))?;
        file.finish()
    });
    match (arguments.json, arguments.markdown) {
        (true, _) => crate::print(&format!("{}\n", report::json(&rows)))?,
        (false, true) => crate::print_text(&report::leaderboard(&rows, Style::Markdown))?,
        (false, false) => crate::print_text(&report::leaderboard(&rows, Style::Terminal))?,
    }
    html.unwrap_or(Ok(()))
}
