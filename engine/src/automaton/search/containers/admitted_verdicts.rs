//! The verdicts of a member or item after which the container around it can be completed.
//!
//! The member is read without its verdicts being known: where its verdicts decide an atom, the residual formula speaks
//! of the verdicts instead. A [model](super::tableau) completes the container for some verdicts. What is left of the
//! formula where exactly the members or items of the model come is a *way*: a formula over verdicts, for all of which
//! this model completes the container. The next model is looked for under the condition that no way found so far
//! applies, until there is none. So the work grows with the number of essentially different ways, of which there is
//! usually one for each alternative, and not with the number of combinations of verdicts. Assertions with few values,
//! such as the constants that tell alternatives apart, are decided value by value instead.

use crate::automaton::error::{AutomatonError, check_limit};
use crate::automaton::formula::{AssertionId, Atom, AtomKind, DiagramId, FormulaId};
use crate::automaton::search::Search;

impl Search {
    /// The formulas that stand for the verdicts of this many assertions.
    pub(in crate::automaton::search) fn open_verdicts(
        &mut self,
        assertions: usize,
    ) -> Result<Vec<FormulaId>, AutomatonError> {
        let limit = ("assertions", self.algebra.limits.assertions);
        check_limit(
            assertions,
            limit,
            "subschemas and earlier items that one value is compared with",
        )?;
        let verdicts = 0..assertions as u32;
        Ok(verdicts
            .map(|place| self.algebra.atom(AtomKind::Verdict(place)))
            .collect())
    }

    /// The diagram of the verdicts of the assertions `read` for which a container with residual `formula`, which speaks of
    /// them, can be completed. One way to do so is known, or `false`. `next` looks for a way for which the formulas have
    /// the truth values beside them, and `can_end` says whether a container without open verdicts can be completed.
    pub(in crate::automaton::search) fn admitted_verdicts(
        &mut self,
        formula: FormulaId,
        read: &[AssertionId],
        known: FormulaId,
        mut next: impl FnMut(&mut Self, &[(FormulaId, bool)]) -> Result<Option<FormulaId>, AutomatonError>,
        mut can_end: impl FnMut(&mut Self, FormulaId) -> Result<bool, AutomatonError>,
    ) -> Result<DiagramId, AutomatonError> {
        if known == FormulaId::TRUE {
            return Ok(DiagramId::ALWAYS);
        }
        let (few, combinations) = self.finite_verdicts(read)?;
        let (mut ways, mut admitted) = (vec![known], Vec::new());
        let are_few = few.len() == read.len();
        for satisfied in combinations {
            let algebra = &self.algebra;
            let verdict_of = |atom| match algebra.atoms.kind(atom) {
                AtomKind::Verdict(place) if are_few || few.binary_search(&place).is_ok() => {
                    Some(satisfied.binary_search(&place).is_ok())
                }
                _ => None,
            };
            let is_covered = ways
                .iter()
                .any(|way| algebra.formulas.evaluate(*way, &verdict_of) == Some(true));
            if is_covered && !are_few {
                continue;
            }
            let atoms = algebra.formulas.atoms(formula).iter();
            let fixed = atoms.filter_map(|atom| Some((*atom, FormulaId::constant(verdict_of(*atom)?))));
            let fixed: Vec<(Atom, FormulaId)> = fixed.collect();
            if are_few {
                let is_admitted = is_covered || {
                    let after = self.algebra.formulas.replace(formula, &fixed);
                    can_end(self, after)?
                };
                admitted.extend(is_admitted.then_some(satisfied));
                continue;
            }
            let mut goals = vec![(self.algebra.formulas.replace(formula, &fixed), true)];
            for &way in &ways {
                goals.insert(0, (self.algebra.formulas.replace(way, &fixed), false));
            }
            while let Some(way) = next(self, &goals)? {
                ways.push(way);
                goals.insert(0, (self.algebra.formulas.replace(way, &fixed), false));
                if goals[0].0 == FormulaId::TRUE {
                    break;
                }
                let limit = ("verdicts", self.algebra.limits.verdicts);
                check_limit(ways.len(), limit, "combinations of subschemas that a value may satisfy")?;
            }
        }
        if are_few {
            return Ok(self.algebra.diagrams.among_satisfied(&admitted, read.len() as u32));
        }
        let ways = self.algebra.formulas.or(ways);
        self.diagram_of(ways)
    }

    /// The indices of those assertions that have few values, and for each combination of verdicts that values have for
    /// them, the indices of those that are satisfied; all sorted.
    fn finite_verdicts(&mut self, read: &[AssertionId]) -> Result<(Vec<u32>, Vec<Vec<u32>>), AutomatonError> {
        let Some(split) = self.split_finite(read)? else {
            // No assertion has to be looked at: there is one combination of none.
            return Ok((Vec::new(), vec![Vec::new()]));
        };
        let satisfied = |verdicts: &[bool]| {
            let few = split.few.iter().filter(|place| verdicts[**place]);
            few.map(|place| *place as u32).collect::<Vec<u32>>()
        };
        let mut all: Vec<Vec<u32>> = split.known.iter().map(|(_, verdicts)| satisfied(verdicts)).collect();
        all.push(Vec::new());
        all.sort_unstable();
        all.dedup();
        Ok((split.few.iter().map(|place| *place as u32).collect(), all))
    }

    /// The diagram of the verdicts under which all assertions of one of the ways, which are given by their indices, are
    /// satisfied.
    pub(in crate::automaton::search) fn any_of_ways(&mut self, ways: &[Vec<u32>]) -> Result<DiagramId, AutomatonError> {
        let mut any = Vec::with_capacity(ways.len());
        for way in ways {
            let verdicts = way.iter().map(|place| self.algebra.atom(AtomKind::Verdict(*place)));
            let verdicts: Vec<FormulaId> = verdicts.collect();
            any.push(self.algebra.formulas.and(verdicts));
        }
        let any = self.algebra.formulas.or(any);
        self.diagram_of(any)
    }

    /// The diagram over verdicts that admits those for which a formula over verdicts holds.
    fn diagram_of(&mut self, formula: FormulaId) -> Result<DiagramId, AutomatonError> {
        let algebra = &mut self.algebra;
        let atoms = algebra.formulas.atoms(formula).iter();
        let verdicts = atoms.filter_map(|atom| match algebra.atoms.kind(*atom) {
            AtomKind::Verdict(assertion) => Some((*atom, assertion)),
            _ => None,
        });
        let verdicts: Vec<(Atom, u32)> = verdicts.collect();
        let limit = ("verdicts", 64 * algebra.limits.verdicts);
        algebra.diagrams.of(formula, &verdicts, &algebra.formulas, limit)
    }
}
