//! Values without end: of which there is always one more that differs from those seen.

use hashbrown::HashMap;

use super::assertion::AssertionId;
use super::formula::FormulaId;
use super::least_fixpoint::Assertions;
use super::read::Name;
use super::satisfiable::{split, verdict_of};
use super::{Automaton, AutomatonError};
use crate::numbers;
use crate::strings;

/// Values and parts of values that are looked at for one answer.
const MAX_LOOKS: usize = 2_000;
/// States of an array that are looked at.
const MAX_ARRAY: usize = 64;

/// What is found of a value, or of the rest of a container.
enum Found {
    /// There is no end of them.
    Infinite,
    /// There is none if there is none of one of these, each of which is a part of some value.
    Parts(Vec<Assertions>),
}

/// A value that is looked at, and what is left to look at in it.
struct Look {
    value: Assertions,
    parts: Vec<Assertions>,
}

impl Automaton {
    /// Whether there is no end of values that satisfy all assertions of `all` and none of `none`. A no may also say that this
    /// did not show.
    pub(super) fn is_infinite(&mut self, all: &[AssertionId], none: &[AssertionId]) -> Result<bool, AutomatonError> {
        if !self.satisfiable(all, none)? {
            return Ok(false);
        }
        self.some_infinite(vec![Assertions::new(all, none)])
    }

    /// Whether there is no end of ways to complete an object, in which names `gone` cannot come any more.
    pub(super) fn is_infinite_object(
        &mut self,
        formula: FormulaId,
        gone: &[super::TextId],
    ) -> Result<bool, AutomatonError> {
        if let Some(&known) = self.infinite_rests.get(&formula) {
            return Ok(known);
        }
        let infinite = match self.object_can_end(formula, gone)? {
            false => false,
            true => match self.object_parts(formula, gone)? {
                Found::Infinite => true,
                Found::Parts(parts) => self.some_infinite(parts)?,
            },
        };
        if self.scarce_names(formula)? == self.languages.none() {
            self.infinite_rests.insert(formula, infinite);
        }
        Ok(infinite)
    }

    /// Whether there is no end of ways to complete an array.
    pub(super) fn is_infinite_array(&mut self, formula: FormulaId) -> Result<bool, AutomatonError> {
        if let Some(&known) = self.infinite_rests.get(&formula) {
            return Ok(known);
        }
        let infinite = match self.array_parts(formula)? {
            Found::Infinite => true,
            Found::Parts(parts) => self.some_infinite(parts)?,
        };
        self.infinite_rests.insert(formula, infinite);
        Ok(infinite)
    }

    /// Whether one of `parts` is infinite. A value that has itself as a part is.
    fn some_infinite(&mut self, parts: Vec<Assertions>) -> Result<bool, AutomatonError> {
        let mut path: Vec<Look> = Vec::new();
        let mut looks = 0;
        let mut on_path: HashMap<Assertions, ()> = HashMap::new();
        let mut left = parts;
        loop {
            let Some(value) = left.pop() else {
                let Some(look) = path.pop() else { return Ok(false) };
                on_path.remove(&look.value);
                self.infinite.insert(look.value, false);
                left = look.parts;
                continue;
            };
            let known = match on_path.contains_key(&value) {
                true => Some(true),
                false => self.infinite.get(&value).copied(),
            };
            let found = match known {
                Some(false) => continue,
                Some(true) => Found::Infinite,
                None => self.value_parts(&value)?,
            };
            match found {
                Found::Infinite => {
                    self.infinite.insert(value, true);
                    self.infinite.extend(path.into_iter().map(|look| (look.value, true)));
                    return Ok(true);
                }
                Found::Parts(parts) => {
                    on_path.insert(value.clone(), ());
                    let parts = std::mem::replace(&mut left, parts);
                    path.push(Look { value, parts });
                }
            }
            looks += 1;
            if looks > MAX_LOOKS {
                return Ok(false);
            }
        }
    }

    fn value_parts(&mut self, value: &Assertions) -> Result<Found, AutomatonError> {
        let value = self.combined(&value.all, &value.none)?;
        let numbers = self.number_texts.sets_mut().cardinality(value.numbers, 1)?;
        if numbers == numbers::NumberCount::Infinite
            || self.languages.cardinality(value.strings, 1)? == strings::Cardinality::Infinite
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
        let is_unique = self.asks_unique(&[formula]);
        let formula = self.with_unique(formula, true);
        let mut parts = Vec::new();
        let mut found = vec![formula];
        let mut next = 0;
        while let Some(&at) = found.get(next) {
            next += 1;
            if at == FormulaId::FALSE {
                continue;
            }
            let assertions = self.assertions_of_item(&[at]);
            for vector in self.vectors(&assertions)? {
                let after = self.after_item(at, &|assertion| verdict_of(&assertions, &vector, assertion), false);
                // Where items have to differ, it is not known whether those that would have to come are there.
                let can_end = self.at_end(after) || (!is_unique && self.array_can_end(after, &[])?);
                if can_end && after == at && !is_unique {
                    return Ok(Found::Infinite);
                }
                if can_end {
                    parts.push(Assertions::of(&assertions, &vector));
                }
                if !found.contains(&after) && found.len() < MAX_ARRAY {
                    found.push(after);
                }
            }
        }
        Ok(Found::Parts(parts))
    }

    fn object_parts(&mut self, formula: FormulaId, gone: &[super::TextId]) -> Result<Found, AutomatonError> {
        let mut parts = Vec::new();
        if formula == FormulaId::FALSE {
            return Ok(Found::Parts(parts));
        }
        let names = self.names(formula);
        for cell in self.cells(formula, &names, gone)? {
            let assertions = self.member_parts(formula, Name::In(&cell.within), gone)?;
            match cell.left {
                None if !assertions.is_empty() => return Ok(Found::Infinite),
                Some(0) => {}
                _ => parts.extend(assertions),
            }
        }
        for name in names {
            let gone = [gone, &[name]].concat();
            parts.extend(self.member_parts(formula, Name::Known(name), &gone)?);
        }
        Ok(Found::Parts(parts))
    }

    /// The values that a member may have in an object that can be completed.
    fn member_parts(
        &mut self,
        formula: FormulaId,
        name: Name<'_>,
        gone: &[super::TextId],
    ) -> Result<Vec<Assertions>, AutomatonError> {
        let assertions = self.assertions_of_member(&[formula], name)?;
        if self.is_plain(formula) {
            // The other members do not depend on this one.
            let possible = self.satisfiable(&assertions, &[])? && self.object_can_end(formula, gone)?;
            return Ok(possible
                .then(|| Assertions::new(&assertions, &[]))
                .into_iter()
                .collect());
        }
        let mut parts = Vec::new();
        let read = self.read_by_member(formula, name)?;
        for vector in self.vectors(&assertions)? {
            let after = self.after_read(formula, &read, &|assertion| verdict_of(&assertions, &vector, assertion));
            if self.object_can_end(after, gone)? {
                parts.push(Assertions::of(&assertions, &vector));
            }
        }
        Ok(parts)
    }
}

impl Assertions {
    /// What a value with these verdicts satisfies and what not.
    fn of(assertions: &[AssertionId], vector: &[bool]) -> Self {
        let (all, none) = split(assertions, vector);
        Self::new(&all, &none)
    }
}
