//! Strings that have to differ from others.

use std::sync::Arc;

use hashbrown::HashSet;

use super::Values;
use super::names::NAMES;
use crate::automaton::assertion::{Assertion, AssertionId};
use crate::automaton::atom::TextId;
use crate::automaton::decode::Decode;
use crate::automaton::key_sets::KeySetId;
use crate::automaton::machine::scalars::MOST_WORDS;
use crate::automaton::machine::{Automaton, AutomatonError, ExpectedId, Kind, SeenKeys, StackId, State, Top, Verdicts};
use crate::json::{Shape, Value};
use crate::strings::{Cardinality, LanguageId, by_next};

/// States of a language that are looked at to see that it stays infinite.
const FEW_STATES: usize = 64;
/// Values up to which each is sorted in by itself.
const SINGLE: usize = 16;
/// A text for one that is none of some others, as often as it takes.
const OTHER: &str = "\u{10FFFF}";
/// Lengths of it that are tried.
const OTHER_LENGTHS: usize = 8;

/// The place after most strings, and the other strings, sorted by their characters.
pub(in crate::automaton) type MostTexts = (State, Arc<[AssertionId]>);

impl Automaton {
    /// Whether a string or name that is being read may go on in any way that its language admits, but for
    /// [a few texts](Self::texts_to_avoid).
    pub(in crate::automaton::machine) fn any_content(&mut self, at: State) -> Result<bool, AutomatonError> {
        if !self.keeps(at.stack) {
            return Ok(true);
        }
        let apart = self.apart(at.stack)?;
        match at.top {
            Top::String(decode, language, ..) => {
                // Within a character it is not looked at which characters are to be avoided.
                Ok(apart.child.is_empty() || decode == Decode::Between || self.stays_infinite(language)?)
            }
            Top::Key(_, _, names) => Ok(apart.own.is_empty() || self.are_listed(names, at.stack)?),
            _ => Ok(false),
        }
    }

    /// Whether there are infinite texts of a language after every beginning of one; false where that takes long to see.
    pub(super) fn stays_infinite(&mut self, language: LanguageId) -> Result<bool, AutomatonError> {
        if language == self.languages.any() {
            return Ok(true);
        }
        if let Some(&known) = self.stay_infinite.get(&language) {
            return Ok(known);
        }
        let mut seen: HashSet<LanguageId> = HashSet::from([language]);
        let mut open = vec![language];
        let mut stays = true;
        while let Some(language) = open.pop() {
            stays = seen.len() <= FEW_STATES
                && !self.languages.has_machines(language)
                && self.languages.cardinality(language, 0)? == Cardinality::Infinite;
            if !stays {
                break;
            }
            for &(_, target) in self.languages.transitions(language)?.iter() {
                if seen.insert(target) {
                    open.push(target);
                }
            }
        }
        self.stay_infinite.insert(language, stays);
        Ok(stays)
    }

    /// The place after the string that a place is in, where it is the same for all strings but those given, which are
    /// sorted by their characters; of them some may not go on from there. What follows the end of the container may depend
    /// on the string all the same, where that is [compared](Self::is_compared).
    pub(crate) fn after_most_texts(&mut self, at: State) -> Result<Option<MostTexts>, AutomatonError> {
        let Top::String(_, language, _, Some(_), expected) = at.top else {
            return Ok(None);
        };
        // Then nothing depends on what was read of it.
        let is_infinite = self.stays_infinite(language)?;
        let key = (at.stack, expected);
        if is_infinite && let Some(known) = self.most_texts.get(&key) {
            return Ok(known.clone());
        }
        let most = self.find_most_texts(at.stack, expected, language)?;
        if is_infinite {
            self.frame_cells += most.as_ref().map_or(0, |(_, others)| others.len());
            self.most_texts.insert(key, most.clone());
        }
        Ok(most)
    }

