//! [`ModelRun`]: a run with one model, schema by schema, all frameworks in turn.

use std::time::Duration;

use maskwright_models::{DecodeOptions, LoadedModel, logits_to_host};
use maskwright_suites::dataset::{Dataset, Instance};
use maskwright_suites::validate::Judge;

use super::measure::{PreparedFramework, Task, measure};
use super::prompts;
use super::record::{Record, RecordKey};
use crate::error::CommandError;
use crate::run::directory::RunDirectory;
use crate::run::{interrupt, progress};

/// A run with one model, in progress.
pub struct ModelRun<'a> {
    pub model_name: &'a str,
    /// Number of models of the whole run.
    pub models: usize,
    /// Number of records of the whole run.
    pub planned: usize,
    pub names: &'a [String],
    pub frameworks: &'a [Option<PreparedFramework>],
    pub model: &'a mut LoadedModel,
    pub decode: DecodeOptions,
    pub compile_limit: Duration,
    pub shots: usize,
}

impl ModelRun<'_> {
    /// Measures what the directory has no record of yet: schema by schema, all frameworks in turn.
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
                return Err(CommandError::interrupted(directory, self.planned));
            }
            bar.inc(self.names.len() as u64);
        }
        bar.finish_and_clear();
        Ok(())
    }

    /// Forward passes whose time nobody counts, over a prompt and over one token: weights are paged in, threads started,
    /// a GPU's kernels loaded. The logits are waited for, so that no pass is still running when the first answer begins.
    fn warm_up(&mut self) -> Result<(), CommandError> {
        let prompt = self.prompt("{}")?;
        self.model.model.reset();
        let fitting = prompt.len().min(self.model.model.max_positions());
        let mut logits = Vec::new();
        logits_to_host(&self.model.model.append(&prompt[..fitting])?, &mut logits)?;
        if fitting < self.model.model.max_positions() {
            logits_to_host(&self.model.model.append(&prompt[..1])?, &mut logits)?;
        }
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
        let mut missing: Vec<(RecordKey, &Option<PreparedFramework>)> = keys
            .zip(self.frameworks)
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
        for (key, framework) in missing {
            if interrupt::requested() {
                return Ok(false);
            }
            let record = match &usable {
                Err(reason) => Some(Record::unusable(key, reason.clone())),
                Ok((schema, judge, prompt)) => {
                    let documented = framework.as_ref().and_then(|framework| framework.documented.as_ref());
                    let theoretical = documented.map(|documented| documented.covers(schema));
                    let task = Task { schema, prompt, judge };
                    let record = measure(
                        key,
                        framework.as_ref(),
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

    /// The tokens of the prompt that asks for an instance of `schema`.
    fn prompt(&self, schema: &str) -> Result<Vec<u32>, CommandError> {
        Ok(prompts::encode(self.model, &prompts::messages(schema, self.shots))?)
    }
}
