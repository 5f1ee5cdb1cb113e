//! Fuzz target: a single call does a bounded amount of work, whatever the schema and the document.

use maskwright::{MaskError, Masker, TokenId};

use super::{Compiled, Outcome, TargetResult, compiled, discrepancy};
use crate::engine::{STYLES, vocabulary};
use crate::meter::Meter;
use crate::{Choices, document, schema};

/// Bytes that one call of a masker may ask for. A thousandth of this is usual.
const BYTES_PER_CALL: u64 = 16 << 20;
/// Bytes that compilation may ask for, for each byte of the schema. A fiftieth of this is usual.
const BYTES_PER_SCHEMA_BYTE: u64 = 64 << 10;
/// Documents that are written under one schema.
const DOCUMENTS: usize = 4;

/// Several random schemas in one, and documents: no call allocates more memory than the bound, and a schema that compiles causes no limit
/// error later. [`Meter`] has to be the program's allocator.
///
/// # Errors
///
/// A call beyond the bound, or a limit that is reached after compilation.
pub fn work(bytes: &[u8]) -> TargetResult {
    let mut choices = Choices::new(bytes);
    let schema = schema::wide(&mut choices);
    let text = schema.to_string();
    let before = Meter::allocated();
    let start = compiled(&text, choices.below(STYLES.len()))?;
    let spent = Meter::allocated() - before;
    if spent > BYTES_PER_SCHEMA_BYTE * text.len() as u64 {
        return Err(discrepancy(format!("compilation asks for {spent} bytes"), &text, ""));
    }
    let start = match start {
        Compiled::Masker(masker) => masker,
        Compiled::Refused(why) => return Ok(why),
    };
    for _ in 0..DOCUMENTS {
        let document = document::for_schema(&mut choices, &schema, &schema, 5).to_string();
        write(&*start, &document).map_err(|(what, written)| discrepancy(what, &text, &document[..written]))?;
    }
    Ok(Outcome::Agreement(DOCUMENTS))
}

/// Writes a document token by token until it ends or a token is refused, and measures each call. Returns the defect with the
/// number of bytes written before.
fn write(start: &dyn Masker, document: &str) -> Result<(), (String, usize)> {
    let vocabulary = vocabulary();
    let tokens = vocabulary
        .tokenizer()
        .map(|tokenizer| tokenizer.tokenize(document.as_bytes()));
    let mut written = 0;
    let mut masker = start.fork().map_err(|error| (error.to_string(), 0))?;
    for token in tokens.unwrap_or_default() {
        measured("mask", written, || masker.mask().map(drop))?;
        let mut tokens: Vec<TokenId> = Vec::new();
        measured("forced_tokens", written, || masker.forced_tokens(&mut tokens))?;
        measured("completion", written, || masker.completion(&mut tokens).map(drop))?;
        measured("fork", written, || masker.fork().map(drop))?;
        match measured("advance", written, || match masker.advance(token) {
            Err(MaskError::TokenRefused { .. }) => Ok(false),
            other => other.map(|()| true),
        })? {
            true => written += vocabulary.token_bytes(token).len(),
            false => return Ok(()),
        }
    }
    Ok(())
}

/// Runs a call, unless it asks for more memory than it may.
fn measured<T>(name: &str, written: usize, call: impl FnOnce() -> Result<T, MaskError>) -> Result<T, (String, usize)> {
    let before = Meter::allocated();
    let result = call().map_err(|error| (format!("{name}: {error}"), written))?;
    let spent = Meter::allocated() - before;
    match spent > BYTES_PER_CALL {
        true => Err((format!("{name} asks for {spent} bytes"), written)),
        false => Ok(result),
    }
}
