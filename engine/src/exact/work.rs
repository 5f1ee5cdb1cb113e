//! The masks of one compiled schema, as far as they have been worked out.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toktrie::{Recognizer, SimpleVob, TokTrie};

use crate::automaton::{Automaton, Decode, StateId, Trouble};
use crate::strings::LanguageId;
use crate::{MaskError, TokenMask, Vocabulary};

use super::content_mask::{ContentMask, walk_text};
use super::contents::Contents;

/// Memory for the masks of each kind that one compiled schema keeps.
const CACHE_BYTES: usize = 24 << 20;

/// A compiled schema, shared by its maskers.
pub(super) struct Shared {
    pub(super) vocabulary: Arc<Vocabulary>,
    contents: Arc<Contents>,
    work: Mutex<Work>,
}

/// The automaton and the masks, as far as they have been worked out.
pub(super) struct Work {
    pub(super) automaton: Automaton,
    masks: HashMap<StateId, Arc<TokenMask>>,
    /// The tokens that may follow inside of strings and stay there.
    contents: HashMap<(Decode, LanguageId), ContentMask>,
}

impl Shared {
    pub(super) fn new(vocabulary: Arc<Vocabulary>, contents: Arc<Contents>, automaton: Automaton) -> Self {
        let work = Work {
            automaton,
            masks: HashMap::new(),
            contents: HashMap::new(),
        };
        Self {
            vocabulary,
            contents,
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
        let contents = &*shared.contents;
        let place = self.automaton.content(at);
        // The trie of all tokens holds special ones under a byte that is never allowed.
        let (inside, allowed) = match place {
            None => (None, self.walk(vocabulary.trie(), at)?),
            Some((begun, language)) => {
                let inside = self.content(begun, language, shared)?;
                let closing = match begun {
                    Decode::Between => &contents.closing,
                    _ => &contents.closing_within,
                };
                let allowed = match self.automaton.after_any_text(at).map_err(mask_error)? {
                    None => self.walk(closing, at)?,
                    after => {
                        let place = (begun, language);
                        walk_text(&mut self.automaton, contents.escapes, place, after, closing).map_err(mask_error)?
                    }
                };
                (Some(inside), allowed)
            }
        };
        let mut mask = TokenMask::from_words(allowed.as_slice(), vocabulary.len());
        if let Some(inside) = inside {
            mask.fill_words(|words| {
                for (word, inside) in words.iter_mut().zip(inside.words(contents)) {
                    *word |= inside;
                }
            });
        }
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
        keep(&mut self.masks, at, mask.clone(), vocabulary.len());
        Ok(mask)
    }

    /// The tokens that may follow inside of a string and stay there.
    fn content(&mut self, begun: Decode, language: LanguageId, shared: &Shared) -> Result<ContentMask, MaskError> {
        if let Some(known) = self.contents.get(&(begun, language)) {
            return Ok(known.clone());
        }
        let contents = &*shared.contents;
        let mask = match begun {
            Decode::Between => ContentMask::new(&mut self.automaton, language, contents),
            _ => ContentMask::within(&mut self.automaton, begun, language, shared.vocabulary.trie(), contents),
        };
        let mask = mask.map_err(mask_error)?;
        let tokens = contents.any.len() * 32;
        keep(&mut self.contents, (begun, language), mask.clone(), tokens);
        Ok(mask)
    }

    /// The tokens of a trie that lead from a place to another.
    fn walk(&mut self, trie: &TokTrie, from: StateId) -> Result<SimpleVob, MaskError> {
        let mut walk = Walk::new(&mut self.automaton, from);
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

/// The walk over a trie of tokens.
pub(super) struct Walk<'a> {
    automaton: &'a mut Automaton,
    places: Vec<StateId>,
    /// What ended the walk early.
    trouble: Option<Trouble>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(automaton: &'a mut Automaton, from: StateId) -> Self {
        Self {
            automaton,
            places: vec![from],
            trouble: None,
        }
    }

    /// Errs where the walk ended early.
    pub(super) fn finish(self) -> Result<(), MaskError> {
        self.trouble.map_or(Ok(()), |trouble| Err(mask_error(trouble)))
    }
}

impl Recognizer for Walk<'_> {
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
        match self.automaton.step(at, byte) {
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

/// Keeps a mask of so many tokens; all others are forgotten where they would take too much memory.
fn keep<K: Eq + Hash, M>(masks: &mut HashMap<K, M>, key: K, mask: M, tokens: usize) {
    if masks.len() >= (CACHE_BYTES * 8 / tokens.max(1)).max(16) {
        masks.clear();
    }
    masks.insert(key, mask);
}

pub(super) fn mask_error(trouble: Trouble) -> MaskError {
    MaskError::LimitExceeded(trouble.to_string())
}
