//! `chat-prompts`: renders a chat template, for comparison with other software.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{Read, Write};
use std::path::PathBuf;

use clap::Args;
use maskwright_models::{ChatTemplate, Message};
use serde_json::{Value, json};

/// Renders a chat template.
///
/// Reads a JSON list of cases from the standard input, each an object of the template's variables, `messages` among them.
/// Prints a list of as many objects: each has the `prompt`, or the `error` for which there is none.
#[derive(Debug, Args)]
pub(crate) struct ChatPrompts {
    /// The template, a Jinja file
    template: PathBuf,
    /// The time that the template sees
    #[arg(long)]
    clock: Option<jiff::civil::DateTime>,
}

impl ChatPrompts {
    /// Runs the command.
    pub(crate) fn run(&self) -> Result<(), Box<dyn Error>> {
        let mut cases = String::new();
        std::io::stdin().read_to_string(&mut cases)?;
        let cases: Vec<BTreeMap<String, Value>> = serde_json::from_str(&cases)?;
        let text = std::fs::read_to_string(&self.template)?;
        let file = self.template.display().to_string();
        let template = ChatTemplate::parse(file, &text, Vec::new(), self.clock)?;
        let no_messages: &[Message] = &[];
        let rendered = cases
            .iter()
            .map(|variables| match template.render(no_messages, variables) {
                Ok(prompt) => json!({ "prompt": prompt }),
                Err(error) => json!({ "error": error.to_string() }),
            });
        let rendered: Value = rendered.collect();
        Ok(writeln!(std::io::stdout().lock(), "{rendered}")?)
    }
}
