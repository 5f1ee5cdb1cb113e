//! Is there a value? Is there a rest?
//!
//! Every byte that the machine allows rests on these answers: whether some value satisfies these assertions and not those
//! ([`Automaton::satisfiable`]), and whether an object or array that has been read in part can be completed
//! ([`objects`], [`arrays`]). Values are finite, so a query that comes up again while it is being answered is answered
//! no, and a no that rests on that is not remembered.

mod arrays;
mod names;
mod objects;
mod plain;

use std::sync::Arc;

use hashbrown::HashMap;

use super::assertion::{AssertionId, Constraint};
use super::decision_diagram::DiagramId;
use super::least_fixpoint::{Assertions, Query};
use super::{Automaton, AutomatonError};
use crate::limits::Exceeded;
pub(super) use names::{Cell, Listed, MOST_LISTED, Names};
pub(super) use plain::{Plain, Room};

/// Assertions whose verdict vectors are kept, at most.
const MOST_ASSERTIONS: usize = 16;

/// Says whether verdicts will do.
type Leaf<'a> = &'a mut dyn FnMut(&mut Automaton, &[bool]) -> Result<bool, AutomatonError>;

impl Automaton {
    /// Whether there is a value that satisfies all assertions of `all` and none of `none`.
    pub(super) fn satisfiable(&mut self, all: &[AssertionId], none: &[AssertionId]) -> Result<bool, AutomatonError> {
        if all.contains(&AssertionId::NOTHING) || none.contains(&AssertionId::ANYTHING) {
            return Ok(false);
        }
        // Most ask for one assertion or none.
        let alone = match (all, none) {
            ([], []) => return Ok(true),
            ([AssertionId::ANYTHING], []) => return Ok(true),
            ([assertion], []) => Some(*assertion),
            _ => None,
        };
        if let Some(&known) = alone.and_then(|assertion| self.alone.get(&assertion)) {
            return Ok(known);
        }
        let assertions = Assertions::new(all, none);
        if assertions
            .all
            .iter()
            .any(|assertion| assertions.none.binary_search(assertion).is_ok())
        {
            return Ok(false);
        }
        let answer = self.ask(Query::Value(assertions))?;
        if let Some(assertion) = alone.filter(|_| self.fixpoint.is_idle()) {
            self.alone.insert(assertion, answer);
        }
        Ok(answer)
    }

    /// Works out the answer to a query.
    pub(super) fn answer(&mut self, query: &Query) -> Result<bool, AutomatonError> {
        match query {
            Query::Value(assertions) => self.search_value(&assertions.all, &assertions.none),
            Query::Array(formula) if self.asks_unique(&[*formula]) => self.unique_array_can_end(*formula, &[], None),
            Query::Array(formula) => self.search_array(*formula),
            Query::Object(formula, used) => Ok(self.object_end(*formula, used)?.is_some()),
        }
    }

    fn search_value(&mut self, all: &[AssertionId], none: &[AssertionId]) -> Result<bool, AutomatonError> {
        let value = self.combined(all, none)?;
        if value.null || value.yes || value.no {
            return Ok(true);
        }
        Ok(!self.number_texts.sets().is_empty(value.numbers)
            || !self.languages.is_empty(value.strings)?
            || self.array_can_end(value.arrays, &[])?
            || self.object_can_end(value.objects, &[])?)
    }

    /// What it means to satisfy all assertions of `all` and none of `none`.
    pub(super) fn combined(&mut self, all: &[AssertionId], none: &[AssertionId]) -> Result<Constraint, AutomatonError> {
        let mut both = self.everything();
        let (mut strings, mut arrays, mut objects) = (Vec::new(), Vec::new(), Vec::new());
        let wanted = all.iter().map(|assertion| (*assertion, true));
        for (assertion, wanted) in wanted.chain(none.iter().map(|assertion| (*assertion, false))) {
            let mut part = self.constraint(assertion)?;
            if !wanted {
                part = self.complement(part)?;
            }
            both.null &= part.null;
            both.yes &= part.yes;
            both.no &= part.no;
            both.numbers = self.number_texts.sets_mut().and(both.numbers, part.numbers)?;
            strings.push(part.strings);
            arrays.push(part.arrays);
            objects.push(part.objects);
        }
        both.strings = self.languages.and(&strings)?;
        both.arrays = self.formulas.and(arrays);
        both.objects = self.formulas.and(objects);
        Ok(both)
    }

    /// Builds a diagram over `assertions` from `leaf`, which says whether a verdict vector will do. Vectors that no value
    /// has are never asked for, and count as ones that will not do.
    pub(super) fn decide(&mut self, assertions: &[AssertionId], leaf: Leaf<'_>) -> Result<DiagramId, AutomatonError> {
        self.decide_unless(assertions, &[], leaf)
    }

    /// As [`decide`](Self::decide), where no value that satisfies an assertion of `never` will do: those are not looked at
    /// further, so that many of them cost no more than their number.
    pub(super) fn decide_unless(
        &mut self,
        assertions: &[AssertionId],
        never: &[AssertionId],
        leaf: Leaf<'_>,
    ) -> Result<DiagramId, AutomatonError> {
        let vectors = match never {
            [] => self.known_vectors(assertions)?,
            _ => self.vectors_unless(assertions, never)?.into(),
        };
        let mut kept = Vec::with_capacity(vectors.len());
        for vector in vectors.iter() {
            if leaf(self, vector)? {
                kept.push(vector.clone());
            }
        }
        Ok(self.diagrams.among(&kept, assertions.len()))
    }

