//! Monotone conditions on arrays, which further items can only help to satisfy: decided without a model.
//!
//! Such a condition consists of conjunctions and disjunctions of "at least so many items satisfy an assertion" and "there are at least so many
//! items". Items are chosen so that, one after the other, all satisfiable atoms become true, and none becomes false
//! again. So one pass decides whether the array can be completed, and after which verdicts on an item:
//! hundreds of `contains` cost one look-up each.

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
