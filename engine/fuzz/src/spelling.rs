//! Random spellings of one JSON value: whitespace, order of members, escapes, notations of numbers.

use maskwright_suites::strict_json;
use serde_json::{Number, Value};

use crate::Choices;

/// The share of a text that strays from the plain spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Style {
    /// Percentage of gaps with whitespace.
    gaps: usize,
    /// Percentage of characters that are escaped.
    escapes: usize,
    /// Percentage of numbers that are written otherwise.
    numbers: usize,
    shuffled: bool,
}

/// `value` as JSON text in a random style.
pub fn spelled(choices: &mut Choices<'_>, value: &Value) -> String {
    let style = Style {
        gaps: [0, 30][choices.below(2)],
        escapes: [0, 20][choices.below(2)],
        numbers: [0, 40][choices.below(2)],
        shuffled: choices.chance(60),
    };
    let mut writer = Writer {
        choices,
        style,
        text: String::new(),
    };
    writer.gap();
    writer.value(value);
    writer.gap();
    writer.text
}

struct Writer<'w, 'b> {
    choices: &'w mut Choices<'b>,
    style: Style,
    text: String,
}

impl Writer<'_, '_> {
    fn gap(&mut self) {
        while self.choices.chance(self.style.gaps) {
            self.text.push_str(self.choices.pick(&[" ", "\n", "\t", "\r", "  "]));
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.text.push_str("null"),
            Value::Bool(value) => self.text.push_str(if *value { "true" } else { "false" }),
            Value::Number(number) => self.number(number),
            Value::String(text) => self.string(text),
            Value::Array(items) => {
                self.text.push('[');
                self.gap();
                for (position, item) in items.iter().enumerate() {
                    self.separator(position);
                    self.value(item);
                    self.gap();
                }
                self.text.push(']');
            }
            Value::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                if self.style.shuffled {
                    self.choices.shuffle(&mut members);
                }
                self.text.push('{');
                self.gap();
                for (position, (name, member)) in members.into_iter().enumerate() {
                    self.separator(position);
                    self.string(name);
                    self.gap();
                    self.text.push(':');
                    self.gap();
                    self.value(member);
                    self.gap();
                }
                self.text.push('}');
            }
        }
    }

    fn separator(&mut self, position: usize) {
        if position > 0 {
            self.text.push(',');
            self.gap();
        }
    }

    fn string(&mut self, text: &str) {
        self.text.push('"');
        for character in text.chars() {
            let short = match character {
                '"' => Some('"'),
                '\\' => Some('\\'),
                '/' => Some('/'),
                '\u{8}' => Some('b'),
                '\u{c}' => Some('f'),
                '\n' => Some('n'),
                '\r' => Some('r'),
                '\t' => Some('t'),
                _ => None,
            };
            let must = character < ' ' || character == '"' || character == '\\';
            match short {
                _ if !must && !self.choices.chance(self.style.escapes) => self.text.push(character),
                Some(letter) if !self.choices.chance(self.style.escapes) => {
                    self.text.push('\\');
                    self.text.push(letter);
                }
                _ => self.hexadecimal(character),
            }
        }
        self.text.push('"');
    }

    fn hexadecimal(&mut self, character: char) {
        for unit in character.encode_utf16(&mut [0; 2]) {
            let text = match self.choices.below(2) {
                0 => format!("\\u{unit:04x}"),
                _ => format!("\\u{unit:04X}"),
            };
            self.text.push_str(&text);
        }
    }

    fn number(&mut self, number: &Number) {
        let plain = number.to_string();
        let text = match self.choices.chance(self.style.numbers) {
            true => respelled(self.choices, &plain),
            false => plain,
        };
        self.text.push_str(&text);
    }
}

