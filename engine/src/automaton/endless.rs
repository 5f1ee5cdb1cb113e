//! Values without end: of which there is always one more that differs from those seen.

use hashbrown::HashMap;

use super::formula::FormulaId;
use super::goal::GoalId;
use super::questions::Goals;
use super::read::Name;
use super::satisfiable::{outcome_of, split};
use super::{Automaton, Trouble};
use crate::numbers;
use crate::strings;

/// Values and parts of values that are looked at for one answer.
const MAX_LOOKS: usize = 2_000;
/// States of an array that are looked at.
const MAX_ARRAY: usize = 64;

/// What is found of a value, or of the rest of a container.
enum Found {
    /// There is no end of them.
    Endless,
    /// There is none if there is none of one of these, each of which is a part of some value.
    Parts(Vec<Goals>),
}

/// A value that is looked at, and what is left to look at in it.
struct Look {
    value: Goals,
    parts: Vec<Goals>,
}

impl Automaton {
    /// Whether there is no end of values that satisfy all goals of `all` and none of `none`. A no may also say that this
    /// did not show.
    pub(super) fn is_endless(&mut self, all: &[GoalId], none: &[GoalId]) -> Result<bool, Trouble> {
        if !self.satisfiable(all, none)? {
            return Ok(false);
        }
        self.some_endless(vec![Goals::new(all, none)])
    }

    /// Whether there is no end of ways to complete an object, in which names `gone` cannot come any more.
    pub(super) fn is_endless_object(&mut self, formula: FormulaId, gone: &[super::TextId]) -> Result<bool, Trouble> {
        if let Some(&known) = self.endless_rests.get(&formula) {
            return Ok(known);
        }
        let endless = match self.object_can_end(formula, gone)? {
            false => false,
            true => match self.object_parts(formula, gone)? {
                Found::Endless => true,
                Found::Parts(parts) => self.some_endless(parts)?,
            },
        };
        if self.scarce_names(formula)? == self.languages.none() {
            self.endless_rests.insert(formula, endless);
        }
        Ok(endless)
    }

    /// Whether there is no end of ways to complete an array.
    pub(super) fn is_endless_array(&mut self, formula: FormulaId) -> Result<bool, Trouble> {
        if let Some(&known) = self.endless_rests.get(&formula) {
            return Ok(known);
        }
        let endless = match self.array_parts(formula)? {
            Found::Endless => true,
            Found::Parts(parts) => self.some_endless(parts)?,
        };
        self.endless_rests.insert(formula, endless);
        Ok(endless)
    }

    /// Whether one of `parts` is endless. A value that has itself as a part is.
    fn some_endless(&mut self, parts: Vec<Goals>) -> Result<bool, Trouble> {
        let mut path: Vec<Look> = Vec::new();
        let mut looks = 0;
        let mut on_path: HashMap<Goals, ()> = HashMap::new();
        let mut left = parts;
        loop {
            let Some(value) = left.pop() else {
                let Some(look) = path.pop() else { return Ok(false) };
                on_path.remove(&look.value);
                self.endless.insert(look.value, false);
                left = look.parts;
                continue;
            };
            let known = match on_path.contains_key(&value) {
                true => Some(true),
                false => self.endless.get(&value).copied(),
            };
            let found = match known {
                Some(false) => continue,
                Some(true) => Found::Endless,
                None => self.value_parts(&value)?,
            };
            match found {
                Found::Endless => {
                    self.endless.insert(value, true);
                    self.endless.extend(path.into_iter().map(|look| (look.value, true)));
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

    fn value_parts(&mut self, value: &Goals) -> Result<Found, Trouble> {
        let value = self.combined(&value.all, &value.none)?;
        let numbers = self.number_texts.sets_mut().cardinality(value.numbers, 1)?;
        if numbers == numbers::Cardinality::Infinite
            || self.languages.cardinality(value.strings, 1)? == strings::Cardinality::Infinite
        {
            return Ok(Found::Endless);
        }
        let mut all = Vec::new();
        for found in [self.array_parts(value.arrays)?, self.object_parts(value.objects, &[])?] {
            match found {
                Found::Endless => return Ok(Found::Endless),
                Found::Parts(parts) => all.extend(parts),
            }
        }
        Ok(Found::Parts(all))
    }

    fn array_parts(&mut self, formula: FormulaId) -> Result<Found, Trouble> {
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
            let goals = self.goals_of_item(&[at]);
            for vector in self.vectors(&goals)? {
                let after = self.after_item(at, &|goal| outcome_of(&goals, &vector, goal), false);
                // Where items have to differ, it is not known whether those that would have to come are there.
                let can_end = self.at_end(after) || (!is_unique && self.array_can_end(after, &[])?);
                if can_end && after == at && !is_unique {
                    return Ok(Found::Endless);
                }
                if can_end {
                    parts.push(Goals::of(&goals, &vector));
                }
                if !found.contains(&after) && found.len() < MAX_ARRAY {
                    found.push(after);
                }
            }
        }
        Ok(Found::Parts(parts))
    }

    fn object_parts(&mut self, formula: FormulaId, gone: &[super::TextId]) -> Result<Found, Trouble> {
        let mut parts = Vec::new();
        if formula == FormulaId::FALSE {
            return Ok(Found::Parts(parts));
        }
        let names = self.names(formula);
        for cell in self.cells(formula, &names, gone)? {
            let goals = self.member_parts(formula, Name::In(&cell.within), gone)?;
            match cell.left {
                None if !goals.is_empty() => return Ok(Found::Endless),
                Some(0) => {}
                _ => parts.extend(goals),
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
    ) -> Result<Vec<Goals>, Trouble> {
        let goals = self.goals_of_member(&[formula], name)?;
        if self.is_plain(formula) {
            // The other members do not depend on this one.
            let possible = self.satisfiable(&goals, &[])? && self.object_can_end(formula, gone)?;
            return Ok(possible.then(|| Goals::new(&goals, &[])).into_iter().collect());
        }
        let mut parts = Vec::new();
        let read = self.read_by_member(formula, name)?;
        for vector in self.vectors(&goals)? {
            let after = self.after_read(formula, &read, &|goal| outcome_of(&goals, &vector, goal));
            if self.object_can_end(after, gone)? {
                parts.push(Goals::of(&goals, &vector));
            }
        }
        Ok(parts)
    }
}

impl Goals {
    /// What a value with these outcomes satisfies and what not.
    fn of(goals: &[GoalId], vector: &[bool]) -> Self {
        let (all, none) = split(goals, vector);
        Self::new(&all, &none)
    }
}
