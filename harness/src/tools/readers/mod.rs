//! [`read_calls`]: the calls in a reply, in the formats in which families of models call tools.
//!
//! The readers are independent of the structural tags that constrain replies, and as tolerant as parsers of servers: space between the parts of
//! a call is free, text outside of calls is skipped, and the last mark of a reply may be missing.

mod json;
mod marked;
mod parameters;

use maskwright_serving::tools::ToolFormat;
use maskwright_suites::tool_calls::{Call, ToolRequest};
use serde_json::Value;

/// Reads the calls in the text of a reply, with special tokens by their names, in a format.
///
/// # Errors
///
/// A message, where a call that has begun is not well-formed.
pub(super) fn read_calls(format: ToolFormat, request: &ToolRequest, text: &str) -> Result<Vec<Call>, String> {
    match format {
        ToolFormat::Json => json::anywhere(text),
        ToolFormat::Hermes => json::between(text, "<tool_call>", "</tool_call>"),
        ToolFormat::Mistral => json::list(text, "[TOOL_CALLS]"),
        ToolFormat::DeepSeek => marked::deepseek(text, "function<｜tool▁sep｜>", "\n```json", "```"),
        ToolFormat::DeepSeekV31 => marked::deepseek(text, "", "<｜tool▁sep｜>", ""),
        ToolFormat::Harmony => marked::harmony(text),
        ToolFormat::QwenXml => parameters::read(&parameters::QWEN, request, text),
        ToolFormat::Glm => parameters::read(&parameters::GLM, request, text),
        ToolFormat::MiniMax => parameters::read(&parameters::MINIMAX, request, text),
        ToolFormat::DeepSeekV32 => parameters::read(&parameters::DEEPSEEK, request, text),
        other => Err(format!("calls in the format {other:?} are not read")),
    }
}

/// A reader's position in a text: the part not read yet.
#[derive(Clone, Copy)]
struct Cursor<'t> {
    rest: &'t str,
}

impl<'t> Cursor<'t> {
    fn new(rest: &'t str) -> Self {
        Self { rest }
    }

    /// Moves past the next `mark`, and returns the text before it; stays in place and returns `None` where there is no mark.
    fn past(&mut self, mark: &str) -> Option<&'t str> {
        let (before, rest) = self.rest.split_once(mark)?;
        self.rest = rest;
        Some(before)
    }

    /// Moves past `mark` where the text goes on with it. Returns whether it does.
    fn take(&mut self, mark: &str) -> bool {
        let rest = self.rest.strip_prefix(mark);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// Moves past `mark`, which must be next except for whitespace. The end of the text is accepted in its place.
    fn end(&mut self, mark: &str) -> Result<(), String> {
        self.skip_space();
        match self.rest.is_empty() || self.take(mark) {
            true => Ok(()),
            false => Err(format!("{mark} is missing before {:?}", self.ahead())),
        }
    }

    /// Returns the next characters, for errors.
    fn ahead(&self) -> String {
        self.rest.chars().take(40).collect()
    }

    /// Moves past the next JSON value, and returns it with a key that one of its objects has twice, where there is one.
    fn json(&mut self) -> Result<(Value, Option<String>), String> {
        self.skip_space();
        let mut values = serde_json::Deserializer::from_str(self.rest).into_iter::<&serde_json::value::RawValue>();
        let text = match values.next() {
            Some(Ok(value)) => value.get(),
            Some(Err(error)) => return Err(format!("no JSON at {:?}: {error}", self.ahead())),
            None => return Err("JSON is missing at the end".to_owned()),
        };
        self.rest = &self.rest[values.byte_offset()..];
        let read = maskwright_suites::strict_json::parse(text, maskwright_suites::validate::MAX_DEPTH);
        let document = read.map_err(|error| error.to_string())?;
        Ok((document.value, document.duplicates.into_iter().next()))
    }
}

/// Makes a call of a name and arguments, which must be an object.
fn call(name: &str, arguments: Value, repeated: Option<String>) -> Result<Call, String> {
    match arguments {
        Value::Object(arguments) => Ok(Call {
            name: name.to_owned(),
            arguments,
            repeated,
        }),
        other => Err(format!("{name}: arguments that are no object: {other}")),
    }
}
