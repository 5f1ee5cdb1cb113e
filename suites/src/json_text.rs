//! JSON text on one line with `", "` and `": "` as separators, the default style of Python's `json.dumps`.
//!
//! Prompts, demonstrations and training dialogues all use this style, so that a model always meets the same spelling.
//! Number text is kept as in the source (`serde_json` is built with `arbitrary_precision`).

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CharEscape, Formatter, Serializer};

/// Writes `value` on one line with `", "` and `": "`, leaving non-ASCII characters as they are
/// (`json.dumps(value, ensure_ascii=False)`).
///
/// # Errors
///
/// Only if `value` itself cannot be serialised; a [`serde_json::Value`] always can.
pub fn to_string<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<String> {
    write(value, false)
}

/// Like [`to_string`], with every non-ASCII character as `\uXXXX` (UTF-16, lower-case hexadecimal): `json.dumps(value)`.
///
/// # Errors
///
/// Only if `value` itself cannot be serialised; a [`serde_json::Value`] always can.
pub fn to_ascii_string<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<String> {
    write(value, true)
}

fn write<T: Serialize + ?Sized>(value: &T, ensure_ascii: bool) -> serde_json::Result<String> {
    let mut out = Vec::with_capacity(256);
    value.serialize(&mut Serializer::with_formatter(&mut out, Spaced { ensure_ascii }))?;
    String::from_utf8(out).map_err(serde::ser::Error::custom)
}

/// The formatter behind [`to_string`].
struct Spaced {
    ensure_ascii: bool,
}

impl Spaced {
    fn separate<W: Write + ?Sized>(writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }
}

impl Formatter for Spaced {
    fn begin_array_value<W: Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        Self::separate(writer, first)
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        Self::separate(writer, first)
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn write_string_fragment<W: Write + ?Sized>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        if !self.ensure_ascii {
            // Python escapes DEL in neither mode, and neither does serde_json.
            return writer.write_all(fragment.as_bytes());
        }
        let mut units = [0_u16; 2];
        for c in fragment.chars() {
            if c.is_ascii() {
                writer.write_all(&[c as u8])?;
            } else {
                for unit in c.encode_utf16(&mut units) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            }
        }
        Ok(())
    }

    fn write_char_escape<W: Write + ?Sized>(&mut self, writer: &mut W, escape: CharEscape) -> io::Result<()> {
        match escape {
            CharEscape::Quote => writer.write_all(b"\\\""),
            CharEscape::ReverseSolidus => writer.write_all(b"\\\\"),
            CharEscape::Solidus => writer.write_all(b"/"),
            CharEscape::Backspace => writer.write_all(b"\\b"),
            CharEscape::FormFeed => writer.write_all(b"\\f"),
            CharEscape::LineFeed => writer.write_all(b"\\n"),
            CharEscape::CarriageReturn => writer.write_all(b"\\r"),
            CharEscape::Tab => writer.write_all(b"\\t"),
            CharEscape::AsciiControl(byte) => write!(writer, "\\u{byte:04x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{to_ascii_string, to_string};

    fn parse(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn separators_are_those_of_python() {
        let value = parse(r#"{"a":[1,2,{}],"b":{"c":null,"d":[]},"e":""}"#);
        assert_eq!(
            to_string(&value).unwrap(),
            r#"{"a": [1, 2, {}], "b": {"c": null, "d": []}, "e": ""}"#
        );
    }

    #[test]
    fn number_text_is_kept() {
        assert_eq!(
            to_string(&parse("[1.0,1.50,100000000000000000000]")).unwrap(),
            "[1.0, 1.50, 100000000000000000000]"
        );
    }

    #[test]
    fn non_ascii_is_escaped_on_request_only() {
        let value = parse(r#"["é","😀","\n\"\\\u0001"]"#);
        assert_eq!(to_string(&value).unwrap(), "[\"é\", \"😀\", \"\\n\\\"\\\\\\u0001\"]");
        assert_eq!(
            to_ascii_string(&value).unwrap(),
            r#"["\u00e9", "\ud83d\ude00", "\n\"\\\u0001"]"#
        );
    }
}
