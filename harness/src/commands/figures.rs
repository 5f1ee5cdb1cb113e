//! `maskwright figures`.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::PathBuf;

use clap::Args;
use maskwright_suites::census::Census;
use maskwright_suites::dataset::{BUILTIN, Dataset, Subsample};
use maskwright_suites::locate::locate;
use maskwright_suites::quality::{LetterOptions, QualityTask, QuestionSet};
use maskwright_suites::validate::Scoring;
use serde_json::Value;

use super::output_file::OutputFile;
use crate::bench::record::Record;
use crate::coverage::record::CoverageRecord;
use crate::coverage::rows::{Defect, Finding, findings};
use crate::error::CommandError;
use crate::figures::features::Matrix;
use crate::figures::{constraints, frequencies, heat_map, overview, pairing, prompt, tables, upset};
use crate::frameworks::{self, Documented, Framework, LM_ONLY};
use crate::quality::overlap::Overlap;
use crate::quality::record::AnswerRecord;
use crate::run::error::RunDirectoryError;
use crate::run::reading::{command_of_run, manifest_of_run, records_of_run, records_of_runs};
use crate::run::{machine, progress};
use crate::testsuite::record::{SuiteRecord, conformances};

/// Arguments of `maskwright figures`.
#[derive(Debug, Args)]
pub struct FigureArguments {
    /// Directories of runs of `bench`, `quality`, `coverage` and `testsuite`: figures 1, 5, 6 and 8 are drawn from their records
    #[arg(value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Directory of the schemas that figures 2 and 4 and the tables are about [default: what `maskwright fetch` fetched, or the
    /// built-in sample]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Datasets of schemas, comma-separated; all there are by default
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    datasets: Vec<String>,
    /// Frameworks of figure 4 and tables 10 and 11, comma-separated
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "maskwright,llguidance,outlines-core",
        value_name = "NAMES"
    )]
    frameworks: Vec<String>,
    /// Directory to write to
    #[arg(long, default_value = "figures", value_name = "DIR")]
    out: PathBuf,
    /// Write over figures that are there
    #[arg(long)]
    force: bool,
}

/// Draws the figures and writes the tables.
///
/// # Errors
///
/// [`CommandError`], where a run or schemas cannot be read, or a picture cannot be written.
pub fn run(arguments: &FigureArguments) -> Result<(), CommandError> {
    let runs = Runs::read(&arguments.runs)?;
    let frameworks = frameworks::choose(&arguments.frameworks, &[])?;
    let datasets = arguments.schemas()?;
    fs::create_dir_all(&arguments.out).map_err(|source| CommandError::write(&arguments.out, source))?;
    let mut written = Vec::new();
    let mut add = |name: &str, content: &str| -> Result<(), CommandError> {
        let mut file = OutputFile::create(&arguments.out.join(name), arguments.force)?;
        file.write(content)?;
        file.finish()?;
        written.push(name.to_owned());
        Ok(())
    };
    for (name, content) in runs.figures() {
        add(&name, &content)?;
    }
    for (name, content) in of_schemas(&datasets, &frameworks) {
        add(name, &content)?;
    }
    for set in arguments.question_sets() {
        add(&format!("figure-7-prompt-{}.svg", set.task.name()), &prompt::svg(&set))?;
    }
    let out = arguments.out.display();
    crate::print_text(&format!("{}\n", written.join("\n")))?;
    progress::say(&format!("{} files are in {out}", written.len()));
    Ok(())
}

impl FigureArguments {
    /// Returns the datasets of schemas, without the built-in sample where there are others.
    fn schemas(&self) -> Result<Vec<Dataset>, CommandError> {
        let catalog = super::catalog(self.data.as_deref())?;
        let mut names = self.datasets.clone();
        if names.is_empty() {
            names = catalog.available().into_iter().map(|dataset| dataset.name).collect();
            if names.len() > 1 {
                names.retain(|name| name != BUILTIN);
            }
        }
        Ok(catalog.select(&names, Subsample::default())?)
    }

