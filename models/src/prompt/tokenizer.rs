//! [`ModelTokenizer`]: text to tokens and back, as the model's own tokenizer.json says.

use maskwright::{TokenId, Tokenize};
use serde_json::Value;
use tokenizers::Tokenizer;

use crate::ModelError;

/// A tokenizer read from tokenizer.json.
pub struct ModelTokenizer {
    /// The tokenizer as written: it recognises special tokens, and adds those that the post-processor adds.
    prompt: Tokenizer,
    /// The tokenizer for text in the middle of a document: it knows no special tokens, and puts nothing in front.
    inner: Tokenizer,
    /// The token that spells each byte on its own, where there is one.
    byte_tokens: Box<[Option<TokenId>; 256]>,
    len: usize,
}

impl std::fmt::Debug for ModelTokenizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelTokenizer")
            .field("tokens", &self.len())
            .finish_non_exhaustive()
    }
}

impl ModelTokenizer {
    /// Reads the contents of a tokenizer.json called `file` in error messages.
    ///
    /// # Errors
    ///
    /// [`ModelError::Json`] or [`ModelError::Tokenizer`].
    pub fn from_bytes(file: &str, bytes: &[u8]) -> Result<Self, ModelError> {
        let failed = |message: String| ModelError::Tokenizer {
            file: file.to_owned(),
            message,
        };
        let read = |bytes: &[u8]| read(bytes).map_err(failed);
        let prompt = read(bytes)?;
        let mut json = serde_json::from_slice(bytes).map_err(|error| ModelError::Json {
            file: file.to_owned(),
            message: error.to_string(),
        })?;
        check_added_tokens(&prompt, &json).map_err(failed)?;
        let mut inner = if remove_prefix(&mut json) {
            read(json.to_string().as_bytes())?
        } else {
            prompt.clone()
        };
        inner.set_encode_special_tokens(true);
        let highest = prompt.get_vocab(true).into_values().max();
        Ok(Self {
            len: highest.map_or(0, |highest| highest as usize + 1),
            byte_tokens: byte_tokens(&prompt, &json),
            prompt,
            inner,
        })
    }

    /// One more than the highest token id.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no token at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The id of the token with that name, as tokenizer.json spells it.
    pub fn id(&self, name: &str) -> Option<TokenId> {
        self.prompt.token_to_id(name)
    }

    /// The tokens of `text`. Special tokens in it are recognised; with `add_special` those that the tokenizer
    /// puts around a text (a beginning-of-sequence token) are added.
    ///
    /// # Errors
    ///
    /// [`ModelError::Tokenizer`], where the tokenizer fails on the text.
    pub fn encode(&self, text: &str, add_special: bool) -> Result<Vec<TokenId>, ModelError> {
        let encoding = self.prompt.encode_fast(text, add_special);
        encoding
            .map(|encoding| encoding.get_ids().to_vec())
            .map_err(|error| ModelError::Tokenizer {
                file: "tokenizer.json".to_owned(),
                message: format!("cannot tokenize a text of {} bytes: {error}", text.len()),
            })
    }

    /// The text of `tokens`; special tokens are left out.
    ///
    /// # Errors
    ///
    /// [`ModelError::Tokenizer`], where the decoder fails.
    pub fn decode(&self, tokens: &[TokenId]) -> Result<String, ModelError> {
        self.prompt.decode(tokens, true).map_err(|error| ModelError::Tokenizer {
            file: "tokenizer.json".to_owned(),
            message: format!("cannot decode {} tokens: {error}", tokens.len()),
        })
    }
}

