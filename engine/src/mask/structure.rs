//! [`StructureWalk`]: walks the trie of tokens that begin between the parts of a document, beside the states of the automaton.

use std::sync::Arc;

use crate::TokenId;
use crate::automaton::{Automaton, AutomatonError, State, StateClass, ValueShape};
use crate::mask::cache::shapes::Shapes;
use crate::mask::index::base_sets::bit;
use crate::mask::index::contents::Contents;
use crate::mask::index::tokens::Spelled;
use crate::mask::index::trie::ROOT;
use crate::mask::numbers::{NumberCache, Numbers};
use crate::mask::objects::keys::{KeyAhead, KeyCache, NameTokens};
use crate::mask::objects::suffixes::{SuffixCache, Suffixes};
use crate::mask::shared_tokens::SharedTokens;
use crate::mask::strings::cache::StringCache;
use crate::mask::strings::excluded_texts::excluded;
use crate::mask::strings::strategy::Strings;
use crate::mask::strings::string_ends::{StringEndCache, StringEnds};
use crate::mask::value_tokens::{OpenTokens, ValueTokens};
use crate::strings::LanguageId;

/// Memory for the tokens that begin values.
const VALUE_BYTES: usize = 2 << 20;

/// The caches of one schema for results that states share. Each cache drops entries where they take too
/// much memory.
#[derive(Debug)]
pub(crate) struct SchemaCache {
    pub(crate) strings: StringCache,
    suffixes: SuffixCache,
    ends: StringEndCache,
    keys: KeyCache,
    numbers: NumberCache,
    /// The tokens that begin values, by their shape.
    values: Shapes<ValueTokens>,
}

impl Default for SchemaCache {
    fn default() -> Self {
        Self {
            strings: StringCache::default(),
            suffixes: SuffixCache::default(),
            ends: StringEndCache::default(),
            keys: KeyCache::default(),
            numbers: NumberCache::default(),
            values: Shapes::new(VALUE_BYTES),
        }
    }
}

impl SchemaCache {
    /// Returns the bytes that the caches take, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.strings.bytes()
            + self.suffixes.bytes()
            + self.ends.bytes()
            + self.keys.bytes()
            + self.numbers.bytes()
            + self.values.bytes()
    }
}

/// Walks over the tokens of a vocabulary, beside the automaton of a schema.
pub(crate) struct StructureWalk<'a> {
    automaton: &'a mut Automaton,
    cache: &'a mut SchemaCache,
    tokens: &'a SharedTokens,
    /// The name that comes next, as far as it has been computed.
    next_key: KeyAhead,
}

impl<'a> StructureWalk<'a> {
    /// A walk that has not begun.
    pub(crate) fn new(automaton: &'a mut Automaton, cache: &'a mut SchemaCache, tokens: &'a SharedTokens) -> Self {
        Self {
            automaton,
            cache,
            tokens,
            next_key: KeyAhead::default(),
        }
    }

