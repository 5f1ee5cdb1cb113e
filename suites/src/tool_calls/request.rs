//! [`ToolRequest`]: the messages to a model, the functions that it may call, and the right calls.

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::prompt::Message;
use crate::validate::Validator;

/// A named set of requests.
#[derive(Clone, Debug)]
pub struct RequestSet {
    /// Name in records and tables: the file's name without its extension.
    pub name: String,
    /// The requests.
    pub requests: Vec<ToolRequest>,
}

/// A request with the functions that may be called.
#[derive(Clone, Debug)]
pub struct ToolRequest {
    /// The request's name in the set.
    pub id: String,
    /// Messages to the model.
    pub messages: Vec<Message>,
    /// The functions.
    pub functions: Vec<ToolFunction>,
    /// The right calls, in any order; empty where no call is right.
    pub expected: Vec<ExpectedCall>,
}

/// A function that a model may call.
#[derive(Clone, Debug)]
pub struct ToolFunction {
    /// The name, unique among the functions of the request.
    pub name: String,
    /// Description of its purpose.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub parameters: Value,
    /// The validator of the arguments against [`Self::parameters`].
    pub(super) validator: Validator,
}

/// A call that is right.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedCall {
    /// The function's name.
    pub name: String,
    /// The accepted values of each argument. An empty string among them marks the argument as optional.
    pub arguments: Map<String, Value>,
}

impl ToolRequest {
    /// Returns the functions in the form of `tools` in OpenAI's chat completions.
    #[must_use]
    pub fn tools(&self) -> Value {
        let tools = self.functions.iter().map(|function| {
            let (name, description, parameters) = (&function.name, &function.description, &function.parameters);
            json!({"type": "function", "function": {"name": name, "description": description, "parameters": parameters}})
        });
        tools.collect()
    }

    /// Returns the function with a name.
    pub(super) fn function(&self, name: &str) -> Option<&ToolFunction> {
        self.functions.iter().find(|function| function.name == name)
    }
}

impl RequestSet {
    /// Returns the SHA-256 of all requests and right calls: sets with equal hashes ask the same.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut hash = Sha256::new();
        let mut add = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        };
        for request in &self.requests {
            add(&request.id);
            for message in &request.messages {
                add(message.role.as_str());
                add(&message.content);
            }
            add(&request.tools().to_string());
            for call in &request.expected {
                add(&call.name);
                add(&Value::Object(call.arguments.clone()).to_string());
            }
            // Marks the end of a request.
            add("");
        }
        hex::encode(hash.finalize())
    }
}
