//! Models of arrays: items for which facts about an array hold, or the facts that exclude one another.
//!
//! The ends of the ranges that facts speak of cut the array into runs of items that have to satisfy the same. Items that have to exist
//! are put into runs one after the other, with as few of them as possible where there is not room for all. Where that does not
//! succeed, there may be more items needed of which no two can be the same than there are places. Otherwise the residual
//! formulas are searched item by item.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{AssertionId, AtomKind, FormulaId, split, verdict_of};
use crate::automaton::search::containers::arrays::{ArrayModel, Fact, Run};
use crate::automaton::search::containers::tableau::{Reasons, united};
use crate::automaton::search::{Requirement, Search};
use hashbrown::{HashMap, HashSet};
use std::cmp::Reverse;

/// Number of needed items that are each tried as the first of a set in which no two can be the same.
const GATHERINGS: usize = 16;

/// Number of pairs of needed items that count as one step of a search.
const PAIRS_OF_A_STEP: usize = 64;

/// Items that have to exist.
struct Needed {
    /// The items are not before this index, and before the index `to`.
    from: u64,
    to: u64,
    /// The assertion that the items satisfy or do not satisfy.
    assertion: AssertionId,
    holds: bool,
    count: u64,
    reasons: Reasons,
    /// The runs in which such an item can be.
    places: Vec<usize>,
}

impl Needed {
    fn new((from, to): (u64, u64), assertion: AssertionId, holds: bool, count: u64, reasons: Reasons) -> Self {
        Self {
            from,
            to,
            assertion,
            holds,
            count,
            reasons,
            places: Vec::new(),
        }
    }
}

/// The runs of an array and the items that have to be in them.
struct Layout {
    runs: Vec<Run>,
    needed: Vec<Needed>,
    /// Assertions, each with the greatest number of items that may satisfy it.
    caps: Vec<(AssertionId, u64)>,
    /// The least number of items, and the most.
    min: u64,
    most: u64,
    /// The reasons of the least number, and those of the most.
    least: Reasons,
    longest: Reasons,
    /// The reasons of all that limits what may be in which run.
    limiting: Reasons,
}

impl Layout {
    /// Number of items in some of the runs.
    fn room(&self, places: &[usize]) -> u64 {
        let counts = places.iter().map(|place| self.runs[*place].count);
        counts.fold(0, u64::saturating_add)
    }
}

impl Search {
    /// A model of facts about an array, or the reasons of facts that have none.
    pub(super) fn array_of(&mut self, facts: &[Fact]) -> Result<Result<ArrayModel, Reasons>, AutomatonError> {
        let layout = self.layout(facts)?;
        if layout.min <= layout.most {
            // Each needed item gets a place of its own; one item serves several needs only where the places do not suffice.
            for is_shared in [false, true] {
                if let Some(runs) = self.placed(&layout, is_shared)? {
                    return Ok(Ok(ArrayModel { runs }));
                }
            }
        }
        if let Some(reasons) = self.too_few_places(&layout)? {
            return Ok(Err(reasons));
        }
        let model = self.array_by_items(facts)?;
        Ok(model.ok_or_else(|| united(facts.iter().map(|(.., reasons)| reasons))))
    }

