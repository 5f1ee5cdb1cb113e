//! JSON texts read by RFC 8259 to the letter, at any depth, with every digit.
//!
//! [`check`] says whether a text is one JSON document, [`parse`] builds its value and lists the names given twice.
//! serde_json's scanner, which does not recurse, does the reading. What it makes of numbers and objects by itself would lose
//! digits and hide names, so that values are built here from the pieces that the scanner finds.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// Error of a text that is not one JSON document, with its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct JsonError {
    /// Offset in bytes from the start of the text.
    pub offset: usize,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The error there: what was expected or found.
    pub message: String,
}

/// A value, and the repeated names that reading it into a map would hide.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The value. Of a name given more than once, the last value is kept.
    pub value: Value,
    /// JSON Pointers to the members whose name had occurred before in the same object; at most
    /// [`MAX_DUPLICATES`] of them.
    pub duplicates: Vec<String>,
}

/// Largest number of repeated names that a [`Document`] lists.
pub const MAX_DUPLICATES: usize = 16;

/// Checks that `text` is exactly one JSON document, nested as deeply as it likes; surrounding whitespace is allowed.
///
/// # Errors
///
/// The first defect, and where it is.
pub fn check(text: &str) -> Result<(), JsonError> {
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => Ok(()),
        Err(error) => Err(syntax(text, text, &error)),
    }
}

/// Reads the one document in `text`, with at most `max_depth` arrays and objects inside one another.
///
/// # Errors
///
/// An error of [`check`], too deep a nesting, or a string with a lone surrogate escape: it stands for no text.
pub fn parse(text: &str, max_depth: usize) -> Result<Document, JsonError> {
    check(text)?;
    if let Some(offset) = deeper_than(max_depth, text) {
        let message = format!("nested more than {max_depth} levels deep");
        return Err(error_at(text, offset, message));
    }
    let mut builder = Builder {
        text,
        pointer: String::new(),
        duplicates: Vec::new(),
    };
    let value = builder.value(text.trim_ascii())?;
    Ok(Document {
        value,
        duplicates: builder.duplicates,
    })
}

/// Escapes a name for use in a JSON Pointer (RFC 6901).
pub fn pointer_token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The members of an object in order, names given twice included, with their values as text.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;

        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(MembersVisitor)
    }
}

/// Builds values from parts of a text that [`check`] has found to be JSON.
struct Builder<'a> {
    text: &'a str,
    /// JSON Pointer to the value that is being built.
    pointer: String,
    duplicates: Vec<String>,
}

impl<'a> Builder<'a> {
    fn value(&mut self, part: &'a str) -> Result<Value, JsonError> {
        match part.as_bytes().first() {
            Some(b'{') => {
                let Members(members) = self.read(part)?;
                let mut object = serde_json::Map::new();
                for (name, value) in members {
                    let length = self.push(&name);
                    if object.contains_key(&name) && self.duplicates.len() < MAX_DUPLICATES {
                        self.duplicates.push(self.pointer.clone());
                    }
                    object.insert(name, self.value(value.get())?);
                    self.pointer.truncate(length);
                }
                Ok(Value::Object(object))
            }
            Some(b'[') => {
                let parts: Vec<&RawValue> = self.read(part)?;
                let mut items = Vec::with_capacity(parts.len());
                for (index, item) in parts.into_iter().enumerate() {
                    let length = self.push(&index.to_string());
                    items.push(self.value(item.get())?);
                    self.pointer.truncate(length);
                }
                Ok(Value::Array(items))
            }
            Some(b'-' | b'0'..=b'9') => self.read(part).map(Value::Number),
            _ => self.read(part),
        }
    }

    fn read<T: Deserialize<'a>>(&self, part: &'a str) -> Result<T, JsonError> {
        serde_json::from_str(part).map_err(|error| syntax(self.text, part, &error))
    }

    /// Lengthens the pointer by a name, and gives its length before.
    fn push(&mut self, name: &str) -> usize {
        let length = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(&pointer_token(name));
        length
    }
}

/// Returns the offset in bytes at which a JSON text opens an array or object inside of `max_depth` others.
fn deeper_than(max_depth: usize, text: &str) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string && depth == max_depth => return Some(at),
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => depth -= 1,
            _ => {}
        }
    }
    None
}

/// An error of serde_json about `part`, as one about the whole text.
fn syntax(text: &str, part: &str, error: &serde_json::Error) -> JsonError {
    let line_start = part.split_inclusive('\n').take(error.line().saturating_sub(1));
    let within = match error.is_eof() {
        // Of what is missing, serde_json names the character before it.
        true => part.len(),
        false => line_start.map(str::len).sum::<usize>() + error.column().saturating_sub(1),
    };
    let message = error.to_string();
    // The place that the message ends with is the one in `part`.
    let message = message
        .rsplit_once(" at line ")
        .map_or(&*message, |(message, _)| message);
    error_at(text, offset_of(text, part) + within.min(part.len()), message.to_owned())
}

