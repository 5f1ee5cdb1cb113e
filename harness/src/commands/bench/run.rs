//! A run of the benchmark, from its arguments to its tables.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use maskwright_models::SamplingOptions;
use maskwright_suites::dataset::Dataset;

use super::BenchArguments;
use super::datasets::datasets;
use crate::bench::comparison::comparisons;
use crate::bench::model_run::ModelRun;
use crate::bench::record::{Record, RecordKey};
use crate::bench::report::{Report, speed};
use crate::bench::rows::{self, Method, RowKey, Scope};
use crate::bench::server_rows::server_rows;
use crate::bench::server_run::ServerRun;
use crate::bench::settings::BenchSettings;
use crate::commands::publish_report::publish_report;
use crate::commands::rows::{PreparedModel, Rows};
use crate::documents::DocumentLibrary;
use crate::error::CommandError;
use crate::report::paper::PaperRow;
use crate::report::statistics::Bootstrap;
use crate::report::table::Style;
use crate::run::directory::RunDirectory;
use crate::run::machine_load::{LoadWatch, spread_warning};
use crate::run::manifest::{Manifest, Settings as _};
use crate::run::{interrupt, progress};
use crate::server::Client;

/// Runs the benchmark and prints its tables.
///
/// # Errors
///
/// [`CommandError`]; records so far stay in the run's directory.
pub fn run(arguments: &BenchArguments) -> Result<(), CommandError> {
    arguments.scoring()?;
    let sampling = arguments.sampling.options(arguments.seed.unwrap_or(0))?;
    let mut rows = arguments.rows.choose(&sampling)?;
    arguments.directory.check(BenchSettings::COMMAND)?;
    arguments.rows.model.check(!rows.models.is_empty())?;
    arguments.rows.check_model(&rows, arguments.directory.is_continued())?;
    let datasets = datasets(arguments)?;
    if datasets.iter().all(|dataset| dataset.instances.is_empty()) {
        let names: Vec<&str> = datasets.iter().map(|dataset| dataset.name.as_str()).collect();
        let message = format!("there is no schema in {}", names.join(", "));
        return Err(CommandError::NothingMeasured(message));
    }
    let documents = arguments.documents.read()?;
    let questions = questions(&datasets);
    let division = arguments.directory.division(rows.all_models());
    rows.models
        .retain(|model| questions.iter().any(|question| division.has(model, &name(*question))));
    let (prepared, described) = rows.prepare(arguments.row_options())?;
    let server_runs = server_runs(arguments, &rows.clients, &documents, &sampling);
    let mut manifest = Manifest::new(arguments.settings(described, &rows, &datasets, &documents, &sampling)?);
    interrupt::watch();
    let keys = row_keys(arguments, &rows.models, &rows.names);
    let all = keys
        .iter()
        .flat_map(|row| questions.iter().map(move |question| (row, *question)));
    let own = all.filter(|(row, question)| division.has(&row.model, &name(*question)));
    let planned = own.map(|(row, (dataset, instance))| RecordKey {
        model: row.model.clone(),
        framework: row.framework.clone(),
        dataset: dataset.to_owned(),
        instance: instance.to_owned(),
    });
    let mut directory = open(arguments, &mut manifest, &server_runs, &datasets, planned.collect())?;
    let run = BenchRun {
        arguments,
        rows: &rows,
        datasets: &datasets,
        documents: &documents,
    };
    let load = (!rows.models.is_empty()).then(LoadWatch::start);
    let ended = run.ask_models(prepared, &sampling, &mut directory);
    let warning = load.and_then(LoadWatch::finish);
    let mut warnings = directory.keep_warnings(warning.as_slice())?;
    ended?;
    warnings.extend(spread_warning(
        directory.records().iter().map(|record| &record.repeats_s[..]),
    ));
    let reasons = run.ask_servers(&server_runs, &mut directory)?;
    // Other parts of the run may have usable schemas.
    if directory.shard().is_none()
        && let Some(nothing) = nothing_usable(&directory)
    {
        directory.discard();
        return Err(nothing);
    }
    let sizes = datasets.iter().map(|dataset| {
        let own = questions.iter().filter(|(name, _)| *name == dataset.name);
        (dataset.name.clone(), own.count())
    });
    let scope = Scope {
        keys: &keys,
        datasets: &sizes.collect::<Vec<_>>(),
    };
    if !directory.ends_part(&warnings)? {
        report(&directory, scope, arguments, warnings)?;
    }
    CommandError::unless_finished(reasons, &directory)
}

