//! `uniqueItems`: can the rest of an array be written so that all items differ, or so that two are equal?
//!
//! Values that are plenty can always be chosen to differ. Where the values of an item are few they are written out, and
//! items of few values have to find a different one each.

use std::collections::HashSet;

use super::atom::AtomKind;
use super::enumerate::{Values, can_all_differ, split};
use super::formula::FormulaId;
use super::goal::{Goal, GoalId};
use super::satisfiable::{MAX_STATES, outcome_of};
use super::{Automaton, Trouble};

/// Items beyond those seen for which values are told apart.
const MORE: usize = 40;

/// The values of the items in a possible rest of an array.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Rest {
    /// Number of items.
    items: usize,
    /// The values of each item that has few, those seen left out; sorted.
    few: Vec<Vec<GoalId>>,
}

impl Automaton {
    /// Whether an array of which `formula` is left, to which it matters that items differ, can be completed after the
    /// items `seen`.
    pub(super) fn unique_array_can_end(&mut self, formula: FormulaId, seen: &[GoalId]) -> Result<bool, Trouble> {
        let differing = self.with_unique(formula, true);
        if self.can_end_differing(differing, seen)? {
            return Ok(true);
        }
        let repeating = self.with_unique(formula, false);
        self.can_end_repeating(repeating, seen)
    }

    fn can_end_differing(&mut self, formula: FormulaId, seen: &[GoalId]) -> Result<bool, Trouble> {
        if formula == FormulaId::FALSE {
            return Ok(false);
        }
        let mut known = HashSet::from([(formula, Rest::default())]);
        let mut left: Vec<(FormulaId, Rest)> = known.iter().cloned().collect();
        while let Some((formula, rest)) = left.pop() {
            if self.at_end(formula) {
                return Ok(true);
            }
            let goals = self.goals_of_item(&[formula]);
            let mut vectors = self.vectors(&goals)?;
            vectors.reverse();
            for vector in vectors {
                let after = self.after_item(formula, &|goal| outcome_of(&goals, &vector, goal), false);
                if after == FormulaId::FALSE {
                    continue;
                }
                let Some(rest) = self.one_more(&rest, &goals, &vector, seen)? else {
                    continue;
                };
                if known.insert((after, rest.clone())) {
                    left.push((after, rest));
                }
            }
            if known.len() > MAX_STATES {
                return Err(Trouble::Limit("states of an array whose items differ"));
            }
        }
        Ok(false)
    }

    /// `rest` and one more item; none where it cannot differ from the others.
    fn one_more(
        &mut self,
        rest: &Rest,
        goals: &[GoalId],
        vector: &[bool],
        seen: &[GoalId],
    ) -> Result<Option<Rest>, Trouble> {
        let (all, none) = split(goals, vector);
        let mut more = rest.clone();
        if self.is_endless(&all, &none)? {
            return Ok(Some(more));
        }
        more.items += 1;
        if more.items > MORE {
            return Err(Trouble::Limit("items that have to differ and have few values"));
        }
        if let Values::All(values) = self.values_up_to(&all, &none, seen.len() + MORE + 1)? {
            let values = values.into_iter().map(|value| self.goals.intern(Goal::Equal(value)));
            let mut few: Vec<GoalId> = values.filter(|value| !seen.contains(value)).collect();
            few.sort_unstable();
            let place = more.few.binary_search(&few).unwrap_or_else(|place| place);
            more.few.insert(place, few);
        }
        Ok(can_all_differ(&more.few).then_some(more))
    }

    /// Whether numbers or strings alone give values without end.
    fn is_endless(&mut self, all: &[GoalId], none: &[GoalId]) -> Result<bool, Trouble> {
        let value = self.combined(all, none)?;
        Ok(
            self.number_texts.sets().cardinality(value.numbers, 1) == crate::numbers::Cardinality::Infinite
                || self.languages.cardinality(value.strings, 1)? == crate::strings::Cardinality::Infinite,
        )
    }

    fn can_end_repeating(&mut self, formula: FormulaId, seen: &[GoalId]) -> Result<bool, Trouble> {
        if formula == FormulaId::FALSE {
            return Ok(false);
        }
        // What was asked of the items since, any of which may be equal to a later one; and whether one was.
        let start = (formula, Vec::<(Vec<GoalId>, Vec<GoalId>)>::new(), false);
        let mut known = HashSet::from([start.clone()]);
        let mut left = vec![start];
        while let Some((formula, items, repeated)) = left.pop() {
            if repeated && self.at_end(formula) {
                return Ok(true);
            }
            let goals = self.goals_of_item(&[formula]);
            for vector in self.vectors(&goals)? {
                let after = self.after_item(formula, &|goal| outcome_of(&goals, &vector, goal), false);
                if after == FormulaId::FALSE {
                    continue;
                }
                let item = split(&goals, &vector);
                let repeated = repeated || self.may_repeat(&item, &items, seen)?;
                let mut items = items.clone();
                if let Err(place) = items.binary_search(&item) {
                    items.insert(place, item);
                }
                let next = (after, items, repeated);
                if known.insert(next.clone()) {
                    left.push(next);
                }
            }
            if known.len() > MAX_STATES {
                return Err(Trouble::Limit("states of an array with equal items"));
            }
        }
        Ok(false)
    }

    /// Whether an item may equal one seen, or one of those thought of before it.
    fn may_repeat(
        &mut self,
        item: &(Vec<GoalId>, Vec<GoalId>),
        items: &[(Vec<GoalId>, Vec<GoalId>)],
        seen: &[GoalId],
    ) -> Result<bool, Trouble> {
        let (all, none) = item;
        for value in seen {
            if self.satisfiable(&[all, &[*value][..]].concat(), none)? {
                return Ok(true);
            }
        }
        for (other_all, other_none) in items {
            let (all, none) = ([&all[..], other_all].concat(), [&none[..], other_none].concat());
            if self.satisfiable(&all, &none)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What else the next item has to be compared with where items have to differ: the items seen, and, where places
    /// differ in what they admit, the few values of each, because who takes which of them matters.
    pub(super) fn compared(&mut self, formulas: &[FormulaId], seen: &[GoalId]) -> Result<Vec<GoalId>, Trouble> {
        if !self.asks_unique(formulas) {
            return Ok(Vec::new());
        }
        let mut compared = seen.to_vec();
        let mut goals = Vec::new();
        let mut differ = false;
        for formula in formulas {
            for &atom in self.formulas.atoms(*formula) {
                match self.atoms.kind(atom) {
                    AtomKind::Items { from, to, goal } => {
                        differ |= from > 0 || to.is_some();
                        goals.push(goal);
                    }
                    AtomKind::Contains(goal, _) => {
                        differ = true;
                        goals.push(goal);
                    }
                    _ => {}
                }
            }
        }
        if differ {
            for goal in goals {
                if let Values::All(values) = self.values_up_to(&[goal], &[], seen.len() + MORE + 1)? {
                    compared.extend(values.into_iter().map(|value| self.goals.intern(Goal::Equal(value))));
                }
            }
        }
        Ok(compared)
    }
}
