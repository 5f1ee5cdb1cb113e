//! Reads vocabularies from Hugging Face `tokenizer.json`: the bytes of each token, without the tokenizer's algorithm.

use std::collections::HashSet;

use super::VocabularyBuilder;
use crate::json::{Content, Document, NodeIndex};
use crate::{Limits, TokenId, VocabularyError};

/// Largest `tokenizer.json` that is read, in bytes: the published ones have up to 35 million.
const MAX_BYTES: usize = 1 << 30;

/// The way in which the tokens of a vocabulary spell bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TokenSpelling {
    /// Each character stands for one byte, through GPT-2's table.
    ByteLevel,
    /// UTF-8 with a character in place of the space, and `<0xXX>` for single bytes.
    SentencePiece { space: char },
}

pub(super) fn read(json: &[u8]) -> Result<VocabularyBuilder, VocabularyError> {
    let malformed = |message: String| VocabularyError::Json { message };
    let text = std::str::from_utf8(json).map_err(|error| malformed(error.to_string()))?;
    let limits = Limits {
        text_bytes: MAX_BYTES,
        ..Limits::default()
    };
    let file = Document::parse(text, &limits).map_err(|error| malformed(error.to_string()))?;
    let spelling = spelling(&file)?;
    let mut builder = VocabularyBuilder::default();
    let mut added: Vec<(TokenId, &str)> = Vec::new();
    let mut specials: Vec<(TokenId, &str)> = Vec::new();
    for token in file
        .member(0, "added_tokens")
        .into_iter()
        .flat_map(|list| file.items(list))
    {
        let id = id(&file, member(&file, token, "id", "expected a token id")?)?;
        let content = string(&file, member(&file, token, "content", "expected a string")?)?;
        let special = file.member(token, "special").map(|special| file.content(special));
        match special {
            Some(Content::Bool(true)) => specials.push((id, content)),
            _ => added.push((id, content)),
        }
    }
    let overridden: HashSet<TokenId> = added.iter().chain(&specials).map(|&(id, _)| id).collect();
    for (token, id) in model_tokens(&file)? {
        if !overridden.contains(&id) {
            builder = builder.text(id, bytes(token, spelling))?;
        }
    }
    for (id, content) in added {
        // The decoder reads it as it reads the model's tokens: Gemma's runs of spaces are added tokens, and DeepSeek-Coder's `õ` is the byte F5.
        builder = builder.text(id, bytes(content, spelling))?;
    }
    for (id, content) in specials {
        builder = builder.special(id, content)?;
    }
    Ok(builder)
}

/// The model's own tokens: a map from token to id (BPE, WordPiece), or a list of `[token, score]` (Unigram).
fn model_tokens(file: &Document) -> Result<Vec<(&str, TokenId)>, VocabularyError> {
    let model = file.member(0, "model");
    let vocabulary = model.and_then(|model| file.member(model, "vocab"));
    match vocabulary.map(|vocabulary| (vocabulary, file.content(vocabulary))) {
        Some((map, Content::Object(_))) => file
            .members(map)
            .map(|(token, value)| Ok((token, id(file, value)?)))
            .collect(),
        Some((list, Content::Array(_))) => (0..)
            .zip(file.items(list))
            .map(|(index, pair)| {
                let token = file.items(pair).next().and_then(|token| file.string(token));
                let token = token.ok_or_else(|| error(file.pointer(pair), "expected a pair of token and score"))?;
                Ok((token, index))
            })
            .collect(),
        _ => Err(error("/model/vocab", "expected an object or an array of tokens")),
    }
}