/// Returns a run for each server, not started yet.
fn server_runs<'a>(
    arguments: &'a BenchArguments,
    clients: &'a [Arc<Client>],
    documents: &'a DocumentLibrary,
    sampling: &'a SamplingOptions,
) -> Vec<ServerRun<'a>> {
    let server_run = |client| ServerRun {
        client,
        documents,
        shots: arguments.shots.into(),
        max_tokens: arguments.max_tokens(),
        sampling,
        limit: Duration::from_secs_f64(arguments.generation_limit),
        concurrency: arguments.rows.servers.concurrency.into(),
        max_cost: arguments.rows.servers.max_cost,
        system: arguments.rows.model.prompt.system(),
    };
    clients.iter().map(server_run).collect()
}

/// Opens the directory of a new run or of the one to be resumed, once every server to be asked has answered a first question:
/// errors of the servers' settings should not appear after hours.
fn open(
    arguments: &BenchArguments,
    manifest: &mut Manifest<BenchSettings>,
    server_runs: &[ServerRun<'_>],
    datasets: &[Dataset],
    planned: HashSet<RecordKey>,
) -> Result<RunDirectory<Record>, CommandError> {
    if !arguments.directory.is_continued() {
        // A part of a run may ask only some of the servers.
        let is_asked = |server_run: &&ServerRun<'_>| {
            let name = &server_run.client.settings().name;
            planned.iter().any(|key| key.framework == *name)
        };
        server_runs.iter().filter(is_asked).try_for_each(ServerRun::check)?;
        return arguments.directory.open(manifest, planned);
    }
    let directory = arguments.directory.open(manifest, planned)?;
    let mut pending = server_runs
        .iter()
        .filter(|server_run| server_run.is_pending(datasets, &directory));
    pending.try_for_each(ServerRun::check)?;
    Ok(directory)
}

/// Arguments and data of a run of the benchmark.
struct BenchRun<'a> {
    arguments: &'a BenchArguments,
    rows: &'a Rows,
    datasets: &'a [Dataset],
    documents: &'a DocumentLibrary,
}

impl BenchRun<'_> {
    /// Measures every model of this machine; `prepared` is the first one, already loaded.
    fn ask_models(
        &self,
        mut prepared: Option<PreparedModel>,
        sampling: &SamplingOptions,
        directory: &mut RunDirectory<Record>,
    ) -> Result<(), CommandError> {
        let arguments = self.arguments;
        for name in &self.rows.models {
            let mut current = match prepared.take() {
                Some(first) => first,
                None => self.rows.load(arguments.row_options(), name)?,
            };
            let mut run = ModelRun {
                model_name: name,
                models: self.rows.models.len(),
                names: &self.rows.names,
                documents: self.documents,
                frameworks: &current.frameworks,
                decode: arguments.decode(sampling, &current.model),
                model: &mut current.model,
                compile_limit: Duration::from_secs_f64(arguments.compile_limit),
                shots: arguments.shots.into(),
                beside_prefill: arguments.beside_prefill(),
                system: arguments.rows.model.prompt.system(),
                prefix_cache: arguments.prefix_cache,
                repeat: arguments.repeat,
                read: None,
            };
            run.run(self.datasets, directory)?;
            // `current` is dropped here, as two large models may not fit into memory together.
        }
        Ok(())
    }

    /// Asks the servers one after the other, as servers on one machine would slow each other down. Returns the reasons why questions
    /// were left unanswered, empty if none was.
    fn ask_servers(
        &self,
        server_runs: &[ServerRun<'_>],
        directory: &mut RunDirectory<Record>,
    ) -> Result<Vec<String>, CommandError> {
        let mut reasons = Vec::new();
        for server_run in server_runs {
            let Some(unfinished) = server_run.run(self.datasets, directory)? else {
                return Err(CommandError::interrupted(directory));
            };
            reasons.extend(unfinished);
        }
        Ok(reasons)
    }
}

