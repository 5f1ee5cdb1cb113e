//! `maskwright bench`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use maskwright_models::{DecodeOptions, LoadedModel, SamplingOptions};
use maskwright_suites::dataset::{BUILTIN, Dataset, Instance, Sample};
use maskwright_suites::synthetic::{Generator, Split};
use maskwright_suites::validate::{Judge, Scoring};
use maskwright_suites::{json_text, prompt};
use maskwright_worker::Setup;
use sha2::{Digest, Sha256};

use super::framework_arguments::{WorkerOptions, framework_settings, seconds};
use super::model_arguments::{self, ModelArguments, PROMPT_DATE};
use crate::error::CommandError;
use crate::frameworks::{self, Contender, LM_ONLY};
use crate::manifest::{DatasetSettings, FrameworkSettings, Manifest, Settings};
use crate::measure::{Candidate, Ready, Task, measure};
use crate::record::{Record, RecordKey};
use crate::report::Report;
use crate::run_directory::RunDirectory;
use crate::statistics::Bootstrap;
use crate::summary::{self, Method, Scope};
use crate::vocabularies::NamedVocabulary;
use crate::worker::Provision;
use crate::{interrupt, progress};

/// Name of the dataset of generated schemas that the built-in model was not trained on.
pub const HELD_OUT: &str = "heldout";
/// Schemas of the held-out dataset where no limit is given.
const HELD_OUT_DEFAULT: usize = 100;

