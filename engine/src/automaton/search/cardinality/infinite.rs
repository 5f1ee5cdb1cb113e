//! Assertions with infinitely many values: one more value always differs from those seen.
//!
//! A value is infinite if some part of it is, if a member's key is, or if it can contain itself. The search follows
//! parts of values until one of these shows.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{AssertionId, FormulaId, ItemsId, MemberKey, TextId, split, verdict_of};
use crate::automaton::search::{Requirement, Search};
use crate::{numbers, strings};
use hashbrown::HashMap;

/// Number of values and parts of values that are looked at for one answer.
const MAX_LOOKS: usize = 2_000;

/// Number of states of an array that are looked at.
const MAX_ARRAY: usize = 64;

/// The result of looking at a value, or at the remainder of a container.
enum Found {
    /// There are infinitely many.
    Infinite,
    /// There are infinitely many if one of these requirements, each on a part of some value, has infinitely many
    /// values.
    Parts(Vec<Requirement>),
}

/// The values that are looked at for one answer, and which of them are parts of which.
#[derive(Default)]
struct Looks {
    values: Vec<Requirement>,
    places: HashMap<Requirement, usize>,
    /// For each value, the values that it is a part of.
    wholes: Vec<Vec<usize>>,
    /// For each value, the number of its parts.
    parts: Vec<usize>,
}

impl Looks {
    /// The place of a value, which is added if it is new.
    fn place(&mut self, value: Requirement) -> usize {
        if let Some(&known) = self.places.get(&value) {
            return known;
        }
        self.places.insert(value.clone(), self.values.len());
        self.values.push(value);
        self.wholes.push(Vec::new());
        self.parts.push(0);
        self.values.len() - 1
    }

    /// Whether some value can contain itself. Values of which all parts are done are done, from the innermost on.
    fn has_circle(&self) -> bool {
        let mut left = self.parts.clone();
        let mut done: Vec<usize> = (0..left.len()).filter(|place| left[*place] == 0).collect();
        let mut count = 0;
        while let Some(place) = done.pop() {
            count += 1;
            for &whole in &self.wholes[place] {
                left[whole] -= 1;
                if left[whole] == 0 {
                    done.push(whole);
                }
            }
        }
        count < left.len()
    }
}

impl Search {
    /// Whether infinitely many values satisfy all assertions of `all` and none of `none`. `false` may also mean that
    /// this was not found out.
    pub(crate) fn is_infinite(&mut self, all: &[AssertionId], none: &[AssertionId]) -> Result<bool, AutomatonError> {
        if self.only_value(all).is_some() || !self.satisfiable(all, none)? {
            return Ok(false);
        }
        self.some_infinite(vec![Requirement::new(all, none)])
    }

    /// Whether there are infinitely many ways to complete an object in which the keys `exhausted` cannot come any more.
    pub(crate) fn is_infinite_object(
        &mut self,
        formula: FormulaId,
        exhausted: &[TextId],
    ) -> Result<bool, AutomatonError> {
        if let Some(&known) = self.value_memo.infinite_containers.get(&formula) {
            return Ok(known);
        }
        let infinite = match self.object_can_end(formula, exhausted)? {
            false => false,
            true => match self.object_parts(formula, exhausted)? {
                Found::Infinite => true,
                Found::Parts(parts) => self.some_infinite(parts)?,
            },
        };
        let is_known = infinite || self.fixpoint.is_idle();
        if is_known && self.scarce_names(formula)? == self.algebra.languages.none() {
            self.value_memo.infinite_containers.insert(formula, infinite);
        }
        Ok(infinite)
    }

    /// Whether there are infinitely many ways to complete an array.
    pub(crate) fn is_infinite_array(&mut self, formula: FormulaId) -> Result<bool, AutomatonError> {
        if let Some(&known) = self.value_memo.infinite_containers.get(&formula) {
            return Ok(known);
        }
        let infinite = match self.array_parts(formula)? {
            Found::Infinite => true,
            Found::Parts(parts) => self.some_infinite(parts)?,
        };
        if infinite || self.fixpoint.is_idle() {
            self.value_memo.infinite_containers.insert(formula, infinite);
        }
        Ok(infinite)
    }

    /// Whether one of `parts` has infinitely many values. A value that can contain itself has. Outer values are looked at
    /// first, because one that shows at once is mostly near.
    fn some_infinite(&mut self, parts: Vec<Requirement>) -> Result<bool, AutomatonError> {
        let mut looks = Looks::default();
        for part in parts {
            looks.place(part);
        }
        let mut next = 0;
        while let Some(value) = looks.values.get(next).cloned() {
            let found = match self.value_memo.infinite.get(&value) {
                Some(false) => Found::Parts(Vec::new()),
                Some(true) => Found::Infinite,
                None => self.infinite_parts(&value)?,
            };
            match found {
                Found::Infinite => {
                    // All values that contain this one are infinite as well.
                    let mut open = vec![next];
                    while let Some(place) = open.pop() {
                        let value = looks.values[place].clone();
                        self.value_memo.infinite.insert(value, true);
                        open.append(&mut looks.wholes[place]);
                    }
                    return Ok(true);
                }
                Found::Parts(mut parts) => {
                    parts.sort_unstable();
                    parts.dedup();
                    looks.parts[next] = parts.len();
                    for part in parts {
                        let place = looks.place(part);
                        looks.wholes[place].push(next);
                    }
                }
            }
            next += 1;
            if next > MAX_LOOKS {
                return Ok(false);
            }
        }
        if looks.has_circle() {
            return Ok(true);
        }
        // While a query is being answered, what it asks for counts as impossible.
        if self.fixpoint.is_idle() {
            let values = looks.values.into_iter();
            self.value_memo.infinite.extend(values.map(|value| (value, false)));
        }
        Ok(false)
    }

