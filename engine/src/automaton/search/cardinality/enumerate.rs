//! Enumerates values that satisfy assertions, to tell whether there are enough of them to differ.
//!
//! Arrays and objects are enumerated with room for other values beside each item or member: where items have to differ,
//! more values of an item are needed than items are wanted. How much room is needed shows only during the enumeration,
//! so it starts small and is doubled.

use crate::automaton::error::{AutomatonError, check_limit};
use crate::automaton::formula::{AssertionId, FormulaId, MemberKey, TextId, split, verdict_of};
use crate::automaton::search::{Domain, Requirement, Search};
use crate::json::Value;
use crate::{numbers, strings};
use hashbrown::{HashMap, HashSet};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Nesting depth of enumerated values; the enumeration recurses on the native stack.
const MAX_DEPTH: usize = 12;

/// Number of items or members that have to differ up to which an enumeration makes room beside the others.
const MAX_DIFFERING_PARTS: usize = 256;

/// The initial value for this number, which is doubled as long as more is needed.
const FIRST_DIFFERING_PARTS: usize = 16;

/// The values that an enumeration looks for: those that satisfy all assertions of `all` and none of `none`, up to
/// `most`.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    all: &'a [AssertionId],
    none: &'a [AssertionId],
    most: usize,
    depth: usize,
}

/// A tree of partial containers: the items or members chosen so far, with common beginnings stored once.
struct Chosen<T> {
    /// Each part with the index of the part before it, and the number of parts up to it.
    parts: Vec<(Option<usize>, usize, T)>,
}

impl<T> Default for Chosen<T> {
    fn default() -> Self {
        Self { parts: Vec::new() }
    }
}

impl<T: PartialEq> Chosen<T> {
    /// Adds a part after `before`, and returns its index.
    fn add(&mut self, before: Option<usize>, part: T) -> usize {
        self.parts.push((before, self.count(before) + 1, part));
        self.parts.len() - 1
    }

    fn count(&self, last: Option<usize>) -> usize {
        last.map_or(0, |last| self.parts[last].1)
    }

    fn backwards(&self, last: Option<usize>) -> impl Iterator<Item = &T> {
        let before = |at: &usize| self.parts[*at].0;
        std::iter::successors(last, before).map(|at| &self.parts[at].2)
    }

    fn has(&self, last: Option<usize>, part: &T) -> bool {
        self.backwards(last).any(|other| other == part)
    }

    /// The parts from the first one on.
    fn all(&self, last: Option<usize>) -> Vec<&T> {
        let mut all: Vec<&T> = self.backwards(last).collect();
        all.reverse();
        all
    }
}

impl Search {
    /// The values that satisfy all of `assertions.all` and none of `assertions.none`; `None` if there are at least
    /// `most`.
    pub(crate) fn values_up_to(
        &mut self,
        assertions: &Requirement,
        most: usize,
    ) -> Result<Option<Arc<[AssertionId]>>, AutomatonError> {
        match self.value_memo.domains.get(assertions) {
            Some(Domain::All(values)) => return Ok((values.len() < most).then(|| values.clone())),
            Some(Domain::AtLeast(count)) if *count >= most => return Ok(None),
            _ => {}
        }
        if let Some(value) = self.only_value(&assertions.all) {
            let is_one = self.satisfiable(&assertions.all, &assertions.none)?;
            let values: Arc<[AssertionId]> = is_one.then_some(value).into_iter().collect();
            return Ok((values.len() < most).then_some(values));
        }
        if self.is_infinite(&assertions.all, &assertions.none)? {
            self.value_memo
                .domains
                .insert(assertions.clone(), Domain::AtLeast(usize::MAX));
            return Ok(None);
        }
        // The caller will probably ask for a few more next.
        let (asked, most) = (most, most.next_power_of_two());
        let wanted = Wanted {
            all: &assertions.all,
            none: &assertions.none,
            most,
            depth: 0,
        };
        // An enumeration may start others; one bound holds for all of them together.
        let outer = self.value_memo.beginnings;
        let values = self.some_values(wanted);
        if outer == 0 {
            self.value_memo.beginnings = 0;
        }
        let values = values?;
        let values = match values.len() < most {
            true => {
                let values = values.into_iter().map(|value| self.algebra.equal_to(value.as_ref()));
                let mut values: Vec<AssertionId> = values.collect();
                values.sort_unstable();
                Domain::All(values.into())
            }
            false => Domain::AtLeast(most),
        };
        self.value_memo.domains.insert(assertions.clone(), values);
        self.values_up_to(assertions, asked)
    }

