//! The fuzz targets: functions from an input of bytes to agreement, a skipped case or a discrepancy.

mod agreement;
mod grammar_text;
mod schema_text;
mod small_world;
mod vocabulary;
mod walk;
mod work;

use std::fmt;

use maskwright::{CompileErrorKind, Masker, TokenId, TokenMask, Vocabulary};

use crate::Choices;
use crate::engine::compile;

pub use agreement::agreement;
pub use grammar_text::grammar_text;
pub use schema_text::schema_text;
pub use small_world::small_world;
pub use vocabulary::vocabulary_masks;
pub use walk::walk;
pub use work::work;

/// The outcome of one input of a fuzz target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// The comparisons agreed, of which there were so many.
    Agreement(usize),
    /// The schema has no valid document, says the engine, and none was found.
    Unsatisfiable,
    /// A reference that leads to the very value it stands at, without end, or from the names of an object to the object, is refused.
    Circular,
    /// The engine reached a limit of its own and said so.
    Limit,
    /// No work came to an end within this target's patience.
    Nothing,
}

/// The engine at odds with something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discrepancy {
    /// The disagreement that was found, in words.
    pub what: String,
    /// The schema, as small as it was made.
    pub schema: String,
    /// The document or the beginning of one.
    pub text: String,
}

impl fmt::Display for Discrepancy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nschema: {}\ntext:   {:?}", self.what, self.schema, self.text)
    }
}

/// The result of a target on one input.
pub type TargetResult = Result<Outcome, Box<Discrepancy>>;

fn discrepancy(what: impl Into<String>, schema: &str, text: impl Into<String>) -> Box<Discrepancy> {
    Box::new(Discrepancy {
        what: what.into(),
        schema: schema.to_owned(),
        text: text.into(),
    })
}

/// All of JSON, by its position in [`STYLES`](crate::engine::STYLES).
const ANY: usize = 0;
/// The style that serde_json writes in, by its position in [`STYLES`](crate::engine::STYLES).
const PLAIN: usize = 2;

/// A compiled schema, or why there is none.
enum Compiled {
    Masker(Box<dyn Masker>),
    Refused(Outcome),
}

fn compiled(schema: &str, style: usize) -> Result<Compiled, Box<Discrepancy>> {
    let refused = match compile(schema, style) {
        Ok(masker) => return Ok(Compiled::Masker(masker)),
        Err(error) => error,
    };
    match refused.kind() {
        CompileErrorKind::Unsatisfiable => Ok(Compiled::Refused(Outcome::Unsatisfiable)),
        CompileErrorKind::LimitExceeded => Ok(Compiled::Refused(Outcome::Limit)),
        CompileErrorKind::Malformed | CompileErrorKind::Unsupported
            if refused.message().contains("leads back to the value") =>
        {
            Ok(Compiled::Refused(Outcome::Circular))
        }
        _ => Err(discrepancy(format!("refused: {refused}"), schema, "")),
    }
}

/// The reason for which a walk ends before its time.
enum WalkError {
    Limit,
    Wrong(String, String),
}

/// The text with up to three changes: one of `pieces` put in, or a few characters taken out or doubled.
fn mistyped(choices: &mut Choices<'_>, text: &str, pieces: &[&str]) -> String {
    let mut text: Vec<char> = text.chars().collect();
    for _ in 0..choices.below(4) {
        let at = choices.below(text.len() + 1);
        let end = (at + choices.below(8)).min(text.len());
        let piece: Vec<char> = match choices.below(3) {
            0 => Vec::new(),
            1 => choices.pick(pieces).chars().collect(),
            _ => text[at..end].repeat(2),
        };
        text.splice(at..end, piece);
    }
    text.into_iter().collect()
}

/// The language of the texts that a mask continues, which says whether whitespace alone may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    /// JSON, in which something else has to come behind whitespace.
    Json,
    /// A grammar, whose texts may end in whitespace.
    Grammar,
}

/// Describes the defect of a mask, judged without other masks; `None` if it has none.
fn mask_problem(mask: &TokenMask, complete: bool, vocabulary: &Vocabulary, language: Language) -> Option<String> {
    if vocabulary.eos_tokens().iter().any(|&end| mask.allows(end) != complete) {
        return Some("the end is in the mask and not allowed, or the other way round".to_owned());
    }
    let is_space = |token: TokenId| vocabulary.token_bytes(token).iter().all(u8::is_ascii_whitespace);
    let goes_on = |token: TokenId| language == Language::Grammar || !is_space(token);
    let alive = complete || mask.iter().any(|token| !vocabulary.is_eos(token) && goes_on(token));
    (!alive).then(|| "a dead end: nothing but whitespace may follow".to_owned())
}
