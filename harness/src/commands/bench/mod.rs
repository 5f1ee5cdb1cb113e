//! `maskwright bench`.

mod datasets;
mod run;
mod tools;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use maskwright_models::{DecodeOptions, LoadedModel, SamplingOptions};
use maskwright_suites::dataset::Dataset;
use maskwright_suites::validate::Scoring;

use super::arguments::directory::DirectoryArguments;
use super::arguments::documents::DocumentArguments;
use super::arguments::models::PROMPT_DATE;
use super::arguments::numbers::{confidence, positive, repetitions, seconds};
use super::arguments::style::StyleArguments;
use super::rows::{RowArguments, RowOptions, Rows};
use crate::bench::settings::{BenchSettings, DatasetSettings, Protocol};
use crate::documents::DocumentLibrary;
use crate::error::CommandError;

/// Tokens per answer, at most, where nothing else is asked for.
const DEFAULT_MAX_TOKENS: usize = 512;

/// Arguments of `maskwright bench`.
#[derive(Debug, Args)]
pub struct BenchArguments {
    #[command(flatten)]
    rows: RowArguments,
    /// Datasets, comma-separated: `builtin`, `heldout`, names found in --data or fetched, or `all` of these. JSONSchemaBench has
    /// Github_trivial, Github_easy, Github_medium, Github_hard, Github_ultra, Glaiveai2K, JsonSchemaStore, Kubernetes, Snowplow and
    /// WashingtonPost
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    datasets: Vec<String>,
    /// Directory of further datasets: JSONSchemaBench's files, or the hub's parquet files. Without --datasets, all of
    /// them are run. Without --data, names are those of what `maskwright fetch` has fetched
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    #[command(flatten)]
    documents: DocumentArguments,
    /// Schemas per dataset, at most; of `heldout`, 100,000
    #[arg(long, value_parser = positive::<usize>, value_name = "N")]
    limit: Option<usize>,
    /// Seed: of the sample that --limit takes (the first schemas without it), of the sampling of tokens, and of
    /// confidence intervals
    #[arg(long)]
    seed: Option<u64>,
    /// Tokens per answer, at most [default: 512; none with --protocol paper]
    #[arg(long, value_parser = positive::<usize>, value_name = "N")]
    max_tokens: Option<usize>,
    /// Protocol by which answers are asked for
    #[arg(long, value_enum, default_value_t = Protocol::Ours, value_name = "PROTOCOL")]
    protocol: Protocol,
    /// Let the model read the common prefix of all prompts once only, as servers do
    #[arg(long)]
    prefix_cache: bool,
    /// Compile schemas while the model reads the prompt, so that the compilation is part of TTFT; --protocol paper does so by itself
    #[arg(long)]
    compile_beside_prefill: bool,
    /// Number of times that each answer is asked for. The answer with the median total time counts
    #[arg(long, default_value_t = 1, value_parser = repetitions, value_name = "N")]
    repeat: usize,
    /// Demonstrations in the prompt
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=2))]
    shots: u8,
    /// Seconds that a compilation may take
    #[arg(long, default_value_t = 40.0, value_parser = seconds, value_name = "S")]
    compile_limit: f64,
    /// Seconds that a generation may take
    #[arg(long, default_value_t = 40.0, value_parser = seconds, value_name = "S")]
    generation_limit: f64,
    /// Rules by which answers are judged: `strict`, each schema's own draft; or `paper`, as the JSONSchemaBench paper does,
    /// with its defects. Both verdicts are kept [default: strict; paper with --paper]
    #[arg(long, value_name = "RULES")]
    scoring: Option<Scoring>,
    /// Confidence of the intervals
    #[arg(long, default_value_t = 0.95, value_parser = confidence, value_name = "P")]
    confidence: f64,
    #[command(flatten)]
    style: StyleArguments,
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
    /// Print the JSONSchemaBench paper's figures beside ours, where it has the same dataset and framework. Answers are judged
    /// by the paper's rules, and the compilation is part of TTFT and TGT, as in the paper
    #[arg(long)]
    paper: bool,
    /// Print the 95th and 99th percentiles of the times, too
    #[arg(long)]
    percentiles: bool,
    #[command(flatten)]
    tools: ToolArguments,
    #[command(flatten)]
    directory: DirectoryArguments,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