    /// Returns a question set for each task, for its prompt: with one question where the task's questions are available, else with none.
    fn question_sets(&self) -> Vec<QuestionSet> {
        const SHOTS: usize = 2;
        let one = Subsample {
            limit: Some(1),
            seed: None,
        };
        let letters = QuestionSet::generate(LetterOptions::default(), Some(1), SHOTS);
        let mut sets = Vec::from_iter(letters.ok());
        for task in [QualityTask::Shuffle, QualityTask::Gsm8k] {
            let set = task.source().and_then(|source| {
                let directory = locate(source, self.data.as_deref())
                    .or_else(|_| locate(source, None))
                    .ok()?;
                QuestionSet::read(task, &directory, one, SHOTS).ok()
            });
            sets.push(set.unwrap_or_else(|| QuestionSet::without_questions(task, SHOTS)));
        }
        sets
    }
}

/// The commands whose runs have figures.
const DRAWN: [&str; 4] = ["bench", "quality", "coverage", "testsuite"];

/// The records of all runs, by command.
struct Runs {
    bench: Vec<Record>,
    quality: Vec<AnswerRecord>,
    coverage: Vec<CoverageRecord>,
    suites: Vec<Vec<SuiteRecord>>,
}

impl Runs {
    fn read(given: &[PathBuf]) -> Result<Self, CommandError> {
        let mut paths: BTreeMap<&str, Vec<PathBuf>> = BTreeMap::new();
        for path in given {
            let command = command_of_run(path)?;
            let Some(known) = DRAWN.iter().find(|known| **known == command) else {
                let message = format!(
                    "{} holds a run of `maskwright {command}`, of which there is no figure: give runs of {}",
                    path.display(),
                    DRAWN.join(", ")
                );
                return Err(CommandError::Arguments(message));
            };
            paths.entry(known).or_default().push(path.clone());
        }
        let of = |command: &str| paths.get(command).map_or(&[][..], Vec::as_slice);
        for command in ["bench", "quality"] {
            let manifests = of(command)
                .iter()
                .map(|path| Ok((path.display().to_string(), manifest_of_run(path)?)));
            let manifests: Vec<(String, Value)> = manifests.collect::<Result<_, RunDirectoryError>>()?;
            let settings = manifests
                .iter()
                .map(|(name, manifest)| (name.clone(), manifest["settings"].clone()));
            pairing::check(&settings.collect::<Vec<_>>()).map_err(CommandError::Arguments)?;
            // Figures of `quality` have no times.
            if command == "bench" {
                machine::check(&manifests).map_err(CommandError::Arguments)?;
            }
        }
        let suites = of("testsuite").iter().map(|path| records_of_run(path));
        Ok(Self {
            bench: records_of_runs(of("bench"))?,
            quality: records_of_runs(of("quality"))?,
            coverage: records_of_runs(of("coverage"))?,
            suites: suites.collect::<Result<_, _>>()?,
        })
    }

    /// Returns file names and contents of the figures that are drawn from runs. Of several with one name, each further one has a number.
    fn figures(&self) -> Vec<(String, String)> {
        let mut counts: HashMap<String, usize> = HashMap::new();
        let numbered = |(name, svg): (String, String)| {
            let count = counts.entry(name.clone()).or_insert(0);
            *count += 1;
            let file = match *count {
                1 => format!("{name}.svg"),
                further => format!("{name}-{further}.svg"),
            };
            (file, svg)
        };
        self.named_figures().into_iter().map(numbered).collect()
    }

