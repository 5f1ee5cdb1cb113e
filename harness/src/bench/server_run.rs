//! [`ServerRun`]: a run with one server, several questions in flight, a record for each answer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use maskwright_models::SamplingOptions;
use maskwright_suites::dataset::Dataset;
use maskwright_suites::validate::{Judge, SchemaProblem};

use super::measure::judge;
use super::prompts::{messages, with_system};
use super::record::{Record, RecordKey, ServerRecord};
use super::server_answers::{ServedAnswer, ServedRecord, ServerSession};
use crate::documents::{self, DocumentLibrary};
use crate::error::CommandError;
use crate::run::directory::RunDirectory;
use crate::server::{Client, Question, check};

/// A run with one server.
pub struct ServerRun<'a> {
    pub client: &'a Arc<Client>,
    pub documents: &'a DocumentLibrary,
    pub shots: usize,
    pub max_tokens: Option<usize>,
    pub sampling: &'a SamplingOptions,
    pub limit: Duration,
    pub concurrency: usize,
    pub max_cost: Option<f64>,
    /// Instructions before those of the prompt.
    pub system: Option<&'a str>,
}

/// A question that has no final record yet: the key of its record and its schema.
struct Pending<'a> {
    key: RecordKey,
    schema: &'a str,
}

impl ServerRun<'_> {
    /// Returns the record's key of a schema.
    fn key(&self, dataset: &str, instance: &str) -> RecordKey {
        let settings = self.client.settings();
        RecordKey {
            model: settings.model.clone(),
            framework: settings.name.clone(),
            dataset: dataset.to_owned(),
            instance: instance.to_owned(),
        }
    }

    /// Checks that the server can be asked under the run's options.
    pub fn check(&self) -> Result<(), CommandError> {
        check(self.client, self.max_tokens, self.sampling, self.limit)
    }

    /// Whether the directory lacks a final record of any schema.
    pub fn is_pending(&self, datasets: &[Dataset], directory: &RunDirectory<Record>) -> bool {
        let mut keys = datasets.iter().flat_map(|dataset| {
            let instances = dataset.instances.iter();
            instances.map(|instance| self.key(&dataset.name, &instance.id))
        });
        keys.any(|key| directory.lacks(&key))
    }

    /// Asks the questions that the directory has no final record of. Returns the reasons why the run ended before all questions were answered, empty
    /// if it did not; `None` where the user interrupted.
    pub fn run(
        &self,
        datasets: &[Dataset],
        directory: &mut RunDirectory<Record>,
    ) -> Result<Option<Vec<String>>, CommandError> {
        let pending = self.pending(datasets, directory)?;
        let questions = pending.iter().map(|pending| self.question(pending.schema)).collect();
        let label = |number: usize| format!("{}/{}", pending[number].key.dataset, pending[number].key.instance);
        self.session().run(questions, directory, label, |number, served| {
            let Pending { key, schema } = &pending[number];
            self.record(key.clone(), schema, served)
        })
    }

    fn session(&self) -> ServerSession<'_> {
        ServerSession {
            client: self.client,
            concurrency: self.concurrency,
            max_cost: self.max_cost,
        }
    }

    /// Returns the questions to ask. Schemas that no answer can be judged by are put on record as unusable, and cost nothing.
    fn pending<'d>(
        &self,
        datasets: &'d [Dataset],
        directory: &mut RunDirectory<Record>,
    ) -> Result<Vec<Pending<'d>>, CommandError> {
        let mut pending = Vec::new();
        for dataset in datasets {
            for instance in &dataset.instances {
                let key = self.key(&dataset.name, &instance.id);
                if !directory.lacks(&key) {
                    continue;
                }
                let problem = match &instance.schema {
                    Err(error) => Err(error.to_string()),
                    Ok(schema) => self
                        .judge_of(schema)
                        .map(|_| schema)
                        .map_err(|problem| documents::with_hint(problem.to_string())),
                };
                match problem {
                    Ok(schema) => pending.push(Pending { key, schema }),
                    Err(reason) => directory.add(Record::unusable(key, reason))?,
                }
            }
        }
        // Questions that a server may have died of come last, so that each attempt gets further.
        pending.sort_by_key(|pending| directory.failures(&pending.key));
        Ok(pending)
    }

    fn judge_of(&self, schema: &str) -> Result<Judge, SchemaProblem> {
        Judge::with_documents(schema, &self.documents.beside(schema, &BTreeMap::new()))
    }

    fn question(&self, schema: &str) -> Question {
        Question {
            messages: with_system(self.system, messages(schema, self.shots)),
            schema: self.client.settings().constrained.then(|| schema.to_owned()),
            max_tokens: self.max_tokens,
            sampling: self.sampling.clone(),
            limit: self.limit,
        }
    }

    fn record(&self, key: RecordKey, schema: &str, served: ServedAnswer) -> Record {
        let mut record = Record::empty(key);
        // The schema was checked before the question was asked.
        if let (Some(generation), Ok(judge_of_schema)) = (served.ended(), self.judge_of(schema)) {
            let verdicts = judge(&judge_of_schema, &generation.text);
            record.verdict = Some(verdicts.strict);
            record.paper_verdict = Some(verdicts.paper);
        }
        record.server = Some(served.server);
        record.compile = served.compile;
        record.generation = served.generation;
        record
    }
}

impl ServedRecord for Record {
    fn server(&self) -> Option<&ServerRecord> {
        self.server.as_ref()
    }
}
