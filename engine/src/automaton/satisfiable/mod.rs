//! Is there a value? Is there a rest?
//!
//! Every byte that the machine allows rests on these answers: whether some value satisfies these goals and not those
//! ([`Automaton::satisfiable`]), and whether an object or array that has been read in part can be completed
//! ([`objects`], [`arrays`]). Values are finite, so a question that comes up again while it is being answered is answered
//! no, and a no that rests on that is not remembered.

mod arrays;
mod names;
mod objects;
mod plain;

use std::sync::Arc;

use hashbrown::HashMap;

use super::decision::DecisionId;
use super::goal::{Constraint, GoalId};
use super::questions::{Goals, Question};
use super::{Automaton, Trouble};
use crate::limits::Exceeded;
pub(super) use names::{Cell, Listed, MOST_LISTED, Names};
pub(super) use plain::{Plain, Room};

/// Goals whose outcome vectors are kept, at most.
const MOST_GOALS: usize = 16;

/// Says whether outcomes will do.
type Leaf<'a> = &'a mut dyn FnMut(&mut Automaton, &[bool]) -> Result<bool, Trouble>;

impl Automaton {
    /// Whether there is a value that satisfies all goals of `all` and none of `none`.
    pub(super) fn satisfiable(&mut self, all: &[GoalId], none: &[GoalId]) -> Result<bool, Trouble> {
        if all.contains(&GoalId::NOTHING) || none.contains(&GoalId::ANYTHING) {
            return Ok(false);
        }
        // Most ask for one goal or none.
        let alone = match (all, none) {
            ([], []) => return Ok(true),
            ([GoalId::ANYTHING], []) => return Ok(true),
            ([goal], []) => Some(*goal),
            _ => None,
        };
        if let Some(&known) = alone.and_then(|goal| self.alone.get(&goal)) {
            return Ok(known);
        }
        let goals = Goals::new(all, none);
        if goals.all.iter().any(|goal| goals.none.binary_search(goal).is_ok()) {
            return Ok(false);
        }
        let answer = self.ask(Question::Value(goals))?;
        if let Some(goal) = alone.filter(|_| self.questions.is_idle()) {
            self.alone.insert(goal, answer);
        }
        Ok(answer)
    }

    /// Works out the answer to a question.
    pub(super) fn answer(&mut self, question: &Question) -> Result<bool, Trouble> {
        match question {
            Question::Value(goals) => self.search_value(&goals.all, &goals.none),
            Question::Array(formula) if self.asks_unique(&[*formula]) => self.unique_array_can_end(*formula, &[], None),
            Question::Array(formula) => self.search_array(*formula),
            Question::Object(formula, used) => Ok(self.object_end(*formula, used)?.is_some()),
        }
    }

    fn search_value(&mut self, all: &[GoalId], none: &[GoalId]) -> Result<bool, Trouble> {
        let value = self.combined(all, none)?;
        if value.null || value.yes || value.no {
            return Ok(true);
        }
        Ok(!self.number_texts.sets().is_empty(value.numbers)
            || !self.languages.is_empty(value.strings)?
            || self.array_can_end(value.arrays, &[])?
            || self.object_can_end(value.objects, &[])?)
    }

