//! CellKeys of members: places within them, and what may follow there.
//!
//! Mostly the names that may come are a list, or all but a list. Such a list is looked through by what was read of a
//! name, so that a member read costs no language. Only where patterns tell names apart are they a language.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::keys::sets::KeySetId;
use crate::automaton::formula::texts::TextId;
use crate::automaton::search::key_list::{KeyListId, NextKeys};
use crate::automaton::step::machine::Automaton;
use crate::automaton::step::state::{Cursor, StackId, State};
use crate::strings::LanguageId;
use smallvec::SmallVec;
use std::sync::Arc;

/// CellKeys of a list from which on those that have not come are not listed anew for every place.
const MANY_LISTED: usize = 32;

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

/// CellKeys, or other texts, that begin with a text and may not come.
#[derive(Clone, Debug)]
pub(crate) struct SeenKeys {
    text: TextId,
    /// Those that have come, and others.
    come: KeySetId,
    never: SomeKeys,
}

impl SeenKeys {
    /// Those of some texts that begin with one.
    pub(crate) fn texts(text: TextId, come: KeySetId) -> Self {
        let never = SomeKeys::new();
        Self { text, come, never }
    }

    /// The text that they begin with, and the names that have come, whatever these begin with.
    pub(crate) fn begun_and_come(&self) -> (TextId, KeySetId) {
        (self.text, self.come)
    }
}

/// CellKeys, of which there mostly are few.
pub(crate) type SomeKeys = SmallVec<[TextId; 12]>;

impl Automaton {
    /// The keys of a list that begin with a text, sorted by their characters.
    pub(crate) fn listed_with(&self, list: KeyListId, text: TextId) -> &[TextId] {
        self.search.listed_with(list, text)
    }

    /// The names that have come in an object.
    pub(super) fn come(&self, stack: StackId) -> KeySetId {
        let frame = self.frames.all.get(stack.0 as usize);
        frame.map_or(KeySetId::EMPTY, |frame| frame.kind.used())
    }

    /// Number of the names of a list that begin with a text and have not come in a plain object, of which it says which
    /// names may come first.
    pub(super) fn count_left(&self, list: KeyListId, text: TextId, stack: StackId) -> usize {
        self.count_between((list, text), stack, |_| false, |_| false)
    }

    /// Number of the names that have come and begin with a text.
    pub(super) fn count_come_with(&self, come: KeySetId, text: TextId) -> u64 {
        self.search.algebra.key_sets.beginning_with(
            come,
            self.search.algebra.texts.get(text),
            &self.search.algebra.texts,
        ) as u64
    }

    /// The same of those that have a character of a range behind the text.
    pub(super) fn count_left_behind(
        &self,
        list: KeyListId,
        text: TextId,
        (first, last): (u32, u32),
        stack: StackId,
    ) -> usize {
        let read = self.search.algebra.texts.get(text).len();
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
        let Some(frame) = self.frames.all.get(stack.0 as usize) else {
            return 0;
        };
        let begun = self.search.algebra.texts.get(text);
        let begins = |name: &str| name.starts_with(begun);
        let is_before = |name: &str| if begins(name) { is_before(name) } else { name < begun };
        let is_not_behind = |name: &str| if begins(name) { !is_behind(name) } else { name < begun };
        let names = &self.search.name_list(list).names;
        let listed =
            |holds: &dyn Fn(&str) -> bool| names.partition_point(|name| holds(self.search.algebra.texts.get(*name)));
        let come = |holds: &dyn Fn(&str) -> bool| {
            let come = frame.kind.used();
            self.search
                .algebra
                .key_sets
                .partition_point(come, &self.search.algebra.texts, holds)
        };
        let listed = listed(&is_not_behind) - listed(&is_before);
        // CellKeys that have come are among those that may come first.
        listed.saturating_sub(come(&is_not_behind) - come(&is_before))
    }

    /// Those of a list that have not come in an object and begin with a text, sorted by their characters.
    pub(crate) fn left_of(&self, list: KeyListId, text: TextId, stack: StackId) -> impl Iterator<Item = TextId> {
        self.names_left(RemainingKeys {
            list,
            text,
            come: self.come(stack),
        })
    }

    /// CellKeys that have not come, sorted by their characters.
    pub(crate) fn names_left(&self, left: RemainingKeys) -> impl Iterator<Item = TextId> {
        let names = self.search.listed_with(left.list, left.text).iter().copied();
        names.filter(move |name| !self.has_name(left.come, *name))
    }

