//! Writes a model with random weights in Hugging Face layout, for tests and for timing shapes without downloads.

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use maskwright_models::{CheckpointTokenizer, Family, PRESETS, RandomCheckpoint, WeightFormat};

/// Writes a model with random weights in Hugging Face layout.
#[derive(Debug, Parser)]
struct Arguments {
    /// Directory to write to; it is created
    directory: PathBuf,
    /// Family: llama, mistral, qwen2 or qwen3
    #[arg(long, default_value = "llama")]
    family: String,
    /// Shape: tiny, small or llama-3.2-1b
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
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Where the standard error is closed, the exit status still tells.
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let families = [Family::Llama, Family::Mistral, Family::Qwen2, Family::Qwen3];
    let family = families.into_iter().find(|family| family.name() == arguments.family);
    let family = family.ok_or("unknown family: expected llama, mistral, qwen2 or qwen3")?;
    let mut checkpoint = RandomCheckpoint::preset(family, &arguments.preset).ok_or("unknown preset")?;
    checkpoint.seed = arguments.seed;
    checkpoint.format = arguments.dtype;
    checkpoint.shards = arguments.shards;
    checkpoint.tokenizer = arguments.tokenizer.clone();
    checkpoint.config["tie_word_embeddings"] = (!arguments.untied).into();
    if let Some(size) = arguments.vocab_size {
        checkpoint.config["vocab_size"] = size.into();
    }
    Ok(checkpoint.write(&arguments.directory)?)
}
