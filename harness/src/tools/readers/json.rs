//! Reader of calls that are JSON objects with `name` and `arguments` or `parameters`.

use maskwright_suites::tool_calls::Call;
use serde_json::Value;

use super::{Cursor, call};

/// Reads all objects that are calls, anywhere in the text. An object that does not begin with a name is text, and so is a brace without an object.
pub(super) fn anywhere(text: &str) -> Result<Vec<Call>, String> {
    let mut calls = Vec::new();
    let mut cursor = Cursor::new(text);
    while let Some(at) = cursor.rest.find('{') {
        cursor.rest = &cursor.rest[at..];
        match begins_call(cursor.rest) {
            true => calls.push(next(&mut cursor)?),
            false => cursor.rest = &cursor.rest[1..],
        }
    }
    Ok(calls)
}

/// Whether an object begins as a call does: with its name, or with its type.
fn begins_call(text: &str) -> bool {
    let inner = text.strip_prefix('{').unwrap_or_default().trim_start();
    let is_function = |rest: &str| {
        let value = rest.trim_start().strip_prefix(':');
        value.is_some_and(|value| value.trim_start().starts_with("\"function\""))
    };
    inner.starts_with("\"name\"") || inner.strip_prefix("\"type\"").is_some_and(is_function)
}

/// Reads a call between each pair of marks.
pub(super) fn between(text: &str, open: &str, close: &str) -> Result<Vec<Call>, String> {
    let mut calls = Vec::new();
    let mut cursor = Cursor::new(text);
    while cursor.past(open).is_some() {
        calls.push(next(&mut cursor)?);
        cursor.end(close)?;
    }
    Ok(calls)
}

/// Reads lists of calls, each after a mark.
pub(super) fn list(text: &str, mark: &str) -> Result<Vec<Call>, String> {
    let mut calls = Vec::new();
    let mut cursor = Cursor::new(text);
    while cursor.past(mark).is_some() {
        let (value, repeated) = cursor.json()?;
        let Value::Array(items) = value else {
            return Err(format!("no list behind {mark}"));
        };
        for item in items {
            calls.push(of_value(item, repeated.clone())?);
        }
    }
    Ok(calls)
}

fn next(cursor: &mut Cursor<'_>) -> Result<Call, String> {
    let (value, repeated) = cursor.json()?;
    of_value(value, repeated)
}

fn of_value(mut value: Value, repeated: Option<String>) -> Result<Call, String> {
    let arguments = ["arguments", "parameters"]
        .into_iter()
        .find_map(|member| value.get_mut(member).map(Value::take));
    match (value["name"].as_str(), arguments) {
        (Some(name), Some(arguments)) => call(name, arguments, repeated),
        _ => Err(format!("no call with `name` and `arguments`: {value}")),
    }
}
