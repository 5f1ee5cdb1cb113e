//! [`StateMasker`]: a [`Masker`] that walks the states of one text, with rollback.

use std::hash::Hash;
use std::sync::Arc;

use super::history::History;
use super::speculation::{Speculation, Way};
use super::token_budget::TokenBudget;
use crate::mask::cache::mask_buffers::{BufferPool, MaskBuffers};
use crate::mask::cache::sharded::ShardedCache;
use crate::mask::cache::token_set::TokenSet;
use crate::mask::completions::CompletionLength;
use crate::mask::index::base_sets::BaseSets;
use crate::{MaskError, Masker, TokenId, TokenKind, TokenMask, Vocabulary};

/// The resources that one automaton has used since it was made, for all texts that were read with it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Used {
    /// The share, from 0 to 1, of the limits that are about all texts together.
    pub(crate) of_limits: f64,
    /// The work, in units of about a microsecond.
    pub(crate) effort: usize,
}

/// The numbers of classes of tokens within a text, in the order of the tokens.
pub(crate) type TextClassNumbers = Vec<Option<u32>>;

/// For a state within a text that any characters may follow: which tokens of the text have the same to come behind them.
pub(crate) struct FreeText {
    /// The tokens within such a text behind which something else may follow than behind all others, sorted.
    pub(crate) apart: Vec<TokenId>,
    /// Whether exactly the same has to follow behind any two of the others that end with a whole character. Otherwise the end behind one may
    /// be some tokens further than that behind another.
    pub(crate) is_exact: bool,
}

/// An automaton over texts that are written token by token, with its masks.
pub(crate) trait MaskedText: Send + Sync + 'static {
    /// A position in a text.
    type State: Clone + Send + Sync + 'static;

    /// The part of a state that its mask and completion depend on.
    type Key: Clone + Eq + Hash;

    /// Returns the part of a state that its mask and completion depend on.
    fn key(at: &Self::State) -> Self::Key;

    /// Returns for each state the length in tokens of the longest completion behind a token that is allowed there.
    fn furthest(&self) -> &ShardedCache<Self::Key, u32>;

    /// The vocabulary of the masks.
    fn vocabulary(&self) -> &Vocabulary;

    /// Sets of tokens that masks are drawn over.
    fn sets(&self) -> &BaseSets;

    /// The mask buffers that no masker uses.
    fn buffers(&self) -> &BufferPool;

    /// The tokens that may come at a state, ends of sequence among them, and whether that was known.
    fn mask(&self, at: &Self::State) -> Result<(Arc<TokenSet>, bool), MaskError>;

    /// The state after a token of these bytes; none where no text continues with it. `comes_back` tells that documents are likely to come
    /// back to the state, so that it is worth caching.
    fn after(
        &self,
        at: &Self::State,
        token: (TokenId, &[u8]),
        comes_back: bool,
    ) -> Result<Option<Self::State>, MaskError>;

    /// The state after a special token, which elsewhere may end the sequence; none where the token does not stand for itself. Documents have
    /// no special tokens.
    fn after_special(&self, at: &Self::State, token: TokenId) -> Result<Option<Self::State>, MaskError> {
        let _ = (at, token);
        Ok(None)
    }

    /// Whether a special token stands for itself in some text.
    fn names(&self, token: TokenId) -> bool {
        let _ = token;
        false
    }

    /// Whether the text may end.
    fn is_complete(&self, at: &Self::State) -> Result<bool, MaskError>;

    /// The tokens that must come, behind those that came.
    fn forced(&self, at: &Self::State, before: &[TokenId]) -> Result<Vec<TokenId>, MaskError>;

    /// The bytes that must come, up to a limit.
    fn forced_text(&self, at: &Self::State) -> Result<Vec<u8>, MaskError>;

    /// Returns what may follow in a text that any characters may follow. `None` of any other state, and where it is not known.
    fn free_text(&self, at: &Self::State) -> Result<Option<FreeText>, MaskError> {
        let _ = at;
        Ok(None)
    }

    /// Returns for each token a number, the same for tokens within a text behind which the same has to come. `None` of all other tokens;
    /// no numbers where that is not known.
    fn text_classes(&self, at: &Self::State, tokens: &[TokenId]) -> Result<Option<TextClassNumbers>, MaskError> {
        let _ = (at, tokens);
        Ok(None)
    }

    /// Returns tokens of a short text that ends the text from a state; none where none was found.
    fn completion(&self, at: &Self::State) -> Result<Option<Vec<TokenId>>, MaskError>;

    /// Returns the length of the [`completion`](Self::completion).
    fn completion_length(&self, at: &Self::State) -> Result<Option<CompletionLength>, MaskError>;

    /// Returns the bytes of the caches, roughly, without those that schemas share.
    fn memory(&self) -> usize;

    /// Returns what all texts together have used.
    fn used(&self) -> Used;
}

