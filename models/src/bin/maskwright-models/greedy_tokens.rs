//! `greedy-tokens`: continues prompts and prints tokens, logits and times as JSON, for comparison with other software.

use std::error::Error;
use std::io::{Read, Write};
use std::time::Instant;

use clap::Args;
use maskwright_models::{
    LoadOptions, LoadedModel, ModelDevice, ModelError, ModelSource, Sampler, SamplingOptions, WeightFormat, load,
    logits_to_host,
};
use serde_json::{Value, json};

/// Continues prompts greedily.
///
/// Reads a JSON list of prompts, each a text or a list of token ids, from the standard input. Prints one object per prompt: its
/// tokens, the tokens chosen, the logits after the prompt and after the last but one token, and milliseconds, on Linux also those
/// of the processor, of all threads together.
#[derive(Debug, Args)]
pub(crate) struct GreedyTokens {
    /// The model: a directory, a GGUF file, a hub id, or `builtin`
    model: ModelSource,
    /// Number of tokens to choose, 0 for the prompts' tokens only; an end-of-sequence token does not stop
    #[arg(long, default_value_t = 64)]
    count: usize,
    /// Device: cpu, cuda or cuda:N
    #[arg(long, default_value = "cpu")]
    device: ModelDevice,
    /// Number format of the weights: auto, f32, bf16 or f16
    #[arg(long, default_value = "auto")]
    dtype: WeightFormat,
    /// Threads of the forward pass
    #[arg(long)]
    threads: Option<usize>,
    /// Leaves the logits out
    #[arg(long)]
    no_logits: bool,
}

/// A prompt.
#[derive(Debug, serde::Deserialize)]
#[serde(untagged)]
enum Prompt {
    Tokens(Vec<u32>),
    Text(String),
}

impl GreedyTokens {
    /// Runs the command.
    pub(crate) fn run(&self) -> Result<(), Box<dyn Error>> {
        let mut prompts = String::new();
        std::io::stdin().read_to_string(&mut prompts)?;
        let prompts: Vec<Prompt> = serde_json::from_str(&prompts)?;
        let options = LoadOptions {
            device: self.device,
            dtype: self.dtype,
            threads: self.threads,
            ..LoadOptions::default()
        };
        let start = Instant::now();
        let mut loaded = load(&self.model, &options)?;
        let load_ms = start.elapsed().as_secs_f64() * 1e3;
        let mut out = std::io::stdout().lock();
        for prompt in prompts {
            let prompt = match prompt {
                Prompt::Tokens(tokens) => tokens,
                // With what the tokenizer puts around a text.
                Prompt::Text(text) => loaded.tokenizer().encode(&text, true)?,
            };
            let mut result = match self.count {
                0 => json!({}),
                _ => continue_greedily(&mut loaded, &prompt, self)?,
            };
            result["prompt"] = prompt.into();
            result["load_ms"] = load_ms.into();
            writeln!(out, "{result}")?;
        }
        Ok(())
    }
}

/// A point in time, and how long the threads of this process had run then.
struct Clock {
    wall: Instant,
    processor_ns: Option<u64>,
}

impl Clock {
    fn start() -> Self {
        Self {
            wall: Instant::now(),
            processor_ns: processor_ns(),
        }
    }

    /// Milliseconds since then, by the wall clock and of the processor.
    fn milliseconds(&self) -> (f64, Option<f64>) {
        let processor = processor_ns().zip(self.processor_ns);
        (
            self.wall.elapsed().as_secs_f64() * 1e3,
            processor.map(|(now, then)| now.saturating_sub(then) as f64 * 1e-6),
        )
    }
}

/// Nanoseconds for which the threads of this process have run; `None` on systems that do not say.
fn processor_ns() -> Option<u64> {
    let of_thread = |entry: std::fs::DirEntry| {
        let text = std::fs::read_to_string(entry.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    };
    let threads = std::fs::read_dir("/proc/self/task").ok()?.flatten();
    threads.map(of_thread).sum()
}

/// The result for one prompt.
fn continue_greedily(loaded: &mut LoadedModel, prompt: &[u32], arguments: &GreedyTokens) -> Result<Value, ModelError> {
    let model = &mut loaded.model;
    let mut logits = Vec::new();
    model.reset();
    let start = Clock::start();
    logits_to_host(&model.append(prompt)?, &mut logits)?;
    let (prompt_ms, prompt_processor_ms) = start.milliseconds();
    let first_logits = logits.clone();
    let mut tokens = Vec::with_capacity(arguments.count);
    let start = Clock::start();
    let mut greedy = Sampler::new(SamplingOptions::default());
    while tokens.len() < arguments.count {
        let token = greedy.sample(&logits, None).unwrap_or_default();
        tokens.push(token);
        if tokens.len() < arguments.count {
            logits_to_host(&model.append(&[token])?, &mut logits)?;
        }
    }
    let steps = arguments.count.saturating_sub(1).max(1) as f64;
    let (ms, processor_ms) = start.milliseconds();
    let mut result = json!({
        "tokens": tokens,
        "prompt_ms": prompt_ms,
        "prompt_processor_ms": prompt_processor_ms,
        "ms_per_token": ms / steps,
        "processor_ms_per_token": processor_ms.map(|ms| ms / steps),
    });
    if !arguments.no_logits {
        result["first_logits"] = first_logits.into();
        result["last_logits"] = logits.into();
    }
    Ok(result)
}
