//! Walks from a place over the tokens that may begin there.

use std::cmp::Ordering;
use std::sync::Arc;

use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::TokenId;
use crate::automaton::{
    AssertionId, Automaton, AutomatonError, Decode, Digits, KeyClass, NextMembers, State, StateClass,
};
use crate::numbers::{NextDigits, NumberState};
use crate::strings::LanguageId;

use crate::mask::cache::bounded::BoundedCache;
use crate::mask::cache::token_set::{Base, TokenSet};
use crate::mask::index::contents::{Closing, Contents, Sets};
use crate::mask::index::suffix_set::SuffixSet;
use crate::mask::index::tokens::{Spelled, Tokens};
use crate::mask::index::trie::{ROOT, Trie};
use crate::mask::objects::keys::{KeyCache, NextKey};
use crate::mask::objects::values::{Shapes, ValueSuffixes, ValueTokens};
use crate::mask::strings::excluded_texts::avoided;
use crate::mask::strings::residual::Freedom;
use crate::mask::strings::strategy::{closings, inside_few};

/// What is known of rests and numbers, so that it is not worked out again for each place. Forgotten where there is too
/// much of it.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) freedom: Freedom,
    pub(crate) alive: BoundedCache<State, SuffixSet>,
    /// Whether each rest may come after a member of a plain object, by what may come where the object ends.
    pub(crate) after_member: HashMap<(NextMembers, Option<SuffixSet>), SuffixSet>,
    pub(crate) alive_by_class: BoundedCache<KeyClass, SuffixSet>,
    /// Whether each rest may come behind any name in an object that takes any value for it.
    pub(crate) alive_behind_free: Option<SuffixSet>,
    numbers: BoundedCache<NumberState, NumberTokens>,
    /// Sets of bits that may still be made of them. Masks keep them as well, and do not count them.
    number_sets_left: usize,
    pub(crate) names: KeyCache,
    /// Tokens and rests that begin values.
    pub(crate) value_tokens: Shapes<ValueTokens>,
    pub(crate) value_rests: Shapes<ValueSuffixes>,
    /// The rests that are looked at singly behind strings of a place, by the place after most of these.
    ending_singly: BoundedCache<State, SuffixSet>,
    /// The tokens that close a string, by the contents that they are of, the language and the rests that may come.
    closings: BoundedCache<(u32, LanguageId, SuffixSet), Arc<[TokenId]>>,
    /// The tokens that may come within any string, by the rests that may come behind it.
    pub(crate) free_texts: BoundedCache<SuffixSet, TokenSet>,
}

/// Memory for what is known of each kind.
const KNOWN_BYTES: usize = 2 << 20;

impl Default for Known {
    fn default() -> Self {
        Self {
            freedom: Freedom::default(),
            alive: BoundedCache::new(KNOWN_BYTES),
            after_member: HashMap::new(),
            alive_by_class: BoundedCache::new(KNOWN_BYTES),
            alive_behind_free: None,
            numbers: BoundedCache::new(KNOWN_BYTES),
            number_sets_left: MOST_NUMBER_SETS,
            names: KeyCache::default(),
            value_tokens: BoundedCache::new(KNOWN_BYTES),
            value_rests: BoundedCache::new(KNOWN_BYTES),
            ending_singly: BoundedCache::new(KNOWN_BYTES),
            closings: BoundedCache::new(KNOWN_BYTES),
            free_texts: BoundedCache::new(KNOWN_BYTES),
        }
    }
}

impl Known {
    /// Bytes that it takes, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.freedom.bytes()
            + self.alive.bytes()
            + self.alive_by_class.bytes()
            + self.numbers.bytes()
            + self.value_tokens.bytes()
            + self.value_rests.bytes()
            + self.ending_singly.bytes()
            + self.closings.bytes()
            + self.free_texts.bytes()
            + self.names.bytes()
    }
}

/// The tokens that go on with a number and stay in it.
#[derive(Clone, Debug)]
pub(crate) struct NumberTokens {
    /// Digits that all numbers of a kind go on with, as they are without whitespace and with it.
    digits: Arc<[TokenId]>,
    base: Base,
    /// Those besides.
    others: Arc<[TokenId]>,
}

/// Sets of bits that are made of the tokens of numbers, of 25 KB each in a vocabulary of 200,000 tokens.
const MOST_NUMBER_SETS: usize = 40;

/// Tokens of a number from which on they are kept as a set of bits as well.
const MANY: usize = 400;

