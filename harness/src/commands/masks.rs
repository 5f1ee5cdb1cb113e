//! `maskwright masks`.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use clap::Args;
use maskwright::TokenId;
use maskwright_suites::dataset::Subsample;
use maskwright_suites::locate::locate;
use maskwright_suites::mask_bench::{MaskBench, MaskBenchFile, MaskBenchInstance};
use maskwright_suites::validate::Scoring;
use maskwright_worker::{Purpose, StyleChanges};
use serde::{Deserialize, Serialize};

use super::arguments::directory::DirectoryArguments;
use super::arguments::documents::DocumentArguments;
use super::arguments::frameworks::ReplayArguments;
use super::arguments::numbers::{positive, repetitions};
use super::arguments::style::StyleArguments;
use crate::documents::{DocumentLibrary, DocumentSettings};
use crate::error::CommandError;
use crate::frameworks::{Framework, FrameworkSettings, Judging};
use crate::masks::record::{MaskKey, MaskRecord};
use crate::masks::report::{self, Layout};
use crate::masks::{plot, rows};
use crate::report::table::Style;
use crate::run::directory::RunDirectory;
use crate::run::machine_load::{LoadWatch, spread_warning};
use crate::run::manifest::{Manifest, Settings};
use crate::run::{interrupt, progress};
use crate::vocabularies::NamedVocabulary;
use crate::worker::trial::{Trial, TrialOptions};
use crate::worker::{Provision, Worker};

/// Whether frameworks assert `format`, as the labels of MaskBench's instances do.
const ASSERT_FORMATS: bool = true;

/// Arguments of `maskwright masks`.
#[derive(Debug, Args)]
pub struct MasksArguments {
    #[command(flatten)]
    replay: ReplayArguments,
    /// Directory with MaskBench's files (`maskbench/data`) [default: what `maskwright fetch jsonschemabench` fetched]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    #[command(flatten)]
    documents: DocumentArguments,
    /// Files, at most
    #[arg(long, value_parser = positive::<usize>, value_name = "N")]
    limit: Option<usize>,
    /// Seed of the sample that --limit takes; the first files without it
    #[arg(long)]
    seed: Option<u64>,
    /// Number of times that each file is compiled and replayed. The medians of the times of tokens count, and the first times of compilation and first mask
    #[arg(long, default_value_t = 1, value_parser = repetitions, value_name = "N")]
    repeat: usize,
    /// Rules by which replays are judged: strict, or paper, which like MaskBench's own scripts does not ask whether a document may end where it does
    #[arg(long, default_value_t = Scoring::Strict)]
    scoring: Scoring,
    /// Draw the curves of the times' tails into the run's directory, too: tbm.svg and ttfm.svg
    #[arg(long)]
    plot: bool,
    #[command(flatten)]
    style: StyleArguments,
    #[command(flatten)]
    directory: DirectoryArguments,
    /// Print every percentile, and elapsed time beside processor time
    #[arg(long)]
    percentiles: bool,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

/// Settings of a run of `maskwright masks`, kept in its manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct MaskSettings {
    frameworks: Vec<FrameworkSettings>,
    files: usize,
    /// SHA-256 of the files' names and contents; absent in runs of earlier versions.
    #[serde(default)]
    sha256: Option<String>,
    seed: Option<u64>,
    vocabulary: String,
    time_limit_s: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    documents: Option<DocumentSettings>,
    #[serde(default = "once")]
    repeat: usize,
    /// Changes to the style of documents, for frameworks that have a style.
    #[serde(default, skip_serializing_if = "StyleChanges::is_empty")]
    style: StyleChanges,
}

/// Returns the default number of repetitions, for manifests that lack the member.
fn once() -> usize {
    1
}

impl Settings for MaskSettings {
    const COMMAND: &'static str = "masks";
}

