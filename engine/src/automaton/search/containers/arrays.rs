//! Completion of arrays: the [theory](Theory) of facts about the items to come.
//!
//! Facts say that all items of a range satisfy an assertion, that some item does not, that so many satisfy one, or how
//! many items there are. The ends of the ranges cut the array into runs of items that have to satisfy the same. Items
//! that have to exist are put into runs one after the other, with as few of them as possible where there is not room
//! for all. Where that does not succeed, or where only so many items may satisfy an assertion, the residual formulas
//! are searched item by item.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{AssertionId, AtomKind, DiagramId, FormulaId, ItemsId, split, verdict_of};
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
    runs: Vec<Run>,
}

/// Number of assertions on an item from which on a model that serves all verdicts is looked for first.
const ASSERTIONS_WORTH_A_MODEL: usize = 8;

/// The facts about the items of an array.
#[derive(Default)]
pub(in crate::automaton::search) struct ArrayFacts<'a> {
    /// The atoms and negated atoms, with their reasons.
    facts: Vec<(AtomKind, bool, Reasons)>,
    /// The assertions of the item before all others, whose verdicts the formulas speak of.
    read: &'a [AssertionId],
    /// Facts about the item before all others.
    item: ValueFacts,
}

/// Items that have to exist.
struct Needed {
    /// The items are not before this index, and before the index `to`.
    from: u64,
    to: u64,
    /// The assertion that the items satisfy or do not satisfy.
    assertion: AssertionId,
    holds: bool,
    count: u64,
    /// Number of items that could be such an item, as found out.
    room: u64,
}

