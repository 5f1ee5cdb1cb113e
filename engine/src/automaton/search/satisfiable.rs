//! Satisfiability of a requirement: whether some value satisfies all of some assertions and none of others.

use crate::automaton::error::{AutomatonError, check_limit};
use crate::automaton::formula::{AssertionId, Constraint, ItemsId};
use crate::automaton::search::{NATIVE_ATTEMPTS, OptionalWork, Query, RESTS_ON_NOTHING, Requirement, Search};
use crate::error::CompileErrorKind;

impl Search {
    /// The answer to a query, worked out if it is not known.
    pub(super) fn ask(&mut self, query: Query) -> Result<bool, AutomatonError> {
        if let Some(answer) = self.fixpoint.known(&query) {
            return Ok(answer);
        }
        let limit = ("open_questions", self.algebra.limits.open_questions);
        let what = "values inside one another in the search for one that is valid";
        check_limit(self.fixpoint.open.len() + 1, limit, what)?;
        self.check_memory()?;
        self.fixpoint.open(query);
        match self.fixpoint.native {
            0 => self.counted(Self::answer_all),
            NATIVE_ATTEMPTS.. => Err(AutomatonError::Pending),
            _ => self.attempt(),
        }
    }

    /// Answers the open queries, the innermost first, until the outermost is answered.
    fn answer_all(&mut self) -> Result<bool, AutomatonError> {
        let (optional, rests_on) = (self.fixpoint.optional, self.fixpoint.rests_on);
        let answer = loop {
            match self.attempt() {
                Ok(answer) if self.fixpoint.open.is_empty() => break Ok(answer),
                Ok(_) | Err(AutomatonError::Pending) => {}
                Err(error) => match self.fixpoint.optional.take() {
                    // A query that optional work had opened, and that was left open, is not needed.
                    Some(work) if is_limit(&error) && (1..self.fixpoint.open.len()).contains(&work.open) => {
                        self.fixpoint.give_up(work.open);
                        self.steps = work.steps;
                        self.value_memo.beginnings = work.beginnings;
                        self.fixpoint.leaves_out_optional = true;
                    }
                    _ => {
                        self.fixpoint.give_up(0);
                        break Err(error);
                    }
                },
            }
        };
        self.fixpoint.optional = optional;
        self.fixpoint.leaves_out_optional = false;
        // No query is open any more that an answer could rest on.
        self.fixpoint.rests_on = rests_on;
        answer
    }

    /// Tries to answer the innermost open query.
    fn attempt(&mut self) -> Result<bool, AutomatonError> {
        let Some(innermost) = self.fixpoint.open.last() else {
            return Ok(false);
        };
        let query = innermost.query.clone();
        let outer = std::mem::replace(&mut self.fixpoint.rests_on, RESTS_ON_NOTHING);
        self.fixpoint.native += 1;
        let answer = self.answer(&query);
        self.fixpoint.native -= 1;
        let rests_on = std::mem::replace(&mut self.fixpoint.rests_on, outer);
        let answer = answer?;
        self.fixpoint.close(answer, rests_on);
        Ok(answer)
    }

    /// Whether there is a value that satisfies all assertions of `all` and none of `none`.
    pub(crate) fn satisfiable(&mut self, all: &[AssertionId], none: &[AssertionId]) -> Result<bool, AutomatonError> {
        if all.contains(&AssertionId::NOTHING) || none.contains(&AssertionId::ANYTHING) {
            return Ok(false);
        }
        // Most calls ask for at most one assertion.
        let alone = match (all, none) {
            ([], []) => return Ok(true),
            ([AssertionId::ANYTHING], []) => return Ok(true),
            ([assertion], []) => Some(*assertion),
            _ => None,
        };
        if let Some(&known) = alone.and_then(|assertion| self.value_memo.alone.get(&assertion)) {
            return Ok(known);
        }
        let assertions = Requirement::new(all, none);
        if assertions
            .all
            .iter()
            .any(|assertion| assertions.none.binary_search(assertion).is_ok())
        {
            return Ok(false);
        }
        let answer = self.ask(Query::Value(assertions))?;
        if let Some(assertion) = alone.filter(|_| self.fixpoint.is_idle()) {
            self.value_memo.alone.insert(assertion, answer);
        }
        Ok(answer)
    }

