//! Names of members: which may come next, and places within them.
//!
//! Mostly the names that may come are a list, or all but a list. Such a list is looked through by what was read of a
//! name, so that a member read costs no language. Only where patterns tell names apart are they a language.

use std::sync::Arc;

use hashbrown::HashSet;
use smallvec::SmallVec;

use super::{Automaton, Derived, Kind, Level, StackId, State, Step, Top, Trouble};
use crate::automaton::atom::TextId;
use crate::automaton::decision::DecisionId;
use crate::automaton::decode::{Decode, Decoded};
use crate::automaton::formula::FormulaId;
use crate::automaton::read::Name;
use crate::automaton::satisfiable::{Cell, MOST_LISTED, Names, Room};
use crate::strings::{Cardinality, LanguageId};

/// Names of one object from which on it pays to look for a way to complete it with all of them.
const MANY: usize = 16;
/// Names from which on it pays to take the order from a list instead of comparing them.
const MANY_SORTED: usize = 16;

/// The names that may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum NextNames {
    /// None.
    None,
    /// Some, which have not been looked at yet: nothing has been read of the name.
    Unopened,
    /// Any that has not come and of which a member can come.
    Any,
    /// By a list, whatever has been read of the name.
    Listed(ListId),
    /// Those of a list that have not come.
    Of(ListId),
    /// Those of a language that have not come, none of which leaves nothing else to become: what may follow.
    In(LanguageId),
    /// By a language: what may follow.
    Language(LanguageId),
}

/// A [`NameList`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ListId(u32);

/// The names of a list, or all others.
#[derive(Debug)]
pub(in crate::automaton) struct NameList {
    /// Sorted by their characters.
    names: Box<[TextId]>,
    /// Whether the names listed are those that may not come.
    excludes: bool,
}

/// What may follow of a name.
#[derive(Clone, Debug)]
pub(crate) enum NameRests {
    /// What these have after so many bytes.
    These(SomeNames, usize),
    /// Anything but what these have after so many bytes.
    AllBut(SomeNames, usize),
    /// The texts of a language, but for what these have after so many bytes.
    Language(LanguageId, SomeNames, usize),
}

/// Names, of which there mostly are few.
pub(crate) type SomeNames = SmallVec<[TextId; 12]>;

/// More names of a language than ever come in one object that is told apart by them.
const MANY_LEFT: u64 = 1 << 12;

impl Automaton {
    /// The opening quote of a name.
    pub(super) fn key(&mut self, stack: StackId) -> Step {
        let empty = self.texts.intern("");
        let top = Top::Key(Decode::default(), empty, NextNames::Unopened);
        Ok(self.has_next_name(stack)?.then_some(State::new(top, stack)))
    }

    /// Whether another member may come in the innermost object.
    pub(super) fn has_next_name(&mut self, stack: StackId) -> Result<bool, Trouble> {
        let Some(level) = self.level(stack) else {
            return Ok(false);
        };
        // Mostly there is room for any other name, and then it does not matter which names have come.
        if self.has_room(&level)? || self.has_listed_name(&level)? {
            return Ok(true);
        }
        Ok(self.next_names(stack)? != NextNames::None)
    }

