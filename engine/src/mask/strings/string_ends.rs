//! [`StringEnds`]: the tokens that close a string, whose text must be accepted and whose suffix must be allowed behind the quote.
//!
//! Mostly the language tells which texts may end, and the state behind the quote is one for all of them. With `uniqueItems`
//! that holds for most texts, and the few tokens that may make a difference are judged one by one.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::TokenId;
use crate::automaton::{Automaton, AutomatonError, DecodeState, State, StateClass, TextClasses};
use crate::mask::cache::bounded::BoundedCache;
use crate::mask::cache::token_set::{Base, TokenSet};
use crate::mask::index::contents::{Closing, Contents};
use crate::mask::index::suffix_set::SuffixSet;
use crate::mask::index::trie::{ROOT, Trie};
use crate::mask::objects::suffixes::{SuffixCache, Suffixes};
use crate::mask::shared_tokens::SharedTokens;
use crate::strings::{CharRange, LanguageId};

use super::cache::StringCache;
use super::strategy::Strings;
use super::word_list;

/// Memory for the cache of each kind.
const BYTES: usize = 2 << 20;

/// Ranges of characters, ends included.
type Ranges = SmallVec<[(u32, u32); 8]>;

/// The caches for the ends of strings in one schema.
#[derive(Debug)]
pub(crate) struct StringEndCache {
    /// The suffixes that are judged one by one behind the strings of a state, by the state behind most of these strings.
    ending_singly: BoundedCache<State, SuffixSet>,
    /// The tokens that close a string, by the contents that they are of, the language and the suffixes that may come.
    closings: BoundedCache<(u32, LanguageId, SuffixSet), Arc<[TokenId]>>,
    /// The tokens that may come within any string, by the suffixes that may come behind it.
    free_texts: BoundedCache<SuffixSet, TokenSet>,
}

impl Default for StringEndCache {
    fn default() -> Self {
        Self {
            ending_singly: BoundedCache::new(BYTES),
            closings: BoundedCache::new(BYTES),
            free_texts: BoundedCache::new(BYTES),
        }
    }
}

impl StringEndCache {
    /// Returns the bytes that the caches take, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.ending_singly.bytes() + self.closings.bytes() + self.free_texts.bytes()
    }
}

/// Finds the tokens that close strings.
pub(crate) struct StringEnds<'a> {
    pub(crate) automaton: &'a mut Automaton,
    pub(crate) cache: &'a mut StringEndCache,
    pub(crate) suffixes: &'a mut SuffixCache,
    pub(crate) strings: &'a mut StringCache,
    pub(crate) tokens: &'a SharedTokens,
}

