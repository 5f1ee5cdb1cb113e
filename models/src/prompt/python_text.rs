//! Values as Python has them, for which chat templates were written: `str(x)`, and `x` as JSON.

use maskwright_json_text::python_number;
use minijinja::value::{Value, ValueKind};
use minijinja::{Error, ErrorKind};
use serde_json::{Map, Number, Value as Json};

/// Levels of lists and maps that are written; templates are untrusted, and each level takes stack.
const DEEPEST: usize = 128;

/// `str(value)`.
pub(crate) fn python_str(value: &Value) -> String {
    match value.as_str() {
        Some(text) => text.to_owned(),
        None => {
            let mut out = String::new();
            write_repr(value, 0, &mut out);
            out
        }
    }
}

/// Appends `repr(value)`.
fn write_repr(value: &Value, depth: usize, out: &mut String) {
    let items = |out: &mut String| {
        value
            .try_iter()
            .into_iter()
            .flatten()
            .enumerate()
            .for_each(|(index, item)| {
                if index > 0 {
                    out.push_str(", ");
                }
                write_repr(&item, depth + 1, out);
                if value.kind() == ValueKind::Map {
                    out.push_str(": ");
                    write_repr(&value.get_item(&item).unwrap_or_default(), depth + 1, out);
                }
            })
    };
    match value.kind() {
        _ if depth > DEEPEST => out.push('…'),
        ValueKind::None => out.push_str("None"),
        ValueKind::Bool => out.push_str(if value.is_true() { "True" } else { "False" }),
        ValueKind::String => write_quoted(value.as_str().unwrap_or_default(), out),
        ValueKind::Map => {
            out.push('{');
            items(out);
            out.push('}');
        }
        _ if is_list(value) => {
            out.push('[');
            items(out);
            out.push(']');
        }
        ValueKind::Undefined => {}
        ValueKind::Number => out.push_str(&python_number(&value.to_string())),
        _ => out.push_str(&value.to_string()),
    }
}

fn write_quoted(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    out.push(quote);
    for character in text.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            _ if character == quote => out.extend(['\\', quote]),
            _ => out.push(character),
        }
    }
    out.push(quote);
}

/// `value` as JSON, for the filter `tojson`: the keys of objects become strings, and with `sort_keys` are in order.
///
/// # Errors
///
/// A value that has no JSON, or is nested deeper than 128 levels.
pub(crate) fn to_json_value(value: &Value, sort_keys: bool) -> Result<Json, Error> {
    json_at_depth(value, sort_keys, 0)
}

/// The JSON of a value that `depth` lists and maps stand around.
fn json_at_depth(value: &Value, sort_keys: bool, depth: usize) -> Result<Json, Error> {
    let failed = |reason: String| Error::new(ErrorKind::InvalidOperation, format!("tojson: {reason}"));
    if depth > DEEPEST {
        return Err(failed("nested too deep".to_owned()));
    }
    let inner = |value: &Value| json_at_depth(value, sort_keys, depth + 1);
    match value.kind() {
        ValueKind::None => Ok(Json::Null),
        ValueKind::Bool => Ok(value.is_true().into()),
        ValueKind::Number => {
            let number = value.to_string().parse::<Number>();
            number
                .map(Json::Number)
                .map_err(|_| failed(format!("{value} is no number of JSON")))
        }
        ValueKind::String => Ok(value.as_str().unwrap_or_default().into()),
        ValueKind::Map => {
            let members = value.try_iter()?.map(|key| {
                let member = value.get_item(&key)?;
                Ok((python_str(&key), inner(&member)?))
            });
            let mut members = members.collect::<Result<Map<_, _>, Error>>()?;
            if sort_keys {
                members.sort_keys();
            }
            Ok(Json::Object(members))
        }
        _ if is_list(value) => value.try_iter()?.map(|item| inner(&item)).collect(),
        kind => Err(failed(format!("{kind} cannot be written as JSON"))),
    }
}

/// Whether a value is a list or something that can be walked like one.
fn is_list(value: &Value) -> bool {
    matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable)
}
