//! Fuzz target: documents are accepted if and only if the crate `jsonschema` finds them valid.

use maskwright::MaskError;
use maskwright_suites::validate::Validator;
use serde_json::Value;

use super::{ANY, Compiled, Discrepancy, Outcome, PLAIN, TargetResult, compiled, discrepancy};
use crate::engine::{accepts, vocabulary};
use crate::{Choices, document, schema, shrink, spelling};

/// A random schema and documents: accepted if and only if valid, in any spelling, cut into any tokens.
///
/// # Errors
///
/// A disagreement, with the schema and document made as small as it allows.
pub fn agreement(bytes: &[u8]) -> TargetResult {
    const DOCUMENTS: usize = 16;
    let mut choices = Choices::new(bytes);
    let schema = schema::random(&mut choices);
    let mut maskers = Vec::new();
    for style in [ANY, PLAIN] {
        match compiled(&spelling::spelled(&mut choices, &schema), style)? {
            Compiled::Masker(masker) => maskers.push(masker),
            Compiled::Refused(Outcome::Unsatisfiable) => {}
            Compiled::Refused(why) => return Ok(why),
        }
    }
    let judge = match Validator::from_value(&schema) {
        Ok(judge) => judge,
        Err(error) => {
            return Err(discrepancy(
                format!("only the judge refuses it: {error}"),
                &schema.to_string(),
                "",
            ));
        }
    };
    let mut document = document::for_schema(&mut choices, &schema, &schema, 5);
    for _ in 0..DOCUMENTS {
        let texts = [
            spelling::spelled(&mut choices, &document),
            pretty(&mut choices, &document),
        ];
        for (style, text) in texts.into_iter().enumerate() {
            let Some(read) = spelling::read(&text) else { continue };
            let valid = judge.judge_value(&read).valid;
            let accepted = match maskers.get(style) {
                None => Ok(false),
                Some(masker) => accepts(&**masker, &vocabulary(), text.as_bytes(), &mut choices),
            };
            match accepted {
                Err(MaskError::LimitExceeded(_)) => return Ok(Outcome::Limit),
                Err(error) => return Err(discrepancy(error.to_string(), &schema.to_string(), text)),
                Ok(accepted) if accepted != valid => return Err(smallest(&schema, &document, &text, valid)),
                Ok(_) => {}
            }
        }
        document = match choices.below(3) {
            0 => document::changed(&mut choices, &document),
            _ => document::for_schema(&mut choices, &schema, &schema, 5),
        };
    }
    Ok(match maskers.len() {
        0 => Outcome::Unsatisfiable,
        2 => Outcome::Agreement(DOCUMENTS),
        _ => return Err(discrepancy("unsatisfiable in one style only", &schema.to_string(), "")),
    })
}

/// `document` as serde_json writes it, on one line or indented.
fn pretty(choices: &mut Choices<'_>, document: &Value) -> String {
    match choices.below(2) {
        0 => document.to_string(),
        _ => format!("{document:#}"),
    }
}

/// A small schema and document that are judged in two ways, or these where that depends on how they are spelled.
fn smallest(schema: &Value, document: &Value, text: &str, valid: bool) -> Box<Discrepancy> {
    let differ =
        |schema: &Value, document: &Value| verdicts(schema, document).is_some_and(|(engine, judge)| engine != judge);
    let wrong = |engine: bool| format!("{} by the engine, {} by the judge", words(engine), words(!engine));
    if !differ(schema, document) {
        return discrepancy(wrong(!valid), &schema.to_string(), text);
    }
    let schema = shrink::shrunk(schema, |schema| differ(schema, document));
    let document = shrink::shrunk(document, |document| differ(&schema, document));
    let schema = shrink::shrunk(&schema, |schema| differ(schema, &document));
    let engine = verdicts(&schema, &document).is_some_and(|(engine, _)| engine);
    discrepancy(wrong(engine), &schema.to_string(), document.to_string())
}

fn words(valid: bool) -> &'static str {
    if valid { "valid" } else { "invalid" }
}

/// The verdicts of the engine and of the judge on a document; `None` if one of them refuses the schema.
fn verdicts(schema: &Value, document: &Value) -> Option<(bool, bool)> {
    let text = document.to_string();
    let engine = match compiled(&schema.to_string(), ANY).ok()? {
        Compiled::Masker(masker) => accepts(&*masker, &vocabulary(), text.as_bytes(), &mut Choices::new(&[])).ok()?,
        Compiled::Refused(Outcome::Unsatisfiable) => false,
        Compiled::Refused(_) => return None,
    };
    let judge = Validator::from_value(schema).ok()?;
    Some((engine, judge.judge_value(document).valid))
}
