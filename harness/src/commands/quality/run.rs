//! A run of `maskwright quality`, from its arguments to its tables.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use maskwright_models::{DecodeOptions, SamplingOptions};
use maskwright_suites::quality::{QualityTask, QuestionSet};

use super::QualityArguments;
use crate::commands::arguments::models::PROMPT_DATE;
use crate::commands::publish_report::publish_report;
use crate::commands::rows::Rows;
use crate::error::CommandError;
use crate::frameworks::LM_ONLY;
use crate::quality::model_run::QualityModelRun;
use crate::quality::overlap::Overlap;
use crate::quality::record::{AnswerKey, AnswerRecord, Mode};
use crate::quality::report::QualityReport;
use crate::quality::rows::{self, Answers, RowKey, TaskScope};
use crate::quality::server_run::QualityServerRun;
use crate::quality::settings::{QualitySettings, TaskSettings};
use crate::report::paper::PaperRow;
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
    let mut rows = arguments.rows.choose(&sampling)?;
    arguments.check_drafts(&rows.names)?;
    arguments.directory.check(QualitySettings::COMMAND)?;
    arguments.rows.model.check(!rows.models.is_empty())?;
    arguments.rows.check_model(&rows, arguments.directory.is_continued())?;
    let sets = arguments.question_sets()?;
    let questions = questions(&sets);
    let division = arguments.directory.division(rows.all_models());
    rows.models
        .retain(|model| questions.iter().any(|question| division.has(model, &name(*question))));
    let (mut prepared, described) = rows.prepare(arguments.row_options())?;
    let mut manifest = Manifest::new(arguments.settings(described, &rows, &sets, &sampling)?);
    interrupt::watch();
    let modes = arguments.modes();
    let keys = row_keys(arguments, &rows.models, &rows.names);
    let all = keys
        .iter()
        .flat_map(|row| questions.iter().map(move |question| (row, *question)));
    let own = all.filter(|(row, question)| division.has(&row.model, &name(*question)));
    let planned = own.map(|(row, (task, question))| AnswerKey {
        model: row.model.clone(),
        framework: row.framework.clone(),
        mode: row.mode,
        task,
        question: question.to_owned(),
    });
    let planned: HashSet<AnswerKey> = planned.collect();
    let server_runs = server_runs(arguments, &rows.clients, &sampling);
    if !arguments.directory.is_continued() {
        // Errors of the servers' settings should not appear after hours.
        let is_asked = |name: &str| planned.iter().any(|key: &AnswerKey| key.framework == name);
        let mut first = server_runs
            .iter()
            .filter(|run| run.drafts_of.is_none() && is_asked(&run.client.settings().name));
        first.try_for_each(QualityServerRun::check)?;
    }
    let mut directory = arguments.directory.open(&mut manifest, planned)?;
    for name in &rows.models {
        let mut current = match prepared.take() {
            Some(first) => first,
            None => rows.load(arguments.row_options(), name)?,
        };
        let mut run = QualityModelRun {
            model_name: name,
            names: &rows.names,
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
                reasoning: None,
            },
            modes: &modes,
            reasoning: current.model.reasoning().cloned(),
            model: &mut current.model,
            compile_limit: Duration::from_secs_f64(arguments.compile_limit),
            system: arguments.rows.model.prompt.system(),
            prefix_cache: !arguments.no_prefix_cache,
        };
        run.run(&sets, &mut directory)?;
        // `current` is dropped here, as two large models may not fit into memory together.
    }
    let mut reasons = Vec::new();
    for server_run in &server_runs {
        let Some(unfinished) = server_run.run(&sets, &mut directory)? else {
            return Err(CommandError::interrupted(&directory));
        };
        reasons.extend(unfinished);
    }
    if !directory.ends_part(&[])? {
        report(arguments, &directory, &keys, &sets)?;
    }
    CommandError::unless_finished(reasons, &directory)
}

/// Returns the runs over the servers: each server is asked directly, and then, where drafts are asked for, with drafts of the same model alone.
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
        concurrency: arguments.rows.servers.concurrency.into(),
        max_cost: arguments.rows.servers.max_cost,
        drafts_of,
        system: arguments.rows.model.prompt.system(),
    };
    let direct = clients.iter().map(|client| server_run(client, None));
    let drafted = clients.iter().filter_map(|client| {
        let alone = arguments.alone_beside(client.settings())?;
        Some(server_run(client, Some(alone)))
    });
    direct.chain(drafted).collect()
}

