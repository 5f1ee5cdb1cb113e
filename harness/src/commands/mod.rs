//! The commands, one file each.

mod all;
mod arguments;
mod bench;
mod census;
mod check;
mod completions;
mod coverage;
mod fetch;
mod figures;
mod ifstruct;
mod list;
mod masks;
mod output_file;
mod protocols;
mod publish_report;
mod quality;
mod results;
pub mod resumed;
mod rows;
mod sample;
mod shapes;
mod testsuite;
mod train;

use std::io::{self, Read as _};
use std::path::Path;

use maskwright_suites::dataset::{BUILTIN, Catalog};
use maskwright_suites::json_text::{GIT_LFS_POINTER, is_git_lfs_pointer};
use maskwright_suites::locate;

use crate::bench::settings::HELD_OUT;
use crate::error::CommandError;
use crate::run::directory::{MANIFEST, RECORDS};

/// Subcommands of `maskwright`.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Run every part of the benchmark on a model within a time, and write the report
    All(Box<all::AllArguments>),
    /// Generate with a model, constrained by each framework and not, and compare time, coverage and compliance
    Bench(Box<bench::BenchArguments>),
    /// Answer Bowtie, which compares implementations of JSON Schema, with a framework's verdicts: requests on standard input
    Bowtie(protocols::bowtie::BowtieArguments),
    /// Count keywords, formats, drafts and sizes of the schemas of datasets
    Census(census::CensusArguments),
    /// Check a schema: parts that are refused or allow no value, and the byte at which documents break it, with the keywords to blame
    Check(check::CheckArguments),
    /// Show the changes between two runs, or two sets of runs, and whether chance is enough to explain them
    Compare(Box<results::compare::CompareArguments>),
    /// Print the script by which a shell completes this program's arguments
    Completions(completions::CompletionArguments),
    /// Search for documents on which frameworks and schemas disagree: allowed by one and not by the other
    Coverage(Box<coverage::CoverageArguments>),
    /// Fetch public datasets and the JSON Schema Test Suite into a cache, checked file by file; without names, list them
    Fetch(fetch::FetchArguments),
    /// Draw the JSONSchemaBench paper's figures and write its tables of datasets and engines, from runs and schemas
    Figures(figures::FigureArguments),
    /// IFStruct: requests for structured output in people's many wordings, replies of models, and the judge of replies
    #[command(subcommand)]
    Ifstruct(ifstruct::IfstructCommand),
    /// Name the frameworks, models and datasets that can be used
    List(list::ListArguments),
    /// Print the manual page of the program or of a command
    Man(completions::ManArguments),
    /// Replay MaskBench: time to first mask, time between masks, and wrong verdicts of each framework
    Masks(masks::MasksArguments),
    /// Merge the parts of a run made with --shard, and make the tables of the whole run
    Merge(results::merge::MergeArguments),
    /// Ask models questions with known answers, constrained by each framework and not, and compare how many they get right
    Quality(Box<quality::QualityArguments>),
    /// Make the tables of runs anew from their records: text, Markdown, CSV, JSON, JSON Lines, lm-evaluation-harness
    Rerender(results::rerender::RerenderArguments),
    /// Report on runs of any command, as tables or as one page for a browser
    Report(results::report::ReportArguments),
    /// Write random documents that are valid under a schema, straight from its masks
    Sample(sample::SampleArguments),
    /// Show the length and depth of the valid answers of runs of `bench`, beside the documents of MaskBench under the same schemas
    Shapes(shapes::ShapeArguments),
    /// Write a site of static pages from many runs: models × frameworks, and a page for each model
    Site(results::site::SiteArguments),
    /// Judge frameworks by the JSON Schema Test Suite: schemas refused, valid documents blocked, invalid documents allowed
    Testsuite(testsuite::TestSuiteArguments),
    /// Train a model on IFStruct: references first, then replies rewarded by the judge (GRPO)
    Train(Box<train::TrainArguments>),
    /// Run a framework as a worker, which answers requests on standard input
    #[command(hide = true)]
    Worker(protocols::worker::WorkerArguments),
}

/// Returns the name of the part that this process is of `all`, where it is one.
pub fn part_of_all() -> Option<String> {
    std::env::var(all::PART).ok()
}

/// Runs a command.
///
/// # Errors
///
/// [`CommandError`], with the exit code to end with.
pub fn run(command: Command) -> Result<(), CommandError> {
    match command {
        Command::All(arguments) => all::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Bowtie(arguments) => protocols::bowtie::run(&arguments),
        Command::Census(arguments) => census::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Compare(arguments) => results::compare::run(&arguments),
        Command::Completions(arguments) => completions::completions(&arguments),
        Command::Coverage(arguments) => coverage::run(&arguments),
        Command::Fetch(arguments) => fetch::run(&arguments),
        Command::Figures(arguments) => figures::run(&arguments),
        Command::Ifstruct(command) => ifstruct::run(&command),
        Command::List(arguments) => list::run(&arguments),
        Command::Man(arguments) => completions::man(&arguments),
        Command::Masks(arguments) => masks::run(&arguments),
        Command::Merge(arguments) => results::merge::run(&arguments),
        Command::Quality(arguments) => quality::run(&arguments),
        Command::Rerender(arguments) => results::rerender::run(&arguments),
        Command::Report(arguments) => results::report::run(&arguments),
        Command::Sample(arguments) => sample::run(&arguments),
        Command::Shapes(arguments) => shapes::run(&arguments),
        Command::Site(arguments) => results::site::run(&arguments),
        Command::Testsuite(arguments) => testsuite::run(&arguments),
        Command::Train(arguments) => train::run(&arguments),
        Command::Worker(arguments) => protocols::worker::run(&arguments),
    }
}

