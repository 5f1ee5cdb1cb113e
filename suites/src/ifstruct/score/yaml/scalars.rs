//! Values of scalars in YAML 1.1, as PyYAML's `SafeLoader` resolves and constructs them; dates stay strings.

use std::sync::LazyLock;

use num_bigint::BigInt;
use regex::Regex;

use super::super::MAX_DIGITS;
use super::super::datum::Content;
use super::super::failure::{FailureKind, Unreadable, preview};
use super::super::reply::strip;

/// A tag of the YAML 1.1 repository that PyYAML's safe loader knows, or another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    Null,
    Bool,
    Int,
    Float,
    Str,
    Binary,
    Timestamp,
    Seq,
    Omap,
    Pairs,
    Map,
    Set,
    /// `<<`
    Merge,
    /// `=`
    Value,
    Unknown,
}

impl Tag {
    /// The tag that is written out as `tag`.
    pub fn named(tag: &str) -> Self {
        match tag.strip_prefix("tag:yaml.org,2002:") {
            Some("null") => Self::Null,
            Some("bool") => Self::Bool,
            Some("int") => Self::Int,
            Some("float") => Self::Float,
            Some("str") => Self::Str,
            Some("binary") => Self::Binary,
            Some("timestamp") => Self::Timestamp,
            Some("seq") => Self::Seq,
            Some("omap") => Self::Omap,
            Some("pairs") => Self::Pairs,
            Some("map") => Self::Map,
            Some("set") => Self::Set,
            Some("merge") => Self::Merge,
            Some("value") => Self::Value,
            _ => Self::Unknown,
        }
    }

    /// The tag that a plain scalar without one has.
    pub fn of_plain(text: &str) -> Self {
        match text {
            "" | "~" | "null" | "Null" | "NULL" => Self::Null,
            "<<" => Self::Merge,
            "=" => Self::Value,
            _ if text.len() <= 5 && is_of_one_case(text) && boolean(text).is_some() => Self::Bool,
            _ if !text.starts_with(|c: char| matches!(c, '-' | '+' | '.' | '0'..='9')) => Self::Str,
            _ if INT.is_match(text) => Self::Int,
            _ if FLOAT.is_match(text) => Self::Float,
            _ => Self::Str,
        }
    }
}

/// YAML 1.1, type `int`: binary, octal, decimal, hexadecimal, sexagesimal.
static INT: LazyLock<Regex> = LazyLock::new(|| {
    super::regex("^[-+]?(?:0b[01_]+|0[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+|[1-9][0-9_]*(?::[0-5]?[0-9])+)$")
});

/// YAML 1.1, type `float`, as PyYAML reads it: an exponent needs a point before it and has a sign.
static FLOAT: LazyLock<Regex> = LazyLock::new(|| {
    let decimal = r"[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?";
    let fraction = r"\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?";
    let sexagesimal = r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*";
    let special = r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)";
    super::regex(&format!("^(?:{decimal}|{fraction}|{sexagesimal}|{special})$"))
});

/// YAML 1.1, type `timestamp`.
static TIMESTAMP: LazyLock<Regex> = LazyLock::new(|| {
    let day = "[0-9]{4}-[0-9]{2}-[0-9]{2}";
    let time = r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?";
    let zone = r"(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?";
    super::regex(&format!("^(?:{day}|{time}{zone})$"))
});

/// Whether a loader that reads dates would read a plain scalar `text` as one.
pub(in super::super) fn is_timestamp(text: &str) -> bool {
    TIMESTAMP.is_match(text)
}

