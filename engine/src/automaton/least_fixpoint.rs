//! [`LeastFixpoint`]: what is known, what is being answered, and what rests on what.
//!
//! Values are finite, so answers are a least fixpoint: a query that comes up again while it is being answered counts
//! as answered no. A yes found that way stands. A no that rests on a query still open is *provisional*: it is kept
//! while that query is open, becomes final when the query is answered no and rests on nothing further out, and
//! is dropped when the query is answered yes. So every query is answered at most once per yes that is found.
//!
//! Answering nests as deep as values do, which is not the depth of the native stack: a query that comes up too deep
//! is left open and [`AutomatonError::Pending`] ends the attempt. The innermost open query is then attempted first.

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use smallvec::SmallVec;

use super::assertion::AssertionId;
use super::atom::TextId;
use super::formula::FormulaId;
use super::{Automaton, AutomatonError};
use crate::limits::Exceeded;

/// Attempts that may be under way inside one another on the native stack.
const NATIVE: usize = 8;

/// The place of no open query: what rests on it rests on nothing.
const NOTHING: usize = usize::MAX;

/// Assertions that a value satisfies, and assertions that it does not; both sorted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Assertions {
    pub(super) all: SmallVec<[AssertionId; 4]>,
    pub(super) none: SmallVec<[AssertionId; 4]>,
}

impl Assertions {
    pub(super) fn new(all: &[AssertionId], none: &[AssertionId]) -> Self {
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
pub(super) enum Query {
    /// Is there such a value?
    Value(Assertions),
    /// Can an array be completed of which this is left?
    Array(FormulaId),
    /// Can an object be completed of which this is left, and in which these names, all of them of a kind that can run
    /// out, must not come again?
    Object(FormulaId, Box<[TextId]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Yes,
    No,
    /// No, as far as the open query at this place is answered no.
    NoWhile(usize),
    /// It is being answered, at this place among those that are.
    Open(usize),
}

/// A query that is being answered.
#[derive(Debug)]
struct Open {
    query: Query,
    /// Number of provisional answers when it was opened.
    provisional: usize,
}

/// The queries of one compilation.
#[derive(Debug)]
pub(super) struct LeastFixpoint {
    answers: HashMap<Query, Answer>,
    /// LeastFixpoint that are being answered, each in aid of the one before it.
    open: Vec<Open>,
    /// LeastFixpoint whose answer is provisional, in the order in which they were answered.
    provisional: Vec<Query>,
    /// Attempts under way on the native stack.
    native: usize,
    /// The outermost open query that the answer at hand rests on.
    rests_on: usize,
}

impl Default for LeastFixpoint {
    fn default() -> Self {
        Self {
            answers: HashMap::new(),
            open: Vec::new(),
            provisional: Vec::new(),
            native: 0,
            rests_on: NOTHING,
        }
    }
}

impl LeastFixpoint {
    /// The answer that is known or has to be taken for now.
    fn known(&mut self, query: &Query) -> Option<bool> {
        let (answer, rests_on) = match self.answers.get(query)? {
            Answer::Yes => (true, NOTHING),
            Answer::No => (false, NOTHING),
            Answer::NoWhile(place) | Answer::Open(place) => (false, *place),
        };
        self.rests_on = self.rests_on.min(rests_on);
        Some(answer)
    }

    /// Whether no query is open.
    pub(super) fn is_idle(&self) -> bool {
        self.open.is_empty()
    }

    fn open(&mut self, query: Query) {
        self.answers.insert(query.clone(), Answer::Open(self.open.len()));
        self.open.push(Open {
            query,
            provisional: self.provisional.len(),
        });
    }

    /// Notes the answer to the innermost open query.
    fn close(&mut self, answer: bool, rests_on: usize) {
        let Some(Open { query, provisional }) = self.open.pop() else {
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
    pub(super) fn len(&self) -> usize {
        self.answers.len()
    }

    /// Gives up all queries that are being answered.
    fn give_up(&mut self) {
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
        self.rests_on = NOTHING;
    }
}

impl Automaton {
    /// The answer to a query.
    pub(super) fn ask(&mut self, query: Query) -> Result<bool, AutomatonError> {
        if let Some(answer) = self.fixpoint.known(&query) {
            return Ok(answer);
        }
        let allowed = self.limits.open_questions;
        if self.fixpoint.open.len() >= allowed {
            let (limit, what) = (
                "open_questions",
                "values inside one another in the search for one that is valid",
            );
            return Err(Exceeded { limit, what, allowed }.into());
        }
        self.check_memory()?;
        self.fixpoint.open(query);
        match self.fixpoint.native {
            0 => self.answer_all(),
            NATIVE.. => Err(AutomatonError::Pending),
            _ => self.attempt(),
        }
    }

    /// Answers open queries, the innermost first, and so at last the outermost.
    fn answer_all(&mut self) -> Result<bool, AutomatonError> {
        loop {
            match self.attempt() {
                Ok(answer) if self.fixpoint.open.is_empty() => return Ok(answer),
                Ok(_) | Err(AutomatonError::Pending) => {}
                Err(error) => {
                    self.fixpoint.give_up();
                    return Err(error);
                }
            }
        }
    }

    /// Tries to answer the innermost open query.
    fn attempt(&mut self) -> Result<bool, AutomatonError> {
        let Some(innermost) = self.fixpoint.open.last() else {
            return Ok(false);
        };
        let query = innermost.query.clone();
        let outer = std::mem::replace(&mut self.fixpoint.rests_on, NOTHING);
        self.fixpoint.native += 1;
        let answer = self.answer(&query);
        self.fixpoint.native -= 1;
        let rests_on = std::mem::replace(&mut self.fixpoint.rests_on, outer);
        let answer = answer?;
        self.fixpoint.close(answer, rests_on);
        Ok(answer)
    }
}