impl Theory for ArrayFacts<'_> {
    type Model = ArrayModel;

    fn assume(
        &mut self,
        search: &mut Search,
        atom: AtomKind,
        holds: bool,
        reasons: &Reasons,
    ) -> Result<Option<Reasons>, AutomatonError> {
        self.facts.push((atom, holds, reasons.clone()));
        match atom {
            AtomKind::Verdict(place) if holds => {
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
            if let (AtomKind::Verdict(_), true) = (atom, holds) {
                self.item.pop();
            }
        }
    }

    fn model(&mut self, search: &mut Search) -> Result<Result<ArrayModel, Reasons>, AutomatonError> {
        if let Some(conflict) = self.item.check(search, true)? {
            return Ok(Err(conflict));
        }
        let model = search.array_of(&self.facts)?;
        Ok(model.ok_or_else(|| united(self.facts.iter().map(|(.., reasons)| reasons))))
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
                checked(self, &runs)?;
                let way = self.under_array(formula, &mut ArrayModel { runs })?;
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
                    checked(this, &model.runs)?;
                    this.under_array(formula, &mut model).map(Some)
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

    /// The formula over verdicts that `formula` becomes if the items of the model come and no others. Facts about the items that
    /// the model leaves open are fixed on the way.
    fn under_array(&mut self, formula: FormulaId, model: &mut ArrayModel) -> Result<FormulaId, AutomatonError> {
        let length = model
            .runs
            .iter()
            .fold(0_u64, |length, run| length.saturating_add(run.count));
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
            let less = Requirement::new(&run.item.all, &[&run.item.none[..], &[assertion]].concat());
            match self.satisfiable(&less.all, &less.none)? {
                true => run.item = less,
                false => found = found.saturating_add(run.count),
            }
        }
        Ok(Some(found >= count))
    }

    /// A model of facts about an array; `None` if there is none.
    fn array_of(&mut self, facts: &[(AtomKind, bool, Reasons)]) -> Result<Option<ArrayModel>, AutomatonError> {
        let (mut min, mut most, mut ends) = (0, u64::MAX, vec![0]);
        // All items of a range satisfy the assertion, or none does.
        let mut each: Vec<(u64, u64, AssertionId, bool)> = Vec::new();
        let mut needed = Vec::new();
        let mut is_exact = true;
        for &(atom, holds, _) in facts {
            match (atom, holds) {
                (AtomKind::LengthAtLeast(count), true) => min = min.max(count),
                (AtomKind::LengthAtLeast(count), false) => most = most.min(count.saturating_sub(1)),
                (AtomKind::Items { from, to, assertion }, _) => {
                    let to = to.unwrap_or(u64::MAX);
                    ends.extend([from, to]);
                    match holds {
                        true => each.push((from, to, assertion, true)),
                        false => needed.push(Needed {
                            from,
                            to,
                            assertion,
                            holds: false,
                            count: 1,
                            room: 0,
                        }),
                    }
                }
                (AtomKind::Contains(assertion, count), true) => {
                    needed.push(Needed {
                        from: 0,
                        to: u64::MAX,
                        assertion,
                        holds: true,
                        count,
                        room: 0,
                    });
                }
                (AtomKind::Contains(assertion, count), false) => {
                    each.push((0, u64::MAX, assertion, false));
                    is_exact &= count == 1;
                }
                _ => {}
            }
        }
        ends.extend([most, min]);
        ends.retain(|end| *end <= most);
        ends.sort_unstable();
        ends.dedup();
        let mut runs: Vec<Run> = Vec::new();
        for (&start, &end) in ends.iter().zip(&ends[1..]) {
            let asked = each.iter().filter(|(from, to, ..)| *from <= start && end <= *to);
            let (yes, no): (Vec<_>, Vec<_>) = asked.partition(|(.., holds)| *holds);
            let all: Vec<AssertionId> = yes.iter().map(|(_, _, assertion, _)| *assertion).collect();
            let none: Vec<AssertionId> = no.iter().map(|(_, _, assertion, _)| *assertion).collect();
            if !self.satisfiable(&all, &none)? {
                most = start;
                break;
            }
            let (count, item) = (end - start, Requirement::new(&all, &none));
            runs.push(Run { count, item });
        }
        if min <= most {
            // Each needed item gets a place of its own; one item serves several needs only where the places do not suffice.
            for is_shared in [false, true] {
                if let Some(runs) = self.placed(&runs, &mut needed, min, is_shared)? {
                    return Ok(Some(ArrayModel { runs }));
                }
            }
        }
        match is_exact && (min > most || needed.iter().any(|needed| needed.room < needed.count)) {
            true => Ok(None),
            false => self.array_by_items(facts),
        }
    }

    /// Runs with the needed items in them, and with at least `min` items; `None` if no room was found for some. The
    /// same item may be needed twice if `is_shared`.
    fn placed(
        &mut self,
        runs: &[Run],
        needed: &mut [Needed],
        min: u64,
        is_shared: bool,
    ) -> Result<Option<Vec<Run>>, AutomatonError> {
        // The items put into each run, and their number.
        let mut put: Vec<Vec<Run>> = vec![Vec::new(); runs.len()];
        let mut taken: Vec<u64> = vec![0; runs.len()];
        let mut are_placed = true;
        for needed in needed.iter_mut() {
            let (mut left, mut start) = (needed.count, 0_u64);
            let mut places = Vec::new();
            needed.room = 0;
            for (place, run) in runs.iter().enumerate() {
                let end = start.saturating_add(run.count);
                if start >= needed.from && end <= needed.to && self.satisfiable_with(&run.item, needed)?.is_some() {
                    needed.room = needed.room.saturating_add(run.count);
                    places.push(place);
                }
                start = end;
            }
            for &place in places.iter().filter(|_| is_shared) {
                for at in 0..put[place].len() {
                    let shared = put[place][at].clone();
                    let item = match left {
                        0 => break,
                        _ => self.satisfiable_with(&shared.item, needed)?,
                    };
                    if let Some(item) = item {
                        let count = left.min(shared.count);
                        put[place][at] = Run { count, item };
                        left -= count;
                        if count < shared.count {
                            let (count, item) = (shared.count - count, shared.item);
                            put[place].push(Run { count, item });
                        }
                    }
                }
            }
            // The last run usually has most room.
            for place in places.into_iter().rev() {
                let count = left.min(runs[place].count - taken[place]);
                if let Some(item) = self.satisfiable_with(&runs[place].item, needed)?.filter(|_| count > 0) {
                    put[place].push(Run { count, item });
                    taken[place] += count;
                    left -= count;
                }
            }
            are_placed &= left == 0;
        }
        if !are_placed {
            return Ok(None);
        }
        let last = put.iter().rposition(|items| !items.is_empty());
        let (mut all, mut start) = (Vec::new(), 0_u64);
        for (place, (run, mut items)) in runs.iter().zip(put).enumerate() {
            let taken = taken[place];
            let others = match last {
                Some(last) if place < last => run.count - taken,
                _ => min.saturating_sub(start + taken).min(run.count - taken),
            };
            all.append(&mut items);
            let item = run.item.clone();
            all.extend((others > 0).then_some(Run { count: others, item }));
            start += taken + others;
        }
        Ok(Some(all))
    }

    /// The requirement that an item meets another and is one of those needed; `None` if no item does.
    fn satisfiable_with(&mut self, item: &Requirement, needed: &Needed) -> Result<Option<Requirement>, AutomatonError> {
        let more = [needed.assertion];
        let (yes, no) = if needed.holds {
            (&more[..], &[][..])
        } else {
            (&[][..], &more[..])
        };
        let both = Requirement::new(&[&item.all, yes].concat(), &[&item.none, no].concat());
        Ok(self.satisfiable(&both.all, &both.none)?.then_some(both))
    }

    /// A model of facts about an array, for which every combination of verdicts of an item is tried after the other;
    /// `None` if there is none.
    fn array_by_items(&mut self, facts: &[(AtomKind, bool, Reasons)]) -> Result<Option<ArrayModel>, AutomatonError> {
        let mut parts = Vec::new();
        for &(atom, holds, _) in facts.iter().filter(|(atom, ..)| !matches!(atom, AtomKind::Verdict(_))) {
            let part = self.algebra.atom(atom);
            parts.push(if holds { part } else { self.algebra.formulas.not(part) });
        }
        let formula = self.algebra.formulas.and(parts);
        // Each residual formula with the one before it and the item in between.
        let mut found: Vec<(FormulaId, usize, Requirement)> = vec![(formula, 0, Requirement::new(&[], &[]))];
        let mut seen: HashSet<FormulaId> = HashSet::from([formula]);
        let mut left = vec![0];
        while let Some(at) = left.pop() {
            let formula = found[at].0;
            if self.algebra.at_end(formula) {
                let mut runs = Vec::new();
                let mut at = at;
                while at > 0 {
                    let (_, before, item) = found[at].clone();
                    runs.push(Run { count: 1, item });
                    at = before;
                }
                runs.reverse();
                return Ok(Some(ArrayModel { runs }));
            }
            let assertions = self.algebra.assertions_of_item(&[formula]);
            let mut vectors = self.verdict_vectors(&assertions)?;
            // The vector with the most assertions satisfied is looked at first.
            vectors.reverse();
            for vector in vectors {
                let verdict = |assertion| verdict_of(&assertions, &vector, assertion);
                let after = self.algebra.after_item(formula, &verdict, false);
                if after != FormulaId::FALSE && seen.insert(after) {
                    let (all, none) = split(&assertions, &vector);
                    left.push(found.len());
                    found.push((after, at, Requirement::new(&all, &none)));
                }
            }
            self.count_step("states of an array in the search for its end")?;
        }
        Ok(None)
    }
}
