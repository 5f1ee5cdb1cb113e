//! Strings that have to differ from others.

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

/// States of a language that are looked at to see that it stays infinite.
const EXPLORED_STATES: usize = 64;

/// ComparedValues up to which each is sorted in by itself.
const VALUES_SORTED_SINGLY: usize = 16;

/// A text for one that is none of some others, as often as it takes.
const OTHER_TEXT: &str = "\u{10FFFF}";

/// Lengths of it that are tried.
const OTHER_LENGTHS: usize = 8;

impl Automaton {
    /// The string that an assertion is to be equal to.
    pub(crate) fn string_of(&self, assertion: AssertionId) -> Option<&str> {
        self.search.algebra.string_of(assertion)
    }

    /// Whether a string or name that is being read may go on in any way that its language admits, but for
    /// [a few texts](Self::texts_to_avoid).
    pub(crate) fn any_content(&mut self, at: State) -> Result<bool, AutomatonError> {
        if !self.keeps_values(at.stack) {
            return Ok(true);
        }
        let apart = self.distinctness(at.stack)?;
        match at.cursor {
            Cursor::String(decode, language, ..) => {
                // Within a character it is not looked at which characters are to be avoided.
                Ok(apart.child.is_empty() || decode == DecodeState::Between || self.stays_infinite(language)?)
            }
            Cursor::Key(_, _, names) => Ok(apart.own.is_empty() || self.are_listed(names, at.stack)?),
            _ => Ok(false),
        }
    }

    /// Whether there are infinite texts of a language after every beginning of one; false where that takes long to see.
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

    /// The state after the string that a state is in, where it is the same for all strings but those given, which are
    /// sorted by their characters; of them some may not go on from there. What follows the end of the container may
    /// depend on the string all the same, where that is [compared](Self::is_compared).
    pub(crate) fn after_most_texts(&mut self, at: State) -> Result<Option<MostTexts>, AutomatonError> {
        let Cursor::String(_, language, _, Some(_), expected) = at.cursor else {
            return Ok(None);
        };
        // Then nothing depends on what was read of it.
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
        // Of a list of words there is hardly one that speaks for most.
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
                // Most are not equal to a value.
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

    /// The assertions of being each of the texts of a language, if these are few.
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

    /// The strings among values, sorted by their characters. Of an array they are those of the one before and a few
    /// more.
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

    /// Puts a value among those sorted by their characters, if it is a string and not there.
    fn sort_in(&self, value: AssertionId, sorted: &mut Vec<AssertionId>) {
        let text = self.search.algebra.string_of(value);
        if text.is_some()
            && let Err(place) = sorted.binary_search_by_key(&text, |other| self.search.algebra.string_of(*other))
        {
            sorted.insert(place, value);
        }
    }

    /// The characters of the string that a state is in, where they are kept.
    pub(crate) fn characters_read(&self, at: State) -> &str {
        match at.cursor {
            Cursor::String(_, _, _, Some(text), _) => self.search.algebra.texts.get(text),
            _ => "",
        }
    }

    /// Those of `others`, sorted by their characters, that the string that a state is in may become.
    pub(crate) fn texts_begun<'a>(&self, at: State, others: &'a [AssertionId]) -> &'a [AssertionId] {
        let read = self.characters_read(at);
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

    /// A string that is none of `others` and that speaks for all such, wherever in one a state is; none where that is
    /// not easily found.
    fn other_text(
        &mut self,
        expected: ExpectationId,
        language: LanguageId,
        others: &[AssertionId],
    ) -> Result<Option<AssertionId>, AutomatonError> {
        let all = self.search.strings_of(expected)?;
        // Where there is no end of strings it does not matter which one it is.
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

    /// The texts that the string which a state is in must not become, where there are so few strings that one may be
    /// the only one left; none where there are no such.
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
        // Of an array they are those of the one before and one more.
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

    /// Whether more strings can come of the characters `text` and what may follow them than there are among `others`.
    pub(super) fn string_can_be_distinct(
        &mut self,
        decode: DecodeState,
        language: LanguageId,
        text: TextId,
        stack: StackId,
    ) -> Result<bool, AutomatonError> {
        let child = self.distinctness(stack)?.child;
        // Some character of those that may follow does, and then there is no end of texts.
        if child.is_empty() || self.stays_infinite(language)? {
            return Ok(true);
        }
        let others = self.texts_of(stack, &child);
        let many = self.search.algebra.key_sets.beginning_with(
            others,
            self.search.algebra.texts.get(text),
            &self.search.algebra.texts,
        ) as u64;
        let is_other = many == 0 || {
            // Of so many one is none of them.
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
        // In the middle of a character only some can come next.
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

    /// Those of some texts that begin with one, in the order of their characters, and how much of each that is.
    fn rests_of(&self, text: TextId, others: KeySetId) -> Vec<(Arc<str>, usize)> {
        let read = self.search.algebra.texts.get(text);
        let others = self
            .search
            .algebra
            .key_sets
            .names(others, read, &self.search.algebra.texts);
        others
            .iter()
            .map(|other| (self.search.algebra.texts.shared(*other), read.len()))
            .collect()
    }

    /// The rest of a string or name, as far as it makes a difference to those it has to differ from.
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
                    let name = format!("{}{rest}", self.search.algebra.texts.get(text));
                    let name = self.search.algebra.texts.intern(&name);
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
