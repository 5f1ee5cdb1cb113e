//! The prompts of the benchmark: the words that ask for an instance of a schema, and their tokens.

use maskwright_models::{LoadedModel, Message, ModelError};
use maskwright_suites::{json_text, prompt};

/// The prompt that asks for an instance of `schema`, the schema on one line, after so many demonstrations.
pub fn messages(schema: &str, shots: usize) -> Vec<prompt::Message> {
    let one_line = serde_json::from_str::<serde_json::Value>(schema)
        .ok()
        .and_then(|value| json_text::to_string(&value).ok());
    let schema = one_line.as_deref().unwrap_or(schema);
    prompt::messages(schema, &prompt::DEFAULT_SHOTS[..shots])
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
