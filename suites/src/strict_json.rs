//! JSON texts read by RFC 8259 to the letter, without recursion.
//!
//! [`check`] says whether a text is one JSON document, [`parse`] builds its value. Neither recurses, so that the
//! nesting of a text cannot exhaust the native stack, and neither reads a number into a float, so that no digit is lost.

use serde_json::{Map, Number, Value};

/// Why a text is not one JSON document, and where that shows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct JsonError {
    /// Offset in bytes from the start of the text.
    pub offset: usize,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What was expected or found there.
    pub message: String,
}

/// A value together with what reading it into a map would hide.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The value. Of a name given more than once, the last value is kept.
    pub value: Value,
    /// JSON Pointers to the members whose name had occurred before in the same object; at most
    /// [`MAX_DUPLICATES`] of them.
    pub duplicates: Vec<String>,
}

/// How many repeated names a [`Document`] lists.
pub const MAX_DUPLICATES: usize = 16;

/// Whether `text` is exactly one JSON document, nested as deeply as it likes; surrounding whitespace is allowed.
pub fn check(text: &str) -> Result<(), JsonError> {
    let mut reader = Reader::new(text, usize::MAX);
    while reader.next()?.is_some() {}
    Ok(())
}

/// The one document in `text`, with at most `max_depth` arrays and objects inside one another.
///
/// Beyond what [`check`] refuses, a string with a lone surrogate escape is an error: it stands for no text.
pub fn parse(text: &str, max_depth: usize) -> Result<Document, JsonError> {
    let mut reader = Reader::new(text, max_depth);
    let mut builder = Builder::default();
    while let Some(event) = reader.next()? {
        builder
            .add(event)
            .map_err(|message| reader.error_at(reader.token_start, message))?;
    }
    Ok(Document {
        value: builder.root.unwrap_or(Value::Null),
        duplicates: builder.duplicates,
    })
}

