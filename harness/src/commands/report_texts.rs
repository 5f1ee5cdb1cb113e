//! [`ReportTexts`]: the tables of a run, written beside its records and printed.

use crate::error::CommandError;
use crate::run::directory::{Recorded, RunDirectory};

/// The tables of a run, in each of the forms that a command writes.
pub struct ReportTexts {
    /// Tables in Markdown, without a heading.
    pub markdown: String,
    /// Tables for the terminal.
    pub terminal: String,
    /// One line for each row of the tables.
    pub csv: String,
    /// One JSON object.
    pub json: String,
}

impl ReportTexts {
    /// Writes report.md, with the run's heading above the tables, report.csv and report.json; prints the tables, or the JSON object where
    /// `json_only`, even if they cannot be written; and tells where the files are.
    ///
    /// # Errors
    ///
    /// [`CommandError`], where a file cannot be written or nothing can be printed.
    pub fn publish<R: Recorded>(&self, directory: &RunDirectory<R>, json_only: bool) -> Result<(), CommandError> {
        let json = format!("{}\n", self.json);
        let written = directory
            .write("report.md", &(directory.heading() + &self.markdown))
            .and_then(|()| directory.write("report.csv", &self.csv))
            .and_then(|()| directory.write("report.json", &json));
        match json_only {
            true => crate::print(&json)?,
            false => crate::print_text(&self.terminal)?,
        }
        written?;
        if !json_only {
            directory.say_where();
        }
        Ok(())
    }
}