    /// Whether one of the names that a plain object lists may come next, where that is seen at once.
    fn has_listed_name(&mut self, level: &Level) -> Result<bool, Trouble> {
        let Kind::Object { used, .. } = &level.kind else {
            return Ok(false);
        };
        let Derived(Some(plain)) = &level.plain else {
            return Ok(false);
        };
        for name in plain.asked.names() {
            if used.binary_search(&name).is_err() && self.plain_may_come(&plain.asked, name)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) fn opened(&mut self, names: NextNames, stack: StackId) -> Result<NextNames, Trouble> {
        match names {
            NextNames::Unopened => self.next_names(stack),
            names => Ok(names),
        }
    }

    pub(super) fn in_key(&mut self, decode: Decode, text: TextId, names: NextNames, stack: StackId, byte: u8) -> Step {
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
    pub(super) fn read_in_name(&mut self, at: State, bytes: &[u8]) -> Result<Option<(Option<State>, usize)>, Trouble> {
        let Top::Key(Decode::Between, text, names) = at.top else {
            return Ok(None);
        };
        let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
        let count = bytes.iter().take_while(|byte| is_plain(byte)).count();
        if count < 2 {
            return Ok(None);
        }
        let names = self.opened(names, at.stack)?;
        if !matches!(names, NextNames::Any | NextNames::Listed(_) | NextNames::Of(_)) {
            return Ok(None);
        }
        let Ok(more) = std::str::from_utf8(&bytes[..count]) else {
            return Ok(None);
        };
        let longer = self.texts.extended(text, more);
        if !self.some_begin_with(longer, names, at.stack) {
            return Ok(Some((None, count)));
        }
        let next = State::new(Top::Key(Decode::default(), longer, names), at.stack);
        Ok(Some((self.if_apart(Some(next))?, count)))
    }

    /// The place after one more character of a name.
    pub(super) fn character_of_key(
        &mut self,
        character: char,
        (text, names): (TextId, NextNames),
        stack: StackId,
    ) -> Step {
        let longer = self.texts.longer(text, character);
        let names = self.opened(names, stack)?;
        let names = match names {
            NextNames::None | NextNames::Unopened => return Ok(None),
            NextNames::Any | NextNames::Listed(_) | NextNames::Of(_) => {
                if !self.some_begin_with(longer, names, stack) {
                    return Ok(None);
                }
                names
            }
            NextNames::Language(language) | NextNames::In(language) => {
                let after = self.languages.derivative(language, character)?;
                if self.languages.is_empty(after)? {
                    return Ok(None);
                }
                match names {
                    NextNames::In(_) => NextNames::In(after),
                    _ => NextNames::Language(after),
                }
            }
        };
        Ok(Some(State::new(Top::Key(Decode::default(), longer, names), stack)))
    }

    /// Whether a name may end after `text`.
    fn name_may_end(&mut self, text: TextId, names: NextNames, stack: StackId) -> Result<bool, Trouble> {
        Ok(match names {
            NextNames::None | NextNames::Unopened => false,
            NextNames::Any => match self.level(stack) {
                Some(level) => !level.kind.has(text) && !self.barred(level.formulas[0])?.contains(&text),
                None => false,
            },
            NextNames::In(language) => {
                let has = self.level(stack).is_some_and(|level| level.kind.has(text));
                !has && self.languages.accepts_empty(language)
            }
            NextNames::Listed(list) => {
                let list = &self.name_lists[list.0 as usize];
                // Of all that begin with a text it comes first itself.
                let is_listed = self.beginning_with(&list.names, text).first() == Some(&text);
                is_listed != list.excludes
            }
            NextNames::Of(list) => self.left_of(list, text, stack).next() == Some(text),
            NextNames::Language(language) => self.languages.accepts_empty(language),
        })
    }

    /// The names that a plain object with room for any other cannot have. Mostly there are none.
    fn barred(&mut self, formula: FormulaId) -> Result<Arc<[TextId]>, Trouble> {
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

    /// Those of a list that have not come in an object and begin with a text, sorted by their characters.
    fn left_of(&self, list: ListId, text: TextId, stack: StackId) -> impl Iterator<Item = TextId> {
        let list = &self.name_lists[list.0 as usize];
        let level = self.levels.get(stack.0 as usize);
        let names = self.beginning_with(&list.names, text).iter().copied();
        names.filter(move |name| !level.is_some_and(|level| level.kind.has(*name)))
    }

    /// Whether a text is the beginning of a name that may come, where those are told apart by lists.
    fn some_begin_with(&self, text: TextId, names: NextNames, stack: StackId) -> bool {
        match names {
            NextNames::Listed(list) => {
                let list = &self.name_lists[list.0 as usize];
                list.excludes || !self.beginning_with(&list.names, text).is_empty()
            }
            NextNames::Of(list) => self.left_of(list, text, stack).next().is_some(),
            _ => true,
        }
    }

    /// Whether one of some names goes on after `read` bytes with a character that `decode` may still become.
    fn any_may_follow(&self, decode: Decode, mut names: impl Iterator<Item = TextId>, read: usize) -> bool {
        let possible = decode.possible(self.style.escapes);
        names.any(|name| {
            let next = self.texts.get(name)[read..].chars().next().map(u32::from);
            next.is_some_and(|next| possible.iter().any(|(first, last)| (*first..=*last).contains(&next)))
        })
    }

    /// Whether a character of a name that `decode` may still become can follow `text`.
    pub(super) fn name_may_follow(
        &mut self,
        decode: Decode,
        (text, names): (TextId, NextNames),
        stack: StackId,
    ) -> Result<bool, Trouble> {
        let read = self.texts.get(text).len();
        match names {
            NextNames::None | NextNames::Unopened => Ok(false),
            NextNames::Any => Ok(!decode.possible(self.style.escapes).is_empty()),
            NextNames::Listed(list) => {
                let list = &self.name_lists[list.0 as usize];
                if list.excludes {
                    return Ok(!decode.possible(self.style.escapes).is_empty());
                }
                let names = self.beginning_with(&list.names, text).iter().copied();
                Ok(self.any_may_follow(decode, names, read))
            }
            NextNames::Of(list) => Ok(self.any_may_follow(decode, self.left_of(list, text, stack), read)),
            NextNames::Language(language) | NextNames::In(language) => self.may_follow(decode, language),
        }
    }

    /// Whether the names that may come are a list, or all but a list.
    pub(super) fn are_listed(&mut self, names: NextNames, stack: StackId) -> Result<bool, Trouble> {
        let names = self.opened(names, stack)?;
        Ok(matches!(
            names,
            NextNames::Listed(_) | NextNames::Of(_) | NextNames::Any
        ))
    }

    /// Those of some names, sorted by their characters, that begin with a text.
    pub(super) fn beginning_with<'a>(&self, names: &'a [TextId], text: TextId) -> &'a [TextId] {
        let text = self.texts.get(text);
        let from = names.partition_point(|name| self.texts.get(*name) < text);
        let count = names[from..].partition_point(|name| self.texts.get(*name).starts_with(text));
        &names[from..from + count]
    }

    /// What may follow the characters of a name that a place is in.
    pub(crate) fn name_rests(&mut self, at: State) -> Result<NameRests, Trouble> {
        let Top::Key(_, text, names) = at.top else {
            return Ok(NameRests::These(SomeNames::new(), 0));
        };
        Ok(match self.opened(names, at.stack)? {
            NextNames::Any => {
                let Some(level) = self.level(at.stack) else {
                    return Ok(NameRests::These(SomeNames::new(), 0));
                };
                let barred = self.barred(level.formulas[0])?;
                let names = self.used_with(&level.kind, &barred, text);
                NameRests::AllBut(names, self.texts.get(text).len())
            }
            NextNames::In(language) => {
                let level = self.level(at.stack);
                let names = level.map(|level| self.used_with(&level.kind, &[], text));
                NameRests::Language(language, names.unwrap_or_default(), self.texts.get(text).len())
            }
            NextNames::Of(list) => {
                let names = self.left_of(list, text, at.stack).collect();
                NameRests::These(names, self.texts.get(text).len())
            }
            NextNames::Listed(list) => {
                let list = self.name_lists[list.0 as usize].clone();
                let read = self.texts.get(text).len();
                let mut names: SomeNames = self.beginning_with(&list.names, text).into();
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
                    true => NameRests::AllBut(names, read),
                    false => NameRests::These(names, read),
                }
            }
            NextNames::Language(language) => NameRests::Language(language, SomeNames::new(), 0),
            NextNames::None | NextNames::Unopened => NameRests::These(SomeNames::new(), 0),
        })
    }