/// One step through a document. Strings, names and numbers are slices of the text, strings and names with their quotes.
#[derive(Clone, Copy, Debug)]
enum Event<'a> {
    ObjectStart,
    ArrayStart,
    End,
    Name(&'a str),
    String(&'a str),
    Number(&'a str),
    True,
    False,
    Null,
}

/// What the grammar allows next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    Value,
    ValueOrEnd,
    Name,
    NameOrEnd,
    CommaOrEnd,
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Container {
    Object,
    Array,
}

struct Reader<'a> {
    text: &'a str,
    position: usize,
    token_start: usize,
    open: Vec<Container>,
    expect: Expect,
    max_depth: usize,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, max_depth: usize) -> Self {
        Self {
            text,
            position: 0,
            token_start: 0,
            open: Vec::new(),
            expect: Expect::Value,
            max_depth,
        }
    }

    /// The next event, `None` after the last.
    fn next(&mut self) -> Result<Option<Event<'a>>, JsonError> {
        loop {
            self.skip_whitespace();
            self.token_start = self.position;
            let Some(byte) = self.peek() else {
                return match self.expect {
                    Expect::Nothing => Ok(None),
                    Expect::Value if self.position == 0 || self.open.is_empty() => Err(self.error("no document")),
                    _ => Err(self.error("the text ends before the document does")),
                };
            };
            match (self.expect, byte) {
                (Expect::Nothing, _) => return Err(self.error("text after the end of the document")),
                (Expect::CommaOrEnd, b',') => {
                    self.position += 1;
                    self.expect = match self.open.last() {
                        Some(Container::Object) => Expect::Name,
                        _ => Expect::Value,
                    };
                }
                (Expect::CommaOrEnd | Expect::NameOrEnd | Expect::ValueOrEnd, b'}' | b']') => {
                    return self.end(byte).map(Some);
                }
                (Expect::CommaOrEnd, _) => return Err(self.error("expected `,` or the end of the array or object")),
                (Expect::Name | Expect::NameOrEnd, b'"') => return self.name().map(Some),
                (Expect::Name | Expect::NameOrEnd, _) => return Err(self.error("expected a name in double quotes")),
                (Expect::Value | Expect::ValueOrEnd, _) => return self.value(byte).map(Some),
            }
        }
    }

    fn end(&mut self, byte: u8) -> Result<Event<'a>, JsonError> {
        let closed = if byte == b'}' {
            Container::Object
        } else {
            Container::Array
        };
        if self.open.last() != Some(&closed) {
            return Err(self.error("this bracket closes nothing"));
        }
        self.open.pop();
        self.position += 1;
        self.after_value();
        Ok(Event::End)
    }

    fn name(&mut self) -> Result<Event<'a>, JsonError> {
        let raw = self.string()?;
        self.skip_whitespace();
        if self.peek() != Some(b':') {
            return Err(self.error("expected `:` after a name"));
        }
        self.position += 1;
        self.expect = Expect::Value;
        Ok(Event::Name(raw))
    }

    fn value(&mut self, first: u8) -> Result<Event<'a>, JsonError> {
        let event = match first {
            b'{' => return self.start(Container::Object),
            b'[' => return self.start(Container::Array),
            b'"' => Event::String(self.string()?),
            b'-' | b'0'..=b'9' => Event::Number(self.number()?),
            b't' => self.literal("true", Event::True)?,
            b'f' => self.literal("false", Event::False)?,
            b'n' => self.literal("null", Event::Null)?,
            _ => return Err(self.error("expected a JSON value")),
        };
        self.after_value();
        Ok(event)
    }

    fn start(&mut self, container: Container) -> Result<Event<'a>, JsonError> {
        if self.open.len() >= self.max_depth {
            return Err(self.error(&format!("nested more than {} levels deep", self.max_depth)));
        }
        self.open.push(container);
        self.position += 1;
        Ok(match container {
            Container::Object => {
                self.expect = Expect::NameOrEnd;
                Event::ObjectStart
            }
            Container::Array => {
                self.expect = Expect::ValueOrEnd;
                Event::ArrayStart
            }
        })
    }

    fn after_value(&mut self) {
        self.expect = if self.open.is_empty() {
            Expect::Nothing
        } else {
            Expect::CommaOrEnd
        };
    }

    /// A string from its opening quote on, with both quotes.
    fn string(&mut self) -> Result<&'a str, JsonError> {
        let start = self.position;
        self.position += 1;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.position += 1;
                    return Ok(&self.text[start..self.position]);
                }
                b'\\' => self.escape()?,
                0..=0x1f => return Err(self.error("a control character in a string must be escaped")),
                _ => self.position += 1,
            }
        }
        Err(self.error("the text ends within a string"))
    }

    fn escape(&mut self) -> Result<(), JsonError> {
        let rest = &self.text.as_bytes()[self.position + 1..];
        let length = match rest {
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 2,
            [b'u', digits @ ..] if digits.len() >= 4 && digits[..4].iter().all(u8::is_ascii_hexdigit) => 6,
            _ => return Err(self.error("not an escape sequence of JSON")),
        };
        self.position += length;
        Ok(())
    }

    fn number(&mut self) -> Result<&'a str, JsonError> {
        let start = self.position;
        self.skip_one(b"-");
        if !self.skip_one(b"0") {
            self.digits()?;
        }
        if self.skip_one(b".") {
            self.digits()?;
        }
        if self.skip_one(b"eE") {
            self.skip_one(b"+-");
            self.digits()?;
        }
        Ok(&self.text[start..self.position])
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        if !self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return Err(self.error("expected a digit"));
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.position += 1;
        }
        Ok(())
    }

    fn literal(&mut self, word: &str, event: Event<'a>) -> Result<Event<'a>, JsonError> {
        if !self.text[self.position..].starts_with(word) {
            return Err(self.error("expected a JSON value"));
        }
        self.position += word.len();
        Ok(event)
    }

    fn skip_one(&mut self, bytes: &[u8]) -> bool {
        let found = self.peek().is_some_and(|byte| bytes.contains(&byte));
        self.position += usize::from(found);
        found
    }

    fn skip_whitespace(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.position += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    fn error(&self, message: &str) -> JsonError {
        self.error_at(self.position, message.to_owned())
    }

    fn error_at(&self, offset: usize, message: String) -> JsonError {
        let before = &self.text.as_bytes()[..offset];
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
}

/// A container whose end has not been reached.
enum Partial {
    Object { members: Map<String, Value>, name: String },
    Array(Vec<Value>),
}

#[derive(Default)]
struct Builder {
    open: Vec<Partial>,
    root: Option<Value>,
    duplicates: Vec<String>,
}

impl Builder {
    fn add(&mut self, event: Event<'_>) -> Result<(), String> {
        let value = match event {
            Event::ObjectStart => {
                self.open.push(Partial::Object {
                    members: Map::new(),
                    name: String::new(),
                });
                return Ok(());
            }
            Event::ArrayStart => {
                self.open.push(Partial::Array(Vec::new()));
                return Ok(());
            }
            Event::Name(raw) => return self.name(raw),
            Event::End => match self.open.pop() {
                Some(Partial::Object { members, .. }) => Value::Object(members),
                Some(Partial::Array(items)) => Value::Array(items),
                None => return Ok(()),
            },
            Event::String(raw) => Value::String(decode(raw)?),
            Event::Number(raw) => Value::Number(number(raw)?),
            Event::True => Value::Bool(true),
            Event::False => Value::Bool(false),
            Event::Null => Value::Null,
        };
        match self.open.last_mut() {
            Some(Partial::Object { members, name }) => {
                members.insert(std::mem::take(name), value);
            }
            Some(Partial::Array(items)) => items.push(value),
            None => self.root = Some(value),
        }
        Ok(())
    }

    fn name(&mut self, raw: &str) -> Result<(), String> {
        let decoded = decode(raw)?;
        let mut repeated = false;
        if let Some(Partial::Object { members, name }) = self.open.last_mut() {
            repeated = members.contains_key(&decoded);
            *name = decoded;
        }
        if repeated && self.duplicates.len() < MAX_DUPLICATES {
            let pointer = self.pointer();
            self.duplicates.push(pointer);
        }
        Ok(())
    }

    /// JSON Pointer to the member whose name was read last.
    fn pointer(&self) -> String {
        let mut pointer = String::new();
        for partial in &self.open {
            pointer.push('/');
            match partial {
                Partial::Object { name, .. } => pointer.push_str(&name.replace('~', "~0").replace('/', "~1")),
                Partial::Array(items) => pointer.push_str(&items.len().to_string()),
            }
        }
        pointer
    }
}

/// The text that a string with quotes stands for.
fn decode(raw: &str) -> Result<String, String> {
    if !raw.contains('\\') {
        return Ok(raw[1..raw.len() - 1].to_owned());
    }
    serde_json::from_str(raw).map_err(|_| "a string holds half of a surrogate pair".to_owned())
}

fn number(raw: &str) -> Result<Number, String> {
    raw.parse().map_err(|error| format!("not a number: {error}"))
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
        assert_eq!((error.line, error.column), (2, 7));
        assert_eq!(error.to_string(), "line 2, column 7: expected a JSON value");
    }
}
