//! A run of `maskwright bench --tools`, from its arguments to its tables.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use maskwright_models::{DecodeOptions, SamplingOptions};
use maskwright_serving::tools::{ToolChoice, ToolFormat};
use maskwright_suites::dataset::Subsample;
use maskwright_suites::tool_calls::{BUILTIN, RequestSet, ToolRequest};
use maskwright_worker::Grammar;

use super::BenchArguments;
use crate::commands::arguments::models::PROMPT_DATE;
use crate::commands::publish_report::publish_report;
use crate::commands::rows::Rows;
use crate::error::CommandError;
use crate::frameworks::FrameworkError;
use crate::run::directory::RunDirectory;
use crate::run::interrupt;
use crate::run::machine_load::LoadWatch;
use crate::run::manifest::{Manifest, Settings as _};
use crate::tools::model_run::{ToolModelRun, asking_of, format_of_name};
use crate::tools::record::{CallKey, CallRecord};
use crate::tools::report::ToolReport;
use crate::tools::rows::{RowKey, rows};
use crate::tools::settings::{ToolSettings, dataset_settings};

/// Asks the function-calling requests and prints the tables.
///
/// # Errors
///
/// [`CommandError`]; records so far stay in the run's directory.
pub(super) fn run(arguments: &BenchArguments, file: &Path) -> Result<(), CommandError> {
    let named = arguments.tools.tool_format.as_deref();
    named.map(format_of_name).transpose()?;
    let sampling = arguments.sampling.options(arguments.seed.unwrap_or(0))?;
    let mut chosen = arguments.rows.choose(&sampling)?;
    check(&chosen)?;
    arguments.directory.check(ToolSettings::COMMAND)?;
    arguments.rows.model.check(!chosen.models.is_empty())?;
    let set = requests(arguments, file)?;
    check_choice(&choice(arguments), &set)?;
    let division = arguments.directory.division(chosen.all_models());
    chosen.models.retain(|model| {
        let mut requests = set.requests.iter();
        requests.any(|request| division.has(model, &request.id))
    });
    let options = arguments.row_options().compiling(Grammar::StructuralTag);
    let (mut prepared, described) = chosen.prepare(options)?;
    let mut manifest = Manifest::new(settings(arguments, described, &chosen, &set, &sampling)?);
    interrupt::watch();
    let keys: Vec<RowKey> = chosen
        .models
        .iter()
        .flat_map(|model| {
            chosen.names.iter().map(|name| RowKey {
                model: model.clone(),
                framework: name.clone(),
            })
        })
        .collect();
    let planned: HashSet<CallKey> = keys
        .iter()
        .flat_map(|row| set.requests.iter().map(move |request| (row, request)))
        .filter(|(row, request)| division.has(&row.model, &request.id))
        .map(|(row, request)| CallKey {
            model: row.model.clone(),
            framework: row.framework.clone(),
            dataset: set.name.clone(),
            request: request.id.clone(),
        })
        .collect();
    let mut directory: RunDirectory<CallRecord> = arguments.directory.open(&mut manifest, planned)?;
    let load = LoadWatch::start();
    let ended = chosen.models.iter().try_for_each(|name| -> Result<(), CommandError> {
        let mut current = match prepared.take() {
            Some(first) => first,
            None => chosen.load(options, name)?,
        };
        let asking = asking_of(
            &current.model,
            named,
            choice(arguments),
            !arguments.tools.no_parallel_calls,
        )?;
        let decode = arguments.decode(&sampling, &current.model);
        let mut run = ToolModelRun {
            model_name: name,
            names: &chosen.names,
            frameworks: &current.frameworks,
            decode: DecodeOptions {
                // In gpt-oss's channels, reasoning is a part of the reply, and the structural tag allows it.
                reasoning: decode.reasoning.filter(|_| asking.format != ToolFormat::Harmony),
                ..decode
            },
            asking,
            model: &mut current.model,
            compile_limit: Duration::from_secs_f64(arguments.compile_limit),
            system: arguments.rows.model.prompt.system(),
        };
        // `current` is dropped after this, as two large models may not fit into memory together.
        run.run(&set, &mut directory)
    });
    let warnings = directory.keep_warnings(load.finish().as_slice())?;
    ended?;
    if !directory.ends_part(&warnings)? {
        report(arguments, &directory, &keys, &set, warnings)?;
    }
    CommandError::unless_finished(Vec::new(), &directory)
}