impl Tokenize for ModelTokenizer {
    /// An empty result for text that the tokenizer fails on or cannot spell: nothing is forced then.
    fn tokenize(&self, text: &[u8]) -> Vec<TokenId> {
        let mut tokens = Vec::new();
        for chunk in text.utf8_chunks() {
            if !chunk.valid().is_empty() {
                match self.inner.encode_fast(chunk.valid(), false) {
                    Ok(encoding) => tokens.extend_from_slice(encoding.get_ids()),
                    Err(_) => return Vec::new(),
                }
            }
            for &byte in chunk.invalid() {
                match self.byte_tokens[usize::from(byte)] {
                    Some(token) => tokens.push(token),
                    None => return Vec::new(),
                }
            }
        }
        tokens
    }
}

/// The tokenizer that `bytes` describe. Settings that cut or fill up texts are for training, and dropped.
fn read(bytes: &[u8]) -> Result<Tokenizer, String> {
    // The library is made for files it wrote itself; what it does with others should not end the program.
    let read = std::panic::catch_unwind(|| Tokenizer::from_bytes(bytes));
    let mut tokenizer = read
        .map_err(|_| "the tokenizers library failed on it".to_owned())?
        .map_err(|error| error.to_string())?;
    tokenizer.with_truncation(None).map_err(|error| error.to_string())?;
    tokenizer.with_padding(None);
    Ok(tokenizer)
}

/// The library numbers added tokens by their order, whatever ids the file gives them: errs where the two differ.
fn check_added_tokens(tokenizer: &Tokenizer, json: &Value) -> Result<(), String> {
    for token in json["added_tokens"].as_array().into_iter().flatten() {
        let (Some(content), Some(id)) = (token["content"].as_str(), token["id"].as_u64()) else {
            continue;
        };
        let found = tokenizer.token_to_id(content);
        if found.map(u64::from) != Some(id) {
            return Err(format!(
                "added token {content:?} has the id {id}, but its place in the list makes it {found:?}; \
                 ids of added tokens must follow those of the model without gaps"
            ));
        }
    }
    Ok(())
}

/// Takes out of a tokenizer.json what puts a space in front of every text; true where there was something.
fn remove_prefix(json: &mut Value) -> bool {
    let normalizer = remove_prefix_of(json.get_mut("normalizer"));
    let pre_tokenizer = remove_prefix_of(json.get_mut("pre_tokenizer"));
    normalizer || pre_tokenizer
}

/// Takes out of a normalizer or pre-tokenizer what puts a space in front of every text; true where there was something.
fn remove_prefix_of(part: Option<&mut Value>) -> bool {
    let Some(part) = part else {
        return false;
    };
    let mut changed = false;
    match part["type"].as_str() {
        Some("Prepend") => {
            *part = Value::Null;
            return true;
        }
        Some("Metaspace") => {
            changed = part["prepend_scheme"] != "never";
            part["prepend_scheme"] = "never".into();
            if let Some(map) = part.as_object_mut() {
                map.remove("add_prefix_space");
            }
        }
        Some("ByteLevel") => {
            changed = part["add_prefix_space"] == true;
            part["add_prefix_space"] = false.into();
        }
        Some("Sequence") => {
            for list in ["normalizers", "pretokenizers"] {
                if let Some(Value::Array(parts)) = part.get_mut(list) {
                    for part in parts.iter_mut() {
                        changed |= remove_prefix_of(Some(part));
                    }
                    parts.retain(|part| !part.is_null());
                }
            }
        }
        _ => {}
    }
    changed
}

/// The tokens that spell single bytes, by name: `<0xXX>` with byte fallback, else GPT-2's characters.
fn byte_tokens(tokenizer: &Tokenizer, json: &Value) -> Box<[Option<TokenId>; 256]> {
    let fallback = json["model"]["byte_fallback"] == true;
    let mut shifted = 0x100..;
    Box::new(std::array::from_fn(|byte| {
        let printable = matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
        let code = if printable { Some(byte as u32) } else { shifted.next() };
        let name = match fallback {
            true => format!("<0x{byte:02X}>"),
            false => char::from_u32(code?)?.to_string(),
        };
        tokenizer.token_to_id(&name)
    }))
}
