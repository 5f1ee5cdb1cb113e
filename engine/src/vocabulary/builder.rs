//! [`VocabularyBuilder`]: a vocabulary token by token.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use toktrie::{TokRxInfo, TokTrie};

use super::{TokenKind, Tokenize, Vocabulary};
use crate::{TokenId, VocabularyError};

/// Nodes that toktrie's trie can number.
const MAX_TRIE_NODES: usize = (1 << 22) - 1;

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

    /// Builds the vocabulary and its trie.
    ///
    /// # Errors
    ///
    /// [`VocabularyError::NoEos`], [`VocabularyError::EosOutOfRange`], [`VocabularyError::TooLarge`] where a
    /// token's id is not below the size given, or [`VocabularyError::Limit`].
    pub fn build(mut self) -> Result<Vocabulary, VocabularyError> {
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
        let TrieWords {
            words,
            duplicates,
            long_tokens,
        } = trie_words(&self.tokens, len)?;
        let info = TokRxInfo::new(len as u32, self.eos[0]);
        let trie = TokTrie::from(&info, &words).with_eos_tokens(&self.eos);
        Ok(Vocabulary {
            bytes,
            ends,
            kinds,
            eos: self.eos,
            duplicates,
            long_tokens,
            trie,
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

struct TrieWords {
    words: Vec<Vec<u8>>,
    duplicates: Vec<(TokenId, TokenId)>,
    long_tokens: Vec<TokenId>,
}

/// The words of the trie, by token id: special tokens behind the marker byte, nothing for the tokens that the
/// trie cannot or need not hold.
fn trie_words(tokens: &BTreeMap<TokenId, (TokenKind, Vec<u8>)>, len: usize) -> Result<TrieWords, VocabularyError> {
    let mut words = vec![Vec::new(); len];
    let mut duplicates = Vec::new();
    let mut long_tokens = Vec::new();
    let mut first_with: HashMap<&[u8], TokenId> = HashMap::with_capacity(tokens.len());
    for (&id, (kind, bytes)) in tokens {
        match kind {
            TokenKind::Special if bytes.len() < Vocabulary::MAX_TRIE_TOKEN_BYTES => {
                let mut word = vec![TokTrie::SPECIAL_TOKEN_MARKER];
                word.extend_from_slice(bytes);
                words[id as usize] = word;
            }
            TokenKind::Special | TokenKind::Unused => {}
            TokenKind::Text if bytes.contains(&TokTrie::SPECIAL_TOKEN_MARKER) => {}
            TokenKind::Text if bytes.len() > Vocabulary::MAX_TRIE_TOKEN_BYTES => long_tokens.push(id),
            TokenKind::Text => match first_with.get(bytes.as_slice()) {
                Some(&first) if !bytes.is_empty() => duplicates.push((first, id)),
                _ => {
                    first_with.insert(bytes, id);
                    words[id as usize] = bytes.clone();
                }
            },
        }
    }
    limit("the number of trie nodes", trie_nodes(&words), MAX_TRIE_NODES)?;
    Ok(TrieWords {
        words,
        duplicates,
        long_tokens,
    })
}

/// Number of nodes of a trie over `words`, the root included; an upper bound where that is small enough.
fn trie_nodes(words: &[Vec<u8>]) -> usize {
    let total: usize = words.iter().map(Vec::len).sum();
    if total < MAX_TRIE_NODES {
        return total + 1;
    }
    let mut sorted: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    sorted.sort_unstable();
    let shared: usize = sorted
        .windows(2)
        .map(|pair| pair[0].iter().zip(pair[1]).take_while(|(a, b)| a == b).count())
        .sum();
    total - shared + 1
}

fn limit(what: &'static str, value: usize, limit: usize) -> Result<(), VocabularyError> {
    if value > limit {
        return Err(VocabularyError::Limit { what, value, limit });
    }
    Ok(())
}
