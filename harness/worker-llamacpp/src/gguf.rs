//! A GGUF file without weights: the vocabulary alone, which is all that a grammar needs of a model.
//!
//! The format: <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>.

use maskwright::{TokenId, TokenKind, Vocabulary};

const VERSION: u32 = 3;

/// A value of the file's metadata.
enum Value {
    U32(u32),
    Text(&'static str),
    I32s(Vec<i32>),
    Texts(Vec<String>),
}

/// Type of a token in llama.cpp: `llama_token_type`.
#[derive(Clone, Copy)]
enum TokenType {
    Normal = 1,
    Control = 3,
    Unused = 5,
}

/// The contents of a GGUF file with the tokens of `vocabulary` under their ids.
///
/// Text tokens are spelt as those of GPT-2, so that any bytes can stand. All others have made-up names, from which llama.cpp guesses nothing; the
/// first end-of-sequence id is the only one that it is given. Of text tokens with the same bytes only the first is listed, since names have to be
/// unique.
pub fn vocabulary_file(vocabulary: &Vocabulary) -> Vec<u8> {
    let characters = byte_characters();
    let ids = || 0..vocabulary.len() as TokenId;
    let eos = vocabulary.eos_tokens().first().copied().unwrap_or_default();
    let duplicates: Vec<TokenId> = vocabulary.duplicates().iter().map(|&(_, second)| second).collect();
    let kind = |token: TokenId| match vocabulary.kind(token) {
        _ if token == eos => TokenType::Control,
        TokenKind::Text if vocabulary.token_bytes(token).is_empty() => TokenType::Unused,
        TokenKind::Text if duplicates.binary_search(&token).is_ok() => TokenType::Unused,
        TokenKind::Text => TokenType::Normal,
        TokenKind::Special | TokenKind::Unused => TokenType::Unused,
    };
    let name = |token: TokenId| match kind(token) {
        TokenType::Normal => {
            let bytes = vocabulary.token_bytes(token).iter();
            bytes.map(|&byte| characters[usize::from(byte)]).collect()
        }
        // No text token's name has a space in it.
        TokenType::Control | TokenType::Unused => format!("no text {token}"),
    };
    file(&[
        ("general.architecture", Value::Text("llama")),
        ("tokenizer.ggml.model", Value::Text("gpt2")),
        ("tokenizer.ggml.pre", Value::Text("default")),
        ("tokenizer.ggml.tokens", Value::Texts(ids().map(name).collect())),
        (
            "tokenizer.ggml.token_type",
            Value::I32s(ids().map(|token| kind(token) as i32).collect()),
        ),
        ("tokenizer.ggml.merges", Value::Texts(Vec::new())),
        ("tokenizer.ggml.bos_token_id", Value::U32(eos)),
        ("tokenizer.ggml.eos_token_id", Value::U32(eos)),
    ])
}

/// The character that GPT-2's vocabulary writes each byte as: printable ones as themselves, others from U+0100 on.
fn byte_characters() -> [char; 256] {
    let mut shifted = '\u{100}'..;
    std::array::from_fn(|byte| match byte as u8 {
        byte @ (0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF) => char::from(byte),
        _ => shifted.next().unwrap_or_default(),
    })
}

/// A file of metadata without tensors.
fn file(metadata: &[(&str, Value)]) -> Vec<u8> {
    let mut bytes = Vec::from(*b"GGUF");
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(0_u64.to_le_bytes());
    bytes.extend((metadata.len() as u64).to_le_bytes());
    for (key, value) in metadata {
        write_text(&mut bytes, key);
        value.write(&mut bytes);
    }
    bytes
}

fn write_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
}

impl Value {
    const U32_TYPE: u32 = 4;
    const I32_TYPE: u32 = 5;
    const TEXT_TYPE: u32 = 8;
    const ARRAY_TYPE: u32 = 9;

    /// Appends the type and the value.
    fn write(&self, bytes: &mut Vec<u8>) {
        let array = |bytes: &mut Vec<u8>, of: u32, length: usize| {
            bytes.extend(Self::ARRAY_TYPE.to_le_bytes());
            bytes.extend(of.to_le_bytes());
            bytes.extend((length as u64).to_le_bytes());
        };
        match self {
            Self::U32(number) => {
                bytes.extend(Self::U32_TYPE.to_le_bytes());
                bytes.extend(number.to_le_bytes());
            }
            Self::Text(text) => {
                bytes.extend(Self::TEXT_TYPE.to_le_bytes());
                write_text(bytes, text);
            }
            Self::I32s(numbers) => {
                array(bytes, Self::I32_TYPE, numbers.len());
                bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
            }
            Self::Texts(texts) => {
                array(bytes, Self::TEXT_TYPE, texts.len());
                texts.iter().for_each(|text| write_text(bytes, text));
            }
        }
    }
}
