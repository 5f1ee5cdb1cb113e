//! The arguments that name a model and say how to run it.

use clap::Args;
use maskwright_models::{HubSettings, LoadOptions, LoadedModel, Message, ModelError, ModelSource, load};
use maskwright_suites::prompt;

use crate::manifest::available_cpus;
use crate::progress;

/// The date that chat templates are told which write one into the prompt: a run must give the same prompts tomorrow.
pub const PROMPT_DATE: jiff::civil::DateTime = jiff::civil::datetime(2024, 7, 26, 0, 0, 0, 0);

/// Which model, and how it is run.
#[derive(Debug, Args)]
pub struct ModelArguments {
    /// The model: `builtin`, a directory in Hugging Face layout, or a hub id such as Qwen/Qwen3-0.6B
    #[arg(long, default_value = "builtin", value_name = "MODEL")]
    pub model: String,
    /// Revision of a model from the hub: a branch, tag or commit
    #[arg(long, value_name = "REV")]
    pub revision: Option<String>,
    /// Use only what is in the download cache
    #[arg(long)]
    pub offline: bool,
    /// Device: cpu, cuda or cuda:N
    #[arg(long, default_value = "cpu")]
    pub device: String,
    /// Number format of the weights: auto, f32, bf16 or f16
    #[arg(long, default_value = "auto")]
    pub dtype: String,
    /// Threads of the model's forward pass; by default one processor is left to the masks
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
}

impl ModelArguments {
    /// Loads the model, with a progress bar where it is downloaded.
    ///
    /// # Errors
    ///
    /// [`ModelError`], naming the file, tensor or field at fault.
    pub fn load(&self) -> Result<LoadedModel, ModelError> {
        let source = match (self.model.parse()?, &self.revision) {
            (
                ModelSource::Hub {
                    repository,
                    revision: None,
                },
                Some(revision),
            ) => ModelSource::Hub {
                repository,
                revision: Some(revision.clone()),
            },
            (source, _) => source,
        };
        let bar = progress::download_bar(&self.model);
        let mut hub = HubSettings::from_environment();
        hub.offline |= self.offline;
        let options = LoadOptions {
            device: self.device.parse()?,
            dtype: self.dtype.parse()?,
            threads: Some(self.threads()),
            clock: Some(PROMPT_DATE),
            hub,
            progress: Some(bar.clone()),
        };
        let model = load(&source, &options);
        bar.finish_and_clear();
        model
    }

    /// Threads of a forward pass: those asked for, or all processors but one, which the masks have to themselves.
    pub fn threads(&self) -> usize {
        self.threads
            .unwrap_or_else(|| available_cpus().saturating_sub(1))
            .max(1)
    }
}

/// The tokens that put `messages` before `model`.
///
/// # Errors
///
/// [`ModelError`], where the chat template refuses them.
pub fn encode(model: &LoadedModel, messages: &[prompt::Message]) -> Result<Vec<u32>, ModelError> {
    let messages: Vec<Message> = messages
        .iter()
        .map(|message| Message::new(message.role.as_str(), message.content.as_str()))
        .collect();
    model.encode_prompt(&model.render_prompt(&messages)?)
}
