//! [`BenchSettings`]: the settings of a run of `maskwright bench`, for its manifest.

use maskwright_models::SamplingOptions;
use maskwright_suites::dataset::Dataset;
use maskwright_worker::StyleChanges;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::prompts::PromptSettings;
use crate::documents::DocumentSettings;
use crate::frameworks::FrameworkSettings;
use crate::run::manifest::Settings;
use crate::server::ServerSettingsSummary;

/// Name of the dataset of generated schemas that the built-in model was not trained on.
pub const HELD_OUT: &str = "heldout";

/// Protocol by which answers are generated: ours or the paper's.
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

/// Returns the number of repetitions of runs whose manifest does not name it.
fn once() -> usize {
    1
}

/// Settings of a run of `maskwright bench`.
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
    /// Options by which tokens are chosen.
    pub sampling: SamplingOptions,
    /// Number of demonstrations in the prompt.
    pub shots: usize,
    /// Options of the prompts to models of this machine, where any are set.
    #[serde(default, skip_serializing_if = "PromptSettings::is_default")]
    pub prompt: PromptSettings,
    /// The date given to chat templates.
    pub prompt_date: String,
    /// Largest number of tokens of an answer; `None` where only the model's context and the time are limits.
    pub max_tokens: Option<usize>,
    /// Protocol by which answers are generated.
    #[serde(default)]
    pub protocol: Protocol,
    /// Whether the model reads the common prefix of all prompts only once.
    #[serde(default)]
    pub prefix_cache: bool,
    /// Whether schemas are compiled while the model reads the prompt, because of an option or of [`Self::protocol`].
    #[serde(default)]
    pub compile_beside_prefill: bool,
    /// Number of times that each answer is generated.
    #[serde(default = "once")]
    pub repeat: usize,
    /// Longest compilation, in seconds.
    pub compile_limit_s: f64,
    /// Longest generation, in seconds.
    pub generation_limit_s: f64,
    /// Whether forced tokens are appended without being sampled.
    pub fast_forward: bool,
    /// Whether answers are ended before the limit on tokens, where a framework can complete them.
    pub finish_in_time: bool,
    /// Whether masks are computed while the forward pass runs.
    pub overlap: bool,
    /// Threads of the model's forward pass.
    pub threads: usize,
    /// Changes to the style in which models write, for frameworks that have one.
    #[serde(default, skip_serializing_if = "StyleChanges::is_empty")]
    pub style: StyleChanges,
}

impl Settings for BenchSettings {
    const COMMAND: &'static str = "bench";
}

/// A dataset, as far as the run uses it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DatasetSettings {
    /// Name.
    pub name: String,
    /// Number of schemas used.
    pub instances: usize,
    /// SHA-256 of the names and texts of the schemas used, in order.
    pub sha256: String,
}

impl DatasetSettings {
    /// Returns the settings of the schemas that a run uses.
    pub fn of(dataset: &Dataset) -> Self {
        let mut hash = Sha256::new();
        for instance in &dataset.instances {
            let text = instance.schema.as_deref().unwrap_or("");
            for part in [instance.id.as_str(), text] {
                hash.update((part.len() as u64).to_le_bytes());
                hash.update(part);
            }
        }
        Self {
            name: dataset.name.clone(),
            instances: dataset.instances.len(),
            sha256: hex::encode(hash.finalize()),
        }
    }
}
