//! [`CompletionTokens`]: completions as tokens, and the length of the completion from each state.
//!
//! A completion is a chain of links, each some pieces of text with the state behind them; documents share most links.
//! The link that follows a state depends on results that the automaton has found before, so the first link found is kept, with the length of
//! the whole completion from there. A decode loop that asks at every token how far the end is therefore pays only for the links that are new since
//! the last token. Each piece is spelled with the fewest tokens.

use std::sync::Arc;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use crate::automaton::{Automaton, AutomatonError, State, TextPiece};
use crate::{TokenId, Vocabulary};

/// Memory for the links of completions: some ten thousand.
const LINK_BYTES: usize = 4 << 20;
/// Memory for the spellings of pieces.
const SPELLING_BYTES: usize = 1 << 20;
/// Tokens up to which completions are looked for.
const MAX_TOKENS: usize = 1 << 16;
/// Bytes that a piece takes besides its text, roughly.
const PIECE_BYTES: usize = 40;

/// The length of a completion.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CompletionLength {
    /// Number of tokens.
    pub(crate) tokens: usize,
    /// Number of bytes of the tokens' text.
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

/// A part of a completion.
#[derive(Debug)]
struct Link {
    pieces: Box<[TextPiece]>,
    /// The state behind the pieces.
    next: State,
    /// The length from the beginning of the pieces to the end of the document.
    to_end: CompletionLength,
}

impl Link {
    /// Bytes that a kept link takes, roughly.
    fn bytes(&self) -> usize {
        let texts = self.pieces.iter().map(|piece| piece.len() + PIECE_BYTES);
        size_of::<(State, Arc<Self>)>() + size_of::<Self>() + texts.sum::<usize>()
    }
}

/// Links that follow one another, each with the state that it begins in.
type Chain = Vec<(State, Arc<Link>)>;

/// For each byte offset in a text the number of tokens that spell the remaining text, and the length of the first.
type Spelling = Arc<[(u32, u32)]>;

/// A cache of the completions in one schema.
#[derive(Debug, Default)]
pub(crate) struct CompletionTokens {
    /// The links from states between the parts of a document. Behind each of them all others up to the document's end are
    /// there as well.
    links: HashMap<State, Arc<Link>>,
    link_bytes: usize,
    /// The spelling of a text by its address, at which the text is kept.
    spellings: HashMap<usize, (Arc<[u8]>, Spelling)>,
    spelling_bytes: usize,
}

