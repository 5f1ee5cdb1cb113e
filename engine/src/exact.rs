//! [`ExactCompiler`]: this project's own compiler.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toktrie::{Recognizer, SimpleVob, TokTrie};

use crate::automaton::{Automaton, Content, Formats, StateId, Trouble};
use crate::schema::{SchemaOptions, SchemaSet};
use crate::slices::Slices;
use crate::{CompileError, CompileErrorKind, Compiler, MaskError, Masker, Style, TokenId, TokenMask, Vocabulary};

/// How schemas are read.
#[derive(Clone, Debug, Default)]
pub struct ExactOptions {
    /// Dialect, documents for references, limits on loading.
    pub schema: SchemaOptions,
    /// Whether `format` asserts.
    pub formats: Formats,
    /// Which texts of a value are written.
    pub style: Style,
}

/// Compiles schemas into masks that allow a token if and only if some valid document goes on with it.
///
/// Documents are JSON in a [`Style`], without a name that comes twice in an object. What the compiler cannot treat exactly it refuses, with the place and the keyword.
pub struct ExactCompiler {
    vocabulary: Arc<Vocabulary>,
    slices: Arc<Slices>,
    options: ExactOptions,
}

impl fmt::Debug for ExactCompiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExactCompiler")
            .field("vocabulary", &self.vocabulary)
            .field("options", &self.options)
            .finish()
    }
}

impl ExactCompiler {
    /// A compiler for a vocabulary. Sorts its tokens, which takes a fraction of a second.
    pub fn new(vocabulary: Arc<Vocabulary>, options: ExactOptions) -> Self {
        Self {
            slices: Arc::new(Slices::new(&vocabulary)),
            vocabulary,
            options,
        }
    }
}

impl Compiler for ExactCompiler {
    fn compile(&self, schema: &str) -> Result<Box<dyn Masker>, CompileError> {
        let set = SchemaSet::load(schema, &self.options.schema)?;
        let (mut automaton, root) = Automaton::new(set, self.options.formats, self.options.style)?;
        let Some(start) = automaton.start(root)? else {
            let conflict = crate::explain::unsatisfiable(automaton.schema(), self.options.formats);
            let message = format!("no JSON value is valid under this schema: {conflict}");
            return Err(CompileError::new(CompileErrorKind::Unsatisfiable, message).at(""));
        };
        let shared = Shared {
            vocabulary: self.vocabulary.clone(),
            slices: self.slices.clone(),
            work: Mutex::new(Work {
                automaton,
                masks: HashMap::new(),
                contents: HashMap::new(),
            }),
        };
        Ok(Box::new(ExactMasker {
            shared: Arc::new(shared),
            places: vec![start],
            ended: false,
            mask: None,
        }))
    }
}

/// A compiled schema, shared by its maskers.
struct Shared {
    vocabulary: Arc<Vocabulary>,
    slices: Arc<Slices>,
    work: Mutex<Work>,
}

/// The automaton and the masks, as far as they have been worked out.
struct Work {
    automaton: Automaton,
    masks: HashMap<StateId, Arc<TokenMask>>,
    /// The tokens without a quote that may follow inside of strings.
    contents: HashMap<Content, Arc<SimpleVob>>,
}

impl Shared {
    /// What is worked out is added whole, so that it stays usable after a panic elsewhere.
    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Work {
    fn mask(&mut self, at: StateId, shared: &Shared) -> Result<Arc<TokenMask>, MaskError> {
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
        let mut walk = Walk {
            automaton: &mut self.automaton,
            step,
            places: vec![from],
            trouble: None,
        };
        let mut allowed = trie.alloc_token_set();
        trie.add_bias(&mut walk, &mut allowed, &[]);
        match walk.trouble {
            Some(trouble) => Err(mask_error(trouble)),
            None => Ok(allowed),
        }
    }

    /// The place after some bytes.
    fn after(&mut self, from: StateId, bytes: &[u8]) -> Result<Option<StateId>, MaskError> {
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
type StepFrom<P> = fn(&mut Automaton, P, u8) -> Result<Option<P>, Trouble>;

/// The walk over a trie of tokens.
struct Walk<'a, P> {
    automaton: &'a mut Automaton,
    step: StepFrom<P>,
    places: Vec<P>,
    /// What ended the walk early.
    trouble: Option<Trouble>,
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

fn mask_error(trouble: Trouble) -> MaskError {
    MaskError::LimitExceeded(trouble.to_string())
}

/// A place in a document under a compiled schema.
struct ExactMasker {
    shared: Arc<Shared>,
    /// The place before each token accepted, and the present one.
    places: Vec<StateId>,
    /// Whether an end of sequence was accepted.
    ended: bool,
    mask: Option<Arc<TokenMask>>,
}

impl ExactMasker {
    fn place(&self) -> StateId {
        // There is always the first.
        self.places[self.places.len() - 1]
    }

    fn refused(&self, token: TokenId) -> MaskError {
        MaskError::TokenRefused {
            token,
            position: self.position(),
        }
    }
}

impl Masker for ExactMasker {
    fn mask(&mut self) -> Result<&TokenMask, MaskError> {
        if self.mask.is_none() {
            let mask = match self.ended {
                true => Arc::new(TokenMask::none(self.shared.vocabulary.len())),
                false => self.shared.work().mask(self.place(), &self.shared)?,
            };
            self.mask = Some(mask);
        }
        self.mask
            .as_deref()
            .ok_or_else(|| MaskError::Internal("the mask that was just made is gone".to_owned()))
    }

    fn advance(&mut self, token: TokenId) -> Result<(), MaskError> {
        if self.ended {
            return Err(self.refused(token));
        }
        if self.shared.vocabulary.is_eos(token) {
            if !self.is_complete()? {
                return Err(self.refused(token));
            }
            self.ended = true;
        } else {
            let bytes = match self.shared.vocabulary.kind(token) {
                crate::TokenKind::Text => self.shared.vocabulary.token_bytes(token),
                _ => &[],
            };
            let next = match bytes {
                [] => None,
                bytes => self.shared.work().after(self.place(), bytes)?,
            };
            match next {
                Some(next) => self.places.push(next),
                None => return Err(self.refused(token)),
            }
        }
        self.mask = None;
        Ok(())
    }

    fn is_complete(&mut self) -> Result<bool, MaskError> {
        let place = self.place();
        Ok(self.ended || self.shared.work().automaton.is_complete(place).map_err(mask_error)?)
    }

    fn position(&self) -> usize {
        self.places.len() - 1 + usize::from(self.ended)
    }

    fn forced_tokens(&mut self, _tokens: &mut Vec<TokenId>) -> Result<(), MaskError> {
        // Between any two parts of a document whitespace may stand, so that hardly anything is forced.
        Ok(())
    }

    fn fork(&self) -> Result<Box<dyn Masker>, MaskError> {
        Ok(Box::new(Self {
            shared: self.shared.clone(),
            places: self.places.clone(),
            ended: self.ended,
            mask: self.mask.clone(),
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
            let places = tokens - usize::from(self.ended);
            self.ended = false;
            self.places.truncate(self.places.len() - places);
            self.mask = None;
        }
        Ok(())
    }
}
