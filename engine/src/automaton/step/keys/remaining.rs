//! Remaining key texts: the texts that may follow in a key whose beginning has been read.
//!
//! Usually the keys that may come are a list, or all keys but those of a list. The list is searched for the text read
//! so far, so reading a member creates no language. Only where patterns tell keys apart do the remaining texts form a
//! language.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{Algebra, KeySetId, TextId};
use crate::automaton::search::{KeyListId, NextKeys};
use crate::automaton::step::{Automaton, Cursor, StackId, State};
use crate::strings::LanguageId;
use smallvec::SmallVec;
use std::sync::Arc;

/// Length of a list from which on the remaining keys are counted instead of being listed anew for every state.
const KEYS_WORTH_COUNTING: usize = 32;

/// The texts that may follow in a key.
#[derive(Clone, Debug)]
pub(crate) enum RemainingKeyText {
    /// The texts that these keys have after this many bytes.
    These(SomeKeys, usize),
    /// The texts that the keys of a long list have after the text read.
    Left(RemainingKeys),
    /// Any text but those that these keys have after this many bytes.
    AllBut(SeenKeys, usize),
    /// The texts of a language, except for those that these keys have after this many bytes.
    Language(LanguageId, SeenKeys, usize),
}

/// The keys of a list that begin with a text and have not been seen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RemainingKeys {
    /// The list.
    pub(crate) list: KeyListId,
    /// The text that the keys begin with.
    pub(crate) text: TextId,
    /// The keys seen, whatever they begin with.
    pub(crate) seen: KeySetId,
}

/// Keys, or other texts, that begin with a text and may not come.
#[derive(Clone, Debug)]
pub(crate) struct SeenKeys {
    text: TextId,
    /// Keys or texts that may not come; those that do not begin with the text are ignored.
    seen: KeySetId,
    never: SomeKeys,
}

impl SeenKeys {
    /// The texts of a set that begin with `text`.
    pub(crate) fn texts(text: TextId, seen: KeySetId) -> Self {
        let never = SomeKeys::new();
        Self { text, seen, never }
    }

    /// The text that the keys begin with, and the set of keys seen, whatever these begin with.
    pub(crate) fn begun_and_come(&self) -> (TextId, KeySetId) {
        (self.text, self.seen)
    }
}

/// A list of keys, of which there are usually few.
pub(crate) type SomeKeys = SmallVec<[TextId; 12]>;

impl Automaton {
    /// The keys of a list that begin with a text, sorted by their characters.
    pub(crate) fn listed_with(&self, list: KeyListId, text: TextId) -> &[TextId] {
        self.search.listed_with(list, text)
    }

    /// The keys seen in an object.
    pub(super) fn seen_keys(&self, stack: StackId) -> KeySetId {
        let frame = self.frames.all.get(stack.0 as usize);
        frame.map_or(KeySetId::EMPTY, |frame| frame.kind.used())
    }

    /// Number of keys on a list that begin with a text and have not been seen. The list must hold the keys that may
    /// come first in the independent-key object at `stack`.
    pub(super) fn count_remaining_in(&self, list: KeyListId, text: TextId, stack: StackId) -> usize {
        if text == TextId::EMPTY {
            let seen = self.search.algebra.key_sets.len(self.seen_keys(stack));
            return self.search.key_list(list).names.len().saturating_sub(seen);
        }
        self.count_between((list, text), stack, |_| false, |_| false)
    }

    /// Number of the keys seen that begin with a text.
    pub(super) fn count_seen_with(&self, seen: KeySetId, text: TextId) -> u64 {
        let algebra = &self.search.algebra;
        algebra.key_sets.beginning_with(seen, text, &algebra.texts) as u64
    }

    /// Number of the remaining keys of a list that begin with a text, followed by a character of an inclusive range.
    pub(super) fn count_remaining_behind(
        &self,
        list: KeyListId,
        text: TextId,
        (first, last): (u32, u32),
        stack: StackId,
    ) -> usize {
        let texts = &self.search.algebra.texts;
        let read = texts.length(text);
        let next = |name: TextId| texts.get(name)[read..].chars().next().map(u32::from);
        let is_before = |name: TextId| next(name) < Some(first);
        self.count_between((list, text), stack, is_before, |name| next(name) > Some(last))
    }

    /// Number of the remaining keys of a list that begin with a text and are neither before nor behind a range of
    /// these.
    fn count_between(
        &self,
        (list, text): (KeyListId, TextId),
        stack: StackId,
        is_before: impl Fn(TextId) -> bool,
        is_behind: impl Fn(TextId) -> bool,
    ) -> usize {
        let Some(frame) = self.frames.all.get(stack.0 as usize) else {
            return 0;
        };
        let texts = &self.search.algebra.texts;
        let begins = |name: TextId| texts.begins_with(name, text);
        let precedes = |name: TextId| texts.compare(name, text).is_lt();
        let is_before = |name: TextId| if begins(name) { is_before(name) } else { precedes(name) };
        let is_not_behind = |name: TextId| if begins(name) { !is_behind(name) } else { precedes(name) };
        let names = &self.search.key_list(list).names;
        let listed = |holds: &dyn Fn(TextId) -> bool| names.partition_point(|name| holds(*name));
        let seen = |holds: &dyn Fn(TextId) -> bool| {
            let seen = frame.kind.used();
            self.search.algebra.key_sets.partition_point(seen, holds)
        };
        let listed = listed(&is_not_behind) - listed(&is_before);
        // Keys seen are among those that may come first, so subtracting them is exact.
        listed.saturating_sub(seen(&is_not_behind) - seen(&is_before))
    }

