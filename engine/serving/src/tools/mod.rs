//! [`structural_tag`]: the calls of tools by a family of models, as a structural tag.
//!
//! Tools and the choice among them are given as in OpenAI's chat completions; the result is JSON for
//! [`SchemaCompiler::structural_tag`](crate::SchemaCompiler::structural_tag). A reply is then free text with calls in the family's own format,
//! whose arguments are valid, or calls alone where a call is required.

mod families;

use serde_json::{Value, json};

pub use families::ToolFormat;

/// The choice among tools, as `tool_choice` of OpenAI's chat completions makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolChoice {
    /// Any number of calls, also none.
    Auto,
    /// At least one call.
    Required,
    /// No call: text in which none begins.
    None,
    /// One call of the tool of this name.
    Function(String),
}

/// The reason for which tools do not make a structural tag.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// The list of tools, or the choice, is not as OpenAI's chat completions have it.
    #[error("{pointer}: {message}")]
    Malformed {
        /// JSON Pointer into the list of tools, or into the choice.
        pointer: String,
        /// The kind of value that is needed there.
        message: &'static str,
    },
    /// The tool that is chosen is not in the list.
    #[error("no tool is called {0:?}")]
    UnknownTool(String),
    /// A call is required, and there is no tool.
    #[error("a call is required, and there is no tool to call")]
    NoTool,
}

impl ToolChoice {
    /// Reads the JSON of `tool_choice`: `"auto"` or null, `"required"`, `"none"`, or `{"type": "function", "function": {"name": …}}`.
    ///
    /// # Errors
    ///
    /// [`ToolError::Malformed`], where it is none of these.
    pub fn from_json(choice: &Value) -> Result<Self, ToolError> {
        match choice {
            Value::Null => Ok(Self::Auto),
            Value::String(word) => match &word[..] {
                "auto" => Ok(Self::Auto),
                "required" => Ok(Self::Required),
                "none" => Ok(Self::None),
                _ => Err(malformed("", "one of `auto`, `required` and `none` is needed")),
            },
            choice => match choice.pointer("/function/name").and_then(Value::as_str) {
                Some(name) => Ok(Self::Function(name.to_owned())),
                None => Err(malformed("", "a word, or an object with `function.name`, is needed")),
            },
        }
    }
}

/// A function that a model may call.
#[derive(Debug)]
pub(crate) struct Tool<'t> {
    name: &'t str,
    /// The schema of the tool's arguments, which allows objects alone.
    parameters: Value,
    /// The schema as the caller gave it.
    given: Value,
}

/// The structural tag of replies that may call tools.
///
/// `tools` is OpenAI's list of `{"type": "function", "function": {"name": …, "parameters": SCHEMA}}`. A function with `"strict": false`, or
/// without parameters, takes any object; arguments are objects, whatever else a schema allows. `parallel` says whether there may be several calls.
///
/// # Errors
///
/// [`ToolError::Malformed`], with the place, where `tools` is no list of functions with plain names and parameters that may be
/// objects; [`ToolError::UnknownTool`] and [`ToolError::NoTool`], where the choice needs a tool that is not there. Schemas are
/// not looked into.
pub fn structural_tag(
    format: ToolFormat,
    tools: &Value,
    choice: &ToolChoice,
    parallel: bool,
) -> Result<Value, ToolError> {
    let list = match tools {
        Value::Null => &[][..],
        Value::Array(list) => list,
        _ => return Err(malformed("", "a list of tools is needed")),
    };
    let all = list.iter().enumerate().map(|(number, tool)| read(number, tool));
    let mut tools = all.collect::<Result<Vec<Tool<'_>>, _>>()?;
    let calls = match choice {
        ToolChoice::None => return Ok(tag(format.text_alone())),
        ToolChoice::Auto if tools.is_empty() => return Ok(tag(json!({"type": "any_text"}))),
        ToolChoice::Auto => families::Calls {
            required: false,
            several: parallel,
        },
        ToolChoice::Required => families::Calls {
            required: true,
            several: parallel,
        },
        ToolChoice::Function(name) => {
            tools.retain(|tool| tool.name == name);
            if tools.is_empty() {
                return Err(ToolError::UnknownTool(name.clone()));
            }
            families::Calls {
                required: true,
                several: false,
            }
        }
    };
    match tools.is_empty() {
        true => Err(ToolError::NoTool),
        false => Ok(tag(format.replies(&tools, calls))),
    }
}

fn tag(format: Value) -> Value {
    json!({"type": "structural_tag", "format": format})
}

fn malformed(pointer: impl Into<String>, message: &'static str) -> ToolError {
    let pointer = pointer.into();
    ToolError::Malformed { pointer, message }
}

fn read(number: usize, tool: &Value) -> Result<Tool<'_>, ToolError> {
    let at = |rest: &str| format!("/{number}{rest}");
    let function = tool
        .get("function")
        .ok_or_else(|| malformed(at(""), "a tool with `function` is needed"))?;
    let name = function.get("name").and_then(Value::as_str);
    let name = name.ok_or_else(|| malformed(at("/function"), "a function with a `name` is needed"))?;
    // The name stands in a string of JSON in most formats, and between marks in the others.
    let is_plain = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    if !is_plain {
        return Err(malformed(
            at("/function/name"),
            "a name of ASCII letters, digits, `_`, `-` and `.` is needed",
        ));
    }
    let is_loose = function.get("strict") == Some(&Value::Bool(false));
    let parameters = function
        .get("parameters")
        .filter(|schema| !is_loose && !schema.is_null());
    let given = parameters.cloned().unwrap_or_else(|| json!({"type": "object"}));
    let parameters = of_objects(&given);
    let parameters = parameters.ok_or_else(|| {
        let message = "a schema that allows objects is needed: arguments are an object";
        malformed(at("/function/parameters"), message)
    })?;
    Ok(Tool {
        name,
        parameters,
        given,
    })
}

/// A schema that allows the objects that another does, and nothing else; none where its `type` excludes objects.
fn of_objects(schema: &Value) -> Option<Value> {
    let Value::Object(members) = schema else {
        return (*schema == Value::Bool(true)).then(|| json!({"type": "object"}));
    };
    let mut members = members.clone();
    match members.get("type") {
        None => {}
        Some(Value::String(name)) if name == "object" => return Some(schema.clone()),
        Some(Value::Array(names)) if names.iter().any(|name| name == "object") => {}
        // The compiler refuses names of no type.
        Some(Value::String(_) | Value::Array(_)) => return None,
        Some(_) => return Some(schema.clone()),
    }
    members.insert("type".to_owned(), json!("object"));
    // In older drafts nothing counts beside `$ref`.
    if let Some(reference) = members.remove("$ref") {
        let all = members.entry("allOf").or_insert_with(|| json!([]));
        if let Value::Array(all) = all {
            all.push(json!({"$ref": reference}));
        }
    }
    Some(Value::Object(members))
}
