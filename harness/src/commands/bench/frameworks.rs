//! The frameworks of a run, and the models that they are prepared for.

use std::collections::BTreeMap;
use std::time::Duration;

use maskwright_models::LoadedModel;
use maskwright_worker::{Purpose, Setup};

use super::super::arguments::frameworks::WorkerOptions;
use super::super::arguments::models::ModelArguments;
use super::super::arguments::style::StyleArguments;
use crate::bench::measure::PreparedFramework;
use crate::error::CommandError;
use crate::frameworks::{self, Framework, LM_ONLY};
use crate::vocabularies::NamedVocabulary;
use crate::worker::Provision;

/// What the rows of a run are made ready by: the options that commands with models and frameworks share.
#[derive(Clone, Copy)]
pub(in crate::commands) struct RowOptions<'a> {
    pub(in crate::commands) model: &'a ModelArguments,
    pub(in crate::commands) workers: &'a WorkerOptions,
    pub(in crate::commands) style: &'a StyleArguments,
    /// Whether every framework runs in a worker.
    pub(in crate::commands) isolate: bool,
    /// Seconds that a compilation may take.
    pub(in crate::commands) compile_limit: f64,
    /// Seconds that a generation may take.
    pub(in crate::commands) generation_limit: f64,
}

/// The framework behind a row of the run's tables.
pub(in crate::commands) struct RowFramework {
    /// Name in records and tables.
    pub(in crate::commands) name: String,
    /// The framework; `None` where the model stands alone.
    pub(in crate::commands) framework: Option<Framework>,
}

/// A model with every framework of the run prepared for its vocabulary.
pub(in crate::commands) struct PreparedModel {
    pub(in crate::commands) model: LoadedModel,
    /// The frameworks in the order of rows; `None` where the model stands alone.
    pub(in crate::commands) frameworks: Vec<Option<PreparedFramework>>,
}

impl PreparedModel {
    pub(in crate::commands) fn load(
        options: RowOptions<'_>,
        model: &str,
        rows: &[RowFramework],
    ) -> Result<Self, CommandError> {
        let model = options.model.load(model)?;
        let frameworks = prepare(options, rows, &model)?;
        Ok(Self { model, frameworks })
    }

    /// What goes into the manifest.
    pub(in crate::commands) fn settings(&self) -> serde_json::Value {
        serde_json::to_value(self.model.summary()).unwrap_or_default()
    }
}

/// The settings of all models but the first, each loaded once and dropped: the manifest needs them before the first record
/// is written, and a model that does not work should not be found out after hours.
pub(in crate::commands) fn describe_others(
    options: RowOptions<'_>,
    models: &[String],
    rows: &[RowFramework],
) -> Result<Vec<serde_json::Value>, CommandError> {
    let others = models.iter().skip(1);
    others
        .map(|model| Ok(PreparedModel::load(options, model, rows)?.settings()))
        .collect()
}

/// The frameworks asked for by name, each once, in the order of rows.
pub(in crate::commands) fn choose(
    asked: &[String],
    workers: &WorkerOptions,
) -> Result<Vec<RowFramework>, CommandError> {
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
        // As the judge of answers does.
        assert_formats: true,
        purpose: Purpose::Generate,
        style: options.style.changes(),
    };
    let provision = Provision::new(
        &vocabulary.vocabulary,
        Some(vocabulary.tokenizer),
        &setup.documents,
        setup.assert_formats,
        setup.purpose,
        &setup.style,
    );
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
