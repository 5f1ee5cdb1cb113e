//! Fuzz target: no text makes the compiler panic.

use std::sync::LazyLock;

use maskwright::lint::lint;
use maskwright::{CompileErrorKind, Compiler, ExactCompiler, ExactOptions, Formats, MaskError};

use super::{ANY, Outcome, TargetResult, discrepancy, mask_problem};
use crate::engine::{STYLES, compiler, vocabulary};
use crate::{Choices, schema, spelling};

/// Any bytes as a schema's text, or the text of a schema with something changed. Compiling gives a masker whose first mask
/// is not empty, or a typed error; it never panics.
///
/// # Errors
///
/// A mask that is empty.
pub fn schema_text(bytes: &[u8]) -> TargetResult {
    static COMPILERS: LazyLock<[ExactCompiler; 2]> = LazyLock::new(|| {
        [Formats::Annotation, Formats::Asserted].map(|formats| compiler(vocabulary(), formats, STYLES[ANY]))
    });
    let mut choices = Choices::new(bytes);
    let which = choices.below(2);
    let text = match choices.below(3) {
        0 => String::from_utf8_lossy(choices.rest()).into_owned(),
        _ => mistyped(&mut choices),
    };
    if lint(&text, &ExactOptions::default())
        .iter()
        .any(|warning| warning.message().is_empty())
    {
        return Err(discrepancy("a warning says nothing", &text, ""));
    }
    let mut masker = match COMPILERS[which].compile(&text) {
        Ok(masker) => masker,
        Err(error) if error.to_string().is_empty() => return Err(discrepancy("an error says nothing", &text, "")),
        Err(error) if error.kind() == CompileErrorKind::Internal => {
            return Err(discrepancy(error.to_string(), &text, ""));
        }
        Err(_) => return Ok(Outcome::Nothing),
    };
    match masker.mask() {
        Err(MaskError::LimitExceeded(_)) => Ok(Outcome::Limit),
        Err(error) => Err(discrepancy(error.to_string(), &text, "")),
        Ok(mask) => match mask_problem(mask, false, &vocabulary()) {
            Some(problem) => Err(discrepancy(problem, &text, "")),
            None => Ok(Outcome::Agreement(1)),
        },
    }
}

/// The text of a random schema with pieces of JSON and of schemas put in, taken out or doubled.
fn mistyped(choices: &mut Choices<'_>) -> String {
    const PIECES: [&str; 24] = [
        "\"",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\\",
        "\\u",
        "\\ud800",
        "-",
        "1e999999999",
        "0.",
        "null",
        "\"$ref\":",
        "\"#/$defs/p\"",
        "\"\"",
        "\"$id\":\"x\",",
        "\"$dynamicRef\":\"#d\",",
        "true",
        "[[[[",
        "(?=a)",
        "\"format\":\"date\",",
        "é",
    ];
    let schema = schema::random(choices);
    let mut text: Vec<char> = spelling::spelled(choices, &schema).chars().collect();
    for _ in 0..choices.below(4) {
        let at = choices.below(text.len() + 1);
        let end = (at + choices.below(8)).min(text.len());
        let piece: Vec<char> = match choices.below(3) {
            0 => Vec::new(),
            1 => choices.pick(&PIECES).chars().collect(),
            _ => text[at..end].repeat(2),
        };
        text.splice(at..end, piece);
    }
    text.into_iter().collect()
}
