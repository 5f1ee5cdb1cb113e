//! The names that may come next in an object.
//!
//! Those that may come first are worked out once; mostly what may come later is they without those that have come.

use hashbrown::HashSet;

use super::names::KeyListId;
use super::{Automaton, AutomatonError, Derived, Frame, Kind, NextKeys, StackId};
use crate::KeyOrder;
use crate::automaton::atom::TextId;
use crate::automaton::decision_diagram::DiagramId;
use crate::automaton::formula::FormulaId;
use crate::automaton::key_sets::KeySetId;
use crate::automaton::read::Name;
use crate::automaton::satisfiable::{Cell, MOST_LISTED, Names, Room};
use crate::strings::{Cardinality, LanguageId};

/// Names of one object from which on it pays to look for a way to complete it with all of them.
const MANY: usize = 16;
/// Names from which on it pays to take the order from a list instead of comparing them.
const MANY_SORTED: usize = 16;
/// Names that have come up to which each name is looked up among them, one after the other.
const FEW_COME: usize = 16;

/// The names of a list, or all others.
#[derive(Debug)]
pub(in crate::automaton) struct KeyList {
    /// Sorted by their characters.
    pub(super) names: Box<[TextId]>,
    /// Whether the names listed are those that may not come.
    pub(super) excludes: bool,
    /// The characters of ASCII that they begin with, as bits.
    firsts: u128,
}

impl KeyList {
    /// Whether one of them begins with a character of ASCII.
    pub(super) fn has_first(&self, first: u8) -> bool {
        self.firsts >> first & 1 == 1
    }
}

impl Automaton {
    /// Whether another member may come in the innermost object.
    pub(super) fn has_next_name(&mut self, stack: StackId) -> Result<bool, AutomatonError> {
        let Some(frame) = self.frame(stack) else {
            return Ok(false);
        };
        // Mostly there is room for any other name, and then it does not matter which names have come.
        if self.has_room(&frame)? || self.has_listed_name(&frame)? {
            return Ok(true);
        }
        Ok(self.next_keys(stack)? != NextKeys::None)
    }

