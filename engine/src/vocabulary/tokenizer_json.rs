//! Hugging Face `tokenizer.json`, as far as it says which bytes a token stands for.

use serde_json::Value;

use super::VocabularyBuilder;
use crate::{TokenId, VocabularyError};

/// How the tokens of a vocabulary spell bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spelling {
    /// Each character stands for one byte, through GPT-2's table.
    ByteLevel,
    /// UTF-8 with a character in place of the space, and `<0xXX>` for single bytes.
    SentencePiece { space: char },
}

pub(super) fn read(json: &[u8]) -> Result<VocabularyBuilder, VocabularyError> {
    let file: Value = serde_json::from_slice(json)?;
    let spelling = spelling(&file)?;
    let mut builder = VocabularyBuilder::default();
    let mut added: Vec<(TokenId, &str)> = Vec::new();
    let mut specials: Vec<(TokenId, &str)> = Vec::new();
    for (index, token) in file["added_tokens"].as_array().into_iter().flatten().enumerate() {
        let pointer = format!("/added_tokens/{index}");
        let id = id(&token["id"], &format!("{pointer}/id"))?;
        let content = token["content"]
            .as_str()
            .ok_or_else(|| error(format!("{pointer}/content"), "expected a string"))?;
        if token["special"] == Value::Bool(true) {
            specials.push((id, content));
        } else {
            added.push((id, content));
        }
    }
    let overridden: std::collections::HashSet<TokenId> = added.iter().chain(&specials).map(|&(id, _)| id).collect();
    for (token, id) in model_tokens(&file)? {
        if !overridden.contains(&id) {
            builder = builder.text(id, bytes(token, spelling))?;
        }
    }
    for (id, content) in added {
        builder = builder.text(id, content)?;
    }
    for (id, content) in specials {
        builder = builder.special(id, content)?;
    }
    Ok(builder)
}

/// The model's own tokens: a map from token to id (BPE, WordPiece), or a list of `[token, score]` (Unigram).
fn model_tokens(file: &Value) -> Result<Vec<(&str, TokenId)>, VocabularyError> {
    const POINTER: &str = "/model/vocab";
    match &file["model"]["vocab"] {
        Value::Object(map) => map
            .iter()
            .map(|(token, value)| {
                let escaped = token.replace('~', "~0").replace('/', "~1");
                Ok((token.as_str(), id(value, &format!("{POINTER}/{escaped}"))?))
            })
            .collect(),
        Value::Array(list) => list
            .iter()
            .enumerate()
            .map(|(index, pair)| {
                let token = pair[0]
                    .as_str()
                    .ok_or_else(|| error(format!("{POINTER}/{index}"), "expected a pair of token and score"))?;
                Ok((token, index as TokenId))
            })
            .collect(),
        _ => Err(error(POINTER, "expected an object or an array of tokens")),
    }
}

/// How the tokens spell bytes, read off the decoder.
fn spelling(file: &Value) -> Result<Spelling, VocabularyError> {
    let decoder = &file["decoder"];
    let parts: Vec<&Value> = match decoder["decoders"].as_array() {
        Some(parts) => parts.iter().collect(),
        None => vec![decoder],
    };
    let of_type = |name: &str| parts.iter().find(|part| part["type"] == name);
    if of_type("ByteLevel").is_some() {
        return Ok(Spelling::ByteLevel);
    }
    let replaced_by_space = parts
        .iter()
        .filter(|part| part["type"] == "Replace" && part["content"] == " ")
        .find_map(|part| only_char(part["pattern"]["String"].as_str()?));
    let metaspace =
        of_type("Metaspace").map(|part| part["replacement"].as_str().and_then(only_char).unwrap_or('\u{2581}'));
    if let Some(space) = replaced_by_space.or(metaspace) {
        return Ok(Spelling::SentencePiece { space });
    }
    if of_type("ByteFallback").is_some() {
        return Ok(Spelling::SentencePiece { space: ' ' });
    }
    let found = decoder["type"].as_str().unwrap_or("none");
    Err(error(
        "/decoder",
        format!("decoder {found}: expected ByteLevel, ByteFallback or Metaspace"),
    ))
}

fn only_char(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars.next().filter(|_| chars.next().is_none())
}

fn bytes(token: &str, spelling: Spelling) -> Vec<u8> {
    match spelling {
        // A token with a character outside the table stands for its own UTF-8, as in Hugging Face's decoder.
        Spelling::ByteLevel => token
            .chars()
            .map(byte_of_char)
            .collect::<Option<Vec<u8>>>()
            .unwrap_or_else(|| token.as_bytes().to_vec()),
        Spelling::SentencePiece { space } => match byte_fallback(token) {
            Some(byte) => vec![byte],
            None => token.replace(space, " ").into_bytes(),
        },
    }
}

/// GPT-2's table read backwards: printable Latin-1 stands for itself, the other 68 bytes for U+0100 onwards.
fn byte_of_char(character: char) -> Option<u8> {
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

fn id(value: &Value, pointer: &str) -> Result<TokenId, VocabularyError> {
    value
        .as_u64()
        .and_then(|id| TokenId::try_from(id).ok())
        .ok_or_else(|| error(pointer, format!("expected a token id, found {value}")))
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
