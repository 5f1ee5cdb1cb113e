//! Arrays that items serve: conditions that ask for items and never stand in the way of further ones.
//!
//! Such a condition is made of conjunctions and disjunctions of "so many items satisfy an assertion" and "there are so many
//! items". One item after the other makes those of its atoms true that items can make true at all, and none of them becomes false
//! again. So it takes no model to see whether the array can be completed, nor which verdicts of an item it can be completed
//! after: hundreds of `contains` cost a look at each.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{AtomKind, FormulaId, FormulaNode};
use crate::automaton::search::Search;

impl Search {
    /// Whether an array with residual `formula` can be completed if the verdicts that the formula speaks of, and therefore
    /// also if some of them, do not hold; `None` if the formula asks for something else than items.
    pub(in crate::automaton::search) fn can_be_served(
        &mut self,
        formula: FormulaId,
    ) -> Result<Option<bool>, AutomatonError> {
        let atoms = self.algebra.formulas.atoms(formula).to_vec();
        let is_of_items = |kind| {
            matches!(
                kind,
                AtomKind::Contains(..) | AtomKind::LengthAtLeast(_) | AtomKind::Verdict(_)
            )
        };
        if !atoms.iter().all(|atom| is_of_items(self.algebra.atoms.kind(*atom))) {
            return Ok(None);
        }
        let formulas = &self.algebra.formulas;
        let is_joined = |part: &FormulaId| !matches!(formulas.node(*part), FormulaNode::Not(_) | FormulaNode::One(_));
        if !formulas.all_parts(formula).iter().all(is_joined) {
            return Ok(None);
        }
        let mut changes = Vec::with_capacity(atoms.len());
        for atom in atoms {
            let holds = match self.algebra.atoms.kind(atom) {
                AtomKind::Contains(assertion, _) => self.satisfiable(&[assertion], &[])?,
                AtomKind::Verdict(_) => false,
                _ => true,
            };
            changes.push((atom, FormulaId::constant(holds)));
        }
        Ok(self.algebra.formulas.replace(formula, &changes).decided())
    }
}
