//! Reader of calls whose arguments are parameters between marks, as in XML.

use maskwright_suites::tool_calls::{Call, ToolRequest};
use serde_json::{Map, Value};

use super::Cursor;

/// Marks of a model family around the parts of a call.
pub(super) struct Marks {
    /// Mark at the beginning of a call, or of the section of all calls where there is one.
    open: &'static str,
    /// Whether [`Self::open`] stands before each call, not before a section of several.
    opens_each: bool,
    /// Marks before and behind the name.
    name: [&'static str; 2],
    /// Marks before and behind a parameter's name.
    parameter: [&'static str; 2],
    /// Marks between a parameter's name and its value that give the value's type: the mark of strings, and that of other values.
    kinds: Option<[&'static str; 2]>,
    /// Marks before and behind a value.
    value: [&'static str; 2],
    /// Whether a line break at either end of a value belongs to the marks.
    breaks_around_values: bool,
    /// Mark at the end of a call.
    end: &'static str,
}

pub(super) const QWEN: Marks = Marks {
    open: "<tool_call>",
    opens_each: true,
    name: ["<function=", ">"],
    parameter: ["<parameter=", ">"],
    kinds: None,
    value: ["", "</parameter>"],
    breaks_around_values: true,
    end: "</function>",
};

pub(super) const GLM: Marks = Marks {
    open: "<tool_call>",
    opens_each: true,
    // The name ends where the first parameter or the end of the call begins.
    name: ["", ""],
    parameter: ["<arg_key>", "</arg_key>"],
    kinds: None,
    value: ["<arg_value>", "</arg_value>"],
    breaks_around_values: false,
    end: "</tool_call>",
};

pub(super) const MINIMAX: Marks = Marks {
    open: "<minimax:tool_call>",
    opens_each: false,
    name: ["<invoke name=\"", "\">"],
    parameter: ["<parameter name=\"", "\">"],
    kinds: None,
    value: ["", "</parameter>"],
    breaks_around_values: false,
    end: "</invoke>",
};

pub(super) const DEEPSEEK: Marks = Marks {
    open: "<｜DSML｜function_calls>",
    opens_each: false,
    name: ["<｜DSML｜invoke name=\"", "\">"],
    parameter: ["<｜DSML｜parameter name=\"", "\""],
    kinds: Some([" string=\"true\">", " string=\"false\">"]),
    value: ["", "</｜DSML｜parameter>"],
    breaks_around_values: false,
    end: "</｜DSML｜invoke>",
};

/// Reads the calls in a text.
pub(super) fn read(marks: &Marks, request: &ToolRequest, text: &str) -> Result<Vec<Call>, String> {
    let mut calls = Vec::new();
    let mut cursor = Cursor::new(text);
    while cursor.past(marks.open).is_some() {
        loop {
            cursor.skip_space();
            // Anything but a call after the mark is text.
            if !cursor.take(marks.name[0]) {
                break;
            }
            calls.push(one(marks, request, &mut cursor)?);
            if marks.opens_each {
                break;
            }
        }
    }
    Ok(calls)
}

fn one(marks: &Marks, request: &ToolRequest, cursor: &mut Cursor<'_>) -> Result<Call, String> {
    let name = match marks.name[1] {
        "" => {
            let end = cursor.rest.find('<').ok_or("a call without an end")?;
            let (name, rest) = cursor.rest.split_at(end);
            cursor.rest = rest;
            name
        }
        behind => cursor.past(behind).ok_or("a name without an end")?,
    };
    let name = name.trim();
    let (mut arguments, mut repeated) = (Map::new(), None);
    loop {
        cursor.skip_space();
        if cursor.take(marks.end) {
            break;
        }
        if !cursor.take(marks.parameter[0]) {
            return Err(format!("{} is missing before {:?}", marks.end, cursor.ahead()));
        }
        let key = cursor.past(marks.parameter[1]).ok_or("a parameter without a value")?;
        let is_text = match marks.kinds {
            None => None,
            Some([text, other]) => match (cursor.take(text), cursor.take(other)) {
                (true, _) => Some(true),
                (_, true) => Some(false),
                _ => return Err(format!("`string` is missing before {:?}", cursor.ahead())),
            },
        };
        if !marks.value[0].is_empty() {
            cursor.skip_space();
            if !cursor.take(marks.value[0]) {
                return Err(format!("{} is missing before {:?}", marks.value[0], cursor.ahead()));
            }
        }
        let written = cursor.past(marks.value[1]).ok_or("a value without an end")?;
        let written = match marks.breaks_around_values {
            true => {
                let behind = written.strip_prefix('\n').unwrap_or(written);
                behind.strip_suffix('\n').unwrap_or(behind)
            }
            false => written,
        };
        let is_text = is_text.unwrap_or_else(|| takes_texts_alone(request, name, key));
        let (value, twice) = value(written, is_text)?;
        repeated = repeated.or(twice);
        if arguments.insert(key.to_owned(), value).is_some() {
            repeated = Some(key.to_owned());
        }
    }
    Ok(Call {
        name: name.to_owned(),
        arguments,
        repeated,
    })
}

/// Reads a parameter's value: strings as they are written, other values as JSON, or as strings where they are no JSON.
fn value(written: &str, is_text: bool) -> Result<(Value, Option<String>), String> {
    let text = || Value::String(written.to_owned());
    if is_text {
        return Ok((text(), None));
    }
    let mut cursor = Cursor::new(written);
    match cursor.json() {
        Ok(read) if cursor.rest.trim().is_empty() => Ok(read),
        _ => Ok((text(), None)),
    }
}

/// Whether the schema of a parameter allows strings only, as far as its `type`, `enum` and `const` tell.
fn takes_texts_alone(request: &ToolRequest, function: &str, parameter: &str) -> bool {
    let function = request.functions.iter().find(|known| known.name == function);
    let Some(schema) = function.map(|function| &function.parameters["properties"][parameter]) else {
        return false;
    };
    let are_texts = |values: &Value| {
        values
            .as_array()
            .is_some_and(|values| values.iter().all(Value::is_string))
    };
    schema["type"] == "string" || schema["const"].is_string() || are_texts(&schema["enum"])
}
