//! The masks of one compiled schema, computed on demand and cached.
//!
//! The maskers of a schema share it. To compute a new mask takes the schema's one lock; to look up a known one takes none.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smallvec::SmallVec;

use crate::automaton::{
    Automaton, AutomatonError, DecodeState, KeyRests, RemainingKeyText, State, StateClass, WrittenState,
};
use crate::strings::{LanguageId, Languages};
use crate::{MaskError, TokenId, Vocabulary};

use super::cache::bounded::lock;
use super::cache::mask_buffers::BufferPool;
use super::cache::sharded::ShardedCache;
use super::cache::token_set::{Base, TokenSet};
use super::completions::{CompletionLength, CompletionTokens};
use super::forced_tokens::{forced_bytes, forced_tokens};
use super::index::base_sets::{BaseSets, bit};
use super::masker::{FreeText, MaskedText, TextClassNumbers, Used};
use super::shared_tokens::SharedTokens;
use super::strings::strategy::{Strategy, Strings};
use super::structure::{SchemaCache, StructureWalk};

/// Memory for the masks that one compiled schema keeps.
const MASK_BYTES: usize = 8 << 20;
/// Memory for the states that tokens lead to.
const STEP_BYTES: usize = 4 << 20;
/// Memory for the longest completions behind the tokens of states.
const FURTHEST_BYTES: usize = 1 << 20;
/// Masks, and states, that there is room for from the beginning: most documents need no more.
const MASKS: usize = 48;
const STEPS: usize = 48;
/// Classes up to which tokens within a text are sorted into classes: residuals of languages are made for each.
const MAX_TEXT_CLASSES: usize = 256;
/// Tokens up to which the room to collect them is kept for the next mask.
const MAX_SCRATCH: usize = 1 << 14;

/// A compiled schema, shared by its maskers.
pub(crate) struct CompiledSchema {
    pub(crate) vocabulary: Arc<Vocabulary>,
    pub(crate) tokens: Arc<SharedTokens>,
    builder: Mutex<MaskBuilder>,
    caches: Caches,
}

/// Cached masks, and the states behind tokens; looking them up takes no lock of the builder.
struct Caches {
    masks: ShardedCache<State, Arc<TokenSet>>,
    steps: ShardedCache<(State, TokenId), State>,
    /// The longest completions behind tokens, where a limit on tokens was near.
    furthest: ShardedCache<State, u32>,
}

/// The automaton with the caches from which masks are built.
pub(crate) struct MaskBuilder {
    pub(crate) automaton: Automaton,
    /// The caches; none before the first mask is asked for: of hundreds of schemas in one reply only few get that far.
    cache: Option<Box<SchemaCache>>,
    completions: CompletionTokens,
    /// The buffer in which tokens are collected.
    scratch: Vec<TokenId>,
}

impl CompiledSchema {
    pub(crate) fn new(vocabulary: Arc<Vocabulary>, tokens: Arc<SharedTokens>, automaton: Automaton) -> Self {
        let caches = Caches {
            masks: ShardedCache::new(MASK_BYTES, MASKS),
            steps: ShardedCache::new(STEP_BYTES, STEPS),
            furthest: ShardedCache::new(FURTHEST_BYTES, 0),
        };
        Self::with_caches(vocabulary, tokens, automaton, caches)
    }

    /// A schema within a reply, whose masks and states are mostly cached by the reply: of hundreds of schemas in one reply few are
    /// ever used, so no memory is reserved for their caches.
    pub(crate) fn within_reply(vocabulary: Arc<Vocabulary>, tokens: Arc<SharedTokens>, automaton: Automaton) -> Self {
        let caches = Caches {
            masks: ShardedCache::whole(MASK_BYTES),
            steps: ShardedCache::whole(STEP_BYTES),
            furthest: ShardedCache::whole(FURTHEST_BYTES),
        };
        Self::with_caches(vocabulary, tokens, automaton, caches)
    }

    fn with_caches(
        vocabulary: Arc<Vocabulary>,
        tokens: Arc<SharedTokens>,
        automaton: Automaton,
        caches: Caches,
    ) -> Self {
        let builder = MaskBuilder {
            automaton,
            cache: None,
            completions: CompletionTokens::default(),
            scratch: Vec::new(),
        };
        Self {
            vocabulary,
            tokens,
            builder: Mutex::new(builder),
            caches,
        }
    }

