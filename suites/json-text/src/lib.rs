//! JSON text as Python's `json.dumps` writes it: chat templates, prompts and training data are made by programs in Python, and a
//! model should always meet the same spelling.
//!
//! [`to_string`] and its relatives write one line with `", "` and `": "` as separators, `json.dumps`'s default; [`Style`] has its
//! other arguments. The digits of numbers are kept as in the source (`serde_json` is built with `arbitrary_precision`) unless
//! [`Style::python_numbers`] says to print what Python prints after reading the source.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CharEscape, Formatter, Serializer};

/// Error message for a file that is a Git LFS pointer.
pub const GIT_LFS_POINTER: &str = "is a Git LFS pointer, not the file itself: get that with `git lfs pull`";

/// Whether a file's content is the pointer that Git LFS leaves in place of a file that was not fetched.
#[must_use]
pub fn is_git_lfs_pointer(content: &[u8]) -> bool {
    content.starts_with(b"version https://git-lfs.github.com/spec/")
}

/// The arguments of `json.dumps`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Style<'a> {
    /// Number of spaces by which each level is indented (`indent`); everything is on one line without it.
    pub indent: Option<usize>,
    /// Separator of two items or members: the first of `separators`.
    pub item_separator: &'a str,
    /// Separator of a key and its value: the second of `separators`.
    pub key_separator: &'a str,
    /// Whether every non-ASCII character is written as `\uXXXX` (UTF-16, lower-case hexadecimal).
    pub ensure_ascii: bool,
    /// Whether numbers are printed as Python prints them after reading them ([`python_number`]), rather than as they are.
    pub python_numbers: bool,
}

impl Default for Style<'_> {
    /// One line with `", "` and `": "`, non-ASCII characters and numbers as they are.
    fn default() -> Self {
        Self {
            indent: None,
            item_separator: ", ",
            key_separator: ": ",
            ensure_ascii: false,
            python_numbers: false,
        }
    }
}

impl Style<'_> {
    /// Writes `value` in this style.
    ///
    /// # Errors
    ///
    /// Only if `value` itself cannot be serialised; a [`serde_json::Value`] always can.
    pub fn write<T: Serialize + ?Sized>(&self, value: &T) -> serde_json::Result<String> {
        let mut out = Vec::with_capacity(256);
        let formatter = StyleFormatter {
            style: self,
            depth: 0,
            is_empty: true,
        };
        value.serialize(&mut Serializer::with_formatter(&mut out, formatter))?;
        String::from_utf8(out).map_err(serde::ser::Error::custom)
    }
}

/// Writes `value` on one line with `", "` and `": "`, leaving non-ASCII characters as they are
/// (`json.dumps(value, ensure_ascii=False)`).
///
/// # Errors
///
/// Only if `value` itself cannot be serialised; a [`serde_json::Value`] always can.
pub fn to_string<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<String> {
    Style::default().write(value)
}

/// Writes `value` like [`to_string`], with every non-ASCII character as `\uXXXX` (UTF-16, lower-case hexadecimal):
/// `json.dumps(value)`.
///
/// # Errors
///
/// Only if `value` itself cannot be serialised; a [`serde_json::Value`] always can.
pub fn to_ascii_string<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<String> {
    let style = Style {
        ensure_ascii: true,
        ..Style::default()
    };
    style.write(value)
}

/// Writes the text that Python prints for `json.dumps(json.loads(source), ensure_ascii=False)`: [`to_string`] with
/// [`python_number`]s.
///
/// # Errors
///
/// Only if `value` itself cannot be serialised; a [`serde_json::Value`] always can.
pub fn python_string<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<String> {
    let style = Style {
        python_numbers: true,
        ..Style::default()
    };
    style.write(value)
}

/// Writes the text that Python prints for `json.dumps(json.loads(source))`: [`to_ascii_string`] with [`python_number`]s.
///
/// # Errors
///
/// Only if `value` itself cannot be serialised; a [`serde_json::Value`] always can.
pub fn python_ascii_string<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<String> {
    let style = Style {
        ensure_ascii: true,
        python_numbers: true,
        ..Style::default()
    };
    style.write(value)
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

/// A finite double as Python's `repr` prints it.
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

/// Writes a [`Style`] through serde_json.
struct StyleFormatter<'a> {
    style: &'a Style<'a>,
    /// Number of arrays and objects around the place reached.
    depth: usize,
    /// Whether the array or object that is written has nothing in it so far.
    is_empty: bool,
}

impl StyleFormatter<'_> {
    fn begin<W: Write + ?Sized>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.is_empty = true;
        writer.write_all(bracket)
    }

    fn separate<W: Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if !first {
            writer.write_all(self.style.item_separator.as_bytes())?;
        }
        self.new_line(writer)
    }

    fn end<W: Write + ?Sized>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if !self.is_empty {
            self.new_line(writer)?;
        }
        self.is_empty = false;
        writer.write_all(bracket)
    }

    fn new_line<W: Write + ?Sized>(&self, writer: &mut W) -> io::Result<()> {
        match self.style.indent {
            Some(indent) => {
                writer.write_all(b"\n")?;
                writer.write_all(" ".repeat(indent * self.depth).as_bytes())
            }
            None => Ok(()),
        }
    }
}

impl Formatter for StyleFormatter<'_> {
    fn begin_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"[")
    }

    fn end_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"]")
    }

    fn begin_array_value<W: Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.separate(writer, first)
    }

    fn end_array_value<W: Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        self.is_empty = false;
        Ok(())
    }

    fn begin_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"{")
    }

    fn end_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"}")
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.separate(writer, first)
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(self.style.key_separator.as_bytes())
    }

    fn end_object_value<W: Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        self.is_empty = false;
        Ok(())
    }

    fn write_number_str<W: Write + ?Sized>(&mut self, writer: &mut W, literal: &str) -> io::Result<()> {
        if self.style.python_numbers {
            return writer.write_all(python_number(literal).as_bytes());
        }
        writer.write_all(literal.as_bytes())
    }

    fn write_string_fragment<W: Write + ?Sized>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        if !self.style.ensure_ascii {
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

    use super::{Style, python_ascii_string, python_number, python_string, to_ascii_string, to_string};

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

    #[test]
    fn indentation_is_that_of_python() {
        let value = parse(r#"{"a":[1,{"b":[]}],"c":{},"d":[[]]}"#);
        let style = Style {
            indent: Some(2),
            item_separator: ",",
            ..Style::default()
        };
        // `json.dumps(value, indent=2)`
        let expected = concat!(
            "{\n  \"a\": [\n    1,\n    {\n      \"b\": []\n    }\n  ],\n",
            "  \"c\": {},\n  \"d\": [\n    []\n  ]\n}",
        );
        assert_eq!(style.write(&value).unwrap(), expected);
        assert_eq!(style.write(&parse("[]")).unwrap(), "[]");
        let dense = Style {
            item_separator: ",",
            key_separator: ":",
            ..Style::default()
        };
        assert_eq!(dense.write(&value).unwrap(), r#"{"a":[1,{"b":[]}],"c":{},"d":[[]]}"#);
    }
}
