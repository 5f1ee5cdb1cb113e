//! [`ServerRun`]: the questions asked of one server, several in flight, a record for each answer.

use std::sync::Arc;
use std::time::Duration;

use maskwright::CompileErrorKind;
use maskwright_models::SamplingOptions;
use maskwright_suites::quality::{Question as TaskQuestion, QuestionSet, judge, messages, messages_with_draft};
use maskwright_suites::validate::Judge;

use super::model_run::unusable;
use super::record::{AnswerKey, AnswerRecord, Mode, text_of};
use crate::bench::measure;
use crate::bench::record::{CompileFailure, CompileRecord, GenerationRecord, ServerRecord};
use crate::bench::server_rows::total_cost;
use crate::error::CommandError;
use crate::run::directory::RunDirectory;
use crate::run::{interrupt, progress};
use crate::server::{Answer, Client, Ended, Next, Outcome, Patience, Question, Unanswered, ask_all, check};

/// The questions asked of one server.
pub struct ServerRun<'a> {
    pub client: &'a Arc<Client>,
    pub max_tokens: usize,
    pub sampling: &'a SamplingOptions,
    pub limit: Duration,
    pub concurrency: usize,
    pub max_cost: Option<f64>,
    /// The name of the server that is the model alone, whose answers are drafts in the prompt; without one, questions are asked at once.
    pub drafts_of: Option<&'a str>,
}

/// What is asked, and how its answer is judged.
struct Pending<'a> {
    key: AnswerKey,
    question: &'a TaskQuestion,
    set: &'a QuestionSet,
    /// The draft in the prompt.
    draft: Option<String>,
    judge: Judge,
}

impl ServerRun<'_> {
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

    /// Asks what the directory has no final record of yet. Says why it ended before the end, if it did; `None` where
    /// the user interrupted.
    pub fn run(
        &self,
        sets: &[QuestionSet],
        directory: &mut RunDirectory<AnswerRecord>,
    ) -> Result<Option<Vec<String>>, CommandError> {
        let name = &self.client.settings().name;
        let pending = self.pending(sets, directory)?;
        let too_dear = self.too_dear(directory);
        if pending.is_empty() || too_dear.is_some() {
            return Ok(Some(Patience::default().reasons(name, pending.len(), too_dear)));
        }
        let questions = pending.iter().map(|pending| self.question(pending)).collect();
        let bar = progress::bar(pending.len() as u64, name);
        let mut patience = Patience::default();
        let ended = ask_all(
            self.client,
            questions,
            self.concurrency,
            interrupt::requested,
            |number, result| {
                bar.inc(1);
                let next = patience.add(&result);
                directory.add(self.record(&pending[number], result))?;
                Ok::<_, CommandError>(match self.too_dear(directory) {
                    Some(_) => Next::Stop,
                    None => next,
                })
            },
        )?;
        bar.finish_and_clear();
        Ok(match ended {
            Ended::Done => Some(patience.reasons(name, pending.len(), self.too_dear(directory))),
            Ended::Interrupted => None,
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
            for (key, question) in keyed.filter(|(key, _)| !directory.has(key)) {
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
        Question {
            messages: match &pending.draft {
                Some(draft) => messages_with_draft(pending.set, &pending.question.text, draft),
                None => messages(pending.set, &pending.question.text),
            },
            schema: is_constrained.then(|| pending.set.task.schema()),
            max_tokens: Some(self.max_tokens),
            sampling: self.sampling.clone(),
            limit: self.limit,
        }
    }

    fn record(&self, pending: &Pending<'_>, result: Result<Answer, Unanswered>) -> AnswerRecord {
        let mut record = AnswerRecord::empty(pending.key.clone());
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
        if record.generation.is_some() {
            record.valid = Some(measure::judge(&pending.judge, &answer.text).strict.valid);
            record.judgement = Some(judge(pending.set.task.form(), &pending.question.answer, &answer.text));
        }
        record
    }

    /// The limit on cost and what was spent, where answers cost something and that is reached.
    fn too_dear(&self, directory: &RunDirectory<AnswerRecord>) -> Option<(f64, f64)> {
        self.client.settings().prices.as_ref()?;
        let limit = self.max_cost?;
        let cost = total_cost(directory.records().iter().map(|record| record.server.as_ref()));
        (cost >= limit).then_some((limit, cost))
    }
}