/// Options of function calling, which is measured in place of documents.
#[derive(Debug, Args)]
struct ToolArguments {
    /// Ask models to call functions and judge the calls: a file of questions in the layout of the Berkeley Function-Calling Leaderboard, with
    /// answers of the same name in `possible_answer/` beside it; or `builtin`, forty requests with twenty functions
    #[arg(long, value_name = "FILE", conflicts_with_all = NOT_OF_TOOLS)]
    tools: Option<PathBuf>,
    /// The format of calls, such as `llama3` or `qwen3` [default: that of the model's chat template, else plain objects that the prompt explains]
    #[arg(long, requires = "tools", value_name = "NAME")]
    tool_format: Option<String>,
    /// The choice among functions: `auto`, any number of calls; `required`, at least one; `none`; or the name of one function
    #[arg(long, requires = "tools", default_value = "auto", value_name = "CHOICE")]
    tool_choice: String,
    /// Allow one call in a reply
    #[arg(long, requires = "tools")]
    no_parallel_calls: bool,
}

/// Options that apply to documents and not to function calls.
const NOT_OF_TOOLS: [&str; 15] = [
    "datasets",
    "data",
    "documents",
    "servers",
    "protocol",
    "prefix_cache",
    "compile_beside_prefill",
    "repeat",
    "shots",
    "scoring",
    "confidence",
    "paper",
    "percentiles",
    "concurrency",
    "max_cost",
];

/// Runs the benchmark and prints its tables.
///
/// # Errors
///
/// [`CommandError`]; records so far stay in the run's directory.
pub fn run(arguments: &BenchArguments) -> Result<(), CommandError> {
    match &arguments.tools.tools {
        Some(file) => tools::run(arguments, file),
        None => run::run(arguments),
    }
}

/// Options of sampling; greedy by default.
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

impl BenchArguments {
    /// Returns the options for loading models and preparing frameworks.
    fn row_options(&self) -> RowOptions<'_> {
        self.rows
            .options(&self.style, self.compile_limit, self.generation_limit)
    }

    /// Returns the options of the decode loop for answers of `model`.
    fn decode(&self, sampling: &SamplingOptions, model: &LoadedModel) -> DecodeOptions {
        DecodeOptions {
            sampling: sampling.clone(),
            eos_tokens: model.eos_ids().to_vec(),
            max_tokens: self.max_tokens().unwrap_or(usize::MAX),
            time_limit: Some(Duration::from_secs_f64(self.generation_limit)),
            fast_forward: !self.no_fast_forward,
            finish_in_time: self.finish_in_time(),
            overlap: !self.no_overlap,
            mask_effects: false,
            reasoning: model.reasoning().cloned(),
        }
    }

    /// Returns the largest number of tokens of an answer; `None` without a limit.
    fn max_tokens(&self) -> Option<usize> {
        match (self.max_tokens, self.protocol) {
            (None, Protocol::Ours) => Some(DEFAULT_MAX_TOKENS),
            (limit, _) => limit,
        }
    }

    /// Whether schemas are compiled while the model reads the prompt.
    fn beside_prefill(&self) -> bool {
        self.compile_beside_prefill || self.protocol == Protocol::Paper
    }

    /// Whether frameworks are helped to end answers before the limit on tokens.
    fn finish_in_time(&self) -> bool {
        !self.no_finish_in_time && self.protocol == Protocol::Ours
    }

    /// Returns the rules by which answers are judged.
    ///
    /// # Errors
    ///
    /// [`CommandError::Arguments`], where the paper's figures would stand beside figures by other rules.
    fn scoring(&self) -> Result<Scoring, CommandError> {
        match (self.scoring, self.paper) {
            (Some(Scoring::Strict), true) => Err(CommandError::Arguments(
                "--paper compares answers judged by the paper's rules: leave --scoring strict out".to_owned(),
            )),
            (Some(scoring), _) => Ok(scoring),
            (None, true) => Ok(Scoring::Paper),
            (None, false) => Ok(Scoring::Strict),
        }
    }

    /// Returns the settings of the run, for its manifest.
    fn settings(
        &self,
        models: Vec<serde_json::Value>,
        rows: &Rows,
        datasets: &[Dataset],
        documents: &DocumentLibrary,
        sampling: &SamplingOptions,
    ) -> Result<BenchSettings, CommandError> {
        Ok(BenchSettings {
            models,
            frameworks: rows.settings(),
            servers: self.rows.servers.summaries(),
            datasets: datasets.iter().map(DatasetSettings::of).collect(),
            documents: documents.settings(),
            sampling: sampling.clone(),
            shots: self.shots.into(),
            prompt: self.rows.model.prompt.settings()?,
            prompt_date: PROMPT_DATE.date().to_string(),
            max_tokens: self.max_tokens(),
            protocol: self.protocol,
            prefix_cache: self.prefix_cache,
            compile_beside_prefill: self.beside_prefill(),
            repeat: self.repeat,
            compile_limit_s: self.compile_limit,
            generation_limit_s: self.generation_limit,
            fast_forward: !self.no_fast_forward,
            finish_in_time: self.finish_in_time(),
            overlap: !self.no_overlap,
            threads: self.rows.model.threads(),
            style: self.style.changes(),
        })
    }
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
