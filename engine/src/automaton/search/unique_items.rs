//! Completion of arrays with `uniqueItems`: whether the remaining items can be chosen so that all differ, or (negated) so that two are
//! equal.
//!
//! Where an item has more possible values than the array has items, one that differs can always be chosen. The numbers in the formula bound
//! the number of items that matter: no array needs items that change nothing in it. Only where an item has fewer values
//! are these enumerated, and a bipartite matching decides whether each item gets a value of its own.

use crate::automaton::error::{AutomatonError, check_limit};
use crate::automaton::formula::{AssertionId, AtomKind, DiagramId, FormulaId, ItemsId, split, verdict_of};
use crate::automaton::search::verdict_vectors::FEW_ASSERTIONS;
use crate::automaton::search::{ExpectationId, Requirement, Run, Search, can_all_differ};
use crate::numbers::NumberCount;
use crate::strings::Cardinality;
use hashbrown::HashMap;

/// Number of values beyond those seen up to which the automaton keeps track of the value that an item takes, however
/// few items must come.
const VALUES_BEYOND_SEEN: usize = 64;

/// Number of runs of a model whose items are compared with one another before equal items are asked for.
const COMPARED_RUNS: usize = 16;

/// Number of classes of items up to which those with arrays and objects are looked at for few values, which takes a search each, where the
/// assertions are more than a few.
const CLASSES_OF_CONTAINERS: usize = 8;

/// Maximal number of values of small classes that items are compared with.
const CLASSED_VALUES: usize = 256;

/// The items of a possible remainder of an array whose values are finitely many, with the number of items per
/// requirement; sorted.
type Rest = Vec<(Requirement, usize)>;

/// Places of two equal items of which at least one is still to come.
#[derive(Clone, Copy, Debug)]
enum Repetition {
    /// The item at this index among those to come equals one before.
    Earlier(u64),
    /// The items at these indices among those to come are equal.
    Later(u64, u64),
}

impl Search {
    /// Whether an array whose residual `formula` depends on items being different can be completed after the items
    /// `seen`, and after one more item that meets the requirement `last` if there is one.
    pub(super) fn unique_array_can_end(
        &mut self,
        formula: FormulaId,
        seen: ItemsId,
        last: Option<&Requirement>,
    ) -> Result<bool, AutomatonError> {
        let differing = self.algebra.with_unique(formula, true);
        if self.can_end_differing(differing, seen, last)? {
            return Ok(true);
        }
        let repeating = self.algebra.with_unique(formula, false);
        self.can_end_repeating(repeating, seen, last)
    }

    /// Whether the array can be completed with items that all differ.
    fn can_end_differing(
        &mut self,
        formula: FormulaId,
        seen: ItemsId,
        last: Option<&Requirement>,
    ) -> Result<bool, AutomatonError> {
        if formula == FormulaId::FALSE {
            return Ok(false);
        }
        let asked = self
            .algebra
            .values
            .length(seen)
            .saturating_add(self.items_asked(&[formula]));
        let mut rest = Rest::new();
        if let Some(last) = last {
            match self.with_more(&rest, last, 1, (seen, asked))? {
                Some(more) => rest = more,
                None => return Ok(false),
            }
        }
        if rest.is_empty() && self.algebra.at_end(formula) {
            return Ok(true);
        }
        match self.items_to_array_end(&[formula])? {
            None => return Ok(false),
            Some(runs) if self.runs_can_differ(&runs, &rest, seen)? => return Ok(true),
            Some(_) => {}
        }
        let mut left = vec![(formula, rest.clone())];
        // Steps over an item of which there may be few values: listing these is put off until nothing else is left.
        let mut put_off: Vec<(FormulaId, Rest, Requirement)> = Vec::new();
        // Items that come in addition only make it harder for the others to differ.
        let mut known: HashMap<FormulaId, Vec<Rest>> = HashMap::from([(formula, vec![rest])]);
        let mut states = 1;
        loop {
            let mut after: Vec<(FormulaId, Rest)> = Vec::new();
            if let Some((formula, rest)) = left.pop() {
                if self.algebra.at_end(formula) {
                    return Ok(true);
                }
                let assertions = self.algebra.assertions_of_item(&[formula]);
                for vector in self.verdict_vectors(&assertions)? {
                    let verdict = |assertion| verdict_of(&assertions, &vector, assertion);
                    let next = self.algebra.after_item(formula, &verdict, false);
                    if next == FormulaId::FALSE {
                        continue;
                    }
                    let (all, none) = split(&assertions, &vector);
                    let item = Requirement::new(&all, &none);
                    match self.is_ample(&item, asked)? {
                        true => after.push((next, rest.clone())),
                        false => put_off.push((next, rest.clone(), item)),
                    }
                }
                after.reverse();
            } else if let Some((next, rest, item)) = put_off.pop() {
                let more = self.with_more(&rest, &item, 1, (seen, asked))?;
                after.extend(more.map(|rest| (next, rest)));
            } else {
                return Ok(false);
            }
            for (formula, rest) in after {
                let rests = known.entry(formula).or_default();
                if !rests.iter().any(|fewer| has_at_least(&rest, fewer)) {
                    rests.push(rest.clone());
                    left.push((formula, rest));
                    states += 1;
                }
            }
            self.check_states(states, "states of an array whose items differ")?;
        }
    }

