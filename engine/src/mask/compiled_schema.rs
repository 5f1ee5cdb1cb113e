//! The masks of one compiled schema, as far as they have been worked out.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::automaton::{Automaton, AutomatonError, Decode, RemainingKeyText, State, StateClass};
use crate::strings::{LanguageId, Languages};
use crate::{MaskError, TokenId, Vocabulary};

use crate::mask::cache::bounded::{BoundedCache, lock};
use crate::mask::cache::sharded::ShardedCache;
use crate::mask::cache::token_set::{Base, BufferPool, TokenSet};
use crate::mask::fast_forward::forced_tokens;
use crate::mask::index::contents::{Sets, bit};
use crate::mask::index::tokens::Tokens;
use crate::mask::masker::Places;
use crate::mask::strings::partial_code_point::within;
use crate::mask::strings::strategy::inside;
use crate::mask::structure::{Known, Walk};

/// Memory for the masks that one compiled schema keeps.
const MASK_BYTES: usize = 8 << 20;
/// Memory for those of strings, as far as they stay inside.
const INSIDE_BYTES: usize = 8 << 20;
/// Memory for the places that tokens lead to.
const STEP_BYTES: usize = 4 << 20;
/// Masks, and places, that there is room for from the beginning.
const MASKS: usize = 48;
const STEPS: usize = 48;
/// Tokens that there is room to collect without asking for memory.
const MOST_SCRATCH: usize = 1 << 14;

/// A compiled schema, shared by its maskers.
pub(crate) struct CompiledSchema {
    pub(crate) vocabulary: Arc<Vocabulary>,
    pub(crate) tokens: Arc<Tokens>,
    work: Mutex<MaskBuilder>,
    /// Masks, and the places that tokens lead to, as far as they have been worked out: to find them nothing has to be.
    masks: ShardedCache<State, Arc<TokenSet>>,
    steps: ShardedCache<(State, TokenId), State>,
}

/// The automaton and the masks, as far as they have been worked out.
pub(crate) struct MaskBuilder {
    pub(crate) automaton: Automaton,
    pub(crate) known: Known,
    /// Where tokens are collected.
    scratch: Vec<TokenId>,
    /// The tokens that may follow inside of strings and stay there.
    insides: BoundedCache<(Decode, LanguageId), TokenSet>,
}

impl CompiledSchema {
    pub(crate) fn new(vocabulary: Arc<Vocabulary>, tokens: Arc<Tokens>, automaton: Automaton) -> Self {
        let work = MaskBuilder {
            automaton,
            known: Known::default(),
            insides: BoundedCache::new(INSIDE_BYTES),
            scratch: Vec::new(),
        };
        Self {
            vocabulary,
            tokens,
            work: Mutex::new(work),
            masks: ShardedCache::new(MASK_BYTES, MASKS),
            steps: ShardedCache::new(STEP_BYTES, STEPS),
        }
    }

    /// The languages of strings that came up, with what was found out about them.
    pub(crate) fn into_languages(self) -> Languages {
        let work = self.work.into_inner().unwrap_or_else(PoisonError::into_inner);
        work.automaton.into_languages()
    }

    pub(crate) fn work(&self) -> MutexGuard<'_, MaskBuilder> {
        lock(&self.work)
    }
}

impl Places for CompiledSchema {
    type Place = State;

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn sets(&self) -> &Sets {
        &self.tokens.sets
    }

    fn buffer_pool(&self) -> &BufferPool {
        &self.tokens.buffer_pool
    }

    fn mask(&self, at: &State) -> Result<(Arc<TokenSet>, bool), MaskError> {
        if let Some(known) = self.masks.get(at) {
            return Ok((known, true));
        }
        // Who had to wait may find that it was worked out meanwhile.
        let tokens = match self.work.try_lock() {
            Ok(mut work) => work.new_tokens(*at, self),
            Err(_) => self.work().tokens(*at, self),
        };
        Ok((tokens.map_err(mask_error)?, false))
    }

