//! [`QualityModelRun`]: the questions asked of one model, question by question, all rows in turn.

use std::collections::BTreeMap;
use std::time::Duration;

use maskwright_models::{DecodeOptions, LoadedModel, Reasoning};
use maskwright_suites::prompt::Message;
use maskwright_suites::quality::{QualityTask, Question, QuestionSet, judge, messages, messages_with_draft};
use maskwright_suites::validate::{Judge, SchemaProblem};

use super::record::{AnswerKey, AnswerRecord, Mode, text_of};
use crate::bench::measure::{Conditions, PreparedFramework, Task, measure};
use crate::bench::prompts::{PrefixCache, encode, encode_at_once, read_common_prefix};
use crate::bench::record::RecordKey;
use crate::error::CommandError;
use crate::frameworks::LM_ONLY;
use crate::run::directory::RunDirectory;
use crate::run::{interrupt, progress};

/// The questions asked of one model.
pub struct QualityModelRun<'a> {
    pub model_name: &'a str,
    /// The frameworks' names, in the order of rows.
    pub names: &'a [String],
    pub frameworks: &'a [Option<PreparedFramework>],
    pub model: &'a mut LoadedModel,
    /// Decoding options of answers without reasoning.
    pub decode: DecodeOptions,
    pub compile_limit: Duration,
    /// Modes in which each question is asked, in this order; a draft is a direct answer, so that its mode comes after the direct one.
    pub modes: &'a [Mode],
    /// Limit and markers of the model's reasoning, for the mode that has it.
    pub reasoning: Option<Reasoning>,
    /// Instructions before those of the prompt.
    pub system: Option<&'a str>,
    /// Whether the model reads the common prefix of a task's prompts once only.
    pub prefix_cache: bool,
}

/// A row that lacks a record of a question.
type Missing<'f> = (AnswerKey, Option<&'f PreparedFramework>);

/// A task on its way through the rows.
struct Asked<'a> {
    set: &'a QuestionSet,
    schema: String,
    judge: Judge,
    /// Tokens that all prompts of the task begin with, and the model's state after it has read them.
    read: Option<PrefixCache>,
}

impl<'a> QualityModelRun<'a> {
    /// Asks the questions of which the directory has no record yet.
    pub fn run(
        &mut self,
        sets: &[QuestionSet],
        directory: &mut RunDirectory<AnswerRecord>,
    ) -> Result<(), CommandError> {
        let questions: usize = sets.iter().map(|set| set.questions.len()).sum();
        let bar = progress::bar((questions * self.names.len()) as u64, self.model_name);
        for set in sets {
            let schema = set.task.schema();
            let judge = Judge::new(&schema).map_err(|problem| unusable(set, &problem))?;
            let mut asked = Asked {
                set,
                schema,
                judge,
                read: None,
            };
            for (number, question) in set.questions.iter().enumerate() {
                bar.set_message(format!("{}: {}/{}", self.model_name, set.task.name(), question.id));
                if !self.question(number, question, &mut asked, directory)? {
                    bar.abandon();
                    return Err(CommandError::interrupted(directory));
                }
                bar.inc(self.names.len() as u64);
            }
        }
        bar.finish_and_clear();
        Ok(())
    }

