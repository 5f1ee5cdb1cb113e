//! JSON as Python's `json` module reads it, which is more than RFC 8259: `NaN`, `Infinity` and `-Infinity`, lone surrogates,
//! names given twice. Without recursion.

use std::rc::Rc;

use super::datum::{Content, Datum, Mapping};
use super::failure::{FailureKind, Unreadable, preview};
use super::reply::strip;
use super::{MAX_DIGITS, MAX_JSON_DEPTH};

/// Reads the one document in `text`, whitespace around it apart.
///
/// # Errors
///
/// The first defect, with line and column of its place.
pub(super) fn read(text: &str) -> Result<Rc<Datum>, Unreadable> {
    let text = strip(text);
    if text.is_empty() {
        return Err(Unreadable::new(FailureKind::NoData, "there is no JSON in the reply"));
    }
    let mut reader = JsonReader { text, at: 0 };
    let value = reader.document()?;
    match strip(&text[reader.at..]) {
        "" => Ok(value),
        trailing => {
            let message = format!("text behind the JSON document: {:?}", preview(trailing));
            Err(Unreadable::new(FailureKind::TrailingContent, message))
        }
    }
}

struct JsonReader<'a> {
    text: &'a str,
    at: usize,
}

/// A container that is being read.
enum Open {
    List(Vec<Rc<Datum>>),
    /// A mapping, with the name of the member that is being read.
    Mapping(Mapping, Rc<Datum>),
}

/// Start of a value: a whole value, or a container whose first value comes next.
enum Begun {
    Value(Rc<Datum>),
    Container(Open),
}

