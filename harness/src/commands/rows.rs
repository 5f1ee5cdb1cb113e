//! [`RowArguments`]: the rows of runs of `bench` and `quality`, which are models of this machine with frameworks, and servers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use maskwright_models::{LoadedModel, SamplingOptions};
use maskwright_worker::{Grammar, Purpose, Setup};

use super::arguments::frameworks::WorkerOptions;
use super::arguments::models::ModelArguments;
use super::arguments::servers::ServerArguments;
use super::arguments::style::StyleArguments;
use crate::bench::measure::PreparedFramework;
use crate::error::CommandError;
use crate::frameworks::{self, Framework, FrameworkSettings, LM_ONLY};
use crate::server::Client;
use crate::vocabularies::NamedVocabulary;
use crate::worker::Provision;

/// The frameworks of a run that names neither frameworks nor servers.
const DEFAULT_FRAMEWORKS: [&str; 3] = ["maskwright", "llguidance", LM_ONLY];

/// Options that choose the models, frameworks and servers of a run.
#[derive(Debug, Args)]
pub struct RowArguments {
    #[command(flatten)]
    pub(super) model: ModelArguments,
    /// Frameworks to compare, comma-separated; `none` is the model alone [default: maskwright,llguidance,none; with
    /// --server, no framework and no model of this machine]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    frameworks: Option<Vec<String>>,
    #[command(flatten)]
    workers: WorkerOptions,
    #[command(flatten)]
    pub(super) servers: ServerArguments,
    /// Run every framework in a worker, also those that are trusted in this process
    #[arg(long)]
    isolate: bool,
}

impl RowArguments {
    /// Chooses the models, frameworks and servers by name: no model is loaded yet, and no server asked.
    ///
    /// # Errors
    ///
    /// [`CommandError`], where a framework is unknown, a server cannot be asked with these settings, or neither a framework nor a server is named.
    pub(super) fn choose(&self, sampling: &SamplingOptions) -> Result<Rows, CommandError> {
        let asked = match &self.frameworks {
            Some(names) => names.iter().filter(|name| !name.is_empty()).cloned().collect(),
            None if self.servers.servers.is_empty() => DEFAULT_FRAMEWORKS.map(str::to_owned).into(),
            None => Vec::new(),
        };
        let frameworks = choose(&asked, &self.workers)?;
        let names: Vec<String> = frameworks.iter().map(|row| row.name.clone()).collect();
        let clients = self.servers.clients(&names, sampling)?;
        if names.is_empty() && clients.is_empty() {
            let problem = "nothing to compare: name --frameworks, or a --server";
            return Err(CommandError::Arguments(problem.to_owned()));
        }
        Ok(Rows {
            // Servers have their own models.
            models: match names.is_empty() {
                true => Vec::new(),
                false => self.model.names(),
            },
            frameworks,
            names,
            clients,
            isolate: self.isolate,
        })
    }

    /// Checks that a model that is named is asked, unless the run is continued: earlier versions left it out without a word.
    ///
    /// # Errors
    ///
    /// [`CommandError::Arguments`], where only servers are asked.
    pub(super) fn check_model(&self, rows: &Rows, is_continued: bool) -> Result<(), CommandError> {
        if is_continued || !rows.names.is_empty() || !self.model.is_given() {
            return Ok(());
        }
        let problem = "--model names a model of this machine, and with --server alone none is asked: add --frameworks, of which `none` \
                       is the model alone, or leave --model out";
        Err(CommandError::Arguments(problem.to_owned()))
    }

    /// Returns the options for loading models and preparing frameworks, with those of the command itself; limits are in seconds.
    pub(super) fn options<'a>(
        &'a self,
        style: &'a StyleArguments,
        compile_limit: f64,
        generation_limit: f64,
    ) -> RowOptions<'a> {
        RowOptions {
            model: &self.model,
            workers: &self.workers,
            style,
            isolate: self.isolate,
            compile_limit,
            generation_limit,
            grammar: Grammar::JsonSchema,
        }
    }
}

/// Models, frameworks and servers of a run, in the order of rows.
pub(super) struct Rows {
    /// Names of the models of this machine; empty where only servers answer.
    pub(super) models: Vec<String>,
    /// The frameworks with which each model answers, the model alone included.
    pub(super) frameworks: Vec<RowFramework>,
    /// Names of the frameworks.
    pub(super) names: Vec<String>,
    /// The servers.
    pub(super) clients: Vec<Arc<Client>>,
    /// Whether every framework runs in a worker.
    isolate: bool,
}

impl Rows {
    /// Returns the names of the models of this machine, then those of the servers' models.
    pub(super) fn all_models(&self) -> Vec<String> {
        let served = self.clients.iter().map(|client| client.settings().model.clone());
        self.models.iter().cloned().chain(served).collect()
    }

    /// Loads the first model with its frameworks, where there is one, and returns it with the settings of all models for the manifest.
    ///
    /// # Errors
    ///
    /// [`CommandError`], where a model cannot be loaded or a framework does not start: such errors should not appear after hours.
    pub(super) fn prepare(
        &self,
        options: RowOptions<'_>,
    ) -> Result<(Option<PreparedModel>, Vec<serde_json::Value>), CommandError> {
        let Some((first, others)) = self.models.split_first() else {
            return Ok((None, Vec::new()));
        };
        // Only one model is in memory at a time.
        let others = others.iter().map(|name| Ok(self.load(options, name)?.settings()));
        let others: Vec<serde_json::Value> = others.collect::<Result<_, CommandError>>()?;
        let first = self.load(options, first)?;
        let settings = [first.settings()].into_iter().chain(others).collect();
        Ok((Some(first), settings))
    }