/// Replays MaskBench and prints the tables.
///
/// # Errors
///
/// [`CommandError`]; records so far stay in the run's directory.
pub fn run(arguments: &MasksArguments) -> Result<(), CommandError> {
    arguments.directory.check(MaskSettings::COMMAND)?;
    let frameworks = arguments.replay.choose()?;
    let bench = match &arguments.data {
        Some(directory) => {
            super::check_data(directory)?;
            MaskBench::open(directory)?
        }
        None => MaskBench::open(&locate("jsonschemabench", None)?)?,
    };
    let files = bench.sample(Subsample {
        limit: arguments.limit,
        seed: arguments.seed,
    });
    // The vocabulary takes seconds to load: a directory of plain schemas is told before.
    bench.check(&files)?;
    let documents = arguments.documents.read()?;
    let vocabulary = arguments.replay.load_vocabulary()?;
    let style = arguments.style.changes();
    let provision = Provision::new(
        &vocabulary.vocabulary,
        Some(vocabulary.tokenizer.clone()),
        &Default::default(),
        ASSERT_FORMATS,
        Purpose::Judge,
        &style,
    );
    let mut manifest = Manifest::new(MaskSettings {
        frameworks: frameworks.iter().map(FrameworkSettings::from).collect(),
        files: files.len(),
        sha256: Some(bench.hash(&files)),
        seed: arguments.seed,
        vocabulary: vocabulary.name.clone(),
        time_limit_s: arguments.replay.time_limit,
        documents: documents.settings(),
        repeat: arguments.repeat,
        style: style.clone(),
    });
    let division = arguments.directory.division([]);
    let own = files.iter().filter(|file| division.has("", file));
    let planned = own.flat_map(|file| {
        frameworks.iter().map(|framework| MaskKey {
            framework: framework.name.clone(),
            file: (*file).to_owned(),
        })
    });
    interrupt::watch();
    // Before the directory is made: a framework that cannot start leaves none.
    let workers = workers(&frameworks, &provision)?;
    let mut directory = arguments.directory.open(&mut manifest, planned.collect())?;
    let mut run = MaskRun {
        bench: &bench,
        documents: &documents,
        repeat: arguments.repeat,
        style: &style,
        warm: HashMap::new(),
        vocabulary: &vocabulary,
        frameworks: workers,
        options: TrialOptions {
            limits: arguments.replay.limits(),
            first_mask: true,
            forced: true,
        },
    };
    let load = LoadWatch::start();
    let ended = run.all(&files, &mut directory);
    let warning = load.finish();
    let mut warnings = directory.keep_warnings(warning.as_slice())?;
    ended?;
    warnings.extend(spread_warning(
        directory.records().iter().map(|record| &record.repeats_s[..]),
    ));
    drop(run);
    if directory.ends_part(&warnings)? {
        return Ok(());
    }
    let names: Vec<String> = frameworks.into_iter().map(|framework| framework.name).collect();
    let reasons = directory.records().iter().map(|record| record.unusable.as_deref());
    if let Some([first, ..]) = reasons.collect::<Option<Vec<&str>>>().as_deref() {
        let message = format!("none of the files can be used, the first: {first}");
        directory.discard();
        return Err(CommandError::NothingMeasured(message));
    }
    finish(arguments, &directory, &names, &manifest.settings.frameworks, warnings)
}

fn workers<'a>(
    frameworks: &'a [Framework],
    provision: &Provision,
) -> Result<Vec<(&'a Framework, Worker)>, CommandError> {
    frameworks
        .iter()
        .map(|framework| Ok((framework, framework.ready_worker(provision.clone())?)))
        .collect()
}

/// Writes the tables and curves beside the records, and prints the tables.
fn finish(
    arguments: &MasksArguments,
    directory: &RunDirectory<MaskRecord>,
    names: &[String],
    frameworks: &[FrameworkSettings],
    warnings: Vec<String>,
) -> Result<(), CommandError> {
    let check_end = arguments.scoring == Scoring::Strict;
    let rows = rows::rows(directory.records(), names, check_end);
    let json = report::json(&rows, frameworks) + "\n";
    let mut speed = report::speed(&rows, |one, other| {
        rows::paired_means(directory.records(), names, one, other)
    });
    speed.extend(warnings);
    let text = |style, percentiles| report::text(&rows, frameworks, &speed, Layout { style, percentiles });
    let written = write(
        arguments,
        directory,
        names,
        &[
            ("report.md", directory.heading() + &text(Style::Markdown, true)),
            ("report.csv", report::csv(&rows)),
            ("report.json", json.clone()),
        ],
    );
    let unusable = directory.records().iter().filter(|record| record.unusable.is_some());
    for record in unusable.filter(|record| Some(&record.key.framework) == names.first()) {
        let reason = record.unusable.as_deref().unwrap_or_default();
        progress::say(&format!("left out: {}: {reason}", record.key.file));
    }
    match arguments.json {
        true => crate::print(&json)?,
        false => crate::print_text(&text(Style::Terminal, arguments.percentiles))?,
    }
    written?;
    if !arguments.json {
        directory.say_where();
    }
    Ok(())
}

/// Writes the tables, and the curves where they were asked for, beside the records.
fn write(
    arguments: &MasksArguments,
    directory: &RunDirectory<MaskRecord>,
    names: &[String],
    files: &[(&str, String)],
) -> Result<(), CommandError> {
    for (name, content) in files {
        directory.write(name, content)?;
    }
    if arguments.plot {
        let times = rows::shared_times(directory.records(), names);
        directory.write("tbm.svg", &plot::time_between_masks(&times)?)?;
        directory.write("ttfm.svg", &plot::time_to_first_mask(&times)?)?;
    }
    Ok(())
}

