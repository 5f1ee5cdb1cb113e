//! `maskwright rerender`.

use std::fs;
use std::path::PathBuf;

use clap::Args;

use super::arguments::ReadingArguments;
use crate::commands::output_file::OutputFile;
use crate::error::CommandError;
use crate::report::table::Style;
use crate::results::run::{Found, Run, together};
use crate::results::{formats, lm_eval};
use crate::run::progress;

/// Arguments of `maskwright rerender`.
#[derive(Debug, Args)]
pub struct RerenderArguments {
    /// Directories of runs, also of earlier versions and unfinished ones, or directories that hold such. Runs that fit together are read
    /// as one
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    format: Format,
    /// Directory to write to instead of printing: a file for each command's runs; needed for lm-eval
    #[arg(long, required_if_eq("format", "lm-eval"), value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write over files that are there already
    #[arg(long, requires = "out")]
    force: bool,
    #[command(flatten)]
    reading: ReadingArguments,
}

/// Output format of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Tables for a terminal
    Text,
    /// Tables in Markdown, as report.md
    Md,
    /// Figures, one line for each row
    Csv,
    /// Figures as one JSON object a run, as report.json
    Json,
    /// The final records, one a line
    Jsonl,
    /// Files of lm-evaluation-harness: results.json and samples_TASK.jsonl for each model and framework
    LmEval,
}

impl Format {
    fn extension(self) -> &'static str {
        match self {
            Self::Text => "txt",
            Self::Md => "md",
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Jsonl | Self::LmEval => "jsonl",
        }
    }
}

/// Makes the tables of runs anew, from their records alone.
///
/// # Errors
///
/// [`CommandError`], where runs cannot be read or files cannot be written.
pub fn run(arguments: &RerenderArguments) -> Result<(), CommandError> {
    let runs = together(Run::read_all(&arguments.runs)?);
    let reading = arguments.reading.reading();
    if arguments.format == Format::LmEval {
        return write_lm_eval(arguments, &runs);
    }
    for (number, run) in runs.iter().enumerate() {
        let text = match arguments.format {
            Format::Text => {
                let parts = formats::parts(run, reading, Style::Terminal);
                let parts = parts.iter().map(|part| part.text(Style::Terminal));
                run.heading() + &parts.collect::<Vec<_>>().join("\n")
            }
            Format::Md => formats::markdown(run, reading),
            Format::Csv => formats::csv(run, reading),
            Format::Json => formats::json(run, reading) + "\n",
            Format::Jsonl | Format::LmEval => formats::json_lines(run),
        };
        let Some(out) = &arguments.out else {
            match arguments.format {
                Format::Text | Format::Md => crate::print_text(&text)?,
                _ => crate::print(&text)?,
            }
            continue;
        };
        // Runs of one command that do not fit together are written to separate files.
        let earlier = runs[..number]
            .iter()
            .filter(|other| other.command() == run.command())
            .count();
        let suffix = if earlier > 0 {
            format!("-{}", earlier + 1)
        } else {
            String::new()
        };
        // `ifstruct run` writes ifstruct.md, and `bench --tools` bench-tools.md.
        let command = run.command().replace(" --", "-");
        let command = command.split(' ').next().unwrap_or_default();
        let name = format!("{command}{suffix}.{}", arguments.format.extension());
        fs::create_dir_all(out).map_err(|source| CommandError::write(out, source))?;
        let mut file = OutputFile::create(&out.join(name), arguments.force)?;
        file.write(&text)?;
        file.finish()?;
    }
    Ok(())
}

fn write_lm_eval(arguments: &RerenderArguments, runs: &[Run]) -> Result<(), CommandError> {
    let files = lm_eval::files(runs, arguments.reading.reading())?;
    let Some(out) = arguments.out.as_deref().filter(|_| !files.is_empty()) else {
        let message = "no run asks a model: give runs of bench, quality or ifstruct";
        return Err(CommandError::NothingMeasured(message.to_owned()));
    };
    let left_out = runs
        .iter()
        .filter(|run| matches!(run.found, Found::Suite(_) | Found::Masks(_) | Found::Coverage(_)));
    for run in left_out {
        progress::say(&format!(
            "left out: {} of `{}`, which asks no model",
            run.name(),
            run.command()
        ));
    }
    for file in &files {
        let directory = out.join(&file.directory);
        fs::create_dir_all(&directory).map_err(|source| CommandError::write(&directory, source))?;
        let mut output = OutputFile::create(&directory.join(&file.name), arguments.force)?;
        output.write(&file.content)?;
        output.finish()?;
    }
    progress::say(&format!("{} files are in {}", files.len(), out.display()));
    Ok(())
}
