//! `maskwright bench`.

mod candidates;
mod datasets;
mod running;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use maskwright_models::{DecodeOptions, SamplingOptions};
use maskwright_suites::validate::Scoring;

use super::framework_arguments::{WorkerOptions, framework_settings, seconds};
use super::model_arguments::{ModelArguments, PROMPT_DATE};
use crate::error::CommandError;
use crate::manifest::{FrameworkSettings, Manifest, Settings};
use crate::record::Record;
use crate::report::Report;
use crate::run_directory::RunDirectory;
use crate::statistics::Bootstrap;
use crate::summary::{self, Method, Scope};
use crate::{interrupt, progress};

use candidates::{Loaded, contenders, describe_others};
pub use datasets::HELD_OUT;
use datasets::{dataset_settings, datasets};
use running::Bench;

/// Arguments of `maskwright bench`.
#[derive(Debug, Args)]
pub struct BenchArguments {
    #[command(flatten)]
    model: ModelArguments,
    /// Frameworks to compare, comma-separated; `none` is the model alone
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "maskwright,llguidance,none",
        value_name = "NAMES"
    )]
    frameworks: Vec<String>,
    #[command(flatten)]
    workers: WorkerOptions,
    /// Run every framework in a worker, also those that are trusted in this process
    #[arg(long)]
    isolate: bool,
    /// Datasets, comma-separated: `builtin`, `heldout`, or names found in --data or fetched
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    datasets: Vec<String>,
    /// Directory of further datasets: JSONSchemaBench's files, or the hub's parquet files. Without --datasets, all of
    /// them are run. Without --data, names are those of what `maskwright fetch` has fetched
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Schemas per dataset, at most
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Seed: of the sample that --limit takes (the first schemas without it), of the sampling of tokens, and of
    /// confidence intervals
    #[arg(long)]
    seed: Option<u64>,
    /// Tokens per answer, at most
    #[arg(long, default_value_t = 512, value_name = "N")]
    max_tokens: usize,
    /// Demonstrations in the prompt
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=2))]
    shots: u8,
    /// Seconds that a compilation may take
    #[arg(long, default_value_t = 40.0, value_parser = seconds, value_name = "S")]
    compile_limit: f64,
    /// Seconds that a generation may take
    #[arg(long, default_value_t = 40.0, value_parser = seconds, value_name = "S")]
    generation_limit: f64,
    /// Whose rules answers are judged by: `strict`, each schema's own draft; or `paper`, as the JSONSchemaBench paper does,
    /// with its defects. Both verdicts are kept
    #[arg(long, default_value = "strict", value_name = "RULES")]
    scoring: Scoring,
    /// Confidence of the bootstrap intervals
    #[arg(long, default_value_t = 0.95, value_parser = confidence, value_name = "P")]
    confidence: f64,
    #[command(flatten)]
    sampling: SamplingArguments,
    /// Sample every token, also those that the framework forces
    #[arg(long)]
    no_fast_forward: bool,
    /// Let answers run into the limit on tokens, also where the framework could end them before
    #[arg(long)]
    no_finish_in_time: bool,
    /// Compute masks after the forward pass instead of beside it
    #[arg(long)]
    no_overlap: bool,
    /// Directory of the run's records, manifest and tables [default: runs/bench-DATE-TIME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Continue the run in --out
    #[arg(long, requires = "out")]
    resume: bool,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

/// How tokens are chosen; greedily by default.
#[derive(Debug, Args)]
struct SamplingArguments {
    /// Sampling temperature; 0 is greedy
    #[arg(long, default_value_t = 0.0, value_name = "T")]
    temperature: f32,
    /// Keep the K most likely tokens; 0 keeps all
    #[arg(long, default_value_t = 0, value_name = "K")]
    top_k: usize,
    /// Keep the most likely tokens that make up this probability
    #[arg(long, default_value_t = 1.0, value_name = "P")]
    top_p: f32,
    /// Keep tokens at least this many times as likely as the most likely one
    #[arg(long, default_value_t = 0.0, value_name = "P")]
    min_p: f32,
    /// Penalty on tokens seen before
    #[arg(long, default_value_t = 1.0, value_name = "R")]
    repetition_penalty: f32,
}

fn confidence(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    match value > 0.0 && value < 1.0 {
        true => Ok(value),
        false => Err("must be between 0 and 1".to_owned()),
    }
}