/// A replay of MaskBench with all frameworks, in progress.
struct MaskRun<'a> {
    bench: &'a MaskBench,
    documents: &'a DocumentLibrary,
    /// Number of times that each file is replayed.
    repeat: usize,
    /// Changes to the style of documents.
    style: &'a StyleChanges,
    /// Generation of the worker process that was warmed up, by framework.
    warm: HashMap<&'a str, u64>,
    vocabulary: &'a NamedVocabulary,
    frameworks: Vec<(&'a Framework, Worker)>,
    options: TrialOptions,
}

impl MaskRun<'_> {
    /// Replays the files that the directory has no record of yet, file by file, with all frameworks in turn.
    fn all(&mut self, files: &[&str], directory: &mut RunDirectory<MaskRecord>) -> Result<(), CommandError> {
        let bar = progress::bar((files.len() * self.frameworks.len()) as u64, "");
        for (number, file) in files.iter().enumerate() {
            bar.set_message(file);
            if !self.file(number, file, directory)? {
                bar.abandon();
                return Err(CommandError::interrupted(directory));
            }
            bar.inc(self.frameworks.len() as u64);
        }
        bar.finish_and_clear();
        Ok(())
    }

    /// Replays one file with every framework that lacks a record of it. Returns false where the user interrupted.
    fn file(
        &mut self,
        number: usize,
        file: &str,
        directory: &mut RunDirectory<MaskRecord>,
    ) -> Result<bool, CommandError> {
        let key = |name: &str| MaskKey {
            framework: name.to_owned(),
            file: file.to_owned(),
        };
        // Each framework is the first one equally often, so that none always finds the caches warm.
        let first = number % self.frameworks.len().max(1);
        let (after, before) = self.frameworks.split_at_mut(first);
        let mut missing: Vec<&mut (&Framework, Worker)> = before
            .iter_mut()
            .chain(after)
            .filter(|(framework, _)| directory.lacks(&key(&framework.name)))
            .collect();
        if missing.is_empty() {
            return Ok(true);
        }
        let read = self.bench.read(file);
        for (framework, worker) in &mut missing {
            let name = &framework.name;
            if interrupt::requested() {
                return Ok(false);
            }
            let record = match &read {
                Err(error) => MaskRecord::unusable(key(name), error.to_string()),
                Ok(file) => {
                    let documents = self.documents.beside(&file.schema_text, &file.documents);
                    let (tokens, written) = tokens(framework, file, &documents, self.style, self.vocabulary);
                    warm_up(
                        worker,
                        self.warm.entry(name).or_default(),
                        self.vocabulary,
                        &self.options,
                    );
                    let labels = file.instances.iter().map(|instance| instance.valid);
                    let instances: Vec<(bool, usize)> = labels.zip(tokens.iter().map(Vec::len)).collect();
                    let repetitions = (0..self.repeat).map(|_| {
                        let trial = Trial::run(worker, &file.schema_text, &documents, &tokens, &self.options);
                        MaskRecord::new(key(name), trial, &instances, worker.peak_memory())
                    });
                    match MaskRecord::medians(repetitions.collect()) {
                        Some(record) => MaskRecord {
                            not_rewritten: written.iter().filter(|written| !**written).count(),
                            ..record
                        },
                        None => continue,
                    }
                }
            };
            directory.add(record)?;
        }
        Ok(true)
    }
}

/// Has a worker's process compile and replay a small schema that is not measured, unless `warm` names that process: its code is paged in
/// afterwards, and its first compilation over.
fn warm_up(worker: &mut Worker, warm: &mut u64, vocabulary: &NamedVocabulary, options: &TrialOptions) {
    const SCHEMA: &str = r#"{"type": "object", "properties": {"word": {"type": "string"}, "number": {"type": "integer"}}, "required": ["word"]}"#;
    const INSTANCE: &str = r#"{"word": "warm", "number": 1}"#;
    // A process that the last schema ended is replaced first. An error here comes again in the measurement.
    let _ = worker.ready();
    if *warm != worker.generation() || *warm == 0 {
        let instance = vocabulary.tokenize(INSTANCE);
        // An error in the warm-up comes again in the measurement, which puts it on record.
        let _ = Trial::run(worker, SCHEMA, &BTreeMap::new(), &[instance], options);
        *warm = worker.generation();
    }
}

/// Returns the tokens of a file's instances as a framework is to replay them, and whether each is written in the framework's style.
fn tokens(
    framework: &Framework,
    file: &MaskBenchFile,
    documents: &BTreeMap<String, String>,
    style: &StyleChanges,
    vocabulary: &NamedVocabulary,
) -> (Vec<Vec<TokenId>>, Vec<bool>) {
    let judging = Judging {
        documents,
        assert_formats: ASSERT_FORMATS,
        style,
    };
    let texts = |one: &MaskBenchInstance| {
        let text = framework.text(&judging, &file.schema_text, &one.text, one.valid);
        (
            vocabulary.tokenize(text.as_deref().unwrap_or(&one.text)),
            text.is_some(),
        )
    };
    file.instances.iter().map(texts).unzip()
}
