//! [`FailureData`]: failures in the compact form that a page embeds. A list of tens of thousands opens at once, and the details of a failure are
//! looked up when the reader asks for them.

use std::collections::HashMap;

use serde_json::json;

use crate::results::failures::Failure;
use crate::terminal::harmless;

/// Characters of a name or reason in the list.
const IN_LIST: usize = 200;
/// Largest number of bytes shown of a schema or text; of a text with a failing byte, before that byte and after it.
const TEXT: usize = 8_000;
/// Bytes of all schemas and texts of a page: more would take a second to open.
const ALL_TEXTS: usize = 6 << 20;

/// The failures of a page.
#[derive(Debug, Default)]
pub struct FailureData {
    strings: Strings,
    /// For each failure the numbers of its strings, in the order of [`COLUMNS`], followed by the number of its details, or -1.
    rows: Vec<Vec<i64>>,
    texts: Strings,
    /// For each failure with details: schema, text up to the byte, text from there, and explanation, as numbers of texts or -1; and the byte.
    details: Vec<[i64; 5]>,
    text_bytes: usize,
    left_out: usize,
}

/// The columns of the list.
pub const COLUMNS: [&str; 8] = [
    "run",
    "failure",
    "model",
    "framework",
    "dataset",
    "name",
    "keyword",
    "reason",
];

/// Texts, each once.
#[derive(Debug, Default)]
struct Strings {
    numbers: HashMap<String, i64>,
    texts: Vec<String>,
}

impl Strings {
    fn number(&mut self, text: String) -> i64 {
        if let Some(number) = self.numbers.get(&text) {
            return *number;
        }
        let number = self.texts.len() as i64;
        self.texts.push(text.clone());
        self.numbers.insert(text, number);
        number
    }
}

impl FailureData {
    /// The data of failures, in their order.
    pub fn new(failures: &[Failure]) -> Self {
        let mut data = Self::default();
        for failure in failures {
            data.add(failure);
        }
        data
    }

    /// Failures whose schema and text are left out, because the page has enough to read without.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    fn add(&mut self, failure: &Failure) {
        let columns = [
            failure.run_of,
            failure.kind,
            &failure.model,
            &failure.framework,
            &failure.dataset,
            &failure.name,
            &failure.keyword,
            &failure.reason,
        ];
        let mut row: Vec<i64> = columns
            .into_iter()
            .map(|text| self.strings.number(in_list(text)))
            .collect();
        row.push(self.add_details(failure));
        self.rows.push(row);
    }

    fn add_details(&mut self, failure: &Failure) -> i64 {
        if failure.schema.is_none() && failure.text.is_none() && failure.reason.chars().count() <= IN_LIST {
            return -1;
        }
        if self.text_bytes > ALL_TEXTS {
            self.left_out += 1;
            return -1;
        }
        let (before, after) = match (&failure.text, failure.byte) {
            (None, _) => (None, None),
            (Some(text), None) => (Some(shortened(text, TEXT)), None),
            (Some(text), Some(byte)) => {
                // The byte may be within a character.
                let at = (0..=byte.min(text.len()))
                    .rev()
                    .find(|at| text.is_char_boundary(*at))
                    .unwrap_or(0);
                (Some(end_of(&text[..at], TEXT)), Some(shortened(&text[at..], TEXT)))
            }
        };
        let explanation = match (&failure.explanation, failure.reason.chars().count() > IN_LIST) {
            (Some(explanation), _) => Some(shortened(explanation, TEXT)),
            (None, true) => Some(shortened(&failure.reason, TEXT)),
            (None, false) => None,
        };
        let schema = failure.schema.as_ref().map(|schema| shortened(schema, TEXT));
        let mut number = |text: Option<String>| match text {
            Some(text) => {
                let known = self.texts.texts.len();
                let (bytes, number) = (text.len(), self.texts.number(text));
                self.text_bytes += if number as usize == known { bytes } else { 0 };
                number
            }
            None => -1,
        };
        let byte = failure.byte.map_or(-1, |byte| byte as i64);
        self.details
            .push([number(schema), number(before), number(after), number(explanation), byte]);
        self.details.len() as i64 - 1
    }

    /// Returns the list of failures as JSON: `columns`, `strings`, and `rows` as numbers of strings.
    pub fn list(&self) -> String {
        json!({"columns": COLUMNS, "strings": self.strings.texts, "rows": self.rows}).to_string()
    }

    /// Returns the details of failures as JSON: `texts`, and `details` as numbers of texts.
    pub fn details(&self) -> String {
        json!({"texts": self.texts.texts, "details": self.details}).to_string()
    }
}

fn in_list(text: &str) -> String {
    let line = crate::terminal::one_line(text);
    match line.char_indices().nth(IN_LIST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// A text without control characters, of `most` bytes at most and a word about the rest.
fn shortened(text: &str, most: usize) -> String {
    if text.len() <= most {
        return harmless(text).into_owned();
    }
    let end = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}… ({} bytes more)", harmless(&text[..end]), text.len() - end)
}

/// The last `most` bytes of a text, without control characters, and a word about what comes before.
fn end_of(text: &str, most: usize) -> String {
    let wanted = text.len().saturating_sub(most);
    let start = (wanted..=text.len())
        .find(|start| text.is_char_boundary(*start))
        .unwrap_or(0);
    match start {
        0 => harmless(text).into_owned(),
        _ => format!("({start} bytes before) …{}", harmless(&text[start..])),
    }
}
