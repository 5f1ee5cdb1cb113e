//! Strings that have to differ from others.
//!
//! The strings seen before are kept sorted. The state after the closing quote is the same for most strings and is
//! worked out once per item; only tokens that end the string as one of the exceptions are looked at one by one.

use super::keys::TRIED_KEYS;
use crate::automaton::decode::DecodeState;
use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{Assertion, AssertionId, KeySetId, TextId};
use crate::automaton::search::{ExpectationId, Verdicts};
use crate::automaton::step::{
    Automaton, ComparedValues, Container, Cursor, DISTINGUISHED_WORDS, MostTexts, SeenKeys, StackId, State,
};
use crate::json::Value;
use crate::strings::{Cardinality, LanguageId, group_by_first_character};
use hashbrown::HashSet;
use std::sync::Arc;

/// Number of states of a language that are looked at to see that it stays infinite.
const EXPLORED_STATES: usize = 64;

/// Number of values up to which each is inserted into a sorted list by itself.
const VALUES_SORTED_SINGLY: usize = 16;

/// A character that is repeated to make a text that is none of some others.
const OTHER_TEXT: &str = "\u{10FFFF}";

/// Number of repetitions that are tried beyond the number of those others.
const OTHER_LENGTHS: usize = 8;

impl Automaton {
    /// The string that an assertion requires its value to equal; `None` for other assertions.
    pub(crate) fn string_of(&self, assertion: AssertionId) -> Option<&str> {
        self.search.algebra.string_of(assertion)
    }

    /// Whether the string or key that is being read may be completed by any text of its language, except for [a few
    /// texts](Self::texts_to_avoid).
    pub(crate) fn any_content(&mut self, at: State) -> Result<bool, AutomatonError> {
        if !self.keeps_values(at.stack) {
            return Ok(true);
        }
        let apart = self.distinctness(at.stack)?;
        match at.cursor {
            Cursor::String(decode, language, ..) => {
                // Within a character, the characters to avoid are not looked at.
                Ok(apart.child.is_empty() || decode == DecodeState::Between || self.stays_infinite(language)?)
            }
            Cursor::Key(_, _, names) => Ok(apart.own.is_empty() || self.are_listed(names, at.stack)?),
            _ => Ok(false),
        }
    }

    /// Whether a language has infinitely many texts after every viable prefix; `false` also if finding out takes long.
    fn stays_infinite(&mut self, language: LanguageId) -> Result<bool, AutomatonError> {
        if language == self.languages().any() {
            return Ok(true);
        }
        if let Some(&known) = self.distinct_memo.stay_infinite.get(&language) {
            return Ok(known);
        }
        let mut seen: HashSet<LanguageId> = HashSet::from([language]);
        let mut open = vec![language];
        let mut stays = true;
        while let Some(language) = open.pop() {
            stays = seen.len() <= EXPLORED_STATES
                && !self.languages().is_non_enumerable(language)
                && self.languages_mut().cardinality(language, 0)? == Cardinality::Infinite;
            if !stays {
                break;
            }
            for &(_, target) in self.languages_mut().transitions(language)?.iter() {
                if seen.insert(target) {
                    open.push(target);
                }
            }
        }
        self.distinct_memo.stay_infinite.insert(language, stays);
        Ok(stays)
    }

    /// The state after the string that a state is in, which is the same for all strings except those returned with it.
    /// The exceptions are sorted by their characters, and some of them may not be possible here. What follows the end
    /// of the container may still depend on the string if the container is [compared](Self::is_compared).
    pub(crate) fn after_most_texts(&mut self, at: State) -> Result<Option<MostTexts>, AutomatonError> {
        let Cursor::String(_, language, _, Some(_), expected) = at.cursor else {
            return Ok(None);
        };
        // In an infinite language nothing depends on what has been read of the string.
        let is_infinite = self.stays_infinite(language)?;
        let key = (at.stack, expected);
        if is_infinite && let Some(known) = self.distinct_memo.most_texts.get(&key) {
            return Ok(known.clone());
        }
        let most = self.find_most_texts(at.stack, expected, language)?;
        if is_infinite {
            self.search.algebra.kept_cells += most.as_ref().map_or(0, |(_, others)| others.len());
            self.distinct_memo.most_texts.insert(key, most.clone());
        }
        Ok(most)
    }