    pub(crate) fn strings(&mut self) -> Strings<'_> {
        Strings {
            automaton: self.automaton,
            cache: &mut self.cache.strings,
            index: &self.tokens.index,
            shared: &self.tokens.strings,
        }
    }

    pub(crate) fn ends(&mut self) -> StringEnds<'_> {
        StringEnds {
            automaton: self.automaton,
            cache: &mut self.cache.ends,
            suffixes: &mut self.cache.suffixes,
            strings: &mut self.cache.strings,
            tokens: self.tokens,
        }
    }

    pub(crate) fn keys(&mut self) -> NameTokens<'_> {
        NameTokens {
            automaton: self.automaton,
            cache: &mut self.cache.keys,
            suffixes: &mut self.cache.suffixes,
            strings: &mut self.cache.strings,
            tokens: self.tokens,
            next: &mut self.next_key,
        }
    }

    pub(crate) fn numbers(&mut self) -> Numbers<'_> {
        Numbers {
            automaton: self.automaton,
            cache: &mut self.cache.numbers,
            index: &self.tokens.index,
        }
    }

    fn suffixes(&mut self) -> Suffixes<'_> {
        Suffixes {
            automaton: self.automaton,
            cache: &mut self.cache.suffixes,
            index: &self.tokens.index.suffixes,
            shared: &self.tokens.suffixes,
        }
    }

    /// Adds the tokens that may come between the parts of a document, but for those that are whitespace only or numbers only.
    pub(crate) fn between(&mut self, at: State, found: &mut Vec<TokenId>) -> Result<(), AutomatonError> {
        let mut open = vec![(ROOT, at)];
        self.structures(&mut open, found)
    }

    /// Adds the tokens that go on with a number and then end it.
    pub(crate) fn beyond_number(&mut self, at: State, found: &mut Vec<TokenId>) -> Result<(), AutomatonError> {
        let trie = &self.tokens.index.between.trie;
        let mut open = Vec::new();
        for child in trie.children(ROOT) {
            let byte = trie.label(child);
            if matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')
                && let Some(next) = self.automaton.step(at, byte)?
            {
                open.push((child, next));
            }
        }
        self.structures(&mut open, found)
    }

    /// Adds the tokens below some nodes of the trie of structures.
    fn structures(&mut self, open: &mut Vec<(u32, State)>, found: &mut Vec<TokenId>) -> Result<(), AutomatonError> {
        let structures = &self.tokens.index.between;
        while let Some((node, at)) = open.pop() {
            for child in structures.trie.children(node) {
                let Some(next) = self.automaton.step(at, structures.trie.label(child))? else {
                    continue;
                };
                found.extend(structures.at(child));
                if let Some(contents) = structures.strings.get(&child) {
                    self.string(next, contents, found)?;
                }
                if !structures.trie.is_leaf(child) {
                    open.push((child, next));
                }
            }
        }
        Ok(())
    }

    /// Adds the tokens of some contents that may come from behind an opening quote on.
    fn string(&mut self, at: State, contents: &Contents, found: &mut Vec<TokenId>) -> Result<(), AutomatonError> {
        match self.automaton.state_class(at)? {
            StateClass::String(_, language) => {
                let mut inside = Vec::new();
                self.strings().inside_few(contents, language, &mut inside)?;
                let excluded = self.excluded(at, language, contents)?;
                inside.retain(|token| excluded.binary_search(token).is_err());
                found.append(&mut inside);
            }
            StateClass::Key(_) => {
                let known = self.next_key.known.as_mut().filter(|known| known.at == at);
                let remaining = match known.and_then(|known| known.remaining.take()) {
                    Some(remaining) => remaining,
                    None => self.automaton.remaining_key_text(at)?,
                };
                return self.keys().name(at, &remaining, contents, found);
            }
            _ => self.ends().inside_by_state(at, contents, found)?,
        }
        self.ends().closings(at, contents, found)
    }

    /// Returns the tokens, sorted, that stay in a string and would leave nothing but texts that the string must not become.
    pub(crate) fn excluded(
        &mut self,
        at: State,
        language: LanguageId,
        contents: &Contents,
    ) -> Result<Arc<[TokenId]>, AutomatonError> {
        let Some(texts) = self.automaton.texts_to_avoid(at)? else {
            return Ok(Arc::default());
        };
        if !self.automaton.languages().is_non_enumerable(language) {
            let exhausted = &mut self.cache.keys.exhausted;
            return exhausted.find(self.automaton, language, &texts, contents);
        }
        let read = self.automaton.key_length(texts.begun_and_come().0);
        let texts = self.automaton.seen_among(&texts);
        let texts: Vec<Arc<str>> = texts.iter().map(|text| self.automaton.shared_key_text(*text)).collect();
        let left = texts.iter().map(|text| &text[read..]).collect();
        Ok(excluded(self.automaton, contents, language, left)?.into())
    }

    /// Works out the tokens that begin values of the shape that a state behind a name is before; false where that is done, or
    /// more counts than the shape.
    pub(crate) fn warm_up_value(&mut self, name: Option<State>, value: State) -> Result<bool, AutomatonError> {
        let Some(shape) = self.automaton.value_shape(value)? else {
            return Ok(false);
        };
        if let Some(name) = name {
            self.suffixes().by_shape(name, value, shape)?;
        }
        let is_new = !self.cache.values.has(shape);
        if is_new {
            self.value_tokens(value, shape)?;
        }
        Ok(is_new)
    }

    /// The tokens that may come before a value, but for those that are whitespace only or numbers only: those that all states
    /// before such a value share, and others, which are added.
    pub(crate) fn value(&mut self, at: State, found: &mut Vec<TokenId>) -> Result<OpenTokens, AutomatonError> {
        let Some(shape) = self.automaton.value_shape(at)? else {
            self.between(at, found)?;
            return Ok(OpenTokens::default());
        };
        let tokens = self.value_tokens(at, shape)?;
        if !tokens.whole.is_empty()
            && let Some(after) = self.automaton.after_shape(at)?
        {
            let viable = self.suffixes().viable(after)?;
            let whole = tokens.whole.iter().filter(|(suffix, _)| viable[*suffix as usize]);
            found.extend(whole.map(|(_, token)| *token));
        }
        self.by_bytes(&self.tokens.index.values.odd, at, found)?;
        Ok(tokens.open.clone())
    }

    /// The tokens that may begin a value of a shape.
    fn value_tokens(&mut self, at: State, shape: ValueShape) -> Result<Arc<ValueTokens>, AutomatonError> {
        let shared = &self.tokens.value_tokens;
        let common = match self.cache.values.get(self.automaton, shared, shape) {
            Ok(known) => return Ok(known),
            Err(common) => common,
        };
        let mut open = Vec::new();
        self.between(at, &mut open)?;
        let values = &self.tokens.index.values;
        open.retain(|token| !bit(&values.not_open, *token));
        let (mut whole, automaton) = (Vec::new(), &mut *self.automaton);
        values.trie.descend(ROOT, at, |node, at: &State| {
            let next = automaton.step(*at, values.trie.label(node))?;
            if next.is_some() {
                whole.extend_from_slice(&values.ends[values.trie.at(node)]);
            }
            Ok::<_, AutomatonError>(next)
        })?;
        let tokens = Arc::new(ValueTokens {
            open: OpenTokens::new(open, common.is_some(), &self.tokens.index.sets.spaces),
            whole: whole.into(),
        });
        let bytes = tokens.open.bytes() + 8 * tokens.whole.len();
        self.cache.values.keep(shared, (shape, common), &tokens, bytes);
        Ok(tokens)
    }

    /// Adds those of some tokens that may come at a state, whatever it is.
    pub(crate) fn by_bytes(
        &mut self,
        tokens: &Spelled,
        at: State,
        found: &mut Vec<TokenId>,
    ) -> Result<(), AutomatonError> {
        let automaton = &mut *self.automaton;
        tokens.walk(at, |at: &State, byte| automaton.step(*at, byte), found)
    }
}
