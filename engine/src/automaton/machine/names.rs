//! Names of members: places within them, and what may follow there.
//!
//! Mostly the names that may come are a list, or all but a list. Such a list is looked through by what was read of a
//! name, so that a member read costs no language. Only where patterns tell names apart are they a language.

use std::sync::Arc;

use smallvec::SmallVec;

use super::next_keys::KeyList;
use super::{Automaton, AutomatonError, StackId, State, Step, Top};
use crate::automaton::atom::TextId;
use crate::automaton::decode::{Decode, Decoded, is_plain, several_plain};
use crate::automaton::formula::FormulaId;
use crate::automaton::key_sets::KeySetId;
use crate::strings::{Cardinality, LanguageId};

/// Names of a list from which on those that have not come are not listed anew for every place.
const MANY_LISTED: usize = 32;

/// The names that may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum NextKeys {
    /// None.
    None,
    /// Some, which have not been looked at yet: nothing has been read of the name.
    Unopened,
    /// Any that has not come and of which a member can come.
    Any,
    /// By a list, whatever has been read of the name.
    Listed(KeyListId),
    /// Those of a list that have not come.
    Of(KeyListId),
    /// Those of a language that have not come: what may follow, were it not for these. All that have come are of it.
    In(LanguageId),
    /// By a language: what may follow.
    Language(LanguageId),
}

/// A [`KeyList`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct KeyListId(u32);

/// What may follow of a name.
#[derive(Clone, Debug)]
pub(crate) enum RemainingKeyText {
    /// What these have after so many bytes.
    These(SomeKeys, usize),
    /// What those of a long list have behind a text that they begin with.
    Left(RemainingKeys),
    /// Anything but what these have after so many bytes.
    AllBut(SeenKeys, usize),
    /// The texts of a language, but for what these have after so many bytes.
    Language(LanguageId, SeenKeys, usize),
}

/// The names of a list that begin with a text and have not come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RemainingKeys {
    /// The list.
    pub(crate) list: KeyListId,
    /// The text.
    pub(crate) text: TextId,
    /// The names that have come.
    pub(crate) come: KeySetId,
}

/// Names, or other texts, that begin with a text and may not come.
#[derive(Clone, Debug)]
pub(crate) struct SeenKeys {
    text: TextId,
    /// Those that have come, and others.
    come: KeySetId,
    never: SomeKeys,
}

impl SeenKeys {
    /// Those of some texts that begin with one.
    pub(super) fn texts(text: TextId, come: KeySetId) -> Self {
        let never = SomeKeys::new();
        Self { text, come, never }
    }

    /// The text that they begin with, and the names that have come, whatever these begin with.
    pub(crate) fn begun_and_come(&self) -> (TextId, KeySetId) {
        (self.text, self.come)
    }
}

/// Names, of which there mostly are few.
pub(crate) type SomeKeys = SmallVec<[TextId; 12]>;

impl Automaton {
    /// The opening quote of a name.
    pub(super) fn key(&mut self, stack: StackId) -> Step {
        let empty = self.texts.intern("");
        let top = Top::Key(Decode::default(), empty, NextKeys::Unopened);
        Ok(self.has_next_name(stack)?.then_some(State::new(top, stack)))
    }

    pub(super) fn opened(&mut self, names: NextKeys, stack: StackId) -> Result<NextKeys, AutomatonError> {
        match names {
            NextKeys::Unopened => self.next_keys(stack),
            names => Ok(names),
        }
    }

    pub(super) fn in_key(&mut self, decode: Decode, text: TextId, names: NextKeys, stack: StackId, byte: u8) -> Step {
        let stay = |top: Top| Ok(Some(State::new(top, stack)));
        match decode.step(byte, self.style.escapes) {
            Decoded::Refused => Ok(None),
            Decoded::Partial(decode) => {
                let names = self.opened(names, stack)?;
                match self.name_may_follow(decode, (text, names), stack)? {
                    true => stay(Top::Key(decode, text, names)),
                    false => Ok(None),
                }
            }
            Decoded::Character(character) => self.character_of_key(character, (text, names), stack),
            Decoded::End => {
                let names = self.opened(names, stack)?;
                match self.name_may_end(text, names, stack)? {
                    true => stay(Top::Colon(text)),
                    false => Ok(None),
                }
            }
        }
    }

