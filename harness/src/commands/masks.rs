//! `maskwright masks`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use maskwright::TokenId;
use maskwright_suites::dataset::Subsample;
use maskwright_suites::locate::locate;
use maskwright_suites::mask_bench::{MaskBench, MaskBenchFile};
use maskwright_suites::validate::Scoring;
use maskwright_worker::Purpose;
use serde::{Deserialize, Serialize};

use super::arguments::directory::DirectoryArguments;
use super::arguments::frameworks::ReplayArguments;
use crate::error::CommandError;
use crate::frameworks::{Framework, FrameworkSettings, Judging};
use crate::masks::record::{MaskKey, MaskRecord};
use crate::masks::{plot, report, rows};
use crate::report::table::Style;
use crate::run::directory::RunDirectory;
use crate::run::manifest::Manifest;
use crate::run::{interrupt, progress};
use crate::vocabularies::NamedVocabulary;
use crate::worker::trial::{Trial, TrialOptions};
use crate::worker::{Provision, Worker};

/// Whether the labels of MaskBench's instances take `format` for an assertion.
const ASSERT_FORMATS: bool = true;

/// Arguments of `maskwright masks`.
#[derive(Debug, Args)]
pub struct MasksArguments {
    #[command(flatten)]
    replay: ReplayArguments,
    /// Directory with MaskBench's files (`maskbench/data`) [default: what `maskwright fetch jsonschemabench` fetched]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Files, at most
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Seed of the sample that --limit takes; the first files without it
    #[arg(long)]
    seed: Option<u64>,
    /// How replays are judged: strict, or paper, which like MaskBench's own scripts does not ask whether a document may
    /// end where it does
    #[arg(long, default_value_t = Scoring::Strict)]
    scoring: Scoring,
    /// Draw the curves of the times' tails into the run's directory, too: tbm.svg and ttfm.svg
    #[arg(long)]
    plot: bool,
    #[command(flatten)]
    directory: DirectoryArguments,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

/// What a run measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct MaskSettings {
    frameworks: Vec<FrameworkSettings>,
    files: usize,
    seed: Option<u64>,
    vocabulary: String,
    time_limit_s: f64,
}

/// Replays MaskBench and prints the tables.
///
/// # Errors
///
/// [`CommandError`]; records so far stay in the run's directory.
pub fn run(arguments: &MasksArguments) -> Result<(), CommandError> {
    let frameworks = arguments.replay.choose()?;
    let bench = match &arguments.data {
        Some(directory) => MaskBench::open(directory)?,
        None => MaskBench::open(&locate("jsonschemabench", None)?)?,
    };
    let files = bench.sample(Subsample {
        limit: arguments.limit,
        seed: arguments.seed,
    });
    let vocabulary = arguments.replay.load_vocabulary()?;
    let provision = Provision::new(
        &vocabulary.vocabulary,
        Some(vocabulary.tokenizer.clone()),
        &Default::default(),
        ASSERT_FORMATS,
        Purpose::Judge,
    );
    let manifest = Manifest::new(MaskSettings {
        frameworks: frameworks.iter().map(FrameworkSettings::from).collect(),
        files: files.len(),
        seed: arguments.seed,
        vocabulary: vocabulary.name.clone(),
        time_limit_s: arguments.replay.time_limit,
    });
    let mut directory = arguments.directory.open("masks", &manifest)?;
    interrupt::watch();
    let mut run = MaskRun {
        bench: &bench,
        vocabulary: &vocabulary,
        frameworks: workers(&frameworks, &provision)?,
        options: TrialOptions {
            limits: arguments.replay.limits(),
            first_mask: true,
            forced: true,
        },
    };
    run.all(&files, &mut directory)?;
    drop(run);
    let names: Vec<String> = frameworks.into_iter().map(|framework| framework.name).collect();
    finish(arguments, &directory, &names, &manifest.settings.frameworks)
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
) -> Result<(), CommandError> {
    let check_end = arguments.scoring == Scoring::Strict;
    let rows = rows::rows(directory.records(), names, check_end);
    let json = report::json(&rows, frameworks) + "\n";
    directory.write("report.md", &report::text(&rows, frameworks, Style::Markdown))?;
    directory.write("report.csv", &report::csv(&rows))?;
    directory.write("report.json", &json)?;
    if arguments.plot {
        let times = rows::shared_times(directory.records(), names);
        directory.write("tbm.svg", &plot::time_between_masks(&times)?)?;
        directory.write("ttfm.svg", &plot::time_to_first_mask(&times)?)?;
    }
    let unusable = directory.records().iter().filter(|record| record.unusable.is_some());
    for record in unusable.filter(|record| Some(&record.key.framework) == names.first()) {
        let reason = record.unusable.as_deref().unwrap_or_default();
        progress::say(&format!("left out: {}: {reason}", record.key.file));
    }
    if arguments.json {
        return crate::print(&json);
    }
    crate::print(&report::text(&rows, frameworks, Style::Terminal))?;
    directory.say_where();
    Ok(())
}

/// MaskBench on its way through the frameworks.
struct MaskRun<'a> {
    bench: &'a MaskBench,
    vocabulary: &'a NamedVocabulary,
    frameworks: Vec<(&'a Framework, Worker)>,
    options: TrialOptions,
}

impl MaskRun<'_> {
    /// File by file, all frameworks in turn, what the directory has no record of yet.
    fn all(&mut self, files: &[&str], directory: &mut RunDirectory<MaskRecord>) -> Result<(), CommandError> {
        let planned = files.len() * self.frameworks.len();
        let bar = progress::bar(planned as u64, "");
        for (number, file) in files.iter().enumerate() {
            bar.set_message((*file).to_owned());
            if !self.file(number, file, directory)? {
                bar.abandon();
                return Err(CommandError::interrupted(directory, planned));
            }
            bar.inc(self.frameworks.len() as u64);
        }
        bar.finish_and_clear();
        Ok(())
    }

    /// One file with every framework that lacks a record. False where the user interrupted.
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
        // Every framework is first equally often, so that none always finds the caches warm.
        let first = number % self.frameworks.len().max(1);
        let (after, before) = self.frameworks.split_at_mut(first);
        let mut missing: Vec<&mut (&Framework, Worker)> = before
            .iter_mut()
            .chain(after)
            .filter(|(framework, _)| !directory.has(&key(&framework.name)))
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
                    let tokens = tokens(framework, file, self.vocabulary);
                    let trial = Trial::run(worker, &file.schema_text, &tokens, &self.options);
                    let labels = file.instances.iter().map(|instance| instance.valid);
                    let instances: Vec<(bool, usize)> = labels.zip(tokens.iter().map(Vec::len)).collect();
                    MaskRecord::new(key(name), trial, &instances, worker.peak_memory())
                }
            };
            directory.add(record)?;
        }
        Ok(true)
    }
}

fn tokens(framework: &Framework, file: &MaskBenchFile, vocabulary: &NamedVocabulary) -> Vec<Vec<TokenId>> {
    let judging = Judging {
        documents: &BTreeMap::new(),
        assert_formats: ASSERT_FORMATS,
    };
    let instances = file.instances.iter();
    let texts = instances.map(|one| framework.text(&judging, &file.schema_text, &one.text, one.valid));
    texts.map(|text| vocabulary.tokenize(&text)).collect()
}