/// Arguments of `maskwright bench`.
#[derive(Debug, Args)]
pub struct BenchArguments {
    #[command(flatten)]
    model: ModelArguments,
    /// Frameworks to compare, comma-separated; `none` is the model alone
    #[arg(long, value_delimiter = ',', default_value = "llguidance,none", value_name = "NAMES")]
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
        overlap: !arguments.no_overlap,
        threads: arguments.model.threads(),
    };
    let mut decode = DecodeOptions {
        sampling,
        eos_tokens: Vec::new(),
        max_tokens: arguments.max_tokens,
        time_limit: Some(Duration::from_secs_f64(arguments.generation_limit)),
        fast_forward: settings.fast_forward,
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

/// A model with every framework made ready for its vocabulary.
struct Loaded {
    model: LoadedModel,
    candidates: Vec<Candidate>,
}

impl Loaded {
    fn new(
        arguments: &BenchArguments,
        model: &str,
        contenders: &[(String, Option<Contender>)],
    ) -> Result<Self, CommandError> {
        let model = arguments.model.load(model)?;
        let candidates = candidates(arguments, contenders, &model)?;
        Ok(Self { model, candidates })
    }

    /// What goes into the manifest.
    fn settings(&self) -> serde_json::Value {
        serde_json::to_value(self.model.summary()).unwrap_or_default()
    }
}

/// The settings of all models but the first, each loaded once and dropped: the manifest needs them before the first record
/// is written, and a model that does not work should not be found out after hours.
fn describe_others(
    arguments: &BenchArguments,
    models: &[String],
    contenders: &[(String, Option<Contender>)],
) -> Result<Vec<serde_json::Value>, CommandError> {
    let others = models.iter().skip(1);
    others
        .map(|model| Ok(Loaded::new(arguments, model, contenders)?.settings()))
        .collect()
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

/// A run with one model, in progress.
struct Bench<'a> {
    model_name: &'a str,
    /// Number of models of the whole run.
    models: usize,
    names: &'a [String],
    candidates: &'a [Candidate],
    model: &'a mut LoadedModel,
    decode: DecodeOptions,
    compile_limit: Duration,
    shots: usize,
}

impl Bench<'_> {
    /// Measures what the directory has no record of yet: schema by schema, all frameworks in turn.
    fn run(&mut self, datasets: &[Dataset], directory: &mut RunDirectory<Record>) -> Result<(), CommandError> {
        let schemas: usize = datasets.iter().map(|dataset| dataset.instances.len()).sum();
        let planned = schemas * self.names.len();
        let bar = progress::bar(planned as u64, "");
        self.warm_up()?;
        let numbered = datasets
            .iter()
            .flat_map(|dataset| dataset.instances.iter().map(move |instance| (dataset, instance)))
            .enumerate();
        for (number, (dataset, instance)) in numbered {
            let place = format!("{}/{}", dataset.name, instance.id);
            bar.set_message(match self.models {
                1 => place,
                _ => format!("{}: {place}", self.model_name),
            });
            if !self.instance(number, &dataset.name, instance, directory)? {
                bar.abandon();
                return Err(CommandError::Interrupted {
                    kept: directory.records().len(),
                    planned: planned * self.models,
                    directory: directory.path().display().to_string(),
                });
            }
            bar.inc(self.names.len() as u64);
        }
        bar.finish_and_clear();
        Ok(())
    }

    /// One forward pass whose time nobody counts: weights are paged in, threads started.
    fn warm_up(&mut self) -> Result<(), CommandError> {
        let prompt = self.prompt("{}")?;
        self.model.model.reset();
        let fitting = prompt.len().min(self.model.model.max_positions());
        self.model.model.append(&prompt[..fitting])?;
        self.model.model.reset();
        Ok(())
    }

    /// Measures one schema with every framework that lacks a record. False where the user interrupted.
    fn instance(
        &mut self,
        number: usize,
        dataset: &str,
        instance: &Instance,
        directory: &mut RunDirectory<Record>,
    ) -> Result<bool, CommandError> {
        let keys = self.names.iter().map(|name| RecordKey {
            model: self.model_name.to_owned(),
            framework: name.clone(),
            dataset: dataset.to_owned(),
            instance: instance.id.clone(),
        });
        let mut missing: Vec<(RecordKey, &Candidate)> = keys
            .zip(self.candidates)
            .filter(|(key, _)| !directory.has(key))
            .collect();
        if missing.is_empty() {
            return Ok(true);
        }
        // Every framework is first equally often, so that none always finds the caches warm.
        let first = number % missing.len();
        missing.rotate_left(first);
        let usable = match &instance.schema {
            Err(error) => Err(error.to_string()),
            Ok(schema) => match Judge::new(schema) {
                Err(problem) => Err(problem.to_string()),
                Ok(judge) => Ok((schema, judge, self.prompt(schema)?)),
            },
        };
        for (key, candidate) in missing {
            if interrupt::requested() {
                return Ok(false);
            }
            let record = match &usable {
                Err(reason) => Some(Record::unusable(key, reason.clone())),
                Ok((schema, judge, prompt)) => {
                    let documented = candidate.as_ref().and_then(|ready| ready.documented.as_ref());
                    let theoretical = documented.map(|documented| documented.covers(schema));
                    let task = Task { schema, prompt, judge };
                    let record = measure(
                        key,
                        candidate,
                        &task,
                        self.model,
                        &self.decode,
                        self.compile_limit,
                        &interrupt::INTERRUPTED,
                    );
                    record.map(|record| Record { theoretical, ..record })
                }
            };
            match record {
                Some(record) => directory.add(record)?,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// The tokens of the prompt that asks for an instance of `schema`, the schema on one line.
    fn prompt(&self, schema: &str) -> Result<Vec<u32>, CommandError> {
        let one_line = serde_json::from_str::<serde_json::Value>(schema)
            .ok()
            .and_then(|value| json_text::to_string(&value).ok());
        let schema = one_line.as_deref().unwrap_or(schema);
        let messages = prompt::messages(schema, &prompt::DEFAULT_SHOTS[..self.shots]);
        Ok(model_arguments::encode(self.model, &messages)?)
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

/// The rows of a run: names, with none behind that of the model alone.
type Contenders = Vec<(String, Option<Contender>)>;

/// The frameworks asked for by name, each once; none behind the name of the model alone.
fn contenders(arguments: &BenchArguments) -> Result<Contenders, CommandError> {
    let (alone, named): (Vec<&String>, Vec<&String>) =
        arguments.frameworks.iter().partition(|name| name.as_str() == LM_ONLY);
    let named: Vec<String> = named.into_iter().cloned().collect();
    let mut contenders: Contenders = frameworks::choose(&named, &arguments.workers.workers)?
        .into_iter()
        .map(|contender| (contender.name.clone(), Some(contender)))
        .collect();
    if !alone.is_empty() {
        let place = arguments.frameworks.iter().position(|name| name == LM_ONLY);
        let place = place.unwrap_or_default().min(contenders.len());
        contenders.insert(place, (LM_ONLY.to_owned(), None));
    }
    Ok(contenders)
}

fn candidates(
    arguments: &BenchArguments,
    contenders: &[(String, Option<Contender>)],
    model: &LoadedModel,
) -> Result<Vec<Candidate>, CommandError> {
    let vocabulary = NamedVocabulary::of_model(model);
    let setup = Setup {
        vocabulary: vocabulary.vocabulary.clone(),
        documents: BTreeMap::new(),
    };
    let provision = Provision::new(&vocabulary.vocabulary, Some(vocabulary.tokenizer), &setup.documents);
    let limits = |seconds| arguments.workers.limits(Duration::from_secs_f64(seconds));
    let candidate = |contender: &Contender| {
        let compiler = match arguments.isolate {
            true => None,
            false => contender.in_process_compiler(&setup)?,
        };
        let in_worker = compiler.is_none();
        let compiler = match compiler {
            Some(compiler) => compiler,
            None => contender.worker_compiler(
                provision.clone(),
                limits(arguments.compile_limit),
                limits(arguments.generation_limit),
                setup.vocabulary.len(),
            )?,
        };
        Ok(Ready {
            compiler,
            in_worker,
            documented: contender.documented.clone(),
        })
    };
    contenders
        .iter()
        .map(|(_, contender)| contender.as_ref().map(candidate).transpose())
        .collect()
}

/// The datasets to run: those named, or all of --data, or the built-in sample.
fn datasets(arguments: &BenchArguments) -> Result<Vec<Dataset>, CommandError> {
    let sample = Sample {
        limit: arguments.limit,
        seed: arguments.seed,
    };
    let mut catalog = super::catalog(arguments.data.as_deref())?;
    catalog.add(held_out(arguments))?;
    let names = match (arguments.datasets.is_empty(), &arguments.data) {
        (false, _) => arguments.datasets.clone(),
        (true, None) => vec![BUILTIN.to_owned()],
        (true, Some(_)) => {
            let found = catalog.available().into_iter().map(|dataset| dataset.name);
            found.filter(|name| name != BUILTIN && name != HELD_OUT).collect()
        }
    };
    Ok(catalog.select(&names, sample)?)
}

/// Generated schemas, as many as the limit asks for.
fn held_out(arguments: &BenchArguments) -> Dataset {
    if !arguments
        .datasets
        .iter()
        .any(|name| name.eq_ignore_ascii_case(HELD_OUT))
    {
        return Dataset::from_texts(HELD_OUT, []);
    }
    let count = arguments.limit.unwrap_or(HELD_OUT_DEFAULT);
    let examples = Generator::new(arguments.seed.unwrap_or(0), Split::HeldOut).take(count);
    let texts = examples.enumerate().map(|(number, example)| {
        let text = example.schema.to_string();
        (format!("{number:06}"), text)
    });
    Dataset::from_texts(HELD_OUT, texts)
}

fn dataset_settings(dataset: &Dataset) -> DatasetSettings {
    let mut hash = Sha256::new();
    for instance in &dataset.instances {
        let text = instance.schema.as_deref().unwrap_or("");
        for part in [instance.id.as_str(), text] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    DatasetSettings {
        name: dataset.name.clone(),
        instances: dataset.instances.len(),
        sha256: hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}
