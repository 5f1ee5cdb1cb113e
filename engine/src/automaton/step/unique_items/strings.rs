//! Strings that have to differ from others.
//!
//! The state after the closing quote is the same for all strings of a [class](TextClasses) and is worked out once per
//! item; only tokens that end the string as one of the exceptions are looked at one by one.

use crate::automaton::decode::DecodeState;
use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{Algebra, KeySetId, TextId};
use crate::automaton::search::{ExpectationId, Verdicts};
use crate::automaton::step::{
    Automaton, Cursor, DISTINGUISHED_WORDS, ExceptionalTexts, SPLIT_ASSERTIONS, SeenKeys, StackId, State, TextClasses,
    keep,
};
use crate::strings::{Cardinality, LanguageId, group_by_first_character};
use hashbrown::HashSet;
use std::sync::Arc;

/// Maximal number of states visited to show that a language stays infinite.
const EXPLORED_STATES: usize = 64;

/// A character that is repeated to make a text that is none of some others.
const OTHER_TEXT: &str = "\u{10FFFF}";

/// Number of repetitions of the character that are tried.
const OTHER_LENGTHS: usize = 8;

/// Number of texts of a finite language that are tried.
const OTHER_TEXTS: usize = 64;

impl Automaton {
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
                Ok(apart.child.texts == KeySetId::EMPTY
                    || decode == DecodeState::Between
                    || self.stays_infinite(language)?)
            }
            Cursor::Key(..) => Ok(true),
            _ => Ok(false),
        }
    }

    /// Whether a language has infinitely many texts after every viable prefix; `false` also if finding out takes long.
    pub(super) fn stays_infinite(&mut self, language: LanguageId) -> Result<bool, AutomatonError> {
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

    /// The classes of strings that the string of a state may become, and the strings that are judged one by one because the
    /// states behind them may differ. `None` if there are too many classes, or if hardly any string represents most others, as in a list of words.
    ///
    /// Strings of a class have the same verdicts and are equal to no value that they, or a container that ends with them,
    /// are compared with. So each is one more value, whatever its characters are.
    pub(crate) fn text_classes(&mut self, at: State) -> Result<Option<Arc<TextClasses>>, AutomatonError> {
        let Cursor::String(_, _, _, Some(_), expected) = at.cursor else {
            return Ok(None);
        };
        let key = (at.stack, expected);
        if let Some(known) = self.distinct_memo.text_classes.get(&key) {
            return Ok(known.clone());
        }
        let classes = self.find_text_classes(at.stack, expected)?.map(Arc::new);
        keep(&mut self.distinct_memo.text_classes, key, classes.clone());
        Ok(classes)
    }

    fn find_text_classes(
        &mut self,
        stack: StackId,
        expected: ExpectationId,
    ) -> Result<Option<TextClasses>, AutomatonError> {
        // In a list of words, hardly any word represents most of the others.
        let all = self.search.strings_of(expected)?.valid;
        if self.languages().word_edges(all).is_some() && !self.stays_infinite(all)? {
            return Ok(None);
        }
        let (mut listed, mut split) = (Vec::new(), Vec::new());
        let what = self.search.expected(expected);
        let certain = self.search.certain_of_strings(&what)?;
        let open = what
            .assertions
            .iter()
            .zip(&certain)
            .filter(|(_, certain)| certain.is_none());
        for (at, (&assertion, _)) in open.enumerate() {
            // Most strings are not equal to a given value.
            if self.search.algebra.is_value(assertion) {
                listed.extend(self.search.algebra.text_of(assertion));
                continue;
            }
            let strings = self.search.algebra.constraint(assertion)?.strings;
            match self.word_texts(strings)? {
                Some(words) => listed.extend_from_slice(&words),
                None if split.len() == SPLIT_ASSERTIONS || self.languages().is_non_enumerable(strings) => {
                    return Ok(None);
                }
                None => split.push(at),
            }
        }
        let compared = self.distinctness(stack)?.last.texts;
        let Some(representative) = self.other_text(all, compared, &listed)? else {
            return Ok(None);
        };
        let value = self.search.algebra.equal_to_text(representative);
        let mut classes = Vec::new();
        for class in 0..1_usize << split.len() {
            let mut open = 0..;
            let verdicts = certain.iter().map(|certain| {
                certain.unwrap_or_else(|| {
                    let at = open.next().unwrap_or_default();
                    let split = split.iter().position(|split| *split == at);
                    split.is_some_and(|bit| class >> bit & 1 == 1)
                })
            });
            let verdicts: Verdicts = verdicts.collect();
            let what = self.search.expected(expected);
            let admits = |assertion: u32| verdicts[assertion as usize];
            if !self.search.algebra.diagrams.admits(what.diagram, admits) {
                continue;
            }
            let after = self.value_done(expected, verdicts, Some(value), stack)?;
            if let Some(after) = self.if_distinct(after)? {
                let class = (0..split.len()).map(|bit| class >> bit & 1 == 1).collect();
                classes.push((class, after));
            }
        }
        self.search.algebra.sort_keys(&mut listed);
        let listed = listed.into();
        Ok(Some(TextClasses {
            classes,
            split,
            exceptions: ExceptionalTexts { compared, listed },
            representative: self.search.algebra.texts.shared(representative),
        }))
    }

    /// The texts that may follow in the string that a state is in for each class of strings, with the state after it.
    pub(crate) fn residual_classes(
        &mut self,
        at: State,
        classes: &TextClasses,
    ) -> Result<Option<Vec<(LanguageId, State)>>, AutomatonError> {
        let Cursor::String(_, language, open, ..) = at.cursor else {
            return Ok(None);
        };
        let open = self.open(open);
        let mut residuals = Vec::with_capacity(classes.classes.len());
        for (verdicts, after) in &classes.classes {
            let mut residual = language;
            for (verdict, at) in verdicts.iter().zip(&classes.split) {
                let Some(&side) = open.get(*at) else { return Ok(None) };
                let side = if *verdict {
                    side
                } else {
                    self.languages_mut().not(side)?
                };
                residual = self.languages_mut().and(&[residual, side])?;
            }
            if !self.languages_mut().is_empty(residual)? {
                residuals.push((residual, *after));
            }
        }
        Ok(Some(residuals))
    }

    /// The texts of a language; `None` if there are more than [`DISTINGUISHED_WORDS`].
    fn word_texts(&mut self, language: LanguageId) -> Result<Option<Arc<[TextId]>>, AutomatonError> {
        if let Some(known) = self.distinct_memo.words.get(&language) {
            return Ok(known.clone());
        }
        let words = self.finite_words(language, DISTINGUISHED_WORDS)?;
        let texts = words.map(|words| {
            let words = words.iter().map(|word| self.search.algebra.texts.intern(word));
            words.collect::<Arc<[TextId]>>()
        });
        self.search.algebra.kept_cells += texts.as_ref().map_or(0, |texts| texts.len());
        self.distinct_memo.words.insert(language, texts.clone());
        Ok(texts)
    }

    /// The indices of those among some sorted texts with which the string of a state becomes one of the exceptions.
    pub(crate) fn exceptional<T: AsRef<str>>(
        &self,
        at: State,
        exceptions: &ExceptionalTexts,
        texts: &[T],
    ) -> Vec<usize> {
        let Cursor::String(_, _, _, Some(read), _) = at.cursor else {
            return Vec::new();
        };
        let Algebra {
            key_sets, texts: table, ..
        } = &self.search.algebra;
        let length = table.length(read);
        let place = |name: TextId| {
            let rest = &table.get(name)[length..];
            texts.binary_search_by(|text| text.as_ref().cmp(rest)).ok()
        };
        let listed = self.search.algebra.beginning_with(&exceptions.listed, read);
        let mut found: Vec<usize> = listed.iter().filter_map(|name| place(*name)).collect();
        if key_sets.beginning_with(exceptions.compared, read, table) < texts.len() {
            key_sets.each(exceptions.compared, read, table, |name| found.extend(place(name)));
        } else {
            let is_compared = |text: &T| {
                let name = table.find_extended(read, text.as_ref());
                name.is_some_and(|name| key_sets.has(exceptions.compared, name, table))
            };
            found.extend((0..texts.len()).filter(|at| is_compared(&texts[*at])));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The characters read of the string that a state is in, if they are kept; empty otherwise.
    pub(crate) fn characters_read(&self, at: State) -> String {
        match at.cursor {
            Cursor::String(_, _, _, Some(text), _) => self.search.algebra.texts.written(text),
            _ => String::new(),
        }
    }

    /// A string of a language that is none of some others; `None` if none is easily found.
    fn other_text(
        &mut self,
        all: LanguageId,
        compared: KeySetId,
        listed: &[TextId],
    ) -> Result<Option<TextId>, AutomatonError> {
        // If there are infinitely many strings, it does not matter which one is taken.
        let is_infinite = self.stays_infinite(all)?;
        let mut tried: Vec<String> = (1..=OTHER_LENGTHS).map(|length| OTHER_TEXT.repeat(length)).collect();
        if !is_infinite && !self.languages().is_non_enumerable(all) {
            tried.extend(self.languages_mut().members(all, OTHER_TEXTS)?);
        }
        for other in tried {
            let text = self.search.algebra.texts.intern(&other);
            let algebra = &self.search.algebra;
            let is_other = !listed.contains(&text) && !algebra.key_sets.has(compared, text, &algebra.texts);
            if is_other && (is_infinite || self.languages_mut().contains(all, &other)?) {
                return Ok(Some(text));
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
        let seen = self.distinctness(at.stack)?.child.texts;
        if seen == KeySetId::EMPTY || self.stays_infinite(language)? {
            return Ok(None);
        }
        Ok((seen != KeySetId::EMPTY).then(|| SeenKeys::texts(text, seen)))
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
        let others = self.distinctness(stack)?.child.texts;
        // Some character can follow, and after it infinitely many texts are possible.
        if others == KeySetId::EMPTY || self.stays_infinite(language)? {
            return Ok(true);
        }
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

    /// The residual language of a string or key, restricted to texts with which the value can meet its distinctness constraint.
    pub(crate) fn distinct_language(&mut self, at: State) -> Result<LanguageId, AutomatonError> {
        let State { cursor, stack, .. } = at;
        let apart = self.distinctness(stack)?;
        match cursor {
            Cursor::String(_, language, _, Some(text), _) => {
                let rests = self.rests_of(text, apart.child.texts);
                let rests: Vec<&str> = rests.iter().map(|(other, read)| &other[*read..]).collect();
                self.except(language, &rests)
            }
            Cursor::String(_, language, ..) => Ok(language),
            Cursor::Key(..) => self.remaining_key_language(at),
            _ => Ok(self.languages().none()),
        }
    }
}
