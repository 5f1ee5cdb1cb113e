//! `export-gguf`: writes a model as one GGUF file, for llama.cpp and servers built on it.

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use maskwright_models::{HubSettings, ModelSource, PreTokenizer, WeightFormat, export_gguf};

/// Writes a model as one GGUF file, for llama.cpp and servers built on it.
#[derive(Debug, Args)]
pub(crate) struct ExportGguf {
    /// The model: a directory, a hub id, or `builtin`
    model: ModelSource,
    /// The file to write
    file: PathBuf,
    /// Format of the matrices: auto (the checkpoint's own), f32, bf16 or f16
    #[arg(long, default_value = "auto")]
    dtype: WeightFormat,
    /// llama.cpp's name for the way texts are cut into words (`tokenizer.ggml.pre`); by default the model's own, where
    /// llama.cpp has it
    #[arg(long, value_name = "NAME")]
    pre_tokenizer: Option<String>,
}

impl ExportGguf {
    /// Runs the command.
    pub(crate) fn run(&self) -> Result<(), Box<dyn Error>> {
        let hub = HubSettings::from_environment();
        let chosen = self.pre_tokenizer.as_deref();
        let summary = export_gguf(&self.model, &hub, self.dtype, chosen, &self.file)?;
        let mut out = std::io::stdout();
        writeln!(
            out,
            "{}: {}, {} tensors, {} tokens, pre-tokenizer {}",
            self.file.display(),
            summary.architecture,
            summary.tensors,
            summary.tokens,
            summary.pre_tokenizer.name()
        )?;
        if summary.pre_tokenizer == PreTokenizer::Default {
            writeln!(
                out,
                "llama.cpp has no pre-tokenizer like this model's, so it may make other tokens of a text; prompts given as \
                 tokens are not affected"
            )?;
        }
        Ok(())
    }
}
