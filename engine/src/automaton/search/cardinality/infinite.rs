//! Constraints that infinitely many values satisfy: one more value always differs from those seen.
//!
//! A set of values is infinite if a part can have infinitely many values, if a member can have infinitely many keys, if an array can grow
//! without end, or if a requirement recurs within itself. The search follows parts of values until one of these shows.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{AssertionId, AtomKind, Constraint, FormulaId, ItemsId, MemberKey, TextId};
use crate::automaton::search::{ExpectationId, Search};
use crate::{numbers, strings};
use hashbrown::{HashMap, HashSet};

/// Maximal number of values and parts of values visited for one answer.
const MAX_LOOKS: usize = 2_000;

/// Maximal number of items of an array that are visited.
const MAX_ITEMS: usize = 64;

/// The result of looking at a value, or at the remainder of a container.
enum Found {
    /// Infinitely many values.
    Infinite,
    /// Infinitely many values, if infinitely many satisfy one of these constraints, each on a part of some value.
    Parts(Vec<Constraint>),
}

/// The values visited for one answer, with the part-of relation between them.
#[derive(Default)]
struct Looks {
    values: Vec<Constraint>,
    places: HashMap<Constraint, usize>,
    /// For each value, the values that it is a part of.
    wholes: Vec<Vec<usize>>,
    /// For each value, the number of its parts.
    parts: Vec<usize>,
}

impl Looks {
    /// The index of a value, which is added if it is new.
    fn place(&mut self, value: Constraint) -> usize {
        if let Some(&known) = self.places.get(&value) {
            return known;
        }
        self.places.insert(value, self.values.len());
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
        let value = self.algebra.combined(all, none)?;
        self.some_infinite(vec![value])
    }

    /// Whether infinitely many values meet an expectation, so that one always differs from any given others. `false`
    /// may also mean that this was not found out.
    pub(crate) fn value_is_infinite(&mut self, expected: ExpectationId) -> Result<bool, AutomatonError> {
        if let Some(&known) = self.expectations.infinite.get(&expected) {
            return Ok(known);
        }
        let value = self.constraint_of(expected)?;
        let is_infinite = self.has_value(&value)? && self.some_infinite(vec![value])?;
        self.expectations.infinite.insert(expected, is_infinite);
        Ok(is_infinite)
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
        let found = self.object_parts(formula, exhausted)?;
        let infinite = self.is_found_infinite(found)?;
        let is_known = infinite || self.fixpoint.is_idle();
        if is_known && self.has_no_scarce_names(formula)? {
            self.value_memo.infinite_containers.insert(formula, infinite);
        }
        Ok(infinite)
    }

    /// Whether there are infinitely many ways to complete an array.
    pub(crate) fn is_infinite_array(&mut self, formula: FormulaId) -> Result<bool, AutomatonError> {
        if let Some(&known) = self.value_memo.infinite_containers.get(&formula) {
            return Ok(known);
        }
        let found = self.array_parts(formula)?;
        let infinite = self.is_found_infinite(found)?;
        if infinite || self.fixpoint.is_idle() {
            self.value_memo.infinite_containers.insert(formula, infinite);
        }
        Ok(infinite)
    }

    fn is_found_infinite(&mut self, found: Found) -> Result<bool, AutomatonError> {
        match found {
            Found::Infinite => Ok(true),
            Found::Parts(parts) => self.some_infinite(parts),
        }
    }

