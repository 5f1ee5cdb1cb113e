//! `maskwright report`.

use std::path::PathBuf;

use clap::Args;

use super::arguments::ReadingArguments;
use crate::commands::output_file::OutputFile;
use crate::error::CommandError;
use crate::pages::report::{ReportOptions, RunReport};
use crate::report::table::Style;
use crate::results::run::Run;
use crate::run::progress;

/// Default number of failures that are explained by their schemas.
pub const EXPLAINED: usize = 500;

/// Arguments of `maskwright report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Directories of runs of bench, quality, testsuite, masks, coverage and ifstruct, or directories that hold such
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Write one page that shows everything in a browser, without network
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write over a page that is there already
    #[arg(long, requires = "html")]
    force: bool,
    /// Title of the page
    #[arg(long, default_value = "maskwright report", value_name = "TEXT")]
    title: String,
    /// Print the tables in Markdown
    #[arg(long)]
    markdown: bool,
    /// Directory of the schemas that the runs are about, for failures [default: what `maskwright fetch` fetched]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Largest number of failures that are explained, with the byte and the keyword to blame: those with the shortest schema and text
    #[arg(long, default_value_t = EXPLAINED, value_name = "N")]
    explain: usize,
    #[command(flatten)]
    reading: ReadingArguments,
}

/// Writes or prints the report of runs.
///
/// # Errors
///
/// [`CommandError`], where a run cannot be read or a page cannot be written.
pub fn run(arguments: &ReportArguments) -> Result<(), CommandError> {
    let options = ReportOptions {
        reading: arguments.reading.reading(),
        explained: arguments.explain,
        data: arguments.data.as_deref(),
    };
    let runs = Run::read_all(&arguments.runs)?;
    let style = match arguments.markdown {
        true => Style::Markdown,
        false => Style::Terminal,
    };
    let report = RunReport::new(runs, options, style)?;
    if arguments.markdown || arguments.html.is_none() {
        crate::print_text(&report.text(style))?;
    }
    if let Some(path) = &arguments.html {
        write_page(path, &report.html(&arguments.title, None), arguments.force)?;
    }
    Ok(())
}

/// Writes a page and prints its path.
///
/// # Errors
///
/// [`CommandError::Write`]; [`CommandError::Exists`], where the file exists and `force` is not set.
pub fn write_page(path: &std::path::Path, html: &str, force: bool) -> Result<(), CommandError> {
    let mut file = OutputFile::create(path, force)?;
    file.write(html)?;
    file.finish()?;
    progress::say(&format!("the page is {}", path.display()));
    Ok(())
}
