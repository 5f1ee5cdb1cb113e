//! Fuzz target: masks over odd vocabularies agree with those that follow from single bytes.

use std::sync::Arc;

use maskwright::{Compiler, Formats, MaskError, Masker, TokenId, Vocabulary};

use super::{Compiled, Outcome, TargetResult, WalkError, compiled, discrepancy};
use crate::engine::{STYLES, allowed_by_bytes, compiler, vocabulary_of};
use crate::{Choices, document, schema, spelling};

/// Compares masks over a random vocabulary of odd tokens with those that follow from single bytes, along a random walk.
///
/// # Errors
///
/// A token that is allowed and should not be, or the other way round.
pub fn vocabulary_masks(bytes: &[u8]) -> TargetResult {
    let mut choices = Choices::new(bytes);
    let vocabulary = Arc::new(odd_vocabulary(&mut choices));
    let schema = schema::random(&mut choices).to_string();
    let style = choices.below(3);
    let by_bytes = match compiled(&schema, style)? {
        Compiled::Masker(masker) => masker,
        Compiled::Refused(why) => return Ok(why),
    };
    let by_tokens = compiler(vocabulary.clone(), Formats::Annotation, STYLES[style]).compile(&schema);
    let by_tokens = by_tokens.map_err(|error| discrepancy(format!("refused: {error}"), &schema, ""))?;
    match masks_along_a_walk(by_tokens, by_bytes, &vocabulary, &mut choices) {
        Ok(steps) => Ok(Outcome::Agreement(steps)),
        Err(WalkError::Limit) => Ok(Outcome::Limit),
        Err(WalkError::Wrong(what, text)) => Err(discrepancy(format!("in style {style}, {what}"), &schema, text)),
    }
}

fn masks_along_a_walk(
    mut by_tokens: Box<dyn Masker>,
    mut by_bytes: Box<dyn Masker>,
    vocabulary: &Vocabulary,
    choices: &mut Choices<'_>,
) -> Result<usize, WalkError> {
    const STEPS: usize = 12;
    let mut text = Vec::new();
    for step in 0..STEPS {
        let shown = String::from_utf8_lossy(&text).into_owned();
        let stop = |error: MaskError| match error {
            MaskError::LimitExceeded(_) => WalkError::Limit,
            other => WalkError::Wrong(other.to_string(), shown.clone()),
        };
        let mask = by_tokens.mask().map_err(stop)?.clone();
        for token in 0..vocabulary.len() as TokenId {
            let expected = allowed_by_bytes(&*by_bytes, vocabulary, token).map_err(stop)?;
            if mask.allows(token) != expected {
                let token = String::from_utf8_lossy(vocabulary.token_bytes(token)).into_owned();
                let what = format!(
                    "token {token:?} is {} in the mask",
                    if expected { "not" } else { "wrongly" }
                );
                return Err(WalkError::Wrong(what, shown));
            }
        }
        let allowed: Vec<TokenId> = mask.iter().filter(|&token| !vocabulary.is_eos(token)).collect();
        let Some(at) = choices.position(&allowed) else {
            return Ok(step + 1);
        };
        by_tokens.advance(allowed[at]).map_err(stop)?;
        for &byte in vocabulary.token_bytes(allowed[at]) {
            by_bytes.advance(TokenId::from(byte)).map_err(stop)?;
            text.push(byte);
        }
    }
    Ok(STEPS)
}

/// Tokens cut out of random documents at random places, and bytes of any kind; some twice, some empty, some long.
fn odd_vocabulary(choices: &mut Choices<'_>) -> Vocabulary {
    let mut texts: Vec<Vec<u8>> = Vec::new();
    for _ in 0..4 {
        let value = document::any(choices, 3);
        let text = spelling::spelled(choices, &value).into_bytes();
        for _ in 0..10 {
            let start = choices.below(text.len());
            let end = (start + 1 + choices.below(7)).min(text.len());
            texts.push(text[start..end].to_vec());
        }
    }
    for _ in 0..choices.below(8) {
        texts.push((0..choices.below(4)).map(|_| choices.below(256) as u8).collect());
    }
    for _ in 0..choices.below(3) {
        let byte = b" a\"0["[choices.below(5)];
        texts.push(vec![byte; 1_020 + choices.below(10)]);
    }
    for byte in b"{}[]\",:01ab \\" {
        if choices.chance(70) {
            texts.push(vec![*byte]);
        }
    }
    // Over ASCII alone, a compiler escapes other characters, which the one over single bytes does not.
    texts.push("é".as_bytes()[..1].to_vec());
    vocabulary_of(texts)
}
