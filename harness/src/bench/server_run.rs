//! [`ServerRun`]: a run with one server, several questions in flight, a record for each answer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use maskwright::CompileErrorKind;
use maskwright_models::SamplingOptions;
use maskwright_suites::dataset::Dataset;
use maskwright_suites::validate::{Judge, SchemaProblem};

use super::measure::judge;
use super::prompts::messages;
use super::record::{CompileFailure, CompileRecord, GenerationRecord, Record, RecordKey, ServerRecord};
use super::server_rows::total_cost;
use crate::documents::{self, DocumentLibrary};
use crate::error::CommandError;
use crate::run::directory::RunDirectory;
use crate::run::progress;
use crate::server::{Answer, Client, Ended, Next, Outcome, Patience, Question, Unanswered, ask_all, check};

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
}

/// What is asked, and how its answer is judged.
struct Pending<'a> {
    key: RecordKey,
    schema: &'a str,
}

impl ServerRun<'_> {
    /// The record's key of a schema.
    fn key(&self, dataset: &str, instance: &str) -> RecordKey {
        let settings = self.client.settings();
        RecordKey {
            model: settings.model.clone(),
            framework: settings.name.clone(),
            dataset: dataset.to_owned(),
            instance: instance.to_owned(),
        }
    }

    /// Whether the server can be asked at all.
    pub fn check(&self) -> Result<(), CommandError> {
        check(self.client, self.max_tokens, self.sampling, self.limit)
    }

    /// Whether the directory lacks a final record of any schema.
    pub fn is_pending(&self, datasets: &[Dataset], directory: &RunDirectory<Record>) -> bool {
        let mut keys = datasets.iter().flat_map(|dataset| {
            let instances = dataset.instances.iter();
            instances.map(|instance| self.key(&dataset.name, &instance.id))
        });
        keys.any(|key| !directory.has(&key))
    }

    /// Asks what the directory has no final record of yet. Says why it ended before the end, if it did; `None` where
    /// the user interrupted.
    pub fn run(
        &self,
        datasets: &[Dataset],
        directory: &mut RunDirectory<Record>,
    ) -> Result<Option<Vec<String>>, CommandError> {
        let pending = self.pending(datasets, directory)?;
        if pending.is_empty() || self.is_too_dear(directory) {
            return Ok(Some(self.reasons(&Patience::default(), pending.len(), directory)));
        }
        let questions = pending.iter().map(|pending| self.question(pending.schema)).collect();
        let version = Some(self.client.version()).filter(|version| !version.is_empty());
        let name = &self.client.settings().name;
        let bar = progress::bar(pending.len() as u64, name);
        let mut patience = Patience::default();
        let interrupted = crate::run::interrupt::requested;
        let ended = ask_all(
            self.client,
            questions,
            self.concurrency,
            interrupted,
            |number, result| {
                let Pending { key, schema } = &pending[number];
                bar.inc(1);
                bar.set_message(format!("{name}: {}/{}", key.dataset, key.instance));
                let next = patience.add(&result);
                let mut record = self.record(key.clone(), schema, result);
                if let Some(server) = &mut record.server {
                    server.version.clone_from(&version);
                }
                directory.add(record)?;
                Ok::<_, CommandError>(match self.is_too_dear(directory) {
                    true => Next::Stop,
                    false => next,
                })
            },
        )?;
        bar.finish_and_clear();
        Ok(match ended {
            Ended::Done => Some(self.reasons(&patience, pending.len(), directory)),
            Ended::Interrupted => None,
        })
    }

    /// Why not everything is answered, if so.
    fn reasons(&self, patience: &Patience, planned: usize, directory: &RunDirectory<Record>) -> Vec<String> {
        let limit = self.max_cost.filter(|_| self.is_too_dear(directory));
        let too_dear = limit.map(|limit| {
            (
                limit,
                total_cost(directory.records().iter().map(|record| record.server.as_ref())),
            )
        });
        patience.reasons(&self.client.settings().name, planned, too_dear)
    }

    /// What is to be asked. Schemas that no answer can be judged by are put on record as such, and cost nothing.
    fn pending<'d>(
        &self,
        datasets: &'d [Dataset],
        directory: &mut RunDirectory<Record>,
    ) -> Result<Vec<Pending<'d>>, CommandError> {
        let mut pending = Vec::new();
        for dataset in datasets {
            for instance in &dataset.instances {
                let key = self.key(&dataset.name, &instance.id);
                if directory.has(&key) {
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
        // What a server may have died of comes last, so that each attempt gets further.
        pending.sort_by_key(|pending| directory.failures(&pending.key));
        Ok(pending)
    }

    fn judge_of(&self, schema: &str) -> Result<Judge, SchemaProblem> {
        Judge::with_documents(schema, &self.documents.beside(schema, &BTreeMap::new()))
    }

    fn question(&self, schema: &str) -> Question {
        Question {
            messages: messages(schema, self.shots),
            schema: self.client.settings().constrained.then(|| schema.to_owned()),
            max_tokens: self.max_tokens,
            sampling: self.sampling.clone(),
            limit: self.limit,
        }
    }

    fn record(&self, key: RecordKey, schema: &str, result: Result<Answer, Unanswered>) -> Record {
        let mut record = Record::empty(key);
        let answer = match result {
            Ok(answer) => answer,
            Err(unanswered) => {
                record.server = Some(ServerRecord::unanswered(&unanswered));
                return record;
            }
        };
        let settings = self.client.settings();
        record.server = Some(ServerRecord::of_answer(&answer, settings.prices.as_ref()));
        record.compile = settings.constrained.then(|| CompileRecord {
            seconds: None,
            beside_prefill: false,
            error: (answer.outcome == Outcome::SchemaRefused).then(|| CompileFailure {
                kind: CompileErrorKind::Refused,
                pointer: None,
                keyword: None,
                message: answer.message.clone().unwrap_or_default(),
            }),
        });
        record.generation = GenerationRecord::of_answer(&answer, self.client.clean(&answer.text));
        let ended = record
            .generation
            .as_ref()
            .is_some_and(|generation| generation.finish.is_some());
        // The schema was looked at before it was asked about.
        if let (true, Ok(judge_of_schema)) = (ended, self.judge_of(schema)) {
            let verdicts = judge(&judge_of_schema, &answer.text);
            record.verdict = Some(verdicts.strict);
            record.paper_verdict = Some(verdicts.paper);
        }
        record
    }

    /// Whether answers cost something, and the limit on cost is reached.
    fn is_too_dear(&self, directory: &RunDirectory<Record>) -> bool {
        let has_price = self.client.settings().prices.is_some();
        let limit = self.max_cost.filter(|_| has_price);
        limit.is_some_and(|limit| total_cost(directory.records().iter().map(|record| record.server.as_ref())) >= limit)
    }
}
