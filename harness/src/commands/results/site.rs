//! `maskwright site`.

use std::fs;
use std::path::PathBuf;

use clap::Args;

use super::arguments::ReadingArguments;
use super::report::EXPLAINED;
use crate::commands::output_file::OutputFile;
use crate::error::CommandError;
use crate::pages::report::ReportOptions;
use crate::pages::site::pages;
use crate::run::progress;

/// Arguments of `maskwright site`.
#[derive(Debug, Args)]
pub struct SiteArguments {
    /// Directories of runs, or directories that hold such
    #[arg(required = true, value_name = "DIR")]
    runs: Vec<PathBuf>,
    /// Directory to write the pages to
    #[arg(long, default_value = "site", value_name = "DIR")]
    out: PathBuf,
    /// Write over pages that are there already
    #[arg(long)]
    force: bool,
    /// Title of the pages
    #[arg(long, default_value = "maskwright", value_name = "TEXT")]
    title: String,
    /// Directory of the schemas that the runs are about, for failures [default: what `maskwright fetch` fetched]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Largest number of failures of each model that are explained by their schemas, with the byte and the keyword to blame
    #[arg(long, default_value_t = EXPLAINED, value_name = "N")]
    explain: usize,
    #[command(flatten)]
    reading: ReadingArguments,
}

/// Writes a site.
///
/// # Errors
///
/// [`CommandError`], where runs cannot be read or pages cannot be written.
pub fn run(arguments: &SiteArguments) -> Result<(), CommandError> {
    let options = ReportOptions {
        reading: arguments.reading.reading(),
        explained: arguments.explain,
        data: arguments.data.as_deref(),
    };
    let pages = pages(&arguments.runs, &arguments.title, options)?;
    fs::create_dir_all(&arguments.out).map_err(|source| CommandError::write(&arguments.out, source))?;
    for page in &pages {
        let mut file = OutputFile::create(&arguments.out.join(&page.name), arguments.force)?;
        file.write(&page.html)?;
        file.finish()?;
    }
    progress::say(&format!("{} pages are in {}", pages.len(), arguments.out.display()));
    Ok(())
}
