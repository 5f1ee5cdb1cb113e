//! The prompt: a system instruction, demonstrations, and the schema to answer.
//!
//! The form is that of JSONSchemaBench (section 4 of the paper): every demonstration is a user message with a schema
//! and an assistant message with an instance, and the last user message holds the schema to answer. The training
//! dialogues of the default model use the same functions.

use serde::{Deserialize, Serialize};

/// The system instruction of every benchmark prompt.
pub const SYSTEM: &str = "You need to generate a JSON object that matches the schema below.";

/// The speaker of a [`Message`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The instruction.
    System,
    /// A schema.
    User,
    /// An instance.
    Assistant,
}

impl Role {
    /// The name that chat templates use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// One message of a dialogue, as chat templates take it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The speaker.
    pub role: Role,
    /// The text, without any template markup.
    pub content: String,
}

impl Message {
    /// A message of `role`.
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Self {
            role,
            content: content.into(),
        }
    }
}

/// A demonstration: the text of a schema, and that of an instance.
pub type Shot<'a> = (&'a str, &'a str);

/// The two demonstrations of a benchmark prompt, in [`crate::json_text`] style.
pub const DEFAULT_SHOTS: [Shot<'static>; 2] = [
    (
        concat!(
            r#"{"type": "object", "properties": {"title": {"type": "string"}, "year": {"type": "integer", "#,
            r#""minimum": 1900}, "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1}}, "#,
            r#""required": ["title", "year"]}"#
        ),
        r#"{"title": "Green valley", "year": 1984, "tags": ["novel", "travel"]}"#,
    ),
    (
        concat!(
            r#"{"type": "object", "properties": {"status": {"enum": ["open", "closed"]}, "owner": {"type": "#,
            r#""object", "properties": {"email": {"type": "string", "format": "email"}, "active": {"type": "#,
            r#""boolean"}}, "required": ["email"]}}, "required": ["status", "owner"], "#,
            r#""additionalProperties": false}"#
        ),
        r#"{"status": "open", "owner": {"email": "ada@example.com", "active": true}}"#,
    ),
];

/// The user message that asks for an instance of `schema_text`.
#[must_use]
pub fn request(schema_text: &str) -> String {
    format!("## Input Schema:\n{schema_text}\n## Expected Output:")
}

/// The messages of a benchmark prompt: [`SYSTEM`], the demonstrations in order, and the request for `schema_text`.
#[must_use]
pub fn messages(schema_text: &str, shots: &[Shot<'_>]) -> Vec<Message> {
    messages_with_system(SYSTEM, schema_text, shots)
}

/// Like [`messages`], with another instruction.
#[must_use]
pub fn messages_with_system(system: &str, schema_text: &str, shots: &[Shot<'_>]) -> Vec<Message> {
    let mut messages = Vec::with_capacity(2 + 2 * shots.len());
    messages.push(Message::new(Role::System, system));
    for (schema, instance) in shots {
        messages.push(Message::new(Role::User, request(schema)));
        messages.push(Message::new(Role::Assistant, *instance));
    }
    messages.push(Message::new(Role::User, request(schema_text)));
    messages
}

#[cfg(test)]
mod tests {
    use super::{DEFAULT_SHOTS, Role, messages};
    use crate::json_text;

    #[test]
    fn demonstrations_are_valid_and_in_the_common_style() {
        for (schema, instance) in DEFAULT_SHOTS {
            let schema_value: serde_json::Value = serde_json::from_str(schema).unwrap();
            let instance_value: serde_json::Value = serde_json::from_str(instance).unwrap();
            assert_eq!(json_text::to_string(&schema_value).unwrap(), schema);
            assert_eq!(json_text::to_string(&instance_value).unwrap(), instance);
            let validator = jsonschema::options()
                .should_validate_formats(true)
                .build(&schema_value)
                .unwrap();
            assert!(validator.is_valid(&instance_value));
        }
    }

    #[test]
    fn roles_alternate_and_the_request_is_last() {
        let all = messages("{}", &DEFAULT_SHOTS);
        let roles: Vec<Role> = all.iter().map(|m| m.role).collect();
        assert_eq!(
            roles,
            [
                Role::System,
                Role::User,
                Role::Assistant,
                Role::User,
                Role::Assistant,
                Role::User
            ]
        );
        assert_eq!(all[5].content, "## Input Schema:\n{}\n## Expected Output:");
    }
}
