//! The frameworks of a run, and the models that they are prepared for.

use std::collections::BTreeMap;
use std::time::Duration;

use maskwright_models::LoadedModel;
use maskwright_worker::{Purpose, Setup};

use super::BenchArguments;
use crate::bench::measure::PreparedFramework;
use crate::error::CommandError;
use crate::frameworks::{self, Framework, LM_ONLY};
use crate::vocabularies::NamedVocabulary;
use crate::worker::Provision;

/// The framework behind a row of the run's tables.
pub(super) struct RowFramework {
    /// Name in records and tables.
    pub(super) name: String,
    /// The framework; `None` where the model stands alone.
    pub(super) framework: Option<Framework>,
}

/// A model with every framework of the run prepared for its vocabulary.
pub(super) struct PreparedModel {
    pub(super) model: LoadedModel,
    /// The frameworks in the order of rows; `None` where the model stands alone.
    pub(super) frameworks: Vec<Option<PreparedFramework>>,
}

impl PreparedModel {
    pub(super) fn load(arguments: &BenchArguments, model: &str, rows: &[RowFramework]) -> Result<Self, CommandError> {
        let model = arguments.model.load(model)?;
        let frameworks = prepare(arguments, rows, &model)?;
        Ok(Self { model, frameworks })
    }

    /// What goes into the manifest.
    pub(super) fn settings(&self) -> serde_json::Value {
        serde_json::to_value(self.model.summary()).unwrap_or_default()
    }
}

/// The settings of all models but the first, each loaded once and dropped: the manifest needs them before the first record
/// is written, and a model that does not work should not be found out after hours.
pub(super) fn describe_others(
    arguments: &BenchArguments,
    models: &[String],
    rows: &[RowFramework],
) -> Result<Vec<serde_json::Value>, CommandError> {
    let others = models.iter().skip(1);
    others
        .map(|model| Ok(PreparedModel::load(arguments, model, rows)?.settings()))
        .collect()
}

/// The frameworks asked for by name, each once, in the order of rows.
pub(super) fn choose(arguments: &BenchArguments) -> Result<Vec<RowFramework>, CommandError> {
    let asked = arguments.frameworks();
    let (alone, named): (Vec<&String>, Vec<&String>) = asked.iter().partition(|name| name.as_str() == LM_ONLY);
    let named: Vec<String> = named.into_iter().cloned().collect();
    let mut rows: Vec<RowFramework> = frameworks::choose(&named, &arguments.workers.workers)?
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
    arguments: &BenchArguments,
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
        style: arguments.style.changes(),
    };
    let provision = Provision::new(
        &vocabulary.vocabulary,
        Some(vocabulary.tokenizer),
        &setup.documents,
        setup.assert_formats,
        setup.purpose,
        &setup.style,
    );
    let limits = |seconds| arguments.workers.limits(Duration::from_secs_f64(seconds));
    let prepare = |framework: &Framework| {
        let compiler = match arguments.isolate {
            true => None,
            false => framework.in_process_compiler(&setup)?,
        };
        let in_worker = compiler.is_none();
        let compiler = match compiler {
            Some(compiler) => compiler,
            None => framework.worker_compiler(
                provision.clone(),
                limits(arguments.compile_limit),
                limits(arguments.generation_limit),
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