    /// The verdict vectors over `assertions` that some value has, sorted with `true` before `false`.
    pub(super) fn vectors(&mut self, assertions: &[AssertionId]) -> Result<Vec<Vec<bool>>, AutomatonError> {
        Ok(self.known_vectors(assertions)?.to_vec())
    }

    fn known_vectors(&mut self, assertions: &[AssertionId]) -> Result<Arc<[Vec<bool>]>, AutomatonError> {
        if let Some(known) = self.vectors.get(assertions) {
            return Ok(known.clone());
        }
        let vectors: Arc<[Vec<bool>]> = self.vectors_unless(assertions, &[])?.into();
        // While a query is open, a no may rest on that.
        if self.fixpoint.is_idle() && assertions.len() <= MOST_ASSERTIONS {
            self.vectors.insert(assertions.into(), vectors.clone());
        }
        Ok(vectors)
    }

    /// The same without those of values that satisfy an assertion of `never`.
    fn vectors_unless(
        &mut self,
        assertions: &[AssertionId],
        never: &[AssertionId],
    ) -> Result<Vec<Vec<bool>>, AutomatonError> {
        let allowed = self.limits.assertions;
        if assertions.len() > allowed {
            let (limit, what) = (
                "assertions",
                "subschemas and earlier items that one value is compared with",
            );
            return Err(Exceeded { limit, what, allowed }.into());
        }
        let Some(sorted) = self.sort_few(assertions)? else {
            return self.vectors_beside(assertions, never, &[]);
        };
        // A value that satisfies an assertion of few values is one of them, and every other satisfies none of these assertions.
        let (few, others) = (sorted.few.iter(), sorted.others.iter());
        let few: Vec<AssertionId> = few.map(|place| assertions[*place]).collect();
        let rest: Vec<AssertionId> = others.map(|place| assertions[*place]).collect();
        let mut vectors: Vec<Vec<bool>> = sorted.known.into_iter().map(|(_, verdicts)| verdicts).collect();
        vectors.retain(|verdicts| {
            !assertions
                .iter()
                .zip(verdicts)
                .any(|(assertion, verdict)| *verdict && never.contains(assertion))
        });
        for verdicts in self.vectors_beside(&rest, never, &few)? {
            let mut vector = vec![false; assertions.len()];
            for (place, verdict) in sorted.others.iter().zip(verdicts) {
                vector[*place] = verdict;
            }
            vectors.push(vector);
        }
        vectors.sort_unstable_by(|a, b| b.cmp(a));
        vectors.dedup();
        self.check_verdicts(vectors.len())?;
        Ok(vectors)
    }

    /// The verdict vectors over `assertions` of values that satisfy no assertion of `never` and none of `beside`.
    fn vectors_beside(
        &mut self,
        assertions: &[AssertionId],
        never: &[AssertionId],
        beside: &[AssertionId],
    ) -> Result<Vec<Vec<bool>>, AutomatonError> {
        let mut vectors = Vec::new();
        let (mut all, mut none): (Vec<AssertionId>, Vec<AssertionId>) = (Vec::new(), beside.to_vec());
        // The assertions that `all` and `none` are about come first, and each but those of `never` is tried both ways.
        let mut verdicts: Vec<bool> = Vec::with_capacity(assertions.len());
        loop {
            if self.satisfiable(&all, &none)? {
                if let Some(assertion) = assertions.get(verdicts.len()) {
                    let try_it = !never.contains(assertion);
                    verdicts.push(try_it);
                    if try_it { &mut all } else { &mut none }.push(*assertion);
                    continue;
                }
                vectors.push(verdicts.clone());
                self.check_verdicts(vectors.len())?;
            }
            loop {
                match verdicts.pop() {
                    None => return Ok(vectors),
                    Some(false) => none.truncate(none.len() - 1),
                    Some(true) => {
                        all.truncate(all.len() - 1);
                        none.push(assertions[verdicts.len()]);
                        verdicts.push(false);
                        break;
                    }
                }
            }
        }
    }

    fn check_verdicts(&self, count: usize) -> Result<(), AutomatonError> {
        let allowed = self.limits.verdicts;
        let (limit, what) = ("verdicts", "combinations of subschemas that a value may satisfy");
        match count > allowed {
            true => Err(Exceeded { limit, what, allowed }.into()),
            false => Ok(()),
        }
    }

    /// Whether so many states may be looked at.
    pub(super) fn check_states(&self, count: usize, what: &'static str) -> Result<(), AutomatonError> {
        let (limit, allowed) = ("search_states", self.limits.search_states);
        match count > allowed {
            true => Err(Exceeded { limit, what, allowed }.into()),
            false => Ok(()),
        }
    }
}

/// The verdict of `assertion` in a vector over `assertions`. Assertions that are not among them were not asked for.
pub(super) fn verdict_of(assertions: &[AssertionId], vector: &[bool], assertion: AssertionId) -> bool {
    assertions.binary_search(&assertion).is_ok_and(|at| vector[at])
}

/// The assertions of a vector that are satisfied, and those that are not.
pub(super) fn split(assertions: &[AssertionId], vector: &[bool]) -> (Vec<AssertionId>, Vec<AssertionId>) {
    let pick = |wanted: bool| {
        let pairs = assertions
            .iter()
            .zip(vector)
            .filter(move |(_, verdict)| **verdict == wanted);
        pairs.map(|(assertion, _)| *assertion).collect()
    };
    (pick(true), pick(false))
}

/// New numbers for places, in the same order and with at most `most` between neighbours; none where they are few anyway.
fn shortened(mut places: Vec<u64>, most: u64) -> Option<HashMap<u64, u64>> {
    /// Stretches up to which counting is quicker than shortening.
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
