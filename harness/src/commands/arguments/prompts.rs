//! The prompt arguments: instructions for all models, and options for models of this machine.

use std::path::PathBuf;

use clap::Args;
use maskwright_models::{PromptOptions, ReasoningOptions};
use sha2::{Digest, Sha256};

use super::numbers::positive;
use crate::bench::prompts::PromptSettings;
use crate::error::CommandError;

/// Prompt options. Apart from the instructions, they are for models of this machine.
#[derive(Debug, Args)]
pub struct PromptArguments {
    /// A Jinja file with a chat template in place of the model's own
    #[arg(long, value_name = "FILE")]
    chat_template: Option<PathBuf>,
    /// Instructions to put before those of the prompt, also for servers
    #[arg(long, value_name = "TEXT")]
    system: Option<String>,
    /// Turn the switch of the model's chat template for thinking (`enable_thinking`, `thinking`, `reasoning_effort`)
    /// [default: off; on with --reasoning free]
    #[arg(long, value_enum, value_name = "SWITCH")]
    thinking: Option<Switch>,
    /// Reasoning of models before their answer, up to the end tag of their family (`</think>`, gpt-oss's final channel, …).
    /// Reasoning is not constrained, not judged, and counted apart. `quality` asks every question both ways
    #[arg(long, value_enum, default_value_t = ReasoningMode::None, value_name = "MODE")]
    reasoning: ReasoningMode,
    /// Tokens of reasoning, at most; then it is ended, and the answer begins
    #[arg(long, default_value_t = 1024, value_parser = positive::<usize>, value_name = "N")]
    reasoning_tokens: usize,
    /// End tag of reasoning, for models whose family's tag is not known
    #[arg(long, value_name = "TEXT")]
    reasoning_end: Option<String>,
}

/// The state of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Switch {
    /// The model thinks first
    On,
    /// The model does not think, or as little as it can
    Off,
}

/// Reasoning of models before their answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ReasoningMode {
    /// The answer begins at once
    None,
    /// The model reasons without constraints up to its own end tag
    Free,
}

impl PromptArguments {
    /// Checks that the options go together; `has_models` is whether any model of this machine is asked.
    ///
    /// # Errors
    ///
    /// [`CommandError::Arguments`], where an option would have no effect.
    pub fn check(&self, has_models: bool) -> Result<(), CommandError> {
        let refused = |message: &str| Err(CommandError::Arguments(message.to_owned()));
        let reasons = self.reasoning == ReasoningMode::Free;
        if self.thinking == Some(Switch::On) && !reasons {
            return refused("--thinking on lets models think before their answer: add --reasoning free");
        }
        if self.reasoning_end.is_some() && !reasons {
            return refused("--reasoning-end says where reasoning ends: add --reasoning free, or leave it out");
        }
        if self.reasoning_end.as_deref() == Some("") {
            return refused("--reasoning-end has to have a text");
        }
        let is_asked = reasons || self.thinking.is_some() || self.chat_template.is_some();
        if is_asked && !has_models {
            return refused(
                "--chat-template, --thinking and --reasoning are for models of this machine, and none is asked: leave them out; what \
                 servers are sent is said by body=FILE",
            );
        }
        Ok(())
    }

    /// Returns the prompt options of a model.
    pub fn options(&self) -> PromptOptions {
        PromptOptions {
            chat_template: self.chat_template.clone(),
            thinking: self.thinking.map(|switch| switch == Switch::On),
            reasoning: (self.reasoning == ReasoningMode::Free).then(|| ReasoningOptions {
                max_tokens: self.reasoning_tokens,
                end: self.reasoning_end.clone(),
            }),
        }
    }

    /// Returns the prompt settings for the manifest.
    ///
    /// # Errors
    ///
    /// [`CommandError::Arguments`], where the chat template cannot be read.
    pub fn settings(&self) -> Result<PromptSettings, CommandError> {
        let hash = |path: &PathBuf| match std::fs::read(path) {
            Ok(bytes) => Ok(hex::encode(Sha256::digest(bytes))),
            Err(error) => {
                let message = format!("--chat-template {}: {error}", path.display());
                Err(CommandError::Arguments(message))
            }
        };
        let options = self.options();
        Ok(PromptSettings {
            chat_template_sha256: self.chat_template.as_ref().map(hash).transpose()?,
            system: self.system.clone(),
            thinking: options.thinking,
            reasoning_tokens: options.reasoning.as_ref().map(|reasoning| reasoning.max_tokens),
            reasoning_end: options.reasoning.and_then(|reasoning| reasoning.end),
        })
    }

    /// Returns the instructions that come before those of the prompt.
    pub fn system(&self) -> Option<&str> {
        self.system.as_deref()
    }
}