    /// The names that have come in an object, and others, that begin with a text.
    fn used_with(&self, kind: &Kind, others: &[TextId], text: TextId) -> SomeNames {
        let Kind::Object { used, .. } = kind else {
            return SomeNames::new();
        };
        let text = self.texts.get(text);
        let names = used.iter().chain(others).copied();
        names.filter(|name| self.texts.get(*name).starts_with(text)).collect()
    }

    /// A name.
    pub(crate) fn name_text(&self, name: TextId) -> &str {
        self.texts.get(name)
    }

    /// What may follow the characters of a name that a place is in, as a language.
    pub(crate) fn name_language(&mut self, at: State) -> Result<LanguageId, Trouble> {
        let of = |names: &[TextId], read: usize, this: &mut Self| {
            let rests: Vec<&str> = names.iter().map(|name| &this.texts.get(*name)[read..]).collect();
            this.languages.one_of(&rests)
        };
        Ok(match self.name_rests(at)? {
            NameRests::These(names, read) => of(&names, read, self)?,
            NameRests::AllBut(names, read) => {
                let rests = of(&names, read, self)?;
                self.languages.not(rests)?
            }
            NameRests::Language(language, names, read) => {
                let rests = of(&names, read, self)?;
                let others = self.languages.not(rests)?;
                self.languages.and(&[language, others])?
            }
        })
    }