    /// The value, as the assertion of being equal to it, that some assertions require; `None` if they require none.
    pub(super) fn only_value(&self, all: &[AssertionId]) -> Option<AssertionId> {
        all.iter().copied().find(|assertion| self.algebra.is_value(*assertion))
    }

    /// Up to `most` values; all of them if there are fewer.
    fn some_values(&mut self, wanted: Wanted<'_>) -> Result<Vec<Value>, AutomatonError> {
        let Wanted { all, none, most, depth } = wanted;
        if most == 0 || !self.satisfiable(all, none)? {
            return Ok(Vec::new());
        }
        let what = "levels of values that have to differ and are written out";
        check_limit(depth + 1, ("search_states", MAX_DEPTH), what)?;
        let value = self.algebra.combined(all, none)?;
        let (numbers, strings) = (value.numbers, value.strings);
        let mut values = Vec::new();
        values.extend(value.null.then(Value::null));
        values.extend(value.yes.then(|| Value::boolean(true)));
        values.extend(value.no.then(|| Value::boolean(false)));
        let count = self.algebra.number_texts.sets_mut().cardinality(numbers, most as u64)?;
        let many = !matches!(count, numbers::NumberCount::Exactly(_));
        if many
            || self.is_infinite(all, none)?
            || !matches!(
                self.algebra.languages.cardinality(strings, most as u64)?,
                strings::Cardinality::Finite(_)
            )
        {
            // There are enough values, and it does not matter which ones.
            let next = (0..most as i64).map(|number| Value::number(number.into()));
            return Ok(next.collect());
        }
        let members = self.algebra.number_texts.sets_mut().members(numbers, most)?;
        values.extend(members.into_iter().map(Value::number));
        let members = self.algebra.languages.members(strings, most)?;
        values.extend(members.iter().map(|text| Value::string(text)));
        self.with_room(most, &mut values, |automaton, others, values| {
            automaton.arrays_beside(value.arrays, others, wanted, values)
        })?;
        self.with_room(most, &mut values, |automaton, others, values| {
            automaton.objects_beside(value.objects, others, wanted, values)
        })?;
        values.truncate(most);
        Ok(values)
    }

    /// Calls `find` with room for more and more other values beside each item or member, until `find` returns `false`:
    /// it returns whether more room may show more values.
    fn with_room(
        &mut self,
        most: usize,
        values: &mut Vec<Value>,
        mut find: impl FnMut(&mut Self, usize, &mut Vec<Value>) -> Result<bool, AutomatonError>,
    ) -> Result<(), AutomatonError> {
        let before = values.len();
        let mut others = FIRST_DIFFERING_PARTS;
        while values.len() < most && find(self, others, values)? {
            others *= 2;
            let what = "items or members that have to differ in values that have to differ";
            check_limit(others, ("search_states", MAX_DIFFERING_PARTS), what)?;
            values.truncate(before);
        }
        Ok(())
    }