impl CompletionTokens {
    /// Returns the bytes that the cache takes, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.link_bytes + self.spelling_bytes
    }

    /// Tokens that end the document from a state; none where it cannot be ended within a bounded number of them.
    pub(crate) fn tokens(
        &mut self,
        automaton: &mut Automaton,
        vocabulary: &Vocabulary,
        at: State,
    ) -> Result<Option<Vec<TokenId>>, AutomatonError> {
        let Some(chain) = self.chain(automaton, vocabulary, at)? else {
            return Ok(None);
        };
        if self.length_of(&chain, at).is_none() {
            return Ok(None);
        }
        let (mut tokens, mut at) = (Vec::new(), at);
        for (_, link) in chain {
            self.spell(vocabulary, &link, &mut tokens);
            at = link.next;
        }
        while let Some(link) = self.links.get(&at).cloned() {
            self.spell(vocabulary, &link, &mut tokens);
            at = link.next;
        }
        Ok(Some(tokens))
    }

    /// Returns the length of the completion by [`tokens`](Self::tokens).
    pub(crate) fn length(
        &mut self,
        automaton: &mut Automaton,
        vocabulary: &Vocabulary,
        at: State,
    ) -> Result<Option<CompletionLength>, AutomatonError> {
        let chain = self.chain(automaton, vocabulary, at)?;
        Ok(chain.and_then(|chain| self.length_of(&chain, at)))
    }

    /// The length of the completion from a state whose first links are those of a chain; none if it has too many tokens.
    fn length_of(&self, chain: &[(State, Arc<Link>)], at: State) -> Option<CompletionLength> {
        let first = chain.first().map(|(_, link)| link).or_else(|| self.links.get(&at));
        let length = first.map_or_else(CompletionLength::default, |link| link.to_end);
        Some(length).filter(|length| length.tokens <= MAX_TOKENS)
    }

    /// The links from a state on that are not kept yet, behind which there is the document's end or a link that is kept; none
    /// where no end was found. As many of the last of them are kept as there is room for.
    fn chain(
        &mut self,
        automaton: &mut Automaton,
        vocabulary: &Vocabulary,
        at: State,
    ) -> Result<Option<Chain>, AutomatonError> {
        let Some(mut chain) = self.find_chain(automaton, vocabulary, at)? else {
            return Ok(None);
        };
        let bytes: usize = chain.iter().map(|(_, link)| link.bytes()).sum();
        if self.link_bytes + bytes > LINK_BYTES && !self.links.is_empty() {
            // The links are dropped together, so that the whole chain is found anew.
            self.links.clear();
            self.link_bytes = 0;
            match self.find_chain(automaton, vocabulary, at)? {
                Some(whole) => chain = whole,
                None => return Ok(None),
            }
        }
        for (at, link) in chain.iter().rev() {
            let bytes = link.bytes();
            if automaton.is_in_scalar(*at) || automaton.is_in_text(*at) || self.link_bytes + bytes > LINK_BYTES {
                break;
            }
            if let Entry::Vacant(room) = self.links.entry(*at) {
                room.insert(link.clone());
                self.link_bytes += bytes;
            }
        }
        Ok(Some(chain))
    }

    /// The links from a state up to the first that is kept, or to the document's end; none where no end was found.
    fn find_chain(
        &mut self,
        automaton: &mut Automaton,
        vocabulary: &Vocabulary,
        at: State,
    ) -> Result<Option<Chain>, AutomatonError> {
        let (mut found, mut at) = (Vec::new(), at);
        let mut to_end = loop {
            if automaton.is_done(&at) {
                break CompletionLength::default();
            }
            if let Some(link) = self.links.get(&at) {
                break link.to_end;
            }
            if found.len() > MAX_TOKENS {
                return Ok(None);
            }
            let Some((pieces, next)) = step(automaton, &at)? else {
                return Ok(None);
            };
            let mut own = CompletionLength::default();
            for piece in &pieces {
                let spelling = self.spelling(vocabulary, piece);
                let tokens = spelling.get(piece.from).map_or(0, |(tokens, _)| *tokens as usize);
                let bytes = piece.len();
                own = own.and(CompletionLength { tokens, bytes });
            }
            found.push((at, pieces, next, own));
            at = next;
        };
        let mut chain = Vec::with_capacity(found.len());
        for (at, pieces, next, own) in found.into_iter().rev() {
            to_end = own.and(to_end);
            let pieces = pieces.into();
            chain.push((at, Arc::new(Link { pieces, next, to_end })));
        }
        chain.reverse();
        Ok(Some(chain))
    }

    /// Adds the tokens of a link.
    fn spell(&mut self, vocabulary: &Vocabulary, link: &Link, tokens: &mut Vec<TokenId>) {
        for piece in &link.pieces {
            let spelling = self.spelling(vocabulary, piece);
            let mut from = piece.from;
            // A text that no tokens spell has no spelling from its beginning on, and is in no completion that is short enough.
            while let Some((_, length)) = spelling.get(from).filter(|(_, length)| *length > 0) {
                let end = from + *length as usize;
                tokens.extend(vocabulary.token_of(&piece.whole[from..end]));
                from = end;
            }
        }
    }

    /// Returns for each place in the text of a piece the fewest tokens that spell the remaining text, and the length of the
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
        if self.spelling_bytes + bytes > SPELLING_BYTES {
            self.spellings.clear();
            self.spelling_bytes = 0;
        }
        self.spelling_bytes += bytes;
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
