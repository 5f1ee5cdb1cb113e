//! A vocabulary as toktrie's trie, which llguidance walks.

use std::sync::Arc;

use maskwright::{TokenId, TokenKind, Tokenize, Vocabulary};
use toktrie::{TokRxInfo, TokTrie, TokenizerEnv};

/// Longest token, in bytes, that toktrie's trie holds.
const MAX_TOKEN_BYTES: usize = 1024;
/// Largest number of nodes of toktrie's trie.
const MAX_NODES: usize = (1 << 22) - 1;

/// A vocabulary with its trie, as llguidance asks for them.
pub(super) struct TrieVocabulary {
    vocabulary: Arc<Vocabulary>,
    trie: TokTrie,
}

impl TrieVocabulary {
    /// Puts the tokens of a vocabulary into a trie: special tokens behind toktrie's marker byte, of text tokens with the same
    /// bytes the one with the lowest id. Tokens that the trie cannot hold, those longer than 1,024 bytes, are left out and
    /// never allowed.
    ///
    /// # Errors
    ///
    /// A message, where the trie would have more nodes than toktrie can number.
    pub(super) fn new(vocabulary: Arc<Vocabulary>) -> Result<Self, String> {
        let mut words = vec![Vec::new(); vocabulary.len()];
        for (id, word) in (0..).zip(&mut words) {
            let bytes = vocabulary.token_bytes(id);
            if bytes.len() > MAX_TOKEN_BYTES || bytes.contains(&TokTrie::SPECIAL_TOKEN_MARKER) {
                continue;
            }
            match vocabulary.kind(id) {
                TokenKind::Special if bytes.len() < MAX_TOKEN_BYTES => {
                    word.push(TokTrie::SPECIAL_TOKEN_MARKER);
                    word.extend_from_slice(bytes);
                }
                TokenKind::Text if vocabulary.token_of(bytes) == Some(id) => word.extend_from_slice(bytes),
                _ => {}
            }
        }
        let nodes = count_nodes(&words);
        if nodes > MAX_NODES {
            return Err(format!(
                "the vocabulary's trie has {nodes} nodes, over toktrie's limit of {MAX_NODES}"
            ));
        }
        let info = TokRxInfo::new(vocabulary.len() as u32, vocabulary.eos_tokens()[0]);
        let trie = TokTrie::from(&info, &words).with_eos_tokens(vocabulary.eos_tokens());
        Ok(Self { vocabulary, trie })
    }
}

/// Number of nodes of a trie over some words, the root included; an upper bound where that is within the limit.
fn count_nodes(words: &[Vec<u8>]) -> usize {
    let total: usize = words.iter().map(Vec::len).sum();
    if total < MAX_NODES {
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

impl TokenizerEnv for TrieVocabulary {
    fn tok_trie(&self) -> &TokTrie {
        &self.trie
    }

    fn tokenize_bytes(&self, text: &[u8]) -> Vec<TokenId> {
        match self.vocabulary.tokenizer() {
            Some(tokenizer) => Tokenize::tokenize(tokenizer.as_ref(), text),
            None => self.trie.greedy_tokenize(text),
        }
    }

    fn tokenize_is_canonical(&self) -> bool {
        self.vocabulary.tokenizer().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five million bytes without shared prefixes need more nodes than the trie can number.
    #[test]
    fn a_trie_too_large_is_refused() {
        let mut builder = Vocabulary::builder();
        for id in 0..5_000 {
            let mut token = id.to_string().into_bytes();
            token.resize(1_000, b'.');
            builder = builder.text(id, token).unwrap();
        }
        let vocabulary = Arc::new(builder.eos([0]).build().unwrap());
        let error = TrieVocabulary::new(vocabulary).err().unwrap();
        assert!(error.contains("nodes"), "{error}");
    }

    #[test]
    fn odd_tokens_are_left_out() {
        let vocabulary = Vocabulary::builder()
            .text(0, "a")
            .and_then(|builder| builder.text(1, "a"))
            .and_then(|builder| builder.text(2, b"\xFF\xFE".to_vec()))
            .and_then(|builder| builder.text(3, vec![b' '; 100_000]))
            .and_then(|builder| builder.text(4, vec![b'x'; MAX_TOKEN_BYTES]))
            .and_then(|builder| builder.special(5, "<end>"))
            .and_then(|builder| builder.eos([5]).build())
            .unwrap();
        let found = TrieVocabulary::new(Arc::new(vocabulary)).unwrap();
        let trie = found.tok_trie();
        assert_eq!(trie.token_id(b"a"), Some(0));
        assert_eq!(trie.token(1), b"", "equal bytes are in the trie once");
        assert_eq!(trie.token(2), b"", "no UTF-8 text has the byte 0xFF");
        assert_eq!(trie.token(3), b"", "too long");
        assert_eq!(trie.max_token_len(), MAX_TOKEN_BYTES);
    }
}
