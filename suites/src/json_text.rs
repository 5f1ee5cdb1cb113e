//! JSON text on one line with `", "` and `": "` as separators, the default style of Python's `json.dumps`.
//!
//! Prompts, demonstrations and training dialogues all use this style, so that a model always meets the same spelling.
//! The digits of numbers are kept as in the source (`serde_json` is built with `arbitrary_precision`), except by [`python_string`] and
//! [`python_ascii_string`], which print what Python prints after reading the source.

use std::borrow::Cow;
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
    write(value, false, false)
}

/// Like [`to_string`], with every non-ASCII character as `\uXXXX` (UTF-16, lower-case hexadecimal): `json.dumps(value)`.
///
/// # Errors
///
/// Only if `value` itself cannot be serialised; a [`serde_json::Value`] always can.
pub fn to_ascii_string<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<String> {
    write(value, true, false)
}

/// What Python prints for `json.dumps(json.loads(source), ensure_ascii=False)`: [`to_string`] with [`python_number`]s.
///
/// # Errors
///
/// Only if `value` itself cannot be serialised; a [`serde_json::Value`] always can.
pub fn python_string<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<String> {
    write(value, false, true)
}

/// What Python prints for `json.dumps(json.loads(source))`: [`to_ascii_string`] with [`python_number`]s.
///
/// # Errors
///
/// Only if `value` itself cannot be serialised; a [`serde_json::Value`] always can.
pub fn python_ascii_string<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<String> {
    write(value, true, true)
}

/// A JSON number as Python prints it after reading it.
///
/// Integers keep every digit (`-0` becomes `0`). Whatever has a fraction or an exponent is a double, printed as `repr`
/// does: the shortest digits that read back as the same double, fixed from 1e-4 to below 1e16, else with an exponent of
/// at least two digits. A number beyond the doubles is kept, as `1e+400`: Python would print `Infinity`, which is not JSON.
#[must_use]
pub fn python_number(literal: &str) -> Cow<'_, str> {
    if !literal.contains(['.', 'e', 'E']) {
        return Cow::Borrowed(if literal == "-0" { "0" } else { literal });
    }
    match literal.parse::<f64>() {
        Ok(value) if value.is_finite() => Cow::Owned(repr(value)),
        _ => Cow::Borrowed(literal),
    }
}

/// `repr(value)` of Python.
fn repr(value: f64) -> String {
    let scientific = format!("{value:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    match exponent.parse::<i32>() {
        Ok(exponent) if !(-4..16).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
        }
        _ if value.fract() == 0.0 => format!("{value:.1}"),
        _ => value.to_string(),
    }
}

fn write<T: Serialize + ?Sized>(value: &T, ensure_ascii: bool, python_numbers: bool) -> serde_json::Result<String> {
    let mut out = Vec::with_capacity(256);
    let formatter = Spaced {
        ensure_ascii,
        python_numbers,
    };
    value.serialize(&mut Serializer::with_formatter(&mut out, formatter))?;
    String::from_utf8(out).map_err(serde::ser::Error::custom)
}

/// The formatter behind all of them.
struct Spaced {
    ensure_ascii: bool,
    python_numbers: bool,
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

    fn write_number_str<W: Write + ?Sized>(&mut self, writer: &mut W, literal: &str) -> io::Result<()> {
        if self.python_numbers {
            return writer.write_all(python_number(literal).as_bytes());
        }
        writer.write_all(literal.as_bytes())
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

    use super::{python_ascii_string, python_number, python_string, to_ascii_string, to_string};

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

    #[test]
    fn numbers_are_printed_as_python_prints_them() {
        // Each pair is a literal and Python's `json.dumps(json.loads(literal))`; the last is kept instead of `Infinity`.
        let pairs = [
            ("1.0", "1.0"),
            ("-0.0", "-0.0"),
            ("-0", "0"),
            ("300.00", "300.0"),
            ("1e308", "1e+308"),
            ("1E2", "100.0"),
            ("1.50e-3", "0.0015"),
            ("0.0001", "0.0001"),
            ("0.00001", "1e-05"),
            ("1e-8", "1e-08"),
            ("1.5e15", "1500000000000000.0"),
            ("9999999999999998.0", "9999999999999998.0"),
            ("1e16", "1e+16"),
            ("123456789012345678.5", "1.2345678901234568e+17"),
            ("972783798187987123879878123.188781371", "9.727837981879871e+26"),
            ("0.1000000000000000055", "0.1"),
            ("2.2250738585072014e-308", "2.2250738585072014e-308"),
            ("5e-324", "5e-324"),
            ("1e-400", "0.0"),
            (
                "12345678910111213141516171819202122",
                "12345678910111213141516171819202122",
            ),
            ("1e400", "1e400"),
        ];
        for (literal, expected) in pairs {
            assert_eq!(python_number(literal), expected, "{literal}");
        }
        let value = parse(r#"{"é":[1.10,1E5,100000000000000000000]}"#);
        assert_eq!(
            python_string(&value).unwrap(),
            r#"{"é": [1.1, 100000.0, 100000000000000000000]}"#
        );
        assert_eq!(
            python_ascii_string(&value).unwrap(),
            r#"{"\u00e9": [1.1, 100000.0, 100000000000000000000]}"#
        );
    }
}
