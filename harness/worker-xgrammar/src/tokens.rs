//! Conversion of this project's vocabulary to XGrammar's.

use maskwright::{TokenId, TokenKind, Vocabulary};
use serde_json::{Map, Value, json};
use xgrammar::{TokenizerInfo, XGrammarErr};

/// XGrammar's view of `vocabulary`.
///
/// The package builds one from a Hugging Face tokenizer.json only, so the tokens are written as such a file, byte by byte in the characters of GPT-2.
/// Special and unused ids have no entry, by which XGrammar knows that they are no text. Of text tokens with the same bytes only the first is listed:
/// names are unique in that file.
///
/// # Errors
///
/// XGrammar's error, where it refuses the vocabulary.
pub fn tokenizer_info(vocabulary: &Vocabulary) -> Result<TokenizerInfo, XGrammarErr> {
    let characters = byte_characters();
    let spell = |bytes: &[u8]| -> String { bytes.iter().map(|&byte| characters[usize::from(byte)]).collect() };
    let duplicates: Vec<TokenId> = vocabulary.duplicates().iter().map(|&(_, second)| second).collect();
    let names: Map<String, Value> = (0..vocabulary.len() as TokenId)
        .filter(|&token| vocabulary.kind(token) == TokenKind::Text && duplicates.binary_search(&token).is_err())
        .map(|token| (token, vocabulary.token_bytes(token)))
        .filter(|(_, bytes)| !bytes.is_empty())
        .map(|(token, bytes)| (spell(bytes), Value::from(token)))
        .collect();
    let tokenizer = json!({
        "version": "1.0",
        "added_tokens": [],
        "decoder": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false},
        "model": {"type": "WordLevel", "vocab": names, "unk_token": ""},
    });
    let eos = vocabulary.eos_tokens().iter().map(|eos| eos.cast_signed()).collect();
    TokenizerInfo::from_backend_str(&tokenizer.to_string(), Some(vocabulary.len()), eos)
}

/// The character that GPT-2's vocabulary writes each byte as: printable ones as themselves, others from U+0100 on.
fn byte_characters() -> [char; 256] {
    let mut shifted = '\u{100}'..;
    std::array::from_fn(|byte| match byte as u8 {
        byte @ (0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF) => char::from(byte),
        _ => shifted.next().unwrap_or_default(),
    })
}
