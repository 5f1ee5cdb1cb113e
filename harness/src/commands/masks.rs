//! `maskwright masks`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use maskwright::TokenId;
use maskwright_suites::dataset::Sample;
use maskwright_suites::locate::locate;
use maskwright_suites::mask_bench::{MaskBench, MaskBenchFile};
use maskwright_suites::validate::Scoring;
use serde::{Deserialize, Serialize};

use super::framework_arguments::{WorkerOptions, framework_settings, seconds};
use crate::error::CommandError;
use crate::frameworks::{self, Contender, Judging};
use crate::manifest::{FrameworkSettings, Manifest};
use crate::mask_record::{MaskKey, MaskRecord};
use crate::run_directory::RunDirectory;
use crate::table::Style;
use crate::trial::{Trial, TrialOptions};
use crate::vocabularies::{self, NamedVocabulary};
use maskwright_worker::Purpose;

use crate::worker::{Provision, Worker};
use crate::{interrupt, mask_plot, mask_report, mask_summary, progress};

/// Whether the labels of MaskBench's instances take `format` for an assertion.
const ASSERT_FORMATS: bool = true;

/// Arguments of `maskwright masks`.
#[derive(Debug, Args)]
pub struct MasksArguments {
    /// Frameworks to measure, comma-separated
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "maskwright,llguidance",
        value_name = "NAMES"
    )]
    frameworks: Vec<String>,
    #[command(flatten)]
    workers: WorkerOptions,
    /// Directory with MaskBench's files (`maskbench/data`) [default: what `maskwright fetch jsonschemabench` fetched]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Files, at most
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Seed of the sample that --limit takes; the first files without it
    #[arg(long)]
    seed: Option<u64>,
    /// Vocabulary: o200k_base, cl100k_base, or that of a model (builtin, a directory, a hub id)
    #[arg(long, default_value = vocabularies::DEFAULT, value_name = "NAME")]
    vocabulary: String,
    /// Seconds that a compilation, and the instances of a schema together, may take
    #[arg(long, default_value_t = 40.0, value_parser = seconds, value_name = "S")]
    time_limit: f64,
    /// How replays are judged: strict, or paper, which like MaskBench's own scripts does not ask whether a document may
    /// end where it does
    #[arg(long, default_value_t = Scoring::Strict)]
    scoring: Scoring,
    /// Draw the curves of the times' tails into the run's directory, too: tbm.svg and ttfm.svg
    #[arg(long)]
    plot: bool,
    /// Directory of the run's records, manifest and tables [default: runs/masks-DATE-TIME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Continue the run in --out
    #[arg(long, requires = "out")]
    resume: bool,
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
    let contenders = frameworks::choose(&arguments.frameworks, &arguments.workers.workers)?;
    let bench = match &arguments.data {
        Some(directory) => MaskBench::open(directory)?,
        None => MaskBench::open(&locate("jsonschemabench", None)?)?,
    };
    let files = bench.sample(Sample {
        limit: arguments.limit,
        seed: arguments.seed,
    });
    let vocabulary = NamedVocabulary::load(&arguments.vocabulary)?;
    let provision = Provision::new(
        &vocabulary.vocabulary,
        Some(vocabulary.tokenizer.clone()),
        &Default::default(),
        ASSERT_FORMATS,
        Purpose::Judge,
    );
    let manifest = Manifest::new(MaskSettings {
        frameworks: contenders.iter().map(framework_settings).collect(),
        files: files.len(),
        seed: arguments.seed,
        vocabulary: vocabulary.name.clone(),
        time_limit_s: arguments.time_limit,
    });
    let path = arguments
        .out
        .clone()
        .unwrap_or_else(|| super::default_directory("masks"));
    let mut directory = match arguments.resume {
        true => RunDirectory::resume(&path, &manifest)?,
        false => RunDirectory::create(&path, &manifest)?,
    };
    interrupt::watch();
    let mut run = MaskRun {
        bench: &bench,
        vocabulary: &vocabulary,
        contenders: workers(&contenders, &provision)?,
        options: TrialOptions {
            limits: arguments.workers.limits(Duration::from_secs_f64(arguments.time_limit)),
            first_mask: true,
            forced: true,
        },
    };
    run.all(&files, &mut directory)?;
    drop(run);
    let names: Vec<String> = contenders.into_iter().map(|contender| contender.name).collect();
    finish(arguments, &directory, &names, &manifest.settings.frameworks)
}

