//! The masks of one compiled schema, as far as they have been worked out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toktrie::{Recognizer, SimpleVob, TokTrie};

use crate::automaton::{Automaton, Content, StateId, Trouble};
use crate::slices::Slices;
use crate::{MaskError, TokenMask, Vocabulary};

/// A compiled schema, shared by its maskers.
pub(super) struct Shared {
    pub(super) vocabulary: Arc<Vocabulary>,
    slices: Arc<Slices>,
    work: Mutex<Work>,
}

/// The automaton and the masks, as far as they have been worked out.
pub(super) struct Work {
    pub(super) automaton: Automaton,
    masks: HashMap<StateId, Arc<TokenMask>>,
    /// The tokens without a quote that may follow inside of strings.
    contents: HashMap<Content, Arc<SimpleVob>>,
}

impl Shared {
    pub(super) fn new(vocabulary: Arc<Vocabulary>, slices: Arc<Slices>, automaton: Automaton) -> Self {
        let work = Work {
            automaton,
            masks: HashMap::new(),
            contents: HashMap::new(),
        };
        Self {
            vocabulary,
            slices,
            work: Mutex::new(work),
        }
    }

    /// What is worked out is added whole, so that it stays usable after a panic elsewhere.
    pub(super) fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Work {
    /// The tokens that may come at a place.
    pub(super) fn mask(&mut self, at: StateId, shared: &Shared) -> Result<Arc<TokenMask>, MaskError> {
        if let Some(mask) = self.masks.get(&at) {
            return Ok(mask.clone());
        }
        let vocabulary = &*shared.vocabulary;
        let allowed = match self.automaton.content(at) {
            None => self.walk(vocabulary.trie(), at, Automaton::step)?,
            Some(content) => {
                let mut allowed = self.walk(&shared.slices.quoted, at, Automaton::step)?;
                allowed.or(&*self.content(content, &shared.slices)?);
                allowed
            }
        };
        // The trie holds special tokens under a byte that is never allowed.
        let mut mask = TokenMask::from_words(allowed.as_slice(), vocabulary.len());
        for &token in vocabulary.long_tokens() {
            if self.after(at, vocabulary.token_bytes(token))?.is_some() {
                mask.allow(token);
            }
        }
        for &(kept, other) in vocabulary.duplicates() {
            if mask.allows(kept) {
                mask.allow(other);
            }
        }
        if self.automaton.is_complete(at).map_err(mask_error)? {
            for &token in vocabulary.eos_tokens() {
                mask.allow(token);
            }
        }
        let mask = Arc::new(mask);
        self.masks.insert(at, mask.clone());
        Ok(mask)
    }

    /// The tokens without a quote that may follow inside of a string.
    fn content(&mut self, content: Content, slices: &Slices) -> Result<Arc<SimpleVob>, MaskError> {
        if let Some(known) = self.contents.get(&content) {
            return Ok(known.clone());
        }
        let allowed = Arc::new(self.walk(&slices.content, content, Automaton::content_step)?);
        self.contents.insert(content, allowed.clone());
        Ok(allowed)
    }

    /// The tokens of a trie that lead from a place to another.
    fn walk<P: Copy>(&mut self, trie: &TokTrie, from: P, step: StepFrom<P>) -> Result<SimpleVob, MaskError> {
        let mut walk = Walk::new(&mut self.automaton, step, from);
        let mut allowed = trie.alloc_token_set();
        trie.add_bias(&mut walk, &mut allowed, &[]);
        walk.finish()?;
        Ok(allowed)
    }

    /// The place after some bytes.
    pub(super) fn after(&mut self, from: StateId, bytes: &[u8]) -> Result<Option<StateId>, MaskError> {
        let mut at = from;
        for &byte in bytes {
            match self.automaton.step(at, byte).map_err(mask_error)? {
                Some(next) => at = next,
                None => return Ok(None),
            }
        }
        Ok(Some(at))
    }
}

/// A step of the automaton from a place by a byte.
pub(super) type StepFrom<P> = fn(&mut Automaton, P, u8) -> Result<Option<P>, Trouble>;

/// The walk over a trie of tokens.
pub(super) struct Walk<'a, P> {
    automaton: &'a mut Automaton,
    step: StepFrom<P>,
    places: Vec<P>,
    /// What ended the walk early.
    trouble: Option<Trouble>,
}

impl<'a, P: Copy> Walk<'a, P> {
    pub(super) fn new(automaton: &'a mut Automaton, step: StepFrom<P>, from: P) -> Self {
        Self {
            automaton,
            step,
            places: vec![from],
            trouble: None,
        }
    }

    /// Errs where the walk ended early.
    pub(super) fn finish(self) -> Result<(), MaskError> {
        self.trouble.map_or(Ok(()), |trouble| Err(mask_error(trouble)))
    }
}

impl<P: Copy> Recognizer for Walk<'_, P> {
    fn pop_bytes(&mut self, num: usize) {
        self.places.truncate(self.places.len() - num);
    }

    fn collapse(&mut self) {
        let top = self.places.len().saturating_sub(1);
        self.places.drain(..top);
    }

    fn trie_finished(&mut self) {
        self.places.truncate(1);
    }

    fn try_push_byte(&mut self, byte: u8) -> bool {
        let Some(&at) = self.places.last().filter(|_| self.trouble.is_none()) else {
            return false;
        };
        match (self.step)(self.automaton, at, byte) {
            Ok(Some(next)) => {
                self.places.push(next);
                true
            }
            Ok(None) => false,
            Err(trouble) => {
                self.trouble = Some(trouble);
                false
            }
        }
    }
}

pub(super) fn mask_error(trouble: Trouble) -> MaskError {
    MaskError::LimitExceeded(trouble.to_string())
}
