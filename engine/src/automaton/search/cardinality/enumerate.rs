//! Enumeration of the values that satisfy a constraint, up to the number that must differ from one another.
//!
//! Arrays and objects are enumerated item by item and member by member. After each part the container can be
//! completed, so every partial container leads to a value of its own, and the work grows with the number of values wanted.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{
    Assertion, AssertionId, Constraint, FormulaId, ItemsId, MemberKey, TextId, verdict_of,
};
use crate::automaton::search::memo::Enumeration;
use crate::automaton::search::{Domain, Requirement, Search};
use crate::{numbers, strings};
use hashbrown::{HashMap, HashSet};
use std::sync::Arc;

/// Nesting depth of enumerated values; the enumeration recurses on the native stack.
const MAX_DEPTH: usize = 12;

/// An object that has been enumerated in part: the residual formula, the number of keys looked at, and the members chosen.
type ObjectBeginning = (FormulaId, usize, Vec<(TextId, AssertionId)>);

impl Search {
    /// The values that satisfy all of `assertions.all` and none of `assertions.none`, as assertions of being equal to them;
    /// `None` if there are at least `most`.
    pub(crate) fn values_up_to(
        &mut self,
        assertions: &Requirement,
        most: usize,
    ) -> Result<Option<Arc<[AssertionId]>>, AutomatonError> {
        if let Some(value) = self.only_value(&assertions.all) {
            let is_one = self.satisfiable(&assertions.all, &assertions.none)?;
            let values: Arc<[AssertionId]> = is_one.then_some(value).into_iter().collect();
            return Ok((values.len() < most).then_some(values));
        }
        let value = self.algebra.combined(&assertions.all, &assertions.none)?;
        self.values_of(value, most)
    }

    /// The values that meet a requirement, as assertions of being equal to them; `None` if there are at least `most`, or if listing them takes
    /// more than the limits of a search.
    pub(crate) fn few_values(
        &mut self,
        requirement: &Requirement,
        most: usize,
    ) -> Result<Option<Arc<[AssertionId]>>, AutomatonError> {
        let Some(value) = self.within_limits(|this| this.algebra.combined(&requirement.all, &requirement.none))? else {
            return Ok(None);
        };
        // Inside other searches the limits are reached sooner: another attempt is made where there is more room.
        let depth = match self.fixpoint.is_idle() && self.searches == 0 {
            true => self.value_memo.enumerated.len(),
            false => MAX_DEPTH,
        };
        if matches!(self.value_memo.domains.get(&value), Some(Domain::Unlisted(within)) if *within <= depth) {
            return Ok(None);
        }
        if let Some(values) = self.within_limits(|this| this.values_up_to(requirement, most))? {
            return Ok(values);
        }
        if !self.fixpoint.leaves_out_optional {
            let known = self.value_memo.domains.entry(value).or_insert(Domain::Unlisted(depth));
            if let Domain::Unlisted(within) = known {
                *within = depth.min(*within);
            }
        }
        Ok(None)
    }

    /// The value, as the assertion of being equal to it, that some assertions require; `None` if they require none.
    pub(super) fn only_value(&self, all: &[AssertionId]) -> Option<AssertionId> {
        all.iter().copied().find(|assertion| self.algebra.is_value(*assertion))
    }

    /// The values that satisfy a constraint, sorted; `None` if there are at least `most`.
    fn values_of(&mut self, value: Constraint, most: usize) -> Result<Option<Arc<[AssertionId]>>, AutomatonError> {
        match self.value_memo.domains.get(&value) {
            Some(Domain::All(values)) => return Ok((values.len() < most).then(|| values.clone())),
            Some(Domain::AtLeast(count)) if *count >= most => return Ok(None),
            _ => {}
        }
        let enumerated = &mut self.value_memo.enumerated;
        let (depth, open) = (enumerated.len(), self.fixpoint.open.len());
        // Values that are asked for within their own enumeration are those found so far. Where a query was opened in between, they are enumerated
        // anew: asked again, that query counts as answered no, which ends the recursion.
        let is_this = |other: &Enumeration| other.value == value && other.open == open;
        if let Some(place) = enumerated.iter().position(is_this) {
            enumerated[place].is_asked = true;
            enumerated[depth - 1].rest_on(place);
            let found = enumerated[place].found.clone();
            return Ok((found.len() < most).then_some(found));
        }
        if depth == MAX_DEPTH {
            let what = "levels of values that have to differ and are written out";
            return Err(AutomatonError::Reached(format!("more than {MAX_DEPTH} {what}")));
        }
        if depth == 0 {
            self.value_memo.beginnings = 0;
        }
        // The caller will probably ask for a few more next.
        let wanted = most.next_power_of_two();
        enumerated.push(Enumeration::new(value, open));
        let values = self.with_finality(|this| this.enumerated_whole(value, wanted));
        let enumerated = &mut self.value_memo.enumerated;
        let done = enumerated.pop();
        let outermost = done.and_then(|done| done.rests_on).filter(|place| *place < depth);
        if let (Some(around), Some(place)) = (enumerated.last_mut(), outermost) {
            around.rest_on(place);
        }
        let (values, is_final) = values?;
        // Requirements on containers count as impossible while a query is open, so that a list is final only if it rests on none; the values that
        // were found exist. Where optional work is left out, values may be thought possible that are not.
        if (is_final && outermost.is_none() || values.is_none()) && !self.fixpoint.leaves_out_optional {
            let domain = values.clone().map_or(Domain::AtLeast(wanted), Domain::All);
            self.value_memo.domains.insert(value, domain);
        }
        Ok(values.filter(|values| values.len() < most))
    }