    /// Returns the languages of strings that came up, with all results about them.
    pub(crate) fn into_languages(self) -> Languages {
        let builder = self.builder.into_inner().unwrap_or_else(PoisonError::into_inner);
        builder.automaton.into_languages()
    }

    /// The number of bytes of the vocabulary's longest token.
    pub(crate) fn longest_token(&self) -> usize {
        self.tokens.index.longest
    }

    pub(crate) fn builder(&self) -> MutexGuard<'_, MaskBuilder> {
        lock(&self.builder)
    }
}

impl MaskedText for CompiledSchema {
    type State = WrittenState;
    type Key = State;

    fn key(at: &WrittenState) -> State {
        at.state
    }

    fn furthest(&self) -> &ShardedCache<State, u32> {
        &self.caches.furthest
    }

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn sets(&self) -> &BaseSets {
        &self.tokens.index.sets
    }

    fn buffers(&self) -> &BufferPool {
        &self.tokens.buffers
    }

    fn mask(&self, at: &WrittenState) -> Result<(Arc<TokenSet>, bool), MaskError> {
        let at = &at.state;
        if let Some(known) = self.caches.masks.get(at) {
            return Ok((known, true));
        }
        // A thread that had to wait may find the mask worked out meanwhile.
        let tokens = match self.builder.try_lock() {
            Ok(mut builder) => builder.new_tokens(*at, self),
            Err(_) => self.builder().tokens(*at, self),
        };
        Ok((tokens.map_err(mask_error)?, false))
    }

    fn after(
        &self,
        at: &WrittenState,
        (token, bytes): (TokenId, &[u8]),
        comes_back: bool,
    ) -> Result<Option<WrittenState>, MaskError> {
        let from = (at.state, token);
        let state = match self.caches.steps.get(&from).filter(|_| comes_back) {
            Some(known) => known,
            None => {
                let next = self.builder().automaton.read_bytes(at.state, bytes);
                let Some(next) = next.map_err(mask_error)? else {
                    return Ok(None);
                };
                if comes_back {
                    self.caches.steps.keep(from, next, 0);
                }
                next
            }
        };
        let mut next = WrittenState { state, ..*at };
        next.written.read(bytes);
        if next.is_due() {
            self.builder().automaton.bound(&mut next).map_err(mask_error)?;
        }
        Ok(Some(next))
    }

    fn is_complete(&self, at: &WrittenState) -> Result<bool, MaskError> {
        self.builder().automaton.is_complete(at.state).map_err(mask_error)
    }

    fn forced(&self, at: &WrittenState, before: &[TokenId]) -> Result<Vec<TokenId>, MaskError> {
        let automaton = &mut self.builder().automaton;
        forced_tokens(&self.vocabulary, &self.tokens.index, automaton, &at.state, before).map_err(mask_error)
    }

    fn forced_text(&self, at: &WrittenState) -> Result<Vec<u8>, MaskError> {
        let automaton = &mut self.builder().automaton;
        let (bytes, _) = forced_bytes(automaton, &at.state).map_err(mask_error)?;
        Ok(bytes)
    }

    fn free_text(&self, at: &WrittenState) -> Result<Option<FreeText>, MaskError> {
        self.builder().free_text(at.state, self).map_err(mask_error)
    }

    fn text_classes(&self, at: &WrittenState, tokens: &[TokenId]) -> Result<Option<TextClassNumbers>, MaskError> {
        self.builder().text_classes(at.state, tokens, self).map_err(mask_error)
    }

    fn completion(&self, at: &WrittenState) -> Result<Option<Vec<TokenId>>, MaskError> {
        let MaskBuilder {
            automaton, completions, ..
        } = &mut *self.builder();
        completions
            .tokens(automaton, &self.vocabulary, at.state)
            .map_err(mask_error)
    }

    fn completion_length(&self, at: &WrittenState) -> Result<Option<CompletionLength>, MaskError> {
        let MaskBuilder {
            automaton, completions, ..
        } = &mut *self.builder();
        completions
            .length(automaton, &self.vocabulary, at.state)
            .map_err(mask_error)
    }

    fn memory(&self) -> usize {
        let builder = self.builder();
        let known = builder.cache.as_ref().map_or(0, |cache| cache.bytes()) + builder.completions.bytes();
        size_of::<Self>()
            + builder.automaton.whole_memory()
            + known
            + self.caches.masks.bytes()
            + self.caches.steps.bytes()
            + self.caches.furthest.bytes()
    }

    fn used(&self) -> Used {
        let automaton = &self.builder().automaton;
        Used {
            of_limits: automaton.used_of_limits(),
            effort: automaton.effort(),
        }
    }
}

