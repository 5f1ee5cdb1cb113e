//! Completion of arrays: the [theory](Theory) of facts about the items to come.
//!
//! Facts say that all items of a range satisfy an assertion, that some item does not, that so many satisfy one, or how
//! many items there are. [Models](super::array_models) are made of them.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{AssertionId, Atom, AtomKind, DiagramId, FormulaId, ItemsId};
use crate::automaton::search::containers::tableau::{Reasons, Tableau, Theory, united};
use crate::automaton::search::containers::value_facts::ValueFacts;
use crate::automaton::search::{Query, Requirement, Search};
use hashbrown::{HashMap, HashSet};
use std::cell::Cell;

/// Items that stand next to each other and meet the same requirement.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) count: u64,
    pub(crate) item: Requirement,
}

/// Items that complete an array.
#[derive(Clone, Debug, Default)]
pub(in crate::automaton::search) struct ArrayModel {
    pub(super) runs: Vec<Run>,
}

impl ArrayModel {
    /// Number of items.
    fn length(&self) -> u64 {
        self.runs.iter().fold(0, |length, run| length.saturating_add(run.count))
    }

    /// The values of atoms that count items, if exactly these items come. Where items that satisfy an assertion are counted, one item
    /// of the run `less` is left out; the length is always that of the whole model. `None` where the model leaves an atom open.
    fn values(
        &self,
        atoms: &[(Atom, AtomKind)],
        counts: &Counts,
        less: Option<usize>,
    ) -> Option<Vec<(Atom, FormulaId)>> {
        let mut values = Vec::with_capacity(atoms.len());
        for &(atom, kind) in atoms {
            let value = match kind {
                AtomKind::LengthAtLeast(least) => self.length() >= least,
                AtomKind::Contains(assertion, least) => {
                    let (mut found, mut open) = counts.get(&assertion).copied()?;
                    match less.map(|run| self.runs[run].item.verdict_on(assertion)) {
                        Some(Some(true)) => found -= 1,
                        Some(None) => open -= 1,
                        Some(Some(false)) | None => {}
                    }
                    if found < least && found.saturating_add(open) >= least {
                        return None;
                    }
                    found >= least
                }
                _ => continue,
            };
            values.push((atom, FormulaId::constant(value)));
        }
        Some(values)
    }

    /// How many items satisfy each assertion that atoms count, and how many more may satisfy it.
    fn counts(&self, atoms: &[(Atom, AtomKind)]) -> Counts {
        let mut counts = Counts::new();
        for (_, kind) in atoms {
            let AtomKind::Contains(assertion, _) = *kind else {
                continue;
            };
            if counts.contains_key(&assertion) {
                continue;
            }
            let (mut found, mut open) = (0_u64, 0_u64);
            for run in &self.runs {
                match run.item.verdict_on(assertion) {
                    Some(true) => found = found.saturating_add(run.count),
                    Some(false) => {}
                    None => open = open.saturating_add(run.count),
                }
            }
            counts.insert(assertion, (found, open));
        }
        counts
    }
}

/// The number of items that satisfy an assertion, and of those that may.
type Counts = HashMap<AssertionId, (u64, u64)>;

/// Number of assertions on an item from which on a model that serves all verdicts is looked for first.
const ASSERTIONS_WORTH_A_MODEL: usize = 4;

/// The facts about the items of an array.
#[derive(Default)]
pub(in crate::automaton::search) struct ArrayFacts<'a> {
    facts: Vec<Fact>,
    /// The assertions of the item before all others, whose verdicts the formulas speak of.
    read: &'a [AssertionId],
    /// Facts about the item before all others.
    item: ValueFacts,
    /// Whether that item has to have the verdicts that do not hold, as well as those that do.
    is_exact: bool,
}

/// An atom, whether it holds, and the reasons of that.
pub(super) type Fact = (AtomKind, bool, Reasons);