    /// The runs of an array for which the facts hold, the items that have to be in them, and how many items may satisfy what.
    fn layout(&mut self, facts: &[Fact]) -> Result<Layout, AutomatonError> {
        let (mut min, mut most) = ((0, Reasons::default()), (u64::MAX, Reasons::default()));
        let mut ends = vec![0];
        // All items of a range satisfy the assertion, or none does.
        let mut each: Vec<(u64, u64, AssertionId, bool)> = Vec::new();
        let (mut needed, mut caps, mut limiting) = (Vec::new(), Vec::new(), Vec::new());
        for (atom, holds, reasons) in facts {
            let (holds, reasons) = (*holds, reasons.clone());
            match *atom {
                AtomKind::LengthAtLeast(count) if holds && count > min.0 => min = (count, reasons),
                AtomKind::LengthAtLeast(count) if !holds && count.saturating_sub(1) < most.0 => {
                    most = (count.saturating_sub(1), reasons);
                }
                AtomKind::Items { from, to, assertion } => {
                    let to = to.unwrap_or(u64::MAX);
                    ends.extend([from, to]);
                    match holds {
                        true => {
                            each.push((from, to, assertion, true));
                            limiting.push(reasons);
                        }
                        false => needed.push(Needed::new((from, to), assertion, false, 1, reasons)),
                    }
                }
                AtomKind::Contains(assertion, count) if holds => {
                    needed.push(Needed::new((0, u64::MAX), assertion, true, count, reasons));
                }
                AtomKind::Contains(assertion, count) if count > 1 => {
                    caps.push((assertion, count - 1));
                    limiting.push(reasons);
                }
                AtomKind::Contains(assertion, _) => {
                    each.push((0, u64::MAX, assertion, false));
                    limiting.push(reasons);
                }
                _ => {}
            }
        }
        let ((min, least), (mut most, mut longest)) = (min, most);
        limiting.push(longest.clone());
        ends.extend([most, min]);
        ends.retain(|end| *end <= most);
        ends.sort_unstable();
        ends.dedup();
        let all_places = most;
        let mut runs: Vec<Run> = Vec::new();
        let mut unused: Vec<u64> = caps.iter().map(|(_, most)| *most).collect();
        for (&start, &end) in ends.iter().zip(&ends[1..]) {
            let asked = each.iter().filter(|(from, to, ..)| *from <= start && end <= *to);
            let (yes, no): (Vec<_>, Vec<_>) = asked.partition(|(.., holds)| *holds);
            let all: Vec<AssertionId> = yes.iter().map(|(_, _, assertion, _)| *assertion).collect();
            let none: Vec<AssertionId> = no.iter().map(|(_, _, assertion, _)| *assertion).collect();
            if !self.satisfiable(&all, &none)? {
                most = start;
                break;
            }
            // Of items that cannot but satisfy a capped assertion there are no more than that.
            let (mut count, item) = (end - start, Requirement::new(&all, &none));
            for ((assertion, _), unused) in caps.iter().zip(&mut unused) {
                if self.without(&item, *assertion)?.is_none() {
                    count = count.min(*unused);
                    *unused -= count;
                }
            }
            runs.push(Run { count, item });
            if count < end - start {
                most = start + count;
                break;
            }
        }
        for needed in &mut needed {
            let mut start = 0_u64;
            for (place, run) in runs.iter().enumerate() {
                let end = start.saturating_add(run.count);
                if start >= needed.from && end <= needed.to && self.satisfiable_with(&run.item, needed)?.is_some() {
                    needed.places.push(place);
                }
                start = end;
            }
        }
        let limiting = united(&limiting);
        if most < all_places {
            longest = limiting.clone();
        }
        Ok(Layout {
            runs,
            needed,
            caps,
            min,
            most,
            least,
            longest,
            limiting,
        })
    }

    /// The reasons why no array has this layout, where the number of places shows it: there are fewer than items are needed of which
    /// no two can be the same.
    fn too_few_places(&mut self, layout: &Layout) -> Result<Option<Reasons>, AutomatonError> {
        if layout.min > layout.most {
            return Ok(Some(united([&layout.least, &layout.longest])));
        }
        if let Some(short) = layout
            .needed
            .iter()
            .find(|needed| layout.room(&needed.places) < needed.count)
        {
            return Ok(Some(united([&short.reasons, &layout.limiting])));
        }
        // What follows from the number of places alone has fewer reasons.
        match self.too_many_apart(layout, false)? {
            Some(reasons) => Ok(Some(reasons)),
            None => self.too_many_apart(layout, true),
        }
    }

    /// The reasons why there is not room for needed items of which no two can be the same, anywhere or, where it matters in which
    /// run they can be, there. A set of such items is gathered around each of the [`GATHERINGS`] most numerous ones.
    fn too_many_apart(&mut self, layout: &Layout, by_place: bool) -> Result<Option<Reasons>, AutomatonError> {
        let limiting = if by_place { &layout.limiting } else { &layout.longest };
        let mut order: Vec<&Needed> = layout.needed.iter().collect();
        order.sort_by_key(|needed| Reverse(needed.count));
        let mut are_apart: HashMap<(usize, usize), bool> = HashMap::new();
        for first in 0..order.len().min(GATHERINGS) {
            let (mut apart, mut count, mut places): (Vec<usize>, u64, Vec<usize>) = Default::default();
            for next in std::iter::once(first).chain((0..order.len()).filter(|next| *next != first)) {
                let mut is_apart = true;
                for &other in &apart {
                    let pair = (next.min(other), next.max(other));
                    if !are_apart.contains_key(&pair) {
                        let found = !self.can_be_same(layout, [order[next], order[other]], by_place)?;
                        are_apart.insert(pair, found);
                        if are_apart.len().is_multiple_of(PAIRS_OF_A_STEP) {
                            self.count_step("pairs of items of an array that may be the same")?;
                        }
                    }
                    is_apart = are_apart[&pair];
                    if !is_apart {
                        break;
                    }
                }
                if !is_apart {
                    continue;
                }
                apart.push(next);
                count = count.saturating_add(order[next].count);
                places.extend(&order[next].places);
                places.sort_unstable();
                places.dedup();
                let room = if by_place { layout.room(&places) } else { layout.most };
                if room < count {
                    let reasons = apart.iter().map(|needed| &order[*needed].reasons);
                    return Ok(Some(united(reasons.chain([limiting]))));
                }
            }
        }
        Ok(None)
    }