    /// The place after the characters that come first in `bytes` and stand for themselves in a name, and how many these
    /// are, where names are told apart by lists only: so what was read before each is not looked up. None where it is not
    /// so easy.
    pub(super) fn read_in_name(
        &mut self,
        at: State,
        bytes: &[u8],
    ) -> Result<Option<(Option<State>, usize)>, AutomatonError> {
        let Top::Key(Decode::Between, text, names) = at.top else {
            return Ok(None);
        };
        let Some(more) = several_plain(bytes) else {
            return Ok(None);
        };
        let names = self.opened(names, at.stack)?;
        if !matches!(names, NextKeys::Any | NextKeys::Listed(_) | NextKeys::Of(_)) {
            return Ok(None);
        }
        let count = more.len();
        let longer = self.texts.extended(text, more);
        if !self.some_begin_with(longer, names, at.stack) {
            return Ok(Some((None, count)));
        }
        let next = State::new(Top::Key(Decode::default(), longer, names), at.stack);
        Ok(Some((self.if_apart(Some(next))?, count)))
    }

    /// Whether a place before all characters of a name cannot go on with a byte, if that is seen at once.
    pub(crate) fn begins_no_name(&mut self, at: State, byte: u8) -> Result<bool, AutomatonError> {
        let Top::Key(Decode::Between, text, names) = at.top else {
            return Ok(false);
        };
        if !is_plain(byte) || !self.texts.get(text).is_empty() {
            return Ok(false);
        }
        Ok(match self.opened(names, at.stack)? {
            NextKeys::Listed(list) | NextKeys::Of(list) => {
                let list = self.name_list(list);
                !list.excludes && !list.has_first(byte)
            }
            _ => false,
        })
    }

    /// The place after one more character of a name.
    pub(super) fn character_of_key(
        &mut self,
        character: char,
        (text, names): (TextId, NextKeys),
        stack: StackId,
    ) -> Step {
        let longer = self.texts.longer(text, character);
        let names = self.opened(names, stack)?;
        let names = match names {
            NextKeys::None | NextKeys::Unopened => return Ok(None),
            NextKeys::Any | NextKeys::Listed(_) | NextKeys::Of(_) => {
                if !self.some_begin_with(longer, names, stack) {
                    return Ok(None);
                }
                names
            }
            NextKeys::Language(language) => {
                let after = self.languages.derivative(language, character)?;
                if self.languages.is_empty(after)? {
                    return Ok(None);
                }
                NextKeys::Language(after)
            }
            NextKeys::In(language) => {
                let after = self.languages.derivative(language, character)?;
                let come = self.count_come_with(self.come(stack), longer);
                if !self.has_more(after, come)? {
                    return Ok(None);
                }
                NextKeys::In(after)
            }
        };
        Ok(Some(State::new(Top::Key(Decode::default(), longer, names), stack)))
    }

    /// Whether a name may end after `text`.
    fn name_may_end(&mut self, text: TextId, names: NextKeys, stack: StackId) -> Result<bool, AutomatonError> {
        Ok(match names {
            NextKeys::None | NextKeys::Unopened => false,
            NextKeys::Any => match self.frame(stack) {
                Some(frame) => !self.has_come(&frame.kind, text) && !self.barred(frame.formulas[0])?.contains(&text),
                None => false,
            },
            NextKeys::In(language) => {
                let has = self.frame(stack).is_some_and(|frame| self.has_come(&frame.kind, text));
                !has && self.languages.accepts_empty(language)
            }
            NextKeys::Listed(list) => {
                let is_listed = self.is_listed(list, text);
                is_listed != self.name_list(list).excludes
            }
            NextKeys::Of(list) => {
                let has = self.frame(stack).is_some_and(|frame| self.has_come(&frame.kind, text));
                !has && self.is_listed(list, text)
            }
            NextKeys::Language(language) => self.languages.accepts_empty(language),
        })
    }

