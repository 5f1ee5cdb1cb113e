//! [`Vocabulary`]: the tokens of a model, each with its bytes and kind.

mod builder;
#[cfg(feature = "tokenizers")]
mod hugging_face;
mod sentencepiece;
mod tiktoken;
mod tokenizer_json;

use std::fmt;
use std::sync::Arc;

pub use builder::VocabularyBuilder;
#[cfg(feature = "tokenizers")]
pub use hugging_face::HuggingFaceTokenizer;

use crate::{TokenId, VocabularyError};

/// A tokenizer, as far as forced tokens need one. Functions from text to tokens are tokenizers too.
pub trait Tokenize: Send + Sync {
    /// The tokens that the tokenizer itself makes of `text`, as if it stood in the middle of a document: no
    /// special token is added or recognised. Bytes that are not UTF-8 become whatever tokens spell them.
    fn tokenize(&self, text: &[u8]) -> Vec<TokenId>;
}

impl<F: Fn(&[u8]) -> Vec<TokenId> + Send + Sync> Tokenize for F {
    fn tokenize(&self, text: &[u8]) -> Vec<TokenId> {
        self(text)
    }
}

/// The role of a token id in a vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Text: the token's bytes become part of the document.
    Text,
    /// A control token (end of sequence, role marks, padding): never text.
    Special,
    /// An id without a token: a gap in the numbering, or padding of the model's output past the tokenizer.
    Unused,
}

/// The tokens of a model: their bytes, their kinds, and the ids that end a sequence.
///
/// A vocabulary is immutable and cheap to share behind an [`Arc`]. A [`VocabularyBuilder`] makes one, of tokens that
/// [`Vocabulary::from_tokenizer_json`], [`Vocabulary::from_sentencepiece`] or [`Vocabulary::from_tiktoken`] has read, or that are
/// added one by one.
///
/// Odd vocabularies keep their meaning: text tokens of the same bytes are allowed together, and
/// [`duplicates`](Vocabulary::duplicates) lists them; empty text tokens, and tokens with the byte `0xFF`, which no
/// UTF-8 text contains, are never allowed.
pub struct Vocabulary {
    bytes: Vec<u8>,
    /// Token `t` is `bytes[ends[t - 1]..ends[t]]`.
    ends: Vec<u32>,
    kinds: Vec<TokenKind>,
    eos: Vec<TokenId>,
    duplicates: Vec<(TokenId, TokenId)>,
    /// Text tokens sorted by their bytes, of those with the same bytes the lowest id; empty ones are left out.
    sorted: Vec<TokenId>,
    tokenizer: Option<Arc<dyn Tokenize>>,
}

impl Vocabulary {
    /// Largest number of token ids.
    pub const MAX_TOKENS: usize = 1 << 22;
    /// Largest sum of the tokens' bytes.
    pub const MAX_TOTAL_BYTES: usize = 1 << 28;

    /// An empty builder.
    pub fn builder() -> VocabularyBuilder {
        VocabularyBuilder::default()
    }

    /// Reads a Hugging Face `tokenizer.json`: byte-level BPE (GPT-2, Llama 3, Qwen), and SentencePiece with
    /// byte fallback (Llama 2, Gemma, Mistral).
    ///
    /// The file does not say which token ends a sequence: add it with [`VocabularyBuilder::eos`].
    ///
    /// # Errors
    ///
    /// [`VocabularyError::Json`]; [`VocabularyError::TokenizerJson`] with a JSON Pointer into the file;
    /// [`VocabularyError::DuplicateId`]; [`VocabularyError::Limit`].
    pub fn from_tokenizer_json(json: &[u8]) -> Result<VocabularyBuilder, VocabularyError> {
        tokenizer_json::read(json)
    }

    /// Reads tiktoken ranks: lines of base64-encoded token bytes, a space and the token's id.
    ///
    /// Special tokens are not part of such files: add them with [`VocabularyBuilder::special`].
    ///
    /// # Errors
    ///
    /// [`VocabularyError::TiktokenLine`] with the line's number; [`VocabularyError::DuplicateId`]; [`VocabularyError::Limit`].
    pub fn from_tiktoken(ranks: &[u8]) -> Result<VocabularyBuilder, VocabularyError> {
        tiktoken::read(ranks)
    }

    /// Reads a SentencePiece model, a file mostly called `tokenizer.model`: the pieces, and the end-of-sequence token that the model
    /// names.
    ///
    /// # Errors
    ///
    /// [`VocabularyError::SentencePiece`] with the byte of the file at which the defect shows; [`VocabularyError::Limit`].
    pub fn from_sentencepiece(model: &[u8]) -> Result<VocabularyBuilder, VocabularyError> {
        sentencepiece::read(model)
    }

    /// Number of token ids, unused ones included: the length of masks and of the model's logits.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there is no token id at all.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// The role of `token`; [`TokenKind::Unused`] for ids past the end.
    pub fn kind(&self, token: TokenId) -> TokenKind {
        self.kinds.get(token as usize).copied().unwrap_or(TokenKind::Unused)
    }

