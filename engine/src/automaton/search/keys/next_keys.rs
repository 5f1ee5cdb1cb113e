//! The set of keys that may come next in an object, computed from the object's residual formula.
//!
//! A key may come if the object can be completed after a member with that key. One completion of the object often proves this
//! for many keys at once: for all keys that occur in it, and for all keys that can be added to it. Only the other keys are
//! tried one by one.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{
    AtomKind, CellKeys, ENUMERATED_KEYS, FormulaId, IndependentKeys, KeyCell, KeySetId, TextId,
};
use crate::automaton::search::containers::object_facts::Surroundings;
use crate::automaton::search::{KeyList, KeyListId, NextKeys, Room, Search};
use crate::strings::{Cardinality, LanguageId};
use hashbrown::HashSet;
use std::sync::Arc;

/// Number of keys from which on it pays to take their order from a sorted list instead of comparing their texts.
const KEYS_WORTH_SORTED_LIST: usize = 16;

impl Search {
    /// The keys that an independent-key object with room for any other key cannot have. There are usually none.
    pub(crate) fn barred_keys(&mut self, formula: FormulaId) -> Result<Arc<[TextId]>, AutomatonError> {
        if let Some(known) = self.object_memo.barred.get(&formula) {
            return Ok(known.clone());
        }
        let mut barred = Vec::new();
        if let Some(plain) = self.algebra.independent_keys(formula) {
            for name in self.algebra.named_keys(formula) {
                if !self.key_may_come(&plain, name)? {
                    barred.push(name);
                }
            }
        }
        let barred: Arc<[TextId]> = barred.into();
        self.object_memo.barred.insert(formula, barred.clone());
        Ok(barred)
    }

    /// The list of keys with this id.
    pub(crate) fn key_list(&self, list: KeyListId) -> &KeyList {
        &self.key_lists[list.0 as usize]
    }

    /// Stores a list of keys.
    fn add_key_list(&mut self, list: KeyList) -> KeyListId {
        let id = KeyListId(self.key_lists.len() as u32);
        self.key_lists.push(Arc::new(list));
        id
    }

    /// Whether a key is on a list.
    pub(crate) fn is_listed(&self, list: KeyListId, name: TextId) -> bool {
        // The key itself comes first among the keys that begin with its text.
        self.listed_with(list, name).first() == Some(&name)
    }

    /// The keys of a list that begin with a text, sorted by their characters.
    pub(crate) fn listed_with(&self, list: KeyListId, text: TextId) -> &[TextId] {
        self.algebra.beginning_with(&self.key_list(list).names, text)
    }

    /// Whether all keys of a set are in a language. Subsets that have been checked are remembered, so a set with one
    /// more key costs little.
    pub(crate) fn has_all(&mut self, language: LanguageId, names: KeySetId) -> Result<bool, AutomatonError> {
        let (mut open, mut looked_at) = (vec![names], Vec::new());
        while let Some(names) = open.pop() {
            let Some((name, parts)) = self.algebra.key_sets.parts(names) else {
                continue;
            };
            if self.object_memo.sets_within.contains(&(language, names)) {
                continue;
            }
            let text = self.algebra.texts.shared(name);
            if !self.algebra.languages.contains(language, &text)? {
                return Ok(false);
            }
            looked_at.push((language, names));
            open.extend(parts);
        }
        self.object_memo.sets_within.extend(looked_at);
        Ok(true)
    }

    /// Whether a language has more than `than` texts.
    pub(crate) fn has_more(&mut self, language: LanguageId, than: u64) -> Result<bool, AutomatonError> {
        if than == 0 {
            return Ok(!self.algebra.languages.is_empty(language)?);
        }
        // Rounding up avoids a new count for each key that comes.
        let up_to = (than + 1).next_power_of_two();
        Ok(match self.algebra.languages.cardinality(language, up_to)? {
            Cardinality::Infinite | Cardinality::AtLeast(_) => true,
            Cardinality::Finite(count) => count > than,
        })
    }