    /// The names that may come next in the innermost object.
    pub(super) fn next_names(&mut self, stack: StackId) -> Result<NextNames, Trouble> {
        if let Some(&known) = self.next_names_at.get(&stack) {
            return Ok(known);
        }
        let names = self.find_next_names(stack)?;
        self.next_names_at.insert(stack, names);
        Ok(names)
    }

    fn find_next_names(&mut self, stack: StackId) -> Result<NextNames, Trouble> {
        let Some(level) = self.level(stack) else {
            return Ok(NextNames::None);
        };
        let Kind::Object {
            used, order, passed, ..
        } = &level.kind
        else {
            return Ok(NextNames::None);
        };
        if level.plain.0.as_ref().is_some_and(|plain| plain.has_room) {
            return Ok(NextNames::Any);
        }
        if level.plain.0.is_some()
            && let Some(names) = self.names_but_used(stack, &level)?
        {
            return Ok(names);
        }
        let place = (level.formulas[0], used.clone(), *order, *passed);
        if let Some(&known) = self.next_names.get(&place) {
            return Ok(known);
        }
        let gone = self.gone(&level.kind);
        let listed = self.name_classes(stack)?;
        let listed = listed.as_deref().map_or(&[][..], |classes| &classes.listed);
        let names = self.names_next(level.formulas[0], &self.ordered(*order, *passed), gone, listed)?;
        self.next_names.insert(place, names);
        Ok(names)
    }

    /// The names that may come next in a plain object as those that may come first but for those that have come; none where
    /// these are neither a list nor a language with no end of others that begin with those.
    fn names_but_used(&mut self, stack: StackId, level: &Level) -> Result<Option<NextNames>, Trouble> {
        let Kind::Object { used, .. } = &level.kind else {
            return Ok(None);
        };
        let language = match self.first_names(stack, level.formulas[0])? {
            NextNames::Language(language) => language,
            NextNames::Listed(list_id) => {
                let list = &self.name_lists[list_id.0 as usize];
                let is_left = list.names.iter().any(|name| used.binary_search(name).is_err());
                return Ok(match (list.excludes, is_left) {
                    (true, _) => None,
                    (false, true) => Some(NextNames::Of(list_id)),
                    (false, false) => Some(NextNames::None),
                });
            }
            NextNames::None => return Ok(Some(NextNames::None)),
            _ => return Ok(None),
        };
        if used.len() as u64 >= MANY_LEFT || self.languages.has_machines(language) {
            return Ok(None);
        }
        for &name in used.iter() {
            if !self.goes_on(language, name)? {
                return Ok(None);
            }
        }
        Ok(Some(NextNames::In(language)))
    }

    /// The names that may come first in a plain object.
    fn first_names(&mut self, stack: StackId, formula: FormulaId) -> Result<NextNames, Trouble> {
        if let Some(&known) = self.first_names.get(&formula) {
            return Ok(known);
        }
        let listed = self.name_classes(stack)?;
        let listed = listed.as_deref().map_or(&[][..], |classes| &classes.listed);
        let names = self.names_next(formula, &[], Vec::new(), listed)?;
        self.first_names.insert(formula, names);
        Ok(names)
    }

    /// Whether many names of a language begin with one.
    fn goes_on(&mut self, language: LanguageId, name: TextId) -> Result<bool, Trouble> {
        if let Some(&known) = self.names_going_on.get(&(language, name)) {
            return Ok(known);
        }
        let mut rest = language;
        for character in self.texts.shared(name).chars() {
            rest = self.languages.derivative(rest, character)?;
        }
        let count = self.languages.cardinality(rest, MANY_LEFT)?;
        let goes_on = matches!(count, Cardinality::Infinite | Cardinality::AtLeast(_));
        self.names_going_on.insert((language, name), goes_on);
        Ok(goes_on)
    }