    /// What it means to satisfy all goals of `all` and none of `none`.
    pub(super) fn combined(&mut self, all: &[GoalId], none: &[GoalId]) -> Result<Constraint, Trouble> {
        let mut both = self.everything();
        let (mut strings, mut arrays, mut objects) = (Vec::new(), Vec::new(), Vec::new());
        let wanted = all.iter().map(|goal| (*goal, true));
        for (goal, wanted) in wanted.chain(none.iter().map(|goal| (*goal, false))) {
            let mut part = self.constraint(goal)?;
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

    /// Builds a decision over `goals` from `leaf`, which says whether an outcome vector will do. Vectors that no value
    /// has are never asked for, and count as ones that will not do.
    pub(super) fn decide(&mut self, goals: &[GoalId], leaf: Leaf<'_>) -> Result<DecisionId, Trouble> {
        self.decide_unless(goals, &[], leaf)
    }

    /// As [`decide`](Self::decide), where no value that satisfies a goal of `never` will do: those are not looked at
    /// further, so that many of them cost no more than their number.
    pub(super) fn decide_unless(
        &mut self,
        goals: &[GoalId],
        never: &[GoalId],
        leaf: Leaf<'_>,
    ) -> Result<DecisionId, Trouble> {
        let vectors = match never {
            [] => self.known_vectors(goals)?,
            _ => self.vectors_unless(goals, never)?.into(),
        };
        let mut kept = Vec::with_capacity(vectors.len());
        for vector in vectors.iter() {
            if leaf(self, vector)? {
                kept.push(vector.clone());
            }
        }
        Ok(self.decisions.among(&kept, goals.len()))
    }

    /// The outcome vectors over `goals` that some value has, sorted with `true` before `false`.
    pub(super) fn vectors(&mut self, goals: &[GoalId]) -> Result<Vec<Vec<bool>>, Trouble> {
        Ok(self.known_vectors(goals)?.to_vec())
    }

    fn known_vectors(&mut self, goals: &[GoalId]) -> Result<Arc<[Vec<bool>]>, Trouble> {
        if let Some(known) = self.vectors.get(goals) {
            return Ok(known.clone());
        }
        let vectors: Arc<[Vec<bool>]> = self.vectors_unless(goals, &[])?.into();
        // While a question is open, a no may rest on that.
        if self.questions.is_idle() && goals.len() <= MOST_GOALS {
            self.vectors.insert(goals.into(), vectors.clone());
        }
        Ok(vectors)
    }

    /// The same without those of values that satisfy a goal of `never`.
    fn vectors_unless(&mut self, goals: &[GoalId], never: &[GoalId]) -> Result<Vec<Vec<bool>>, Trouble> {
        let allowed = self.limits.goals;
        if goals.len() > allowed {
            let (limit, what) = ("goals", "subschemas and earlier items that one value is compared with");
            return Err(Exceeded { limit, what, allowed }.into());
        }
        let Some(sorted) = self.sort_few(goals)? else {
            return self.vectors_beside(goals, never, &[]);
        };
        // A value that satisfies a goal of few values is one of them, and every other satisfies none of these goals.
        let (few, others) = (sorted.few.iter(), sorted.others.iter());
        let few: Vec<GoalId> = few.map(|place| goals[*place]).collect();
        let rest: Vec<GoalId> = others.map(|place| goals[*place]).collect();
        let mut vectors: Vec<Vec<bool>> = sorted.known.into_iter().map(|(_, outcomes)| outcomes).collect();
        vectors.retain(|outcomes| {
            !goals
                .iter()
                .zip(outcomes)
                .any(|(goal, outcome)| *outcome && never.contains(goal))
        });
        for outcomes in self.vectors_beside(&rest, never, &few)? {
            let mut vector = vec![false; goals.len()];
            for (place, outcome) in sorted.others.iter().zip(outcomes) {
                vector[*place] = outcome;
            }
            vectors.push(vector);
        }
        vectors.sort_unstable_by(|a, b| b.cmp(a));
        vectors.dedup();
        self.check_outcomes(vectors.len())?;
        Ok(vectors)
    }

    /// The outcome vectors over `goals` of values that satisfy no goal of `never` and none of `beside`.
    fn vectors_beside(
        &mut self,
        goals: &[GoalId],
        never: &[GoalId],
        beside: &[GoalId],
    ) -> Result<Vec<Vec<bool>>, Trouble> {
        let mut vectors = Vec::new();
        let (mut all, mut none): (Vec<GoalId>, Vec<GoalId>) = (Vec::new(), beside.to_vec());
        // The goals that `all` and `none` are about come first, and each but those of `never` is tried both ways.
        let mut outcomes: Vec<bool> = Vec::with_capacity(goals.len());
        loop {
            if self.satisfiable(&all, &none)? {
                if let Some(goal) = goals.get(outcomes.len()) {
                    let try_it = !never.contains(goal);
                    outcomes.push(try_it);
                    if try_it { &mut all } else { &mut none }.push(*goal);
                    continue;
                }
                vectors.push(outcomes.clone());
                self.check_outcomes(vectors.len())?;
            }
            loop {
                match outcomes.pop() {
                    None => return Ok(vectors),
                    Some(false) => none.truncate(none.len() - 1),
                    Some(true) => {
                        all.truncate(all.len() - 1);
                        none.push(goals[outcomes.len()]);
                        outcomes.push(false);
                        break;
                    }
                }
            }
        }
    }

    fn check_outcomes(&self, count: usize) -> Result<(), Trouble> {
        let allowed = self.limits.outcomes;
        let (limit, what) = ("outcomes", "combinations of subschemas that a value may satisfy");
        match count > allowed {
            true => Err(Exceeded { limit, what, allowed }.into()),
            false => Ok(()),
        }
    }

    /// Whether so many states may be looked at.
    pub(super) fn check_states(&self, count: usize, what: &'static str) -> Result<(), Trouble> {
        let (limit, allowed) = ("search_states", self.limits.search_states);
        match count > allowed {
            true => Err(Exceeded { limit, what, allowed }.into()),
            false => Ok(()),
        }
    }
}

/// The outcome of `goal` in a vector over `goals`. Goals that are not among them were not asked for.
pub(super) fn outcome_of(goals: &[GoalId], vector: &[bool], goal: GoalId) -> bool {
    goals.binary_search(&goal).is_ok_and(|at| vector[at])
}

/// The goals of a vector that are satisfied, and those that are not.
pub(super) fn split(goals: &[GoalId], vector: &[bool]) -> (Vec<GoalId>, Vec<GoalId>) {
    let pick = |wanted: bool| {
        let pairs = goals.iter().zip(vector).filter(move |(_, outcome)| **outcome == wanted);
        pairs.map(|(goal, _)| *goal).collect()
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