    /// The remaining keys, sorted by their characters.
    pub(crate) fn remaining_keys(&self, left: RemainingKeys) -> impl Iterator<Item = TextId> {
        let names = self.search.listed_with(left.list, left.text).iter().copied();
        names.filter(move |name| !self.has_key(left.seen, *name))
    }

    /// The first and the last of the remaining keys, by their characters.
    pub(crate) fn first_and_last_remaining(&self, left: RemainingKeys) -> (Option<TextId>, Option<TextId>) {
        let names = self.search.listed_with(left.list, left.text);
        // Keys seen are on the list, so their number before any position of the list can be computed.
        let algebra = &self.search.algebra;
        let seen = |name: TextId| {
            let is_before = |other| algebra.texts.compare(other, name).is_lt();
            algebra.key_sets.partition_point(left.seen, is_before)
        };
        let before = seen(left.text);
        let left_before = |place: usize| match names.get(place) {
            Some(name) => place.saturating_sub(seen(*name).saturating_sub(before)),
            None => {
                let exhausted = algebra.key_sets.beginning_with(left.seen, left.text, &algebra.texts);
                names.len().saturating_sub(exhausted)
            }
        };
        let all = left_before(names.len());
        // The key at the first index that has more than `count` remaining keys up to and including it.
        let find = |count: usize| {
            let (mut from, mut to) = (0, names.len());
            while from < to {
                let middle = from.midpoint(to);
                match left_before(middle + 1) > count {
                    true => to = middle,
                    false => from = middle + 1,
                }
            }
            names.get(from).copied()
        };
        (find(0), all.checked_sub(1).and_then(find))
    }

    /// Whether a key is in a set of seen keys.
    pub(crate) fn has_key(&self, seen: KeySetId, name: TextId) -> bool {
        self.search.algebra.key_sets.has(seen, name, &self.search.algebra.texts)
    }

    /// The keys that begin with a text and are in exactly one of two sets of seen keys; the flag says that it is the second.
    pub(crate) fn key_differences(&mut self, one: KeySetId, other: KeySetId, text: TextId) -> Vec<(TextId, bool)> {
        let Algebra { key_sets, texts, .. } = &mut self.search.algebra;
        if one == KeySetId::EMPTY {
            let names = key_sets.names(other, text, texts).into_iter();
            return names.map(|name| (name, true)).collect();
        }
        let mut found = key_sets.differences(one, other, texts);
        found.retain(|(name, _)| texts.begins_with(*name, text));
        found
    }

    /// Number of keys or texts that may not come.
    pub(crate) fn count_seen(&self, names: &SeenKeys) -> usize {
        let algebra = &self.search.algebra;
        names.never.len() + algebra.key_sets.beginning_with(names.seen, names.text, &algebra.texts)
    }

    /// The keys or texts that may not come.
    pub(crate) fn seen_among(&self, names: &SeenKeys) -> SomeKeys {
        self.seen_where(names, |_| true)
    }

    /// The keys or texts that may not come and whose remaining text satisfies `holds`.
    pub(crate) fn seen_where(&self, names: &SeenKeys, holds: impl Fn(&str) -> bool) -> SomeKeys {
        let read = self.search.algebra.texts.length(names.text);
        let holds = |name: TextId| holds(&self.search.algebra.texts.get(name)[read..]);
        let mut seen: SomeKeys = names.never.iter().copied().filter(|name| holds(*name)).collect();
        self.search
            .algebra
            .key_sets
            .each(names.seen, names.text, &self.search.algebra.texts, |name| {
                if holds(name) {
                    seen.push(name);
                }
            });
        seen
    }

    /// The key of a list that consists of the text read and `more`; `None` if the list has no such key.
    pub(crate) fn listed_key(&mut self, left: RemainingKeys, more: &str) -> Option<TextId> {
        let name = self.search.algebra.texts.find_extended(left.text, more)?;
        self.search.is_listed(left.list, name).then_some(name)
    }

    /// The key in `names` that consists of its common beginning and `more`; `None` if there is no such key.
    pub(crate) fn seen_key(&mut self, names: &SeenKeys, more: &str) -> Option<TextId> {
        let name = self.search.algebra.texts.find_extended(names.text, more)?;
        (names.never.contains(&name) || self.has_key(names.seen, name)).then_some(name)
    }