/// Largest file that is read whole.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// Reads the bytes of a file; of standard input where the path is `-`.
///
/// # Errors
///
/// [`CommandError::Read`], where the file cannot be read or is larger than [`MAX_FILE_BYTES`].
fn read_bytes(path: &Path) -> Result<Vec<u8>, CommandError> {
    let mut bytes = Vec::new();
    let limit = MAX_FILE_BYTES + 1;
    let read = match path == Path::new("-") {
        true => io::stdin().take(limit).read_to_end(&mut bytes),
        false => std::fs::File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes)),
    };
    let read = read.and_then(|read| match read as u64 > MAX_FILE_BYTES {
        true => Err(io::Error::other(format!(
            "it has more than {} MiB",
            MAX_FILE_BYTES >> 20
        ))),
        false => Ok(()),
    });
    read.map_err(|source| CommandError::read(path, source))?;
    Ok(bytes)
}

/// Reads the text of a file, as [`read_bytes`] does.
///
/// # Errors
///
/// [`CommandError::Read`], where the file cannot be read or is not UTF-8.
pub(crate) fn read_text(path: &Path) -> Result<String, CommandError> {
    let bytes = read_bytes(path)?;
    if is_git_lfs_pointer(&bytes) {
        let error = io::Error::new(io::ErrorKind::InvalidData, format!("it {GIT_LFS_POINTER}"));
        return Err(CommandError::read(path, error));
    }
    String::from_utf8(bytes)
        .map_err(|error| CommandError::read(path, io::Error::new(io::ErrorKind::InvalidData, error)))
}

/// Word that names every dataset of `--data`, or every one that was fetched.
const ALL_DATASETS: &str = "all";

/// Returns the names of the datasets that `named` means, in which `all` stands for those of `data`, or for those that were fetched. Without
/// names, they are those of `data`, and without that `otherwise`.
///
/// # Errors
///
/// [`CommandError::Arguments`], where `all` names nothing.
fn dataset_names(
    catalog: &Catalog,
    named: &[String],
    data: Option<&Path>,
    otherwise: &[&str],
) -> Result<Vec<String>, CommandError> {
    let found = || {
        let names = catalog.available().into_iter().map(|dataset| dataset.name);
        names.filter(|name| name != BUILTIN && name != HELD_OUT)
    };
    match (named, data) {
        ([], None) => return Ok(otherwise.iter().map(|name| (*name).to_owned()).collect()),
        ([], Some(_)) => return Ok(found().collect()),
        _ => {}
    }
    let is_all = |name: &String| name.eq_ignore_ascii_case(ALL_DATASETS);
    if named.iter().any(is_all) && found().next().is_none() {
        let remedy = "`maskwright fetch jsonschemabench` fetches ten, and --data DIR names a directory of others";
        return Err(CommandError::Arguments(format!(
            "--datasets all: there is no dataset; {remedy}"
        )));
    }
    let names = named.iter().flat_map(|name| match is_all(name) {
        true => found().collect(),
        false => vec![name.clone()],
    });
    Ok(names.collect())
}

/// Checks that a directory is not a run's, whose JSON files are no schemas.
///
/// # Errors
///
/// [`CommandError::Arguments`], where the directory holds a run.
fn check_data(directory: &Path) -> Result<(), CommandError> {
    match directory.join(RECORDS).exists() && directory.join(MANIFEST).exists() {
        true => Err(CommandError::Arguments(format!(
            "{} holds a run, not schemas: --data is the directory of the latter",
            directory.display()
        ))),
        false => Ok(()),
    }
}

/// Returns the built-in sample with the datasets in `data`, or with the fetched ones where `data` is `None`.
///
/// # Errors
///
/// [`CommandError::Dataset`], where `data` holds no dataset, and [`CommandError::Arguments`], where it holds a run.
fn catalog(data: Option<&Path>) -> Result<Catalog, CommandError> {
    let mut catalog = Catalog::builtin();
    match data {
        Some(directory) => {
            check_data(directory)?;
            catalog.add_directory(directory)?;
        }
        None => {
            for directory in locate::fetched_schemas() {
                catalog.add_directory(&directory)?;
            }
        }
    }
    Ok(catalog)
}

#[cfg(test)]
mod tests {
    use maskwright_suites::dataset::Dataset;

    use super::*;

    #[test]
    fn all_datasets_are_those_of_data_or_those_that_were_fetched() {
        let mut catalog = Catalog::builtin();
        catalog.add(Dataset::from_texts(HELD_OUT, [])).unwrap();
        let names = |catalog: &Catalog, named: &[&str], data: Option<&str>| {
            let named: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
            dataset_names(catalog, &named, data.map(Path::new), &[BUILTIN])
        };
        let error = names(&catalog, &["all"], None).unwrap_err();
        assert!(
            error.to_string().contains("maskwright fetch jsonschemabench"),
            "{error}"
        );
        for name in ["a", "b"] {
            catalog.add(Dataset::from_texts(name, [])).unwrap();
        }
        for (named, data, expected) in [
            (&[][..], None, &[BUILTIN][..]),
            (&[], Some("mine"), &["a", "b"]),
            (&["all"], None, &["a", "b"]),
            (&["builtin", "All"], None, &[BUILTIN, "a", "b"]),
            (&["b"], Some("mine"), &["b"]),
        ] {
            assert_eq!(names(&catalog, named, data).unwrap(), expected, "{named:?}");
        }
    }
}
