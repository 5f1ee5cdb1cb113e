//! [`WireVocabulary`]: a vocabulary in the form in which it is sent to a worker.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maskwright::{TokenId, TokenKind, Tokenize, Vocabulary, VocabularyError};
use serde::{Deserialize, Serialize};

/// The tokens of a model, as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireVocabulary {
    /// For each id the token's bytes in base64, a special token's name likewise; null for ids without a token.
    pub tokens: Vec<Option<String>>,
    /// Ids of special tokens, which are never text; those that end a sequence included.
    pub special: Vec<TokenId>,
    /// Ids that end a sequence.
    pub eos: Vec<TokenId>,
    /// The tokenizer, for frameworks that tokenise forced text.
    #[serde(default)]
    pub tokenizer: Option<TokenizerSource>,
}

/// Source of a tokenizer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenizerSource {
    /// An encoding of tiktoken, by name.
    Tiktoken(String),
    /// The text of a Hugging Face tokenizer.json.
    TokenizerJson(String),
}

/// Reason for which the tokens received do not make a vocabulary.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WireError {
    #[error("token {id} is not base64: {source}")]
    Base64 { id: usize, source: base64::DecodeError },
    #[error(transparent)]
    Vocabulary(#[from] VocabularyError),
}

impl WireVocabulary {
    /// The wire form of `vocabulary`.
    pub fn new(vocabulary: &Vocabulary, tokenizer: Option<TokenizerSource>) -> Self {
        let ids = || 0..vocabulary.len() as TokenId;
        Self {
            tokens: ids()
                .map(|id| match vocabulary.kind(id) {
                    TokenKind::Unused => None,
                    TokenKind::Text | TokenKind::Special => Some(STANDARD.encode(vocabulary.token_bytes(id))),
                })
                .collect(),
            special: ids().filter(|&id| vocabulary.kind(id) == TokenKind::Special).collect(),
            eos: vocabulary.eos_tokens().to_vec(),
            tokenizer,
        }
    }

    /// The vocabulary, with `tokenizer`.
    pub(crate) fn read(&self, tokenizer: Option<Arc<dyn Tokenize>>) -> Result<Vocabulary, WireError> {
        let mut builder = Vocabulary::builder();
        let mut special = self.special.clone();
        special.sort_unstable();
        for (id, token) in self.tokens.iter().enumerate() {
            let Some(token) = token else { continue };
            let bytes = STANDARD
                .decode(token)
                .map_err(|source| WireError::Base64 { id, source })?;
            let token = id as TokenId;
            builder = match special.binary_search(&token) {
                Ok(_) => builder.special(token, String::from_utf8_lossy(&bytes))?,
                Err(_) => builder.text(token, bytes)?,
            };
        }
        builder = builder.eos(self.eos.iter().copied()).size(self.tokens.len());
        if let Some(tokenizer) = tokenizer {
            builder = builder.tokenizer(tokenizer);
        }
        Ok(builder.build()?)
    }
}