    /// Whether the items of a model, those of a remainder and those seen can all differ; `false` also where that is more work than a search.
    fn runs_can_differ(&mut self, runs: &[Run], rest: &Rest, seen: ItemsId) -> Result<bool, AutomatonError> {
        let seen_length = self.algebra.values.length(seen);
        if rest.is_empty() && self.are_ample(runs, seen_length + 1)? {
            return Ok(true);
        }
        let counts = runs
            .iter()
            .map(|run| run.count)
            .chain(rest.iter().map(|(_, count)| *count as u64));
        let Ok(items) = usize::try_from(counts.fold(0, u64::saturating_add)) else {
            return Ok(false);
        };
        if items > self.algebra.limits.differing_items {
            return Ok(false);
        }
        let mut rest = rest.clone();
        for run in runs {
            // One value more than there are items: the last item may be one that is in no remainder, because its values are many.
            match self.with_more(&rest, &run.item, run.count as usize, (seen, seen_length + items + 1))? {
                Some(more) => rest = more,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Whether each item has at least as many values as there are items, with `others` more, so that all can differ; `false`
    /// also if this does not show at once.
    pub(super) fn are_ample(&mut self, runs: &[Run], others: usize) -> Result<bool, AutomatonError> {
        let items = runs.iter().fold(0_u64, |items, run| items.saturating_add(run.count));
        let items = usize::try_from(items).unwrap_or(usize::MAX).saturating_add(others);
        for run in runs {
            if !self.is_ample(&run.item, items)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether at least the given number of values meet a requirement; `false` also if this is not decided at once.
    fn is_ample(&mut self, item: &Requirement, asked: usize) -> Result<bool, AutomatonError> {
        if self.is_infinite(&item.all, &item.none)? {
            return Ok(true);
        }
        let value = self.algebra.combined(&item.all, &item.none)?;
        let asked = asked as u64;
        let numbers = self.algebra.number_texts.sets_mut().cardinality(value.numbers, asked)?;
        Ok(!matches!(numbers, NumberCount::Exactly(count) if count < asked)
            || match self.algebra.languages.cardinality(value.strings, asked)? {
                Cardinality::Finite(count) => count >= asked,
                Cardinality::AtLeast(_) | Cardinality::Infinite => true,
            })
    }

    /// The remainder with `count` more items that meet a requirement; `None` if they cannot differ from one another and the others. An item of
    /// which there are at least as many values as there can be items, those seen included, always can, and is left out.
    fn with_more(
        &mut self,
        rest: &Rest,
        item: &Requirement,
        count: usize,
        (seen, asked): (ItemsId, usize),
    ) -> Result<Option<Rest>, AutomatonError> {
        if self.is_ample(item, asked)? {
            return Ok(Some(rest.clone()));
        }
        let mut more = rest.clone();
        match more.binary_search_by(|(assertions, _)| assertions.cmp(item)) {
            Ok(place) => more[place].1 += count,
            Err(place) => more.insert(place, (item.clone(), count)),
        }
        let items: usize = more.iter().map(|(_, count)| count).sum();
        let limit = ("differing_items", self.algebra.limits.differing_items);
        check_limit(items, limit, "items that have to differ and have few values")?;
        // If a set has enough values for all items, enough are left for its items after the others have been chosen.
        let mut few = Vec::new();
        for (assertions, count) in &more {
            if let Some(values) = self.values_up_to(assertions, self.algebra.values.length(seen) + items)? {
                let free = values.iter().copied();
                let free: Vec<AssertionId> = free.filter(|value| !self.algebra.has_item(seen, *value)).collect();
                if free.len() < items {
                    few.push((free, *count));
                }
            }
        }
        Ok(can_all_differ(&few).then_some(more))
    }

    /// Whether the array can be completed with two items that are equal, after the items `seen` and one that meets the requirement `last`.
    fn can_end_repeating(
        &mut self,
        formula: FormulaId,
        seen: ItemsId,
        last: Option<&Requirement>,
    ) -> Result<bool, AutomatonError> {
        if formula == FormulaId::FALSE {
            return Ok(false);
        }
        let Some(runs) = self.items_to_array_end(&[formula])? else {
            return Ok(false);
        };
        let seen = self.algebra.values.all_items(seen).into_iter();
        let mut earlier: Vec<Requirement> = seen.map(|item| Requirement::new(&[item], &[])).collect();
        earlier.extend(last.cloned());
        if self.may_repeat(formula, &runs, &earlier)? {
            return Ok(true);
        }
        Ok(self.items_with_equal(formula, &earlier)?.is_some())
    }

    /// Items that complete an array with a residual formula that does not ask whether items differ, one of which equals another or one of the
    /// items `earlier`, of which this much is known. The same is asked of items that are equal.
    pub(crate) fn items_with_equal(
        &mut self,
        formula: FormulaId,
        earlier: &[Requirement],
    ) -> Result<Option<Vec<Run>>, AutomatonError> {
        if formula == FormulaId::FALSE {
            return Ok(None);
        }
        let (mut assertions, _) = self.assertions_of_items(&[formula]);
        for item in earlier {
            assertions.extend(item.all.iter().chain(&item.none));
        }
        assertions.sort_unstable();
        assertions.dedup();
        for (count, repetition) in self.repetitions(formula)?.into_iter().enumerate() {
            self.check_states(count, "places of equal items of an array")?;
            let repeating = self.repeating(formula, repetition, &assertions, earlier)?;
            if repeating != FormulaId::FALSE
                && let Some((item, mut runs)) = self.value_and_items_to_array_end(repeating, &assertions)?
            {
                let places = match repetition {
                    Repetition::Earlier(at) => vec![at],
                    Repetition::Later(one, other) => vec![one, other],
                };
                for place in places {
                    insert(&mut runs, place, item.clone());
                }
                return Ok(Some(runs));
            }
        }
        Ok(None)
    }

    /// Whether one of the first items of a model of a residual formula may equal another of them or an item before, or come twice.
    fn may_repeat(
        &mut self,
        formula: FormulaId,
        runs: &[Run],
        earlier: &[Requirement],
    ) -> Result<bool, AutomatonError> {
        for (place, run) in runs.iter().enumerate().take(COMPARED_RUNS) {
            for other in runs[..place].iter().map(|run| &run.item).chain(earlier) {
                let all = [&run.item.all[..], &other.all].concat();
                let none = [&run.item.none[..], &other.none].concat();
                if self.satisfiable(&all, &none)? {
                    return Ok(true);
                }
            }
            let mut twice = runs.to_vec();
            twice[place].count = run.count.max(2);
            if self.is_array_model(formula, twice)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The positions from which on a residual formula judges items otherwise than before, sorted. Between two of them items are judged alike.
    pub(super) fn positions_judged_apart(&self, formula: FormulaId) -> Vec<u64> {
        let mut positions = vec![0];
        for atom in self.algebra.formulas.atoms(formula) {
            if let AtomKind::Items { from, to, .. } = self.algebra.atoms.kind(*atom) {
                positions.extend([from].into_iter().chain(to));
            }
        }
        positions.sort_unstable();
        positions.dedup();
        positions
    }

    /// The places at which an item of an array with a residual formula may equal another, the last places first. The first items between two
    /// positions that are judged apart stand for all there.
    fn repetitions(&mut self, formula: FormulaId) -> Result<Vec<Repetition>, AutomatonError> {
        let starts = self.positions_judged_apart(formula);
        let asked: Vec<Vec<AssertionId>> = starts.iter().map(|start| self.asked_at(formula, *start)).collect();
        let mut repetitions = Vec::new();
        for (place, &start) in starts.iter().enumerate().rev() {
            repetitions.push(Repetition::Earlier(start));
            if starts.get(place + 1) != Some(&(start + 1)) {
                repetitions.push(Repetition::Later(start, start + 1));
            }
            for before in (0..place).rev() {
                let both = [&asked[before][..], &asked[place]].concat();
                if self.satisfiable(&both, &[])? {
                    repetitions.push(Repetition::Later(starts[before], start));
                }
            }
        }
        Ok(repetitions)
    }

    /// The assertions that a residual formula asks for outright of the item at a position.
    fn asked_at(&self, formula: FormulaId, position: u64) -> Vec<AssertionId> {
        let algebra = &self.algebra;
        let literals = algebra.formulas.conjuncts(&formula).iter();
        let atoms = literals.filter_map(|part| algebra.formulas.literal(*part).filter(|(_, holds)| *holds));
        let asked = atoms.filter_map(|(atom, _)| match algebra.atoms.kind(atom) {
            AtomKind::Items { from, to, assertion } if from <= position && to.is_none_or(|to| to > position) => {
                Some(assertion)
            }
            _ => None,
        });
        asked.collect()
    }

    /// The condition on the other items of an array with a residual formula, and on the verdicts of a value on `assertions`, that the items at these
    /// places are that value. `earlier` has what is known of the items before.
    fn repeating(
        &mut self,
        formula: FormulaId,
        repetition: Repetition,
        assertions: &[AssertionId],
        earlier: &[Requirement],
    ) -> Result<FormulaId, AutomatonError> {
        match repetition {
            Repetition::Earlier(at) => {
                let verdicts = self.open_verdicts(assertions.len())?;
                let mut equal = Vec::with_capacity(earlier.len());
                for item in earlier {
                    let verdicts = assertions.iter().zip(&verdicts);
                    let known = verdicts.filter_map(|(one, verdict)| Some((*verdict, item.verdict_on(*one)?)));
                    let formulas = &mut self.algebra.formulas;
                    let known = known.map(|(verdict, holds)| if holds { verdict } else { formulas.not(verdict) });
                    let known: Vec<FormulaId> = known.collect();
                    equal.push(formulas.and(known));
                }
                let equal = self.algebra.formulas.or(equal);
                let moved = self.algebra.with_item_first(formula, at);
                let after = self.after_open_item(moved, assertions)?;
                Ok(self.algebra.formulas.and([after, equal]))
            }
            Repetition::Later(one, other) => {
                let moved = self.algebra.with_item_first(formula, other);
                let moved = self.algebra.with_item_first(moved, one + 1);
                let after = self.after_open_item(moved, assertions)?;
                self.after_open_item(after, assertions)
            }
        }
    }

    /// The assertions by which items are judged at any position, sorted, and whether positions differ in them.
    fn assertions_of_items(&self, formulas: &[FormulaId]) -> (Vec<AssertionId>, bool) {
        let (mut assertions, mut differ) = (Vec::new(), false);
        for formula in formulas {
            for &atom in self.algebra.formulas.atoms(*formula) {
                match self.algebra.atoms.kind(atom) {
                    AtomKind::Items { from, to, assertion } => {
                        differ |= from > 0 || to.is_some();
                        assertions.push(assertion);
                    }
                    AtomKind::Contains(assertion, _) => {
                        differ = true;
                        assertions.push(assertion);
                    }
                    _ => {}
                }
            }
        }
        assertions.sort_unstable();
        assertions.dedup();
        (assertions, differ)
    }

    /// The assertions by which the next item has to be judged, so that its value is known where it matters which item takes which. If
    /// positions admit different values, these are the values of assertions and of classes of items that have few. If items may be equal, they
    /// are also the items seen, which may come again, and what is asked of items at any position, at which this one may come again.
    fn compared(&mut self, formulas: &[FormulaId], seen: ItemsId) -> Result<Vec<AssertionId>, AutomatonError> {
        if !self.algebra.asks_unique(formulas) {
            return Ok(Vec::new());
        }
        let must_differ = self.must_differ(formulas[0]);
        let mut compared = Vec::new();
        let (assertions, differ) = self.assertions_of_items(formulas);
        if differ {
            // More items that have to differ and have few values are refused elsewhere.
            let asked = self.items_asked(formulas).min(self.algebra.limits.differing_items);
            let asked = asked.max(VALUES_BEYOND_SEEN);
            let most = self.algebra.values.length(seen) + asked;
            for assertion in &assertions {
                if let Some(values) = self.values_up_to(&Requirement::new(&[*assertion], &[]), most)? {
                    compared.extend_from_slice(&values);
                }
            }
            let may_differ = self.algebra.with_unique(formulas[0], true) != FormulaId::FALSE;
            if may_differ && assertions.len() > 1 {
                let most = self.algebra.values.length(seen) + self.items_asked(formulas);
                compared.extend(self.values_of_small_classes(&assertions, most)?);
            }
        }
        if !compared.is_empty() || !must_differ {
            compared.extend(self.algebra.values.all_items(seen));
        }
        if !must_differ && self.algebra.asks_unique(&formulas[..1]) {
            let (assertions, _) = self.assertions_of_items(&formulas[..1]);
            if self.classes(&assertions)?.is_some() {
                compared.extend(assertions);
            }
        }
        Ok(compared)
    }

    /// Returns the values of the classes of items that have fewer than `most` values; items of a class have the same verdict on each of the
    /// assertions. Classes are left out whose values take more than the limits of a search to list, and those with arrays and objects where there
    /// are many classes. The list is empty where the classes or their values are too many.
    fn values_of_small_classes(
        &mut self,
        assertions: &[AssertionId],
        most: usize,
    ) -> Result<Vec<AssertionId>, AutomatonError> {
        let Some(vectors) = self.classes(assertions)? else {
            return Ok(Vec::new());
        };
        let looks_into_containers = assertions.len() <= FEW_ASSERTIONS || vectors.len() <= CLASSES_OF_CONTAINERS;
        let mut values = Vec::new();
        for vector in vectors.iter() {
            let (all, none) = split(assertions, vector);
            let Some(value) = self.within_limits(|this| this.algebra.combined(&all, &none))? else {
                continue;
            };
            let has_containers = value.arrays != FormulaId::FALSE || value.objects != FormulaId::FALSE;
            if has_containers && !looks_into_containers {
                continue;
            }
            if let Some(few) = self.few_values(&Requirement::new(&all, &none), most)? {
                values.extend_from_slice(&few);
            }
            if values.len() > CLASSED_VALUES {
                return Ok(Vec::new());
            }
        }
        Ok(values)
    }

    /// Number of items up to which each item of an array makes a difference to its residual formulas: one that makes none
    /// can be left out. Values that outnumber these items do not run out.
    pub(super) fn items_asked(&self, formulas: &[FormulaId]) -> usize {
        let (mut longest, mut others) = (0, 1_u64);
        for atom in formulas
            .iter()
            .flat_map(|formula| self.algebra.formulas.atoms(*formula))
        {
            others = others.saturating_add(1);
            match self.algebra.atoms.kind(*atom) {
                AtomKind::LengthAtLeast(length) => longest = length.max(longest),
                AtomKind::Items { from, to, .. } => longest = to.unwrap_or(from).max(longest),
                AtomKind::Contains(_, count) => others = others.saturating_add(count),
                _ => {}
            }
        }
        usize::try_from(longest.saturating_add(others)).unwrap_or(usize::MAX)
    }

    /// Whether an array with residual `demand` cannot be completed after an item that repeats another.
    pub(crate) fn must_differ(&mut self, demand: FormulaId) -> bool {
        self.algebra.asks_unique(&[demand]) && self.algebra.with_unique(demand, false) == FormulaId::FALSE
    }

    /// The residual formula after an item whose verdicts are open.
    fn after_open_item(&mut self, demand: FormulaId, assertions: &[AssertionId]) -> Result<FormulaId, AutomatonError> {
        let verdicts = self.open_verdicts(assertions.len())?;
        let verdict = |assertion| match assertions.binary_search(&assertion) {
            Ok(place) => verdicts[place],
            Err(_) => FormulaId::FALSE,
        };
        Ok(self.algebra.after_item_as(demand, &verdict))
    }

    /// The diagram of the verdicts of the next item after which an array whose items have to differ can be completed; `None`
    /// if an item that may have to come has so few values that they may run out.
    fn verdicts_of_ample(
        &mut self,
        demand: FormulaId,
        assertions: &[AssertionId],
        seen: ItemsId,
    ) -> Result<Option<DiagramId>, AutomatonError> {
        if !self.must_differ(demand) {
            return Ok(None);
        }
        let differing = self.algebra.with_unique(demand, true);
        let mut parts = vec![self.after_open_item(differing, assertions)?];
        for (place, &assertion) in (0..).zip(assertions) {
            if self.algebra.has_item(seen, assertion) {
                let repeats = self.algebra.atom(AtomKind::Verdict(place));
                parts.push(self.algebra.formulas.not(repeats));
            }
        }
        let after = self.algebra.formulas.and(parts);
        let items = self.algebra.values.length(seen) + 1;
        self.verdicts_to_array_end(after, assertions, Some(items))
    }

    /// The expectation of the next item of an array with these residual formulas, the demand first, after the items
    /// `seen`; `None` if no item may come.
    pub(crate) fn item_expected(
        &mut self,
        formulas: &[FormulaId],
        seen: ItemsId,
    ) -> Result<Option<ExpectationId>, AutomatonError> {
        let mut assertions = self.algebra.assertions_of_item(formulas);
        let demand = formulas[0];
        if !self.algebra.asks_unique(formulas) {
            let after = self.after_open_item(demand, &assertions)?;
            let diagram = self.verdicts_to_array_end(after, &assertions, None)?;
            return self.expect_possible(assertions, diagram.unwrap_or(DiagramId::NEVER));
        }
        // Values that items have to differ from are listed only where an item may come.
        if self.after_open_item(demand, &assertions)? == FormulaId::FALSE {
            return Ok(None);
        }
        let compared = self.compared(formulas, seen)?;
        if compared.is_empty()
            && assertions.len() > LISTED_ASSERTIONS
            && let Some(diagram) = self.verdicts_of_ample(demand, &assertions, seen)?
        {
            return self.expect_possible(assertions, diagram);
        }
        assertions.extend(compared);
        assertions.sort_unstable();
        assertions.dedup();
        // Usually a repeated item makes the array invalid.
        let mut never = Vec::new();
        if self.must_differ(demand) {
            never.extend_from_slice(&assertions);
            never.retain(|assertion| self.algebra.has_item(seen, *assertion));
        }
        let diagram = self.decide_unless(&assertions, &never, &mut |this, vector| {
            let verdict = |assertion| verdict_of(&assertions, vector, assertion);
            let satisfied = || assertions.iter().copied().filter(|assertion| verdict(*assertion));
            let repeats = satisfied().any(|assertion| this.algebra.has_item(seen, assertion));
            let after = this.algebra.after_item(demand, &verdict, repeats);
            // An item that satisfies an assertion of equality is known to be that value.
            match satisfied().find(|assertion| this.algebra.is_value(*assertion)) {
                Some(known) => {
                    let seen = this.algebra.with_item(seen, known);
                    this.array_can_end(after, seen)
                }
                None => {
                    let (all, none) = split(&assertions, vector);
                    this.array_can_end_after(after, seen, &Requirement::new(&all, &none))
                }
            }
        })?;
        Ok((diagram != DiagramId::NEVER).then(|| self.expect(assertions, diagram)))
    }
}

/// Maximal number of assertions on an item that must differ for which all combinations of verdicts are tried.
const LISTED_ASSERTIONS: usize = 4;

/// Inserts an item into the items of a model, so that it is at the given index.
fn insert(runs: &mut Vec<Run>, place: u64, item: Requirement) {
    let (mut at, mut before) = (0, place);
    while let Some(run) = runs.get(at).filter(|run| run.count <= before) {
        before -= run.count;
        at += 1;
    }
    if before > 0
        && let Some(run) = runs.get_mut(at)
    {
        let after = Run {
            count: run.count - before,
            item: run.item.clone(),
        };
        run.count = before;
        at += 1;
        runs.insert(at, after);
    }
    runs.insert(at, Run { count: 1, item });
}

/// Whether a remainder has all items of another.
fn has_at_least(rest: &Rest, fewer: &Rest) -> bool {
    let count = |item: &Requirement| {
        rest.binary_search_by(|(other, _)| other.cmp(item))
            .map(|place| rest[place].1)
    };
    fewer
        .iter()
        .all(|(item, items)| count(item).is_ok_and(|count| count >= *items))
}
