//! [`publish_report`]: writes the tables of a run beside its records, and prints them.

use crate::error::CommandError;
use crate::report::table::Style;
use crate::run::directory::{Recorded, RunDirectory};

/// Writes report.md (the run's heading and the tables of `text`), report.csv and report.json; prints the tables, or the JSON object where
/// `json_only`, even if they cannot be written; and tells where the files are.
///
/// # Errors
///
/// [`CommandError`], where a file cannot be written or nothing can be printed.
pub fn publish_report<R: Recorded>(
    directory: &RunDirectory<R>,
    json_only: bool,
    text: impl Fn(Style) -> String,
    csv: &str,
    json: &str,
) -> Result<(), CommandError> {
    let json = format!("{json}\n");
    let written = directory
        .write("report.md", &(directory.heading() + &text(Style::Markdown)))
        .and_then(|()| directory.write("report.csv", csv))
        .and_then(|()| directory.write("report.json", &json));
    match json_only {
        true => crate::print(&json)?,
        false => crate::print_text(&text(Style::Terminal))?,
    }
    written?;
    if !json_only {
        directory.say_where();
    }
    Ok(())
}
