//! Forced tokens: the tokens into which the model's tokenizer would split the bytes that must come next.

use crate::automaton::{Automaton, AutomatonError, State};
use crate::{TokenId, Vocabulary};

use super::index::tokens::TokenIndex;

/// Maximal number of forced bytes found by one call.
const MAX_BYTES: usize = 1024;
/// Bytes before the forced ones that the tokenizer sees: enough for it to begin as it would in the whole text.
const CONTEXT_BYTES: usize = 16;

/// Texts that are read byte by byte.
pub(crate) trait ReadBytes<P> {
    /// The state after a byte; none where no text continues with it.
    fn step(&mut self, at: &P, byte: u8) -> Result<Option<P>, AutomatonError>;

    /// The one byte that can come next, and its target state; none where there are several, or where the text may end.
    fn forced_byte(&mut self, at: &P) -> Result<Option<(u8, P)>, AutomatonError>;
}

impl ReadBytes<State> for Automaton {
    fn step(&mut self, at: &State, byte: u8) -> Result<Option<State>, AutomatonError> {
        Automaton::step(self, *at, byte)
    }

    fn forced_byte(&mut self, at: &State) -> Result<Option<(u8, State)>, AutomatonError> {
        Automaton::forced_byte(self, *at)
    }
}

/// The bytes that must come next, up to a limit, and the state behind them.
pub(crate) fn forced_bytes<P: Clone>(texts: &mut impl ReadBytes<P>, at: &P) -> Result<(Vec<u8>, P), AutomatonError> {
    let (mut end, mut bytes) = (at.clone(), Vec::new());
    while bytes.len() < MAX_BYTES
        && let Some((byte, next)) = texts.forced_byte(&end)?
    {
        bytes.push(byte);
        end = next;
    }
    Ok((bytes, end))
}

/// The tokens that must come next, as the tokenizer itself would write them whatever follows; none without a tokenizer.
pub(crate) fn forced_tokens<P: Clone>(
    vocabulary: &Vocabulary,
    tokens: &TokenIndex,
    texts: &mut impl ReadBytes<P>,
    at: &P,
    before: &[TokenId],
) -> Result<Vec<TokenId>, AutomatonError> {
    let Some(tokenizer) = vocabulary.tokenizer() else {
        return Ok(Vec::new());
    };
    let (bytes, end) = forced_bytes(texts, at)?;
    if bytes.is_empty() {
        return Ok(Vec::new());
    }
    // If the text goes on, a token may begin within the forced bytes and end past them. Tokens are forced as far as
    // they are the same wherever the first such token begins.
    let mut ends = vec![bytes.len()];
    for start in bytes.len().saturating_sub(tokens.longest)..bytes.len() {
        let step = |at: &P, byte| texts.step(at, byte);
        if tokens.every.goes_beyond(&bytes[start..], end.clone(), step)? {
            match start {
                0 => return Ok(Vec::new()),
                _ => ends.push(start),
            }
        }
    }
    if let Some(start) = last_of_spaces(&bytes)
        && !ends.contains(&start)
        && goes_on_without_space(texts, &end)?
    {
        ends.push(start);
    }
    let mut spelled = ends
        .iter()
        .map(|&end| tokens_after(vocabulary, &|text| tokenizer.tokenize(text), before, &bytes[..end]));
    let mut forced = spelled.next().unwrap_or_default();
    for otherwise in spelled {
        let same = forced.iter().zip(&otherwise).take_while(|(one, other)| one == other);
        let same = same.count();
        forced.truncate(same);
    }
    Ok(forced)
}

/// The place of the last whitespace character of a text that ends in several. Tokenizers that split by `\s+(?!\S)|\s+` set this character
/// apart before anything but whitespace, also before digits, which it forms no token with.
fn last_of_spaces(text: &[u8]) -> Option<usize> {
    let end = text.utf8_chunks().last().filter(|chunk| chunk.invalid().is_empty())?;
    let mut backwards = end.valid().chars().rev();
    let (last, before) = (backwards.next()?, backwards.next()?);
    (last.is_whitespace() && before.is_whitespace()).then(|| text.len() - last.len_utf8())
}

/// Whether a byte can come next that is not whitespace.
fn goes_on_without_space<P>(texts: &mut impl ReadBytes<P>, at: &P) -> Result<bool, AutomatonError> {
    for byte in (0..=u8::MAX).filter(|byte| !byte.is_ascii_whitespace()) {
        if texts.step(at, byte)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The tokens of `text` where it stands after the tokens `before`.
fn tokens_after(
    vocabulary: &Vocabulary,
    tokenize: &dyn Fn(&[u8]) -> Vec<TokenId>,
    before: &[TokenId],
    text: &[u8],
) -> Vec<TokenId> {
    let mut length = 0;
    let near = before.iter().rev().take_while(|token| {
        let within = length < CONTEXT_BYTES;
        length += vocabulary.token_bytes(**token).len();
        within
    });
    let context = &before[before.len() - near.count()..];
    let whole = tokenize(&[&vocabulary.text_bytes(context), text].concat());
    let tokens = match whole.strip_prefix(context) {
        Some(tokens) => tokens.to_vec(),
        // The tokens there are not those that the tokenizer would have written.
        None => tokenize(text),
    };
    match vocabulary.text_bytes(&tokens) == text {
        true => tokens,
        false => Vec::new(),
    }
}
