//! [`QualityServerRun`]: the questions asked of one server, several in flight, a record for each answer.

use std::sync::Arc;
use std::time::Duration;

use maskwright_models::SamplingOptions;
use maskwright_suites::quality::{Question as TaskQuestion, QuestionSet, judge, messages, messages_with_draft};
use maskwright_suites::validate::Judge;

use super::model_run::unusable;
use super::record::{AnswerKey, AnswerRecord, Mode, text_end, text_of};
use crate::bench::measure;
use crate::bench::prompts::with_system;
use crate::bench::record::ServerRecord;
use crate::bench::server_answers::{ServedAnswer, ServedRecord, ServerSession};
use crate::error::CommandError;
use crate::run::directory::RunDirectory;
use crate::server::{Client, Question, check};

/// The questions asked of one server.
pub struct QualityServerRun<'a> {
    pub client: &'a Arc<Client>,
    pub max_tokens: usize,
    pub sampling: &'a SamplingOptions,
    pub limit: Duration,
    pub concurrency: usize,
    pub max_cost: Option<f64>,
    /// The name of the server that is the model alone, whose answers are drafts in the prompt; without one, questions are asked at once.
    pub drafts_of: Option<&'a str>,
    /// Instructions before those of the prompt.
    pub system: Option<&'a str>,
}

/// A question sent to the server, with the judge of its answer.
struct Pending<'a> {
    key: AnswerKey,
    question: &'a TaskQuestion,
    set: &'a QuestionSet,
    /// The draft in the prompt.
    draft: Option<String>,
    judge: Judge,
}

impl QualityServerRun<'_> {
    fn key(&self, set: &QuestionSet, question: &TaskQuestion) -> AnswerKey {
        let settings = self.client.settings();
        AnswerKey {
            model: settings.model.clone(),
            framework: settings.name.clone(),
            mode: match self.drafts_of {
                Some(_) => Mode::Draft,
                None => Mode::Direct,
            },
            task: set.task,
            question: question.id.clone(),
        }
    }

    /// Whether the server can be asked at all.
    pub fn check(&self) -> Result<(), CommandError> {
        check(self.client, Some(self.max_tokens), self.sampling, self.limit)
    }

    /// Asks the questions of which the directory has no final record yet. Returns the reasons for which questions are left, if any; `None` where the
    /// user interrupted.
    pub fn run(
        &self,
        sets: &[QuestionSet],
        directory: &mut RunDirectory<AnswerRecord>,
    ) -> Result<Option<Vec<String>>, CommandError> {
        let pending = self.pending(sets, directory)?;
        let questions = pending.iter().map(|pending| self.question(pending)).collect();
        let session = ServerSession {
            client: self.client,
            concurrency: self.concurrency,
            max_cost: self.max_cost,
        };
        let label = |number: usize| format!("{}/{}", pending[number].set.task.name(), pending[number].question.id);
        session.run(questions, directory, label, |number, served| {
            record_of(&pending[number], served)
        })
    }

    fn pending<'s>(
        &self,
        sets: &'s [QuestionSet],
        directory: &RunDirectory<AnswerRecord>,
    ) -> Result<Vec<Pending<'s>>, CommandError> {
        let mut pending = Vec::new();
        for set in sets {
            let judge = Judge::new(&set.task.schema()).map_err(|problem| unusable(set, &problem))?;
            let keyed = set.questions.iter().map(|question| (self.key(set, question), question));
            for (key, question) in keyed.filter(|(key, _)| directory.lacks(key)) {
                let draft = self
                    .drafts_of
                    .map(|alone| text_of(directory.records(), &key.direct_of(alone)));
                // Without a draft, the question cannot be asked yet.
                if let Some(None) = draft {
                    continue;
                }
                pending.push(Pending {
                    draft: draft.flatten().map(str::to_owned),
                    key,
                    question,
                    set,
                    judge: judge.clone(),
                });
            }
        }
        // What a server may have died of comes last, so that each attempt gets further.
        pending.sort_by_key(|pending| directory.failures(&pending.key));
        Ok(pending)
    }

    fn question(&self, pending: &Pending<'_>) -> Question {
        let is_constrained = self.client.settings().constrained;
        let messages = match &pending.draft {
            Some(draft) => messages_with_draft(pending.set, &pending.question.text, draft),
            None => messages(pending.set, &pending.question.text),
        };
        Question {
            messages: with_system(self.system, messages),
            schema: is_constrained.then(|| pending.set.task.schema()),
            max_tokens: Some(self.max_tokens),
            sampling: self.sampling.clone(),
            limit: self.limit,
        }
    }
}

fn record_of(pending: &Pending<'_>, served: ServedAnswer) -> AnswerRecord {
    let mut record = AnswerRecord::empty(pending.key.clone());
    let valid = served
        .ended()
        .map(|generation| measure::judge(&pending.judge, &generation.text).strict.valid);
    record.valid = valid;
    record.judgement = served.generation.as_ref().map(|generation| {
        let (form, end) = (pending.set.task.form(), text_end(generation));
        judge(form, &pending.question.answer, &generation.text, end)
    });
    record.server = Some(served.server);
    record.compile = served.compile;
    record.generation = served.generation;
    record
}

impl ServedRecord for AnswerRecord {
    fn server(&self) -> Option<&ServerRecord> {
        self.server.as_ref()
    }
}