/// Returns the offset in bytes of `part`, a slice of `text`, in `text`.
fn offset_of(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

fn error_at(text: &str, offset: usize, message: String) -> JsonError {
    let before = &text.as_bytes()[..offset];
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    // Continuation bytes of UTF-8 start no character.
    let characters = before[line_start..].iter().filter(|&&byte| byte & 0xc0 != 0x80).count();
    JsonError {
        offset,
        line: before.iter().filter(|&&byte| byte == b'\n').count() + 1,
        column: characters + 1,
        message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_of_the_grammar_and_no_others() {
        let good = [
            "0",
            " -0.0e+10\n",
            "\"\"",
            "\"\\u00e9\\/\"",
            "[]",
            "{}",
            "[1,[2],{}]",
            r#"{"a":{"b":[null,true,false]}}"#,
            "\t1e400 ",
        ];
        for text in good {
            assert_eq!(check(text), Ok(()), "{text}");
            // Only serde_json's own limits could tell the two apart here.
            let expected: Value = serde_json::from_str(text).unwrap();
            assert_eq!(parse(text, 8).unwrap().value, expected, "{text}");
        }
        let bad = [
            "",
            "  ",
            "01",
            "1.",
            ".5",
            "+1",
            "1e",
            "-",
            "NaN",
            "tru",
            "[1,]",
            "[,1]",
            "{,}",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{a:1}",
            "[1 2]",
            "[",
            "]",
            "[}",
            "{]",
            "1 2",
            "\"",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"\\u12\"",
            "\"\n\"",
            "'a'",
            "\u{feff}1",
            "// c\n1",
            "{\"a\" 1}",
            "\u{a0}1",
            "[1]]",
        ];
        for text in bad {
            assert!(check(text).is_err(), "{text}");
            assert!(parse(text, 8).is_err(), "{text}");
        }
    }

    #[test]
    fn every_prefix_and_every_deletion_agrees_with_serde_json() {
        let text = r#" {"a\n\u0041é": [1, -2.50e-3, "x\"y", {}], "b": {"c": [[], true, false, null]}, "": 0} "#;
        for (at, _) in text.char_indices() {
            let mut shorter = text.to_owned();
            shorter.remove(at);
            for candidate in [&text[..at], &text[at..], &shorter] {
                let expected = serde_json::from_str::<Value>(candidate).ok();
                assert_eq!(
                    parse(candidate, 8).ok().map(|document| document.value),
                    expected,
                    "{candidate}"
                );
            }
        }
    }

    #[test]
    fn depth_costs_no_stack_and_has_a_limit() {
        let deep = format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
        assert_eq!(check(&deep), Ok(()));
        let error = parse(&deep, 100).unwrap_err();
        assert_eq!(
            (error.offset, error.message.as_str()),
            (100, "nested more than 100 levels deep")
        );
        assert!(parse("[[1]]", 2).is_ok());
        assert!(parse("[[[]]]", 2).is_err());
    }

    #[test]
    fn repeated_names_are_found_where_they_are() {
        let text = r#"{"a": 1, "l": [0, {"x~/y": 1, "x~\u002fy": 2}], "a": 3}"#;
        let document = parse(text, 8).unwrap();
        assert_eq!(document.value, json!({"a": 3, "l": [0, {"x~/y": 2}]}));
        assert_eq!(document.duplicates, ["/l/1/x~0~1y", "/a"]);
        let many = format!("{{{}\"a\":0}}", "\"a\":0,".repeat(100));
        assert_eq!(parse(&many, 8).unwrap().duplicates.len(), MAX_DUPLICATES);
    }

    #[test]
    fn values_keep_what_serde_json_may_lose() {
        let digits = "123456789012345678901234567890.10";
        assert_eq!(parse(digits, 1).unwrap().value.to_string(), digits);
        // serde_json's own marker for numbers is an ordinary name here.
        let marker = r#"{"$serde_json::private::Number":"1"}"#;
        assert!(parse(marker, 1).unwrap().value.is_object());
        assert!(check("\"\\ud800\"").is_ok());
        assert!(parse("\"\\ud800\"", 1).is_err());
    }

    #[test]
    fn errors_say_where() {
        let error = check("{\n \"é\": nul}").unwrap_err();
        assert_eq!((error.line, error.column), (2, 10));
        assert_eq!(error.to_string(), "line 2, column 10: expected ident");
    }
}
