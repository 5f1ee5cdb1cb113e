//! [`ServerSession`]: questions put to one server, several in flight, a record for each answer; [`ServedAnswer`] is what every such record has.

use std::sync::Arc;

use maskwright::CompileErrorKind;

use super::record::{CompileFailure, CompileRecord, GenerationRecord, ServerRecord};
use super::server_rows::total_cost;
use crate::error::CommandError;
use crate::run::directory::{Recorded, RunDirectory};
use crate::run::{interrupt, progress};
use crate::server::{Answer, Client, Ended, Next, Outcome, Patience, Question, Unanswered, ask_all};

/// A record of an answer that a server may have given.
pub trait ServedRecord: Recorded {
    /// What is known where a server answered.
    fn server(&self) -> Option<&ServerRecord>;
}

/// What a server made of a question, as records have it.
pub struct ServedAnswer {
    /// How the request ended.
    pub server: ServerRecord,
    /// The compilation, which only says whether the schema was refused; absent where nothing answered or there was no schema.
    pub compile: Option<CompileRecord>,
    /// The answer, where there is one.
    pub generation: Option<GenerationRecord>,
}

impl ServedAnswer {
    fn of(client: &Client, version: Option<String>, result: Result<Answer, Unanswered>) -> Self {
        let settings = client.settings();
        let with_version = |server| ServerRecord { version, ..server };
        let answer = match result {
            Ok(answer) => answer,
            Err(unanswered) => {
                return Self {
                    server: with_version(ServerRecord::unanswered(&unanswered)),
                    compile: None,
                    generation: None,
                };
            }
        };
        Self {
            server: with_version(ServerRecord::of_answer(&answer, settings.prices.as_ref())),
            compile: settings.constrained.then(|| CompileRecord {
                seconds: None,
                beside_prefill: false,
                error: (answer.outcome == Outcome::SchemaRefused).then(|| CompileFailure {
                    kind: CompileErrorKind::Refused,
                    pointer: None,
                    keyword: None,
                    message: answer.message.clone().unwrap_or_default(),
                }),
            }),
            generation: GenerationRecord::of_answer(&answer, client.clean(&answer.text)),
        }
    }

    /// The answer, where it came to an end of its own or at a limit; one that was filtered away or refused is no answer to be judged by a schema.
    pub fn ended(&self) -> Option<&GenerationRecord> {
        self.generation
            .as_ref()
            .filter(|generation| generation.finish.is_some())
    }
}

/// Questions on their way to one server.
pub struct ServerSession<'a> {
    pub client: &'a Arc<Client>,
    /// Questions in flight at a time.
    pub concurrency: usize,
    /// What all answers of the run may cost; the session ends when that is reached.
    pub max_cost: Option<f64>,
}

impl ServerSession<'_> {
    /// Asks `questions`, and puts on record what `record` makes of the answer to the question of each number. `label` names that question. Says why
    /// it ended before the end, if it did; `None` where the user interrupted.
    pub fn run<R: ServedRecord>(
        &self,
        questions: Vec<Question>,
        directory: &mut RunDirectory<R>,
        label: impl Fn(usize) -> String,
        mut record: impl FnMut(usize, ServedAnswer) -> R,
    ) -> Result<Option<Vec<String>>, CommandError> {
        let name = &self.client.settings().name;
        let planned = questions.len();
        let mut patience = Patience::default();
        let too_dear = self.too_dear(directory);
        if planned == 0 || too_dear.is_some() {
            return Ok(Some(patience.reasons(name, planned, too_dear)));
        }
        // Asked for once: it is a request of its own.
        let version = Some(self.client.version()).filter(|version| !version.is_empty());
        let bar = progress::bar(planned as u64, name);
        let ended = ask_all(
            self.client,
            questions,
            self.concurrency,
            interrupt::requested,
            |number, result| {
                bar.inc(1);
                bar.set_message(format!("{name}: {}", label(number)));
                let next = patience.add(&result);
                let served = ServedAnswer::of(self.client, version.clone(), result);
                directory.add(record(number, served))?;
                Ok::<_, CommandError>(match self.too_dear(directory) {
                    Some(_) => Next::Stop,
                    None => next,
                })
            },
        )?;
        bar.finish_and_clear();
        Ok(match ended {
            Ended::Done => Some(patience.reasons(name, planned, self.too_dear(directory))),
            Ended::Interrupted => None,
        })
    }

    /// The limit on cost and what was spent, where answers cost something and that is reached.
    fn too_dear<R: ServedRecord>(&self, directory: &RunDirectory<R>) -> Option<(f64, f64)> {
        self.client.settings().prices.as_ref()?;
        let limit = self.max_cost?;
        let cost = total_cost(directory.records().iter().map(ServedRecord::server));
        (cost >= limit).then_some((limit, cost))
    }
}