    /// The names that a plain object with room for any other cannot have. Mostly there are none.
    fn barred(&mut self, formula: FormulaId) -> Result<Arc<[TextId]>, AutomatonError> {
        if let Some(known) = self.barred.get(&formula) {
            return Ok(known.clone());
        }
        let mut barred = Vec::new();
        if let Some(plain) = self.plain(formula) {
            for name in self.names(formula) {
                if !self.plain_may_come(&plain, name)? {
                    barred.push(name);
                }
            }
        }
        let barred: Arc<[TextId]> = barred.into();
        self.barred.insert(formula, barred.clone());
        Ok(barred)
    }

    /// A list of names.
    pub(super) fn name_list(&self, list: KeyListId) -> &KeyList {
        &self.name_lists[list.0 as usize]
    }

    pub(super) fn add_name_list(&mut self, list: KeyList) -> KeyListId {
        let id = KeyListId(self.name_lists.len() as u32);
        self.name_lists.push(Arc::new(list));
        id
    }

    /// Whether a name is on a list.
    pub(crate) fn is_listed(&self, list: KeyListId, name: TextId) -> bool {
        // Of all that begin with a text it comes first itself.
        self.listed_with(list, name).first() == Some(&name)
    }

    /// The names of a list that begin with a text, sorted by their characters.
    pub(crate) fn listed_with(&self, list: KeyListId, text: TextId) -> &[TextId] {
        self.beginning_with(&self.name_list(list).names, text)
    }

    /// The names that have come in an object.
    fn come(&self, stack: StackId) -> KeySetId {
        let frame = self.frames.get(stack.0 as usize);
        frame.map_or(KeySetId::EMPTY, |frame| frame.kind.used())
    }

    /// Number of the names of a list that begin with a text and have not come in a plain object, of which it says which
    /// names may come first.
    pub(super) fn count_left(&self, list: KeyListId, text: TextId, stack: StackId) -> usize {
        self.count_between((list, text), stack, |_| false, |_| false)
    }

    /// Number of the names that have come and begin with a text.
    fn count_come_with(&self, come: KeySetId, text: TextId) -> u64 {
        self.key_sets.beginning_with(come, self.texts.get(text), &self.texts) as u64
    }

    /// How many texts of a language begin with one of some characters, given as ranges without what they have in common:
    /// up to so many, all others counted as one more.
    pub(crate) fn count_behind(
        &mut self,
        language: LanguageId,
        characters: &[(u32, u32)],
        up_to: u64,
    ) -> Result<u64, AutomatonError> {
        let mut count = 0;
        for &(range, target) in self.languages.transitions(language)?.iter() {
            for &(first, last) in characters {
                let (first, last) = (first.max(range.first().into()), last.min(range.last().into()));
                if first > last {
                    continue;
                }
                let texts = match self.languages.cardinality(target, (up_to + 1).next_power_of_two())? {
                    Cardinality::Finite(texts) => texts,
                    Cardinality::AtLeast(_) | Cardinality::Infinite => return Ok(up_to + 1),
                };
                // Surrogates are no characters.
                let surrogates = u64::from((last + 1).min(0xE000).saturating_sub(first.max(0xD800)));
                count += texts
                    .saturating_mul(u64::from(last - first) + 1 - surrogates)
                    .min(up_to + 1);
                if count > up_to {
                    return Ok(up_to + 1);
                }
            }
        }
        Ok(count)
    }

