//! The verdicts on a member or item after which the container around it can be completed, as a decision diagram.
//!
//! The member is read with its verdicts open: where a verdict decides an atom, the residual formula speaks of the
//! verdict instead. A [model](super::tableau) completes the container for some verdicts. The residual formula under exactly the
//! members or items of the model is a *way*: a sufficient condition on the verdicts, under which this model completes the container.
//! The next model is looked for under the condition that no way found so far holds, until there is none; the diagram is the disjunction of the
//! ways. So the work grows with the number of essentially different ways, usually one for each alternative, and not with the number of
//! combinations of verdicts. Assertions with few values, such as the constants that tell alternatives apart, are decided value by
//! value instead.

use crate::automaton::error::{AutomatonError, check_limit};
use crate::automaton::formula::few_changed::{ChangedAtom, FewChanged};
use crate::automaton::formula::{AssertionId, Atom, AtomKind, DiagramId, FormulaId};
use crate::automaton::search::Search;
use hashbrown::HashSet;

/// Number of goals that a search for what a value may satisfy may take up for each state that a search may have: a goal is little work.
const GOALS_OF_A_STATE: usize = 8;

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

    /// The diagram of the verdicts on the assertions `read` for which a container with residual `formula`, which speaks of
    /// these verdicts, can be completed. `known` is one way, or `false`. `next` looks for a way under which the given formulas have
    /// the truth values beside them, and `can_end` decides whether a container without open verdicts can be completed.
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
        let are_few = few.len() == read.len();
        let is_few: HashSet<Atom> = few
            .iter()
            .map(|place| self.algebra.atoms.intern(AtomKind::Verdict(*place)))
            .collect();
        let apart = |this: &mut Self, formula| match is_few.is_empty() {
            true => FewChanged::unchanged(formula),
            false => {
                let value = |atom: Atom| is_few.contains(&atom).then_some(false);
                FewChanged::new(&mut this.algebra.formulas, formula, &value)
            }
        };
        let (goals_before, mut given) = (self.goals, 0);
        let (mut ways, mut admitted) = (vec![known], Vec::new());
        let (left, mut ways_apart) = (apart(self, formula), vec![apart(self, known)]);
        for satisfied in combinations {
            let atoms = &mut self.algebra.atoms;
            let satisfied_atoms = satisfied.iter().map(|place| atoms.intern(AtomKind::Verdict(*place)));
            let those_true: Vec<ChangedAtom> = satisfied_atoms.map(|atom| (atom, Some(true))).collect();
            let formulas = &mut self.algebra.formulas;
            let under: Vec<FormulaId> = ways_apart.iter().map(|way| way.with(formulas, &those_true)).collect();
            let is_covered = under.contains(&FormulaId::TRUE);
            if is_covered && !are_few {
                continue;
            }
            let after = left.with(formulas, &those_true);
            if are_few {
                let is_admitted = is_covered || can_end(self, after)?;
                admitted.extend(is_admitted.then_some(satisfied));
                continue;
            }
            let mut goals = vec![(after, true)];
            for way in under.into_iter().filter(|way| *way != FormulaId::FALSE) {
                goals.insert(0, (way, false));
            }
            while let Some(way) = next(self, &goals)? {
                let way_apart = apart(self, way);
                goals.insert(0, (way_apart.with(&mut self.algebra.formulas, &those_true), false));
                ways.push(way);
                ways_apart.push(way_apart);
                if goals[0].0 == FormulaId::TRUE {
                    break;
                }
                let limit = ("verdicts", self.algebra.limits.verdicts);
                check_limit(ways.len(), limit, "combinations of subschemas that a value may satisfy")?;
                // Each search looks into the ways found before, so that their number alone does not bound the work. The goals that it
                // is given, one for each way, are not counted.
                let limit = GOALS_OF_A_STATE.saturating_mul(self.algebra.limits.search_states);
                let what = "goals in the search for what a value may satisfy";
                given += goals.len();
                let found = (self.goals - goals_before).saturating_sub(given);
                check_limit(found, ("search_states", limit), what)?;
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
        let is_few = |place: &u32| split.few.binary_search(&(*place as usize)).is_ok();
        let satisfied = |places: &[u32]| places.iter().copied().filter(is_few).collect::<Vec<u32>>();
        let mut all: Vec<Vec<u32>> = split.known.iter().map(|(_, places)| satisfied(places)).collect();
        all.push(Vec::new());
        all.sort_unstable();
        all.dedup();
        Ok((split.few.iter().map(|place| *place as u32).collect(), all))
    }

    /// The diagram of the verdicts under which all assertions of at least one way are satisfied; a way lists the indices of its assertions.
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
        let limit = ("verdicts", algebra.limits.verdicts.saturating_mul(64));
        algebra.diagrams.of(formula, &verdicts, &algebra.formulas, limit)
    }
}
