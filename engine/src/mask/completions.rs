//! [`CompletionTokens`]: the tokens of completions, and how long these are from each state.
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

/// The length of a completion.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CompletionLength {
    /// Number of tokens.
    pub(crate) tokens: usize,
    /// Number of bytes of their text.
    pub(crate) bytes: usize,
}

impl CompletionLength {
    /// The length of one completion followed by another.
    fn and(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }
}

/// For each place in a text the number of tokens that spell what is left, and the length of the first.
type Spelling = Arc<[(u32, u32)]>;

/// What is remembered of completions in one schema.
#[derive(Debug)]
pub(crate) struct CompletionTokens {
    /// The lengths of completions from states between the parts of a document.
    lengths: BoundedCache<State, CompletionLength>,
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
        let (mut tokens, mut at) = (Vec::new(), at);
        while !automaton.is_done(&at) {
            let Some((pieces, next)) = step(automaton, &at)? else {
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

    /// The length of what [`tokens`](Self::tokens) gives.
    pub(crate) fn length(
        &mut self,
        automaton: &mut Automaton,
        vocabulary: &Vocabulary,
        at: State,
    ) -> Result<Option<CompletionLength>, AutomatonError> {
        let (mut chain, mut at) = (Vec::new(), at);
        let mut behind = loop {
            if automaton.is_done(&at) {
                break CompletionLength::default();
            }
            let is_kept = !automaton.is_in_scalar(at) && !automaton.is_in_text(at);
            if is_kept && let Some(known) = self.lengths.get(&at) {
                break known;
            }
            if chain.len() > MAX_TOKENS {
                return Ok(None);
            }
            let Some((pieces, next)) = step(automaton, &at)? else {
                return Ok(None);
            };
            let mut own = CompletionLength::default();
            for piece in pieces {
                let spelling = self.spelling(vocabulary, &piece);
                let tokens = spelling.get(piece.from).map_or(0, |(tokens, _)| *tokens as usize);
                own = own.and(CompletionLength {
                    tokens,
                    bytes: piece.len(),
                });
            }
            chain.push((is_kept.then_some(at), own));
            at = next;
        };
        for (at, own) in chain.into_iter().rev() {
            behind = own.and(behind);
            if let Some(at) = at {
                self.lengths.keep(at, behind, 0);
            }
        }
        Ok(Some(behind).filter(|length| length.tokens <= MAX_TOKENS))
    }

    /// For each place in the text of a piece how many tokens spell what is left of it, at least, and the length of the
    /// first.
    fn spelling(&mut self, vocabulary: &Vocabulary, piece: &TextPiece) -> Spelling {
        // A text that nothing else keeps does not come again.
        if Arc::strong_count(&piece.whole) == 1 {
            return vocabulary.fewest_tokens(&piece.whole).into();
        }
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

/// The next pieces of the completion from a state, with the whitespace that the style fixes.
fn step(automaton: &mut Automaton, at: &State) -> Result<Option<(Vec<TextPiece>, State)>, AutomatonError> {
    let Some((mut pieces, next)) = automaton.completion_step(at)? else {
        return Ok(None);
    };
    if automaton.is_laid_out() {
        let text = pieces.iter().flat_map(|piece| piece.iter().copied()).collect();
        pieces = vec![automaton.laid_out(at, text).into()];
    }
    Ok(Some((pieces, next)))
}