    /// The same of those that have a character of a range behind the text.
    fn count_left_behind(&self, list: KeyListId, text: TextId, (first, last): (u32, u32), stack: StackId) -> usize {
        let read = self.texts.get(text).len();
        let next = |name: &str| name[read..].chars().next().map(u32::from);
        let is_before = |name: &str| next(name) < Some(first);
        self.count_between((list, text), stack, is_before, |name| next(name) > Some(last))
    }

    /// The same of those that are neither before nor behind a range of the names that begin with the text.
    fn count_between(
        &self,
        (list, text): (KeyListId, TextId),
        stack: StackId,
        is_before: impl Fn(&str) -> bool,
        is_behind: impl Fn(&str) -> bool,
    ) -> usize {
        let Some(frame) = self.frames.get(stack.0 as usize) else {
            return 0;
        };
        let begun = self.texts.get(text);
        let begins = |name: &str| name.starts_with(begun);
        let is_before = |name: &str| if begins(name) { is_before(name) } else { name < begun };
        let is_not_behind = |name: &str| if begins(name) { !is_behind(name) } else { name < begun };
        let names = &self.name_list(list).names;
        let listed = |holds: &dyn Fn(&str) -> bool| names.partition_point(|name| holds(self.texts.get(*name)));
        let come = |holds: &dyn Fn(&str) -> bool| {
            let come = frame.kind.used();
            self.key_sets.partition_point(come, &self.texts, holds)
        };
        let listed = listed(&is_not_behind) - listed(&is_before);
        // Names that have come are among those that may come first.
        listed.saturating_sub(come(&is_not_behind) - come(&is_before))
    }

    /// Those of a list that have not come in an object and begin with a text, sorted by their characters.
    pub(super) fn left_of(&self, list: KeyListId, text: TextId, stack: StackId) -> impl Iterator<Item = TextId> {
        self.names_left(RemainingKeys {
            list,
            text,
            come: self.come(stack),
        })
    }

    /// Names that have not come, sorted by their characters.
    pub(crate) fn names_left(&self, left: RemainingKeys) -> impl Iterator<Item = TextId> {
        let names = self.listed_with(left.list, left.text).iter().copied();
        names.filter(move |name| !self.has_name(left.come, *name))
    }

