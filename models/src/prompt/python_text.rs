//! Values as Python writes them: `str(x)` and `json.dumps(x)`, which templates were written for.

use std::fmt::Write;

use minijinja::value::{Value, ValueKind};
use minijinja::{Error, ErrorKind};

/// Deepest nesting that is written.
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

/// `json.dumps(value, indent=…, separators=…, sort_keys=…, ensure_ascii=…)`.
pub(crate) fn python_json(
    value: &Value,
    indent: Option<usize>,
    separators: (&str, &str),
    sort_keys: bool,
    ensure_ascii: bool,
) -> Result<String, Error> {
    let mut writer = JsonWriter {
        indent,
        separators,
        sort_keys,
        ensure_ascii,
        out: String::new(),
    };
    writer.value(value, 0)?;
    Ok(writer.out)
}

struct JsonWriter<'a> {
    indent: Option<usize>,
    /// Between items, and between a key and its value.
    separators: (&'a str, &'a str),
    sort_keys: bool,
    ensure_ascii: bool,
    out: String,
}

impl JsonWriter<'_> {
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        if depth > DEEPEST {
            return Err(Error::new(ErrorKind::InvalidOperation, "tojson: nested too deep"));
        }
        match value.kind() {
            ValueKind::None => self.out.push_str("null"),
            ValueKind::Bool => self.out.push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::Number => self.out.push_str(&value.to_string()),
            ValueKind::String => self.string(value.as_str().unwrap_or_default()),
            ValueKind::Map => {
                let mut keys: Vec<Value> = value.try_iter()?.collect();
                if self.sort_keys {
                    keys.sort_by_key(python_str);
                }
                self.items('{', '}', depth, keys.len(), |writer, index| {
                    let key = &keys[index];
                    writer.string(&python_str(key));
                    writer.out.push_str(writer.separators.1);
                    writer.value(&value.get_item(key)?, depth + 1)
                })?;
            }
            _ if is_list(value) => {
                let items: Vec<Value> = value.try_iter()?.collect();
                self.items('[', ']', depth, items.len(), |writer, index| {
                    writer.value(&items[index], depth + 1)
                })?;
            }
            kind => {
                let message = format!("tojson: {kind} cannot be written as JSON");
                return Err(Error::new(ErrorKind::InvalidOperation, message));
            }
        }
        Ok(())
    }

    fn items(
        &mut self,
        open: char,
        close: char,
        depth: usize,
        count: usize,
        mut item: impl FnMut(&mut Self, usize) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.out.push(open);
        for index in 0..count {
            if index > 0 {
                self.out.push_str(self.separators.0);
            }
            self.new_line(depth + 1);
            item(self, index)?;
        }
        if count > 0 {
            self.new_line(depth);
        }
        self.out.push(close);
        Ok(())
    }

    fn new_line(&mut self, depth: usize) {
        if let Some(indent) = self.indent {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n(' ', indent.min(64) * depth));
        }
    }

    fn string(&mut self, text: &str) {
        self.out.push('"');
        for character in text.chars() {
            match character {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                '\u{8}' => self.out.push_str("\\b"),
                '\u{c}' => self.out.push_str("\\f"),
                _ if character < ' ' || self.ensure_ascii && !character.is_ascii() => {
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        // Writing to a string does not fail.
                        let _ = write!(self.out, "\\u{unit:04x}");
                    }
                }
                _ => self.out.push(character),
            }
        }
        self.out.push('"');
    }
}

/// Whether a value is a list or something that can be walked like one.
fn is_list(value: &Value) -> bool {
    matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable)
}
