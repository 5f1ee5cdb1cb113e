//! [`VocabularyBuilder`]: builds a vocabulary token by token.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::{TokenKind, Tokenize, Vocabulary};
use crate::{TokenId, VocabularyError};

/// Collects the tokens of a [`Vocabulary`].
#[derive(Default)]
pub struct VocabularyBuilder {
    tokens: BTreeMap<TokenId, (TokenKind, Vec<u8>)>,
    eos: Vec<TokenId>,
    size: Option<usize>,
    tokenizer: Option<Arc<dyn Tokenize>>,
}

impl VocabularyBuilder {
    /// Adds a text token.
    ///
    /// # Errors
    ///
    /// [`VocabularyError::DuplicateId`], where `id` has other bytes already; [`VocabularyError::Limit`].
    pub fn text(self, id: TokenId, bytes: impl Into<Vec<u8>>) -> Result<Self, VocabularyError> {
        self.insert(id, TokenKind::Text, bytes.into())
    }

    /// Adds a special token, or makes a text token of that id special.
    ///
    /// # Errors
    ///
    /// [`VocabularyError::Limit`].
    pub fn special(mut self, id: TokenId, name: impl Into<String>) -> Result<Self, VocabularyError> {
        self.tokens.remove(&id);
        self.insert(id, TokenKind::Special, name.into().into_bytes())
    }

    /// Replaces the end-of-sequence ids. They are special tokens from then on, whatever they were.
    #[must_use]
    pub fn eos(mut self, ids: impl IntoIterator<Item = TokenId>) -> Self {
        self.eos.clear();
        for id in ids {
            if !self.eos.contains(&id) {
                self.eos.push(id);
            }
        }
        self
    }

    /// Sets the number of token ids: the model's number of logits, often more than the tokenizer has tokens.
    #[must_use]
    pub fn size(mut self, len: usize) -> Self {
        self.size = Some(len);
        self
    }

    /// Gives the tokenizer, without which no tokens can be forced.
    #[must_use]
    pub fn tokenizer(mut self, tokenizer: Arc<dyn Tokenize>) -> Self {
        self.tokenizer = Some(tokenizer);
        self
    }

    /// The id of the token with this name or text, where one was added.
    pub fn find(&self, text: &str) -> Option<TokenId> {
        self.tokens
            .iter()
            .find(|(_, (_, bytes))| bytes == text.as_bytes())
            .map(|(&id, _)| id)
    }

    /// Builds the vocabulary.
    ///
    /// # Errors
    ///
    /// [`VocabularyError::NoEos`], [`VocabularyError::EosOutOfRange`], [`VocabularyError::TooLarge`] where a
    /// token of text has an id that is not below the size given, or [`VocabularyError::Limit`].
    pub fn build(mut self) -> Result<Vocabulary, VocabularyError> {
        if let Some(len) = self.size {
            let is_within = |id: TokenId, kind| (id as usize) < len || kind != TokenKind::Special;
            self.tokens.retain(|&id, (kind, _)| is_within(id, *kind));
        }
        let highest = self.tokens.keys().next_back().copied();
        let len = match (self.size, highest) {
            (Some(len), Some(id)) if id as usize >= len => {
                return Err(VocabularyError::TooLarge { id, len });
            }
            (Some(len), _) => len,
            (None, Some(id)) => id as usize + 1,
            (None, None) => 0,
        };
        limit("the number of token ids", len, Vocabulary::MAX_TOKENS)?;
        if self.eos.is_empty() {
            return Err(VocabularyError::NoEos);
        }
        for &id in &self.eos {
            if id as usize >= len {
                return Err(VocabularyError::EosOutOfRange { id, len });
            }
            let entry = self
                .tokens
                .entry(id)
                .or_insert_with(|| (TokenKind::Special, format!("<eos {id}>").into_bytes()));
            entry.0 = TokenKind::Special;
        }
        let total = self.tokens.values().map(|(_, bytes)| bytes.len()).sum();
        limit("the tokens' total length in bytes", total, Vocabulary::MAX_TOTAL_BYTES)?;

        let mut bytes = Vec::with_capacity(total);
        let mut ends = Vec::with_capacity(len);
        let mut kinds = vec![TokenKind::Unused; len];
        for (id, slot) in (0..).zip(&mut kinds) {
            if let Some((kind, token)) = self.tokens.get(&id) {
                *slot = *kind;
                bytes.extend_from_slice(token);
            }
            ends.push(bytes.len() as u32);
        }
        // Text tokens of the same bytes stand side by side, the lowest id first.
        let is_text =
            |(_, (kind, bytes)): &(&TokenId, &(TokenKind, Vec<u8>))| *kind == TokenKind::Text && !bytes.is_empty();
        let mut sorted: Vec<(&[u8], TokenId)> = self
            .tokens
            .iter()
            .filter(is_text)
            .map(|(&id, (_, bytes))| (bytes.as_slice(), id))
            .collect();
        sorted.sort_unstable();
        let mut duplicates: Vec<(TokenId, TokenId)> = sorted
            .chunk_by(|one, other| one.0 == other.0)
            .flat_map(|same| same[1..].iter().map(|(_, id)| (same[0].1, *id)))
            .collect();
        duplicates.sort_unstable_by_key(|&(_, id)| id);
        sorted.dedup_by_key(|(bytes, _)| *bytes);
        let sorted = sorted.into_iter().map(|(_, id)| id).collect();
        Ok(Vocabulary {
            bytes,
            ends,
            kinds,
            eos: self.eos,
            duplicates,
            sorted,
            tokenizer: self.tokenizer,
        })
    }

    fn insert(mut self, id: TokenId, kind: TokenKind, bytes: Vec<u8>) -> Result<Self, VocabularyError> {
        limit("a token id", id as usize, Vocabulary::MAX_TOKENS - 1)?;
        if let Some((_, known)) = self.tokens.get(&id)
            && *known != bytes
        {
            return Err(VocabularyError::DuplicateId {
                id,
                first: String::from_utf8_lossy(known).into_owned(),
                second: String::from_utf8_lossy(&bytes).into_owned(),
            });
        }
        self.tokens.insert(id, (kind, bytes));
        Ok(self)
    }
}

impl fmt::Debug for VocabularyBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VocabularyBuilder")
            .field("tokens", &self.tokens.len())
            .field("eos", &self.eos)
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

fn limit(what: &'static str, value: usize, limit: usize) -> Result<(), VocabularyError> {
    if value > limit {
        return Err(VocabularyError::Limit { what, value, limit });
    }
    Ok(())
}