impl NumberTokens {
    /// Those of `digits`, and others.
    fn new(digits: NextDigits, others: Vec<TokenId>, tokens: &Tokens) -> Self {
        let (digits, base) = match digits {
            NextDigits::Any => (tokens.any_digits.clone(), Base::Digits),
            NextDigits::NonZero => (tokens.nonzero_digits.clone(), Base::NonZeroDigits),
            NextDigits::Some => (Arc::default(), Base::Spaces),
        };
        let others = others.into();
        Self { digits, base, others }
    }

    /// With a set of bits, if they are many, as long as there are some `left`.
    fn or_set(self, sets: &Sets, left: &mut usize) -> Self {
        if self.others.len() < MANY || *left == 0 {
            return self;
        }
        *left -= 1;
        let words = self.and_spaces().words(sets);
        let base = Base::Kept(words.into());
        let (digits, others) = ([&self.digits[..], &self.others].concat().into(), Arc::default());
        Self { digits, base, others }
    }

    fn bytes(&self) -> usize {
        let words = match &self.base {
            Base::Kept(words) => words.len() + self.digits.len(),
            _ => 0,
        };
        4 * (self.others.len() + words)
    }

    /// They alone.
    pub(crate) fn alone(self) -> TokenSet {
        TokenSet::none().and(self.digits).and(self.others)
    }

    /// They and those that are whitespace only.
    pub(crate) fn and_spaces(&self) -> TokenSet {
        TokenSet::over(self.base.clone()).and(self.others.clone())
    }
}

/// Walks over the tokens of a vocabulary.
pub(crate) struct Walk<'a> {
    pub(crate) automaton: &'a mut Automaton,
    pub(crate) known: &'a mut Known,
    pub(crate) tokens: &'a Tokens,
    /// The number of the contents that are in the set which others are added to, with the closing quote alone.
    pub(crate) based_on: Option<u32>,
    /// What is known of the name that comes next.
    pub(crate) known_name: Option<NextKey>,
}