/// Returns another JSON spelling of the number that `text` spells.
fn respelled(choices: &mut Choices<'_>, text: &str) -> String {
    let Some(Digits { sign, digits, exponent }) = Digits::of(text) else {
        return text.to_owned();
    };
    if digits.is_empty() {
        return (*choices.pick(&["0", "-0", "0.0", "0e7", "-0.00E-3", "0E+0"])).to_owned();
    }
    // The number is `digits` times ten to the power of `scale`, here with some zeros more.
    let zeros = choices.below(3);
    let digits = format!("{digits}{}", "0".repeat(zeros));
    let scale = exponent - zeros as i64;
    // Of the digits, so many stand before the point; below zero, so many zeros after it come first.
    let before = choices.below(digits.len() + 3) as i64 - 2;
    let mantissa = match usize::try_from(before) {
        Ok(before) if before >= digits.len() => digits.clone(),
        Ok(before) if before > 0 => format!("{}.{}", &digits[..before], &digits[before..]),
        _ => format!("0.{}{digits}", "0".repeat(before.unsigned_abs() as usize)),
    };
    let exponent = scale + digits.len() as i64 - before.min(digits.len() as i64);
    let letter = choices.pick(&["e", "E"]);
    let spelled = match exponent {
        0 => String::new(),
        1.. => format!("{letter}{}{exponent}", choices.pick(&["", "+", "0", "+00"])),
        _ => format!("{letter}-{}{}", choices.pick(&["", "0"]), exponent.unsigned_abs()),
    };
    format!("{sign}{mantissa}{spelled}")
}

/// A number as digits, without zeros at either end, times ten to the power of an exponent.
struct Digits<'t> {
    sign: &'t str,
    digits: String,
    exponent: i64,
}

impl<'t> Digits<'t> {
    /// The number that `text` spells; `None` where its exponent is beyond all measure.
    fn of(text: &'t str) -> Option<Self> {
        let (sign, rest) = text.split_at(usize::from(text.starts_with('-')));
        let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let exponent = exponent.parse::<i32>().ok()?;
        let cut = all.trim_end_matches('0');
        Some(Self {
            sign,
            digits: cut.trim_start_matches('0').to_owned(),
            exponent: i64::from(exponent) + (all.len() - cut.len()) as i64 - fraction.len() as i64,
        })
    }

    /// The number without an exponent, and without zeros that add nothing.
    fn plain(&self) -> Option<String> {
        const MAX_ZEROS: u64 = 1_000;
        let Self { sign, digits, exponent } = self;
        if digits.is_empty() {
            return Some("0".to_owned());
        }
        if exponent.unsigned_abs() > MAX_ZEROS {
            return None;
        }
        let places = exponent.unsigned_abs() as usize;
        Some(match *exponent {
            0.. => format!("{sign}{digits}{}", "0".repeat(places)),
            _ if places < digits.len() => {
                let (whole, fraction) = digits.split_at(digits.len() - places);
                format!("{sign}{whole}.{fraction}")
            }
            _ => format!("{sign}0.{digits:0>places$}"),
        })
    }
}

/// The value of a text as [`spelled`] writes it, with numbers in their plainest spelling but for a fraction where they were no
/// integer literals, which matters in draft 4; `None` where a number is too long for that, or for the judge.
pub fn read(text: &str) -> Option<Value> {
    with_numbers(&strict_json::parse(text, 256).ok()?.value, |text, plain| {
        if text.contains(['.', 'e', 'E']) && !plain.contains('.') {
            plain.push_str(".0");
        }
    })
}

/// `value` with its numbers in their plainest spelling; `None` where a number is too long for that, or for the judge.
pub fn plain(value: &Value) -> Option<Value> {
    with_numbers(value, |_, _| {})
}

/// Maximal number of digits of a fraction for which the judge decides `multipleOf` exactly: it reads fractions as doubles.
const MAX_FRACTION_DIGITS: usize = 15;

/// `value` with numbers in their plainest spelling, each changed by its text.
fn with_numbers(value: &Value, change: fn(&str, &mut String)) -> Option<Value> {
    Some(match value {
        Value::Number(number) => {
            let text = number.to_string();
            let mut plain = Digits::of(&text)?.plain()?;
            let digits = plain.bytes().filter(u8::is_ascii_digit).count();
            if plain.contains('.') && digits > MAX_FRACTION_DIGITS {
                return None;
            }
            change(&text, &mut plain);
            Value::Number(plain.parse().ok()?)
        }
        Value::Array(items) => {
            let items = items.iter().map(|item| with_numbers(item, change));
            Value::Array(items.collect::<Option<_>>()?)
        }
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(name, member)| Some((name.clone(), with_numbers(member, change)?)));
            Value::Object(members.collect::<Option<_>>()?)
        }
        other => other.clone(),
    })
}