    /// Asks one question of every row that lacks a record. Returns false where the user interrupted.
    fn question(
        &mut self,
        number: usize,
        question: &Question,
        asked: &mut Asked<'_>,
        directory: &mut RunDirectory<AnswerRecord>,
    ) -> Result<bool, CommandError> {
        for &mode in self.modes {
            let missing = self.missing(mode, number, question, asked.set.task, directory);
            let Some((key, _)) = missing.first() else {
                continue;
            };
            let messages = match mode {
                Mode::Direct | Mode::Reasoned => messages(asked.set, &question.text),
                Mode::Draft => {
                    let draft = text_of(directory.records(), &key.direct_of(LM_ONLY)).unwrap_or_default();
                    messages_with_draft(asked.set, &question.text, draft)
                }
            };
            let prompt = self.prompt(mode, messages)?;
            if !self.answers(missing, &prompt, question, asked, directory)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the tokens of the prompt in a mode.
    fn prompt(&self, mode: Mode, messages: Vec<Message>) -> Result<Vec<u32>, CommandError> {
        Ok(match mode {
            Mode::Direct | Mode::Draft => encode_at_once(self.model, messages, self.system)?,
            Mode::Reasoned => encode(self.model, messages, self.system)?,
        })
    }

    /// The rows that lack a record of a question in a mode.
    fn missing(
        &self,
        mode: Mode,
        number: usize,
        question: &Question,
        task: QualityTask,
        directory: &RunDirectory<AnswerRecord>,
    ) -> Vec<Missing<'a>> {
        let frameworks: &'a [Option<PreparedFramework>] = self.frameworks;
        let mut missing: Vec<Missing<'a>> = Vec::new();
        for (name, framework) in self.names.iter().zip(frameworks) {
            let key = AnswerKey {
                model: self.model_name.to_owned(),
                framework: name.clone(),
                mode,
                task,
                question: question.id.clone(),
            };
            if mode.is_of(framework.is_some()) && directory.lacks(&key) {
                missing.push((key, framework.as_ref()));
            }
        }
        // Every framework is first equally often, so that none always finds the caches warm.
        if !missing.is_empty() {
            let first = number % missing.len();
            missing.rotate_left(first);
        }
        missing
    }

    /// Asks rows in turn. Returns false where the user interrupted.
    fn answers(
        &mut self,
        missing: Vec<Missing<'_>>,
        prompt: &[u32],
        question: &Question,
        asked: &mut Asked<'_>,
        directory: &mut RunDirectory<AnswerRecord>,
    ) -> Result<bool, CommandError> {
        for (key, framework) in missing {
            if interrupt::requested() {
                return Ok(false);
            }
            match self.answer(key, framework, prompt, question, asked)? {
                Some(record) => directory.add(record)?,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Has one row answer a question, and judges the answer. Returns `None` where the user interrupted.
    fn answer(
        &mut self,
        key: AnswerKey,
        framework: Option<&PreparedFramework>,
        prompt: &[u32],
        question: &Question,
        asked: &mut Asked<'_>,
    ) -> Result<Option<AnswerRecord>, CommandError> {
        if self.prefix_cache && asked.read.is_none() {
            asked.read = self.read_prefix(asked.set)?;
        }
        let read = asked.read.as_ref().filter(|(prefix, _)| prompt.starts_with(prefix));
        let decode = DecodeOptions {
            reasoning: self.reasoning.clone().filter(|_| key.mode == Mode::Reasoned),
            ..self.decode.clone()
        };
        let conditions = Conditions {
            decode: &decode,
            compile_limit: self.compile_limit,
            beside_prefill: false,
            read: read.map(|(_, snapshot)| snapshot),
        };
        let documents = BTreeMap::new();
        let task = Task {
            schema: &asked.schema,
            documents: &documents,
            prompt,
        };
        let measured_as = RecordKey {
            model: key.model.clone(),
            framework: key.framework.clone(),
            dataset: key.task.name().to_owned(),
            instance: key.question.clone(),
        };
        let cancel = &interrupt::INTERRUPTED;
        let measured = measure(
            measured_as,
            framework,
            &task,
            &asked.judge,
            self.model,
            &conditions,
            cancel,
        );
        let judged = |text: &str, end| judge(asked.set.task.form(), &question.answer, text, end);
        Ok(measured.map(|measured| AnswerRecord::of_measured(key, measured, judged)))
    }

    /// Has the model read the prefix that all prompts of a task share in all modes, system message and examples, and returns that prefix with the
    /// model's state after it.
    fn read_prefix(&mut self, set: &QuestionSet) -> Result<Option<PrefixCache>, CommandError> {
        let mut prompts = Vec::new();
        for &mode in self.modes {
            for question in ["A", "1"] {
                prompts.push(self.prompt(mode, messages(set, question))?);
            }
        }
        read_common_prefix(self.model, &prompts)
    }
}

/// Returns the error of a task whose own schema cannot be used.
pub(super) fn unusable(set: &QuestionSet, problem: &SchemaProblem) -> CommandError {
    CommandError::NothingMeasured(format!("task {}: {problem}", set.task.name()))
}