    /// The values that satisfy the constraint whose enumeration is the innermost, sorted; `None` if there are at least `most`. Where they depend
    /// on one another, they are the least fixpoint: those found so far lead to more of them, until there are none.
    fn enumerated_whole(
        &mut self,
        value: Constraint,
        most: usize,
    ) -> Result<Option<Arc<[AssertionId]>>, AutomatonError> {
        let place = self.value_memo.enumerated.len() - 1;
        loop {
            let Some(mut values) = self.enumerated(value, most)? else {
                return Ok(None);
            };
            values.sort_unstable();
            let this = &mut self.value_memo.enumerated[place];
            let is_whole = !this.is_asked || values.len() <= this.found.len();
            this.found = values.into();
            if is_whole {
                return Ok(Some(this.found.clone()));
            }
        }
    }

    /// The values that satisfy a constraint; `None` if there are at least `most`.
    fn enumerated(&mut self, value: Constraint, most: usize) -> Result<Option<Vec<AssertionId>>, AutomatonError> {
        let numbers = self.algebra.number_texts.sets_mut();
        if !matches!(
            numbers.cardinality(value.numbers, most as u64)?,
            numbers::NumberCount::Exactly(_)
        ) || !matches!(
            self.algebra.languages.cardinality(value.strings, most as u64)?,
            strings::Cardinality::Finite(_)
        ) || self.has_value(&value)? && self.some_infinite(vec![value])?
        {
            return Ok(None);
        }
        let mut values = self.scalars_of(value, most)?;
        let are_all = self.add_arrays(value.arrays, most, &mut values)?
            && self.add_objects(value.objects, most, &mut values)?
            && values.len() < most;
        Ok(are_all.then_some(values))
    }

    /// Adds the arrays that a formula admits to `values`, unless these become `most` or more: then the result is `false`.
    fn add_arrays(
        &mut self,
        formula: FormulaId,
        most: usize,
        values: &mut Vec<AssertionId>,
    ) -> Result<bool, AutomatonError> {
        if !self.array_can_end(formula, ItemsId::EMPTY)? {
            return Ok(true);
        }
        let mut left = vec![(formula, ItemsId::EMPTY)];
        while let Some((formula, items)) = left.pop() {
            if self.algebra.at_end(formula) {
                let all = self.algebra.values.all_items(items);
                values.push(self.algebra.assertions.intern(Assertion::Array(all.into())));
                if values.len() >= most {
                    return Ok(false);
                }
            }
            self.count_beginning()?;
            let Some(expected) = self.item_expected(&[formula], items)? else {
                continue;
            };
            let mut item = self.constraint_of(expected)?;
            if self.must_differ(formula) {
                let others = self.algebra.values.all_items(items);
                let others = self.algebra.combined(&[], &others)?;
                item = self.algebra.both(item, others)?;
            }
            let Some(choices) = self.values_of(item, most)? else {
                return Ok(false);
            };
            for &choice in &*choices {
                let repeats = self.algebra.has_item(items, choice);
                let after = self.after_known_item(formula, choice, repeats)?;
                left.push((after, self.algebra.with_item(items, choice)));
            }
        }
        Ok(true)
    }