    fn infinite_parts(&mut self, value: &Requirement) -> Result<Found, AutomatonError> {
        let value = self.algebra.combined(&value.all, &value.none)?;
        let numbers = self.algebra.number_texts.sets_mut().cardinality(value.numbers, 1)?;
        if numbers == numbers::NumberCount::Infinite
            || self.algebra.languages.cardinality(value.strings, 1)? == strings::Cardinality::Infinite
        {
            return Ok(Found::Infinite);
        }
        let mut all = Vec::new();
        for found in [self.array_parts(value.arrays)?, self.object_parts(value.objects, &[])?] {
            match found {
                Found::Infinite => return Ok(Found::Infinite),
                Found::Parts(parts) => all.extend(parts),
            }
        }
        Ok(Found::Parts(all))
    }

    fn array_parts(&mut self, formula: FormulaId) -> Result<Found, AutomatonError> {
        let is_unique = self.algebra.asks_unique(&[formula]);
        let formula = self.algebra.with_unique(formula, true);
        let mut parts = Vec::new();
        let mut found = vec![formula];
        let mut next = 0;
        while let Some(&at) = found.get(next) {
            next += 1;
            if at == FormulaId::FALSE {
                continue;
            }
            let assertions = self.algebra.assertions_of_item(&[at]);
            for vector in self.verdict_vectors(&assertions)? {
                let after =
                    self.algebra
                        .after_item(at, &|assertion| verdict_of(&assertions, &vector, assertion), false);
                // If items have to differ, it is not known whether values for the items that must follow are left.
                let can_end =
                    self.algebra.at_end(after) || (!is_unique && self.array_can_end(after, ItemsId::EMPTY)?);
                if can_end && after == at && !is_unique {
                    return Ok(Found::Infinite);
                }
                if can_end {
                    parts.push(Requirement::of(&assertions, &vector));
                }
                if !found.contains(&after) && found.len() < MAX_ARRAY {
                    found.push(after);
                }
            }
        }
        Ok(Found::Parts(parts))
    }

    fn object_parts(&mut self, formula: FormulaId, exhausted: &[TextId]) -> Result<Found, AutomatonError> {
        let mut parts = Vec::new();
        if formula == FormulaId::FALSE {
            return Ok(Found::Parts(parts));
        }
        let names = self.algebra.named_keys(formula);
        for cell in self.algebra.key_cells(formula, &names, exhausted)? {
            let assertions = self.member_parts(formula, MemberKey::In(&cell.within), exhausted)?;
            match cell.left {
                None if !assertions.is_empty() => return Ok(Found::Infinite),
                Some(0) => {}
                _ => parts.extend(assertions),
            }
        }
        for name in names {
            let exhausted = [exhausted, &[name]].concat();
            parts.extend(self.member_parts(formula, MemberKey::Known(name), &exhausted)?);
        }
        Ok(Found::Parts(parts))
    }

    /// The requirements on the value of a member after which the object can be completed.
    fn member_parts(
        &mut self,
        formula: FormulaId,
        name: MemberKey<'_>,
        exhausted: &[TextId],
    ) -> Result<Vec<Requirement>, AutomatonError> {
        let assertions = self.algebra.assertions_of_member(&[formula], name)?;
        if self.algebra.is_independent_uncounted(formula) {
            // The other members do not depend on this one.
            let possible = self.satisfiable(&assertions, &[])? && self.object_can_end(formula, exhausted)?;
            return Ok(possible
                .then(|| Requirement::new(&assertions, &[]))
                .into_iter()
                .collect());
        }
        let mut parts = Vec::new();
        let read = self.algebra.read_by_member(formula, name)?;
        for vector in self.verdict_vectors(&assertions)? {
            let after = self
                .algebra
                .after_read(formula, &read, &|assertion| verdict_of(&assertions, &vector, assertion));
            if self.object_can_end(after, exhausted)? {
                parts.push(Requirement::of(&assertions, &vector));
            }
        }
        Ok(parts)
    }
}

impl Requirement {
    /// The requirement that a value has these verdicts.
    fn of(assertions: &[AssertionId], vector: &[bool]) -> Self {
        let (all, none) = split(assertions, vector);
        Self::new(&all, &none)
    }
}