/// Constructs the value of a scalar of tag `tag` and text `text`.
///
/// # Errors
///
/// A tag that is not for scalars or that the safe loader does not know, and a text that does not fit its tag.
pub(super) fn construct(tag: Tag, text: &str) -> Result<Content, Unreadable> {
    let misfit = || {
        let message = format!("YAML: {:?} does not fit its tag", preview(text));
        Unreadable::new(FailureKind::Syntax, message)
    };
    match tag {
        Tag::Null => Ok(Content::Null),
        Tag::Bool => boolean(text).map(Content::Boolean).ok_or_else(misfit),
        Tag::Int => integer(text)?.map(Content::Integer).ok_or_else(misfit),
        Tag::Float => float(text).map(Content::Float).ok_or_else(misfit),
        Tag::Str => Ok(Content::Text(text.to_owned())),
        Tag::Binary if is_base64(text) => Ok(Content::Foreign("bytes")),
        Tag::Timestamp if is_timestamp(text) => Ok(Content::Foreign("a date")),
        Tag::Binary | Tag::Timestamp => Err(misfit()),
        Tag::Seq | Tag::Omap | Tag::Pairs | Tag::Map | Tag::Set => Err(misfit()),
        Tag::Merge | Tag::Value | Tag::Unknown => {
            let message = format!("YAML: no value is known for {:?} of its tag", preview(text));
            Err(Unreadable::new(FailureKind::Syntax, message))
        }
    }
}

/// Whether Python decodes `text`: letters that are none of base 64 are passed over, padding may not be missing.
fn is_base64(text: &str) -> bool {
    let letters = text
        .bytes()
        .filter(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'));
    let padding = text.matches('=').count();
    let complete = match letters.count() % 4 {
        0 => true,
        1 => false,
        over => padding >= 4 - over,
    };
    text.is_ascii() && complete
}

fn boolean(text: &str) -> Option<bool> {
    match text.to_lowercase().as_str() {
        "yes" | "true" | "on" => Some(true),
        "no" | "false" | "off" => Some(false),
        _ => None,
    }
}

/// Whether a word is `word`, `Word` or `WORD`.
fn is_of_one_case(word: &str) -> bool {
    let rest = word.get(1..).unwrap_or_default();
    let lower = |text: &str| text.bytes().all(|byte| byte.is_ascii_lowercase());
    let upper = |text: &str| text.bytes().all(|byte| byte.is_ascii_uppercase());
    lower(rest) || upper(word)
}

/// An integer in any base; `None` where the text is none.
fn integer(text: &str) -> Result<Option<BigInt>, Unreadable> {
    let text = text.replace('_', "");
    let (negative, digits) = signed(&text);
    // Python bounds decimal digits only; more of others than this have no use either.
    let too_long = |digits: &str| digits.len() > MAX_DIGITS;
    let (digits, base) = match digits.as_bytes() {
        [] => return Ok(None),
        b"0" => (digits, 10),
        [b'0', b'b', ..] => (&digits[2..], 2),
        [b'0', b'x', ..] => (&digits[2..], 16),
        [b'0', b'o' | b'O', ..] => (&digits[2..], 8),
        [b'0', ..] => (digits, 8),
        _ => (digits, 10),
    };
    let parsed = if base == 10 && digits.contains(':') {
        if digits.split(':').count() > MAX_DIGITS || digits.split(':').any(too_long) {
            return Err(Unreadable::number_too_long());
        }
        digits.split(':').try_fold(BigInt::ZERO, |value, part| {
            let part = BigInt::parse_bytes(part.as_bytes(), 10)?;
            Some(value * 60 + part)
        })
    } else if too_long(digits) {
        return Err(Unreadable::number_too_long());
    } else {
        BigInt::parse_bytes(strip(digits).as_bytes(), base)
    };
    Ok(parsed.map(|value| if negative { -value } else { value }))
}

fn float(text: &str) -> Option<f64> {
    let text = text.replace('_', "").to_lowercase();
    let (negative, digits) = signed(&text);
    let value = match digits {
        "" => return None,
        ".inf" => f64::INFINITY,
        ".nan" => return Some(f64::NAN),
        _ if digits.contains(':') => {
            let mut base = 1.0;
            digits.rsplit(':').try_fold(0.0, |value, part| {
                let value = value + part.parse::<f64>().ok()? * base;
                base *= 60.0;
                Some(value)
            })?
        }
        _ => strip(digits).parse().ok()?,
    };
    Some(if negative { -value } else { value })
}

fn signed(text: &str) -> (bool, &str) {
    match text.as_bytes() {
        [b'-', ..] => (true, &text[1..]),
        [b'+', ..] => (false, &text[1..]),
        _ => (false, text),
    }
}