    fn find_most_texts(
        &mut self,
        stack: StackId,
        expected: ExpectedId,
        language: LanguageId,
    ) -> Result<Option<MostTexts>, AutomatonError> {
        // Of a list of words there is hardly one that speaks for most.
        let all = self.strings_of(expected)?;
        if self.word_edges(all).is_some() && !self.stays_infinite(language)? {
            return Ok(None);
        }
        let Some(frame) = self.frame(stack) else {
            return Ok(None);
        };
        let own = self.apart(stack)?.own;
        let seen = match frame.kind {
            Kind::Array { .. } => frame.kind.values(),
            Kind::Object { .. } => &[],
        };
        let mut others = Vec::new();
        let what = self.expected(expected);
        let mut verdicts = Verdicts::new();
        for (&assertion, certain) in what.assertions.iter().zip(self.certain_of_strings(&what)?) {
            verdicts.push(match certain {
                Some(verdict) => verdict,
                // Most are not equal to a value.
                None if self.is_value(assertion) => {
                    others.push(assertion);
                    false
                }
                None => {
                    let strings = self.constraint(assertion)?.strings;
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
        let Some(after) = self.if_apart(after)? else {
            return Ok(None);
        };
        let others = self.sorted_texts(seen, &others);
        Ok(Some((after, others)))
    }

    /// The assertions of being each of the texts of a language, if these are few.
    fn word_assertions(&mut self, language: LanguageId) -> Result<Option<Arc<[AssertionId]>>, AutomatonError> {
        if let Some(known) = self.word_assertions.get(&language) {
            return Ok(known.clone());
        }
        let words = self.few_words(language, MOST_WORDS)?;
        let assertions = words.map(|words| {
            let words = words.iter().map(|word| Assertion::Equal(Value::string(word)));
            words
                .map(|word| self.assertions.intern(word))
                .collect::<Arc<[AssertionId]>>()
        });
        self.frame_cells += assertions.as_ref().map_or(0, |assertions| assertions.len());
        self.word_assertions.insert(language, assertions.clone());
        Ok(assertions)
    }

    /// The strings among values, sorted by their characters. Of an array they are those of the one before and a few more.
    fn sorted_texts(&mut self, seen: &[AssertionId], more: &[AssertionId]) -> Arc<[AssertionId]> {
        let (before, sorted) = &self.sorted_texts;
        let (new, mut all) = match seen.strip_prefix(&before[..]) {
            Some(new) => (new, sorted.to_vec()),
            None => (seen, Vec::new()),
        };
        match new.len() > SINGLE {
            true => {
                all.extend(new.iter().filter(|value| self.string_of(**value).is_some()));
                all.sort_unstable_by_key(|value| self.string_of(*value));
                all.dedup();
            }
            false => new.iter().for_each(|value| self.sort_in(*value, &mut all)),
        }
        if !new.is_empty() {
            self.sorted_texts = (seen.into(), all.clone().into());
        }
        more.iter().for_each(|value| self.sort_in(*value, &mut all));
        all.into()
    }

    /// Puts a value among those sorted by their characters, if it is a string and not there.
    fn sort_in(&self, value: AssertionId, sorted: &mut Vec<AssertionId>) {
        let text = self.string_of(value);
        if text.is_some()
            && let Err(place) = sorted.binary_search_by_key(&text, |other| self.string_of(*other))
        {
            sorted.insert(place, value);
        }
    }

    /// The characters of the string that a place is in, where they are kept.
    pub(crate) fn characters_read(&self, at: State) -> &str {
        match at.top {
            Top::String(_, _, _, Some(text), _) => self.texts.get(text),
            _ => "",
        }
    }

    /// Those of `others`, sorted by their characters, that the string that a place is in may become.
    pub(crate) fn begun_as<'a>(&self, at: State, others: &'a [AssertionId]) -> &'a [AssertionId] {
        let read = self.characters_read(at);
        let from = others.partition_point(|other| self.string_of(*other) < Some(read));
        let begins = |other: &AssertionId| self.string_of(*other).is_some_and(|other| other.starts_with(read));
        let count = others[from..].partition_point(begins);
        &others[from..from + count]
    }

    /// The string that an assertion is to be equal to.
    pub(crate) fn string_of(&self, assertion: AssertionId) -> Option<&str> {
        match self.assertions.get(assertion) {
            Assertion::Equal(value) => match value.as_ref().shape() {
                Shape::String(text) => Some(text),
                _ => None,
            },
            _ => None,
        }
    }

    /// A string that is none of `others` and that speaks for all such, wherever a place is in one; none where that is not
    /// easily found.
    fn other_text(
        &mut self,
        expected: ExpectedId,
        language: LanguageId,
        others: &[AssertionId],
    ) -> Result<Option<AssertionId>, AutomatonError> {
        let all = self.strings_of(expected)?;
        // Where there is no end of strings it does not matter which one it is.
        let is_infinite = self.stays_infinite(language)?;
        for length in 1..=others.len() + OTHER_LENGTHS {
            let other = OTHER.repeat(length);
            let value = self.assertions.intern(Assertion::Equal(Value::string(&other)));
            if !others.contains(&value) && (is_infinite || self.languages.contains(all, &other)?) {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// The texts that the string which a place is in must not become, where there are so few strings that one may be the
    /// only one left; none where there are no such.
    pub(crate) fn texts_to_avoid(&mut self, at: State) -> Result<Option<SeenKeys>, AutomatonError> {
        let Top::String(_, language, _, Some(text), _) = at.top else {
            return Ok(None);
        };
        let child = self.apart(at.stack)?.child;
        if child.is_empty() || self.stays_infinite(language)? {
            return Ok(None);
        }
        let come = self.texts_of(at.stack, &child);
        Ok((come != KeySetId::EMPTY).then(|| SeenKeys::texts(text, come)))
    }

    /// The strings among the values that the next value in a container must not equal.
    fn texts_of(&mut self, stack: StackId, child: &Values) -> KeySetId {
        if let Some(&known) = self.text_sets.get(&stack) {
            return known;
        }
        // Of an array they are those of the one before and one more.
        let (before, set) = &self.last_text_set;
        let (new, mut set) = match child.strip_prefix(&before[..]) {
            Some(new) => (new, *set),
            None => (&child[..], KeySetId::EMPTY),
        };
        for value in new {
            if let Some(text) = self.string_of(*value) {
                let text = text.to_owned();
                let text = self.texts.intern(&text);
                set = self.key_sets.with(set, text, &self.texts);
            }
        }
        self.last_text_set = (child.clone(), set);
        self.text_sets.insert(stack, set);
        set
    }

    /// Whether more strings can come of the characters `text` and what may follow them than there are among `others`.
    pub(super) fn string_apart(
        &mut self,
        decode: Decode,
        language: LanguageId,
        text: TextId,
        stack: StackId,
    ) -> Result<bool, AutomatonError> {
        let child = self.apart(stack)?.child;
        // Some character of those that may follow does, and then there is no end of texts.
        if child.is_empty() || self.stays_infinite(language)? {
            return Ok(true);
        }
        let others = self.texts_of(stack, &child);
        let many = self.key_sets.beginning_with(others, self.texts.get(text), &self.texts) as u64;
        let is_other = many == 0 || {
            // Of so many one is none of them.
            let is_whole = decode == Decode::Between && !self.languages.has_machines(language);
            is_whole && self.count_strings(language, many + 1)? > many
        };
        if is_other {
            return Ok(true);
        }
        let rests = self.rests_of(text, others);
        let rests: Vec<&str> = rests.iter().map(|(other, read)| &other[*read..]).collect();
        if decode == Decode::Between {
            return self.has_other_texts(language, &rests);
        }
        // In the middle of a character only some can come next.
        let possible = decode.possible(self.style.escapes);
        let nexts = by_next(&rests);
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

    /// Whether a text of a language begins with a character of one of `ranges`, whose ends are included, that is none of
    /// `but`; both are sorted.
    pub(crate) fn may_begin_otherwise(
        &mut self,
        language: LanguageId,
        ranges: &[(u32, u32)],
        but: &[u32],
    ) -> Result<bool, AutomatonError> {
        Ok(self.languages.may_begin(language, &without(ranges, but))?)
    }

    /// Whether a language that is not empty has a text that is not among some, which are all different.
    pub(crate) fn has_other_texts(&mut self, language: LanguageId, texts: &[&str]) -> Result<bool, AutomatonError> {
        let many = texts.len() as u64;
        if texts.is_empty() || !self.languages.has_machines(language) && self.count_strings(language, many + 1)? > many
        {
            return Ok(true);
        }
        let among = self.count_texts(language, texts)?;
        Ok(self.count_strings(language, among + 1)? > among)
    }

    /// How many of some texts belong to a language.
    fn count_texts(&mut self, language: LanguageId, texts: &[&str]) -> Result<u64, AutomatonError> {
        let mut among = 0;
        for text in texts {
            among += u64::from(self.languages.contains(language, text)?);
        }
        Ok(among)
    }

    /// Those of some texts that begin with one, in the order of their characters, and how much of each that is.
    fn rests_of(&self, text: TextId, others: KeySetId) -> Vec<(Arc<str>, usize)> {
        let read = self.texts.get(text);
        let others = self.key_sets.names(others, read, &self.texts);
        others
            .iter()
            .map(|other| (self.texts.shared(*other), read.len()))
            .collect()
    }

    /// Number of texts of a language, up to `most`.
    pub(super) fn count_strings(&mut self, language: LanguageId, most: u64) -> Result<u64, AutomatonError> {
        Ok(match self.languages.cardinality(language, most)? {
            Cardinality::Finite(count) => count,
            Cardinality::AtLeast(_) | Cardinality::Infinite => most,
        })
    }

    /// The rest of a string or name, as far as it makes a difference to those it has to differ from.
    pub(in crate::automaton::machine) fn language_apart(&mut self, at: State) -> Result<LanguageId, AutomatonError> {
        let State { top, stack, .. } = at;
        let apart = self.apart(stack)?;
        match top {
            Top::String(_, language, _, Some(text), _) => {
                let others = self.texts_of(stack, &apart.child);
                let rests = self.rests_of(text, others);
                let rests: Vec<&str> = rests.iter().map(|(other, read)| &other[*read..]).collect();
                let rests = self.languages.one_of(&rests)?;
                let others = self.languages.not(rests)?;
                Ok(self.languages.and(&[language, others])?)
            }
            Top::String(_, language, ..) => Ok(language),
            Top::Key(_, text, _) if !apart.own.is_empty() => {
                let language = self.name_language(at)?;
                for rest in self.languages.members(language, NAMES)? {
                    let name = format!("{}{rest}", self.texts.get(text));
                    let name = self.texts.intern(&name);
                    if self.member_apart(name, stack)? {
                        return Ok(self.languages.one_of(&[&rest])?);
                    }
                }
                Ok(language)
            }
            Top::Key(..) => self.name_language(at),
            _ => Ok(self.languages.none()),
        }
    }
}

/// The characters of some ranges without some of them; both are sorted.
fn without(ranges: &[(u32, u32)], characters: &[u32]) -> Vec<(u32, u32)> {
    let mut left = Vec::new();
    for &(mut first, last) in ranges {
        let from = characters.partition_point(|character| *character < first);
        for &character in characters[from..].iter().take_while(|character| **character <= last) {
            if first < character {
                left.push((first, character - 1));
            }
            first = character + 1;
        }
        if first <= last {
            left.push((first, last));
        }
    }
    left
}
