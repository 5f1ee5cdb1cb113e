//! [`ModelTokenizer`]: text to tokens and back, as the model's own tokenizer.json says.

use std::panic::AssertUnwindSafe;

use maskwright::{HuggingFaceTokenizer, TokenId, Tokenize};
use maskwright_json_text::{GIT_LFS_POINTER, is_git_lfs_pointer};
use serde_json::Value;
use tokenizers::Tokenizer;

use crate::ModelError;

/// A tokenizer read from tokenizer.json.
pub struct ModelTokenizer {
    /// The tokenizer as written: it recognises special tokens, and adds those that the post-processor adds.
    prompt: Tokenizer,
    /// The tokenizer for text in the middle of a document: it knows no special tokens, and puts nothing in front.
    inner: HuggingFaceTokenizer,
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
        if is_git_lfs_pointer(bytes) {
            return Err(failed(GIT_LFS_POINTER.to_owned()));
        }
        let prompt = read(bytes).map_err(failed)?;
        let json = serde_json::from_slice(bytes).map_err(|error| ModelError::Json {
            file: file.to_owned(),
            message: error.to_string(),
        })?;
        check_added_tokens(&prompt, &json).map_err(failed)?;
        let inner = HuggingFaceTokenizer::new(&prompt).map_err(|error| failed(error.to_string()))?;
        let highest = prompt.get_vocab(true).into_values().max();
        Ok(Self {
            len: highest.map_or(0, |highest| highest as usize + 1),
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
        let encoding = guarded(|| self.prompt.encode_fast(text, add_special));
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
        let text = guarded(|| self.prompt.decode(tokens, true));
        text.map_err(|error| ModelError::Tokenizer {
            file: "tokenizer.json".to_owned(),
            message: format!("cannot decode {} tokens: {error}", tokens.len()),
        })
    }
}

impl Tokenize for ModelTokenizer {
    fn tokenize(&self, text: &[u8]) -> Vec<TokenId> {
        guarded(|| Ok(self.inner.tokenize(text))).unwrap_or_default()
    }
}

/// Calls the tokenizers library, whose panics become errors: it is made for files it wrote itself, and what it does with others should not
/// end the program.
fn guarded<T>(call: impl FnOnce() -> tokenizers::Result<T>) -> Result<T, String> {
    let result = std::panic::catch_unwind(AssertUnwindSafe(call));
    result
        .map_err(|_| "the tokenizers library failed on it".to_owned())?
        .map_err(|error| error.to_string())
}

/// The tokenizer that `bytes` describe. Settings that cut or fill up texts are for training, and dropped.
fn read(bytes: &[u8]) -> Result<Tokenizer, String> {
    let mut tokenizer = guarded(|| Tokenizer::from_bytes(bytes))?;
    tokenizer.with_truncation(None).map_err(|error| error.to_string())?;
    tokenizer.with_padding(None);
    // A template of special tokens that is not whole is found only where it is used.
    let encoded = std::panic::catch_unwind(AssertUnwindSafe(|| drop(tokenizer.encode_fast("a", true))));
    encoded.map_err(|_| "the tokenizers library fails on every text: see post_processor".to_owned())?;
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