/// The current state in a text, and the states before it.
pub(crate) struct StateMasker<T: MaskedText> {
    pub(super) texts: Arc<T>,
    /// The state before each token accepted, and the present one.
    states: History<T::State>,
    /// The tokens accepted, without an end of sequence.
    pub(super) tokens: Vec<TokenId>,
    /// Whether an end of sequence was accepted.
    pub(super) ended: bool,
    /// Whether the present state was known when its mask was asked for.
    was_known: bool,
    /// Taken when the first mask is asked for.
    buffers: Option<MaskBuffers>,
    speculation: Speculation<T::State>,
    /// Made when a mask under a limit on tokens differs from the mask without one.
    pub(super) budget: Option<Box<TokenBudget>>,
}

impl<T: MaskedText> StateMasker<T> {
    /// At the start of a text.
    pub(crate) fn new(texts: T, start: T::State) -> Self {
        Self {
            texts: Arc::new(texts),
            states: History::new(start),
            tokens: Vec::new(),
            ended: false,
            was_known: false,
            buffers: None,
            speculation: Speculation::default(),
            budget: None,
        }
    }

    pub(super) fn state(&self) -> &T::State {
        self.states.last()
    }

    /// The state behind the first `tokens` tokens.
    pub(super) fn state_behind(&self, tokens: usize) -> &T::State {
        self.states.get(tokens)
    }

    pub(super) fn budget_mut(&mut self) -> &mut TokenBudget {
        self.budget.get_or_insert_with(|| Box::new(TokenBudget::new()))
    }

    /// The tokens of the mask without a limit on tokens.
    fn whole_set(&mut self) -> Result<Arc<TokenSet>, MaskError> {
        let (tokens, was_known) = match self.ended {
            true => (Arc::new(TokenSet::none()), false),
            false => self.texts.mask(self.state())?,
        };
        self.was_known = was_known;
        Ok(tokens)
    }

    /// The mask without a limit on tokens.
    pub(super) fn whole_mask(&mut self) -> Result<&TokenMask, MaskError> {
        let tokens = self.whole_set()?;
        let texts = &self.texts;
        let buffers = self.buffers.get_or_insert_with(|| texts.buffers().take());
        Ok(buffers.draw(&tokens, texts.sets(), texts.vocabulary().len()))
    }

    /// The state after a token; none where it is not allowed there, or ends the text.
    pub(super) fn after(&self, at: &T::State, token: TokenId, comes_back: bool) -> Result<Option<T::State>, MaskError> {
        let vocabulary = self.texts.vocabulary();
        match (vocabulary.kind(token), vocabulary.token_bytes(token)) {
            (TokenKind::Text, bytes @ [_, ..]) => self.texts.after(at, (token, bytes), comes_back),
            (TokenKind::Special, _) => self.texts.after_special(at, token),
            _ => Ok(None),
        }
    }

    fn push(&mut self, token: TokenId, state: T::State) {
        self.states.push(state);
        self.tokens.push(token);
        self.was_known = false;
    }

    /// Returns `token`, and the tokens that are forced behind it, with the states that they lead to; none where the token is not
    /// allowed.
    fn way(&mut self, token: TokenId) -> Result<Option<Way<T::State>>, MaskError> {
        let Some(next) = self.after(self.state(), token, self.was_known)? else {
            return Ok(None);
        };
        // The tokenizer sees what stands before.
        self.tokens.push(token);
        let forced = self.texts.forced(&next, &self.tokens);
        self.tokens.pop();
        let mut way = vec![(token, next)];
        for token in forced? {
            // Forced tokens are allowed; should one not be, the caller who accepts it gets the error.
            let Some(next) = self.after(&way[way.len() - 1].1, token, false)? else {
                return Ok(None);
            };
            way.push((token, next));
        }
        Ok(Some(way))
    }

    /// The length of the completion from here.
    fn length_to_end(&self) -> Result<Option<CompletionLength>, MaskError> {
        match self.ended {
            true => Ok(Some(CompletionLength::default())),
            false => self.texts.completion_length(self.state()),
        }
    }

    fn refused(&self, token: TokenId) -> MaskError {
        MaskError::TokenRefused {
            token,
            position: self.position(),
        }
    }
}