/// Returns the keys of the tables' rows: every model with every framework, then the servers.
fn row_keys(arguments: &BenchArguments, models: &[String], names: &[String]) -> Vec<RowKey> {
    let local = models.iter().flat_map(|model| {
        names.iter().map(move |framework| RowKey {
            model: model.clone(),
            framework: framework.clone(),
            server: false,
            paper: PaperRow::of_framework(framework),
        })
    });
    let remote = arguments.rows.servers.servers.iter().map(|server| RowKey {
        model: server.model.clone(),
        framework: server.name.clone(),
        server: true,
        paper: server.paper_row(),
    });
    local.chain(remote).collect()
}

/// Returns the datasets and schemas that each row is asked about. Schemas of one name in a dataset count as one.
fn questions(datasets: &[Dataset]) -> HashSet<(&str, &str)> {
    let each = datasets.iter().flat_map(|dataset| {
        let instances = dataset.instances.iter();
        instances.map(|instance| (dataset.name.as_str(), instance.id.as_str()))
    });
    each.collect()
}

/// Returns the name of a question among those of all datasets.
fn name((dataset, instance): (&str, &str)) -> String {
    format!("{dataset}/{instance}")
}

/// Returns the error of a run none of whose schemas can be used; `None` where one can.
fn nothing_usable(directory: &RunDirectory<Record>) -> Option<CommandError> {
    let reasons = directory.records().iter().map(|record| record.unusable.as_deref());
    let schemas: HashSet<&str> = directory
        .records()
        .iter()
        .map(|record| record.key.instance.as_str())
        .collect();
    match reasons.collect::<Option<Vec<&str>>>().as_deref() {
        Some([first, ..]) => Some(CommandError::NothingMeasured(format!(
            "none of the {} schemas can be used, the first: {first}",
            schemas.len()
        ))),
        _ => None,
    }
}

/// Writes the tables beside the records, and prints them, even if they cannot be written.
fn report(
    directory: &RunDirectory<Record>,
    scope: Scope<'_>,
    arguments: &BenchArguments,
    warnings: Vec<String>,
) -> Result<(), CommandError> {
    let bootstrap = Bootstrap {
        confidence: arguments.confidence,
        seed: arguments.seed.unwrap_or(0),
        resamples: Bootstrap::RESAMPLES,
    };
    let scoring = arguments.scoring()?;
    let rows = rows::rows(directory.records(), scope, Method { scoring, bootstrap });
    let report = Report {
        paper: arguments.paper.then(|| comparisons(&rows, scope.keys)),
        speed: speed(&rows, arguments.confidence, |one, other| {
            rows::paired_times(directory.records(), one, other)
        }),
        servers: server_rows(directory.records(), scope.keys, &rows),
        rows,
        scoring,
        confidence: arguments.confidence,
        warnings,
    };
    let unusable = directory.records().iter().filter(|record| record.unusable.is_some());
    for record in unusable.filter(|record| {
        let first = scope.keys.first();
        first.is_some_and(|first| (&record.key.model, &record.key.framework) == (&first.model, &first.framework))
    }) {
        let reason = record.unusable.as_deref().unwrap_or_default();
        progress::say(&format!(
            "left out: {}/{}: {reason}",
            record.key.dataset, record.key.instance
        ));
    }
    let text = |style| match style {
        Style::Markdown => report.markdown(),
        Style::Terminal => report.terminal(arguments.percentiles),
    };
    publish_report(directory, arguments.json, text, &report.csv(), &report.json())
}
