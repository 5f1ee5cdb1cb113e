//! [`QualitySettings`]: settings of a run of `maskwright quality`, kept in its manifest.

use maskwright_models::SamplingOptions;
use maskwright_suites::quality::{QualityTask, QuestionSet};
use maskwright_worker::StyleChanges;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bench::prompts::PromptSettings;
use crate::frameworks::FrameworkSettings;
use crate::run::manifest::Settings;
use crate::server::ServerSettingsSummary;

/// Default of `prefix_cache` in manifests that lack the member: those runs all had the cache.
fn with_cache() -> bool {
    true
}

/// Settings of a run of `maskwright quality`, kept in its manifest.
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
    /// Sampling options: temperature, top-k, top-p and the like.
    pub sampling: SamplingOptions,
    /// Examples in the prompt.
    pub shots: usize,
    /// Prompt settings for models of this machine; absent where they are the defaults.
    #[serde(default, skip_serializing_if = "PromptSettings::is_default")]
    pub prompt: PromptSettings,
    /// Date that is passed to chat templates.
    pub prompt_date: String,
    /// Whether constrained rows are asked a second time, with a draft of the model alone in the prompt.
    #[serde(default)]
    pub draft: bool,
    /// Whether the model of this machine reads the common prefix of a task's prompts once only.
    #[serde(default = "with_cache")]
    pub prefix_cache: bool,
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
    /// Changes to the style of answers, for frameworks that have a style.
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
    /// Settings of the generator of the questions; absent where they were not generated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub letters: Option<LetterSettings>,
}

impl TaskSettings {
    /// Whether the questions are asked as in the paper, as [`QuestionSet::is_as_in_paper`] says.
    pub fn is_as_in_paper(&self) -> bool {
        let letters = self.letters.as_ref();
        letters.is_none_or(|letters| (letters.words, letters.letter.as_str()) == (4, "last"))
    }
}

/// Settings of the generator of Last Letter's questions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LetterSettings {
    /// Names of each question.
    pub words: usize,
    /// Letter of each name that is asked for: first, second, third, fourth or last.
    pub letter: String,
    /// Seed of the choice of names.
    pub seed: u64,
}

impl From<&QuestionSet> for TaskSettings {
    fn from(set: &QuestionSet) -> Self {
        Self {
            name: set.task,
            questions: set.questions.len(),
            sha256: set.hash(),
            letters: set.letters.map(|letters| LetterSettings {
                words: letters.words,
                letter: letters.letter.to_string(),
                seed: letters.seed,
            }),
        }
    }
}