/// Checks that every framework takes structural tags, and that no server is named.
///
/// # Errors
///
/// [`CommandError`], with the framework that takes none, or because a server was named.
fn check(rows: &Rows) -> Result<(), CommandError> {
    let frameworks = rows.frameworks.iter().filter_map(|row| row.framework.as_ref());
    let mut others = frameworks.filter(|framework| !framework.description.structural_tags);
    if let Some(other) = others.next() {
        return Err(CommandError::Framework(FrameworkError::NoStructuralTags {
            name: other.name.clone(),
        }));
    }
    match rows.clients.is_empty() {
        true => Ok(()),
        false => Err(CommandError::Arguments(
            "servers are not asked for calls of functions: leave --server out of a run with --tools".to_owned(),
        )),
    }
}

/// Checks that some request has the function that is to be called.
///
/// # Errors
///
/// [`CommandError::Arguments`], with the functions that the first request has.
fn check_choice(choice: &ToolChoice, set: &RequestSet) -> Result<(), CommandError> {
    let ToolChoice::Function(name) = choice else {
        return Ok(());
    };
    let has_it = |request: &ToolRequest| request.functions.iter().any(|function| function.name == *name);
    let Some(first) = set.requests.first() else {
        return Ok(());
    };
    if set.requests.iter().any(has_it) {
        return Ok(());
    }
    let names: Vec<&str> = first.functions.iter().map(|function| &function.name[..]).collect();
    Err(CommandError::Arguments(format!(
        "--tool-choice {name}: it is none of auto, required and none, and no request has a function of that name; the first has {}",
        names.join(", ")
    )))
}

/// Reads the requests of a file, or returns the built-in sample.
fn requests(arguments: &BenchArguments, file: &Path) -> Result<RequestSet, CommandError> {
    let sample = Subsample {
        limit: arguments.limit,
        seed: arguments.seed,
    };
    Ok(match file.as_os_str() == BUILTIN {
        true => RequestSet::builtin(sample)?,
        false => RequestSet::read(file, sample)?,
    })
}

/// Returns the choice among functions.
fn choice(arguments: &BenchArguments) -> ToolChoice {
    match &arguments.tools.tool_choice[..] {
        "auto" => ToolChoice::Auto,
        "required" => ToolChoice::Required,
        "none" => ToolChoice::None,
        name => ToolChoice::Function(name.to_owned()),
    }
}

/// Returns the settings of the run, for its manifest.
fn settings(
    arguments: &BenchArguments,
    models: Vec<serde_json::Value>,
    rows: &Rows,
    set: &RequestSet,
    sampling: &SamplingOptions,
) -> Result<ToolSettings, CommandError> {
    Ok(ToolSettings {
        models,
        frameworks: rows.settings(),
        datasets: vec![dataset_settings(set)],
        tool_format: arguments.tools.tool_format.clone(),
        tool_choice: arguments.tools.tool_choice.clone(),
        parallel_calls: !arguments.tools.no_parallel_calls,
        sampling: sampling.clone(),
        prompt: arguments.rows.model.prompt.settings()?,
        prompt_date: PROMPT_DATE.date().to_string(),
        max_tokens: arguments.max_tokens().unwrap_or(usize::MAX),
        compile_limit_s: arguments.compile_limit,
        generation_limit_s: arguments.generation_limit,
        fast_forward: !arguments.no_fast_forward,
        finish_in_time: arguments.finish_in_time(),
        overlap: !arguments.no_overlap,
        threads: arguments.rows.model.threads(),
        style: arguments.style.changes(),
    })
}

/// Writes the tables beside the records, and prints them, even if they cannot be written.
fn report(
    arguments: &BenchArguments,
    directory: &RunDirectory<CallRecord>,
    keys: &[RowKey],
    set: &RequestSet,
    warnings: Vec<String>,
) -> Result<(), CommandError> {
    let report = ToolReport {
        rows: rows(directory.records(), keys, &[(set.name.clone(), set.requests.len())]),
        warnings,
    };
    publish_report(
        directory,
        arguments.json,
        |style| report.text(style),
        &report.csv(),
        &report.json(),
    )
}