impl StringEnds<'_> {
    fn suffixes(&mut self) -> Suffixes<'_> {
        Suffixes {
            automaton: self.automaton,
            cache: self.suffixes,
            index: &self.tokens.index.suffixes,
            shared: &self.tokens.suffixes,
        }
    }

    fn strings(&mut self) -> Strings<'_> {
        Strings {
            automaton: self.automaton,
            cache: self.strings,
            index: &self.tokens.index,
            shared: &self.tokens.strings,
        }
    }

    /// The tokens that may come within a string that may be any; none where the state behind it depends on the string.
    pub(crate) fn free_text(&mut self, at: State) -> Result<Option<TokenSet>, AutomatonError> {
        let Some(after) = self.automaton.after_any_text(at)? else {
            return Ok(None);
        };
        let viable = self.suffixes().viable(after)?;
        if let Some(known) = self.cache.free_texts.get(&viable) {
            return Ok(Some(known));
        }
        let mut found = Vec::new();
        for (suffix, tokens) in &self.tokens.index.inside.by_suffix {
            if viable[*suffix as usize] && !self.tokens.index.suffixes.nothing[*suffix as usize] {
                found.extend_from_slice(tokens);
            }
        }
        let set = TokenSet::over(Base::AnyOrQuote).and(found.into());
        self.cache.free_texts.keep(viable, set.clone(), set.bytes());
        Ok(Some(set))
    }

    /// Adds the tokens that close the string of a state between two characters.
    pub(crate) fn closings(
        &mut self,
        at: State,
        contents: &Contents,
        found: &mut Vec<TokenId>,
    ) -> Result<(), AutomatonError> {
        if contents.closings.is_empty() {
            return Ok(());
        }
        match self.automaton.state_class(at)? {
            StateClass::String(_, language) => {
                if let Some(after) = self.automaton.after_any_text(at)? {
                    return self.closings_before(language, after, contents, found);
                }
                if let Some(classes) = self.automaton.text_classes(at)?
                    && let Some(residuals) = self.automaton.residual_classes(at, &classes)?
                {
                    return self.class_closings(at, &residuals, &classes, contents, found);
                }
                // Mostly no token ends what is left of a word.
                if word_list::can_close(self.automaton, contents, language) == Some(false) {
                    return Ok(());
                }
                // Of a list few words are left, and each says what follows it.
                let from = found.len();
                if self.closings_by_state(at, contents, true, found)? {
                    return Ok(());
                }
                found.truncate(from);
                if let Some(classes) = self.automaton.after_texts(at)? {
                    for (language, after) in classes {
                        self.closings_before(language, after, contents, found)?;
                    }
                    return Ok(());
                }
                if let Some((after, words)) = self.automaton.after_all_but_words(at)? {
                    let from = found.len();
                    self.closings_before(language, after, contents, found)?;
                    let single = words.iter().flat_map(|word| contents.closings_with(word));
                    return self.close_singly(at, &single.collect::<Vec<_>>(), from, found);
                }
                self.closings_by_state(at, contents, false, found).map(drop)
            }
            _ => self.closings_by_state(at, contents, false, found).map(drop),
        }
    }

    /// Adds the tokens that close a string of a language, behind which the state is this one.
    fn closings_before(
        &mut self,
        language: LanguageId,
        after: State,
        contents: &Contents,
        found: &mut Vec<TokenId>,
    ) -> Result<(), AutomatonError> {
        let key = (contents.number, language, self.suffixes().viable(after)?);
        if let Some(known) = self.cache.closings.get(&key) {
            found.extend_from_slice(&known);
            return Ok(());
        }
        let from = found.len();
        self.strings().closings(contents, language, &key.2, found)?;
        let closings: Arc<[TokenId]> = found[from..].into();
        let bytes = 4 * closings.len();
        self.cache.closings.keep(key, closings, bytes);
        Ok(())
    }

    /// The tokens of a string that stay inside, where more counts than its language.
    pub(crate) fn inside_by_state(
        &mut self,
        at: State,
        contents: &Contents,
        found: &mut Vec<TokenId>,
    ) -> Result<(), AutomatonError> {
        let trie = &contents.inside;
        let mut open = vec![(ROOT, at)];
        while let Some((node, at)) = open.pop() {
            for place in trie.at(node) {
                let may = match contents.partial(place) {
                    None => true,
                    Some(begun) => self.automaton.may_begin(at, begun.decode)?,
                };
                if may {
                    found.push(contents.tokens[place]);
                }
            }
            let ranges = self.word_ranges(at)?;
            self.children(trie, (node, at), ranges, &mut open)?;
        }
        Ok(())
    }

    /// Adds the tokens that close a string after which the state is the same for all texts of a class, but for some texts.
    fn class_closings(
        &mut self,
        at: State,
        classes: &[(LanguageId, State)],
        of: &TextClasses,
        contents: &Contents,
        found: &mut Vec<TokenId>,
    ) -> Result<(), AutomatonError> {
        let from = found.len();
        // Those that are not like most are looked at one by one.
        let exceptional = self.automaton.exceptional(at, &of.exceptions, &contents.closed);
        let exceptional = exceptional.into_iter();
        let mut single: Vec<_> = exceptional
            .flat_map(|place| contents.closings_with(&contents.closed[place]))
            .collect();
        for (language, after) in classes {
            self.closings_before(*language, *after, contents, found)?;
            let singly = self.ending_singly(at, *after)?;
            self.repeating(at, (&singly, &of.representative), contents, &mut single);
        }
        self.close_singly(at, &single, from, found)
    }

    /// Looks at tokens that close a string one by one, with the texts that they have before the quote, whether or not they
    /// were found before: those from a place on.
    fn close_singly(
        &mut self,
        at: State,
        single: &[(Box<str>, Closing)],
        from: usize,
        found: &mut Vec<TokenId>,
    ) -> Result<(), AutomatonError> {
        if found.len() > from {
            let mut tokens: Vec<TokenId> = single.iter().map(|(_, closing)| closing.token).collect();
            tokens.sort_unstable();
            // Mostly a few bits say that it is none of them.
            let bit = |token: &TokenId| 1_u64 << (token % 64);
            let bits = tokens.iter().fold(0, |bits, token| bits | bit(token));
            let mut place = from;
            while place < found.len() {
                match bits & bit(&found[place]) != 0 && tokens.binary_search(&found[place]).is_ok() {
                    true => drop(found.swap_remove(place)),
                    false => place += 1,
                }
            }
        }
        for same in single.chunk_by(|one, other| one.0 == other.0) {
            if let Some(after) = self.after_text(at, &same[0].0)? {
                for (_, closing) in same {
                    if self.suffixes().is_viable(after, closing.suffix)? {
                        found.push(closing.token);
                    }
                }
            }
        }
        Ok(())
    }

    /// The suffixes that end a container with the string that a state is in and may not come behind all strings alike, though
    /// the state after most of these is the same.
    fn ending_singly(&mut self, at: State, after: State) -> Result<SuffixSet, AutomatonError> {
        let suffixes = &self.tokens.index.suffixes;
        let mut singly = SuffixSet::none(suffixes.texts.len());
        if !self.automaton.is_compared(at) {
            return Ok(singly);
        }
        if let Some(known) = self.cache.ending_singly.get(&after) {
            return Ok(known);
        }
        for (suffix, text) in suffixes.texts.iter().enumerate() {
            if suffixes.closes[suffix] && !self.automaton.ends_alike(after, text)? {
                singly.put(suffix, true);
            }
        }
        self.cache.ending_singly.keep(after, singly.clone(), singly.bytes());
        Ok(singly)
    }

    /// Adds the tokens that close the string that a state is in and go on into one that may become the same, or the same as the
    /// representative of its class, or with a suffix of those that are to be looked at singly.
    fn repeating(
        &self,
        at: State,
        (singly, representative): (&SuffixSet, &str),
        contents: &Contents,
        found: &mut Vec<(Box<str>, Closing)>,
    ) {
        let suffixes = &self.tokens.index.suffixes;
        let read = self.automaton.characters_read(at);
        let mut string = read.clone();
        // Behind the value of a member there is a name.
        let is_item = self.automaton.is_in_array(at);
        for (text, closing) in &contents.reaching {
            string.truncate(read.len());
            string.push_str(text);
            let may_repeat = |string| is_item && suffixes.may_repeat(closing.suffix, string);
            if singly[closing.suffix as usize] || may_repeat(&string) || may_repeat(representative) {
                found.push((text.clone(), *closing));
            }
        }
    }

    /// The state behind the string of a state, if the string ends with a text.
    fn after_text(&mut self, at: State, text: &str) -> Result<Option<State>, AutomatonError> {
        let mut end = at;
        for character in text.chars() {
            match self.automaton.read_character(end, character)? {
                Some(next) => end = next,
                None => return Ok(None),
            }
        }
        self.automaton.step(end, b'"')
    }

    /// The tokens that close a string, state by state; false where all that is left should be words of a list, and is not.
    fn closings_by_state(
        &mut self,
        at: State,
        contents: &Contents,
        only_words: bool,
        found: &mut Vec<TokenId>,
    ) -> Result<bool, AutomatonError> {
        let trie = &contents.closing;
        let mut open = vec![(ROOT, at)];
        while let Some((node, at)) = open.pop() {
            let ranges = self.word_ranges(at)?;
            if only_words && ranges.is_none() {
                return Ok(false);
            }
            let places = trie.at(node);
            if !places.is_empty()
                && let Some(after) = self.automaton.step(at, b'"')?
            {
                let viable = self.suffixes().viable(after)?;
                let closings = contents.closings[places].iter();
                let closings = closings.filter(|closing| viable[closing.suffix as usize]);
                found.extend(closings.map(|closing| closing.token));
            }
            self.children(trie, (node, at), ranges, &mut open)?;
        }
        Ok(true)
    }

    /// The characters that come next in the words of a list, which are few; none where the string is none of a list.
    fn word_ranges(&mut self, at: State) -> Result<Option<Ranges>, AutomatonError> {
        let edges = match self.automaton.state_class(at)? {
            StateClass::String(DecodeState::Between, language) => self.automaton.languages().word_edges(language),
            _ => None,
        };
        let range = |(range, _): (CharRange, LanguageId)| (range.first().into(), range.last().into());
        Ok(edges.map(|edges| edges.map(range).collect()))
    }

    /// Adds the children of a node by which a string continues, with their states.
    fn children(
        &mut self,
        trie: &Trie<u32>,
        (node, at): (u32, State),
        ranges: Option<Ranges>,
        open: &mut Vec<(u32, State)>,
    ) -> Result<(), AutomatonError> {
        let ranges = ranges.unwrap_or_else(|| Ranges::from_slice(&[(0, u32::from(char::MAX))]));
        for child in ranges.into_iter().flat_map(|range| trie.children_within(node, range)) {
            if let Some(character) = char::from_u32(trie.label(child))
                && let Some(next) = self.automaton.read_character(at, character)?
            {
                open.push((child, next));
            }
        }
        Ok(())
    }
}