    /// The names that may come next where those of `ordered` come before all others and in that order, and those of
    /// `gone` cannot come any more. Most of them are `listed`, in the order of their characters.
    fn names_next(
        &mut self,
        demand: FormulaId,
        ordered: &[TextId],
        mut gone: Vec<TextId>,
        listed: &[TextId],
    ) -> Result<NextNames, Trouble> {
        let mut viable = Vec::new();
        let mut left = demand;
        if let Some(plain) = self.plain(demand).filter(|plain| plain.min == 0) {
            let passed = ordered.iter().position(|name| plain.required.contains(name));
            let possible = self.object_can_end(demand, &gone)?;
            for &name in &ordered[..passed.map_or(ordered.len(), |passed| passed + 1)] {
                if possible && self.plain_may_come(&plain, name)? {
                    viable.push(name);
                }
            }
            left = match passed.is_none() && possible {
                true => self.without_all(demand, ordered),
                false => FormulaId::FALSE,
            };
            gone.extend_from_slice(ordered);
        } else {
            for &name in ordered {
                if left == FormulaId::FALSE {
                    break;
                }
                if self.may_come(left, name, &gone)? {
                    viable.push(name);
                }
                left = self.without_all(left, &[name]);
                gone.push(name);
            }
        }
        let mut names = Vec::new();
        let mut others = Names::These(Vec::new());
        if left != FormulaId::FALSE {
            names = self.names(left);
            // Of those that have come something may be left.
            let came: HashSet<TextId> = gone.iter().copied().collect();
            names.retain(|name| !came.contains(name));
            self.add_viable(left, &names, &gone, &mut viable)?;
            others = self.other_names(left, &names, &gone)?;
        }
        let taken: HashSet<TextId> = gone.iter().chain(&names).copied().collect();
        match others {
            Names::AllBut(mut excluded) => {
                excluded.extend(taken);
                let viable: HashSet<TextId> = viable.iter().copied().collect();
                excluded.retain(|name| !viable.contains(name));
                self.listed(excluded, true, listed)
            }
            Names::These(names) => {
                viable.extend(names.into_iter().filter(|name| !taken.contains(name)));
                self.listed(viable, false, listed)
            }
            Names::Language(language) => {
                let taken: Vec<TextId> = taken.into_iter().collect();
                let others = self.without_names(language, &taken)?;
                self.named_or(&viable, others)
            }
        }
    }

    /// Those of the names that `left` names that may come next.
    fn add_viable(
        &mut self,
        left: FormulaId,
        names: &[TextId],
        gone: &[TextId],
        viable: &mut Vec<TextId>,
    ) -> Result<(), Trouble> {
        let way = self.object_end(left, gone)?;
        let plain = way.as_ref().and_then(|way| self.plain(way.rest));
        let widest = match names.len() > MANY && way.is_some() && plain.is_none() {
            true => self.widest_way(left, names, gone)?,
            false => None,
        };
        let widest: HashSet<TextId> = widest.into_iter().flat_map(|way| way.taken).collect();
        for &name in way.iter().flat_map(|_| names) {
            // What fits one way to complete the object may come.
            let fits = match (&way, &plain) {
                _ if widest.contains(&name) => true,
                (Some(way), _) if way.taken.contains(&name) => true,
                (Some(way), Some(plain)) if !way.passed.contains(&name) => self.plain_may_come(plain, name)?,
                _ => false,
            };
            if fits || self.may_come(left, name, gone)? {
                viable.push(name);
            }
        }
        Ok(())
    }

    /// The names outside of `names` that may come next, if they have not come yet.
    fn other_names(&mut self, left: FormulaId, names: &[TextId], gone: &[TextId]) -> Result<Names, Trouble> {
        if let Some(others) = self.plain_others(left, gone)? {
            let list = match others {
                Names::Language(language) => self.list_of(language)?,
                _ => None,
            };
            return Ok(match list {
                Some(list) if list.excludes => Names::AllBut(list.names.to_vec()),
                Some(list) => Names::These(list.names.to_vec()),
                None => others,
            });
        }
        let mut viable = Vec::new();
        for cell in self.cells(left, names, gone)? {
            if self.cell_may_come(left, &cell, gone)? {
                viable.push(cell.names);
            }
        }
        let (mut these, mut others) = (Vec::new(), None);
        let mut languages = Vec::new();
        for names in viable {
            match names {
                Names::These(names) => these.extend(names),
                // There is but one such cell.
                Names::AllBut(names) => others = Some(names),
                Names::Language(language) => languages.push(language),
            }
        }
        // Cells are all of them lists, or all of them languages.
        Ok(match others {
            Some(mut others) => {
                let these: HashSet<TextId> = these.into_iter().collect();
                others.retain(|name| !these.contains(name));
                Names::AllBut(others)
            }
            None if languages.is_empty() => Names::These(these),
            None => Names::Language(self.languages.or(&languages)?),
        })
    }

