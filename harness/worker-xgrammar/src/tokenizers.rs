//! The benchmark's tokenizer, made again in this process, where it serves forced tokens.

#[allow(dead_code)]
#[path = "../../src/vocabularies/encodings.rs"]
mod encodings;

use std::sync::Arc;

use ::tokenizers::Tokenizer;
use maskwright::{HuggingFaceTokenizer, Tokenize};
use maskwright_worker::TokenizerSource;

/// The tokenizer called or described by `source`; `None` where it cannot be made.
pub fn tokenizer(source: &TokenizerSource) -> Option<Arc<dyn Tokenize>> {
    match source {
        TokenizerSource::Tiktoken(name) => {
            let encoding = encodings::ENCODINGS.iter().find(|encoding| encoding.name == name)?;
            encoding.tokenizer().ok()
        }
        TokenizerSource::TokenizerJson(json) => {
            let tokenizer = Tokenizer::from_bytes(json).ok()?;
            Some(Arc::new(HuggingFaceTokenizer::new(&tokenizer).ok()?))
        }
    }
}