    /// Loads a model of this machine and prepares its frameworks.
    ///
    /// # Errors
    ///
    /// [`CommandError`], where the model cannot be loaded or a framework does not start.
    pub(super) fn load(&self, options: RowOptions<'_>, model: &str) -> Result<PreparedModel, CommandError> {
        let model = options.model.load(model)?;
        let frameworks = prepare(options, &self.frameworks, &model)?;
        Ok(PreparedModel { model, frameworks })
    }

    /// Returns the settings of the frameworks for the manifest. That all run in workers is on record, as times then have pipes in them.
    pub(super) fn settings(&self) -> Vec<FrameworkSettings> {
        let frameworks = self.frameworks.iter().map(|row| match &row.framework {
            Some(framework) => {
                let mut settings = FrameworkSettings::from(framework);
                if self.isolate {
                    let separator = if settings.options.is_empty() { "" } else { ", " };
                    settings.options += &format!("{separator}in a worker");
                }
                settings
            }
            None => FrameworkSettings::alone(),
        });
        frameworks.collect()
    }
}

/// Options for loading models and preparing frameworks.
#[derive(Clone, Copy)]
pub(super) struct RowOptions<'a> {
    model: &'a ModelArguments,
    workers: &'a WorkerOptions,
    style: &'a StyleArguments,
    /// Whether every framework runs in a worker.
    isolate: bool,
    /// Largest time of a compilation, in seconds.
    compile_limit: f64,
    /// Largest time of a generation, in seconds.
    generation_limit: f64,
    /// Kind of grammar that frameworks compile.
    grammar: Grammar,
}

impl RowOptions<'_> {
    /// Returns the options with `grammar` as the kind of grammar that frameworks compile; the default is JSON Schema.
    pub(super) fn compiling(self, grammar: Grammar) -> Self {
        Self { grammar, ..self }
    }
}

/// The framework of a row of the run's tables.
pub(super) struct RowFramework {
    /// Name in records and tables.
    pub(super) name: String,
    /// The framework; `None` for the model alone.
    pub(super) framework: Option<Framework>,
}

/// A model with every framework of the run prepared for its vocabulary.
pub(super) struct PreparedModel {
    pub(super) model: LoadedModel,
    /// The frameworks in the order of rows; `None` for the model alone.
    pub(super) frameworks: Vec<Option<PreparedFramework>>,
}

impl PreparedModel {
    /// Returns the model's summary for the manifest.
    fn settings(&self) -> serde_json::Value {
        serde_json::to_value(self.model.summary()).unwrap_or_default()
    }
}

/// Returns the frameworks with the names given, each once, in the order of rows.
fn choose(asked: &[String], workers: &WorkerOptions) -> Result<Vec<RowFramework>, CommandError> {
    let (alone, named): (Vec<&String>, Vec<&String>) = asked.iter().partition(|name| name.as_str() == LM_ONLY);
    let named: Vec<String> = named.into_iter().cloned().collect();
    let mut rows: Vec<RowFramework> = frameworks::choose(&named, &workers.workers)?
        .into_iter()
        .map(|framework| RowFramework {
            name: framework.name.clone(),
            framework: Some(framework),
        })
        .collect();
    if !alone.is_empty() {
        let place = asked.iter().position(|name| name == LM_ONLY);
        let place = place.unwrap_or_default().min(rows.len());
        let alone = RowFramework {
            name: LM_ONLY.to_owned(),
            framework: None,
        };
        rows.insert(place, alone);
    }
    Ok(rows)
}

fn prepare(
    options: RowOptions<'_>,
    rows: &[RowFramework],
    model: &LoadedModel,
) -> Result<Vec<Option<PreparedFramework>>, CommandError> {
    let vocabulary = NamedVocabulary::of_model(model);
    let setup = Setup {
        vocabulary: vocabulary.vocabulary.clone(),
        documents: BTreeMap::new(),
        // Formats are asserted, as by the judge of answers.
        assert_formats: true,
        purpose: Purpose::Generate,
        style: options.style.changes(),
        grammar: options.grammar,
    };
    let provision = Provision::new(
        &vocabulary.vocabulary,
        Some(vocabulary.tokenizer),
        &setup.documents,
        setup.assert_formats,
        setup.purpose,
        &setup.style,
    )
    .compiling(setup.grammar);
    let limits = |seconds| options.workers.limits(Duration::from_secs_f64(seconds));
    let prepare = |framework: &Framework| {
        let compiler = match options.isolate {
            true => None,
            false => framework.in_process_compiler(&setup)?,
        };
        let in_worker = compiler.is_none();
        let compiler = match compiler {
            Some(compiler) => compiler,
            None => framework.worker_compiler(
                provision.clone(),
                limits(options.compile_limit),
                limits(options.generation_limit),
                setup.vocabulary.len(),
            )?,
        };
        Ok(PreparedFramework {
            compiler,
            in_worker,
            documented: framework.documented.clone(),
        })
    };
    let frameworks = rows.iter().map(|row| row.framework.as_ref());
    frameworks.map(|framework| framework.map(prepare).transpose()).collect()
}