impl MaskBuilder {
    /// The tokens that may come at a state.
    pub(crate) fn tokens(&mut self, at: State, shared: &CompiledSchema) -> Result<Arc<TokenSet>, AutomatonError> {
        match shared.caches.masks.get(&at) {
            Some(known) => Ok(known),
            None => self.new_tokens(at, shared),
        }
    }

    /// Works out the tokens that may come at a state where they are not known, and keeps them.
    fn new_tokens(&mut self, at: State, shared: &CompiledSchema) -> Result<Arc<TokenSet>, AutomatonError> {
        let mut found = std::mem::take(&mut self.scratch);
        found.clear();
        let tokens = Arc::new(self.find(at, &mut found, shared)?);
        if found.capacity() <= MAX_SCRATCH {
            self.scratch = found;
        }
        shared.caches.masks.keep(at, tokens.clone(), tokens.bytes());
        Ok(tokens)
    }

    /// Works out the tokens that may come at a state. `found` is empty, and its later contents do not matter.
    fn find(
        &mut self,
        at: State,
        found: &mut Vec<TokenId>,
        shared: &CompiledSchema,
    ) -> Result<TokenSet, AutomatonError> {
        let index = &shared.tokens.index;
        let mut set = match self.automaton.state_class(at)? {
            StateClass::Between(number) => {
                let mut walk = self.walk(shared);
                if number.is_none()
                    && let Some(without) = walk.keys().before_any_name(at)?
                {
                    walk.between(at, found)?;
                    let set = TokenSet::over(Base::Names).but_these(&without);
                    return Ok(set.and_these(found));
                }
                let begun = walk.value(at, found)?;
                let number = number.map(|digits| walk.numbers().tokens(at, digits)).transpose()?;
                let set = match number {
                    Some(number) => begun.beside(number.and_spaces()),
                    None => begun.and_spaces(),
                };
                set.and_these(found)
            }
            StateClass::Number(digits) => {
                let mut walk = self.walk(shared);
                walk.beyond_number(at, found)?;
                let number = walk.numbers().tokens(at, digits)?;
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
            StateClass::Key(DecodeState::Between) => {
                let remaining = self.automaton.remaining_key_text(at)?;
                let mut walk = self.walk(shared);
                let set = match &remaining {
                    RemainingKeyText::Language(language, used, read) => {
                        let inside = walk.strings().inside(*language)?;
                        let mut keys = walk.keys();
                        keys.close_language(at, *language, (used, *read), &index.inside, found)?;
                        let exhausted = &mut keys.cache.exhausted;
                        let exhausted = exhausted.find(keys.automaton, *language, used, &index.inside)?;
                        inside.but(&exhausted, &index.sets)
                    }
                    RemainingKeyText::AllBut(names, read) => {
                        let quotes = walk.keys().all_but_quotes(at, (names, *read), &index.inside);
                        walk.keys().name(at, &remaining, &index.inside, found)?;
                        TokenSet::over(Base::AnyOrQuote).but_these(&quotes)
                    }
                    _ => {
                        walk.keys().name(at, &remaining, &index.inside, found)?;
                        TokenSet::none()
                    }
                };
                set.and_these(found)
            }
            StateClass::String(DecodeState::Between, language) => {
                let mut walk = self.walk(shared);
                if walk.strings().is_free(language)?
                    && let Some(free) = walk.ends().free_text(at)?
                {
                    Strategy::FreeString.trace(language);
                    return Ok(free);
                }
                let inside = walk.strings().inside(language)?;
                let excluded = walk.excluded(at, language, &index.inside)?;
                walk.ends().closings(at, &index.inside, found)?;
                inside.but(&excluded, &index.sets).and_these(found)
            }
            kind @ (StateClass::String(begun, _) | StateClass::Key(begun)) => {
                let language = match kind {
                    StateClass::String(_, language) => language,
                    _ => self.automaton.remaining_key_language(at)?,
                };
                let mut walk = self.walk(shared);
                let inside = walk.strings().within(begun, language)?;
                walk.by_bytes(&index.quoted, at, found)?;
                // A quote may be a character, so that some of these are inside.
                if !found.is_empty() {
                    let words = inside.words(&index.sets);
                    found.retain(|token| !bit(&words, *token));
                }
                inside.and_these(found)
            }
            StateClass::Other => {
                self.walk(shared).by_bytes(&index.every, at, found)?;
                TokenSet::of(found, index.len)
            }
        };
        if self.automaton.is_complete(at)? && !self.automaton.is_in_number(at) {
            set = set.and(shared.vocabulary.eos_tokens().into());
        }
        Ok(set)
    }

    /// See [`MaskedText::free_text`].
    fn free_text(&mut self, at: State, shared: &CompiledSchema) -> Result<Option<FreeText>, AutomatonError> {
        match self.automaton.state_class(at)? {
            StateClass::String(DecodeState::Between, language) => {
                let is_free = self.strings(shared).is_free(language)? && self.automaton.after_any_text(at)?.is_some();
                Ok(is_free.then(|| FreeText {
                    apart: Vec::new(),
                    is_exact: true,
                }))
            }
            StateClass::Key(DecodeState::Between) => {
                let is_free = matches!(self.automaton.remaining_key_text(at)?, RemainingKeyText::AllBut(..));
                let Some(name) = self.automaton.partial_key(at)?.filter(|_| is_free) else {
                    return Ok(None);
                };
                let Some(rests) = self.automaton.listed_rests(&name) else {
                    return Ok(None);
                };
                // What is on its way to a listed key may be completed to that key, and a key that has come cannot come again.
                let mut apart = Vec::new();
                let mut add = |rest: &str| shared.tokens.index.inside.beginnings(rest, &mut apart);
                rests.into_iter().for_each(&mut add);
                let rests = self.automaton.key_rests(at)?;
                let told_apart = rests.as_ref().map_or(&[][..], |rests| &rests.told_apart);
                told_apart.iter().for_each(|rest| add(rest));
                apart.sort_unstable();
                let is_exact = rests.is_some();
                Ok(Some(FreeText { apart, is_exact }))
            }
            _ => Ok(None),
        }
    }

    /// See [`MaskedText::text_classes`]. Nothing of the texts that the tokens lead to is kept but the residuals of languages.
    fn text_classes(
        &mut self,
        at: State,
        tokens: &[TokenId],
        shared: &CompiledSchema,
    ) -> Result<Option<TextClassNumbers>, AutomatonError> {
        let StateClass::Key(DecodeState::Between) = self.automaton.state_class(at)? else {
            return Ok(None);
        };
        let Some(KeyRests { languages, told_apart }) = self.automaton.key_rests(at)? else {
            return Ok(None);
        };
        let mut numbers: HashMap<(SmallVec<[LanguageId; 4]>, &[u8]), u32> = HashMap::new();
        let mut classes = Vec::with_capacity(tokens.len());
        for &token in tokens {
            let bytes = shared.vocabulary.token_bytes(token);
            let next = told_apart.partition_point(|rest| rest.as_bytes() < bytes);
            let begins_one = told_apart
                .get(next)
                .is_some_and(|rest| rest.as_bytes().starts_with(bytes));
            // Whole characters, and a part of one.
            let (text, partial) = match bytes.utf8_chunks().next() {
                Some(chunk) => (chunk.valid(), chunk.invalid()),
                None => ("", &[][..]),
            };
            let is_text = !bytes.contains(&b'\\') && bit(&shared.tokens.index.sets.any, token);
            if !is_text || begins_one || numbers.len() == MAX_TEXT_CLASSES {
                classes.push(None);
                continue;
            }
            let mut after: SmallVec<[LanguageId; 4]> = languages[..].into();
            for language in &mut after {
                for character in text.chars() {
                    *language = self.automaton.languages_mut().derivative(*language, character)?;
                }
            }
            let next = numbers.len() as u32;
            classes.push(Some(*numbers.entry((after, partial)).or_insert(next)));
        }
        Ok(Some(classes))
    }

    /// A walk over the tokens of the vocabulary.
    pub(crate) fn walk<'a>(&'a mut self, shared: &'a CompiledSchema) -> StructureWalk<'a> {
        StructureWalk::new(&mut self.automaton, self.cache.get_or_insert_default(), &shared.tokens)
    }

    /// Finds the tokens of strings.
    pub(crate) fn strings<'a>(&'a mut self, shared: &'a CompiledSchema) -> Strings<'a> {
        Strings {
            automaton: &mut self.automaton,
            cache: &mut self.cache.get_or_insert_default().strings,
            index: &shared.tokens.index,
            shared: &shared.tokens.strings,
        }
    }
}

/// The error of a masker where the automaton has met a limit.
pub(crate) fn mask_error(error: AutomatonError) -> MaskError {
    MaskError::LimitExceeded(error.to_string())
}