    /// The keys that may come next, given that those of `ordered` come before all others and in this order, and that
    /// those of `exhausted` cannot come any more. `have_come` says that the exhausted keys are exactly those seen. Most
    /// of the result is in `listed`, which is sorted by characters and saves sorting.
    pub(crate) fn next_keys_after(
        &mut self,
        demand: FormulaId,
        ordered: &[TextId],
        (mut exhausted, have_come): (Vec<TextId>, bool),
        listed: &[TextId],
    ) -> Result<NextKeys, AutomatonError> {
        let mut viable = Vec::new();
        let left;
        let plain = self.algebra.independent_keys(demand).filter(|plain| plain.min == 0);
        if let Some(plain) = &plain {
            let passed = ordered.iter().position(|name| plain.requires(*name));
            let possible = self.object_can_end(demand, &exhausted)?;
            for &name in &ordered[..passed.map_or(ordered.len(), |passed| passed + 1)] {
                if possible && self.key_may_come(plain, name)? {
                    viable.push(name);
                }
            }
            left = match passed.is_none() && possible {
                true => self.algebra.without_all(demand, ordered),
                false => FormulaId::FALSE,
            };
            exhausted.extend_from_slice(ordered);
        } else {
            left = self.add_viable_in_order(demand, ordered, &exhausted, &mut viable)?;
            exhausted.extend_from_slice(ordered);
        }
        let mut names = Vec::new();
        let mut others = CellKeys::These(Vec::new());
        if left != FormulaId::FALSE {
            names = self.algebra.named_keys(left);
            // The formula may still mention keys that have been seen.
            let came: HashSet<TextId> = exhausted.iter().copied().collect();
            names.retain(|name| !came.contains(name));
            match &plain {
                // Keys that may come in the order may come behind it as well, except those that are in the order.
                Some(plain) => {
                    for &name in &names {
                        if self.key_may_come(plain, name)? {
                            viable.push(name);
                        }
                    }
                }
                None => self.add_viable(left, &names, &exhausted, &mut viable)?,
            }
            others = self.other_keys(left, &names, &exhausted)?;
        }
        let taken: HashSet<TextId> = exhausted.iter().chain(&names).copied().collect();
        match others {
            CellKeys::AllBut(mut excluded) => {
                excluded.extend(taken);
                let viable: HashSet<TextId> = viable.iter().copied().collect();
                excluded.retain(|name| !viable.contains(name));
                self.listed(excluded, true, listed)
            }
            CellKeys::These(names) => {
                viable.extend(names.into_iter().filter(|name| !taken.contains(name)));
                self.listed(viable, false, listed)
            }
            CellKeys::Language(language) => {
                let taken: Vec<TextId> = taken.into_iter().collect();
                let others = self.algebra.without_keys(language, &taken)?;
                match self.algebra.languages.is_empty(others)? {
                    true => self.listed(viable, false, listed),
                    false => self.listed_or_in(viable, others, have_come.then_some(exhausted)),
                }
            }
        }
    }

    /// The keys of a list and a language as one language. If nothing but the keys `seen` is exhausted, these are added
    /// to the language, so that it usually stays the same from member to member and the seen keys are subtracted by
    /// counting.
    fn listed_or_in(
        &mut self,
        mut names: Vec<TextId>,
        others: LanguageId,
        seen: Option<Vec<TextId>>,
    ) -> Result<NextKeys, AutomatonError> {
        let seen = seen
            .filter(|_| !self.algebra.languages.is_non_enumerable(others))
            .unwrap_or_default();
        names.extend_from_slice(&seen);
        let language = self.algebra.with_keys(others, &names)?;
        Ok(match seen.len() as u64 {
            0 => NextKeys::Language(language),
            seen if self.has_more(language, seen)? => NextKeys::In(language),
            _ => NextKeys::None,
        })
    }

    /// Adds those of `names`, which the formula `left` mentions, that may come next.
    fn add_viable(
        &mut self,
        left: FormulaId,
        names: &[TextId],
        exhausted: &[TextId],
        viable: &mut Vec<TextId>,
    ) -> Result<(), AutomatonError> {
        if let Some(alternatives) = self.algebra.independent_alternatives(left) {
            let mut open: HashSet<TextId> = names.iter().copied().collect();
            for alternative in alternatives {
                if let Some(plain) = self.algebra.independent_keys(alternative)
                    && self.object_can_end(alternative, exhausted)?
                {
                    self.add_viable_of(&plain, |_| true, &mut open, viable)?;
                }
            }
            return Ok(());
        }
        if let Some(parts) = self.algebra.parts_by_key(left) {
            let mut found = Vec::new();
            for (part, names) in parts {
                match self.viable_in_part(part, &names)? {
                    Some(in_part) => found.extend_from_slice(&in_part),
                    None => return Ok(()),
                }
            }
            let names: HashSet<TextId> = names.iter().copied().collect();
            viable.extend(found.into_iter().filter(|name| names.contains(name)));
            return Ok(());
        }
        let mut open = names.to_vec();
        let around = Surroundings {
            used: exhausted,
            wishes: names,
            ..Surroundings::default()
        };
        let mut model = self.object_model(&[(left, true)], around)?;
        // A model shows for all keys that it has, or that fit into it, that they may come.
        while let Some((facts, members)) = model.take() {
            let mut others = Vec::new();
            for name in open {
                match facts.has_room(self, &members, name)? {
                    true => viable.push(name),
                    false => others.push(name),
                }
            }
            open = others;
            while model.is_none()
                && let Some(name) = open.pop()
            {
                let has = self.algebra.atom(AtomKind::Has(name));
                model = self.object_model(&[(left, true), (has, true)], around)?;
                viable.extend(model.is_some().then_some(name));
            }
        }
        Ok(())
    }

