//! [`Probe`]: a framework that judges documents, and [`smallest`]: reduction of a document that shows a defect.

use std::time::{Duration, Instant};

use maskwright_suites::json_text;
use maskwright_suites::validate::Validator;
use serde_json::Value;

use super::mutate::reductions;

/// A framework that judges texts: each is accepted, rejected, or left without an answer (`None`).
pub trait Probe {
    /// The verdicts on `texts`, which are all valid, or all invalid.
    fn accepts(&mut self, texts: &[String], valid: bool) -> Vec<Option<bool>>;
}

/// Rounds of making a document smaller.
const ROUNDS: usize = 12;
/// Largest size of a document, in bytes, that is reduced: each smaller candidate is a copy of the document.
const MAX_BYTES: usize = 20_000;
/// Time after which no further round begins, since every round compiles the schema anew.
const TIME_FOR_ROUNDS: Duration = Duration::from_secs(10);
/// Smaller documents tried in each round.
const TRIED: usize = 48;

/// Reduces `text` to the smallest text found on which the framework is wrong in the same way: the result is valid or invalid as `valid` says, and the
/// framework still says the opposite. A long text is returned as it is.
pub fn smallest(text: &str, valid: bool, judge: Option<&Validator>, probe: &mut dyn Probe) -> String {
    let mut best = text.to_owned();
    let Some(judge) = judge.filter(|_| text.len() <= MAX_BYTES) else {
        return best;
    };
    let begun = Instant::now();
    for _ in 0..ROUNDS {
        if begun.elapsed() > TIME_FOR_ROUNDS {
            break;
        }
        let Ok(value) = serde_json::from_str::<Value>(&best) else {
            break;
        };
        let smaller: Vec<String> = reductions(&value, TRIED)
            .iter()
            .filter_map(|value| json_text::python_string(value).ok())
            .filter(|text| text.len() < best.len() && judge.judge(text).valid == valid)
            .collect();
        if smaller.is_empty() {
            break;
        }
        let verdicts = probe.accepts(&smaller, valid);
        let is_wrong = |verdict: &Option<bool>| *verdict == Some(!valid);
        let wrong = smaller.iter().zip(&verdicts).filter(|(_, verdict)| is_wrong(verdict));
        match wrong.map(|(text, _)| text).min_by_key(|text| text.len()) {
            Some(found) => best.clone_from(found),
            None => break,
        }
    }
    best
}