/// Runs the benchmark and prints its tables.
///
/// # Errors
///
/// [`CommandError`]; records so far stay in the run's directory.
pub fn run(arguments: &BenchArguments) -> Result<(), CommandError> {
    let sampling = arguments.sampling.options(arguments.seed.unwrap_or(0))?;
    let contenders = contenders(arguments)?;
    let names: Vec<String> = contenders.iter().map(|(name, _)| name.clone()).collect();
    let datasets = datasets(arguments)?;
    let models = arguments.model.names();
    let mut described = describe_others(arguments, &models, &contenders)?;
    let mut loaded = Loaded::new(arguments, &models[0], &contenders)?;
    described.insert(0, loaded.settings());
    let settings = Settings {
        models: described,
        frameworks: contenders
            .iter()
            .map(|(_, contender)| {
                contender
                    .as_ref()
                    .map_or_else(FrameworkSettings::alone, framework_settings)
            })
            .collect(),
        datasets: datasets.iter().map(dataset_settings).collect(),
        sampling: sampling.clone(),
        shots: arguments.shots.into(),
        prompt_date: PROMPT_DATE.date().to_string(),
        max_tokens: arguments.max_tokens,
        compile_limit_s: arguments.compile_limit,
        generation_limit_s: arguments.generation_limit,
        fast_forward: !arguments.no_fast_forward,
        finish_in_time: !arguments.no_finish_in_time,
        overlap: !arguments.no_overlap,
        threads: arguments.model.threads(),
    };
    let mut decode = DecodeOptions {
        sampling,
        eos_tokens: Vec::new(),
        max_tokens: arguments.max_tokens,
        time_limit: Some(Duration::from_secs_f64(arguments.generation_limit)),
        fast_forward: settings.fast_forward,
        finish_in_time: settings.finish_in_time,
        overlap: settings.overlap,
    };
    let manifest = Manifest::new(settings);
    let path = arguments
        .out
        .clone()
        .unwrap_or_else(|| super::default_directory("bench"));
    let mut directory = match arguments.resume {
        true => RunDirectory::resume(&path, &manifest)?,
        false => RunDirectory::create(&path, &manifest)?,
    };
    interrupt::watch();
    for (number, name) in models.iter().enumerate() {
        if number > 0 {
            // Out of memory first: two large models may not fit beside one another.
            drop(loaded);
            loaded = Loaded::new(arguments, name, &contenders)?;
        }
        decode.eos_tokens = loaded.model.eos_ids().to_vec();
        let mut bench = Bench {
            model_name: name,
            models: models.len(),
            names: &names,
            candidates: &loaded.candidates,
            model: &mut loaded.model,
            decode: decode.clone(),
            compile_limit: Duration::from_secs_f64(arguments.compile_limit),
            shots: arguments.shots.into(),
        };
        bench.run(&datasets, &mut directory)?;
    }
    let dataset_names: Vec<String> = datasets.into_iter().map(|dataset| dataset.name).collect();
    let scope = Scope {
        models: &models,
        datasets: &dataset_names,
        frameworks: &names,
    };
    finish(&directory, scope, arguments)
}

/// Writes the tables beside the records, and prints them.
fn finish(directory: &RunDirectory<Record>, scope: Scope<'_>, arguments: &BenchArguments) -> Result<(), CommandError> {
    let bootstrap = Bootstrap {
        confidence: arguments.confidence,
        seed: arguments.seed.unwrap_or(0),
        resamples: Bootstrap::RESAMPLES,
    };
    let scoring = arguments.scoring;
    let report = Report {
        rows: summary::rows(directory.records(), scope, Method { scoring, bootstrap }),
        scoring,
        confidence: arguments.confidence,
    };
    directory.write("report.md", &report.markdown())?;
    directory.write("report.csv", &report.csv())?;
    directory.write("report.json", &(report.json() + "\n"))?;
    let unusable = directory.records().iter().filter(|record| record.unusable.is_some());
    for record in unusable.filter(|record| {
        (Some(&record.key.model), Some(&record.key.framework)) == (scope.models.first(), scope.frameworks.first())
    }) {
        let reason = record.unusable.as_deref().unwrap_or_default();
        progress::say(&format!(
            "left out: {}/{}: {reason}",
            record.key.dataset, record.key.instance
        ));
    }
    if arguments.json {
        return crate::print(&(report.json() + "\n"));
    }
    crate::print(&report.terminal())?;
    progress::say(&format!(
        "records, manifest and tables are in {}",
        directory.path().display()
    ));
    Ok(())
}

impl SamplingArguments {
    fn options(&self, seed: u64) -> Result<SamplingOptions, CommandError> {
        let options = SamplingOptions {
            temperature: self.temperature,
            top_k: self.top_k,
            top_p: self.top_p,
            min_p: self.min_p,
            repetition_penalty: self.repetition_penalty,
            seed,
        };
        options.validate()?;
        Ok(options)
    }
}