    /// Whether one item can be two of those that are needed.
    fn can_be_same(
        &mut self,
        layout: &Layout,
        [one, other]: [&Needed; 2],
        by_place: bool,
    ) -> Result<bool, AutomatonError> {
        let anywhere = Requirement::new(&[], &[]);
        if !by_place {
            return self.can_be_both(&anywhere, [one, other]);
        }
        // The places of each are sorted.
        for place in &one.places {
            if other.places.binary_search(place).is_ok() {
                if self.can_be_both(&layout.runs[*place].item, [one, other])? {
                    return Ok(true);
                }
                self.count_step("places of two items of an array that may be the same")?;
            }
        }
        Ok(false)
    }

    /// Whether one item of a run can be two of those that are needed.
    fn can_be_both(&mut self, item: &Requirement, [one, other]: [&Needed; 2]) -> Result<bool, AutomatonError> {
        match self.satisfiable_with(item, one)? {
            Some(item) => Ok(self.satisfiable_with(&item, other)?.is_some()),
            None => Ok(false),
        }
    }

    /// Runs with the needed items in them, and with the least number of items; `None` if no room was found for some. The
    /// same item may be needed twice if `is_shared`.
    fn placed(&mut self, layout: &Layout, is_shared: bool) -> Result<Option<Vec<Run>>, AutomatonError> {
        let runs = &layout.runs;
        // The items put into each run, and their number.
        let mut put: Vec<Vec<Run>> = vec![Vec::new(); runs.len()];
        let mut taken: Vec<u64> = vec![0; runs.len()];
        for needed in &layout.needed {
            let mut left = needed.count;
            for &place in needed.places.iter().filter(|_| is_shared) {
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
            for &place in needed.places.iter().rev() {
                let count = left.min(runs[place].count - taken[place]);
                if let Some(item) = self.satisfiable_with(&runs[place].item, needed)?.filter(|_| count > 0) {
                    put[place].push(Run { count, item });
                    taken[place] += count;
                    left -= count;
                }
            }
            if left > 0 {
                return Ok(None);
            }
        }
        let last = put.iter().rposition(|items| !items.is_empty());
        let (mut all, mut start) = (Vec::new(), 0_u64);
        for (place, (run, mut items)) in runs.iter().zip(put).enumerate() {
            let taken = taken[place];
            let others = match last {
                Some(last) if place < last => run.count - taken,
                _ => layout.min.saturating_sub(start + taken).min(run.count - taken),
            };
            all.append(&mut items);
            let item = run.item.clone();
            all.extend((others > 0).then_some(Run { count: others, item }));
            start += taken + others;
        }
        // Items that satisfy no capped assertion but those they have to are found at once; others by one assertion after the other.
        let capped: Vec<AssertionId> = layout.caps.iter().map(|(assertion, _)| *assertion).collect();
        for run in all.iter_mut().filter(|_| capped.len() > 1) {
            let avoided = capped.iter().filter(|one| !run.item.all.contains(one));
            let avoided: Vec<AssertionId> = run.item.none.iter().chain(avoided).copied().collect();
            let item = Requirement::new(&run.item.all, &avoided);
            if self.satisfiable(&item.all, &item.none)? {
                run.item = item;
            }
        }
        for &(assertion, most) in &layout.caps {
            let mut satisfying = 0_u64;
            for run in &mut all {
                match self.without(&run.item, assertion)? {
                    Some(item) => run.item = item,
                    None => satisfying = satisfying.saturating_add(run.count),
                }
            }
            if satisfying > most {
                return Ok(None);
            }
        }
        Ok(Some(all))
    }

    /// The requirement that an item meets another and does not satisfy an assertion; `None` if no item does.
    pub(super) fn without(
        &mut self,
        item: &Requirement,
        assertion: AssertionId,
    ) -> Result<Option<Requirement>, AutomatonError> {
        match item.verdict_on(assertion) {
            Some(true) => return Ok(None),
            Some(false) => return Ok(Some(item.clone())),
            None => {}
        }
        let less = Requirement::new(&item.all, &[&item.none[..], &[assertion]].concat());
        Ok(self.satisfiable(&less.all, &less.none)?.then_some(less))
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
    fn array_by_items(&mut self, facts: &[Fact]) -> Result<Option<ArrayModel>, AutomatonError> {
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