/// Returns the keys of the tables' rows: every model in every mode with every framework, then the servers, directly and with drafts.
fn row_keys(arguments: &QualityArguments, models: &[String], names: &[String]) -> Vec<RowKey> {
    let local = models.iter().flat_map(|model| {
        arguments.modes().into_iter().flat_map(move |mode| {
            let rows = names.iter().map(move |name| RowKey {
                model: model.clone(),
                framework: name.clone(),
                mode,
                server: false,
                constrained: name != LM_ONLY,
                paper: PaperRow::of_framework(name),
            });
            rows.filter(|row| row.mode.is_of(row.constrained))
        })
    });
    let served = |server: &ServerSettings, mode| RowKey {
        model: server.model.clone(),
        framework: server.name.clone(),
        mode,
        server: true,
        constrained: server.constrained,
        paper: server.paper_row(),
    };
    let servers = &arguments.rows.servers.servers;
    let direct = servers.iter().map(|server| served(server, Mode::Direct));
    let drafted = servers
        .iter()
        .filter(|server| arguments.alone_beside(server).is_some())
        .map(|server| served(server, Mode::Draft));
    local.chain(direct).chain(drafted).collect()
}

/// Returns the tasks and questions that each row is asked.
fn questions(sets: &[QuestionSet]) -> HashSet<(QualityTask, &str)> {
    let each = sets.iter().flat_map(|set| {
        let questions = set.questions.iter();
        questions.map(|question| (set.task, question.id.as_str()))
    });
    each.collect()
}

/// Returns the name of a question among those of all tasks.
fn name((task, question): (QualityTask, &str)) -> String {
    format!("{}/{question}", task.name())
}

/// Writes the tables beside the records, and prints them, even if they cannot be written.
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
        models.iter().filter_map(move |model| {
            let own: Vec<&RowKey> = keys.iter().filter(|key| key.model == *model).collect();
            Overlap::of(answers, &own, task)
        })
    });
    let report = QualityReport {
        overlaps: overlaps.collect(),
        rows: rows::rows(&answers, keys, &tasks),
        paper: arguments.paper,
        warnings: Vec::new(),
    };
    publish_report(
        directory,
        arguments.json,
        |style| report.text(style),
        &report.csv(),
        &report.json(),
    )
}

impl QualityArguments {
    /// Returns the modes in which models of this machine are asked each question.
    fn modes(&self) -> Vec<Mode> {
        let reasons = self.rows.model.prompt.options().reasoning.is_some();
        let asked = [
            (Mode::Direct, true),
            (Mode::Reasoned, reasons),
            (Mode::Draft, self.draft),
        ];
        asked
            .into_iter()
            .filter_map(|(mode, is_asked)| is_asked.then_some(mode))
            .collect()
    }

    /// Checks that every constrained row has drafts, where drafts are asked for.
    ///
    /// # Errors
    ///
    /// [`CommandError::Arguments`], where the model alone is not among the rows.
    fn check_drafts(&self, names: &[String]) -> Result<(), CommandError> {
        let lacks_alone = !names.is_empty() && !names.iter().any(|name| name == LM_ONLY);
        let mut servers = self.rows.servers.servers.iter().filter(|server| server.constrained);
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

    /// Returns the name of the server that has the same model unconstrained, where drafts are asked for and `server` is constrained.
    fn alone_beside(&self, server: &ServerSettings) -> Option<&str> {
        let mut others = self.rows.servers.servers.iter();
        let alone = others.find(|other| !other.constrained && other.model == server.model)?;
        (self.draft && server.constrained).then_some(alone.name.as_str())
    }

    /// Returns the settings of the run, for its manifest.
    fn settings(
        &self,
        models: Vec<serde_json::Value>,
        rows: &Rows,
        sets: &[QuestionSet],
        sampling: &SamplingOptions,
    ) -> Result<QualitySettings, CommandError> {
        Ok(QualitySettings {
            models,
            frameworks: rows.settings(),
            servers: self.rows.servers.summaries(),
            tasks: sets.iter().map(TaskSettings::from).collect(),
            sampling: sampling.clone(),
            shots: self.shots,
            draft: self.draft,
            prompt: self.rows.model.prompt.settings()?,
            prefix_cache: !self.no_prefix_cache,
            prompt_date: PROMPT_DATE.date().to_string(),
            max_tokens: self.max_tokens,
            compile_limit_s: self.compile_limit,
            generation_limit_s: self.generation_limit,
            fast_forward: !self.no_fast_forward,
            finish_in_time: !self.no_finish_in_time,
            threads: self.rows.model.threads(),
            style: self.style.changes(),
        })
    }
}