    /// Adds arrays up to the number wanted, and returns whether there may be more because not all values of an item
    /// were looked at. If items have to differ, `others` more values of an item are looked at than wanted: then at
    /// least the wanted number remains, whichever values the other items take.
    fn arrays_beside(
        &mut self,
        formula: FormulaId,
        others: usize,
        wanted: Wanted<'_>,
        values: &mut Vec<Value>,
    ) -> Result<bool, AutomatonError> {
        if formula == FormulaId::FALSE {
            return Ok(false);
        }
        let is_unique = self.algebra.asks_unique(&[formula]);
        let others = if is_unique { others } else { 0 };
        let of_item = Wanted {
            most: wanted.most.saturating_add(others),
            ..wanted
        };
        // If some items have to be equal, the equal ones may be among the values that were not looked at.
        let any_may_matter = is_unique && !self.must_differ(formula);
        let (mut are_some, mut outgrown) = (false, 0);
        let mut chosen = Chosen::default();
        // The longest and the shortest beginning are taken in turns, because either may be the one that leads nowhere.
        let mut left: BTreeMap<usize, Vec<(FormulaId, Option<usize>)>> = BTreeMap::from([(0, vec![(formula, None)])]);
        let mut longest = false;
        while let Some(mut some_left) = match longest {
            true => left.last_entry(),
            false => left.first_entry(),
        } {
            let next = some_left.get_mut().pop();
            let Some((formula, items)) = next else {
                some_left.remove();
                continue;
            };
            longest = !longest;
            if self.algebra.at_end(formula) {
                values.push(Value::array(&chosen.all(items)));
                if values.len() >= wanted.most {
                    return Ok(false);
                }
            }
            let assertions = self.algebra.assertions_of_item(&[formula]);
            for vector in self.verdict_vectors(&assertions)? {
                let children = self.children(&assertions, &vector, of_item)?;
                are_some |= children.len() >= of_item.most;
                for item in children {
                    let repeats = chosen.has(items, &item);
                    let after = self.algebra.after_item(
                        formula,
                        &|assertion| verdict_of(&assertions, &vector, assertion),
                        repeats,
                    );
                    if after != FormulaId::FALSE {
                        let items = Some(chosen.add(items, item));
                        left.entry(chosen.count(items)).or_default().push((after, items));
                    } else if is_unique && repeats && chosen.count(items) > others {
                        outgrown += 1;
                    }
                }
            }
            if are_some && outgrown > values.len() + FIRST_DIFFERING_PARTS {
                return Ok(true);
            }
            self.value_memo.beginnings += 1;
            self.check_states(self.value_memo.beginnings, "beginnings of arrays that have to differ")?;
        }
        Ok(are_some && (outgrown > 0 || any_may_matter))
    }

    /// Adds objects in the way that [`arrays_beside`](Self::arrays_beside) adds arrays; here the members' keys have to
    /// differ.
    fn objects_beside(
        &mut self,
        formula: FormulaId,
        others: usize,
        wanted: Wanted<'_>,
        values: &mut Vec<Value>,
    ) -> Result<bool, AutomatonError> {
        if formula == FormulaId::FALSE {
            return Ok(false);
        }
        let most = wanted.most.saturating_add(others);
        let mut names = self.algebra.named_keys(formula);
        let mut are_some = false;
        for cell in self.algebra.key_cells(formula, &names.clone(), &[])? {
            let some = self.algebra.some_keys(&cell.names, most)?;
            are_some |= some.len() >= most;
            names.extend(some);
        }
        let mut outgrown = 0;
        let mut chosen: Chosen<(TextId, Value)> = Chosen::default();
        let mut left = vec![(formula, 0, None)];
        while let Some((formula, index, members)) = left.pop() {
            if self.algebra.at_end(formula) {
                let members = chosen.all(members);
                let texts = members
                    .iter()
                    .map(|member| (self.algebra.texts.get(member.0), &member.1));
                values.push(Value::object(&texts.collect::<Vec<_>>()));
                if values.len() >= wanted.most {
                    return Ok(false);
                }
            }
            outgrown += usize::from(are_some && chosen.count(members) > others);
            if outgrown > values.len() + FIRST_DIFFERING_PARTS {
                return Ok(true);
            }
            // The first key is pushed last, so that it is taken next: the other keys come after it.
            for (at, &name) in names.iter().enumerate().skip(index).rev() {
                let name_of = MemberKey::Known(name);
                let assertions = self.algebra.assertions_of_member(&[formula], name_of)?;
                for vector in self.verdict_vectors(&assertions)? {
                    let verdict = |assertion| verdict_of(&assertions, &vector, assertion);
                    let after = self.algebra.after_member(formula, name_of, &verdict)?;
                    if !self.object_can_end(after, &names[..=at])? {
                        continue;
                    }
                    for value in self.children(&assertions, &vector, wanted)? {
                        left.push((after, at + 1, Some(chosen.add(members, (name, value)))));
                    }
                }
            }
            self.value_memo.beginnings += 1;
            self.check_states(self.value_memo.beginnings, "beginnings of objects that have to differ")?;
        }
        Ok(outgrown > 0)
    }

    /// Values of an item or member that have these verdicts.
    fn children(
        &mut self,
        assertions: &[AssertionId],
        vector: &[bool],
        wanted: Wanted<'_>,
    ) -> Result<Vec<Value>, AutomatonError> {
        let (all, none) = split(assertions, vector);
        self.some_values(Wanted {
            all: &all,
            none: &none,
            depth: wanted.depth + 1,
            ..wanted
        })
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
