//! [`Dialect`]: the dialects of servers' interfaces, by name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Dialect of a server's interface: endpoints, and the members of requests and answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// OpenAI's chat completions: `response_format` of type `json_schema`, `max_completion_tokens`.
    #[serde(rename = "openai")]
    OpenAi,
    /// vLLM from 0.12 on: `structured_outputs: {json}`.
    Vllm,
    /// vLLM before 0.12: `guided_json`.
    VllmGuided,
    /// SGLang: `response_format` of type `json_schema`, `max_tokens`.
    Sglang,
    /// llama.cpp's server: `response_format` with `schema`.
    LlamaServer,
    /// Gemini's interface in OpenAI's form.
    #[serde(rename = "gemini-openai")]
    GeminiOpenAi,
    /// Gemini's own: `streamGenerateContent` with `responseJsonSchema`.
    Gemini,
}

/// Every dialect with its name on the command line.
const DIALECTS: &[(&str, Dialect)] = &[
    ("openai", Dialect::OpenAi),
    ("vllm", Dialect::Vllm),
    ("vllm-guided", Dialect::VllmGuided),
    ("sglang", Dialect::Sglang),
    ("llama-server", Dialect::LlamaServer),
    ("gemini-openai", Dialect::GeminiOpenAi),
    ("gemini", Dialect::Gemini),
];

impl Dialect {
    /// Returns the name of the dialect on the command line.
    pub fn name(self) -> &'static str {
        DIALECTS
            .iter()
            .find(|(_, dialect)| *dialect == self)
            .map_or("", |(name, _)| name)
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Dialect {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = DIALECTS.iter().find(|(name, _)| *name == text);
        found.map(|(_, dialect)| *dialect).ok_or_else(|| {
            let names: Vec<&str> = DIALECTS.iter().map(|(name, _)| *name).collect();
            format!("must be one of {}", names.join(", "))
        })
    }
}
