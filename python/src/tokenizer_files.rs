//! Reads tokenizers from files, each by its contents.

use std::fs;
use std::path::Path;

use maskwright::{TokenId, Vocabulary, VocabularyBuilder};
use serde_json::Value;

/// The contents of a tokenizer's files.
pub(crate) struct TokenizerFile {
    pub(crate) builder: VocabularyBuilder,
    pub(crate) stop_tokens: Option<Vec<TokenId>>,
    /// Number of the model's logits.
    pub(crate) vocab_size: Option<usize>,
}

/// Largest file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 30;

/// Reads a file, or the files of a model's directory. The error names the expected data.
pub(crate) fn read(path: &Path) -> Result<TokenizerFile, String> {
    if path.is_dir() {
        return directory(path);
    }
    let bytes = contents(path)?;
    let at = |error: String| format!("{}: {error}", path.display());
    let builder = match bytes.trim_ascii_start().first() {
        Some(b'{') => hugging_face(&bytes).map_err(at)?,
        _ if is_tiktoken(&bytes) => Vocabulary::from_tiktoken(&bytes).map_err(|error| at(error.to_string()))?,
        _ => Vocabulary::from_sentencepiece(&bytes).map_err(|error| {
            at(format!(
                "neither a tokenizer.json, nor tiktoken ranks, nor a model of SentencePiece: {error}"
            ))
        })?,
    };
    Ok(TokenizerFile {
        builder,
        stop_tokens: None,
        vocab_size: None,
    })
}

/// The tokens of a `tokenizer.json`, which also serves forced tokens.
pub(crate) fn hugging_face(json: &[u8]) -> Result<VocabularyBuilder, String> {
    let tokenizer =
        tokenizers::Tokenizer::from_bytes(json).map_err(|error| format!("the tokenizers library fails: {error}"))?;
    Vocabulary::from_tokenizer(&tokenizer).map_err(|error| error.to_string())
}

/// Whether the first line is base64, a space and a number.
fn is_tiktoken(bytes: &[u8]) -> bool {
    let line = bytes
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default()
        .trim_ascii();
    let mut fields = line.split(u8::is_ascii_whitespace);
    let (Some(token), Some(rank), None) = (fields.next(), fields.next(), fields.next()) else {
        return false;
    };
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
    token.iter().all(is_base64) && !rank.is_empty() && rank.iter().all(u8::is_ascii_digit)
}

fn contents(path: &Path) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let size = fs::metadata(path).map_err(failed)?.len();
    if size > MAX_BYTES {
        return Err(format!(
            "{}: {size} bytes, over the limit of {MAX_BYTES}",
            path.display()
        ));
    }
    fs::read(path).map_err(failed)
}

/// Reads a JSON file beside the tokenizer; None if there is no such file. The error names the file.
fn configuration(path: &Path) -> Result<Option<Value>, String> {
    if !path.exists() {
        return Ok(None);
    }
    let json = without_python_numbers(&contents(path)?);
    let value = serde_json::from_slice(&json).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Some(value))
}

/// Replaces `NaN`, `Infinity` and `-Infinity` by `null` outside strings: Python's `json` writes these numbers, which JSON does not have.
fn without_python_numbers(json: &[u8]) -> Vec<u8> {
    let numbers: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];
    let mut written = Vec::with_capacity(json.len());
    let (mut rest, mut in_string) = (json, false);
    while let Some(&byte) = rest.first() {
        let number = numbers
            .into_iter()
            .find(|number| !in_string && rest.starts_with(number));
        let len = match number {
            Some(number) => number.len(),
            // A backslash, and what it escapes.
            None if in_string && byte == b'\\' => rest.len().min(2),
            None => 1,
        };
        let (taken, behind) = rest.split_at(len);
        written.extend_from_slice(if number.is_some() { b"null" } else { taken });
        in_string ^= byte == b'"';
        rest = behind;
    }
    written
}

/// Reads `tokenizer.json` or `tokenizer.model` of a directory; the files beside it give the tokens that end answers and the number of logits.
/// A file beside it may be missing. One that cannot be read is an error, because the model's stop tokens may be named there alone.
fn directory(path: &Path) -> Result<TokenizerFile, String> {
    let known = ["tokenizer.json", "tokenizer.model"];
    let Some(file) = known.iter().map(|name| path.join(name)).find(|file| file.is_file()) else {
        return Err(format!("{}: there is no {}", path.display(), known.join(" and no ")));
    };
    let mut read = read(&file)?;
    let config = configuration(&path.join("config.json"))?;
    let generation = configuration(&path.join("generation_config.json"))?;
    let tokenizer = configuration(&path.join("tokenizer_config.json"))?;
    let ids = |value: &Value| -> Option<Vec<TokenId>> {
        let id = |value: &Value| value.as_u64().and_then(|id| TokenId::try_from(id).ok());
        match value {
            Value::Array(ids) => ids.iter().map(id).collect(),
            one => Some(vec![id(one)?]),
        }
    };
    let member = |config: &Option<Value>, name: &str| {
        let config = config.as_ref()?;
        let nested = config.get("text_config").and_then(|nested| nested.get(name));
        config.get(name).or(nested).cloned()
    };
    let named = || {
        let token = member(&tokenizer, "eos_token")?;
        let name = token.get("content").unwrap_or(&token).as_str()?;
        Some(vec![read.builder.find(name)?])
    };
    read.stop_tokens = member(&generation, "eos_token_id")
        .and_then(|value| ids(&value))
        .or_else(|| member(&config, "eos_token_id").and_then(|value| ids(&value)))
        .or_else(named);
    read.vocab_size = member(&config, "vocab_size").and_then(|size| usize::try_from(size.as_u64()?).ok());
    Ok(read)
}