    /// Works out the answer to a query.
    fn answer(&mut self, query: &Query) -> Result<bool, AutomatonError> {
        match query {
            Query::Value(assertions) => self.search_value(&assertions.all, &assertions.none),
            Query::Array(formula) if self.algebra.asks_unique(&[*formula]) => {
                self.unique_array_can_end(*formula, ItemsId::EMPTY, None)
            }
            Query::Array(formula) => self.search_array(*formula),
            Query::Object(formula, used) => self.search_object(*formula, used),
        }
    }

    /// Searches for a value that satisfies all assertions of `all` and none of `none`.
    fn search_value(&mut self, all: &[AssertionId], none: &[AssertionId]) -> Result<bool, AutomatonError> {
        let value = self.algebra.combined(all, none)?;
        self.has_value(&value)
    }

    /// Whether some value satisfies a constraint.
    pub(crate) fn has_value(&mut self, value: &Constraint) -> Result<bool, AutomatonError> {
        if value.null || value.yes || value.no {
            return Ok(true);
        }
        Ok(!self.algebra.number_texts.sets().is_empty(value.numbers)
            || !self.algebra.languages.is_empty(value.strings)?
            || self.array_can_end(value.arrays, ItemsId::EMPTY)?
            || self.object_can_end(value.objects, &[])?)
    }

    /// The result of a search whose steps are counted, together with those of all searches that it is part of.
    pub(super) fn counted<T>(&mut self, search: impl FnOnce(&mut Self) -> T) -> T {
        if self.searches == 0 {
            self.steps = 0;
        }
        self.searches += 1;
        let result = search(self);
        self.searches -= 1;
        result
    }

    /// The result of optional work: it helps to answer the open queries, and is not needed for that. `None` if it comes to a limit, or if a query
    /// that optional work had opened did, while the outermost of the open queries is being answered.
    pub(super) fn within_limits<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, AutomatonError>,
    ) -> Result<Option<T>, AutomatonError> {
        if self.fixpoint.leaves_out_optional {
            return Ok(None);
        }
        let began = OptionalWork {
            open: self.fixpoint.open.len(),
            steps: self.steps,
            beginnings: self.value_memo.beginnings,
        };
        let outer = self.fixpoint.optional;
        if outer.is_none_or(|outer| outer.open >= began.open) {
            self.fixpoint.optional = Some(began);
        }
        let result = work(self);
        // The record stays where a query was left open: it is attempted again from `answer_all`.
        if !matches!(result, Err(AutomatonError::Pending)) {
            self.fixpoint.optional = outer;
        }
        match result {
            Err(error) if is_limit(&error) => {
                self.fixpoint.give_up(began.open);
                self.steps = began.steps;
                self.value_memo.beginnings = began.beginnings;
                Ok(None)
            }
            result => result.map(Some),
        }
    }

    /// The result of work, and whether it rests on no open query, so that it is final.
    pub(super) fn with_finality<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, AutomatonError>,
    ) -> Result<(T, bool), AutomatonError> {
        let outer = std::mem::replace(&mut self.fixpoint.rests_on, RESTS_ON_NOTHING);
        let result = work(self);
        let rests_on = self.fixpoint.rests_on;
        self.fixpoint.rests_on = outer.min(rests_on);
        Ok((result?, rests_on == RESTS_ON_NOTHING))
    }

    /// Counts a step against the limit for one search, which all searches in aid of it share. Those of optional work that comes to a limit are not
    /// counted.
    pub(super) fn count_step(&mut self, what: &'static str) -> Result<(), AutomatonError> {
        self.steps += 1;
        self.check_states(self.steps, what)
    }

    /// Checks a number of search states against the limit for one search.
    pub(super) fn check_states(&self, count: usize, what: &'static str) -> Result<(), AutomatonError> {
        check_limit(count, ("search_states", self.algebra.limits.search_states), what)
    }
}

/// Whether an error is that of a limit.
fn is_limit(error: &AutomatonError) -> bool {
    match error {
        AutomatonError::Reached(_) | AutomatonError::Limit(_) => true,
        AutomatonError::Schema(error) => error.kind() == CompileErrorKind::LimitExceeded,
        _ => false,
    }
}
