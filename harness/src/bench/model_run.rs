//! [`ModelRun`]: a run with one model, schema by schema, all frameworks in turn.

use std::collections::BTreeMap;
use std::time::Duration;

use maskwright_models::{DecodeOptions, LoadedModel};
use maskwright_suites::dataset::{Dataset, Instance};
use maskwright_suites::validate::Judge;

use super::measure::{Conditions, PreparedFramework, Task, measure};
use super::prompts::{self, PrefixCache, first_passes, read_common_prefix};
use super::record::{Record, RecordKey};
use crate::documents::{self, DocumentLibrary};
use crate::error::CommandError;
use crate::run::directory::RunDirectory;
use crate::run::{interrupt, progress};

/// A run with one model, in progress.
pub struct ModelRun<'a> {
    pub model_name: &'a str,
    /// Number of models of the whole run.
    pub models: usize,
    pub names: &'a [String],
    pub documents: &'a DocumentLibrary,
    pub frameworks: &'a [Option<PreparedFramework>],
    pub model: &'a mut LoadedModel,
    pub decode: DecodeOptions,
    pub compile_limit: Duration,
    pub shots: usize,
    /// Instructions before those of the prompt.
    pub system: Option<&'a str>,
    /// Whether schemas are compiled while the model reads the prompt.
    pub beside_prefill: bool,
    /// Whether the model reads the common prefix of all prompts only once.
    pub prefix_cache: bool,
    /// Number of times that each answer is generated.
    pub repeat: usize,
    /// The common prefix of all prompts with the model's state after it, once read.
    pub read: Option<PrefixCache>,
}

/// The schema of the warm-up answers, which count in no figure.
const WARM_UP: &str = r#"{"type": "object", "properties": {"word": {"type": "string"}, "number": {"type": "integer"}}, "required": ["word"], "additionalProperties": false}"#;
/// Largest number of tokens of a warm-up answer.
const WARM_UP_TOKENS: usize = 24;

impl ModelRun<'_> {
    /// Measures every schema and framework that the directory has no record of yet: schema by schema, all frameworks in turn.
    pub fn run(&mut self, datasets: &[Dataset], directory: &mut RunDirectory<Record>) -> Result<(), CommandError> {
        let schemas: usize = datasets.iter().map(|dataset| dataset.instances.len()).sum();
        let bar = progress::bar((schemas * self.names.len()) as u64, "");
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
                return Err(CommandError::interrupted(directory));
            }
            bar.inc(self.names.len() as u64);
        }
        bar.finish_and_clear();
        Ok(())
    }

    /// Runs all code before the first answer once, and has the model read the common prefix of all prompts.
    fn warm_up(&mut self) -> Result<(), CommandError> {
        let prompt = self.prompt("{}")?;
        first_passes(self.model, &prompt)?;
        self.warm_up_frameworks()?;
        self.read_prefix()
    }

    /// Generates an answer with every framework that counts in no figure, so that its code is paged in and its first compilation over.
    fn warm_up_frameworks(&mut self) -> Result<(), CommandError> {
        let prompt = self.prompt(WARM_UP)?;
        let Ok(judge) = Judge::new(WARM_UP) else {
            return Ok(());
        };
        let task = Task {
            schema: WARM_UP,
            documents: &BTreeMap::new(),
            prompt: &prompt,
        };
        let decode = DecodeOptions {
            max_tokens: self.decode.max_tokens.min(WARM_UP_TOKENS),
            reasoning: None,
            ..self.decode.clone()
        };
        let conditions = Conditions {
            decode: &decode,
            compile_limit: self.compile_limit,
            beside_prefill: self.beside_prefill,
            read: None,
        };
        for framework in self.frameworks {
            let key = RecordKey {
                model: String::new(),
                framework: String::new(),
                dataset: String::new(),
                instance: String::new(),
            };
            let cancel = &interrupt::INTERRUPTED;
            // An error in the warm-up comes again in the measurement, which puts it on record.
            let _ = measure(key, framework.as_ref(), &task, &judge, self.model, &conditions, cancel);
        }
        Ok(())
    }

    /// Has the model read the common prefix of all prompts, and keeps its state.
    fn read_prefix(&mut self) -> Result<(), CommandError> {
        self.model.model.reset();
        if !self.prefix_cache {
            return Ok(());
        }
        let prompts = [self.prompt("{}")?, self.prompt("[1, 2]")?];
        self.read = read_common_prefix(self.model, &prompts)?;
        Ok(())
    }

    /// Measures one schema with every framework that lacks a record. Returns false where the user interrupted.
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
        let mut missing: Vec<(RecordKey, &Option<PreparedFramework>)> = keys
            .zip(self.frameworks)
            .filter(|(key, _)| directory.lacks(key))
            .collect();
        if missing.is_empty() {
            return Ok(true);
        }
        // Each framework is the first one equally often, so that none always finds the caches warm.
        let first = number % missing.len();
        missing.rotate_left(first);
        let usable = match &instance.schema {
            Err(error) => Err(error.to_string()),
            Ok(schema) => {
                let documents = self.documents.beside(schema, &BTreeMap::new());
                match Judge::with_documents(schema, &documents) {
                    Err(problem) => Err(documents::with_hint(problem.to_string())),
                    Ok(judge) => Ok((schema, documents, judge, self.prompt(schema)?)),
                }
            }
        };
        for (key, framework) in missing {
            if interrupt::requested() {
                return Ok(false);
            }
            let record = match &usable {
                Err(reason) => Some(Record::unusable(key, reason.clone())),
                Ok((schema, documents, judge, prompt)) => {
                    let documented = framework.as_ref().and_then(|framework| framework.documented.as_ref());
                    let theoretical = documented.map(|documented| documented.covers(schema));
                    let task = Task {
                        schema,
                        documents,
                        prompt,
                    };
                    let mut records = Vec::new();
                    for _ in 0..self.repeat {
                        let read = self.read.as_ref().filter(|(prefix, _)| prompt.starts_with(prefix));
                        let conditions = Conditions {
                            decode: &self.decode,
                            compile_limit: self.compile_limit,
                            beside_prefill: self.beside_prefill,
                            read: read.map(|(_, snapshot)| snapshot),
                        };
                        let (key, cancel) = (key.clone(), &interrupt::INTERRUPTED);
                        match measure(key, framework.as_ref(), &task, judge, self.model, &conditions, cancel) {
                            Some(record) => records.push(record),
                            None => return Ok(false),
                        }
                    }
                    let record = Record::middle(records);
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

    /// Returns the tokens of the prompt that asks for an instance of `schema`.
    fn prompt(&self, schema: &str) -> Result<Vec<u32>, CommandError> {
        let messages = prompts::messages(schema, self.shots);
        Ok(prompts::encode(self.model, messages, self.system)?)
    }
}
