//! [`HuggingFaceTokenizer`]: adapter of the crate `tokenizers` for forced tokens.

use std::fmt;

use tokenizers::models::ModelWrapper;
use tokenizers::normalizers::{self, NormalizerWrapper};
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::pre_tokenizers::metaspace::PrependScheme;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::tokenizer::Tokenizer;

use super::tokenizer_json::byte_of_char;
use super::{Tokenize, Vocabulary, VocabularyBuilder};
use crate::{TokenId, VocabularyError};

/// A tokenizer of the crate `tokenizers`, set up for text in the middle of a document.
///
/// A document that mentions a special token means its characters, so special tokens in a text are not recognised. Nothing
/// is put around or in front of a text: no beginning of sequence, and not the space with which SentencePiece begins prompts.
pub struct HuggingFaceTokenizer {
    tokenizer: Tokenizer,
    /// The token that spells each byte on its own, where there is one.
    byte_tokens: Box<[Option<TokenId>; 256]>,
}

impl HuggingFaceTokenizer {
    /// Sets up a copy of `tokenizer`, which stays as it is for prompts.
    ///
    /// # Errors
    ///
    /// [`VocabularyError::Tokenizer`], where the crate `tokenizers` refuses the changed settings.
    pub fn new(tokenizer: &Tokenizer) -> Result<Self, VocabularyError> {
        let failed = |error: tokenizers::Error| VocabularyError::Tokenizer(error.to_string());
        let mut tokenizer = tokenizer.clone();
        tokenizer.with_truncation(None).map_err(failed)?;
        tokenizer.with_padding(None);
        tokenizer.set_encode_special_tokens(true);
        let normalizer = tokenizer.get_normalizer().cloned().and_then(without_prepended_text);
        tokenizer.with_normalizer(normalizer).map_err(failed)?;
        let pre_tokenizer = tokenizer.get_pre_tokenizer().cloned().map(without_prepended_space);
        tokenizer.with_pre_tokenizer(pre_tokenizer);
        Ok(Self {
            byte_tokens: byte_tokens(&tokenizer),
            tokenizer,
        })
    }
}

impl fmt::Debug for HuggingFaceTokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HuggingFaceTokenizer").finish_non_exhaustive()
    }
}

impl Tokenize for HuggingFaceTokenizer {
    /// The result is empty for text that the tokenizer fails on or cannot spell: nothing is forced then.
    fn tokenize(&self, text: &[u8]) -> Vec<TokenId> {
        let mut tokens = Vec::new();
        for chunk in text.utf8_chunks() {
            if !chunk.valid().is_empty() {
                match self.tokenizer.encode_fast(chunk.valid(), false) {
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

impl Vocabulary {
    /// Reads the tokens of a tokenizer of the crate `tokenizers`, which also serves forced tokens.
    ///
    /// A tokenizer does not say which token ends a sequence, nor how many logits the model has: add both with
    /// [`VocabularyBuilder::eos`] and [`VocabularyBuilder::size`].
    ///
    /// # Errors
    ///
    /// [`VocabularyError::Tokenizer`], and the errors of [`Vocabulary::from_tokenizer_json`].
    pub fn from_tokenizer(tokenizer: &Tokenizer) -> Result<VocabularyBuilder, VocabularyError> {
        let json = tokenizer
            .to_string(false)
            .map_err(|error| VocabularyError::Tokenizer(error.to_string()))?;
        let inner = HuggingFaceTokenizer::new(tokenizer)?;
        Ok(Self::from_tokenizer_json(json.as_bytes())?.tokenizer(std::sync::Arc::new(inner)))
    }
}

/// The normalizer without the steps that put something in front of every text; none where no step is left.
fn without_prepended_text(normalizer: NormalizerWrapper) -> Option<NormalizerWrapper> {
    match normalizer {
        NormalizerWrapper::Prepend(_) => None,
        NormalizerWrapper::Sequence(steps) => {
            let kept = steps.into_iter().filter_map(without_prepended_text).collect();
            Some(normalizers::Sequence::new(kept).into())
        }
        other => Some(other),
    }
}

/// The pre-tokenizer with its settings changed so that no step puts a space in front of every text.
fn without_prepended_space(pre_tokenizer: PreTokenizerWrapper) -> PreTokenizerWrapper {
    match pre_tokenizer {
        PreTokenizerWrapper::Metaspace(mut step) => {
            step.set_prepend_scheme(PrependScheme::Never);
            step.into()
        }
        PreTokenizerWrapper::ByteLevel(step) => step.add_prefix_space(false).into(),
        PreTokenizerWrapper::Sequence(steps) => {
            Sequence::new(steps.into_iter().map(without_prepended_space).collect()).into()
        }
        other => other,
    }
}

/// The tokens that spell single bytes, found by their names: `<0xXX>` with byte fallback, else GPT-2's characters.
fn byte_tokens(tokenizer: &Tokenizer) -> Box<[Option<TokenId>; 256]> {
    let has_fallback = match tokenizer.get_model() {
        ModelWrapper::BPE(model) => model.byte_fallback,
        ModelWrapper::Unigram(model) => model.byte_fallback(),
        _ => false,
    };
    let mut tokens = Box::new([None; 256]);
    if has_fallback {
        for (byte, token) in tokens.iter_mut().enumerate() {
            *token = tokenizer.token_to_id(&format!("<0x{byte:02X}>"));
        }
    } else {
        for character in '!'..='\u{143}' {
            if let Some(byte) = byte_of_char(character) {
                tokens[usize::from(byte)] = tokenizer.token_to_id(&character.to_string());
            }
        }
    }
    tokens
}
