//! [`Questions`]: what is known, what is being answered, and what rests on what.
//!
//! Values are finite, so answers are a least fixpoint: a question that comes up again while it is being answered counts
//! as answered no. A yes found that way stands. A no that rests on a question still open is *provisional*: it is kept
//! while that question is open, becomes final when the question is answered no and rests on nothing further out, and
//! is dropped when the question is answered yes. So every question is answered at most once per yes that is found.
//!
//! Answering nests as deep as values do, which is not the depth of the native stack: a question that comes up too deep
//! is left open and [`Trouble::Pending`] ends the attempt. The innermost open question is then attempted first.

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use smallvec::SmallVec;

use super::atom::TextId;
use super::formula::FormulaId;
use super::goal::GoalId;
use super::{Automaton, Trouble};
use crate::limits::Exceeded;

/// Attempts that may be under way inside one another on the native stack.
const NATIVE: usize = 8;

/// The place of no open question: what rests on it rests on nothing.
const NOTHING: usize = usize::MAX;

/// Goals that a value satisfies, and goals that it does not; both sorted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Goals {
    pub(super) all: SmallVec<[GoalId; 4]>,
    pub(super) none: SmallVec<[GoalId; 4]>,
}

impl Goals {
    pub(super) fn new(all: &[GoalId], none: &[GoalId]) -> Self {
        let tidy = |goals: &[GoalId], drop: GoalId| {
            let mut goals: SmallVec<[GoalId; 4]> = goals.iter().copied().filter(|goal| *goal != drop).collect();
            goals.sort_unstable();
            goals.dedup();
            goals
        };
        Self {
            all: tidy(all, GoalId::ANYTHING),
            none: tidy(none, GoalId::NOTHING),
        }
    }
}

/// What may be asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Question {
    /// Is there such a value?
    Value(Goals),
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
    /// No, as far as the open question at this place is answered no.
    NoWhile(usize),
    /// It is being answered, at this place among those that are.
    Open(usize),
}

/// A question that is being answered.
#[derive(Debug)]
struct Open {
    question: Question,
    /// Number of provisional answers when it was opened.
    provisional: usize,
}

/// The questions of one compilation.
#[derive(Debug)]
pub(super) struct Questions {
    answers: HashMap<Question, Answer>,
    /// Questions that are being answered, each in aid of the one before it.
    open: Vec<Open>,
    /// Questions whose answer is provisional, in the order in which they were answered.
    provisional: Vec<Question>,
    /// Attempts under way on the native stack.
    native: usize,
    /// The outermost open question that the answer at hand rests on.
    rests_on: usize,
}

impl Default for Questions {
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

impl Questions {
    /// The answer that is known or has to be taken for now.
    fn known(&mut self, question: &Question) -> Option<bool> {
        let (answer, rests_on) = match self.answers.get(question)? {
            Answer::Yes => (true, NOTHING),
            Answer::No => (false, NOTHING),
            Answer::NoWhile(place) | Answer::Open(place) => (false, *place),
        };
        self.rests_on = self.rests_on.min(rests_on);
        Some(answer)
    }

    /// Whether no question is open.
    pub(super) fn is_idle(&self) -> bool {
        self.open.is_empty()
    }

    fn open(&mut self, question: Question) {
        self.answers.insert(question.clone(), Answer::Open(self.open.len()));
        self.open.push(Open {
            question,
            provisional: self.provisional.len(),
        });
    }

    /// Notes the answer to the innermost open question.
    fn close(&mut self, answer: bool, rests_on: usize) {
        let Some(Open { question, provisional }) = self.open.pop() else {
            return;
        };
        let place = self.open.len();
        match answer {
            true => {
                for dropped in self.provisional.drain(provisional..) {
                    self.answers.remove(&dropped);
                }
                self.answers.insert(question, Answer::Yes);
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
                self.answers.insert(question, Answer::No);
            }
            false => {
                // What rests on this question rests on what it rests on.
                for other in &self.provisional[provisional..] {
                    if let Some(Answer::NoWhile(on)) = self.answers.get_mut(other) {
                        *on = (*on).min(rests_on);
                    }
                }
                self.answers.insert(question.clone(), Answer::NoWhile(rests_on));
                self.provisional.push(question);
                self.rests_on = self.rests_on.min(rests_on);
            }
        }
    }

    /// Number of questions asked.
    pub(super) fn len(&self) -> usize {
        self.answers.len()
    }

    /// Gives up all questions that are being answered.
    fn give_up(&mut self) {
        for dropped in self.provisional.drain(..) {
            self.answers.remove(&dropped);
        }
        for open in self.open.drain(..) {
            if let Entry::Occupied(entry) = self.answers.entry(open.question)
                && matches!(entry.get(), Answer::Open(_))
            {
                entry.remove();
            }
        }
        self.rests_on = NOTHING;
    }
}

impl Automaton {
    /// The answer to a question.
    pub(super) fn ask(&mut self, question: Question) -> Result<bool, Trouble> {
        if let Some(answer) = self.questions.known(&question) {
            return Ok(answer);
        }
        let allowed = self.limits.open_questions;
        if self.questions.open.len() >= allowed {
            let (limit, what) = (
                "open_questions",
                "values inside one another in the search for one that is valid",
            );
            return Err(Exceeded { limit, what, allowed }.into());
        }
        self.check_memory()?;
        self.questions.open(question);
        match self.questions.native {
            0 => self.answer_all(),
            NATIVE.. => Err(Trouble::Pending),
            _ => self.attempt(),
        }
    }

    /// Answers open questions, the innermost first, and so at last the outermost.
    fn answer_all(&mut self) -> Result<bool, Trouble> {
        loop {
            match self.attempt() {
                Ok(answer) if self.questions.open.is_empty() => return Ok(answer),
                Ok(_) | Err(Trouble::Pending) => {}
                Err(trouble) => {
                    self.questions.give_up();
                    return Err(trouble);
                }
            }
        }
    }

    /// Tries to answer the innermost open question.
    fn attempt(&mut self) -> Result<bool, Trouble> {
        let Some(innermost) = self.questions.open.last() else {
            return Ok(false);
        };
        let question = innermost.question.clone();
        let outer = std::mem::replace(&mut self.questions.rests_on, NOTHING);
        self.questions.native += 1;
        let answer = self.answer(&question);
        self.questions.native -= 1;
        let rests_on = std::mem::replace(&mut self.questions.rests_on, outer);
        let answer = answer?;
        self.questions.close(answer, rests_on);
        Ok(answer)
    }
}
