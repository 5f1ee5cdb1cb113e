//! [`LeastFixpoint`]: the top-down solver of recursive queries, with memoised answers and the dependencies between open queries.
//!
//! Values are finite, so the answers are a least fixpoint: a query that comes up again while it is being answered counts as
//! answered no. A yes found that way is final. A no that depends on a query still open is *provisional*: it is kept while
//! that query is open, becomes final when the query is answered no and depends on no query further out, and is dropped
//! when the query is answered yes. So every query is answered at most once per yes that is found.
//!
//! Queries nest as deeply as values do, which must not be the depth of the native stack. A query that comes up too deep
//! is left open, and [`AutomatonError::Pending`](crate::automaton::error::AutomatonError::Pending) ends the attempt.
//! The innermost open query is attempted next.

use crate::automaton::formula::{AssertionId, FormulaId, TextId};
use crate::automaton::memory::table_bytes;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use smallvec::SmallVec;
use std::hash::Hash;

/// Number of attempts that may be nested on the native stack.
pub(super) const NATIVE_ATTEMPTS: usize = 8;

/// The index of no open query: an answer with this value rests on no open query.
pub(super) const RESTS_ON_NOTHING: usize = usize::MAX;

/// The assertions that a value must satisfy, and those that it must not satisfy; both sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Requirement {
    pub(crate) all: SmallVec<[AssertionId; 4]>,
    pub(crate) none: SmallVec<[AssertionId; 4]>,
}

impl Requirement {
    /// The requirement to satisfy all assertions of `all` and none of `none`, sorted and without trivial assertions.
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

    /// Whether the assertion has to hold, or must not; `None` where the requirement does not name it.
    pub(crate) fn verdict_on(&self, assertion: AssertionId) -> Option<bool> {
        if self.all.binary_search(&assertion).is_ok() {
            return Some(true);
        }
        self.none.binary_search(&assertion).is_ok().then_some(false)
    }
}

/// A query that the search answers with yes or no.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Query {
    /// Is there a value that meets this requirement?
    Value(Requirement),
    /// Can an array with this residual formula be completed?
    Array(FormulaId),
    /// Can an object with this residual formula be completed if these keys, all from cells that can run out, must not
    /// come again?
    Object(FormulaId, Box<[TextId]>),
}

/// The answer to a query, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Yes,
    No,
    /// The answer is no as long as the open query at this index is answered no.
    NoWhile(usize),
    /// The query is being answered; it has this index among the open queries.
    Open(usize),
}

/// A query that is being answered.
#[derive(Debug)]
pub(super) struct OpenQuery {
    pub(super) query: Query,
    /// Number of provisional answers when the query was opened.
    pub(super) provisional: usize,
}

/// The queries of one compiled schema, with their answers.
#[derive(Debug)]
pub(crate) struct LeastFixpoint {
    pub(super) answers: HashMap<Query, Answer>,
    /// The queries that are being answered, each opened in order to answer the one before it.
    pub(super) open: Vec<OpenQuery>,
    /// The queries whose answers are provisional, in the order in which they were answered.
    pub(super) provisional: Vec<Query>,
    /// Number of attempts nested on the native stack.
    pub(super) native: usize,
    /// The index of the outermost open query that the current answer rests on.
    pub(super) rests_on: usize,
    /// Where the outermost optional work that is under way, or that waits for a query it has opened, began.
    pub(super) optional: Option<OptionalWork>,
    /// Whether optional work is left out, because a query that it had opened came to a limit.
    pub(super) leaves_out_optional: bool,
}

/// The beginning of work that helps to answer the open queries and is not needed for that.
#[derive(Clone, Copy, Debug)]
pub(super) struct OptionalWork {
    /// Number of queries that were open.
    pub(super) open: usize,
    /// Number of steps that had been counted.
    pub(super) steps: usize,
    /// Number of partial containers that the current enumeration had visited.
    pub(super) beginnings: usize,
}

impl Default for LeastFixpoint {
    fn default() -> Self {
        Self {
            answers: HashMap::new(),
            open: Vec::new(),
            provisional: Vec::new(),
            native: 0,
            rests_on: RESTS_ON_NOTHING,
            optional: None,
            leaves_out_optional: false,
        }
    }
}

impl LeastFixpoint {
    /// The answer that is known or has to be assumed for now; `None` for a new query.
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

    /// Opens a query: it is being answered from now on.
    pub(super) fn open(&mut self, query: Query) {
        self.answers.insert(query.clone(), Answer::Open(self.open.len()));
        self.open.push(OpenQuery {
            query,
            provisional: self.provisional.len(),
        });
    }

    /// Records the answer to the innermost open query.
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
                // An answer that rests on this query also rests on the queries that this one rests on.
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

    /// Bytes of memory that the queries and their answers take.
    pub(crate) fn memory(&self) -> usize {
        let referred = self.answers.keys().map(|query| match query {
            Query::Value(asked) => {
                let spilled = [&asked.all, &asked.none].into_iter().filter(|list| list.spilled());
                spilled.map(|list| list.capacity() * size_of::<AssertionId>()).sum()
            }
            Query::Array(_) => 0,
            Query::Object(_, used) => size_of_val(&**used),
        });
        table_bytes(&self.answers) + referred.sum::<usize>()
    }

    /// Number of queries asked so far.
    pub(crate) fn len(&self) -> usize {
        self.answers.len()
    }

    /// Abandons all queries that are being answered but the first `kept`, after an error.
    pub(super) fn give_up(&mut self, kept: usize) {
        let Some(first) = self.open.get(kept) else { return };
        for dropped in self.provisional.drain(first.provisional..) {
            self.answers.remove(&dropped);
        }
        for open in self.open.drain(kept..) {
            if let Entry::Occupied(entry) = self.answers.entry(open.query)
                && matches!(entry.get(), Answer::Open(_))
            {
                entry.remove();
            }
        }
    }
}