    fn after(
        &self,
        at: &State,
        (token, bytes): (TokenId, &[u8]),
        comes_back: bool,
    ) -> Result<Option<State>, MaskError> {
        let from = (*at, token);
        if comes_back && let Some(known) = self.steps.get(&from) {
            return Ok(Some(known));
        }
        let next = self.work().automaton.read_bytes(*at, bytes).map_err(mask_error)?;
        if comes_back && let Some(next) = next {
            self.steps.keep(from, next, 0);
        }
        Ok(next)
    }

    fn is_complete(&self, at: &State) -> Result<bool, MaskError> {
        self.work().automaton.is_complete(*at).map_err(mask_error)
    }

    fn forced(&self, at: &State, before: &[TokenId]) -> Result<Vec<TokenId>, MaskError> {
        let automaton = &mut self.work().automaton;
        forced_tokens(&self.vocabulary, &self.tokens, automaton, at, before).map_err(mask_error)
    }

    fn completion(&self, at: &State) -> Result<Option<Vec<u8>>, MaskError> {
        self.work().automaton.completion(*at).map_err(mask_error)
    }

    fn memory(&self) -> usize {
        let work = self.work();
        let known = work.known.bytes() + work.insides.bytes();
        work.automaton.memory() + known + self.masks.bytes() + self.steps.bytes()
    }
}

impl MaskBuilder {
    /// The tokens that may come at a place.
    pub(crate) fn tokens(&mut self, at: State, shared: &CompiledSchema) -> Result<Arc<TokenSet>, AutomatonError> {
        match shared.masks.get(&at) {
            Some(known) => Ok(known),
            None => self.new_tokens(at, shared),
        }
    }

    /// The same, where it is not known.
    fn new_tokens(&mut self, at: State, shared: &CompiledSchema) -> Result<Arc<TokenSet>, AutomatonError> {
        let mut found = std::mem::take(&mut self.scratch);
        found.clear();
        let tokens = Arc::new(self.find(at, &mut found, shared)?);
        if found.capacity() <= MOST_SCRATCH {
            self.scratch = found;
        }
        shared.masks.keep(at, tokens.clone(), tokens.bytes());
        Ok(tokens)
    }

    /// The same, not kept. `found` is empty, and what is left in it does not matter.
    fn find(
        &mut self,
        at: State,
        found: &mut Vec<TokenId>,
        shared: &CompiledSchema,
    ) -> Result<TokenSet, AutomatonError> {
        let mut set = match self.automaton.kind(at)? {
            StateClass::Between(number) => {
                let mut walk = self.walk(shared);
                if number.is_none()
                    && let Some(without) = walk.before_any_name(at)?
                {
                    walk.between(at, found)?;
                    let set = TokenSet::over(Base::Names).but_these(&without);
                    return Ok(set.and_these(found));
                }
                let begun = walk.value(at, found)?;
                let number = number.map(|digits| walk.numbers(at, digits)).transpose()?;
                let set = match number {
                    Some(number) => begun.beside(number.and_spaces()),
                    None => begun.and_spaces(),
                };
                set.and_these(found)
            }
            StateClass::Number(digits) => {
                let mut walk = self.walk(shared);
                walk.beyond_number(at, found)?;
                let number = walk.numbers(at, digits)?;
                let set = match self.automaton.after_number(at)? {
                    // A number is within nothing but what it is in: this calls itself once. What follows is between the
                    // parts of a document, so that whitespace may.
                    Some(after) => {
                        let after = self.tokens(after, shared)?;
                        after.with.iter().cloned().fold(number.and_spaces(), TokenSet::and)
                    }
                    None => number.alone(),
                };
                set.and_these(found)
            }
            StateClass::Name(Decode::Between) => match self.automaton.name_rests(at)? {
                RemainingKeyText::Language(language, used, read) => {
                    let inside = self.inside(language, shared)?;
                    let contents = &shared.tokens.inside;
                    let mut walk = self.walk(shared);
                    walk.close_language(at, language, (&used, read), contents, found)?;
                    let gone = walk.names_gone(language, &used, contents)?;
                    inside.but(&gone, shared.sets()).and_these(found)
                }
                rests => {
                    let contents = &shared.tokens.inside;
                    let mut walk = self.walk(shared);
                    let mut set = TokenSet::none();
                    if let RemainingKeyText::AllBut(names, read) = &rests {
                        set = TokenSet::over(Base::AnyOrQuote);
                        let quotes = walk.all_but_quotes(at, (names, *read), contents);
                        set = set.but_these(&quotes);
                    }
                    walk.name(at, &rests, contents, found)?;
                    set.and_these(found)
                }
            },
            StateClass::Text(Decode::Between, language) => {
                let freedom = &mut self.known.freedom;
                if self.automaton.word_edges(language).is_none()
                    && freedom.is_viable(&mut self.automaton, language, shared.tokens.inside.longest)?
                    && freedom.is_accepted(&mut self.automaton, language, shared.tokens.inside.longest)?
                    && let Some(after) = self.automaton.after_any_text(at)?
                {
                    return self.walk(shared).free_text(after);
                }
                let mut inside = self.inside(language, shared)?;
                let avoided = self.walk(shared).avoided(at, language, &shared.tokens.inside)?;
                inside = inside.but(&avoided, shared.sets());
                self.walk(shared).closings(at, &shared.tokens.inside, found)?;
                inside.and_these(found)
            }
            kind @ (StateClass::Text(begun, _) | StateClass::Name(begun)) => {
                let language = match kind {
                    StateClass::Text(_, language) => language,
                    _ => self.automaton.name_language(at)?,
                };
                let inside = self.within(begun, language, shared)?;
                self.walk(shared).by_bytes(&shared.tokens.quoted, at, found)?;
                // A quote may be a character, so that some of these are inside.
                if !found.is_empty() {
                    let words = inside.words(shared.sets());
                    found.retain(|token| !bit(&words, *token));
                }
                inside.and_these(found)
            }
            StateClass::Other => {
                self.walk(shared).by_bytes(&shared.tokens.every, at, found)?;
                TokenSet::of(found, shared.tokens.len)
            }
        };
        if self.automaton.is_complete(at)? && !self.automaton.is_in_number(at) {
            set = set.and(shared.vocabulary.eos_tokens().into());
        }
        Ok(set)
    }

