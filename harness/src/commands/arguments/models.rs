//! The arguments that name models and say how to run them.

use std::str::FromStr;

use clap::Args;
use maskwright_models::{
    HubSettings, LoadOptions, LoadedModel, ModelDevice, ModelError, ModelSource, WeightFormat, load,
};

use super::numbers::threads;
use super::prompts::PromptArguments;
use crate::error::CommandError;
use crate::run::manifest::available_cpus;
use crate::run::progress;

/// Date given to chat templates that write one into the prompt: it is fixed, so that runs on other days have the same prompts.
pub const PROMPT_DATE: jiff::civil::DateTime = jiff::civil::datetime(2024, 7, 26, 0, 0, 0, 0);

/// The model that is asked where no model is named.
const DEFAULT_MODEL: &str = "builtin";

/// Options that name models and say how they run.
#[derive(Debug, Args)]
pub struct ModelArguments {
    /// The models, comma-separated: `builtin`, directories in Hugging Face layout, GGUF files, or hub ids such as Qwen/Qwen3-0.6B or owner/name:Q8_0.
    /// One is in memory at a time [default: builtin, unless only servers are asked]
    #[arg(long, value_delimiter = ',', value_name = "MODELS")]
    model: Vec<String>,
    /// Revision of models from the hub: a branch, tag or commit
    #[arg(long, value_name = "REV")]
    pub revision: Option<String>,
    /// Use only files in the download cache
    #[arg(long)]
    pub offline: bool,
    /// Device: cpu, cuda or cuda:N
    #[arg(long, default_value = "cpu", value_parser = read_as::<ModelDevice>)]
    pub device: String,
    /// Number format of the weights: auto, f32, bf16 or f16
    #[arg(long, default_value = "auto", value_parser = read_as::<WeightFormat>)]
    pub dtype: String,
    /// Threads of the model's forward pass; by default one processor is left to the masks
    #[arg(long, value_parser = threads, value_name = "N")]
    pub threads: Option<usize>,
    /// Prompt options.
    #[command(flatten)]
    pub prompt: PromptArguments,
}

/// Returns the text unchanged if it can be read as a `T`.
fn read_as<T: FromStr<Err = ModelError>>(text: &str) -> Result<String, ModelError> {
    text.parse::<T>().map(|_| text.to_owned())
}

impl ModelArguments {
    /// Whether the user names models.
    pub fn is_given(&self) -> bool {
        !self.model.is_empty()
    }

    /// Returns the names of the models, each once; that of the default model where the user names none.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        if self.model.is_empty() {
            names.push(DEFAULT_MODEL.to_owned());
        }
        for name in &self.model {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }

    /// Checks that the options go together with the models; without `has_models`, only servers are asked.
    ///
    /// # Errors
    ///
    /// [`CommandError::Arguments`], where an option has no effect on any model.
    pub fn check(&self, has_models: bool) -> Result<(), CommandError> {
        self.prompt.check(has_models)?;
        let takes_revision = |name: &String| match name.parse() {
            Ok(ModelSource::Hub { revision, .. } | ModelSource::HubGguf { revision, .. }) => revision.is_none(),
            Ok(_) => false,
            // The error in the name is reported when the model is loaded.
            Err(_) => true,
        };
        if self.revision.is_none() || self.model.iter().any(takes_revision) {
            return Ok(());
        }
        Err(CommandError::Arguments(format!(
            "--revision is for models of the hub without @REVISION behind their names, and {} is none: leave it out",
            self.names().join(", ")
        )))
    }

    /// Loads the model called `name`, with a progress bar where it is downloaded.
    ///
    /// # Errors
    ///
    /// [`ModelError`], naming the file, tensor or field at fault.
    pub fn load(&self, name: &str) -> Result<LoadedModel, ModelError> {
        let mut source = name.parse()?;
        if let ModelSource::Hub { revision, .. } | ModelSource::HubGguf { revision, .. } = &mut source
            && revision.is_none()
        {
            revision.clone_from(&self.revision);
        }
        let bar = progress::download_bar(name);
        let mut hub = HubSettings::from_environment();
        hub.offline |= self.offline;
        let options = LoadOptions {
            device: self.device.parse()?,
            dtype: self.dtype.parse()?,
            threads: Some(self.threads()),
            clock: Some(PROMPT_DATE),
            prompt: self.prompt.options(),
            hub,
            progress: Some(bar.clone()),
        };
        let model = load(&source, &options);
        bar.finish_and_clear();
        model.inspect(progress::say_notices)
    }

    /// Returns the number of threads of a forward pass: the number given, or all processors but one, which is left to the masks.
    pub fn threads(&self) -> usize {
        self.threads
            .unwrap_or_else(|| available_cpus().saturating_sub(1))
            .max(1)
    }
}