    /// The keys among `names` that may come next as far as a [part](crate::automaton::formula::Algebra::parts_by_key) of an
    /// object's condition is concerned; `None` if that part cannot be met.
    fn viable_in_part(&mut self, part: FormulaId, names: &[TextId]) -> Result<Option<Arc<[TextId]>>, AutomatonError> {
        if let Some(known) = self.object_memo.viable.get(&part) {
            return Ok(known.clone());
        }
        let mut viable = None;
        if self.object_can_end(part, &[])? {
            let mut names_viable = Vec::new();
            self.add_viable(part, names, &[], &mut names_viable)?;
            viable = Some(Arc::from(names_viable));
        }
        self.object_memo.viable.insert(part, viable.clone());
        Ok(viable)
    }

    /// Moves the keys of `open` that may come next in an independent-key object, and are `in_question`, to `viable`.
    pub(super) fn add_viable_of(
        &mut self,
        plain: &IndependentKeys,
        in_question: impl Fn(TextId) -> bool,
        open: &mut HashSet<TextId>,
        viable: &mut Vec<TextId>,
    ) -> Result<(), AutomatonError> {
        let own: HashSet<TextId> = plain.names().collect();
        let is_open = |name: &TextId| open.contains(name) && in_question(*name);
        let mut names: Vec<TextId> = own.iter().copied().filter(is_open).collect();
        // Usually an object is closed or full, and none of the keys that it does not mention may come.
        let is_closed = match self.room_for_others(plain)? {
            Some(Room::None) => true,
            Some(Room::Beside(refused)) => {
                let mut is_closed = false;
                for language in refused {
                    let list = self.algebra.enumerated_keys(language)?;
                    is_closed |=
                        list.is_some_and(|list| list.excludes && list.names.iter().all(|name| own.contains(name)));
                }
                is_closed
            }
            _ => false,
        };
        if !is_closed {
            names.extend(open.iter().filter(|name| !own.contains(*name) && in_question(**name)));
        }
        for name in names {
            if self.key_may_come(plain, name)? {
                open.remove(&name);
                viable.push(name);
            }
        }
        Ok(())
    }

    /// The keys outside of `names` that may come next, if they have not been seen.
    fn other_keys(
        &mut self,
        left: FormulaId,
        names: &[TextId],
        exhausted: &[TextId],
    ) -> Result<CellKeys, AutomatonError> {
        if let Some(others) = self.independent_others(left, exhausted)? {
            let list = match others {
                CellKeys::Language(language) => self.algebra.enumerated_keys(language)?,
                _ => None,
            };
            return Ok(match list {
                Some(list) if list.excludes => CellKeys::AllBut(list.names.to_vec()),
                Some(list) => CellKeys::These(list.names.to_vec()),
                None => others,
            });
        }
        let cells = match self.algebra.few_key_cells(left, names, exhausted)? {
            Some(cells) => cells,
            None => match self.keys_without_conflict(left, exhausted)? {
                Some(language) => return Ok(CellKeys::Language(language)),
                None => self.algebra.key_cells(left, names, exhausted)?,
            },
        };
        let mut viable = Vec::new();
        for cell in cells {
            if self.cell_may_follow(left, &cell, exhausted)? {
                viable.push(cell.names);
            }
        }
        let (mut these, mut others) = (Vec::new(), None);
        let mut languages = Vec::new();
        for names in viable {
            match names {
                CellKeys::These(names) => these.extend(names),
                // There is at most one such cell.
                CellKeys::AllBut(names) => others = Some(names),
                CellKeys::Language(language) => languages.push(language),
            }
        }
        // Either all cells are lists, or all are languages.
        Ok(match others {
            Some(mut others) => {
                let these: HashSet<TextId> = these.into_iter().collect();
                others.retain(|name| !these.contains(name));
                CellKeys::AllBut(others)
            }
            None if languages.is_empty() => CellKeys::These(these),
            None => CellKeys::Language(self.algebra.languages.or(&languages)?),
        })
    }

