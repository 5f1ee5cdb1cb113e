//! [`Slices`]: the tokens of a vocabulary, sorted by what they do inside of a string.

use toktrie::{TokRxInfo, TokTrie};

use crate::{TokenId, TokenKind, Vocabulary};

/// The text tokens in two tries: most places in a document are inside of strings, where tokens without a quote are
/// judged by the string's language alone, and only the others by the whole machine.
pub(crate) struct Slices {
    /// Tokens without a quote.
    pub(crate) content: TokTrie,
    /// Tokens with one.
    pub(crate) quoted: TokTrie,
}

impl Slices {
    /// The slices of a vocabulary. Takes about as long as building its trie.
    pub(crate) fn new(vocabulary: &Vocabulary) -> Self {
        let ids = 0..vocabulary.len() as TokenId;
        let (mut content, mut quoted) = (Vec::new(), Vec::new());
        for id in ids {
            let bytes = match vocabulary.kind(id) {
                TokenKind::Text => vocabulary.token_bytes(id),
                TokenKind::Special | TokenKind::Unused => &[],
            };
            let fits = bytes.len() <= Vocabulary::MAX_TRIE_TOKEN_BYTES && !bytes.contains(&0xFF);
            let bytes = if fits { bytes.to_vec() } else { Vec::new() };
            let (one, other) = match bytes.contains(&b'"') {
                true => (&mut quoted, &mut content),
                false => (&mut content, &mut quoted),
            };
            one.push(bytes);
            other.push(Vec::new());
        }
        let end = vocabulary.eos_tokens().first().copied().unwrap_or_default();
        let info = TokRxInfo::new(vocabulary.len() as u32, end);
        Self {
            content: TokTrie::from(&info, &content),
            quoted: TokTrie::from(&info, &quoted),
        }
    }
}