    /// The texts that may follow in the key that a state is in. Keys after which the object could only become equal to a value
    /// that it has to differ from are not among them.
    pub(crate) fn remaining_key_text(&mut self, at: State) -> Result<RemainingKeyText, AutomatonError> {
        let Cursor::Key(_, text, names) = at.cursor else {
            return Ok(RemainingKeyText::These(SomeKeys::new(), 0));
        };
        let seen = self.seen_keys(at.stack);
        let read = self.search.algebra.texts.length(text);
        Ok(match self.opened(names, at.stack)? {
            NextKeys::Any => {
                let Some(frame) = self.frame(at.stack) else {
                    return Ok(RemainingKeyText::These(SomeKeys::new(), 0));
                };
                let barred = self.search.barred_keys(frame.formulas[0])?;
                let never = barred.iter().chain(self.passed_keys(&frame.kind)).copied();
                let never = never
                    .filter(|name| self.search.algebra.texts.begins_with(*name, text))
                    .collect();
                RemainingKeyText::AllBut(SeenKeys { text, seen, never }, read)
            }
            NextKeys::In(language) => {
                let language = self.but_indistinct_keys(language, text, at.stack)?;
                RemainingKeyText::Language(language, SeenKeys::texts(text, seen), read)
            }
            NextKeys::Of(list) => match self.search.listed_with(list, text) {
                names if names.len() >= KEYS_WORTH_COUNTING => {
                    RemainingKeyText::Left(RemainingKeys { list, text, seen })
                }
                names if seen == KeySetId::EMPTY => RemainingKeyText::These(names.into(), read),
                names => {
                    let left = names.iter().copied().filter(|name| !self.has_key(seen, *name));
                    RemainingKeyText::These(left.collect(), read)
                }
            },
            NextKeys::Listed(list) => {
                let list = self.search.key_lists[list.0 as usize].clone();
                let mut names: SomeKeys = self.search.algebra.beginning_with(&list.names, text).into();
                for name in self.compared_keys(at.stack, text)? {
                    let place = names.iter().position(|one| *one == name);
                    if place.is_some() != list.excludes && !self.member_can_be_distinct(name, at.stack)? {
                        match place {
                            Some(place) => _ = names.remove(place),
                            None => names.push(name),
                        }
                    }
                }
                match list.excludes {
                    true => RemainingKeyText::AllBut(
                        SeenKeys {
                            text,
                            seen: KeySetId::EMPTY,
                            never: names,
                        },
                        read,
                    ),
                    false => RemainingKeyText::These(names, read),
                }
            }
            NextKeys::Language(language) => {
                let language = self.but_indistinct_keys(language, text, at.stack)?;
                RemainingKeyText::Language(language, SeenKeys::texts(text, KeySetId::EMPTY), read)
            }
            NextKeys::None | NextKeys::Unopened => RemainingKeyText::These(SomeKeys::new(), 0),
        })
    }

    /// The language without the rests of keys after which the object could only become equal to a value that it has to differ from.
    fn but_indistinct_keys(
        &mut self,
        language: LanguageId,
        text: TextId,
        stack: StackId,
    ) -> Result<LanguageId, AutomatonError> {
        let mut rests = Vec::new();
        for name in self.compared_keys(stack, text)? {
            let rest = self.key_text(name)[self.key_length(text)..].to_owned();
            if self.languages_mut().contains(language, &rest)? && !self.member_can_be_distinct(name, stack)? {
                rests.push(rest);
            }
        }
        let rests: Vec<&str> = rests.iter().map(String::as_str).collect();
        self.except(language, &rests)
    }

    /// The text of a key.
    pub(crate) fn key_text(&self, name: TextId) -> &str {
        self.search.algebra.texts.get(name)
    }

    /// Number of bytes of the text of a key.
    pub(crate) fn key_length(&self, name: TextId) -> usize {
        self.search.algebra.texts.length(name)
    }

    /// The text of a key as a shared pointer, which outlives the borrow of the automaton.
    pub(crate) fn shared_key_text(&self, name: TextId) -> Arc<str> {
        self.search.algebra.texts.shared(name)
    }

    /// The texts that may follow in the key that a state is in, as a language.
    pub(crate) fn remaining_key_language(&mut self, at: State) -> Result<LanguageId, AutomatonError> {
        let (language, names, read) = match self.remaining_key_text(at)? {
            RemainingKeyText::These(names, read) => return self.rests_as_language(&names, read),
            RemainingKeyText::Left(left) => {
                let names: Vec<TextId> = self.remaining_keys(left).collect();
                return self.rests_as_language(&names, self.key_length(left.text));
            }
            RemainingKeyText::AllBut(names, read) => (self.languages().any(), names, read),
            RemainingKeyText::Language(language, names, read) => (language, names, read),
        };
        let names = self.seen_among(&names);
        let rests: Vec<Arc<str>> = names.iter().map(|name| self.shared_key_text(*name)).collect();
        let rests: Vec<&str> = rests.iter().map(|name| &name[read..]).collect();
        self.except(language, &rests)
    }

    /// The language of the texts that some keys have after their first `read` bytes.
    fn rests_as_language(&mut self, names: &[TextId], read: usize) -> Result<LanguageId, AutomatonError> {
        let Algebra { texts, languages, .. } = &mut self.search.algebra;
        let rests: Vec<&str> = names.iter().map(|name| &texts.get(*name)[read..]).collect();
        Ok(languages.one_of(&rests)?)
    }
}
