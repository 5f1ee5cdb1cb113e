//! [`AnswerRecord`]: the answer of one row to one question, and the verdict on it.

use maskwright_models::FinishReason;
use maskwright_suites::quality::{Judgement, QualityTask, TextEnd};
use serde::{Deserialize, Serialize};

use crate::bench::record::{CompileRecord, GenerationRecord, Record, ServerRecord};
use crate::frameworks::display_name;
use crate::run::directory::Recorded;

/// One line of `records.jsonl` of a run of `maskwright quality`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnswerRecord {
    /// Key of the record: model, framework, mode, task and question.
    #[serde(flatten)]
    pub key: AnswerKey,
    /// The compilation of the answers' schema; absent for the model alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compile: Option<CompileRecord>,
    /// The generation; absent where the schema did not compile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<GenerationRecord>,
    /// Whether the answer is valid under the schema; absent where nothing was generated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid: Option<bool>,
    /// The verdict on the answer, read strictly and leniently; absent where nothing was generated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<Judgement>,
    /// Record of the request to a server: outcome, attempts, tokens, cost and software version; absent where the model ran on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerRecord>,
}

/// Key of an [`AnswerRecord`]: model, framework, mode, task and question.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AnswerKey {
    /// The model, as the user named it.
    pub model: String,
    /// The framework, `none` for the model alone, or the server's name.
    pub framework: String,
    /// Mode in which the answer was asked for.
    #[serde(default)]
    pub mode: Mode,
    /// The task.
    pub task: QualityTask,
    /// The question's name in the task.
    pub question: String,
}

/// Mode in which an answer is asked for: direct, after reasoning, or with a draft.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The model answers at once.
    #[default]
    Direct,
    /// The model answers after reasoning that is not constrained.
    Reasoned,
    /// The model answers at once, with an unconstrained answer of its own as a draft in the prompt.
    Draft,
}

impl Mode {
    /// Returns the name of the mode in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Reasoned => "reasoned",
            Self::Draft => "draft",
        }
    }

    /// Whether a row is asked in this mode: the model alone is not asked with a draft, which is its own answer.
    pub fn is_of(self, constrained: bool) -> bool {
        constrained || self != Self::Draft
    }
}

impl Recorded for AnswerRecord {
    type Key = AnswerKey;

    fn key(&self) -> &AnswerKey {
        &self.key
    }

    fn is_final(&self) -> bool {
        self.server.as_ref().is_none_or(ServerRecord::is_final)
    }
}

impl AnswerKey {
    /// The framework as pictures and tables show it, with the mode where that is not direct.
    pub fn shown_row(&self) -> String {
        let framework = display_name(&self.framework);
        match self.mode {
            Mode::Direct => framework,
            mode => format!("{framework}, {}", mode.name()),
        }
    }

    /// Returns the key of this question asked of `framework` in the direct mode.
    pub fn direct_of(&self, framework: &str) -> Self {
        Self {
            framework: framework.to_owned(),
            mode: Mode::Direct,
            ..self.clone()
        }
    }
}

/// Returns whether the text of an answer is whole, which it is where the model ended the text, or cut off.
pub fn text_end(generation: &GenerationRecord) -> TextEnd {
    match generation.finish {
        Some(FinishReason::EndOfSequence) => TextEnd::Whole,
        _ => TextEnd::CutOff,
    }
}

/// The text of the answer with the key `key`, where there is one.
pub fn text_of<'r>(records: &'r [AnswerRecord], key: &AnswerKey) -> Option<&'r str> {
    let found = records
        .iter()
        .rev()
        .find(|record| record.is_final() && record.key == *key)?;
    Some(&found.generation.as_ref()?.text)
}

impl AnswerRecord {
    /// A record without results.
    pub fn empty(key: AnswerKey) -> Self {
        Self {
            key,
            compile: None,
            generation: None,
            valid: None,
            judgement: None,
            server: None,
        }
    }

    /// Makes the record of an answer out of the record that `bench` has for a measurement, with the verdict `judgement` on its text.
    pub fn of_measured(key: AnswerKey, measured: Record, judgement: impl FnOnce(&str, TextEnd) -> Judgement) -> Self {
        Self {
            key,
            compile: measured.compile,
            judgement: measured
                .generation
                .as_ref()
                .map(|generation| judgement(&generation.text, text_end(generation))),
            valid: measured.verdict.map(|verdict| verdict.valid),
            generation: measured.generation,
            server: None,
        }
    }

    fn finish(&self) -> Option<FinishReason> {
        self.generation.as_ref().and_then(|generation| generation.finish)
    }

    /// Whether the prompt did not fit into the model's context, so that nothing could be answered.
    pub fn lacked_room(&self) -> bool {
        let is_empty = self
            .generation
            .as_ref()
            .is_some_and(|generation| generation.output_tokens == 0);
        is_empty && self.finish() == Some(FinishReason::ContextFull)
    }

    /// Whether the answer was cut off: by the limit on tokens, by that on time, or by the end of the model's context.
    pub fn was_cut_off(&self) -> bool {
        matches!(
            self.finish(),
            Some(FinishReason::TokenLimit | FinishReason::TimeLimit | FinishReason::ContextFull)
        )
    }

    /// Tokens that the model reasoned with before the answer; `None` where it did not reason, or a server does not tell.
    pub fn reasoning_tokens(&self) -> Option<u64> {
        let of_model = self
            .generation
            .as_ref()
            .and_then(|generation| generation.reasoning.as_ref());
        let of_server = self.server.as_ref().and_then(|server| server.reasoning_tokens);
        of_model.map(|reasoning| reasoning.tokens as u64).or(of_server)
    }

    /// Whether the model did not end its reasoning within the tokens that it had for it.
    pub fn had_reasoning_cut(&self) -> bool {
        let reasoning = self
            .generation
            .as_ref()
            .and_then(|generation| generation.reasoning.as_ref());
        reasoning.is_some_and(|reasoning| reasoning.cut)
    }

    /// Whether the schema was refused.
    pub fn was_refused(&self) -> bool {
        self.compile.as_ref().is_some_and(|compile| compile.error.is_some())
    }

    /// The framework's words, where it failed during the answer.
    pub fn failure(&self) -> Option<&str> {
        self.generation.as_ref()?.failure()
    }

    /// Whether the answer is right, read leniently.
    pub fn is_right(&self) -> bool {
        self.judgement
            .as_ref()
            .is_some_and(|judgement| judgement.lenient.correct)
    }

    /// Whether the answer is right, read strictly.
    pub fn is_strictly_right(&self) -> bool {
        self.judgement
            .as_ref()
            .is_some_and(|judgement| judgement.strict.correct)
    }
}
