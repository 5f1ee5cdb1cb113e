//! [`ToolSettings`]: the settings of a run of `maskwright bench --tools`, for its manifest.

use maskwright_models::SamplingOptions;
use maskwright_suites::tool_calls::RequestSet;
use maskwright_worker::StyleChanges;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bench::prompts::PromptSettings;
use crate::bench::settings::DatasetSettings;
use crate::frameworks::FrameworkSettings;
use crate::run::manifest::Settings;

/// Settings of a run of `maskwright bench --tools`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSettings {
    /// The models in the order of rows: name, family, revision, number format, device, hashes.
    pub models: Vec<Value>,
    /// The frameworks in the order of rows, the model alone included.
    pub frameworks: Vec<FrameworkSettings>,
    /// The set of requests.
    pub datasets: Vec<DatasetSettings>,
    /// The format of calls where one was named; `None` for the format of each model's chat template.
    pub tool_format: Option<String>,
    /// The choice among tools.
    pub tool_choice: String,
    /// Whether a reply may have several calls.
    pub parallel_calls: bool,
    /// Options by which tokens are chosen.
    pub sampling: SamplingOptions,
    /// Options of the prompts to models of this machine, where any are set.
    #[serde(default, skip_serializing_if = "PromptSettings::is_default")]
    pub prompt: PromptSettings,
    /// The date given to chat templates.
    pub prompt_date: String,
    /// Largest number of tokens of a reply.
    pub max_tokens: usize,
    /// Longest compilation, in seconds.
    pub compile_limit_s: f64,
    /// Longest generation, in seconds.
    pub generation_limit_s: f64,
    /// Whether forced tokens are appended without being sampled.
    pub fast_forward: bool,
    /// Whether replies are ended before the limit on tokens, where a framework can complete them.
    pub finish_in_time: bool,
    /// Whether masks are computed while the forward pass runs.
    pub overlap: bool,
    /// Threads of the model's forward pass.
    pub threads: usize,
    /// Changes to the style of arguments, for frameworks that have one.
    #[serde(default, skip_serializing_if = "StyleChanges::is_empty")]
    pub style: StyleChanges,
}

impl Settings for ToolSettings {
    const COMMAND: &'static str = "bench --tools";
}

/// Returns name, size and hash of the requests that the run asks.
pub fn dataset_settings(set: &RequestSet) -> DatasetSettings {
    DatasetSettings {
        name: set.name.clone(),
        instances: set.requests.len(),
        sha256: set.hash(),
    }
}
