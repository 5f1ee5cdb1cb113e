//! `maskwright merge`.

use std::path::PathBuf;

use clap::Args;

use super::arguments::ReadingArguments;
use crate::commands::output_file::OutputFile;
use crate::error::CommandError;
use crate::figures::heat_map;
use crate::pages::sections::ifstruct::leaderboard_page;
use crate::report::table::Style;
use crate::results::bench::ReadOptions;
use crate::results::merge::Parts;
use crate::results::run::{Found, Run};
use crate::results::{formats, ifstruct, testsuite};
use crate::run::progress;
use crate::testsuite::report;

/// Arguments of `maskwright merge`.
#[derive(Debug, Args)]
pub struct MergeArguments {
    /// Directories of the parts of one run, which --shard has made, or a directory that holds them
    #[arg(required = true, value_name = "DIR")]
    parts: Vec<PathBuf>,
    /// Directory to write the whole run to
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Merge the parts and records that exist, although others are missing
    #[arg(long)]
    partial: bool,
    /// Write a run for each kind of hardware that parts were measured on, to `hardware-1` and so on in --out: times of different hardware are not
    /// mixed
    #[arg(long)]
    by_hardware: bool,
    #[command(flatten)]
    reading: ReadingArguments,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

/// Puts the parts of a run together, and makes its tables.
///
/// # Errors
///
/// [`CommandError`], where the directories are not the parts of one run, records are missing, or files cannot be written.
pub fn run(arguments: &MergeArguments) -> Result<(), CommandError> {
    let parts = Parts::read(&arguments.parts)?;
    if !arguments.partial {
        parts.check_complete()?;
    }
    if !arguments.by_hardware {
        parts.check_hardware()?;
    }
    let reading = arguments.reading.reading();
    for path in parts.write(&arguments.out)? {
        let run = Run::read(&path)?;
        for (name, content) in files(&run, reading) {
            let mut file = OutputFile::create(&path.join(name), false)?;
            file.write(&content)?;
            file.finish()?;
        }
        match arguments.json {
            true => crate::print(&(formats::json(&run, reading) + "\n"))?,
            false => {
                let tables = formats::parts(&run, reading, Style::Terminal);
                let tables = tables.iter().map(|part| part.text(Style::Terminal));
                crate::print_text(&tables.collect::<Vec<_>>().join("\n"))?;
            }
        }
        progress::say(&format!("records, manifest and tables are in {}", path.display()));
    }
    for warning in parts.warnings() {
        progress::say(&warning);
    }
    for missing in parts.missing() {
        progress::say(&format!("missing: {missing}"));
    }
    Ok(())
}

/// Returns names and contents of the files that a run has beside its records: its tables, of `testsuite` also the failing cases and the heat
/// map, and of `ifstruct run` its page.
fn files(run: &Run, reading: ReadOptions) -> Vec<(&'static str, String)> {
    let mut files = vec![
        ("report.md", formats::markdown(run, reading)),
        ("report.csv", formats::csv(run, reading)),
        ("report.json", formats::json(run, reading) + "\n"),
    ];
    match &run.found {
        Found::Suite(records) => {
            let sheet = testsuite::sheet(records);
            files.push(("failures.txt", report::failures(&sheet)));
            files.push(("heat-map.svg", heat_map::svg(&sheet.frameworks)));
        }
        Found::Ifstruct(records, samples) => {
            let page = leaderboard_page(&ifstruct::report(records, samples));
            files.push(("report.html", page));
        }
        Found::Bench(_) | Found::Quality(_) | Found::Tools(_) | Found::Masks(_) | Found::Coverage(_) => {}
    }
    files
}
