//! [`LeastFixpoint`]: what is known, what is being answered, and what rests on what.
//!
//! Values are finite, so answers are a least fixpoint: a query that comes up again while it is being answered counts
//! as answered no. A yes found that way stands. A no that rests on a query still open is *provisional*: it is kept
//! while that query is open, becomes final when the query is answered no and rests on nothing further out, and
//! is dropped when the query is answered yes. So every query is answered at most once per yes that is found.
//!
//! Answering nests as deep as values do, which is not the depth of the native stack: a query that comes up too deep
//! is left open and [`AutomatonError::Pending`] ends the attempt. The innermost open query is then attempted first.

use crate::automaton::formula::{AssertionId, FormulaId, TextId};
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use smallvec::SmallVec;
use std::hash::Hash;

/// Attempts that may be under way inside one another on the native stack.
pub(super) const NATIVE_ATTEMPTS: usize = 8;

/// The place of no open query: what rests on it rests on nothing.
pub(super) const RESTS_ON_NOTHING: usize = usize::MAX;

/// Requirement that a value satisfies, and assertions that it does not; both sorted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Requirement {
    pub(crate) all: SmallVec<[AssertionId; 4]>,
    pub(crate) none: SmallVec<[AssertionId; 4]>,
}

impl Requirement {
    pub(crate) fn new(all: &[AssertionId], none: &[AssertionId]) -> Self {
        let tidy = |assertions: &[AssertionId], drop: AssertionId| {
            let mut assertions: SmallVec<[AssertionId; 4]> = assertions
                .iter()
                .copied()
                .filter(|assertion| *assertion != drop)
                .collect();
            assertions.sort_unstable();
            assertions.dedup();
            assertions
        };
        Self {
            all: tidy(all, AssertionId::ANYTHING),
            none: tidy(none, AssertionId::NOTHING),
        }
    }
}

/// What may be asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Query {
    /// Is there such a value?
    Value(Requirement),
    /// Can an array be completed of which this is left?
    Array(FormulaId),
    /// Can an object be completed of which this is left, and in which these names, all of them of a kind that can run
    /// out, must not come again?
    Object(FormulaId, Box<[TextId]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Yes,
    No,
    /// No, as far as the open query at this place is answered no.
    NoWhile(usize),
    /// It is being answered, at this place among those that are.
    Open(usize),
}

/// A query that is being answered.
#[derive(Debug)]
pub(super) struct OpenQuery {
    pub(super) query: Query,
    /// Number of provisional answers when it was opened.
    pub(super) provisional: usize,
}

/// The queries of one compilation.
#[derive(Debug)]
pub(crate) struct LeastFixpoint {
    pub(super) answers: HashMap<Query, Answer>,
    /// LeastFixpoint that are being answered, each in aid of the one before it.
    pub(super) open: Vec<OpenQuery>,
    /// LeastFixpoint whose answer is provisional, in the order in which they were answered.
    pub(super) provisional: Vec<Query>,
    /// Attempts under way on the native stack.
    pub(super) native: usize,
    /// The outermost open query that the answer at hand rests on.
    pub(super) rests_on: usize,
}

impl Default for LeastFixpoint {
    fn default() -> Self {
        Self {
            answers: HashMap::new(),
            open: Vec::new(),
            provisional: Vec::new(),
            native: 0,
            rests_on: RESTS_ON_NOTHING,
        }
    }
}

impl LeastFixpoint {
    /// The answer that is known or has to be taken for now.
    pub(super) fn known(&mut self, query: &Query) -> Option<bool> {
        let (answer, rests_on) = match self.answers.get(query)? {
            Answer::Yes => (true, RESTS_ON_NOTHING),
            Answer::No => (false, RESTS_ON_NOTHING),
            Answer::NoWhile(place) | Answer::Open(place) => (false, *place),
        };
        self.rests_on = self.rests_on.min(rests_on);
        Some(answer)
    }

    /// Whether no query is open.
    pub(crate) fn is_idle(&self) -> bool {
        self.open.is_empty()
    }

    pub(super) fn open(&mut self, query: Query) {
        self.answers.insert(query.clone(), Answer::Open(self.open.len()));
        self.open.push(OpenQuery {
            query,
            provisional: self.provisional.len(),
        });
    }

    /// Notes the answer to the innermost open query.
    pub(super) fn close(&mut self, answer: bool, rests_on: usize) {
        let Some(OpenQuery { query, provisional }) = self.open.pop() else {
            return;
        };
        let place = self.open.len();
        match answer {
            true => {
                for dropped in self.provisional.drain(provisional..) {
                    self.answers.remove(&dropped);
                }
                self.answers.insert(query, Answer::Yes);
            }
            false if rests_on >= place => {
                let answers = &mut self.answers;
                let kept = self.provisional.split_off(provisional);
                for other in kept {
                    match answers.get_mut(&other) {
                        Some(answer @ Answer::NoWhile(_)) if *answer == Answer::NoWhile(place) => *answer = Answer::No,
                        _ => self.provisional.push(other),
                    }
                }
                self.answers.insert(query, Answer::No);
            }
            false => {
                // What rests on this query rests on what it rests on.
                for other in &self.provisional[provisional..] {
                    if let Some(Answer::NoWhile(on)) = self.answers.get_mut(other) {
                        *on = (*on).min(rests_on);
                    }
                }
                self.answers.insert(query.clone(), Answer::NoWhile(rests_on));
                self.provisional.push(query);
                self.rests_on = self.rests_on.min(rests_on);
            }
        }
    }

    /// Number of queries asked.
    pub(crate) fn len(&self) -> usize {
        self.answers.len()
    }

    /// Gives up all queries that are being answered.
    pub(super) fn give_up(&mut self) {
        for dropped in self.provisional.drain(..) {
            self.answers.remove(&dropped);
        }
        for open in self.open.drain(..) {
            if let Entry::Occupied(entry) = self.answers.entry(open.query)
                && matches!(entry.get(), Answer::Open(_))
            {
                entry.remove();
            }
        }
        self.rests_on = RESTS_ON_NOTHING;
    }
}
