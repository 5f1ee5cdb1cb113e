//! [`BenchSettings`]: what a run of `maskwright bench` measures, for its manifest.

use maskwright_models::SamplingOptions;
use maskwright_worker::StyleChanges;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::prompts::PromptSettings;
use crate::documents::DocumentSettings;
use crate::frameworks::FrameworkSettings;
use crate::run::manifest::Settings;
use crate::server::ServerSettingsSummary;

/// Name of the dataset of generated schemas that the built-in model was not trained on.
pub const HELD_OUT: &str = "heldout";

/// How answers are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Schemas are compiled before the model begins; frameworks that can end an answer before its limit on tokens do so
    #[default]
    Ours,
    /// As the JSONSchemaBench paper's engines work: no limit on tokens but the model's context, no help to end in time, and
    /// schemas are compiled while the model reads the prompt, so that the compilation is part of TTFT
    Paper,
}

/// The number of repetitions of runs that do not tell.
fn once() -> usize {
    1
}

/// What a run of `maskwright bench` measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BenchSettings {
    /// The models in the order of rows: name, family, revision, number format, device, hashes.
    pub models: Vec<Value>,
    /// The frameworks in the order of rows, the model alone included.
    pub frameworks: Vec<FrameworkSettings>,
    /// The servers in the order of rows.
    #[serde(default)]
    pub servers: Vec<ServerSettingsSummary>,
    /// The datasets.
    pub datasets: Vec<DatasetSettings>,
    /// The documents beside the schemas, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documents: Option<DocumentSettings>,
    /// How tokens are chosen.
    pub sampling: SamplingOptions,
    /// Demonstrations in the prompt.
    pub shots: usize,
    /// How models of this machine are asked, where options say so.
    #[serde(default, skip_serializing_if = "PromptSettings::is_default")]
    pub prompt: PromptSettings,
    /// The date that chat templates are told.
    pub prompt_date: String,
    /// Largest number of tokens of an answer; only the model's context and the time are limits where there is none.
    pub max_tokens: Option<usize>,
    /// How answers are asked for.
    #[serde(default)]
    pub protocol: Protocol,
    /// Whether the model reads what all prompts begin with once only.
    #[serde(default)]
    pub prefix_cache: bool,
    /// Whether schemas are compiled while the model reads the prompt, because of an option or of [`Self::protocol`].
    #[serde(default)]
    pub compile_beside_prefill: bool,
    /// How often each answer is asked for.
    #[serde(default = "once")]
    pub repeat: usize,
    /// Longest compilation, in seconds.
    pub compile_limit_s: f64,
    /// Longest generation, in seconds.
    pub generation_limit_s: f64,
    /// Whether forced tokens are appended without being sampled.
    pub fast_forward: bool,
    /// Whether answers are ended before the limit on tokens, where a framework can tell how.
    pub finish_in_time: bool,
    /// Whether masks are computed while the forward pass runs.
    pub overlap: bool,
    /// Threads of the model's forward pass.
    pub threads: usize,
    /// What is different in how frameworks that have a style let models write.
    #[serde(default, skip_serializing_if = "StyleChanges::is_empty")]
    pub style: StyleChanges,
}

impl Settings for BenchSettings {
    const COMMAND: &'static str = "bench";
}

/// A dataset, as far as it was used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DatasetSettings {
    /// Name.
    pub name: String,
    /// Number of schemas used.
    pub instances: usize,
    /// SHA-256 of the names and texts of the schemas used, in order.
    pub sha256: String,
}
