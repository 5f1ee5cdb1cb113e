//! [`judge`]: reads the answer from a model's text, and judges whether it is right.
//!
//! Answers are judged as the paper's table 14 says: letters by a case-sensitive exact match, choices by an exact match, numbers by
//! their value. What a model writes is read in two ways:
//!
//! - **Strictly**: the text is one JSON object with a string `reasoning` and an `answer` of the task's form, and nothing else around it.
//! - **Leniently**: what is read strictly, or else the first place in the text that looks like the member `answer` with a value of the task's form,
//!   whatever is around it. This is more than the regular expressions accept of the experiments that the paper follows, such as
//!   `"answer":[ ]?([1-9][0-9]{0,9})`: any whitespace, single quotes, choices with or without parentheses, and numbers with a sign, a fraction, an
//!   exponent, thousands separators, a currency sign or quotes, so that no answer is wrong for its spelling alone. A place where more than the
//!   value stands, as in `3 * 6 = 18`, is no answer, and neither is a number that the end of the text may have cut in two.

use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::choices;
use super::numerals::Numeral;
use crate::strict_json;

/// The form of a task's answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerForm {
    /// Letters from a to z.
    Letters,
    /// One of so many letters from A on, in parentheses.
    Choice(u8),
    /// A number.
    Number,
}

/// An answer as it was read, and whether it is right.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// The answer, in its plainest spelling; `None` where there is none to be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Whether it is the right one.
    pub correct: bool,
}

/// An answer read in both ways.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// Strictly: the text is one JSON object with both members.
    pub strict: Reading,
    /// Leniently: strictly, or else by the first place that looks like the answer.
    pub lenient: Reading,
}

/// End of a model's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextEnd {
    /// The model ended the text.
    Whole,
    /// A limit or a failure cut the text off, so that it might have gone on.
    CutOff,
}

/// Largest nesting depth of arrays and objects in an answer.
const MAX_DEPTH: usize = 64;

/// Reads the answer out of `text`, which ends as `end` says, and compares it with `expected`.
#[must_use]
pub fn judge(form: AnswerForm, expected: &str, text: &str, end: TextEnd) -> Judgement {
    let reading = |answer: Option<String>| Reading {
        correct: answer.as_deref().is_some_and(|answer| form.agree(answer, expected)),
        answer,
    };
    let strict = form.read_strictly(text);
    let lenient = strict.clone().or_else(|| form.read_leniently(text, end));
    Judgement {
        strict: reading(strict),
        lenient: reading(lenient),
    }
}

impl AnswerForm {
    /// The answer of an object with `reasoning` and `answer`, which is all of the text.
    fn read_strictly(self, text: &str) -> Option<String> {
        let document = strict_json::parse(text, MAX_DEPTH).ok()?;
        if !document.duplicates.is_empty() || !document.value.get("reasoning")?.is_string() {
            return None;
        }
        match (self, document.value.get("answer")?) {
            (Self::Letters, Value::String(letters)) => {
                let are_letters = !letters.is_empty() && letters.bytes().all(|byte| byte.is_ascii_lowercase());
                are_letters.then(|| letters.clone())
            }
            (Self::Choice(count), Value::String(choice)) => choices::letter(choice, count).map(|_| choice.clone()),
            (Self::Number, Value::Number(number)) => Some(number.to_string()),
            _ => None,
        }
    }

    /// The first value of this form behind something that looks like the name `answer`.
    fn read_leniently(self, text: &str, end: TextEnd) -> Option<String> {
        match self {
            Self::Letters => {
                let found = LETTERS.captures(text)?;
                Some(found.get(1).or(found.get(2))?.as_str().to_owned())
            }
            Self::Choice(count) => {
                let mut found = CHOICE.captures_iter(text).filter_map(|found| {
                    let whole = found.get(0)?;
                    let rest = &text[whole.end()..];
                    let is_bare = found.get(1).is_none();
                    let may_go_on = is_bare && rest.is_empty() && whole.as_str().ends_with(char::is_alphanumeric);
                    if OTHER_CHOICE.is_match(rest) || (may_go_on && end == TextEnd::CutOff) {
                        return None;
                    }
                    let letter = found.get(1).or(found.get(2))?.as_str().to_ascii_uppercase();
                    choices::letters(count)
                        .any(|known| letter.starts_with(known))
                        .then(|| format!("({letter})"))
                });
                found.next()
            }
            Self::Number => {
                let mut found = NUMBER.captures_iter(text).filter_map(|found| {
                    if !ends_number(&text[found.get(0)?.end()..], end) {
                        return None;
                    }
                    let sign = found.get(1).or(found.get(2)).map_or("", |_| "-");
                    let digits = found.get(3)?.as_str().replace(',', "");
                    Some(format!("{sign}{digits}"))
                });
                found.next()
            }
        }
    }

    /// Whether two answers of this form are the same.
    fn agree(self, answer: &str, expected: &str) -> bool {
        match self {
            Self::Letters | Self::Choice(_) => answer == expected,
            Self::Number => Numeral::read(answer).is_some_and(|value| Some(value) == Numeral::read(expected)),
        }
    }
}

/// Whether a number ends before `rest`: neither do its digits or letters go on there, nor does a calculation, nor is it cut off.
fn ends_number(rest: &str, end: TextEnd) -> bool {
    let is_cut_off = end == TextEnd::CutOff && rest.trim_start_matches(['.', ',']).trim().is_empty();
    !is_cut_off && !GOES_ON.is_match(rest)
}

#[expect(clippy::unwrap_used, reason = "the patterns are constants, which tests compile")]
fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap()
}

/// Returns the pattern of a name that looks like `answer`, its colon, and the value `value`.
fn behind_name(value: &str) -> Regex {
    pattern(&format!(r#"(?:"answer"|'answer')\s*:\s*{value}"#))
}

static LETTERS: LazyLock<Regex> = LazyLock::new(|| behind_name(r#"(?:"([A-Za-z]+)"|'([A-Za-z]+)')"#));
static CHOICE: LazyLock<Regex> =
    LazyLock::new(|| behind_name(r#"["']?\s*(?:\(([A-Za-z])\)|([A-Za-z])\s*(?:["'.,:;)}\]]|$))"#));
/// A second choice behind the first, so that there is none.
static OTHER_CHOICE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s*(?:or|and|[/|,&])\s*\([A-Za-z]\)"));
static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    behind_name(r#"["']?\s*(-)?\s*[$€£]?\s*(-)?((?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"#)
});
/// Continuation behind digits which shows that the number, or a calculation with it, goes on: a letter or digit, a mark with a
/// digit behind it, an operator, or a further number.
static GOES_ON: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:[\p{Alphabetic}_0-9]|[.,:][0-9]|\s*[-+*/^=×÷−·]|\s+[xX]?\s*[0-9])"));

#[cfg(test)]
mod tests;