    /// The first and the last of some names that have not come.
    pub(crate) fn ends_left(&self, left: RemainingKeys) -> (Option<TextId>, Option<TextId>) {
        let names = self.search.listed_with(left.list, left.text);
        // CellKeys that have come are on the list, so that they are counted by where they stand.
        let come = |name: &str| {
            self.search
                .algebra
                .key_sets
                .partition_point(left.come, &self.search.algebra.texts, |other| other < name)
        };
        let before = come(self.search.algebra.texts.get(left.text));
        let left_before = |place: usize| match names.get(place) {
            Some(name) => place.saturating_sub(come(self.search.algebra.texts.get(*name)).saturating_sub(before)),
            None => {
                let text = self.search.algebra.texts.get(left.text);
                let gone = self
                    .search
                    .algebra
                    .key_sets
                    .beginning_with(left.come, text, &self.search.algebra.texts);
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
        self.search.algebra.key_sets.has(come, name, &self.search.algebra.texts)
    }

    /// The names that have come of one set or another but not of both, with whether that is the second.
    pub(crate) fn names_that_differ(&mut self, one: KeySetId, other: KeySetId) -> Vec<(TextId, bool)> {
        self.search
            .algebra
            .key_sets
            .differences(one, other, &self.search.algebra.texts)
    }

    /// Number of names that have come or may never.
    pub(crate) fn count_come(&self, names: &SeenKeys) -> usize {
        let text = self.search.algebra.texts.get(names.text);
        names.never.len()
            + self
                .search
                .algebra
                .key_sets
                .beginning_with(names.come, text, &self.search.algebra.texts)
    }

    /// Them.
    pub(crate) fn names_come(&self, names: &SeenKeys) -> SomeKeys {
        self.names_come_where(names, |_| true)
    }

    /// Those of them for whose text, behind what they begin with, something holds.
    pub(crate) fn names_come_where(&self, names: &SeenKeys, holds: impl Fn(&str) -> bool) -> SomeKeys {
        let text = self.search.algebra.texts.get(names.text);
        let holds = |name: TextId| holds(&self.search.algebra.texts.get(name)[text.len()..]);
        let mut come: SomeKeys = names.never.iter().copied().filter(|name| holds(*name)).collect();
        self.search
            .algebra
            .key_sets
            .each(names.come, text, &self.search.algebra.texts, |name| {
                if holds(name) {
                    come.push(name);
                }
            });
        come
    }

    /// The name of a list that has `more` behind a text.
    pub(crate) fn name_listed(&mut self, left: RemainingKeys, more: &str) -> Option<TextId> {
        let name = self.search.algebra.texts.find_extended(left.text, more)?;
        self.search.is_listed(left.list, name).then_some(name)
    }

    /// The one of them that has `more` behind what it begins with.
    pub(crate) fn name_come(&mut self, names: &SeenKeys, more: &str) -> Option<TextId> {
        let name = self.search.algebra.texts.find_extended(names.text, more)?;
        (names.never.contains(&name) || self.has_name(names.come, name)).then_some(name)
    }

    /// What may follow the characters of a name that a place is in.
    pub(crate) fn name_rests(&mut self, at: State) -> Result<RemainingKeyText, AutomatonError> {
        let Cursor::Key(_, text, names) = at.cursor else {
            return Ok(RemainingKeyText::These(SomeKeys::new(), 0));
        };
        let come = self.come(at.stack);
        let read = self.search.algebra.texts.get(text).len();
        Ok(match self.opened(names, at.stack)? {
            NextKeys::Any => {
                let Some(frame) = self.frame(at.stack) else {
                    return Ok(RemainingKeyText::These(SomeKeys::new(), 0));
                };
                let barred = self.search.barred(frame.formulas[0])?;
                let begun = self.search.algebra.texts.get(text);
                let never = barred.iter().copied();
                let never = never
                    .filter(|name| self.search.algebra.texts.get(*name).starts_with(begun))
                    .collect();
                RemainingKeyText::AllBut(SeenKeys { text, come, never }, read)
            }
            NextKeys::In(language) => RemainingKeyText::Language(language, SeenKeys::texts(text, come), read),
            NextKeys::Of(list) => match self.search.listed_with(list, text).len() {
                MANY_LISTED.. => RemainingKeyText::Left(RemainingKeys { list, text, come }),
                _ => RemainingKeyText::These(self.left_of(list, text, at.stack).collect(), read),
            },
            NextKeys::Listed(list) => {
                let list = self.search.key_lists[list.0 as usize].clone();
                let mut names: SomeKeys = self.search.algebra.beginning_with(&list.names, text).into();
                // Nor may those come after which the object could only become what it must not.
                for name in self.names_apart(at.stack)? {
                    if !self
                        .search
                        .algebra
                        .texts
                        .get(name)
                        .starts_with(self.search.algebra.texts.get(text))
                    {
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
        self.search.algebra.texts.get(name)
    }

    /// The same, to be kept while other things are worked out.
    pub(crate) fn shared_name_text(&self, name: TextId) -> Arc<str> {
        self.search.algebra.texts.shared(name)
    }

    /// What may follow the characters of a name that a place is in, as a language.
    pub(crate) fn name_language(&mut self, at: State) -> Result<LanguageId, AutomatonError> {
        let of = |names: &[TextId], read: usize, this: &mut Self| {
            let rests: Vec<&str> = names
                .iter()
                .map(|name| &this.search.algebra.texts.get(*name)[read..])
                .collect();
            this.search.algebra.languages.one_of(&rests)
        };
        Ok(match self.name_rests(at)? {
            RemainingKeyText::These(names, read) => of(&names, read, self)?,
            RemainingKeyText::Left(left) => {
                let names: Vec<TextId> = self.names_left(left).collect();
                of(&names, self.search.algebra.texts.get(left.text).len(), self)?
            }
            RemainingKeyText::AllBut(names, read) => {
                let rests = of(&self.names_come(&names), read, self)?;
                self.search.algebra.languages.not(rests)?
            }
            RemainingKeyText::Language(language, names, read) => {
                let rests = of(&self.names_come(&names), read, self)?;
                let others = self.search.algebra.languages.not(rests)?;
                self.search.algebra.languages.and(&[language, others])?
            }
        })
    }
}