impl Walk<'_> {
    /// The tokens that may come between the parts of a document, those that are whitespace only or numbers only left out.
    pub(crate) fn between(&mut self, at: State, found: &mut Vec<TokenId>) -> Result<(), AutomatonError> {
        let mut open = vec![(ROOT, at)];
        self.structures(&mut open, found)
    }

    /// The tokens that go on with a number and then end it, whatever they begin with left out that does not go on with it.
    pub(crate) fn beyond_number(&mut self, at: State, found: &mut Vec<TokenId>) -> Result<(), AutomatonError> {
        let trie = &self.tokens.between.trie;
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

    fn structures(&mut self, open: &mut Vec<(u32, State)>, found: &mut Vec<TokenId>) -> Result<(), AutomatonError> {
        let structures = &self.tokens.between;
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

    /// Tokens from behind an opening quote on.
    fn string(&mut self, at: State, contents: &Contents, found: &mut Vec<TokenId>) -> Result<(), AutomatonError> {
        match self.automaton.kind(at)? {
            StateClass::Text(_, language) => {
                let freedom = &mut self.known.freedom;
                let mut inside = Vec::new();
                inside_few(self.automaton, freedom, contents, language, &mut inside)?;
                let avoided = self.avoided(at, language, contents)?;
                inside.retain(|token| avoided.binary_search(token).is_err());
                found.append(&mut inside);
            }
            StateClass::Name(_) => {
                let known = self.known_name.as_mut().filter(|known| known.at == at);
                let rests = match known.and_then(|known| known.rests.take()) {
                    Some(rests) => rests,
                    None => self.automaton.name_rests(at)?,
                };
                return self.name(at, &rests, contents, found);
            }
            _ => self.inside_by_place(at, contents, found)?,
        }
        self.closings(at, contents, found)
    }

    /// The tokens that stay in a string and would leave nothing but what it must not become.
    pub(crate) fn avoided(
        &mut self,
        at: State,
        language: LanguageId,
        contents: &Contents,
    ) -> Result<Arc<[TokenId]>, AutomatonError> {
        let Some(texts) = self.automaton.texts_to_avoid(at)? else {
            return Ok(Arc::default());
        };
        if !self.automaton.is_read_singly(language) {
            return self.names_gone(language, &texts, contents);
        }
        let read = self.automaton.name_text(texts.begun_and_come().0).len();
        let texts = self.automaton.names_come(&texts);
        let texts: Vec<Arc<str>> = texts
            .iter()
            .map(|text| self.automaton.shared_name_text(*text))
            .collect();
        let rests = texts.iter().map(|text| &text[read..]).collect();
        Ok(avoided(self.automaton, contents, language, rests)?.into())
    }

    /// The tokens that may come within a string that may be any, where this is the place after it.
    pub(crate) fn free_text(&mut self, after: State) -> Result<TokenSet, AutomatonError> {
        let alive = self.alive(after)?;
        if let Some(known) = self.known.free_texts.get(&alive) {
            return Ok(known);
        }
        let mut found = Vec::new();
        for (rest, tokens) in &self.tokens.inside.by_rest {
            if alive[*rest as usize] && !self.tokens.rests.nothing[*rest as usize] {
                found.extend_from_slice(tokens);
            }
        }
        let set = TokenSet::over(Base::AnyOrQuote).and(found.into());
        self.known.free_texts.keep(alive, set.clone(), set.bytes());
        Ok(set)
    }

    /// Tokens with the closing quote of the string that a place is in, between two characters of it.
    pub(crate) fn closings(
        &mut self,
        at: State,
        contents: &Contents,
        found: &mut Vec<TokenId>,
    ) -> Result<(), AutomatonError> {
        if contents.closings.is_empty() {
            return Ok(());
        }
        match self.automaton.kind(at)? {
            StateClass::Text(_, language) => {
                if let Some(after) = self.automaton.after_any_text(at)? {
                    return self.closings_before(language, after, contents, found);
                }
                if let Some((after, others)) = self.automaton.after_most_texts(at)? {
                    return self.most_closings(at, language, (after, &others), contents, found);
                }
                // Of a list few words are left, and each says what follows it.
                if self.closings_of_words(at, contents, found)? {
                    return Ok(());
                }
                if let Some(classes) = self.automaton.after_texts(at)? {
                    for (language, after) in classes {
                        self.closings_before(language, after, contents, found)?;
                    }
                    return Ok(());
                }
                if let Some((after, words)) = self.automaton.after_but_words(at)? {
                    let from = found.len();
                    self.closings_before(language, after, contents, found)?;
                    let single = words.iter().flat_map(|word| contents.closings_with(word));
                    return self.close_singly(at, &single.collect::<Vec<_>>(), from, found);
                }
                self.closings_by_place(at, contents, found)
            }
            _ => self.closings_by_place(at, contents, found),
        }
    }

    /// The tokens that close a string of a language, behind which this is the place.
    fn closings_before(
        &mut self,
        language: LanguageId,
        after: State,
        contents: &Contents,
        found: &mut Vec<TokenId>,
    ) -> Result<(), AutomatonError> {
        let key = (contents.number, language, self.alive(after)?);
        if let Some(known) = self.known.closings.get(&key) {
            found.extend_from_slice(&known);
            return Ok(());
        }
        let from = found.len();
        closings(
            self.automaton,
            &mut self.known.freedom,
            contents,
            language,
            &key.2,
            found,
        )?;
        let closings: Arc<[TokenId]> = found[from..].into();
        let bytes = 4 * closings.len();
        self.known.closings.keep(key, closings, bytes);
        Ok(())
    }

    /// Whether a rest may come after all texts of a kind if it may after one of them: it does not go on into another text,
    /// which must not be the same, nor end a container that is compared with others.
    pub(crate) fn is_alike(&self, at: State, rest: u32) -> bool {
        let rests = &self.tokens.rests;
        !(rests.reaches_text[rest as usize] || rests.closes[rest as usize] && self.automaton.is_compared(at))
    }

    /// The tokens of a string that stay inside, where more counts than its language.
    fn inside_by_place(
        &mut self,
        at: State,
        contents: &Contents,
        found: &mut Vec<TokenId>,
    ) -> Result<(), AutomatonError> {
        let trie = &contents.inside;
        let mut open = vec![(ROOT, at)];
        while let Some((node, at)) = open.pop() {
            for place in trie.at(node) {
                let may = match contents.begun(place) {
                    None => true,
                    Some(begun) => self.automaton.may_begin(at, begun.decode)?,
                };
                if may {
                    found.push(contents.tokens[place]);
                }
            }
            self.children_by_place(trie, node, at, &mut open)?;
        }
        Ok(())
    }

    /// The tokens that close a string after which the place is the same but for some texts.
    fn most_closings(
        &mut self,
        at: State,
        language: LanguageId,
        (after, others): (State, &[AssertionId]),
        contents: &Contents,
        found: &mut Vec<TokenId>,
    ) -> Result<(), AutomatonError> {
        let from = found.len();
        self.closings_before(language, after, contents, found)?;
        // Those that are not like most are looked at one by one.
        let mut single = self.closings_of_others(at, others, contents);
        let singly = self.ending_singly(at, after)?;
        self.repeating(at, &singly, contents, &mut single);
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
                    if self.rest_is_alive(after, closing.rest)? {
                        found.push(closing.token);
                    }
                }
            }
        }
        Ok(())
    }

    /// The rests that end a container with the string that a place is in and may not come behind all strings alike, though
    /// the place after most of these is the same.
    fn ending_singly(&mut self, at: State, after: State) -> Result<SuffixSet, AutomatonError> {
        let rests = &self.tokens.rests;
        let mut singly = SuffixSet::none(rests.texts.len());
        if !self.automaton.is_compared(at) {
            return Ok(singly);
        }
        if let Some(known) = self.known.ending_singly.get(&after) {
            return Ok(known);
        }
        for (rest, text) in rests.texts.iter().enumerate() {
            if rests.closes[rest] && !self.automaton.ends_alike(after, text)? {
                singly.put(rest, true);
            }
        }
        self.known.ending_singly.keep(after, singly.clone(), singly.bytes());
        Ok(singly)
    }

    /// The tokens that close the string that a place is in and go on into one that may become the same, or with a rest of
    /// those that are to be looked at singly.
    fn repeating(&self, at: State, singly: &SuffixSet, contents: &Contents, found: &mut Vec<(Box<str>, Closing)>) {
        let rests = &self.tokens.rests;
        let read = self.automaton.characters_read(at);
        let mut string = read.to_owned();
        // Behind the value of a member there is a name.
        let is_item = self.automaton.is_in_array(at);
        for (text, closing) in &contents.reaching {
            string.truncate(read.len());
            string.push_str(text);
            if singly[closing.rest as usize] || is_item && rests.may_repeat(closing.rest, &string) {
                found.push((text.clone(), *closing));
            }
        }
    }

    /// The tokens that close the string that a place is in as one of `others`, which are sorted by their characters.
    fn closings_of_others(&self, at: State, others: &[AssertionId], contents: &Contents) -> Vec<(Box<str>, Closing)> {
        let read = self.automaton.characters_read(at).len();
        let mut others = self.automaton.begun_as(at, others);
        let mut closed = &contents.closed[..];
        let mut found = Vec::new();
        // Both are sorted: each is looked through from where the other has come to.
        let rest_of = |other| {
            self.automaton
                .string_of(other)
                .and_then(|text| text.get(read..))
                .unwrap_or_default()
        };
        while let (Some(&other), Some(text)) = (others.first(), closed.first()) {
            let rest = rest_of(other);
            match rest.cmp(text) {
                Ordering::Less => others = &others[others.partition_point(|other| rest_of(*other) < &**text)..],
                Ordering::Greater => closed = &closed[closed.partition_point(|text| &**text < rest)..],
                Ordering::Equal => {
                    found.extend(contents.closings_with(rest));
                    (others, closed) = (&others[1..], &closed[1..]);
                }
            }
        }
        found
    }

    /// The place after the string that a place is in, where it ends with a text.
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

    /// The tokens that close a string, where more counts than its language.
    fn closings_by_place(
        &mut self,
        at: State,
        contents: &Contents,
        found: &mut Vec<TokenId>,
    ) -> Result<(), AutomatonError> {
        self.closings_where(at, contents, found, |_, _| Ok(true)).map(drop)
    }

    /// The same of a string that is one of a list of words; whether it is.
    fn closings_of_words(
        &mut self,
        at: State,
        contents: &Contents,
        found: &mut Vec<TokenId>,
    ) -> Result<bool, AutomatonError> {
        let from = found.len();
        let is_listed = |automaton: &mut Automaton, at| match automaton.kind(at)? {
            StateClass::Text(Decode::Between, language) => Ok(automaton.word_edges(language).is_some()),
            _ => Ok(false),
        };
        let are_words = self.closings_where(at, contents, found, is_listed)?;
        if !are_words {
            found.truncate(from);
        }
        Ok(are_words)
    }

    /// The tokens that close a string, as long as a condition holds at all places in it that tokens lead to; whether it
    /// does.
    fn closings_where(
        &mut self,
        at: State,
        contents: &Contents,
        found: &mut Vec<TokenId>,
        mut holds: impl FnMut(&mut Automaton, State) -> Result<bool, AutomatonError>,
    ) -> Result<bool, AutomatonError> {
        let trie = &contents.closing;
        let mut open = vec![(ROOT, at)];
        while let Some((node, at)) = open.pop() {
            if !holds(self.automaton, at)? {
                return Ok(false);
            }
            let places = trie.at(node);
            if !places.is_empty()
                && let Some(after) = self.automaton.step(at, b'"')?
            {
                let alive = self.alive(after)?;
                let closings = contents.closings[places].iter();
                let closings = closings.filter(|closing| alive[closing.rest as usize]);
                found.extend(closings.map(|closing| closing.token));
            }
            self.children_by_place(trie, node, at, &mut open)?;
        }
        Ok(true)
    }

    fn children_by_place(
        &mut self,
        trie: &Trie<u32>,
        node: u32,
        at: State,
        open: &mut Vec<(u32, State)>,
    ) -> Result<(), AutomatonError> {
        if trie.is_leaf(node) {
            return Ok(());
        }
        // In a list of words few characters come next.
        let edges = match self.automaton.kind(at)? {
            StateClass::Text(Decode::Between, language) => self.automaton.word_edges(language),
            _ => None,
        };
        let ranges = edges.map(|edges| edges.map(|(range, _)| (range.first().into(), range.last().into())));
        let ranges: Option<SmallVec<[(u32, u32); 8]>> = ranges.map(Iterator::collect);
        let ranges = ranges.unwrap_or_else(|| SmallVec::from_slice(&[(0, u32::from(char::MAX))]));
        for child in ranges.into_iter().flat_map(|range| trie.children_within(node, range)) {
            if let Some(character) = char::from_u32(trie.label(child))
                && let Some(next) = self.automaton.read_character(at, character)?
            {
                open.push((child, next));
            }
        }
        Ok(())
    }

    /// The tokens that go on with a number and stay in it.
    pub(crate) fn numbers(&mut self, at: State, digits: Digits) -> Result<NumberTokens, AutomatonError> {
        let mut found = Vec::new();
        let Digits::Any(number) = digits else {
            self.by_bytes(&self.tokens.numbers, at, &mut found)?;
            self.by_bytes(&self.tokens.digits, at, &mut found)?;
            return Ok(NumberTokens::new(NextDigits::Some, found, self.tokens));
        };
        if let Some(known) = self.known.numbers.get(&number) {
            return Ok(known);
        }
        let automaton = &mut *self.automaton;
        let step = |number: &NumberState, byte| Ok(automaton.number_step(*number, byte));
        self.tokens.numbers.walk(number, step, &mut found)?;
        let next = self.automaton.next_digits(number, self.tokens.longest_digits);
        self.digits(number, next, &mut found);
        let tokens = NumberTokens::new(next, found, self.tokens);
        let tokens = tokens.or_set(&self.tokens.sets, &mut self.known.number_sets_left);
        self.known.numbers.keep(number, tokens.clone(), tokens.bytes());
        Ok(tokens)
    }

    /// The tokens of digits only that go on with a number, but for those that are known to.
    fn digits(&mut self, number: NumberState, known: NextDigits, found: &mut Vec<TokenId>) {
        let Spelled { trie, tokens } = &self.tokens.digits;
        let mut open = vec![(ROOT, self.tokens.longest_digits, number, known)];
        while let Some((node, longest, number, known)) = open.pop() {
            for child in trie.children(node) {
                let label = trie.label(child);
                let is_known = match known {
                    NextDigits::Any => true,
                    NextDigits::NonZero => label != b'0',
                    NextDigits::Some => false,
                };
                match is_known {
                    // At the root there is a set of them.
                    true if node == ROOT => {}
                    true => found.extend_from_slice(&tokens[trie.run(child, trie.end(child))]),
                    false => {
                        if let Some(next) = self.automaton.number_step(number, label) {
                            found.extend_from_slice(&tokens[trie.at(child)]);
                            let longest = longest - 1;
                            open.push((child, longest, next, self.automaton.next_digits(next, longest)));
                        }
                    }
                }
            }
        }
    }

    /// Those of some tokens that may come at a place, whatever it is.
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
