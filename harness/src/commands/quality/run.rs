//! A run of `maskwright quality`, from its arguments to its tables.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use maskwright_models::{DecodeOptions, SamplingOptions};
use maskwright_suites::quality::{QualityTask, QuestionSet};

use super::QualityArguments;
use crate::commands::arguments::models::PROMPT_DATE;
use crate::commands::bench::frameworks::{PreparedModel, RowFramework, choose, describe_others};
use crate::error::CommandError;
use crate::frameworks::{FrameworkSettings, LM_ONLY};
use crate::quality::model_run::QualityModelRun;
use crate::quality::overlap::Overlap;
use crate::quality::record::{AnswerKey, AnswerRecord, Mode};
use crate::quality::report::QualityReport;
use crate::quality::rows::{Answers, RowKey, TaskScope, rows};
use crate::quality::server_run::QualityServerRun;
use crate::quality::settings::{QualitySettings, TaskSettings};
use crate::report::paper::PaperRow;
use crate::report::table::Style;
use crate::run::directory::RunDirectory;
use crate::run::interrupt;
use crate::run::manifest::{Manifest, Settings as _};
use crate::server::{Client, ServerSettings};

/// Asks the questions and prints the tables.
///
/// # Errors
///
/// [`CommandError`]; records so far stay in the run's directory.
pub fn run(arguments: &QualityArguments) -> Result<(), CommandError> {
    let sampling = SamplingOptions {
        temperature: arguments.temperature,
        seed: arguments.seed.unwrap_or(0),
        ..SamplingOptions::default()
    };
    sampling.validate()?;
    let frameworks = choose(&arguments.frameworks(), &arguments.workers)?;
    let names: Vec<String> = frameworks.iter().map(|row| row.name.clone()).collect();
    let clients = arguments.servers.clients(&names, &sampling)?;
    if names.is_empty() && clients.is_empty() {
        let problem = "nothing to compare: name --frameworks, or a --server";
        return Err(CommandError::Arguments(problem.to_owned()));
    }
    arguments.check_drafts(&names)?;
    arguments.directory.check(QualitySettings::COMMAND)?;
    arguments.model.check(!names.is_empty())?;
    let sets = arguments.question_sets()?;
    // Servers have models of their own.
    let models = match names.is_empty() {
        true => Vec::new(),
        false => arguments.model.names(),
    };
    let mut described = describe_others(arguments.row_options(), &models, &frameworks)?;
    let first = models.first();
    let mut prepared = first
        .map(|name| PreparedModel::load(arguments.row_options(), name, &frameworks))
        .transpose()?;
    if let Some(prepared) = &prepared {
        described.insert(0, prepared.settings());
    }
    let manifest = Manifest::new(arguments.settings(described, &frameworks, &sets, &sampling)?);
    interrupt::watch();
    let keys = row_keys(arguments, &models, &names);
    let questions = questions(&sets);
    let is_planned = |key: &AnswerKey| {
        let mut rows = keys.iter();
        let is_row = rows.any(|row| (&row.model, &row.framework, row.mode) == (&key.model, &key.framework, key.mode));
        is_row && questions.contains(&(key.task, key.question.as_str()))
    };
    let server_runs = server_runs(arguments, &clients, &sampling);
    if !arguments.directory.resume {
        // What does not work should not be found out after hours.
        let mut first = server_runs.iter().filter(|run| run.drafts_of.is_none());
        first.try_for_each(QualityServerRun::check)?;
    }
    let mut directory = arguments.directory.open(&manifest, &is_planned)?;
    let planned = questions.len() * keys.len();
    for name in &models {
        let mut current = match prepared.take() {
            Some(first) => first,
            None => PreparedModel::load(arguments.row_options(), name, &frameworks)?,
        };
        let mut run = QualityModelRun {
            model_name: name,
            planned,
            names: &names,
            frameworks: &current.frameworks,
            decode: DecodeOptions {
                sampling: sampling.clone(),
                eos_tokens: current.model.eos_ids().to_vec(),
                max_tokens: arguments.max_tokens,
                time_limit: Some(Duration::from_secs_f64(arguments.generation_limit)),
                fast_forward: !arguments.no_fast_forward,
                finish_in_time: !arguments.no_finish_in_time,
                overlap: true,
                mask_effects: true,
                reasoning: current.model.reasoning().cloned(),
            },
            model: &mut current.model,
            compile_limit: Duration::from_secs_f64(arguments.compile_limit),
            draft: arguments.draft,
            system: arguments.model.prompt.system(),
            prefix_cache: !arguments.no_prefix_cache,
        };
        run.run(&sets, &mut directory)?;
        // Two large models may not fit into memory beside one another: `current` ends here.
    }
    let mut reasons = Vec::new();
    for server_run in &server_runs {
        let Some(unfinished) = server_run.run(&sets, &mut directory)? else {
            return Err(CommandError::interrupted(&directory, planned));
        };
        reasons.extend(unfinished);
    }
    report(arguments, &directory, &keys, &sets)?;
    CommandError::unless_finished(reasons, &directory, planned)
}

