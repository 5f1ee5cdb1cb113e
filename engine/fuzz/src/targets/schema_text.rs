//! Fuzz target: no text makes the compiler panic.

use std::sync::LazyLock;

use maskwright::lint::lint;
use maskwright::{CompileErrorKind, Compiler, ExactCompiler, ExactOptions, Formats, MaskError};

use super::{ANY, Language, Outcome, TargetResult, discrepancy, mask_problem, mistyped};
use crate::engine::{STYLES, compiler, vocabulary};
use crate::{Choices, schema, spelling};

/// Pieces of JSON and of schemas.
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
        _ => {
            let schema = schema::random(&mut choices);
            let text = spelling::spelled(&mut choices, &schema);
            mistyped(&mut choices, &text, &PIECES)
        }
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
        Ok(mask) => match mask_problem(mask, false, &vocabulary(), Language::Json) {
            Some(problem) => Err(discrepancy(problem, &text, "")),
            None => Ok(Outcome::Agreement(1)),
        },
    }
}
