//! Converts XGrammar's jump-forward text to the tokens that a tokenizer would make of it.

use maskwright::{MaskError, TokenId, TokenMask, Vocabulary};
use xgrammar::GrammarMatcher;

use crate::bitmask::fill;
use crate::jump_forward::jump_forward;

/// Bytes before the forced ones that the tokenizer sees: enough for it to begin as it would in the whole text.
const CONTEXT_BYTES: usize = 64;

/// The tokens that must come next, as the tokenizer itself would write them whatever follows; none without a tokenizer.
///
/// The text may go on in the middle of a token: from the first place where a longer token could stand, tokens are not
/// forced.
///
/// # Errors
///
/// [`MaskError::Internal`], where XGrammar fails.
pub fn forced_tokens(
    matcher: &mut GrammarMatcher,
    vocabulary: &Vocabulary,
    before: &[TokenId],
) -> Result<Vec<TokenId>, MaskError> {
    let Some(tokenizer) = vocabulary.tokenizer() else {
        return Ok(Vec::new());
    };
    let bytes = jump_forward(matcher).unwrap_or_default();
    let text = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let tokenize = |text: &str| tokens_after(vocabulary, &|text| tokenizer.tokenize(text), before, text.as_bytes());
    let mut forced = tokenize(text);
    let next = bytes_after(matcher, vocabulary, text)?;
    for (start, _) in text.char_indices() {
        let rest = &text.as_bytes()[start..];
        if vocabulary.has_extension(rest, |byte| next[usize::from(byte)]) {
            let otherwise = tokenize(&text[..start]);
            let same = forced.iter().zip(&otherwise).take_while(|(one, other)| one == other);
            forced.truncate(same.count());
        }
        if forced.is_empty() {
            break;
        }
    }
    Ok(forced)
}

/// Returns for each byte whether it may come after `text`; a byte without a token of its own is taken to be possible.
fn bytes_after(matcher: &GrammarMatcher, vocabulary: &Vocabulary, text: &str) -> Result<[bool; 256], MaskError> {
    let mut after = matcher.fork();
    if !after.accept_string(text, None) {
        let message = "xgrammar: the matcher refuses the text that it forces".to_owned();
        return Err(MaskError::Internal(message));
    }
    let mut mask = TokenMask::none(vocabulary.len());
    fill(&mut after, &mut mask)?;
    Ok(std::array::from_fn(|byte| {
        let token = vocabulary.token_of(&[byte as u8]);
        token.is_none_or(|token| mask.allows(token))
    }))
}

/// The tokens of `text` where it stands after the tokens `before`.
fn tokens_after(
    vocabulary: &Vocabulary,
    tokenize: &dyn Fn(&[u8]) -> Vec<TokenId>,
    before: &[TokenId],
    text: &[u8],
) -> Vec<TokenId> {
    let mut length = 0;
    let near = before.iter().rev().take_while(|&&token| {
        let within = length < CONTEXT_BYTES;
        length += vocabulary.token_bytes(token).len();
        within
    });
    let context = &before[before.len() - near.count()..];
    let whole = tokenize(&[&vocabulary.text_bytes(context), text].concat());
    // Where the text before is not as the tokenizer would have written it, the rest stands alone.
    let tokens = whole
        .strip_prefix(context)
        .map_or_else(|| tokenize(text), <[TokenId]>::to_vec);
    if vocabulary.text_bytes(&tokens) == text {
        tokens
    } else {
        Vec::new()
    }
}