    /// Returns names and contents of the figures. Names may be equal: of several runs of the Test Suite, and of two models whose names differ
    /// in characters that files' names do not have.
    fn named_figures(&self) -> Vec<(String, String)> {
        let mut figures = Vec::new();
        let axes = overview::axes(&self.bench, &self.quality, Scoring::Strict);
        figures.extend(overview::svg(&axes).map(|svg| ("figure-1-overview".to_owned(), svg)));
        let chosen = self.constraints();
        if !chosen.is_empty() {
            figures.push(("figure-5-constraints".to_owned(), constraints::svg(&chosen)));
        }
        for records in &self.suites {
            let svg = heat_map::svg(&conformances(records, &[]));
            figures.push(("figure-6-test-suite".to_owned(), svg));
        }
        for overlap in Overlap::all(&self.quality) {
            let model: String = overlap
                .model
                .chars()
                .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
                .collect();
            let name = format!("figure-8-overlap-{}-{model}", overlap.task.name());
            figures.push((name, upset::svg(&overlap)));
        }
        figures
    }

    /// Returns the smallest finding of each kind of defect, over all frameworks.
    fn constraints(&self) -> Vec<Finding<'_>> {
        let mut names: Vec<&str> = self
            .coverage
            .iter()
            .map(|record| record.key.framework.as_str())
            .collect();
        names.sort_unstable();
        names.dedup();
        let all: Vec<Finding<'_>> = names.iter().flat_map(|name| findings(&self.coverage, name)).collect();
        let smallest = |defect| {
            all.iter()
                .filter(|finding| finding.defect == defect)
                .min_by_key(|finding| finding.size())
        };
        let chosen = [Defect::OverConstrained, Defect::UnderConstrained].map(smallest);
        chosen.into_iter().flatten().copied().collect()
    }
}

/// Returns names and contents of figures 2 and 4, and of the tables.
fn of_schemas(datasets: &[Dataset], frameworks: &[Framework]) -> Vec<(&'static str, String)> {
    let texts = |dataset: &'_ Dataset| -> Vec<String> {
        let readable = dataset
            .instances
            .iter()
            .filter_map(|instance| instance.schema.as_ref().ok());
        readable.cloned().collect()
    };
    let counted: Vec<(String, Census)> = datasets
        .iter()
        .map(|dataset| {
            let mut census = Census::default();
            for text in texts(dataset) {
                // A schema that is no JSON counts nowhere.
                let _ = census.add(&text);
            }
            (dataset.name.clone(), census)
        })
        .collect();
    let documented = frameworks.iter().filter_map(|framework| {
        let documented = framework.documented.clone()?;
        Some((framework.name.clone(), documented))
    });
    let documented: Vec<(String, Documented)> = documented.collect();
    let alone = Documented {
        source: Cow::Borrowed(""),
        keywords: Cow::Borrowed(&[]),
        formats: Cow::Borrowed(&[]),
        ignores_unknown_formats: true,
    };
    let with_alone: Vec<(String, Documented)> = [(LM_ONLY.to_owned(), alone)]
        .into_iter()
        .chain(documented.clone())
        .collect();
    let all: Vec<String> = datasets.iter().flat_map(texts).collect();
    let matrix = Matrix::of(&documented, all.iter().map(String::as_str));
    let theoretical: Vec<tables::Theoretical> = datasets
        .iter()
        .map(|dataset| {
            let texts = texts(dataset);
            tables::theoretical(&dataset.name, &with_alone, texts.iter().map(String::as_str))
        })
        .collect();
    let parts = [
        ("Table 1: schema collections", tables::collections(&counted)),
        ("Table 8: sizes of schemas", tables::sizes(&counted)),
        ("Table 9: drafts that schemas name", tables::drafts(&counted)),
        ("Table 10: engines and their documentation", tables::engines(frameworks)),
        (
            "Table 11: theoretical coverage",
            tables::coverage(&theoretical, &with_alone),
        ),
    ];
    let markdown: String = parts
        .iter()
        .map(|(title, table)| format!("## {title}\n\n{table}\n\n"))
        .collect();
    vec![
        ("figure-2a-keywords.svg", frequencies::keywords(&counted)),
        ("figure-2b-formats.svg", frequencies::formats(&counted)),
        ("figure-4-features.svg", matrix.svg()),
        ("tables.md", markdown),
    ]
}
