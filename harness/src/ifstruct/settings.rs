//! [`RunSettings`]: settings of a run of `maskwright ifstruct run`, kept in its manifest.

use maskwright_models::SamplingOptions;
use maskwright_suites::ifstruct::{Level, Sample};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::record::Mode;
use crate::bench::prompts::PromptSettings;
use crate::run::manifest::Settings;
use crate::server::ServerSettingsSummary;

/// Name of the file of a run's samples, in its directory.
pub const SAMPLES_FILE: &str = "samples.jsonl";

/// A sample as a line of a file of samples, its end included.
pub fn sample_line(sample: &Sample) -> String {
    format!("{}\n", serde_json::to_string(sample).unwrap_or_default())
}

/// SHA-256 of samples as lines of a file, in hexadecimal digits.
pub fn samples_hash<'s>(samples: impl IntoIterator<Item = &'s Sample>) -> String {
    let mut hash = Sha256::new();
    for sample in samples {
        hash.update(sample_line(sample));
    }
    hex::encode(hash.finalize())
}

/// Settings of a run of `maskwright ifstruct run`, kept in its manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSettings {
    /// The models in the order of rows: name, family, revision, number format, device, hashes.
    pub models: Vec<serde_json::Value>,
    /// The servers in the order of rows.
    pub servers: Vec<ServerSettingsSummary>,
    /// Modes in which models of this machine reply.
    pub modes: Vec<Mode>,
    /// Number of samples.
    pub samples: usize,
    /// SHA-256 of the samples, as lines of JSON.
    pub sha256: String,
    /// Strictness with which replies are judged.
    pub level: Level,
    /// Sampling options: temperature, top-k, top-p and the like.
    pub sampling: SamplingOptions,
    /// Largest number of tokens of a reply.
    pub max_tokens: usize,
    /// Longest reply, in seconds.
    pub generation_limit_s: f64,
    /// Prompt settings for models of this machine; absent where they are the defaults.
    #[serde(default, skip_serializing_if = "PromptSettings::is_default")]
    pub prompt: PromptSettings,
    /// Date that is passed to chat templates.
    pub prompt_date: String,
    /// Threads of the model's forward pass.
    pub threads: usize,
}

impl Settings for RunSettings {
    const COMMAND: &'static str = "ifstruct run";
}
