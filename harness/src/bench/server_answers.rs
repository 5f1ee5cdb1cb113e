//! [`ServerSession`]: questions put to one server, several in flight, a record for each answer; [`ServedAnswer`] is the part that all such
//! records share.

use std::sync::Arc;

use maskwright::CompileErrorKind;

use super::record::{CompileFailure, CompileRecord, GenerationRecord, ServerRecord};
use super::server_rows::total_cost;
use crate::error::CommandError;
use crate::run::directory::{Recorded, RunDirectory};
use crate::run::{interrupt, progress};
use crate::server::{Answer, Client, Ended, Next, Outcome, Patience, Question, Unanswered, ask_all};

/// A record of an answer that may come from a server.
pub trait ServedRecord: Recorded {
    /// Returns the server's part of the record, where a server was asked.
    fn server(&self) -> Option<&ServerRecord>;
}

/// A server's reply to a question, in the types of records.
pub struct ServedAnswer {
    /// Outcome, token counts and cost of the request.
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

    /// Returns the answer where it ended by itself or at a limit; a filtered or refused answer cannot be judged by a schema.
    pub fn ended(&self) -> Option<&GenerationRecord> {
        self.generation
            .as_ref()
            .filter(|generation| generation.finish.is_some())
    }
}

/// Connection to one server over which questions are asked.
pub struct ServerSession<'a> {
    pub client: &'a Arc<Client>,
    /// Questions in flight at a time.
    pub concurrency: usize,
    /// Largest cost of all answers of the run; the session ends when it is reached.
    pub max_cost: Option<f64>,
}

impl ServerSession<'_> {
    /// Asks `questions`. `record` makes the record of the answer to the question of a number, and `label` names that question. Returns the reasons
    /// why the session ended before all questions were answered, empty if it did not; `None` where the user interrupted.
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
        // The version is asked for once, as that takes a request of its own.
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

    /// Returns the limit on the cost and the cost so far, where answers have a price and the limit is reached.
    fn too_dear<R: ServedRecord>(&self, directory: &RunDirectory<R>) -> Option<(f64, f64)> {
        self.client.settings().prices.as_ref()?;
        let limit = self.max_cost?;
        let cost = total_cost(directory.records().iter().map(ServedRecord::server));
        (cost >= limit).then_some((limit, cost))
    }
}