    /// Whether infinitely many values satisfy one of the constraints. A value that can contain itself is one of
    /// infinitely many. Outer values are looked at first, because one that shows at once is mostly near.
    pub(super) fn some_infinite(&mut self, parts: Vec<Constraint>) -> Result<bool, AutomatonError> {
        let mut looks = Looks::default();
        for part in parts {
            looks.place(part);
        }
        let mut next = 0;
        while let Some(&value) = looks.values.get(next) {
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
                        self.value_memo.infinite.insert(looks.values[place], true);
                        open.append(&mut looks.wholes[place]);
                    }
                    return Ok(true);
                }
                Found::Parts(mut parts) => {
                    let mut different = HashSet::new();
                    parts.retain(|part| different.insert(*part));
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

    fn infinite_parts(&mut self, value: &Constraint) -> Result<Found, AutomatonError> {
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
        let mut parts = Vec::new();
        if formula == FormulaId::FALSE {
            return Ok(Found::Parts(parts));
        }
        // An array longer than all positions and counts that the formula mentions can have one of its items repeated, unless all have to differ.
        let asks_unique = self.algebra.asks_unique(&[formula]);
        let longer = (self.items_asked(&[formula]) as u64).saturating_add(1);
        let longer = self.algebra.atom(AtomKind::LengthAtLeast(longer));
        let mut repeating = vec![formula, longer];
        if asks_unique {
            let unique = self.algebra.atom(AtomKind::Unique);
            repeating.push(self.algebra.formulas.not(unique));
        }
        let repeating = self.algebra.formulas.and(repeating);
        if self.array_can_end(repeating, ItemsId::EMPTY)? {
            return Ok(Found::Infinite);
        }
        if asks_unique {
            // Whether the other items still find values that differ is not looked into: an item that is alone needs none,
            // and items of one kind find some if there are infinitely many.
            let differing = self.algebra.with_unique(formula, true);
            let two = self.algebra.atom(AtomKind::LengthAtLeast(2));
            let no_two = self.algebra.formulas.not(two);
            let alone = self.algebra.formulas.and([differing, no_two]);
            parts.extend(self.item_part(alone)?);
            if let Some(runs) = self.items_to_array_end(&[differing])?
                && let Some((first, others)) = runs.split_first()
                && others.iter().all(|run| run.item == first.item)
            {
                // Whether so many items that differ exist at all may depend on this array itself.
                let count = runs.iter().fold(0_u64, |count, run| count.saturating_add(run.count));
                let mut whole = vec![
                    self.algebra.atom(AtomKind::Unique),
                    self.algebra.atom(AtomKind::LengthAtLeast(count)),
                ];
                for &assertion in &first.item.all {
                    whole.push(self.algebra.items(0, None, assertion));
                }
                for &assertion in &first.item.none {
                    let one = self.algebra.atom(AtomKind::Contains(assertion, 1));
                    whole.push(self.algebra.formulas.not(one));
                }
                let whole = self.algebra.formulas.and(whole);
                if self.array_can_end(whole, ItemsId::EMPTY)? {
                    parts.push(self.algebra.combined(&first.item.all, &first.item.none)?);
                }
            }
            return Ok(Found::Parts(parts));
        }
        for place in self.positions_judged_apart(formula).into_iter().take(MAX_ITEMS) {
            let first = self.algebra.with_item_first(formula, place);
            parts.extend(self.item_part(first)?);
        }
        Ok(Found::Parts(parts))
    }

    /// The constraint on the first item of an array after which the array can be completed; `None` if there is no item.
    fn item_part(&mut self, formula: FormulaId) -> Result<Option<Constraint>, AutomatonError> {
        let expected = self.item_expected(&[formula], ItemsId::EMPTY)?;
        expected.map(|expected| self.constraint_of(expected)).transpose()
    }

    fn object_parts(&mut self, formula: FormulaId, exhausted: &[TextId]) -> Result<Found, AutomatonError> {
        let mut parts = Vec::new();
        if !self.object_can_end(formula, exhausted)? {
            return Ok(Found::Parts(parts));
        }
        let names = self.algebra.named_keys(formula);
        let mut cells = self.algebra.cell_search(formula, &names, exhausted)?;
        while let Some(cell) = self.algebra.next_cell(&mut cells)? {
            let part = self.member_part(formula, MemberKey::In(&cell.within), exhausted)?;
            match cell.left {
                None if part.is_some() => return Ok(Found::Infinite),
                Some(0) => {}
                _ => parts.extend(part),
            }
        }
        for name in names {
            let exhausted = [exhausted, &[name]].concat();
            parts.extend(self.member_part(formula, MemberKey::Known(name), &exhausted)?);
        }
        Ok(Found::Parts(parts))
    }

    /// The constraint on the value of a member after which the object can be completed; `None` if it cannot come.
    pub(super) fn member_part(
        &mut self,
        formula: FormulaId,
        name: MemberKey<'_>,
        exhausted: &[TextId],
    ) -> Result<Option<Constraint>, AutomatonError> {
        let (assertions, diagram) = self.decide_member(&[formula], name, exhausted)?;
        let expected = self.expect_possible(assertions, diagram)?;
        expected.map(|expected| self.constraint_of(expected)).transpose()
    }
}
