//! Walks from a place over the tokens that may begin there.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::automaton::{Automaton, BegunName, Decode, Decoded, NameClass, PlaceKind, State, Trouble};
use crate::numbers::NumberState;
use crate::strings::LanguageId;
use crate::{Escapes, TokenId};

use super::content::{Freedom, Rest, closings, inside_few};
use super::contents::Contents;
use super::tokens::{Rests, Tokens};
use super::trie::Trie;

/// What is known of rests and numbers, so that it is not worked out again for each place. Forgotten where there is too
/// much of it.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) freedom: Freedom,
    alive: HashMap<State, Arc<[bool]>>,
    alive_by_class: HashMap<NameClass, Arc<[bool]>>,
    numbers: HashMap<NumberState, Arc<[TokenId]>>,
}

/// Entries of each kind that are kept.
const MOST: usize = 1 << 13;

/// Looks something up that is kept, or works it out and keeps it.
macro_rules! known {
    ($map:expr, $key:expr, $value:expr) => {{
        if let Some(known) = $map.get(&$key) {
            return Ok(known.clone());
        }
        let value = $value;
        if $map.len() >= MOST {
            $map.clear();
        }
        $map.insert($key, value.clone());
        Ok(value)
    }};
}

/// Walks over the tokens of a vocabulary.
pub(super) struct Walk<'a> {
    pub(super) automaton: &'a mut Automaton,
    pub(super) known: &'a mut Known,
    pub(super) tokens: &'a Tokens,
    pub(super) escapes: Escapes,
}