    /// The names that a plain object does not name and that may come next, where what is asked of them can be met all at
    /// once.
    fn plain_others(&mut self, left: FormulaId, gone: &[TextId]) -> Result<Option<Names>, Trouble> {
        let Some(plain) = self.plain(left) else {
            return Ok(None);
        };
        let Some(room) = self.plain_room(&plain)? else {
            return Ok(None);
        };
        if room == Room::None || !self.object_can_end(left, gone)? {
            return Ok(Some(Names::These(Vec::new())));
        }
        Ok(Some(match room {
            Room::Beside(refused) => {
                let refused = self.languages.or(&refused)?;
                Names::Language(self.languages.not(refused)?)
            }
            _ => Names::AllBut(Vec::new()),
        }))
    }

    /// Names that are listed, or all but those.
    fn listed(&mut self, names: Vec<TextId>, excludes: bool, listed: &[TextId]) -> Result<NextNames, Trouble> {
        if names.is_empty() && !excludes {
            return Ok(NextNames::None);
        }
        if names.len() > MOST_LISTED {
            if !excludes {
                return self.named_or(&names, self.languages.none());
            }
            let others = self.without_names(self.languages.any(), &names)?;
            return Ok(NextNames::Language(others));
        }
        let names: Box<[TextId]> = self.sorted_names(names, listed).into();
        self.level_cells += names.len();
        let id = ListId(self.name_lists.len() as u32);
        self.name_lists.push(Arc::new(NameList { names, excludes }));
        Ok(NextNames::Listed(id))
    }

    /// Sorts names by their characters, and leaves each once.
    pub(super) fn sort_names(&self, names: &mut Vec<TextId>) {
        names.sort_unstable_by(|one, other| self.texts.get(*one).cmp(self.texts.get(*other)));
        names.dedup();
    }

    /// Names by their characters, each once. Those among `listed`, which are sorted like that, need no comparing.
    fn sorted_names(&self, mut names: Vec<TextId>, listed: &[TextId]) -> Vec<TextId> {
        if names.len() < MANY_SORTED {
            self.sort_names(&mut names);
            return names;
        }
        names.sort_unstable();
        names.dedup();
        let sorted = listed.iter().filter(|name| names.binary_search(name).is_ok());
        let mut sorted: Vec<TextId> = sorted.copied().collect();
        if sorted.len() < names.len() {
            let known: HashSet<TextId> = sorted.iter().copied().collect();
            sorted.extend(names.into_iter().filter(|name| !known.contains(name)));
            // Mostly few are not in order, which a sort that finds runs is quick about.
            sorted.sort_by(|one, other| self.texts.get(*one).cmp(self.texts.get(*other)));
        }
        sorted
    }

    /// Names that are listed, or in a language.
    fn named_or(&mut self, names: &[TextId], others: LanguageId) -> Result<NextNames, Trouble> {
        let texts: Vec<&str> = names.iter().map(|name| self.texts.get(*name)).collect();
        let named = self.languages.one_of(&texts)?;
        let language = self.languages.or(&[named, others])?;
        Ok(match self.languages.is_empty(language)? {
            true => NextNames::None,
            false => NextNames::Language(language),
        })
    }

    /// Whether a member of this name may come next, where the names `gone` cannot come any more.
    fn may_come(&mut self, demand: FormulaId, name: TextId, gone: &[TextId]) -> Result<bool, Trouble> {
        let gone = [gone, &[name]].concat();
        Ok(self.decide_member(&[demand], Name::Known(name), &gone)?.1 != DecisionId::NEVER)
    }

    /// Whether one of the names of a kind may come next. They are alike, so that one of them speaks for all.
    fn cell_may_come(&mut self, demand: FormulaId, cell: &Cell, gone: &[TextId]) -> Result<bool, Trouble> {
        if cell.left.is_none() {
            return Ok(self.decide_member(&[demand], Name::In(&cell.within), gone)?.1 != DecisionId::NEVER);
        }
        match self.name_beside(&cell.names, gone)? {
            Some(name) => self.may_come(demand, name, gone),
            None => Ok(false),
        }
    }
}