impl<T: MaskedText> Drop for StateMasker<T> {
    fn drop(&mut self) {
        if let Some(buffers) = self.buffers.take() {
            self.texts.buffers().put_back(buffers);
        }
    }
}

impl<T: MaskedText> Masker for StateMasker<T> {
    fn mask(&mut self) -> Result<&TokenMask, MaskError> {
        self.whole_mask()
    }

    fn mask_within(&mut self, tokens: usize) -> Result<&TokenMask, MaskError> {
        match self.limit_mask(tokens)? {
            true => Ok(self.limited_mask()),
            false => self.whole_mask(),
        }
    }

    fn write_mask(&mut self, limit: Option<usize>, words: &mut [u32]) -> Result<(), MaskError> {
        if let Some(tokens) = limit
            && self.limit_mask(tokens)?
        {
            words.copy_from_slice(self.limited_mask().words());
            return Ok(());
        }
        let tokens = self.whole_set()?;
        tokens.write(words, self.texts.sets());
        Ok(())
    }

    fn names(&self, token: TokenId) -> bool {
        self.texts.names(token)
    }

    fn advance(&mut self, token: TokenId) -> Result<(), MaskError> {
        if self.ended {
            return Err(self.refused(token));
        }
        if let Some(next) = self.speculation.advance(token) {
            self.push(token, next);
            return Ok(());
        }
        if self.texts.vocabulary().is_eos(token) {
            if let Some(next) = self.texts.after_special(self.state(), token)? {
                self.push(token, next);
                return Ok(());
            }
            if !self.is_complete()? {
                return Err(self.refused(token));
            }
            self.ended = true;
            return Ok(());
        }
        let Some(next) = self.after(self.state(), token, self.was_known)? else {
            return Err(self.refused(token));
        };
        self.push(token, next);
        Ok(())
    }

    fn is_complete(&mut self) -> Result<bool, MaskError> {
        Ok(self.ended || self.texts.is_complete(self.state())?)
    }

    fn position(&self) -> usize {
        self.states.len() - 1 + usize::from(self.ended)
    }

    fn forced_tokens(&mut self, tokens: &mut Vec<TokenId>) -> Result<(), MaskError> {
        if let Some(forced) = self.speculation.forced() {
            tokens.extend(forced);
        } else if !self.ended {
            tokens.extend(self.texts.forced(self.state(), &self.tokens)?);
        }
        Ok(())
    }

    fn forced_text(&mut self, text: &mut Vec<u8>) -> Result<(), MaskError> {
        if !self.ended {
            text.extend(self.texts.forced_text(self.state())?);
        }
        Ok(())
    }

    fn completion(&mut self, tokens: &mut Vec<TokenId>) -> Result<bool, MaskError> {
        if self.ended {
            return Ok(true);
        }
        let rest = self.texts.completion(self.state())?;
        tokens.extend(rest.iter().flatten());
        Ok(rest.is_some())
    }

    fn completion_length(&mut self) -> Result<Option<usize>, MaskError> {
        Ok(self.length_to_end()?.map(|length| length.tokens))
    }

    fn completion_bytes(&mut self) -> Result<Option<usize>, MaskError> {
        Ok(self.length_to_end()?.map(|length| length.bytes))
    }

    fn speculate(&mut self, token: TokenId) {
        if self.ended || !self.speculation.wants(token) {
            return;
        }
        // An error is for the call that meets it again.
        if let Ok(Some(way)) = self.way(token) {
            self.speculation.add(token, way);
        }
    }

    fn memory_bytes(&self) -> Option<usize> {
        Some(self.texts.memory())
    }

    fn used_of_limits(&self) -> f64 {
        self.texts.used().of_limits
    }

    fn fork(&self) -> Result<Box<dyn Masker>, MaskError> {
        Ok(Box::new(Self {
            texts: self.texts.clone(),
            states: self.states.clone(),
            tokens: self.tokens.clone(),
            ended: self.ended,
            was_known: self.was_known,
            buffers: None,
            speculation: Speculation::default(),
            budget: self.budget.clone(),
        }))
    }

    fn rollback(&mut self, tokens: usize) -> Result<(), MaskError> {
        let available = self.position();
        if tokens > available {
            return Err(MaskError::RollbackTooFar {
                asked: tokens,
                available,
            });
        }
        if tokens > 0 {
            self.speculation = Speculation::default();
            let states = tokens - usize::from(self.ended);
            (self.ended, self.was_known) = (false, false);
            self.states.truncate(self.states.len() - states);
            self.tokens.truncate(self.tokens.len() - states);
            if let Some(budget) = &mut self.budget {
                budget.take_back(self.tokens.len());
            }
        }
        Ok(())
    }
}