    pub(crate) fn walk<'a>(&'a mut self, shared: &'a CompiledSchema) -> Walk<'a> {
        Walk {
            automaton: &mut self.automaton,
            known: &mut self.known,
            tokens: &shared.tokens,
            based_on: None,
            known_name: None,
        }
    }

    /// The tokens that may follow between two characters of a string and stay in it.
    pub(crate) fn inside(&mut self, language: LanguageId, shared: &CompiledSchema) -> Result<TokenSet, AutomatonError> {
        let key = (Decode::Between, language);
        if let Some(known) = self.insides.get(&key) {
            return Ok(known);
        }
        let (tokens, freedom) = (&*shared.tokens, &mut self.known.freedom);
        let set = inside(&mut self.automaton, freedom, tokens, language)?;
        self.insides.keep(key, set.clone(), set.bytes());
        Ok(set)
    }

    /// The tokens that may follow within a character of a string and stay in that.
    pub(crate) fn within(
        &mut self,
        begun: Decode,
        language: LanguageId,
        shared: &CompiledSchema,
    ) -> Result<TokenSet, AutomatonError> {
        let key = (begun, language);
        if let Some(known) = self.insides.get(&key) {
            return Ok(known);
        }
        let freedom = &mut self.known.freedom;
        // A token may add as many characters as it has bytes.
        let longest = shared.tokens.longest as u64;
        if freedom.is_viable(&mut self.automaton, language, longest)? {
            return Ok(TokenSet::over(Base::Words(shared.tokens.within(begun))));
        }
        let fingerprint = self.automaton.fingerprint(language);
        let known = fingerprint.and_then(|fingerprint| shared.tokens.known_inside(begun, fingerprint));
        let set = match known {
            Some(known) => known,
            None => {
                let set = within(&mut self.automaton, freedom, &shared.tokens, begun, language)?;
                if let Some(fingerprint) = fingerprint {
                    shared.tokens.keep_inside(begun, fingerprint, &set);
                }
                set
            }
        };
        self.insides.keep(key, set.clone(), set.bytes());
        Ok(set)
    }
}

pub(crate) fn mask_error(error: AutomatonError) -> MaskError {
    MaskError::LimitExceeded(error.to_string())
}