    /// The bytes of a text token, the name of a special token, nothing for unused ids.
    pub fn token_bytes(&self, token: TokenId) -> &[u8] {
        let token = token as usize;
        let Some(&end) = self.ends.get(token) else {
            return &[];
        };
        let start = token.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start as usize..end as usize]
    }

    /// The bytes that `tokens` spell, special and unused ones left out.
    pub fn text_bytes(&self, tokens: &[TokenId]) -> Vec<u8> {
        tokens
            .iter()
            .filter(|&&token| self.kind(token) == TokenKind::Text)
            .flat_map(|&token| self.token_bytes(token))
            .copied()
            .collect()
    }

    /// Whether no text token has a byte beyond ASCII.
    pub(crate) fn is_ascii(&self) -> bool {
        self.sorted.iter().all(|token| self.token_bytes(*token).is_ascii())
    }

    /// The end-of-sequence ids, at least one, in the order given.
    pub fn eos_tokens(&self) -> &[TokenId] {
        &self.eos
    }

    /// Whether `token` ends a sequence.
    pub fn is_eos(&self, token: TokenId) -> bool {
        self.eos.contains(&token)
    }

    /// Pairs of text tokens with the same bytes, by increasing second id: the lowest id with these bytes, and another.
    pub fn duplicates(&self) -> &[(TokenId, TokenId)] {
        &self.duplicates
    }

    /// The text token of exactly these bytes; of several the one with the lowest id.
    pub fn token_of(&self, bytes: &[u8]) -> Option<TokenId> {
        let place = self
            .sorted
            .binary_search_by(|&token| self.token_bytes(token).cmp(bytes));
        Some(self.sorted[place.ok()?])
    }

    /// The longest text token that `text` begins with, and its length in bytes; of several of the same bytes the one with
    /// the lowest id.
    pub fn longest_prefix(&self, text: &[u8]) -> Option<(TokenId, usize)> {
        let mut candidate = text;
        // Among the tokens up to `candidate` the last one shares the most bytes with it, so that no token longer than these
        // is a beginning of it.
        while !candidate.is_empty() {
            let end = self
                .sorted
                .partition_point(|&token| self.token_bytes(token) <= candidate);
            let token = self.sorted[end.checked_sub(1)?];
            let bytes = self.token_bytes(token);
            let shared = bytes
                .iter()
                .zip(candidate)
                .take_while(|(one, other)| one == other)
                .count();
            if shared == bytes.len() {
                return Some((token, shared));
            }
            candidate = &candidate[..shared];
        }
        None
    }

    /// Whether a longer text token begins with `bytes` and goes on with one of the bytes that `next` admits.
    pub fn has_extension(&self, bytes: &[u8], next: impl Fn(u8) -> bool) -> bool {
        let start = self.sorted.partition_point(|&token| self.token_bytes(token) <= bytes);
        self.sorted[start..]
            .iter()
            .map(|&token| self.token_bytes(token))
            .take_while(|token| token.starts_with(bytes))
            .any(|token| next(token[bytes.len()]))
    }

    /// Returns tokens that spell `text`, the fewest where it has up to 2,048 bytes; `None` where no tokens spell it. The tokenizer may
    /// spell it otherwise.
    pub fn spell(&self, text: &[u8]) -> Option<Vec<TokenId>> {
        let lengths = self.fewest_tokens(text);
        let (mut tokens, mut from) = (Vec::new(), 0);
        while let Some((_, length)) = lengths.get(from) {
            let end = from + *length as usize;
            tokens.push(self.token_of(&text[from..end])?);
            from = end;
        }
        Some(tokens)
    }

    /// Returns for each place in `text` the fewest tokens that spell the remaining text, and the length of the first of them in
    /// bytes; [`u32::MAX`] where some byte has no token. Of long texts only the longest tokens are looked at.
    pub(crate) fn fewest_tokens(&self, text: &[u8]) -> Vec<(u32, u32)> {
        /// Bytes of a text up to which all tokens are looked at.
        const SHORT: usize = 1 << 11;
        let mut fewest = vec![(u32::MAX, 0); text.len()];
        for from in (0..text.len()).rev() {
            let mut longest = text.len() - from;
            while let Some((_, length)) = self.longest_prefix(&text[from..from + longest]) {
                let left = fewest.get(from + length).map_or(0, |(tokens, _)| *tokens);
                if left.saturating_add(1) < fewest[from].0 {
                    fewest[from] = (left + 1, length as u32);
                }
                if text.len() > SHORT && left != u32::MAX {
                    break;
                }
                longest = length - 1;
            }
        }
        fewest
    }

    /// The tokenizer, where one was given.
    pub fn tokenizer(&self) -> Option<&Arc<dyn Tokenize>> {
        self.tokenizer.as_ref()
    }
}

impl fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vocabulary")
            .field("len", &self.len())
            .field("eos", &self.eos)
            .field("duplicates", &self.duplicates.len())
            .field("tokenizer", &self.tokenizer.is_some())
            .finish_non_exhaustive()
    }
}