/// How each server is asked: at once, and then, where drafts are asked for, with those of the model alone.
fn server_runs<'a>(
    arguments: &'a QualityArguments,
    clients: &'a [Arc<Client>],
    sampling: &'a SamplingOptions,
) -> Vec<QualityServerRun<'a>> {
    let server_run = |client, drafts_of| QualityServerRun {
        client,
        max_tokens: arguments.max_tokens,
        sampling,
        limit: Duration::from_secs_f64(arguments.generation_limit),
        concurrency: arguments.servers.concurrency.into(),
        max_cost: arguments.servers.max_cost,
        drafts_of,
    };
    let direct = clients.iter().map(|client| server_run(client, None));
    let drafted = clients.iter().filter_map(|client| {
        let alone = arguments.alone_beside(client.settings())?;
        Some(server_run(client, Some(alone)))
    });
    direct.chain(drafted).collect()
}

/// The rows of the tables: every model with every framework, then the servers, and behind the rows of each mode those of the next.
fn row_keys(arguments: &QualityArguments, models: &[String], names: &[String]) -> Vec<RowKey> {
    let row = |model: &str, framework: &str, server, constrained, paper| RowKey {
        model: model.to_owned(),
        framework: framework.to_owned(),
        mode: Mode::Direct,
        server,
        constrained,
        paper,
    };
    let with_drafts = |rows: Vec<RowKey>, has_drafts: &dyn Fn(&RowKey) -> bool| {
        let drafted = rows.iter().filter(|row| row.constrained && has_drafts(row));
        let drafted: Vec<RowKey> = drafted
            .map(|row| RowKey {
                mode: Mode::Draft,
                ..row.clone()
            })
            .collect();
        [rows, drafted].concat()
    };
    let mut keys = Vec::new();
    for model in models {
        let own = names
            .iter()
            .map(|name| row(model, name, false, name != LM_ONLY, PaperRow::of_framework(name)));
        keys.extend(with_drafts(own.collect(), &|_| arguments.draft));
    }
    let servers = &arguments.servers.servers;
    let own = servers.iter().map(|server| {
        row(
            &server.model,
            &server.name,
            true,
            server.constrained,
            server.paper_row(),
        )
    });
    keys.extend(with_drafts(own.collect(), &|row| {
        let server = servers.iter().find(|server| server.name == row.framework);
        server.is_some_and(|server| arguments.alone_beside(server).is_some())
    }));
    keys
}

/// The questions that each row is asked.
fn questions(sets: &[QuestionSet]) -> HashSet<(QualityTask, &str)> {
    let each = sets.iter().flat_map(|set| {
        let questions = set.questions.iter();
        questions.map(|question| (set.task, question.id.as_str()))
    });
    each.collect()
}

