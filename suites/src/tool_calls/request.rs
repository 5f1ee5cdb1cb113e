//! [`ToolRequest`]: what a model is asked, the functions that it may call, and the calls that are right.

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::prompt::Message;
use crate::validate::Validator;

/// Requests that are asked together.
#[derive(Clone, Debug)]
pub struct RequestSet {
    /// Name in records and tables: that of the file, without its extension.
    pub name: String,
    /// The requests.
    pub requests: Vec<ToolRequest>,
}

/// A request with the functions that may be called.
#[derive(Clone, Debug)]
pub struct ToolRequest {
    /// Its name in the set.
    pub id: String,
    /// Messages to the model.
    pub messages: Vec<Message>,
    /// The functions.
    pub functions: Vec<ToolFunction>,
    /// The calls that are right, in any order; none where no call is.
    pub expected: Vec<ExpectedCall>,
}

/// A function that a model may call.
#[derive(Clone, Debug)]
pub struct ToolFunction {
    /// The name, unlike that of every other function of the request.
    pub name: String,
    /// Description of its purpose.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub parameters: Value,
    /// The judge of its arguments.
    pub(super) validator: Validator,
}

/// A call that is right.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedCall {
    /// The function's name.
    pub name: String,
    /// The accepted values of each argument. An empty string among them says that the argument may be left out.
    pub arguments: Map<String, Value>,
}

impl ToolRequest {
    /// The functions as `tools` of OpenAI's chat completions has them.
    #[must_use]
    pub fn tools(&self) -> Value {
        let tools = self.functions.iter().map(|function| {
            let (name, description, parameters) = (&function.name, &function.description, &function.parameters);
            json!({"type": "function", "function": {"name": name, "description": description, "parameters": parameters}})
        });
        tools.collect()
    }

    /// The function of a name.
    pub(super) fn function(&self, name: &str) -> Option<&ToolFunction> {
        self.functions.iter().find(|function| function.name == name)
    }
}

impl RequestSet {
    /// SHA-256 of everything that is asked and expected: sets with the same hash ask the same.
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
            // Where a request ends.
            add("");
        }
        hex::encode(hash.finalize())
    }
}
