//! The prompts of the benchmark: the words that ask for an instance of a schema, and their tokens.

use maskwright_models::{LoadedModel, Message, ModelError, Snapshot, logits_to_host};
use maskwright_suites::{json_text, prompt};
use serde::{Deserialize, Serialize};

use crate::error::CommandError;

/// Returns the messages that ask for an instance of `schema`, the schema on one line, after `shots` demonstrations.
pub fn messages(schema: &str, shots: usize) -> Vec<prompt::Message> {
    let one_line = serde_json::from_str::<serde_json::Value>(schema)
        .ok()
        .and_then(|value| json_text::to_string(&value).ok());
    let schema = one_line.as_deref().unwrap_or(schema);
    prompt::messages(schema, &prompt::DEFAULT_SHOTS[..shots])
}

/// Options of prompts, for the manifest; apart from [`Self::system`], for models of this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptSettings {
    /// SHA-256 of the chat template that was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat_template_sha256: Option<String>,
    /// Instructions before those of the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The switch for thinking, where it was turned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<bool>,
    /// Largest number of tokens of reasoning, where there is any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<usize>,
    /// Text that ends the reasoning, where one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_end: Option<String>,
}

impl PromptSettings {
    /// Whether no option was given.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Returns the tokens of the prompt that puts `messages` to `model`, with the instructions `system` before their own.
///
/// # Errors
///
/// [`ModelError`], where the chat template refuses them.
pub fn encode(
    model: &LoadedModel,
    messages: Vec<prompt::Message>,
    system: Option<&str>,
) -> Result<Vec<u32>, ModelError> {
    model.encode_prompt(&model.render_prompt(&of_model(messages, system))?)
}

/// Returns the tokens of a prompt like [`encode`]'s after which the answer begins at once, even with a model that may reason before it.
///
/// # Errors
///
/// [`ModelError`], where the chat template refuses the messages.
pub fn encode_at_once(
    model: &LoadedModel,
    messages: Vec<prompt::Message>,
    system: Option<&str>,
) -> Result<Vec<u32>, ModelError> {
    model.encode_prompt(&model.render_prompt_at_once(&of_model(messages, system))?)
}

/// Returns `messages` in the type of chat templates, with the instructions `system` before their own.
pub fn of_model(messages: Vec<prompt::Message>, system: Option<&str>) -> Vec<Message> {
    with_system(system, messages)
        .iter()
        .map(|message| Message::new(message.role.as_str(), message.content.as_str()))
        .collect()
}

/// Runs two forward passes that count in no figure, over `prompt` and over one token, so that weights are paged in, threads started and a GPU's
/// kernels loaded. Waits for the logits, so that no pass is still running when the first answer begins, and empties the sequence.
///
/// # Errors
///
/// [`ModelError`], where the model does not work: its logits are not finite, or its chat template writes no prompt.
pub fn first_passes(model: &mut LoadedModel, prompt: &[u32]) -> Result<(), ModelError> {
    let model = model.model.as_mut();
    model.reset();
    let fitting = prompt.len().min(model.max_positions());
    let mut logits = Vec::new();
    logits_to_host(&model.append(&prompt[..fitting])?, &mut logits)?;
    if fitting < model.max_positions() {
        logits_to_host(&model.append(&prompt[..1])?, &mut logits)?;
    }
    model.reset();
    Ok(())
}

/// Tokens that a model has read, and its state after them.
pub type PrefixCache = (Vec<u32>, Snapshot);

/// Has `model` read the common prefix of all `prompts`, and keeps its state there for all prompts that begin so. Returns `None` where there is
/// no common prefix, or where it leaves no room in the model's context.
///
/// # Errors
///
/// [`CommandError`], where the model fails.
pub fn read_common_prefix(model: &mut LoadedModel, prompts: &[Vec<u32>]) -> Result<Option<PrefixCache>, CommandError> {
    model.model.reset();
    let prefix = common_prefix(prompts);
    if prefix.is_empty() || prefix.len() >= model.model.max_positions() {
        return Ok(None);
    }
    let mut logits = Vec::new();
    logits_to_host(&model.model.append(prefix)?, &mut logits)?;
    Ok(Some((prefix.to_vec(), model.model.snapshot())))
}

/// Returns the common prefix of all prompts; empty where there is no prompt.
fn common_prefix(prompts: &[Vec<u32>]) -> &[u32] {
    let Some((first, others)) = prompts.split_first() else {
        return &[];
    };
    let shared = |other: &Vec<u32>| first.iter().zip(other).take_while(|(one, other)| one == other).count();
    let length = others.iter().map(shared).min().unwrap_or(first.len());
    &first[..length]
}

/// Returns `messages` with the instructions `system` before their own.
pub fn with_system(system: Option<&str>, mut messages: Vec<prompt::Message>) -> Vec<prompt::Message> {
    let Some(system) = system else {
        return messages;
    };
    match messages.first_mut().filter(|first| first.role == prompt::Role::System) {
        Some(first) => first.content = format!("{system}\n\n{}", first.content),
        None => messages.insert(0, prompt::Message::new(prompt::Role::System, system)),
    }
    messages
}

#[cfg(test)]
mod tests {
    use maskwright_suites::prompt::{Message, Role};

    use super::{common_prefix, with_system};

    #[test]
    fn all_prompts_begin_with_the_common_prefix() {
        let prompts = [vec![1, 2, 3, 4], vec![1, 2, 3, 5], vec![1, 2, 9]];
        assert_eq!(common_prefix(&prompts), [1, 2]);
        assert_eq!(common_prefix(&prompts[..1]), prompts[0]);
        assert_eq!(common_prefix(&[vec![1], vec![2]]), [0; 0]);
        assert_eq!(common_prefix(&[]), [0; 0]);
    }

    #[test]
    fn instructions_come_before_those_of_the_prompt() {
        let own = Message::new(Role::System, "own");
        let question = Message::new(Role::User, "question");
        let messages = vec![own, question.clone()];
        assert_eq!(with_system(None, messages.clone()), messages);
        let joined = with_system(Some("given"), messages);
        assert_eq!(joined, [Message::new(Role::System, "given\n\nown"), question.clone()]);
        let added = with_system(Some("given"), vec![question.clone()]);
        assert_eq!(added, [Message::new(Role::System, "given"), question]);
    }
}