impl Theory for ArrayFacts<'_> {
    type Model = ArrayModel;

    fn assume(
        &mut self,
        search: &mut Search,
        atom: AtomKind,
        holds: bool,
        reasons: &Reasons,
    ) -> Result<Option<Reasons>, AutomatonError> {
        // There are at least `one` items only if there are at least `two`, where `one >= two`: the first cannot hold where the second does
        // not.
        let contradicts = |(other, is, _): &&Fact| match (atom, *other) {
            (AtomKind::LengthAtLeast(one), AtomKind::LengthAtLeast(two)) => *is != holds && (one >= two) == holds,
            (AtomKind::Contains(this, one), AtomKind::Contains(that, two)) => {
                this == that && *is != holds && (one >= two) == holds
            }
            _ => false,
        };
        let other = self.facts.iter().find(contradicts);
        let conflict = other.map(|(.., others)| united([reasons, others]));
        self.facts.push((atom, holds, reasons.clone()));
        if conflict.is_some() {
            return Ok(conflict);
        }
        match atom {
            AtomKind::Verdict(place) if holds || self.is_exact => {
                self.item.add(self.read[place as usize], holds, reasons);
                self.item.check(search, false)
            }
            _ => Ok(None),
        }
    }

    fn value(&self, _: &Search, _: AtomKind) -> Option<bool> {
        None
    }

    fn changes(&self) -> usize {
        self.facts.len()
    }

    fn undo(&mut self, changes: usize) {
        for (atom, holds, _) in self.facts.drain(changes..) {
            if matches!(atom, AtomKind::Verdict(_)) && (holds || self.is_exact) {
                self.item.pop();
            }
        }
    }

    fn model(&mut self, search: &mut Search) -> Result<Result<ArrayModel, Reasons>, AutomatonError> {
        if let Some(conflict) = self.item.check(search, true)? {
            return Ok(Err(conflict));
        }
        search.array_of(&self.facts)
    }
}

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

    /// Works out whether an array can be completed.
    pub(in crate::automaton::search) fn search_array(&mut self, formula: FormulaId) -> Result<bool, AutomatonError> {
        if self.algebra.at_end(formula) {
            return Ok(true);
        }
        match self.can_be_served(formula)? {
            Some(can) => Ok(can),
            None => Ok(self.items_to_array_end(&[formula])?.is_some()),
        }
    }

    /// Items that complete an array for which all formulas hold; `None` if there are none.
    pub(crate) fn items_to_array_end(&mut self, formulas: &[FormulaId]) -> Result<Option<Vec<Run>>, AutomatonError> {
        let goals: Vec<(FormulaId, bool)> = formulas.iter().map(|formula| (*formula, true)).collect();
        let tableau = Tableau::new(ArrayFacts::default(), &goals, HashSet::new(), &self.algebra);
        Ok(tableau.search(self)?.map(|(_, model)| model.runs))
    }

    /// Returns the requirement on a value, and the items that complete an array, under which a formula holds that speaks of both; it speaks of the
    /// value by its verdicts on the assertions `read`. `None` if no value and items meet the formula.
    pub(in crate::automaton::search) fn value_and_items_to_array_end(
        &mut self,
        formula: FormulaId,
        read: &[AssertionId],
    ) -> Result<Option<(Requirement, Vec<Run>)>, AutomatonError> {
        let facts = ArrayFacts {
            read,
            is_exact: true,
            ..ArrayFacts::default()
        };
        let tableau = Tableau::new(facts, &[(formula, true)], HashSet::new(), &self.algebra);
        let found = tableau.search(self)?;
        Ok(found.map(|(facts, model)| (facts.item.requirement(), model.runs)))
    }

    /// The diagram of the verdicts of the assertions `read` for which an array with residual `formula`, which speaks of
    /// them, can be completed. If its items have to differ from one another and from `differing` more, the result is `None`
    /// where the values of an item may run out.
    pub(in crate::automaton::search) fn verdicts_to_array_end(
        &mut self,
        formula: FormulaId,
        read: &[AssertionId],
        differing: Option<usize>,
    ) -> Result<Option<DiagramId>, AutomatonError> {
        if differing.is_none() && self.can_be_served(formula)? == Some(true) {
            return Ok(Some(DiagramId::ALWAYS));
        }
        let are_ample = Cell::new(true);
        let checked = |this: &mut Self, runs: &[Run]| {
            if let Some(others) = differing {
                are_ample.set(are_ample.get() && this.are_ample(runs, others)?);
            }
            Ok::<(), AutomatonError>(())
        };
        let mut first = self.under_array(formula, &mut ArrayModel::default())?;
        if read.len() > ASSERTIONS_WORTH_A_MODEL {
            // A completion of the array after an item that satisfies nothing often completes it after any item.
            let atoms = self.algebra.formulas.atoms(formula).iter().copied();
            let verdicts = atoms.filter(|atom| matches!(self.algebra.atoms.kind(*atom), AtomKind::Verdict(_)));
            let verdicts: Vec<_> = verdicts.map(|atom| (atom, FormulaId::FALSE)).collect();
            let after_any = self.algebra.formulas.replace(formula, &verdicts);
            if let Some(runs) = self.items_to_array_end(&[after_any])? {
                let mut model = ArrayModel { runs };
                let way = self.under_most_of_array(formula, &mut model)?;
                checked(self, &model.runs)?;
                first = self.algebra.formulas.or([first, way]);
            }
        }
        let next = |this: &mut Self, formulas: &[(FormulaId, bool)]| {
            let facts = ArrayFacts {
                read,
                ..ArrayFacts::default()
            };
            let tableau = Tableau::new(facts, formulas, HashSet::new(), &this.algebra);
            match tableau.search(this)? {
                Some((_, mut model)) => {
                    // What the model left open is fixed for the way: the values of its items may run out only then.
                    let way = this.under_most_of_array(formula, &mut model)?;
                    checked(this, &model.runs)?;
                    Ok(Some(way))
                }
                None => Ok(None),
            }
        };
        let can_end = |this: &mut Self, after| match differing {
            None => this.array_can_end(after, ItemsId::EMPTY),
            Some(_) => {
                let runs = this.items_to_array_end(&[after])?;
                checked(this, runs.as_deref().unwrap_or_default())?;
                Ok(runs.is_some())
            }
        };
        let diagram = self.admitted_verdicts(formula, read, first, next, can_end)?;
        Ok(are_ample.get().then_some(diagram))
    }

    /// Whether a residual formula holds for an array of these items.
    pub(in crate::automaton::search) fn is_array_model(
        &mut self,
        formula: FormulaId,
        runs: Vec<Run>,
    ) -> Result<bool, AutomatonError> {
        let under = self.under_array(formula, &mut ArrayModel { runs })?;
        Ok(under == FormulaId::TRUE)
    }

    /// The formula over verdicts that `formula` becomes if the items of the model come and no others. Facts about the items that
    /// the model leaves open are fixed on the way.
    fn under_array(&mut self, formula: FormulaId, model: &mut ArrayModel) -> Result<FormulaId, AutomatonError> {
        let length = model.length();
        let mut left = formula;
        for is_open in [true, false] {
            let mut changes = Vec::new();
            // Number of items that are known to satisfy an assertion.
            let mut satisfying: HashMap<AssertionId, u64> = HashMap::new();
            for run in &model.runs {
                for &assertion in &run.item.all {
                    let count = satisfying.entry(assertion).or_default();
                    *count = count.saturating_add(run.count);
                }
            }
            let satisfying = |assertion| satisfying.get(&assertion).copied().unwrap_or(0);
            for atom in self.algebra.formulas.atoms(left).to_vec() {
                let value = match self.algebra.atoms.kind(atom) {
                    AtomKind::Contains(assertion, count) if satisfying(assertion) >= count => Some(true),
                    AtomKind::LengthAtLeast(count) => Some(length >= count),
                    AtomKind::Items { from, to, assertion } => {
                        let mut start = 0_u64;
                        let mut items = Vec::new();
                        for run in &mut model.runs {
                            let end = start.saturating_add(run.count);
                            if end > from && to.is_none_or(|to| start < to) {
                                items.push(&mut run.item);
                            }
                            start = end;
                        }
                        self.values_satisfy(items, assertion, is_open)?
                    }
                    AtomKind::Contains(assertion, count) => self.contains(model, assertion, count, is_open)?,
                    _ => None,
                };
                changes.extend(value.map(|value| (atom, FormulaId::constant(value))));
            }
            left = self.algebra.formulas.replace(left, &changes);
        }
        Ok(left)
    }

    /// The formula over verdicts that `formula` becomes if the items of the model come, or all but some, each of which matters to one part
    /// of the formula alone. Without this, what each such part says about verdicts would multiply with what the others say.
    fn under_most_of_array(&mut self, formula: FormulaId, model: &mut ArrayModel) -> Result<FormulaId, AutomatonError> {
        let way = self.under_array(formula, model)?;
        if way.decided().is_some() {
            return Ok(way);
        }
        let (parts, part_of) = self.parts_of_items(formula);
        // The runs of which an item matters to one part only.
        let mut spare: Vec<Vec<usize>> = vec![Vec::new(); parts.len()];
        for (at, run) in model.runs.iter().enumerate().filter(|(_, run)| run.count > 0) {
            let asked = part_of.iter().filter(|(one, _)| !run.item.none.contains(one));
            let mut places: Vec<usize> = asked.map(|(_, place)| *place).collect();
            places.sort_unstable();
            places.dedup();
            if let [place] = places[..] {
                spare[place].push(at);
            }
        }
        let left_out = spare.iter().filter(|runs| !runs.is_empty()).count() as u64;
        let algebra = &self.algebra;
        let atoms = algebra.formulas.atoms(formula).iter();
        let atoms: Vec<(Atom, AtomKind)> = atoms.map(|atom| (*atom, algebra.atoms.kind(*atom))).collect();
        let length = model.length();
        let is_indifferent = |kind: AtomKind| match kind {
            AtomKind::Contains(..) | AtomKind::Verdict(_) => true,
            AtomKind::LengthAtLeast(least) => (length >= least) == (length.saturating_sub(left_out) >= least),
            _ => false,
        };
        let counts = model.counts(&atoms);
        let Some(whole) = model.values(&atoms, &counts, None) else {
            return Ok(way);
        };
        if left_out == 0 || !atoms.iter().all(|(_, kind)| is_indifferent(*kind)) {
            return Ok(way);
        }
        let formulas = &mut self.algebra.formulas;
        let mut all = Vec::with_capacity(parts.len());
        for (part, runs) in parts.into_iter().zip(spare) {
            let part = formulas.and(part);
            let mut any = vec![formulas.replace(part, &whole)];
            for values in runs
                .into_iter()
                .filter_map(|run| model.values(&atoms, &counts, Some(run)))
            {
                any.push(formulas.replace(part, &values));
            }
            all.push(formulas.or(any));
        }
        Ok(formulas.and(all))
    }

    /// The conjuncts of a formula, those that count items of the same assertions together, and the place of each assertion among them.
    fn parts_of_items(&self, formula: FormulaId) -> (Vec<Vec<FormulaId>>, HashMap<AssertionId, usize>) {
        let algebra = &self.algebra;
        let mut parts: Vec<Vec<FormulaId>> = Vec::new();
        let mut part_of: HashMap<AssertionId, usize> = HashMap::new();
        for &conjunct in algebra.formulas.conjuncts(&formula) {
            let atoms = algebra.formulas.atoms(conjunct).iter();
            let counted = atoms.filter_map(|atom| match algebra.atoms.kind(*atom) {
                AtomKind::Contains(assertion, _) => Some(assertion),
                _ => None,
            });
            let (mut part, place) = (vec![conjunct], parts.len());
            for assertion in counted {
                let joined = part_of.insert(assertion, place).filter(|before| *before != place);
                let Some(before) = joined else { continue };
                part.append(&mut parts[before]);
                part_of
                    .values_mut()
                    .filter(|other| **other == before)
                    .for_each(|other| *other = place);
            }
            parts.push(part);
        }
        (parts, part_of)
    }

    /// Whether at least `count` items of the model satisfy an assertion; `None` if the model leaves this open and may
    /// leave it open. Otherwise the items are fixed not to satisfy it wherever that is possible.
    fn contains(
        &mut self,
        model: &mut ArrayModel,
        assertion: AssertionId,
        count: u64,
        may_be_open: bool,
    ) -> Result<Option<bool>, AutomatonError> {
        let (mut found, mut open) = (0_u64, Vec::new());
        for run in &mut model.runs {
            if run.item.all.contains(&assertion) {
                found = found.saturating_add(run.count);
            } else if !run.item.none.contains(&assertion) {
                open.push(run);
            }
        }
        let more = open.iter().fold(0_u64, |more, run| more.saturating_add(run.count));
        if found >= count || found.saturating_add(more) < count {
            return Ok(Some(found >= count));
        }
        if may_be_open {
            return Ok(None);
        }
        for run in open {
            match self.without(&run.item, assertion)? {
                Some(less) => run.item = less,
                None => found = found.saturating_add(run.count),
            }
        }
        Ok(Some(found >= count))
    }
}