fn workers<'a>(
    contenders: &'a [Contender],
    provision: &Provision,
) -> Result<Vec<(&'a Contender, Worker)>, CommandError> {
    contenders
        .iter()
        .map(|contender| Ok((contender, contender.ready_worker(provision.clone())?)))
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
    let rows = mask_summary::rows(directory.records(), names, check_end);
    let json = mask_report::json(&rows, frameworks) + "\n";
    directory.write("report.md", &mask_report::text(&rows, frameworks, Style::Markdown))?;
    directory.write("report.csv", &mask_report::csv(&rows))?;
    directory.write("report.json", &json)?;
    if arguments.plot {
        let times = mask_summary::shared_times(directory.records(), names);
        directory.write("tbm.svg", &mask_plot::time_between_masks(&times)?)?;
        directory.write("ttfm.svg", &mask_plot::time_to_first_mask(&times)?)?;
    }
    let unusable = directory.records().iter().filter(|record| record.unusable.is_some());
    for record in unusable.filter(|record| Some(&record.key.framework) == names.first()) {
        let reason = record.unusable.as_deref().unwrap_or_default();
        progress::say(&format!("left out: {}: {reason}", record.key.file));
    }
    if arguments.json {
        return crate::print(&json);
    }
    crate::print(&mask_report::text(&rows, frameworks, Style::Terminal))?;
    progress::say(&format!(
        "records, manifest and tables are in {}",
        directory.path().display()
    ));
    Ok(())
}

/// MaskBench on its way through the frameworks.
struct MaskRun<'a> {
    bench: &'a MaskBench,
    vocabulary: &'a NamedVocabulary,
    contenders: Vec<(&'a Contender, Worker)>,
    options: TrialOptions,
}

impl MaskRun<'_> {
    /// File by file, all frameworks in turn, what the directory has no record of yet.
    fn all(&mut self, files: &[&str], directory: &mut RunDirectory<MaskRecord>) -> Result<(), CommandError> {
        let planned = files.len() * self.contenders.len();
        let bar = progress::bar(planned as u64, "");
        for (number, file) in files.iter().enumerate() {
            bar.set_message((*file).to_owned());
            if !self.file(number, file, directory)? {
                bar.abandon();
                return Err(CommandError::Interrupted {
                    kept: directory.records().len(),
                    planned,
                    directory: directory.path().display().to_string(),
                });
            }
            bar.inc(self.contenders.len() as u64);
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
        let first = number % self.contenders.len().max(1);
        let (after, before) = self.contenders.split_at_mut(first);
        let mut missing: Vec<&mut (&Contender, Worker)> = before
            .iter_mut()
            .chain(after)
            .filter(|(contender, _)| !directory.has(&key(&contender.name)))
            .collect();
        if missing.is_empty() {
            return Ok(true);
        }
        let read = self.bench.read(file);
        for (contender, worker) in &mut missing {
            let name = &contender.name;
            if interrupt::requested() {
                return Ok(false);
            }
            let record = match &read {
                Err(error) => MaskRecord::unusable(key(name), error.to_string()),
                Ok(file) => {
                    let tokens = tokens(contender, file, self.vocabulary);
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

fn tokens(contender: &Contender, file: &MaskBenchFile, vocabulary: &NamedVocabulary) -> Vec<Vec<TokenId>> {
    let judging = Judging {
        documents: &BTreeMap::new(),
        assert_formats: ASSERT_FORMATS,
    };
    let instances = file.instances.iter();
    let texts = instances.map(|one| contender.text(&judging, &file.schema_text, &one.text, one.valid));
    texts.map(|text| vocabulary.tokenize(&text)).collect()
}
