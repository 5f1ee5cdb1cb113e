//! [`BenchSettings`]: what a run of `maskwright bench` measures, for its manifest.

use maskwright_models::SamplingOptions;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::frameworks::FrameworkSettings;
use crate::server::ServerSettingsSummary;

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
    /// How tokens are chosen.
    pub sampling: SamplingOptions,
    /// Demonstrations in the prompt.
    pub shots: usize,
    /// The date that chat templates are told.
    pub prompt_date: String,
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
    /// Whether masks are computed while the forward pass runs.
    pub overlap: bool,
    /// Threads of the model's forward pass.
    pub threads: usize,
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