    fn find_most_texts(
        &mut self,
        stack: StackId,
        expected: ExpectationId,
        language: LanguageId,
    ) -> Result<Option<MostTexts>, AutomatonError> {
        // In a list of words, hardly any word represents most of the others.
        let all = self.search.strings_of(expected)?;
        if self.languages().word_edges(all).is_some() && !self.stays_infinite(language)? {
            return Ok(None);
        }
        let Some(frame) = self.frame(stack) else {
            return Ok(None);
        };
        let own = self.distinctness(stack)?.own;
        let seen = match frame.kind {
            Container::Array { .. } => frame.kind.values(),
            Container::Object { .. } => &[],
        };
        let mut others = Vec::new();
        let what = self.search.expected(expected);
        let mut verdicts = Verdicts::new();
        for (&assertion, certain) in what.assertions.iter().zip(self.search.certain_of_strings(&what)?) {
            verdicts.push(match certain {
                Some(verdict) => verdict,
                // Most strings are not equal to a given value.
                None if self.search.algebra.is_value(assertion) => {
                    others.push(assertion);
                    false
                }
                None => {
                    let strings = self.search.algebra.constraint(assertion)?.strings;
                    let Some(words) = self.word_assertions(strings)? else {
                        return Ok(None);
                    };
                    others.extend_from_slice(&words);
                    false
                }
            });
        }
        others.extend(self.parts_here(&frame, &own).into_iter().map(|(part, _)| part));
        let Some(value) = self.other_text(expected, language, &[seen, &others].concat())? else {
            return Ok(None);
        };
        let after = self.value_done(expected, verdicts, Some(value), stack)?;
        let Some(after) = self.if_distinct(after)? else {
            return Ok(None);
        };
        let others = self.sorted_texts(seen, &others);
        Ok(Some((after, others)))
    }

    /// The assertions of being equal to each text of a language; `None` if there are more than [`DISTINGUISHED_WORDS`].
    fn word_assertions(&mut self, language: LanguageId) -> Result<Option<Arc<[AssertionId]>>, AutomatonError> {
        if let Some(known) = self.distinct_memo.word_assertions.get(&language) {
            return Ok(known.clone());
        }
        let words = self.finite_words(language, DISTINGUISHED_WORDS)?;
        let assertions = words.map(|words| {
            let words = words.iter().map(|word| Assertion::Equal(Value::string(word)));
            words
                .map(|word| self.search.algebra.assertions.intern(word))
                .collect::<Arc<[AssertionId]>>()
        });
        self.search.algebra.kept_cells += assertions.as_ref().map_or(0, |assertions| assertions.len());
        self.distinct_memo.word_assertions.insert(language, assertions.clone());
        Ok(assertions)
    }

    /// The strings among `seen` and `more`, sorted by their characters. For an array, those of the previous item are
    /// reused and a few are added.
    fn sorted_texts(&mut self, seen: &[AssertionId], more: &[AssertionId]) -> Arc<[AssertionId]> {
        let (before, sorted) = &self.distinct_memo.sorted_texts;
        let (new, mut all) = match seen.strip_prefix(&before[..]) {
            Some(new) => (new, sorted.to_vec()),
            None => (seen, Vec::new()),
        };
        match new.len() > VALUES_SORTED_SINGLY {
            true => {
                all.extend(
                    new.iter()
                        .filter(|value| self.search.algebra.string_of(**value).is_some()),
                );
                all.sort_unstable_by_key(|value| self.search.algebra.string_of(*value));
                all.dedup();
            }
            false => new.iter().for_each(|value| self.sort_in(*value, &mut all)),
        }
        if !new.is_empty() {
            self.distinct_memo.sorted_texts = (seen.into(), all.clone().into());
        }
        more.iter().for_each(|value| self.sort_in(*value, &mut all));
        all.into()
    }

