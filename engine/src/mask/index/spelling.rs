//! Normalises the texts of tokens that begin between the parts of a document, within a number or behind a closing quote: removes the
//! whitespace that has no effect.

use crate::Escapes;
use crate::automaton::{DecodeState, Decoded};

/// The extent of a value at the beginning of a text.
pub(crate) enum Extent {
    /// The text ends within the value.
    Open,
    /// The value ends after so many bytes.
    Whole(usize),
    /// Whether the value ends is not easily said.
    Odd,
}

impl Extent {
    /// Returns the extent of the value with which a text begins, with the whitespace before the value.
    pub(crate) fn of(text: &[u8]) -> Self {
        let blank = text.len() - text.trim_ascii_start().len();
        match Self::of_value(&text[blank..]) {
            Self::Whole(length) => Self::Whole(blank + length),
            other => other,
        }
    }

    fn of_value(text: &[u8]) -> Self {
        let word: &[u8] = match text.first() {
            None => return Self::Open,
            Some(b'"' | b'[' | b'{') => {
                let (mut depth, mut is_text, mut is_escaped) = (0, false, false);
                for (at, &byte) in text.iter().enumerate() {
                    match (is_text, byte) {
                        (true, b'"') if !is_escaped => is_text = false,
                        (true, _) => {}
                        (false, b'"') => is_text = true,
                        (false, b'[' | b'{') => depth += 1,
                        (false, b']' | b'}') => depth -= 1,
                        _ => {}
                    }
                    is_escaped = is_text && byte == b'\\' && !is_escaped;
                    if depth <= 0 && !is_text {
                        return Self::Whole(at + 1);
                    }
                }
                return Self::Open;
            }
            Some(b't') => b"true",
            Some(b'f') => b"false",
            Some(b'n') => b"null",
            Some(_) => return Self::Odd,
        };
        match (text.starts_with(word), word.starts_with(text)) {
            (true, _) => Self::Whole(word.len()),
            (false, true) => Self::Open,
            (false, false) => Self::Odd,
        }
    }
}

/// The result of reading a token that begins between parts or within a number.
pub(crate) enum Read {
    /// The token cannot come in JSON.
    Refused,
    /// No opening quote.
    Plain(Vec<u8>),
    /// Bytes up to an opening quote and with it, and those behind it.
    Quoted(Vec<u8>, usize),
}

pub(crate) fn is_of_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')
}

/// Whether bytes may stand within a string of any kind, from its beginning on.
pub(crate) fn is_content(bytes: &[u8], escapes: Escapes) -> bool {
    let mut decode = DecodeState::Between;
    for &byte in bytes {
        decode = match decode.step(byte, escapes) {
            Decoded::Refused | Decoded::End => return false,
            Decoded::Partial(next) if next.possible(escapes).is_empty() => return false,
            Decoded::Partial(next) => next,
            Decoded::Character(_) => DecodeState::Between,
        };
    }
    true
}

/// Reads a token that begins between parts or within a number, up to the first opening quote.
pub(crate) fn read(bytes: &[u8], is_free: bool) -> Read {
    let mut reader = SpacelessReader::new(is_free);
    for (at, &byte) in bytes.iter().enumerate() {
        if !reader.read(byte) {
            return Read::Refused;
        }
        if byte == b'"' {
            return Read::Quoted(reader.text, at + 1);
        }
    }
    Read::Plain(reader.end())
}

/// Returns the part of a token behind a closing quote, as far as it makes a difference; none where nothing in JSON goes on so.
pub(crate) fn suffix(bytes: &[u8], is_free: bool) -> Option<Vec<u8>> {
    let mut reader = SpacelessReader::new(is_free);
    let (mut is_text, mut is_escaped) = (false, false);
    for &byte in bytes {
        if is_text {
            reader.text.push(byte);
            is_text = byte != b'"' || is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
        } else if reader.read(byte) {
            is_text = byte == b'"';
        } else {
            return None;
        }
    }
    Some(match is_text {
        true => reader.text,
        false => reader.end(),
    })
}

/// Copies the text between strings, without whitespace that makes no difference.
struct SpacelessReader {
    is_free: bool,
    text: Vec<u8>,
    /// Whether there was whitespace behind `text`.
    spaced: bool,
    /// The remaining bytes of a literal.
    word: &'static [u8],
    /// Whether `text` ends within a number.
    is_number: bool,
}

impl SpacelessReader {
    fn new(is_free: bool) -> Self {
        Self {
            is_free,
            text: Vec::new(),
            spaced: false,
            word: b"",
            is_number: false,
        }
    }

    /// Reads a byte outside of strings; false where it cannot come in JSON.
    fn read(&mut self, byte: u8) -> bool {
        if let Some((next, word)) = self.word.split_first() {
            self.word = word;
            self.text.push(byte);
            return byte == *next;
        }
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' if self.is_free => {
                self.spaced = true;
                return true;
            }
            b' ' | b'\t' | b'\n' | b'\r' | b'{' | b'}' | b'[' | b']' | b',' | b':' | b'"' => {}
            b't' => self.word = b"rue",
            b'f' => self.word = b"alse",
            b'n' => self.word = b"ull",
            _ if is_of_number(byte) => {}
            _ => return false,
        }
        // A number goes on behind a number, and at the beginning of a token, but not behind whitespace.
        if self.spaced && (self.is_number || self.text.is_empty() && is_of_number(byte)) {
            self.text.push(b' ');
        }
        self.spaced = false;
        self.is_number = is_of_number(byte);
        self.text.push(byte);
        true
    }

    fn end(mut self) -> Vec<u8> {
        if self.spaced && self.is_number {
            self.text.push(b' ');
        }
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(bytes: &str) -> Option<String> {
        match read(bytes.as_bytes(), true) {
            Read::Plain(text) => String::from_utf8(text).ok(),
            _ => None,
        }
    }

    #[test]
    fn whitespace_that_makes_no_difference_is_left_out() {
        assert_eq!(plain(" \n\t"), Some(String::new()));
        assert_eq!(plain(" ,\n[ {"), Some(",[{".into()));
        assert_eq!(plain(" true ,"), Some("true,".into()));
        assert_eq!(plain("1 "), Some("1 ".into()), "the number has ended");
        assert_eq!(plain("1 ,"), Some("1 ,".into()));
        assert_eq!(plain(" 1"), Some(" 1".into()), "another number than before");
        assert_eq!(plain("the"), None);
        assert_eq!(plain("nul"), Some("nul".into()));
        assert!(matches!(read(b" , \"a", true), Read::Quoted(text, 4) if text == b",\""));
        assert!(matches!(read(b" , \"a", false), Read::Quoted(text, 4) if text == b" , \""));
        assert_eq!(
            suffix(b" : \" a\\\" \" , 1 ", true).as_deref(),
            Some(&b":\" a\\\" \",1 "[..])
        );
        assert_eq!(suffix(b" 1", true), Some(b" 1".to_vec()));
        assert_eq!(suffix(b";", true), None);
    }
}