    /// The first and the last of some names that have not come.
    pub(super) fn ends_left(&self, left: RemainingKeys) -> (Option<TextId>, Option<TextId>) {
        let names = self.listed_with(left.list, left.text);
        // Names that have come are on the list, so that they are counted by where they stand.
        let come = |name: &str| {
            self.key_sets
                .partition_point(left.come, &self.texts, |other| other < name)
        };
        let before = come(self.texts.get(left.text));
        let left_before = |place: usize| match names.get(place) {
            Some(name) => place.saturating_sub(come(self.texts.get(*name)).saturating_sub(before)),
            None => {
                let text = self.texts.get(left.text);
                let gone = self.key_sets.beginning_with(left.come, text, &self.texts);
                names.len().saturating_sub(gone)
            }
        };
        let all = left_before(names.len());
        // The place with so many left before it and at it one more.
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

    /// Whether a name is one of those that have come.
    pub(crate) fn has_name(&self, come: KeySetId, name: TextId) -> bool {
        self.key_sets.has(come, name, &self.texts)
    }

    /// The names that have come of one set or another but not of both, with whether that is the second.
    pub(crate) fn names_that_differ(&mut self, one: KeySetId, other: KeySetId) -> Vec<(TextId, bool)> {
        self.key_sets.differences(one, other, &self.texts)
    }

    /// Number of names that have come or may never.
    pub(crate) fn count_come(&self, names: &SeenKeys) -> usize {
        let text = self.texts.get(names.text);
        names.never.len() + self.key_sets.beginning_with(names.come, text, &self.texts)
    }

    /// Them.
    pub(crate) fn names_come(&self, names: &SeenKeys) -> SomeKeys {
        self.names_come_where(names, |_| true)
    }

    /// Those of them for whose text, behind what they begin with, something holds.
    pub(crate) fn names_come_where(&self, names: &SeenKeys, holds: impl Fn(&str) -> bool) -> SomeKeys {
        let text = self.texts.get(names.text);
        let holds = |name: TextId| holds(&self.texts.get(name)[text.len()..]);
        let mut come: SomeKeys = names.never.iter().copied().filter(|name| holds(*name)).collect();
        self.key_sets.each(names.come, text, &self.texts, |name| {
            if holds(name) {
                come.push(name);
            }
        });
        come
    }

    /// The name of a list that has `more` behind a text.
    pub(crate) fn name_listed(&mut self, left: RemainingKeys, more: &str) -> Option<TextId> {
        let name = self.texts.find_extended(left.text, more)?;
        self.is_listed(left.list, name).then_some(name)
    }

    /// The one of them that has `more` behind what it begins with.
    pub(crate) fn name_come(&mut self, names: &SeenKeys, more: &str) -> Option<TextId> {
        let name = self.texts.find_extended(names.text, more)?;
        (names.never.contains(&name) || self.has_name(names.come, name)).then_some(name)
    }

    /// Whether a text is the beginning of a name that may come, where those are told apart by lists.
    fn some_begin_with(&self, text: TextId, names: NextKeys, stack: StackId) -> bool {
        match names {
            NextKeys::Listed(list) => self.name_list(list).excludes || !self.listed_with(list, text).is_empty(),
            NextKeys::Of(list) => self.count_left(list, text, stack) > 0,
            _ => true,
        }
    }

    /// Whether a name goes on after `read` bytes with a character of some ranges.
    pub(super) fn has_extension_with(&self, name: TextId, read: usize, ranges: &[(u32, u32)]) -> bool {
        let next = self.texts.get(name)[read..].chars().next().map(u32::from);
        next.is_some_and(|next| ranges.iter().any(|(first, last)| (*first..=*last).contains(&next)))
    }

    /// Whether a character of a name that `decode` may still become can follow `text`.
    pub(super) fn name_may_follow(
        &mut self,
        decode: Decode,
        (text, names): (TextId, NextKeys),
        stack: StackId,
    ) -> Result<bool, AutomatonError> {
        let read = self.texts.get(text).len();
        match names {
            NextKeys::None | NextKeys::Unopened => Ok(false),
            NextKeys::Any => Ok(!decode.possible(self.style.escapes).is_empty()),
            NextKeys::Listed(list) => {
                if self.name_list(list).excludes {
                    return Ok(!decode.possible(self.style.escapes).is_empty());
                }
                let possible = decode.possible(self.style.escapes);
                let mut names = self.listed_with(list, text).iter();
                Ok(names.any(|name| self.has_extension_with(*name, read, &possible)))
            }
            NextKeys::Of(list) => {
                let possible = decode.possible(self.style.escapes);
                Ok(possible
                    .iter()
                    .any(|range| self.count_left_behind(list, text, *range, stack) > 0))
            }
            NextKeys::Language(language) => self.may_follow(decode, language),
            NextKeys::In(language) => {
                let possible = decode.possible(self.style.escapes);
                let come = self.key_sets.names(self.come(stack), self.texts.get(text), &self.texts);
                let come = come
                    .iter()
                    .filter(|name| self.has_extension_with(**name, read, &possible));
                match come.count() as u64 {
                    0 => self.may_follow(decode, language),
                    come => Ok(self.count_behind(language, &possible, come)? > come),
                }
            }
        }
    }

    /// Whether the names that may come are a list, or all but a list.
    pub(super) fn are_listed(&mut self, names: NextKeys, stack: StackId) -> Result<bool, AutomatonError> {
        let names = self.opened(names, stack)?;
        Ok(matches!(names, NextKeys::Listed(_) | NextKeys::Of(_) | NextKeys::Any))
    }

    /// Those of some names, sorted by their characters, that begin with a text.
    pub(super) fn beginning_with<'a>(&self, names: &'a [TextId], text: TextId) -> &'a [TextId] {
        let text = self.texts.get(text);
        let from = names.partition_point(|name| self.texts.get(*name) < text);
        let count = names[from..].partition_point(|name| self.texts.get(*name).starts_with(text));
        &names[from..from + count]
    }

    /// What may follow the characters of a name that a place is in.
    pub(crate) fn name_rests(&mut self, at: State) -> Result<RemainingKeyText, AutomatonError> {
        let Top::Key(_, text, names) = at.top else {
            return Ok(RemainingKeyText::These(SomeKeys::new(), 0));
        };
        let come = self.come(at.stack);
        let read = self.texts.get(text).len();
        Ok(match self.opened(names, at.stack)? {
            NextKeys::Any => {
                let Some(frame) = self.frame(at.stack) else {
                    return Ok(RemainingKeyText::These(SomeKeys::new(), 0));
                };
                let barred = self.barred(frame.formulas[0])?;
                let begun = self.texts.get(text);
                let never = barred.iter().copied();
                let never = never.filter(|name| self.texts.get(*name).starts_with(begun)).collect();
                RemainingKeyText::AllBut(SeenKeys { text, come, never }, read)
            }
            NextKeys::In(language) => RemainingKeyText::Language(language, SeenKeys::texts(text, come), read),
            NextKeys::Of(list) => match self.listed_with(list, text).len() {
                MANY_LISTED.. => RemainingKeyText::Left(RemainingKeys { list, text, come }),
                _ => RemainingKeyText::These(self.left_of(list, text, at.stack).collect(), read),
            },
            NextKeys::Listed(list) => {
                let list = self.name_lists[list.0 as usize].clone();
                let mut names: SomeKeys = self.beginning_with(&list.names, text).into();
                // Nor may those come after which the object could only become what it must not.
                for name in self.names_apart(at.stack)? {
                    if !self.texts.get(name).starts_with(self.texts.get(text)) {
                        continue;
                    }
                    let place = names.iter().position(|one| *one == name);
                    if place.is_some() != list.excludes && !self.member_apart(name, at.stack)? {
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
                            come: KeySetId::EMPTY,
                            never: names,
                        },
                        read,
                    ),
                    false => RemainingKeyText::These(names, read),
                }
            }
            NextKeys::Language(language) => {
                RemainingKeyText::Language(language, SeenKeys::texts(text, KeySetId::EMPTY), 0)
            }
            NextKeys::None | NextKeys::Unopened => RemainingKeyText::These(SomeKeys::new(), 0),
        })
    }

    /// A name.
    pub(crate) fn name_text(&self, name: TextId) -> &str {
        self.texts.get(name)
    }

    /// The same, to be kept while other things are worked out.
    pub(crate) fn shared_name_text(&self, name: TextId) -> Arc<str> {
        self.texts.shared(name)
    }

    /// What may follow the characters of a name that a place is in, as a language.
    pub(crate) fn name_language(&mut self, at: State) -> Result<LanguageId, AutomatonError> {
        let of = |names: &[TextId], read: usize, this: &mut Self| {
            let rests: Vec<&str> = names.iter().map(|name| &this.texts.get(*name)[read..]).collect();
            this.languages.one_of(&rests)
        };
        Ok(match self.name_rests(at)? {
            RemainingKeyText::These(names, read) => of(&names, read, self)?,
            RemainingKeyText::Left(left) => {
                let names: Vec<TextId> = self.names_left(left).collect();
                of(&names, self.texts.get(left.text).len(), self)?
            }
            RemainingKeyText::AllBut(names, read) => {
                let rests = of(&self.names_come(&names), read, self)?;
                self.languages.not(rests)?
            }
            RemainingKeyText::Language(language, names, read) => {
                let rests = of(&self.names_come(&names), read, self)?;
                let others = self.languages.not(rests)?;
                self.languages.and(&[language, others])?
            }
        })
    }
}