impl JsonReader<'_> {
    fn document(&mut self) -> Result<Rc<Datum>, Unreadable> {
        let mut open: Vec<Open> = Vec::new();
        loop {
            let mut value = match self.begin()? {
                Begun::Value(value) => value,
                Begun::Container(container) => {
                    open.push(container);
                    if open.len() > MAX_JSON_DEPTH {
                        let message = format!("arrays and objects nested more than {MAX_JSON_DEPTH} levels deep");
                        return Err(Unreadable::new(FailureKind::TooDeep, message));
                    }
                    continue;
                }
            };
            // Every container that ends here is itself a value of the next.
            loop {
                let Some(container) = open.last_mut() else {
                    return Ok(value);
                };
                let more = self.after(container, value)?;
                if more {
                    break;
                }
                value = match open.pop() {
                    Some(Open::List(items)) => Datum::new(Content::List(items)),
                    Some(Open::Mapping(mapping, _)) => Datum::new(Content::Mapping(mapping)),
                    None => return Err(self.error("expected a value")),
                };
            }
        }
    }

    /// Puts `value` into its container and reads on to the next value in it; false where the container ends.
    fn after(&mut self, container: &mut Open, value: Rc<Datum>) -> Result<bool, Unreadable> {
        self.skip_whitespace();
        let next = self.peek();
        match container {
            Open::List(items) => {
                items.push(value);
                match next {
                    Some(b',') => self.at += 1,
                    Some(b']') => {
                        self.at += 1;
                        return Ok(false);
                    }
                    _ => return Err(self.error("expected `,` or `]`")),
                }
                self.skip_whitespace();
            }
            Open::Mapping(mapping, name) => {
                let members = mapping.entries.len();
                if mapping.insert(Rc::clone(name), value) < members {
                    mapping.note_repeated(name);
                }
                match next {
                    Some(b',') => self.at += 1,
                    Some(b'}') => {
                        self.at += 1;
                        return Ok(false);
                    }
                    _ => return Err(self.error("expected `,` or `}`")),
                }
                self.skip_whitespace();
                *name = self.name()?;
            }
        }
        Ok(true)
    }

    fn begin(&mut self) -> Result<Begun, Unreadable> {
        let content = match self.peek() {
            Some(b'[') => {
                self.at += 1;
                self.skip_whitespace();
                if self.skip("]") {
                    Content::List(Vec::new())
                } else {
                    return Ok(Begun::Container(Open::List(Vec::new())));
                }
            }
            Some(b'{') => {
                self.at += 1;
                self.skip_whitespace();
                if self.skip("}") {
                    Content::Mapping(Mapping::default())
                } else {
                    let name = self.name()?;
                    return Ok(Begun::Container(Open::Mapping(Mapping::default(), name)));
                }
            }
            Some(b'"') => Content::Text(self.string()?),
            _ if self.skip("null") => Content::Null,
            _ if self.skip("true") => Content::Boolean(true),
            _ if self.skip("false") => Content::Boolean(false),
            _ if self.skip("NaN") => Content::Float(f64::NAN),
            _ if self.skip("Infinity") => Content::Float(f64::INFINITY),
            _ if self.skip("-Infinity") => Content::Float(f64::NEG_INFINITY),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => return Err(self.error("expected a value")),
        };
        Ok(Begun::Value(Datum::new(content)))
    }

    /// Reads a name and the colon behind it.
    fn name(&mut self) -> Result<Rc<Datum>, Unreadable> {
        if self.peek() != Some(b'"') {
            return Err(self.error("expected a name in double quotes"));
        }
        let name = self.string()?;
        self.skip_whitespace();
        if !self.skip(":") {
            return Err(self.error("expected `:`"));
        }
        self.skip_whitespace();
        Ok(Datum::new(Content::Text(name)))
    }

    fn number(&mut self) -> Result<Content, Unreadable> {
        let start = self.at;
        self.skip("-");
        let first = self.at;
        if !self.skip("0") && self.digits() == 0 {
            self.at = start;
            return Err(self.error("expected a value"));
        }
        let integral = self.at;
        if self.skip(".") && self.digits() == 0 {
            self.at = integral;
        }
        let mantissa = self.at;
        if self.skip("e") || self.skip("E") {
            let _sign = self.skip("+") || self.skip("-");
            if self.digits() == 0 {
                self.at = mantissa;
            }
        }
        let text = &self.text[start..self.at];
        if self.at > integral {
            return Ok(Content::Float(text.parse().unwrap_or(f64::NAN)));
        }
        if integral - first > MAX_DIGITS {
            return Err(Unreadable::number_too_long());
        }
        text.parse()
            .map(Content::Integer)
            .map_err(|_| self.error("expected a value"))
    }

    /// A string from its opening quote on.
    fn string(&mut self) -> Result<String, Unreadable> {
        let start = self.at;
        self.at += 1;
        let mut string = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(plain) = rest.find(|c| matches!(c, '"' | '\\' | '\0'..='\x1f')) else {
                self.at = start;
                return Err(self.error("a string is not closed"));
            };
            string.push_str(&rest[..plain]);
            self.at += plain;
            match rest.as_bytes()[plain] {
                b'"' => {
                    self.at += 1;
                    return Ok(string);
                }
                b'\\' => string.push(self.escape()?),
                _ => return Err(self.error("a control character in a string must be escaped")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Unreadable> {
        let c = match self.text.as_bytes().get(self.at + 1) {
            Some(b'u') => {
                let unit = self.code_unit()?;
                return self.character(unit);
            }
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(&c @ (b'"' | b'\\' | b'/')) => char::from(c),
            _ => return Err(self.error("not an escape sequence of JSON")),
        };
        self.at += 2;
        Ok(c)
    }

    /// Returns the character that `unit` begins; reads the next escape too, where both are a pair of surrogates.
    fn character(&mut self, unit: u32) -> Result<char, Unreadable> {
        if let Some(c) = char::from_u32(unit) {
            return Ok(c);
        }
        let behind = self.at;
        if unit < 0xdc00 && self.text[behind..].starts_with("\\u") {
            let low = self.code_unit()?;
            if (0xdc00..0xe000).contains(&low) {
                let pair = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                return Ok(char::from_u32(pair).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = behind;
        }
        Ok(lone_surrogate(unit))
    }

    /// The four digits of the `\u` here.
    fn code_unit(&mut self) -> Result<u32, Unreadable> {
        let digits = self.text.as_bytes().get(self.at + 2..self.at + 6);
        let unit = digits
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        let unit = unit.ok_or_else(|| self.error("expected four hexadecimal digits"))?;
        self.at += 6;
        Ok(unit)
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        self.at - start
    }

    fn skip(&mut self, word: &str) -> bool {
        let found = self.text[self.at..].starts_with(word);
        self.at += if found { word.len() } else { 0 };
        found
    }

    fn skip_whitespace(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn error(&self, message: &str) -> Unreadable {
        let before = &self.text[..self.at];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        let line = before.matches('\n').count() + 1;
        let column = before[line_start..].chars().count() + 1;
        Unreadable::new(
            FailureKind::Syntax,
            format!("JSON, line {line}, column {column}: {message}"),
        )
    }
}

/// Returns the private-use character that stands for a surrogate outside of a pair: see [`Content::Text`].
fn lone_surrogate(unit: u32) -> char {
    char::from_u32(unit + 0x1000).unwrap_or(char::REPLACEMENT_CHARACTER)
}