/// Returns the way in which the tokens spell bytes, read off the decoder.
fn spelling(file: &Document) -> Result<TokenSpelling, VocabularyError> {
    let decoder = file.member(0, "decoder");
    let steps: Vec<NodeIndex> = match decoder.and_then(|decoder| file.member(decoder, "decoders")) {
        Some(steps) => file.items(steps).collect(),
        None => decoder.into_iter().collect(),
    };
    let text = |step: NodeIndex, name: &str| file.member(step, name).and_then(|value| file.string(value));
    let of_type = |name: &str| steps.iter().copied().find(|step| text(*step, "type") == Some(name));
    if of_type("ByteLevel").is_some() {
        return Ok(TokenSpelling::ByteLevel);
    }
    let replaced_by_space = steps
        .iter()
        .filter(|step| text(**step, "type") == Some("Replace") && text(**step, "content") == Some(" "))
        .find_map(|step| only_char(text(file.member(*step, "pattern")?, "String")?));
    let metaspace =
        of_type("Metaspace").map(|step| text(step, "replacement").and_then(only_char).unwrap_or('\u{2581}'));
    if let Some(space) = replaced_by_space.or(metaspace) {
        return Ok(TokenSpelling::SentencePiece { space });
    }
    if of_type("ByteFallback").is_some() {
        return Ok(TokenSpelling::SentencePiece { space: ' ' });
    }
    let found = decoder.and_then(|decoder| text(decoder, "type")).unwrap_or("none");
    Err(error(
        "/decoder",
        format!("decoder {found}: expected ByteLevel, ByteFallback or Metaspace"),
    ))
}

fn only_char(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars.next().filter(|_| chars.next().is_none())
}

fn bytes(token: &str, spelling: TokenSpelling) -> Vec<u8> {
    match spelling {
        // A token with a character outside the table stands for its own UTF-8, as in Hugging Face's decoder.
        TokenSpelling::ByteLevel => token
            .chars()
            .map(byte_of_char)
            .collect::<Option<Vec<u8>>>()
            .unwrap_or_else(|| token.as_bytes().to_vec()),
        TokenSpelling::SentencePiece { space } => match byte_fallback(token) {
            Some(byte) => vec![byte],
            None => token.replace(space, " ").into_bytes(),
        },
    }
}

/// GPT-2's table read backwards: printable Latin-1 stands for itself, the other 68 bytes for U+0100 onwards.
pub(super) fn byte_of_char(character: char) -> Option<u8> {
    match u32::from(character) {
        code @ (0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF) => Some(code as u8),
        code @ 0x100..=0x120 => Some((code - 0x100) as u8),
        code @ 0x121..=0x142 => Some((code - 0x121 + 0x7F) as u8),
        0x143 => Some(0xAD),
        _ => None,
    }
}

/// The byte of a token spelled `<0xXX>`.
fn byte_fallback(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    (digits.len() == 2)
        .then(|| u8::from_str_radix(digits, 16).ok())
        .flatten()
}

/// The member `name` of the object at `index`.
fn member(file: &Document, index: NodeIndex, name: &str, expected: &str) -> Result<NodeIndex, VocabularyError> {
    file.member(index, name)
        .ok_or_else(|| error(format!("{}/{name}", file.pointer(index)), expected))
}

fn string(file: &Document, index: NodeIndex) -> Result<&str, VocabularyError> {
    file.string(index)
        .ok_or_else(|| error(file.pointer(index), "expected a string"))
}

fn id(file: &Document, index: NodeIndex) -> Result<TokenId, VocabularyError> {
    let found = file.content(index);
    let id = match found {
        Content::Number(digits) => digits.parse().ok(),
        _ => None,
    };
    id.ok_or_else(|| {
        let found = match found {
            Content::Number(digits) => digits,
            other => other.describe(),
        };
        error(file.pointer(index), format!("expected a token id, found {found}"))
    })
}

fn error(pointer: impl Into<String>, message: impl Into<String>) -> VocabularyError {
    VocabularyError::TokenizerJson {
        pointer: pointer.into(),
        message: message.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// GPT-2's table written forwards, as its authors did.
    fn char_of_byte(byte: u8) -> char {
        let printable = |b: u8| matches!(b, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF);
        if printable(byte) {
            return char::from(byte);
        }
        let before = (0..byte).filter(|&b| !printable(b)).count() as u32;
        char::from_u32(0x100 + before).expect("below the surrogates")
    }

    #[test]
    fn byte_level_table_is_a_bijection() {
        for byte in 0..=255 {
            assert_eq!(byte_of_char(char_of_byte(byte)), Some(byte));
        }
        assert_eq!(byte_of_char('\u{144}'), None);
        assert_eq!(byte_of_char('\u{20}'), None);
    }
}