/// Writes the tables beside the records, and prints them, also where they cannot be written.
fn report(
    arguments: &QualityArguments,
    directory: &RunDirectory<AnswerRecord>,
    keys: &[RowKey],
    sets: &[QuestionSet],
) -> Result<(), CommandError> {
    let answers = Answers::new(directory.records());
    let tasks: Vec<TaskScope> = sets.iter().map(TaskScope::from).collect();
    let mut models: Vec<&str> = Vec::new();
    for key in keys {
        if !models.contains(&key.model.as_str()) {
            models.push(&key.model);
        }
    }
    let overlaps = tasks.iter().flat_map(|scope| {
        let (answers, task) = (&answers, scope.task);
        models.iter().map(move |model| {
            let own: Vec<&RowKey> = keys.iter().filter(|key| key.model == *model).collect();
            Overlap::of(answers, &own, task)
        })
    });
    let report = QualityReport {
        overlaps: overlaps.collect(),
        rows: rows(&answers, keys, &tasks),
        paper: arguments.paper,
        warnings: Vec::new(),
    };
    let written = directory
        .write("report.md", &(directory.heading() + &report.text(Style::Markdown)))
        .and_then(|()| directory.write("report.csv", &report.csv()))
        .and_then(|()| directory.write("report.json", &(report.json() + "\n")));
    match arguments.json {
        true => crate::print(&(report.json() + "\n"))?,
        false => crate::print_text(&report.text(Style::Terminal))?,
    }
    written?;
    if !arguments.json {
        directory.say_where();
    }
    Ok(())
}

impl QualityArguments {
    /// Whether there are drafts for every constrained row, where they are asked for.
    ///
    /// # Errors
    ///
    /// [`CommandError::Arguments`], where the model alone is not among the rows.
    fn check_drafts(&self, names: &[String]) -> Result<(), CommandError> {
        let lacks_alone = !names.is_empty() && !names.iter().any(|name| name == LM_ONLY);
        let mut servers = self.servers.servers.iter().filter(|server| server.constrained);
        let lonely = servers.find(|server| self.alone_beside(server).is_none());
        match (self.draft, lacks_alone, lonely) {
            (true, true, _) => Err(CommandError::Arguments(format!(
                "--draft puts the answers of the model alone into prompts: name {LM_ONLY} among --frameworks"
            ))),
            (true, false, Some(server)) => Err(CommandError::Arguments(format!(
                "--draft puts the answers of the model alone into prompts: add a --server with model={} and constrained=false",
                server.model
            ))),
            _ => Ok(()),
        }
    }

    /// The name of the server that is the same model alone, where drafts are asked for and `server` is constrained.
    fn alone_beside(&self, server: &ServerSettings) -> Option<&str> {
        let mut others = self.servers.servers.iter();
        let alone = others.find(|other| !other.constrained && other.model == server.model)?;
        (self.draft && server.constrained).then_some(alone.name.as_str())
    }

    /// What the run measures, for the manifest.
    fn settings(
        &self,
        models: Vec<serde_json::Value>,
        frameworks: &[RowFramework],
        sets: &[QuestionSet],
        sampling: &SamplingOptions,
    ) -> Result<QualitySettings, CommandError> {
        let frameworks = frameworks.iter().map(|row| match &row.framework {
            Some(framework) => FrameworkSettings::from(framework),
            None => FrameworkSettings::alone(),
        });
        Ok(QualitySettings {
            models,
            frameworks: frameworks.collect(),
            servers: self.servers.summaries(),
            tasks: sets.iter().map(TaskSettings::from).collect(),
            sampling: sampling.clone(),
            shots: self.shots,
            draft: self.draft,
            prompt: self.model.prompt.settings()?,
            prefix_cache: !self.no_prefix_cache,
            prompt_date: PROMPT_DATE.date().to_string(),
            max_tokens: self.max_tokens,
            compile_limit_s: self.compile_limit,
            generation_limit_s: self.generation_limit,
            fast_forward: !self.no_fast_forward,
            finish_in_time: !self.no_finish_in_time,
            threads: self.model.threads(),
            style: self.style.changes(),
        })
    }
}
