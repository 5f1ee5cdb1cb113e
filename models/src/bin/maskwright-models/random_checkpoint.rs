//! `random-checkpoint`: writes a model with random weights in Hugging Face layout, for tests and for timing shapes without
//! downloads.

use std::error::Error;
use std::path::PathBuf;

use clap::Args;
use maskwright_models::{CheckpointTokenizer, Family, PRESETS, RandomCheckpoint, WeightFormat};
use serde_json::{Map, Value};

/// Writes a model with random weights in Hugging Face layout.
#[derive(Debug, Args)]
pub(crate) struct WriteRandomCheckpoint {
    /// Directory to write to; it is created
    directory: PathBuf,
    /// Family: llama, mistral, qwen2, qwen3, lfm2 … (`families --names` prints them all)
    #[arg(long, default_value = "llama")]
    family: String,
    /// Shape: tiny, small, llama-3.2-1b or llama-3.1-8b; other families than Llama, Mistral and Qwen have tiny ones
    #[arg(long, default_value = "tiny", value_parser = PRESETS)]
    preset: String,
    /// Seed of the weights
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Format of the weights: f32, bf16 or f16
    #[arg(long, default_value = "bf16")]
    dtype: WeightFormat,
    /// Number of weight files
    #[arg(long, default_value_t = 1)]
    shards: usize,
    /// `bytes` for one token per byte, `builtin`, or the directory of a model whose tokenizer is copied
    #[arg(long, default_value = "bytes")]
    tokenizer: CheckpointTokenizer,
    /// Gives the model an output matrix of its own
    #[arg(long)]
    untied: bool,
    /// Number of embeddings and logits, at least as many as the tokenizer has tokens; by default the shape's own
    #[arg(long)]
    vocab_size: Option<usize>,
    /// A JSON object with fields of config.json that take the place of the shape's own
    #[arg(long, default_value = "{}")]
    config: String,
}

impl WriteRandomCheckpoint {
    /// Runs the command.
    pub(crate) fn run(&self) -> Result<(), Box<dyn Error>> {
        let family = Family::from_name(&self.family);
        let family = family.ok_or_else(|| {
            let names = Family::list(Family::name);
            format!("unknown family: expected one of {names}")
        })?;
        let mut checkpoint = RandomCheckpoint::preset(family, &self.preset).ok_or("unknown preset")?;
        checkpoint.seed = self.seed;
        checkpoint.format = self.dtype;
        checkpoint.shards = self.shards;
        checkpoint.tokenizer = self.tokenizer.clone();
        if self.untied {
            checkpoint.config["tie_word_embeddings"] = false.into();
        }
        if let Some(size) = self.vocab_size {
            for field in ["vocab_size", "vocab_size_per_layer_input"] {
                if checkpoint.config.get(field).is_some() {
                    checkpoint.config[field] = size.into();
                }
            }
        }
        let fields: Map<String, Value> =
            serde_json::from_str(&self.config).map_err(|error| format!("--config is no JSON object: {error}"))?;
        if let Value::Object(config) = &mut checkpoint.config {
            config.extend(fields);
        }
        Ok(checkpoint.write(&self.directory)?)
    }
}
