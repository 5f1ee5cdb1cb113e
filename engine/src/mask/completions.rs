//! [`CompletionTokens`]: the tokens of completions, and how many there are from each state.
//!
//! A completion is a chain of pieces of text, of which many documents share most. Each piece is spelled with as few tokens as
//! can be, once, and how many tokens end the document is remembered by state. So a decode loop that asks at every token how
//! far the end is pays for what is new since the last one.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::automaton::{Automaton, AutomatonError, State, TextPiece};
use crate::mask::cache::bounded::BoundedCache;
use crate::{TokenId, Vocabulary};

/// Memory for the numbers of tokens that end documents.
const LENGTH_BYTES: usize = 1 << 20;
/// Memory for the spellings of pieces.
const SPELLING_BYTES: usize = 1 << 20;
/// Tokens up to which completions are looked for.
const MAX_TOKENS: usize = 1 << 16;

/// For each place in a text the number of tokens that spell what is left, and the length of the first.
type Spelling = Arc<[(u32, u32)]>;

/// What is remembered of completions in one schema.
#[derive(Debug)]
pub(crate) struct CompletionTokens {
    /// How many tokens end the document from states between its parts.
    lengths: BoundedCache<State, u32>,
    /// The spelling of a text by its address, at which the text is kept.
    spellings: HashMap<usize, (Arc<[u8]>, Spelling)>,
    bytes: usize,
}

impl Default for CompletionTokens {
    fn default() -> Self {
        Self {
            lengths: BoundedCache::new(LENGTH_BYTES),
            spellings: HashMap::new(),
            bytes: 0,
        }
    }
}

impl CompletionTokens {
    /// Bytes that it takes, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.lengths.bytes() + self.bytes
    }

    /// Tokens that end the document from a state; none where it cannot be ended within a bounded number of them.
    pub(crate) fn tokens(
        &mut self,
        automaton: &mut Automaton,
        vocabulary: &Vocabulary,
        at: State,
    ) -> Result<Option<Vec<TokenId>>, AutomatonError> {
        if automaton.is_laid_out() {
            let text = automaton.completion(at)?;
            return Ok(text.and_then(|text| laid_out_tokens(vocabulary, &text)));
        }
        let (mut tokens, mut at) = (Vec::new(), at);
        while !automaton.is_done(&at) {
            let Some((pieces, next)) = automaton.completion_step(&at)? else {
                return Ok(None);
            };
            for piece in pieces {
                let spelling = self.spelling(vocabulary, &piece);
                let mut from = piece.from;
                while let Some((left, length)) = spelling.get(from) {
                    if *left == u32::MAX {
                        return Ok(None);
                    }
                    let end = from + *length as usize;
                    tokens.extend(vocabulary.token_of(&piece.whole[from..end]));
                    from = end;
                }
            }
            if tokens.len() > MAX_TOKENS {
                return Ok(None);
            }
            at = next;
        }
        Ok(Some(tokens))
    }

    /// The number of [`tokens`](Self::tokens).
    pub(crate) fn count(
        &mut self,
        automaton: &mut Automaton,
        vocabulary: &Vocabulary,
        at: State,
    ) -> Result<Option<usize>, AutomatonError> {
        if automaton.is_laid_out() {
            return Ok(self.tokens(automaton, vocabulary, at)?.map(|tokens| tokens.len()));
        }
        let (mut chain, mut at) = (Vec::new(), at);
        let mut behind = loop {
            if automaton.is_done(&at) {
                break 0;
            }
            let is_kept = !automaton.is_in_scalar(at) && !automaton.is_in_text(at);
            if is_kept && let Some(known) = self.lengths.get(&at) {
                break known;
            }
            if chain.len() > MAX_TOKENS {
                return Ok(None);
            }
            let Some((pieces, next)) = automaton.completion_step(&at)? else {
                return Ok(None);
            };
            let mut own = 0_u32;
            for piece in pieces {
                let spelling = self.spelling(vocabulary, &piece);
                let tokens = spelling.get(piece.from).map_or(0, |(tokens, _)| *tokens);
                own = tokens.saturating_add(own);
            }
            chain.push((is_kept.then_some(at), own));
            at = next;
        };
        for (at, own) in chain.into_iter().rev() {
            behind = own.saturating_add(behind);
            if let Some(at) = at {
                self.lengths.keep(at, behind, 0);
            }
        }
        Ok(Some(behind as usize).filter(|tokens| *tokens <= MAX_TOKENS))
    }

    /// For each place in the text of a piece how many tokens spell what is left of it, at least, and the length of the
    /// first.
    fn spelling(&mut self, vocabulary: &Vocabulary, piece: &TextPiece) -> Spelling {
        let address = piece.whole.as_ptr() as usize;
        if let Some((_, known)) = self.spellings.get(&address) {
            return known.clone();
        }
        let spelling: Spelling = vocabulary.fewest_tokens(&piece.whole).into();
        let bytes = 64 + 9 * spelling.len();
        if self.bytes + bytes > SPELLING_BYTES {
            self.spellings.clear();
            self.bytes = 0;
        }
        self.bytes += bytes;
        self.spellings.insert(address, (piece.whole.clone(), spelling.clone()));
        spelling
    }
}

/// The fewest tokens that spell a text whose whitespace depends on what it ends; `None` where none do, or too many.
fn laid_out_tokens(vocabulary: &Vocabulary, text: &[u8]) -> Option<Vec<TokenId>> {
    let spelling = vocabulary.fewest_tokens(text);
    let (mut tokens, mut from) = (Vec::new(), 0);
    while from < text.len() {
        let (_, length) = *spelling.get(from).filter(|(left, _)| *left != u32::MAX)?;
        let end = from + length as usize;
        tokens.extend(vocabulary.token_of(&text[from..end]));
        from = end;
    }
    Some(tokens).filter(|tokens| tokens.len() <= MAX_TOKENS)
}
