//! [`QualitySettings`]: what a run of `maskwright quality` measures, for its manifest.

use maskwright_models::SamplingOptions;
use maskwright_suites::quality::{QualityTask, QuestionSet};
use maskwright_worker::StyleChanges;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bench::prompts::PromptSettings;
use crate::frameworks::FrameworkSettings;
use crate::run::manifest::Settings;
use crate::server::ServerSettingsSummary;

/// What a run of `maskwright quality` measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QualitySettings {
    /// The models in the order of rows: name, family, revision, number format, device, hashes.
    pub models: Vec<Value>,
    /// The frameworks in the order of rows, the model alone included.
    pub frameworks: Vec<FrameworkSettings>,
    /// The servers in the order of rows.
    #[serde(default)]
    pub servers: Vec<ServerSettingsSummary>,
    /// The tasks.
    pub tasks: Vec<TaskSettings>,
    /// How tokens are chosen.
    pub sampling: SamplingOptions,
    /// Examples in the prompt.
    pub shots: usize,
    /// How models of this machine are asked, where options say so.
    #[serde(default, skip_serializing_if = "PromptSettings::is_default")]
    pub prompt: PromptSettings,
    /// The date that chat templates are told.
    pub prompt_date: String,
    /// Whether constrained rows are asked a second time, with a draft of the model alone in the prompt.
    #[serde(default)]
    pub draft: bool,
    /// Largest number of tokens of an answer.
    pub max_tokens: usize,
    /// Longest compilation, in seconds.
    pub compile_limit_s: f64,
    /// Longest generation, in seconds.
    pub generation_limit_s: f64,
    /// Whether forced tokens are appended without being sampled.
    pub fast_forward: bool,
    /// Whether answers are ended before the limit on tokens, where a framework can tell how.
    pub finish_in_time: bool,
    /// Threads of the model's forward pass.
    pub threads: usize,
    /// What is different in how answers look, for frameworks that have a style.
    #[serde(default, skip_serializing_if = "StyleChanges::is_empty")]
    pub style: StyleChanges,
}

impl Settings for QualitySettings {
    const COMMAND: &'static str = "quality";
}

/// A task, as far as it was used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskSettings {
    /// The task.
    pub name: QualityTask,
    /// Number of questions.
    pub questions: usize,
    /// SHA-256 of the questions, prompts and right answers.
    pub sha256: String,
}

impl From<&QuestionSet> for TaskSettings {
    fn from(set: &QuestionSet) -> Self {
        Self {
            name: set.task,
            questions: set.questions.len(),
            sha256: set.hash(),
        }
    }
}
