//! [`ValueFacts`]: the facts that a tableau has assumed about one value.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::AssertionId;
use crate::automaton::search::containers::tableau::{Reasons, united};
use crate::automaton::search::{Requirement, Search};

/// Number of facts up to which each is checked at once. Later ones are checked together.
const FACTS_CHECKED_AT_ONCE: usize = 4;

/// Number of facts that cannot hold together up to which they are told from the others: returning to one of many is as
/// good as to the last.
const FACTS_IN_CONFLICT: usize = 8;

/// The assertions that a value satisfies or does not, each with the reasons of this fact.
#[derive(Debug, Default)]
pub(in crate::automaton::search) struct ValueFacts {
    facts: Vec<(AssertionId, bool, Reasons)>,
    /// Number of facts that are known to be possible together.
    checked: usize,
}

impl ValueFacts {
    /// Adds a fact, unless it is known; returns whether it is new.
    pub(in crate::automaton::search) fn add(&mut self, assertion: AssertionId, holds: bool, reasons: &Reasons) -> bool {
        let mut known = self.facts.iter();
        let is_new = !known.any(|(one, value, _)| (*one, *value) == (assertion, holds));
        if is_new {
            self.facts.push((assertion, holds, reasons.clone()));
        }
        is_new
    }

    /// Takes back the last fact that was added.
    pub(in crate::automaton::search) fn pop(&mut self) {
        self.facts.pop();
        self.checked = self.checked.min(self.facts.len());
    }

    /// Whether the value satisfies an assertion, if a fact says so.
    pub(in crate::automaton::search) fn value(&self, assertion: AssertionId) -> Option<bool> {
        let mut facts = self.facts.iter().filter(|(one, ..)| *one == assertion);
        facts.next().map(|(_, holds, _)| *holds)
    }

    /// The assertions that the value is known to satisfy.
    pub(in crate::automaton::search) fn satisfied(&self) -> impl Iterator<Item = AssertionId> {
        let satisfied = self.facts.iter().filter(|(_, holds, _)| *holds);
        satisfied.map(|(assertion, ..)| *assertion)
    }

    /// The reasons of the facts.
    pub(in crate::automaton::search) fn reasons(&self) -> impl Iterator<Item = &Reasons> {
        self.facts.iter().map(|(.., reasons)| reasons)
    }

    /// The requirement that the facts make together.
    pub(in crate::automaton::search) fn requirement(&self) -> Requirement {
        self.some(0..self.facts.len())
    }

    /// The requirement that the facts at these indices make.
    fn some(&self, places: impl Iterator<Item = usize>) -> Requirement {
        let (mut all, mut none) = (Vec::new(), Vec::new());
        for place in places {
            let (assertion, holds, _) = self.facts[place];
            if holds { &mut all } else { &mut none }.push(assertion);
        }
        Requirement::new(&all, &none)
    }

    /// Checks that one value can meet all facts; without `all` only if many have been added. Returns the reasons of
    /// facts that cannot hold together.
    pub(in crate::automaton::search) fn check(
        &mut self,
        search: &mut Search,
        all: bool,
    ) -> Result<Option<Reasons>, AutomatonError> {
        let count = self.facts.len();
        if self.checked == count {
            return Ok(None);
        }
        let is_new = self.facts[self.checked..].iter().any(|(_, holds, _)| *holds);
        let satisfied: Vec<AssertionId> = self.satisfied().take(FACTS_CHECKED_AT_ONCE + 1).collect();
        // Assertions that a value satisfies exclude each other more often than those that it does not.
        let is_wrong = is_new && satisfied.len() <= FACTS_CHECKED_AT_ONCE && !search.satisfiable(&satisfied, &[])?;
        if !is_wrong && !all && count > FACTS_CHECKED_AT_ONCE && count < 2 * self.checked {
            return Ok(None);
        }
        let can_be = |first: usize, others: &[usize], search: &mut Search| {
            let value = self.some((0..first).chain(others.iter().copied()));
            search.satisfiable(&value.all, &value.none)
        };
        if can_be(count, &[], search)? {
            self.checked = count;
            return Ok(None);
        }
        // Each is the last of the first facts that cannot hold together with those found before.
        let (mut core, mut impossible) = (Vec::new(), count);
        while core.is_empty() || can_be(0, &core, search)? {
            if core.len() == FACTS_IN_CONFLICT {
                return Ok(Some(united(self.reasons())));
            }
            let mut possible = 0;
            while possible + 1 < impossible {
                let middle = possible.midpoint(impossible);
                match can_be(middle, &core, search)? {
                    true => possible = middle,
                    false => impossible = middle,
                }
            }
            impossible -= 1;
            core.push(impossible);
        }
        Ok(Some(united(core.iter().map(|place| &self.facts[*place].2))))
    }
}
