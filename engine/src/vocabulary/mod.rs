//! [`Vocabulary`]: the bytes of every token of a model.

mod builder;
mod tiktoken;
mod tokenizer_json;

use std::fmt;
use std::sync::Arc;

pub use builder::VocabularyBuilder;
use toktrie::TokTrie;

use crate::{TokenId, VocabularyError};

/// A tokenizer, as far as forced tokens need one.
pub trait Tokenize: Send + Sync {
    /// The tokens that the tokenizer itself makes of `text`, as if it stood in the middle of a document: no
    /// special token is added or recognised. Bytes that are not UTF-8 become whatever tokens spell them.
    fn tokenize(&self, text: &[u8]) -> Vec<TokenId>;
}

/// What a token id stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Text: the token's bytes become part of the document.
    Text,
    /// A control token (end of sequence, role marks, padding): never text.
    Special,
    /// An id without a token: a gap in the numbering, or padding of the model's output past the tokenizer.
    Unused,
}

/// The tokens of a model: bytes, kinds, end-of-sequence ids, and a trie over the text tokens.
///
/// Immutable and cheap to share behind an [`Arc`]. Made by [`Vocabulary::from_tokenizer_json`],
/// [`Vocabulary::from_tiktoken`] or [`VocabularyBuilder`].
///
/// Odd vocabularies keep their meaning: of several text tokens with the same bytes the lowest id stands in
/// the trie and the others are listed in [`duplicates`](Vocabulary::duplicates); tokens longer than
/// [`MAX_TRIE_TOKEN_BYTES`](Vocabulary::MAX_TRIE_TOKEN_BYTES) are listed in
/// [`long_tokens`](Vocabulary::long_tokens); empty text tokens and tokens with the byte `0xFF`, which no UTF-8
/// text contains, are in neither and can never be allowed.
pub struct Vocabulary {
    bytes: Vec<u8>,
    /// Token `t` is `bytes[ends[t - 1]..ends[t]]`.
    ends: Vec<u32>,
    kinds: Vec<TokenKind>,
    eos: Vec<TokenId>,
    duplicates: Vec<(TokenId, TokenId)>,
    long_tokens: Vec<TokenId>,
    trie: TokTrie,
    tokenizer: Option<Arc<dyn Tokenize>>,
}

impl Vocabulary {
    /// Longest text token, in bytes, that the trie holds.
    pub const MAX_TRIE_TOKEN_BYTES: usize = 1024;
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
    /// [`VocabularyError::Json`] or [`VocabularyError::TokenizerJson`] with a JSON Pointer into the file.
    pub fn from_tokenizer_json(json: &[u8]) -> Result<VocabularyBuilder, VocabularyError> {
        tokenizer_json::read(json)
    }

    /// Reads tiktoken ranks: lines of base64-encoded token bytes, a space and the token's id.
    ///
    /// Special tokens are not part of such files: add them with [`VocabularyBuilder::special`].
    ///
    /// # Errors
    ///
    /// [`VocabularyError::TiktokenLine`] with the line's number, or [`VocabularyError::DuplicateId`].
    pub fn from_tiktoken(ranks: &[u8]) -> Result<VocabularyBuilder, VocabularyError> {
        tiktoken::read(ranks)
    }

    /// Number of token ids, unused ones included: the length of masks and of the model's logits.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there is no token id at all.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// What `token` stands for; [`TokenKind::Unused`] for ids past the end.
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

    /// The end-of-sequence ids, at least one, in the order given.
    pub fn eos_tokens(&self) -> &[TokenId] {
        &self.eos
    }

    /// Whether `token` ends a sequence.
    pub fn is_eos(&self, token: TokenId) -> bool {
        self.eos.contains(&token)
    }

    /// Pairs `(in the trie, not in the trie)` of text tokens with the same bytes, by increasing second id.
    pub fn duplicates(&self) -> &[(TokenId, TokenId)] {
        &self.duplicates
    }

    /// Text tokens of more than [`MAX_TRIE_TOKEN_BYTES`](Vocabulary::MAX_TRIE_TOKEN_BYTES) bytes, which the
    /// trie leaves out.
    pub fn long_tokens(&self) -> &[TokenId] {
        &self.long_tokens
    }

    /// The trie over the text tokens. Special tokens are in it too, under toktrie's marker byte `0xFF`.
    pub fn trie(&self) -> &TokTrie {
        &self.trie
    }

    /// Tokens that spell `text`, each as long as can be from where it begins; none where some byte has no token. This is
    /// not what the tokenizer would write.
    pub fn spell(&self, text: &[u8]) -> Option<Vec<TokenId>> {
        let (mut tokens, mut rest) = (Vec::new(), text);
        while !rest.is_empty() {
            let (token, length) = self.trie.prefix_token_id(rest);
            if length == 0 {
                return None;
            }
            tokens.push(token);
            rest = &rest[length..];
        }
        Some(tokens)
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
            .field("long_tokens", &self.long_tokens.len())
            .field("tokenizer", &self.tokenizer.is_some())
            .finish_non_exhaustive()
    }
}