    /// Whether one of the names that a plain object lists may come next, where that is seen at once.
    fn has_listed_name(&mut self, frame: &Frame) -> Result<bool, AutomatonError> {
        let Derived(Some(plain)) = &frame.plain else {
            return Ok(false);
        };
        if self.key_sets.len(frame.kind.used()) > FEW_COME {
            return Ok(false);
        }
        for name in plain.asked.names() {
            if !self.has_come(&frame.kind, name) && self.plain_may_come(&plain.asked, name)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The names that may come next in the innermost object.
    pub(super) fn next_keys(&mut self, stack: StackId) -> Result<NextKeys, AutomatonError> {
        if let Some(&known) = self.next_names_at.get(&stack) {
            return Ok(known);
        }
        let names = self.find_next_names(stack)?;
        self.next_names_at.insert(stack, names);
        Ok(names)
    }

    fn find_next_names(&mut self, stack: StackId) -> Result<NextKeys, AutomatonError> {
        let Some(frame) = self.frame(stack) else {
            return Ok(NextKeys::None);
        };
        let Kind::Object {
            used,
            order,
            passed,
            values,
            ..
        } = &frame.kind
        else {
            return Ok(NextKeys::None);
        };
        let is_free = values.is_none() && self.style.key_order == KeyOrder::Any;
        if is_free && self.has_room(&frame)? {
            return Ok(NextKeys::Any);
        }
        if frame.plain.0.is_some()
            && let Some(names) = self.names_but_used(stack, &frame)?
        {
            return Ok(names);
        }
        let place = (frame.formulas[0], *used, *order, *passed);
        if let Some(&known) = self.next_keys.get(&place) {
            return Ok(known);
        }
        let gone = self.gone(&frame.kind);
        let listed = self.name_classes(stack)?;
        let listed = listed.as_deref().map_or(&[][..], |classes| &classes.listed);
        let ordered = self.ordered(*order, *passed);
        let have_come = ordered.is_empty() && *passed == 0;
        let names = self.names_next(frame.formulas[0], &ordered, (gone, have_come), listed)?;
        self.next_keys.insert(place, names);
        Ok(names)
    }

    /// The names that may come next in a plain object as those that may come first but for those that have come; none where
    /// these are neither a list nor a language in which names are counted.
    fn names_but_used(&mut self, stack: StackId, frame: &Frame) -> Result<Option<NextKeys>, AutomatonError> {
        let language = match self.first_names(stack, frame.formulas[0])? {
            NextKeys::Language(language) => language,
            NextKeys::Listed(list_id) => {
                if self.name_list(list_id).excludes {
                    return Ok(None);
                }
                debug_assert!(self.lists_all(list_id, frame.kind.used()), "a name came that may not");
                let nothing = self.texts.intern("");
                return Ok(Some(match self.count_left(list_id, nothing, stack) {
                    0 => NextKeys::None,
                    _ => NextKeys::Of(list_id),
                }));
            }
            NextKeys::None => return Ok(Some(NextKeys::None)),
            _ => return Ok(None),
        };
        let used = frame.kind.used();
        let come = self.key_sets.len(used) as u64;
        if self.languages.has_machines(language) || !self.has_all(language, used)? {
            return Ok(None);
        }
        Ok(Some(match self.has_more(language, come)? {
            true => NextKeys::In(language),
            false => NextKeys::None,
        }))
    }

    /// Whether all names that have come are on a list.
    fn lists_all(&self, list: KeyListId, come: KeySetId) -> bool {
        let come = self.key_sets.names(come, "", &self.texts);
        come.into_iter().all(|name| self.is_listed(list, name))
    }

    /// Whether all of some names are in a language.
    fn has_all(&mut self, language: LanguageId, names: KeySetId) -> Result<bool, AutomatonError> {
        let (mut open, mut looked_at) = (vec![names], Vec::new());
        while let Some(names) = open.pop() {
            let Some((name, parts)) = self.key_sets.parts(names) else {
                continue;
            };
            if self.sets_within.contains(&(language, names)) {
                continue;
            }
            let text = self.texts.shared(name);
            if !self.languages.contains(language, &text)? {
                return Ok(false);
            }
            looked_at.push((language, names));
            open.extend(parts);
        }
        self.sets_within.extend(looked_at);
        Ok(true)
    }

    /// Whether a language has more than so many texts.
    pub(super) fn has_more(&mut self, language: LanguageId, than: u64) -> Result<bool, AutomatonError> {
        if than == 0 {
            return Ok(!self.languages.is_empty(language)?);
        }
        // So it is not counted anew for each name that comes.
        let up_to = (than + 1).next_power_of_two();
        Ok(match self.languages.cardinality(language, up_to)? {
            Cardinality::Infinite | Cardinality::AtLeast(_) => true,
            Cardinality::Finite(count) => count > than,
        })
    }

    /// The names that may come first in a plain object.
    fn first_names(&mut self, stack: StackId, formula: FormulaId) -> Result<NextKeys, AutomatonError> {
        if let Some(&known) = self.first_names.get(&formula) {
            return Ok(known);
        }
        let listed = self.name_classes(stack)?;
        let listed = listed.as_deref().map_or(&[][..], |classes| &classes.listed);
        let names = self.names_next(formula, &[], (Vec::new(), false), listed)?;
        self.first_names.insert(formula, names);
        Ok(names)
    }

    /// The names that may come next where those of `ordered` come before all others and in that order, and those of
    /// `gone` cannot come any more, which may be just those that have come. Most of them are `listed`, in the order of their
    /// characters.
    fn names_next(
        &mut self,
        demand: FormulaId,
        ordered: &[TextId],
        (mut gone, have_come): (Vec<TextId>, bool),
        listed: &[TextId],
    ) -> Result<NextKeys, AutomatonError> {
        let mut viable = Vec::new();
        let mut left = demand;
        if let Some(plain) = self.plain(demand).filter(|plain| plain.min == 0) {
            let passed = ordered.iter().position(|name| plain.requires(*name));
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
                match self.languages.is_empty(others)? {
                    true => self.listed(viable, false, listed),
                    false => self.named_or(viable, others, have_come.then_some(gone)),
                }
            }
        }
    }

    /// Names that are listed, or in a language. Where others have come and nothing else is gone these are counted among
    /// those of the language, so that it mostly stays the same from member to member.
    fn named_or(
        &mut self,
        mut names: Vec<TextId>,
        others: LanguageId,
        come: Option<Vec<TextId>>,
    ) -> Result<NextKeys, AutomatonError> {
        let come = come
            .filter(|_| !self.languages.has_machines(others))
            .unwrap_or_default();
        names.extend_from_slice(&come);
        let language = self.with_names(others, &names)?;
        Ok(match come.len() as u64 {
            0 => NextKeys::Language(language),
            come if self.has_more(language, come)? => NextKeys::In(language),
            _ => NextKeys::None,
        })
    }

    /// Those of the names that `left` names that may come next.
    fn add_viable(
        &mut self,
        left: FormulaId,
        names: &[TextId],
        gone: &[TextId],
        viable: &mut Vec<TextId>,
    ) -> Result<(), AutomatonError> {
        if let Some(alternatives) = self.plain_alternatives(left) {
            let mut plain = Vec::with_capacity(alternatives.len());
            for alternative in alternatives {
                if self.object_can_end(alternative, gone)? {
                    plain.extend(self.plain(alternative));
                }
            }
            for &name in names {
                for plain in &plain {
                    if self.plain_may_come(plain, name)? {
                        viable.push(name);
                        break;
                    }
                }
            }
            return Ok(());
        }
        let way = self.object_end(left, gone)?;
        let plain = way.as_ref().and_then(|way| self.plain(way.rest));
        let mut names = names.to_vec();
        if way.is_some()
            && plain.is_none()
            && let Some((plain, mixed)) = self.mostly_plain(left)
        {
            for name in names.extract_if(.., |name| !mixed.contains(name)) {
                if self.plain_may_come(&plain, name)? {
                    viable.push(name);
                }
            }
        }
        let widest = match names.len() > MANY && way.is_some() && plain.is_none() {
            true => self.widest_way(left, &names, gone)?,
            false => None,
        };
        let widest: HashSet<TextId> = widest.into_iter().flat_map(|way| way.taken).collect();
        for &name in way.iter().flat_map(|_| &names) {
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
    fn other_names(&mut self, left: FormulaId, names: &[TextId], gone: &[TextId]) -> Result<Names, AutomatonError> {
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
    fn plain_others(&mut self, left: FormulaId, gone: &[TextId]) -> Result<Option<Names>, AutomatonError> {
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
    fn listed(&mut self, names: Vec<TextId>, excludes: bool, listed: &[TextId]) -> Result<NextKeys, AutomatonError> {
        if names.is_empty() && !excludes {
            return Ok(NextKeys::None);
        }
        if excludes && names.len() > MOST_LISTED {
            let others = self.without_names(self.languages.any(), &names)?;
            return Ok(NextKeys::Language(others));
        }
        let names: Box<[TextId]> = self.sorted_names(names, listed).into();
        self.frame_cells += names.len();
        let firsts = names.iter().filter_map(|name| self.texts.get(*name).bytes().next());
        let firsts = firsts.filter(u8::is_ascii).fold(0, |firsts, first| firsts | 1 << first);
        Ok(NextKeys::Listed(self.add_name_list(KeyList {
            names,
            excludes,
            firsts,
        })))
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

    /// Whether a member of this name may come next, where the names `gone` cannot come any more.
    fn may_come(&mut self, demand: FormulaId, name: TextId, gone: &[TextId]) -> Result<bool, AutomatonError> {
        let gone = [gone, &[name]].concat();
        // Mostly it may with a value that all holds for that is said of it, and then others are not looked at.
        if !self.is_plain(demand) {
            let assertions = self.assertions_of_member(&[demand], Name::Known(name))?;
            let (mut met, mut never) = (Vec::new(), Vec::new());
            for assertion in assertions {
                match self.satisfiable(&[assertion], &[])? {
                    true => met.push(assertion),
                    false => never.push(assertion),
                }
            }
            if self.satisfiable(&met, &[])? {
                let after = self.after_member(demand, Name::Known(name), &|assertion| !never.contains(&assertion))?;
                if self.object_can_end(after, &gone)? {
                    return Ok(true);
                }
            }
        }
        Ok(self.decide_member(&[demand], Name::Known(name), &gone)?.1 != DiagramId::NEVER)
    }

    /// Whether one of the names of a kind may come next. They are alike, so that one of them speaks for all.
    fn cell_may_come(&mut self, demand: FormulaId, cell: &Cell, gone: &[TextId]) -> Result<bool, AutomatonError> {
        if cell.left.is_none() {
            return Ok(self.decide_member(&[demand], Name::In(&cell.within), gone)?.1 != DiagramId::NEVER);
        }
        match self.name_beside(&cell.names, gone)? {
            Some(name) => self.may_come(demand, name, gone),
            None => Ok(false),
        }
    }
}