impl Walk<'_> {
    /// The tokens that may come between the parts of a document, those that are whitespace only or numbers only left out.
    pub(super) fn between(&mut self, at: State, found: &mut Vec<TokenId>) -> Result<(), Trouble> {
        let mut open = vec![(Trie::<u8>::ROOT, at)];
        self.structures(&mut open, found)
    }

    /// The tokens that go on with a number and then end it, whatever they begin with left out that does not go on with it.
    pub(super) fn beyond_number(&mut self, at: State, found: &mut Vec<TokenId>) -> Result<(), Trouble> {
        let trie = &self.tokens.between.trie;
        let mut open = Vec::new();
        for child in trie.children(Trie::<u8>::ROOT) {
            let byte = trie.label(child);
            if matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')
                && let Some(next) = self.automaton.step(at, byte)?
            {
                open.push((child, next));
            }
        }
        self.structures(&mut open, found)
    }

    fn structures(&mut self, open: &mut Vec<(u32, State)>, found: &mut Vec<TokenId>) -> Result<(), Trouble> {
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
    fn string(&mut self, at: State, contents: &Contents, found: &mut Vec<TokenId>) -> Result<(), Trouble> {
        match self.automaton.kind(at)? {
            PlaceKind::Text(_, language) | PlaceKind::Name(_, language) => {
                let freedom = &mut self.known.freedom;
                inside_few(self.automaton, freedom, contents, language, self.escapes, found)?;
            }
            _ => self.inside_by_place(at, contents, found)?,
        }
        self.closings(at, contents, found)
    }

    /// Tokens with the closing quote of the string or name that a place is in, between two characters of it.
    pub(super) fn closings(&mut self, at: State, contents: &Contents, found: &mut Vec<TokenId>) -> Result<(), Trouble> {
        if contents.closings.is_empty() {
            return Ok(());
        }
        match self.automaton.kind(at)? {
            PlaceKind::Text(_, language) => {
                let Some(after) = self.automaton.after_any_text(at)? else {
                    return self.closings_by_place(at, contents, found);
                };
                let alive = self.alive(after)?;
                let rest = Rest::new(self.automaton, language)?;
                closings(self.automaton, &mut self.known.freedom, contents, rest, &alive, found)
            }
            PlaceKind::Name(_, language) => self.name_closings(at, language, contents, found),
            _ => self.closings_by_place(at, contents, found),
        }
    }

    fn name_closings(
        &mut self,
        at: State,
        language: LanguageId,
        contents: &Contents,
        found: &mut Vec<TokenId>,
    ) -> Result<(), Trouble> {
        let (automaton, freedom) = (&mut *self.automaton, &mut self.known.freedom);
        let rest = Rest::new(automaton, language)?;
        let nothing = &self.tokens.rests.nothing;
        match freedom.is_accepted(automaton, language, contents.longest)? {
            true => found.extend_from_slice(&contents.quotes),
            false => closings(automaton, freedom, contents, rest.clone(), nothing, found)?,
        }
        let mut begun = None;
        for (text, closings) in &contents.names {
            let mut after = Some(rest.clone());
            for character in text.chars() {
                after = match after {
                    Some(after) => after.after(self.automaton, character)?,
                    None => break,
                };
            }
            if !after.is_some_and(|after| after.accepts(self.automaton)) {
                continue;
            }
            if begun.is_none() {
                begun = self.automaton.begun_name(at)?;
            }
            let Some(name) = &begun else { return Ok(()) };
            let by_class = self.alive_after_name(at, name, text)?;
            let rests = &self.tokens.rests;
            for closing in closings.iter() {
                let alive = match rests.reaches_name[closing.rest as usize] {
                    false => by_class[closing.rest as usize],
                    true => {
                        let after = self.automaton.after_name(at, text);
                        by_class[closing.rest as usize] && self.alive(after)?[closing.rest as usize]
                    }
                };
                if alive {
                    found.push(closing.token);
                }
            }
        }
        Ok(())
    }

    /// Whether each rest may come after the closing quote of a name that ends with `text`, as far as it does not reach
    /// into other names of the object.
    fn alive_after_name(&mut self, at: State, name: &BegunName, text: &str) -> Result<Arc<[bool]>, Trouble> {
        let after = self.automaton.after_name(at, text);
        match self.automaton.class_of(name, text)? {
            None => self.alive(after),
            Some(class) => known!(self.known.alive_by_class, class, self.find_alive(after)?),
        }
    }

    /// Whether each rest may come at a place.
    fn alive(&mut self, at: State) -> Result<Arc<[bool]>, Trouble> {
        known!(self.known.alive, at, self.find_alive(at)?)
    }

    fn find_alive(&mut self, at: State) -> Result<Arc<[bool]>, Trouble> {
        let Rests { trie, count, .. } = &self.tokens.rests;
        let mut alive = vec![false; *count];
        alive[trie.at(Trie::<u8>::ROOT)].fill(true);
        let mut open = vec![(Trie::<u8>::ROOT, at)];
        while let Some((node, at)) = open.pop() {
            for child in trie.children(node) {
                if let Some(next) = self.automaton.step(at, trie.label(child))? {
                    alive[trie.at(child)].fill(true);
                    open.push((child, next));
                }
            }
        }
        Ok(alive.into())
    }

    /// The tokens of a string that stay inside, where more counts than its language.
    fn inside_by_place(&mut self, at: State, contents: &Contents, found: &mut Vec<TokenId>) -> Result<(), Trouble> {
        let trie = &contents.inside;
        let mut open = vec![(Trie::<u32>::ROOT, at)];
        while let Some((node, at)) = open.pop() {
            for place in trie.at(node) {
                let may = match contents.begun.get(&place) {
                    None => true,
                    Some(begun) => self.automaton.may_begin(at, *begun)?,
                };
                if may {
                    found.push(contents.tokens[place]);
                }
            }
            self.children_by_place(trie, node, at, &mut open)?;
        }
        Ok(())
    }

    /// The tokens that close a string, where more counts than its language.
    fn closings_by_place(&mut self, at: State, contents: &Contents, found: &mut Vec<TokenId>) -> Result<(), Trouble> {
        let trie = &contents.closing;
        let mut open = vec![(Trie::<u32>::ROOT, at)];
        while let Some((node, at)) = open.pop() {
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
        Ok(())
    }

    fn children_by_place(
        &mut self,
        trie: &Trie<u32>,
        node: u32,
        at: State,
        open: &mut Vec<(u32, State)>,
    ) -> Result<(), Trouble> {
        for child in trie.children(node) {
            if let Some(character) = char::from_u32(trie.label(child))
                && let Some(next) = self.automaton.read_character(at, character)?
            {
                open.push((child, next));
            }
        }
        Ok(())
    }

    /// The tokens that go on with a number and stay in it.
    pub(super) fn numbers(&mut self, number: NumberState) -> Result<Arc<[TokenId]>, Trouble> {
        known!(self.known.numbers, number, self.find_numbers(number)?)
    }

    fn find_numbers(&mut self, number: NumberState) -> Result<Arc<[TokenId]>, Trouble> {
        let mut found = Vec::new();
        let automaton = &mut *self.automaton;
        let step = |number: &NumberState, byte| Ok(automaton.number_step(*number, byte));
        self.tokens.numbers.walk(number, step, &mut found)?;
        Ok(found.into())
    }

    /// The tokens with a quote that may come at a place, whatever it is.
    pub(super) fn quoted(&mut self, at: State, found: &mut Vec<TokenId>) -> Result<(), Trouble> {
        let automaton = &mut *self.automaton;
        let step = |at: &State, byte| automaton.step(*at, byte);
        self.tokens.quoted.walk(at, step, found)
    }

    /// The tokens that may come at a place, whatever it is.
    pub(super) fn every(&mut self, at: State, found: &mut Vec<TokenId>) -> Result<(), Trouble> {
        let automaton = &mut *self.automaton;
        let step = |at: &State, byte| automaton.step(*at, byte);
        self.tokens.every.walk(at, step, found)
    }
}

/// What has been read of a character of a string, and what may follow.
pub(super) type Within = (Decode, Rest);

/// The place within a string after a byte that does not close it; none where nothing goes on like that.
pub(super) fn step_within(
    automaton: &mut Automaton,
    escapes: Escapes,
    (begun, rest): &Within,
    byte: u8,
) -> Result<Option<Within>, Trouble> {
    Ok(match begun.step(byte, escapes) {
        Decoded::Refused | Decoded::End => None,
        Decoded::Partial(begun) => {
            let may = rest.may_follow(automaton, begun, escapes)?;
            may.then(|| (begun, rest.clone()))
        }
        Decoded::Character(character) => {
            let after = rest.after(automaton, character)?;
            after.map(|after| (Decode::Between, after))
        }
    })
}