    /// The keys that an independent-key object does not mention and that may come next. `None` if the assertions on
    /// them cannot all be satisfied at once, or if the object is none of that kind.
    fn independent_others(
        &mut self,
        left: FormulaId,
        exhausted: &[TextId],
    ) -> Result<Option<CellKeys>, AutomatonError> {
        let Some(plain) = self.algebra.independent_keys(left) else {
            return Ok(None);
        };
        let Some(room) = self.room_for_others(&plain)? else {
            return Ok(None);
        };
        if room == Room::None || !self.object_can_end(left, exhausted)? {
            return Ok(Some(CellKeys::These(Vec::new())));
        }
        Ok(Some(match room {
            Room::Beside(refused) => {
                let refused = self.algebra.languages.or(&refused)?;
                CellKeys::Language(self.algebra.languages.not(refused)?)
            }
            _ => CellKeys::AllBut(Vec::new()),
        }))
    }

    /// The result for a list of keys, or for all keys but those of a list.
    pub(crate) fn listed(
        &mut self,
        names: Vec<TextId>,
        excludes: bool,
        listed: &[TextId],
    ) -> Result<NextKeys, AutomatonError> {
        if names.is_empty() && !excludes {
            return Ok(NextKeys::None);
        }
        if excludes && names.len() > ENUMERATED_KEYS {
            let others = self.algebra.without_keys(self.algebra.languages.any(), &names)?;
            return Ok(NextKeys::Language(others));
        }
        let names: Box<[TextId]> = self.sorted_keys(names, listed).into();
        self.algebra.kept_cells += names.len();
        let firsts = names
            .iter()
            .filter_map(|name| self.algebra.texts.get(*name).bytes().next());
        let firsts = firsts.filter(u8::is_ascii).fold(0, |firsts, first| firsts | 1 << first);
        Ok(NextKeys::Listed(self.add_key_list(KeyList {
            names,
            excludes,
            firsts,
        })))
    }

    /// The keys sorted by their characters, without duplicates. Keys in `listed`, which is sorted, need no comparisons.
    fn sorted_keys(&self, mut names: Vec<TextId>, listed: &[TextId]) -> Vec<TextId> {
        if names.len() < KEYS_WORTH_SORTED_LIST {
            self.algebra.sort_keys(&mut names);
            return names;
        }
        names.sort_unstable();
        names.dedup();
        let sorted = listed.iter().filter(|name| names.binary_search(name).is_ok());
        let mut sorted: Vec<TextId> = sorted.copied().collect();
        if sorted.len() < names.len() {
            let known: HashSet<TextId> = sorted.iter().copied().collect();
            sorted.extend(names.into_iter().filter(|name| !known.contains(name)));
            // Usually only a few keys are out of order, and the sort takes advantage of sorted runs.
            sorted.sort_by(|one, other| self.algebra.texts.compare(*one, *other));
        }
        sorted
    }

    /// Whether a member with this key may come next, given that the keys `exhausted` cannot come any more.
    fn member_may_come(
        &mut self,
        demand: FormulaId,
        name: TextId,
        exhausted: &[TextId],
    ) -> Result<bool, AutomatonError> {
        if let Some(plain) = self.algebra.independent_keys(demand) {
            return Ok(self.key_may_come(&plain, name)? && self.object_can_end(demand, exhausted)?);
        }
        let has = self.algebra.atom(AtomKind::Has(name));
        let around = Surroundings {
            used: exhausted,
            ..Surroundings::default()
        };
        let model = self.object_model(&[(demand, true), (has, true)], around)?;
        Ok(model.is_some())
    }

    /// Whether one of the keys of a cell may come next. Keys of a cell are alike, so one of them answers for all.
    pub(super) fn cell_may_follow(
        &mut self,
        demand: FormulaId,
        cell: &KeyCell,
        exhausted: &[TextId],
    ) -> Result<bool, AutomatonError> {
        if cell.left.is_none() {
            let around = Surroundings {
                used: exhausted,
                wanted: Some(&cell.within),
                ..Surroundings::default()
            };
            let model = self.object_model(&[(demand, true)], around)?;
            return Ok(model.is_some());
        }
        match self.algebra.key_beside(&cell.names, exhausted)? {
            Some(name) => self.member_may_come(demand, name, exhausted),
            None => Ok(false),
        }
    }

    /// Whether an object with this residual formula has room for any key.
    pub(crate) fn is_roomy(&mut self, formula: FormulaId) -> Result<bool, AutomatonError> {
        if let Some(&known) = self.object_memo.roomy.get(&formula) {
            return Ok(known);
        }
        // The text read so far can be completed, so the object is known to have an end.
        let has_room = match self.algebra.independent_keys(formula) {
            Some(plain) => self.room_for_others(&plain)? == Some(Room::Any),
            None => false,
        };
        self.object_memo.roomy.insert(formula, has_room);
        Ok(has_room)
    }
}