    /// Adds the objects that a formula admits to `values`, unless these become `most` or more: then the result is `false`.
    fn add_objects(
        &mut self,
        formula: FormulaId,
        most: usize,
        values: &mut Vec<AssertionId>,
    ) -> Result<bool, AutomatonError> {
        if !self.object_can_end(formula, &[])? {
            return Ok(true);
        }
        let mut names = self.algebra.named_keys(formula);
        let mut cells = self.algebra.cell_search(formula, &names, &[])?;
        while let Some(cell) = self.algebra.next_cell(&mut cells)? {
            if self.member_part(formula, MemberKey::In(&cell.within), &[])?.is_none() {
                continue;
            }
            if cell.left.is_none_or(|left| left >= most as u64) {
                return Ok(false);
            }
            names.extend(self.algebra.some_keys(&cell.names, most)?);
        }
        let mut left: Vec<ObjectBeginning> = vec![(formula, 0, Vec::new())];
        while let Some((formula, index, members)) = left.pop() {
            self.count_beginning()?;
            let Some(&name) = names.get(index) else {
                if self.algebra.at_end(formula) {
                    let mut members = members;
                    members.sort_by(|(a, _), (b, _)| self.algebra.texts.get(*a).cmp(self.algebra.texts.get(*b)));
                    values.push(self.algebra.assertions.intern(Assertion::Object(members.into())));
                }
                if values.len() >= most {
                    return Ok(false);
                }
                continue;
            };
            let used = &names[..=index];
            let passed = self.algebra.without_all(formula, &[name]);
            if self.object_can_end(passed, used)? {
                left.push((passed, index + 1, members.clone()));
            }
            let Some(value) = self.member_part(formula, MemberKey::Known(name), used)? else {
                continue;
            };
            let Some(choices) = self.values_of(value, most)? else {
                return Ok(false);
            };
            let assertions = self.algebra.assertions_of_member(&[formula], MemberKey::Known(name))?;
            for &choice in &*choices {
                let verdicts = self.verdicts_of(choice, &assertions)?;
                let verdict = |assertion| verdict_of(&assertions, &verdicts, assertion);
                let after = self.algebra.after_member(formula, MemberKey::Known(name), &verdict)?;
                let mut members = members.clone();
                members.push((name, choice));
                left.push((after, index + 1, members));
            }
        }
        Ok(true)
    }

    /// The verdicts of assertions for a value, which is given by the assertion of being equal to it.
    pub(crate) fn verdicts_of(
        &mut self,
        value: AssertionId,
        assertions: &[AssertionId],
    ) -> Result<Vec<bool>, AutomatonError> {
        let verdicts = assertions.iter();
        verdicts
            .map(|assertion| self.satisfiable(&[value, *assertion], &[]))
            .collect()
    }

    /// The residual of `formula` after an item that is known, given by the assertion of being equal to it; `repeats` says
    /// whether it equals an earlier item.
    pub(crate) fn after_known_item(
        &mut self,
        formula: FormulaId,
        item: AssertionId,
        repeats: bool,
    ) -> Result<FormulaId, AutomatonError> {
        let assertions = self.algebra.assertions_of_item(&[formula]);
        let verdicts = self.verdicts_of(item, &assertions)?;
        let verdict = |assertion| verdict_of(&assertions, &verdicts, assertion);
        Ok(self.algebra.after_item(formula, &verdict, repeats))
    }

    /// Counts a partial container against the limit for one enumeration.
    fn count_beginning(&mut self) -> Result<(), AutomatonError> {
        self.value_memo.beginnings += 1;
        self.check_states(self.value_memo.beginnings, "beginnings of values that have to differ")
    }
}

/// Whether as many values as its count can be chosen from each set so that all values differ.
pub(crate) fn can_all_differ(sets: &[(Vec<AssertionId>, usize)]) -> bool {
    let mut chosen: HashMap<AssertionId, usize> = HashMap::new();
    let mut each = (0..sets.len()).flat_map(|set| std::iter::repeat_n(set, sets[set].1));
    each.all(|set| choose(set, sets, &mut chosen))
}

/// Finds a value for one more item of a set, moving other items to other values if needed: a shortest augmenting path
/// of a bipartite matching.
fn choose(set: usize, sets: &[(Vec<AssertionId>, usize)], chosen: &mut HashMap<AssertionId, usize>) -> bool {
    // Each value that has been tried, with the value that its new owner gives up for it.
    let mut instead_of: HashMap<AssertionId, Option<AssertionId>> = HashMap::new();
    let mut asking = vec![(set, None)];
    let mut asked: HashSet<usize> = HashSet::new();
    let mut next = 0;
    while let Some(&(set, moves)) = asking.get(next) {
        next += 1;
        if !asked.insert(set) {
            continue;
        }
        for &value in &sets[set].0 {
            if instead_of.contains_key(&value) {
                continue;
            }
            instead_of.insert(value, moves);
            if let Some(&holder) = chosen.get(&value) {
                asking.push((holder, Some(value)));
                continue;
            }
            let (mut free, mut mover) = (value, moves);
            while let Some(moved) = mover {
                if let Some(holder) = chosen.remove(&moved) {
                    chosen.insert(free, holder);
                }
                free = moved;
                mover = instead_of.get(&moved).copied().flatten();
            }
            chosen.insert(free, asking[0].0);
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests;
