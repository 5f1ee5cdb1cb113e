//! Replies that are one raw string, without quotes and escapes.
//!
//! The automaton of the schema reads JSON, so each byte of the raw string is first escaped, in the style with
//! [`Escapes::Needed`](crate::Escapes::Needed). Most tokens are spelled alike raw and escaped; the others are walked over byte by byte.

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::automaton::{Automaton, AutomatonError, State};
use crate::json::push_string;
use crate::mask::index::base_sets::set;
use crate::mask::index::tokens::Spelled;
use crate::strings::{LanguageId, LanguageLimits, Languages, LimitReached, check_pattern, quoted};
use crate::{CompileError, CompileErrorKind, ExactOptions, TokenId, TokenKind, Vocabulary};

/// The escaped spelling of one byte of text.
pub(super) type EscapedByte = SmallVec<[u8; 6]>;

/// Whether a byte of text needs no escape in a string of JSON.
fn is_itself(byte: u8) -> bool {
    byte >= b' ' && byte != b'"' && byte != b'\\'
}

/// Escapes a byte of text for a string of JSON.
pub(super) fn escaped(byte: u8) -> EscapedByte {
    if is_itself(byte) {
        return SmallVec::from_slice(&[byte]);
    }
    let mut text = String::new();
    push_string(&mut text, char::from(byte).encode_utf8(&mut [0; 4]));
    SmallVec::from_slice(&text.as_bytes()[1..text.len() - 1])
}

/// Escapes bytes of text for a string of JSON.
pub(super) fn escaped_all(bytes: &[u8]) -> Cow<'_, [u8]> {
    match bytes.iter().all(|byte| is_itself(*byte)) {
        true => Cow::Borrowed(bytes),
        false => bytes.iter().flat_map(|byte| escaped(*byte)).collect::<Vec<u8>>().into(),
    }
}

/// The state after one more byte of text.
pub(super) fn step(automaton: &mut Automaton, from: State, byte: u8) -> Result<Option<State>, AutomatonError> {
    automaton.read_bytes(from, &escaped(byte))
}

/// The state behind the opening quote in JSON; none where the schema admits no string or, with tokens that spell ASCII alone, none in ASCII.
pub(super) fn begin(automaton: &mut Automaton, before: State, is_ascii: bool) -> Result<Option<State>, AutomatonError> {
    if !is_ascii {
        return automaton.step(before, b'"');
    }
    let within = ascii(automaton.languages_mut())?;
    automaton.begin_string_within(before, within)
}

/// The language of the texts in ASCII.
pub(super) fn ascii(languages: &mut Languages) -> Result<LanguageId, LimitReached> {
    let character = languages.characters(&[('\0', '\u{7f}')], false)?;
    languages.repeat(character, 0, u64::MAX)
}

/// Whether the text may end.
pub(super) fn ends(automaton: &mut Automaton, at: State) -> Result<bool, AutomatonError> {
    match automaton.step(at, b'"')? {
        Some(closed) => automaton.is_complete(closed),
        None => Ok(false),
    }
}

/// The text that a string of JSON stands for, from between its characters up to its closing quote; none where it has an escape that is
/// not [`escaped`]'s.
pub(super) fn unescaped(json: &[u8]) -> Option<Vec<u8>> {
    let (mut text, mut rest) = (Vec::with_capacity(json.len()), json.strip_suffix(b"\"")?);
    while let Some((&byte, behind)) = rest.split_first() {
        if byte != b'\\' {
            text.push(byte);
            rest = behind;
            continue;
        }
        let hidden = (0..=u8::MAX).filter(|byte| !is_itself(*byte));
        let mut spelled = hidden.map(|hidden| (hidden, escaped(hidden)));
        let (hidden, spelling) = spelled.find(|(_, spelling)| rest.starts_with(spelling))?;
        text.push(hidden);
        rest = &rest[spelling.len()..];
    }
    Some(text)
}

/// The tokens that have an escaped byte in a string of JSON.
#[derive(Debug)]
pub(super) struct UnlikeTokens {
    spelled: Spelled,
    /// Bits of these tokens, 32 a word.
    words: Box<[u32]>,
}

impl UnlikeTokens {
    pub(super) fn new(vocabulary: &Vocabulary) -> Self {
        let mut words = vec![0; vocabulary.len().div_ceil(32)];
        let tokens = (0..vocabulary.len() as TokenId).filter(|token| vocabulary.kind(*token) == TokenKind::Text);
        let unlike = tokens.filter(|token| !vocabulary.token_bytes(*token).iter().all(|byte| is_itself(*byte)));
        let unlike: Vec<_> = unlike
            .map(|token| (vocabulary.token_bytes(token).to_vec(), token))
            .collect();
        unlike.iter().for_each(|(_, token)| set(&mut words, *token));
        Self {
            spelled: Spelled::new(unlike),
            words: words.into(),
        }
    }

    /// The tokens, by their bytes.
    pub(super) fn spelled(&self) -> &Spelled {
        &self.spelled
    }

    /// Takes these tokens out of a set of words.
    pub(super) fn take_out_of(&self, words: &mut [u32]) {
        words
            .iter_mut()
            .zip(&self.words)
            .for_each(|(word, unlike)| *word &= !unlike);
    }
}

/// The schema of the strings that a pattern matches whole.
///
/// # Errors
///
/// [`Malformed`](crate::CompileErrorKind::Malformed) or [`Unsupported`](crate::CompileErrorKind::Unsupported), where the pattern alone is none.
pub(super) fn schema_of_pattern(pattern: &str, options: &ExactOptions) -> Result<String, CompileError> {
    // A text that is no pattern by itself can be one between parentheses.
    let limits = LanguageLimits::from(&options.schema.limits);
    if let Err(error) = check_pattern(pattern, options.schema.patterns, &limits) {
        return Err(CompileError::new(error.kind(), error.about(pattern)).on_keyword("pattern"));
    }
    let mut schema = r#"{"type":"string","pattern":"#.to_owned();
    push_string(&mut schema, &options.schema.patterns.anchored(pattern));
    schema.push('}');
    Ok(schema)
}

/// The error about a pattern, instead of one about the schema that [`schema_of_pattern`] made of it.
pub(super) fn error_of_pattern(error: CompileError, pattern: &str) -> CompileError {
    if error.kind() != CompileErrorKind::Unsatisfiable {
        return error;
    }
    let message = format!("no text matches this expression: {}", quoted(pattern));
    CompileError::new(CompileErrorKind::Unsatisfiable, message).on_keyword("pattern")
}

/// The schema of some strings.
pub(super) fn schema_of_choice<'a>(choices: impl IntoIterator<Item = &'a str>) -> String {
    let mut schema = r#"{"enum":["#.to_owned();
    for (number, choice) in choices.into_iter().enumerate() {
        if number > 0 {
            schema.push(',');
        }
        push_string(&mut schema, choice);
    }
    schema.push_str("]}");
    schema
}
