//! Completion of arrays: a search over residual formulas, item by item.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{AtomKind, FormulaId, ItemsId, verdict_of};
use crate::automaton::search::{Query, Requirement, Search};
use hashbrown::{HashMap, HashSet};

impl Search {
    /// Whether an array with residual `formula` can be completed. `seen` holds its items so far, if it matters that
    /// items differ.
    pub(crate) fn array_can_end(&mut self, formula: FormulaId, seen: ItemsId) -> Result<bool, AutomatonError> {
        match formula.decided() {
            Some(decided) => Ok(decided),
            None if seen != ItemsId::EMPTY && self.algebra.asks_unique(&[formula]) => {
                self.unique_array_can_end(formula, seen, None)
            }
            None if self.algebra.asks_unique(&[formula]) => self.ask(Query::Array(formula)),
            None => {
                let formula = self.shortened_array(formula);
                self.ask(Query::Array(formula))
            }
        }
    }

    /// Whether an array can be completed after one more item, which meets the requirement `last` and differs from the
    /// items `seen`.
    pub(crate) fn array_can_end_after(
        &mut self,
        formula: FormulaId,
        seen: ItemsId,
        last: &Requirement,
    ) -> Result<bool, AutomatonError> {
        match formula.decided() {
            Some(decided) => Ok(decided),
            None if self.algebra.asks_unique(&[formula]) => self.unique_array_can_end(formula, seen, Some(last)),
            None => self.array_can_end(formula, ItemsId::EMPTY),
        }
    }

    /// Searches for a completion of an array, item by item.
    pub(super) fn search_array(&mut self, formula: FormulaId) -> Result<bool, AutomatonError> {
        let mut seen: HashSet<FormulaId> = HashSet::from([formula]);
        let mut left = vec![formula];
        while let Some(formula) = left.pop() {
            if self.algebra.at_end(formula) {
                return Ok(true);
            }
            let assertions = self.algebra.assertions_of_item(&[formula]);
            let mut vectors = self.verdict_vectors(&assertions)?;
            // The vector with the most assertions satisfied is looked at first.
            vectors.reverse();
            for vector in vectors {
                let after =
                    self.algebra
                        .after_item(formula, &|assertion| verdict_of(&assertions, &vector, assertion), false);
                if after != FormulaId::FALSE && seen.insert(after) {
                    left.push(after);
                }
            }
            self.check_states(seen.len(), "states of an array in the search for its end")?;
        }
        Ok(false)
    }

    /// The formula with shorter distances between the positions that it mentions, if that does not change whether the
    /// array can be completed. An item either brings the formula closer to its end, or changes nothing and can be left
    /// out or repeated. So between two positions no more items are needed than there are changes to make, plus one.
    fn shortened_array(&mut self, formula: FormulaId) -> FormulaId {
        let (mut places, mut to_find) = (Vec::new(), 1_u64);
        for &atom in self.algebra.formulas.atoms(formula) {
            match self.algebra.atoms.kind(atom) {
                AtomKind::LengthAtLeast(count) => places.push(count),
                AtomKind::Items { from, to, .. } => places.extend([from].into_iter().chain(to)),
                AtomKind::Contains(_, count) => to_find = to_find.saturating_add(count),
                _ => {}
            }
        }
        let Some(new) = shortened(places, to_find) else {
            return formula;
        };
        let mut changes = Vec::new();
        for atom in self.algebra.formulas.atoms(formula).to_vec() {
            let change = match self.algebra.atoms.kind(atom) {
                AtomKind::LengthAtLeast(count) => AtomKind::LengthAtLeast(new[&count]),
                AtomKind::Items { from, to, assertion } => AtomKind::Items {
                    from: new[&from],
                    to: to.map(|to| new[&to]),
                    assertion,
                },
                other => other,
            };
            changes.push((atom, self.algebra.atom(change)));
        }
        self.algebra.formulas.replace(formula, &changes)
    }
}

/// New numbers for some positions, in the same order and at most `most` apart. `None` if the positions are small
/// anyway.
pub(super) fn shortened(mut places: Vec<u64>, most: u64) -> Option<HashMap<u64, u64>> {
    /// Distance up to which counting is quicker than renumbering.
    const SHORT: u64 = 64;
    places.sort_unstable();
    places.dedup();
    let most = most.max(SHORT);
    if places.last().is_none_or(|last| *last <= most) {
        return None;
    }
    let (mut before, mut new_before) = (0, 0);
    let mut new = HashMap::new();
    for place in places {
        new_before += (place - before).min(most);
        before = place;
        new.insert(place, new_before);
    }
    Some(new)
}