    /// Inserts a value into a list sorted by characters, if it is a string and not in the list yet.
    fn sort_in(&self, value: AssertionId, sorted: &mut Vec<AssertionId>) {
        let text = self.search.algebra.string_of(value);
        if text.is_some()
            && let Err(place) = sorted.binary_search_by_key(&text, |other| self.search.algebra.string_of(*other))
        {
            sorted.insert(place, value);
        }
    }

    /// The characters read of the string that a state is in, if they are kept; empty otherwise.
    pub(crate) fn characters_read(&self, at: State) -> String {
        match at.cursor {
            Cursor::String(_, _, _, Some(text), _) => self.search.algebra.texts.written(text),
            _ => String::new(),
        }
    }

    /// The strings of `others`, which are sorted by their characters, that the string being read may still become.
    pub(crate) fn texts_begun<'a>(&self, at: State, others: &'a [AssertionId]) -> &'a [AssertionId] {
        let read = self.characters_read(at);
        let read = &*read;
        let from = others.partition_point(|other| self.search.algebra.string_of(*other) < Some(read));
        let begins = |other: &AssertionId| {
            self.search
                .algebra
                .string_of(*other)
                .is_some_and(|other| other.starts_with(read))
        };
        let count = others[from..].partition_point(begins);
        &others[from..from + count]
    }

    /// A string that is none of `others` and represents all such strings at any state within them; `None` if none is
    /// easily found.
    fn other_text(
        &mut self,
        expected: ExpectationId,
        language: LanguageId,
        others: &[AssertionId],
    ) -> Result<Option<AssertionId>, AutomatonError> {
        let all = self.search.strings_of(expected)?;
        // If there are infinitely many strings, it does not matter which one is taken.
        let is_infinite = self.stays_infinite(language)?;
        for length in 1..=others.len() + OTHER_LENGTHS {
            let other = OTHER_TEXT.repeat(length);
            let value = self
                .search
                .algebra
                .assertions
                .intern(Assertion::Equal(Value::string(&other)));
            if !others.contains(&value) && (is_infinite || self.languages_mut().contains(all, &other)?) {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// The texts that the string being read must not become, if so few strings are possible that they may run out;
    /// `None` if there is nothing to avoid.
    pub(crate) fn texts_to_avoid(&mut self, at: State) -> Result<Option<SeenKeys>, AutomatonError> {
        let Cursor::String(_, language, _, Some(text), _) = at.cursor else {
            return Ok(None);
        };
        let child = self.distinctness(at.stack)?.child;
        if child.is_empty() || self.stays_infinite(language)? {
            return Ok(None);
        }
        let seen = self.texts_of(at.stack, &child);
        Ok((seen != KeySetId::EMPTY).then(|| SeenKeys::texts(text, seen)))
    }

    /// The strings among the values that the next value in a container must not equal.
    fn texts_of(&mut self, stack: StackId, child: &ComparedValues) -> KeySetId {
        if let Some(&known) = self.distinct_memo.text_sets.get(&stack) {
            return known;
        }
        // For an array, the strings before the previous item are reused and one is added.
        let (before, set) = &self.distinct_memo.last_text_set;
        let (new, mut set) = match child.strip_prefix(&before[..]) {
            Some(new) => (new, *set),
            None => (&child[..], KeySetId::EMPTY),
        };
        for value in new {
            if let Some(text) = self.search.algebra.string_of(*value) {
                let text = text.to_owned();
                let text = self.search.algebra.texts.intern(&text);
                set = self.search.algebra.key_sets.with(set, text, &self.search.algebra.texts);
            }
        }
        self.distinct_memo.last_text_set = (child.clone(), set);
        self.distinct_memo.text_sets.insert(stack, set);
        set
    }

    /// Whether a string that begins with the characters `text` can become one that is none of the strings it has to
    /// differ from.
    pub(super) fn string_can_be_distinct(
        &mut self,
        decode: DecodeState,
        language: LanguageId,
        text: TextId,
        stack: StackId,
    ) -> Result<bool, AutomatonError> {
        let child = self.distinctness(stack)?.child;
        // Some character can follow, and after it infinitely many texts are possible.
        if child.is_empty() || self.stays_infinite(language)? {
            return Ok(true);
        }
        let others = self.texts_of(stack, &child);
        let algebra = &self.search.algebra;
        let many = algebra.key_sets.beginning_with(others, text, &algebra.texts) as u64;
        let is_other = many == 0 || {
            // If there are more texts than others, one of them is none of the others.
            let is_whole = decode == DecodeState::Between && !self.languages().is_non_enumerable(language);
            is_whole && self.count_strings(language, many + 1)? > many
        };
        if is_other {
            return Ok(true);
        }
        let rests = self.rests_of(text, others);
        let rests: Vec<&str> = rests.iter().map(|(other, read)| &other[*read..]).collect();
        if decode == DecodeState::Between {
            return self.has_other_texts(language, &rests);
        }
        // In the middle of a character only certain characters can come next.
        let possible = decode.possible(self.search.algebra.style.escapes);
        let nexts = group_by_first_character(&rests);
        let characters: Vec<u32> = nexts.iter().map(|(next, _)| (*next).into()).collect();
        if self.may_begin_otherwise(language, &possible, &characters)? {
            return Ok(true);
        }
        for (next, rests) in nexts {
            let next_is = |(first, last): &(u32, u32)| (*first..=*last).contains(&next.into());
            if possible.iter().any(next_is)
                && let Some(target) = self.content_after(language, next)?
                && self.has_other_texts(target, &rests)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The texts of `others` that begin with `text`, sorted by their characters, with the length of `text` in bytes.
    fn rests_of(&self, text: TextId, others: KeySetId) -> Vec<(Arc<str>, usize)> {
        let texts = &self.search.algebra.texts;
        let read = texts.length(text);
        let others = self.search.algebra.key_sets.names(others, text, texts);
        others.iter().map(|other| (texts.shared(*other), read)).collect()
    }

    /// The texts that may follow in a string or key so that the value can differ from those it has to differ from.
    pub(crate) fn distinct_language(&mut self, at: State) -> Result<LanguageId, AutomatonError> {
        let State { cursor, stack, .. } = at;
        let apart = self.distinctness(stack)?;
        match cursor {
            Cursor::String(_, language, _, Some(text), _) => {
                let others = self.texts_of(stack, &apart.child);
                let rests = self.rests_of(text, others);
                let rests: Vec<&str> = rests.iter().map(|(other, read)| &other[*read..]).collect();
                let rests = self.languages_mut().one_of(&rests)?;
                let others = self.languages_mut().not(rests)?;
                Ok(self.languages_mut().and(&[language, others])?)
            }
            Cursor::String(_, language, ..) => Ok(language),
            Cursor::Key(_, text, _) if !apart.own.is_empty() => {
                let language = self.remaining_key_language(at)?;
                for rest in self.languages_mut().members(language, TRIED_KEYS)? {
                    let name = self.search.algebra.texts.extended(text, &rest);
                    if self.member_can_be_distinct(name, stack)? {
                        return Ok(self.languages_mut().one_of(&[&rest])?);
                    }
                }
                Ok(language)
            }
            Cursor::Key(..) => self.remaining_key_language(at),
            _ => Ok(self.languages().none()),
        }
    }
}
