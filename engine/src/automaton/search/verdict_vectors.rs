//! Verdict vectors: the combinations of verdicts on some assertions that single values realise. They are enumerated only where
//! items must differ or values are counted or written out: there may be exponentially many.
//!
//! The enumeration is a depth-first search that tries both verdicts of each assertion and cuts off combinations that no
//! value has. Assertions with few values are split off first and decided value by value, so a long `enum` or many
//! earlier items do not multiply.

use crate::automaton::error::{AutomatonError, check_limit};
use crate::automaton::formula::{AssertionId, DiagramId};
use crate::automaton::search::search::Search;
use std::sync::Arc;

/// Number of assertions up to which verdict vectors are remembered.
const KEPT_VECTOR_ASSERTIONS: usize = 16;

/// Decides whether a verdict vector is admitted.
type Leaf<'a> = &'a mut dyn FnMut(&mut Search, &[bool]) -> Result<bool, AutomatonError>;

impl Search {
    /// The diagram over `assertions` that admits the verdict vectors for which `leaf` returns true, for the case that no
    /// value satisfying an assertion of `never` is admitted. Such values are not looked at further, so many such
    /// assertions cost no more than their number. Vectors that no value has are never passed to `leaf` and are not
    /// admitted.
    pub(crate) fn decide_unless(
        &mut self,
        assertions: &[AssertionId],
        never: &[AssertionId],
        leaf: Leaf<'_>,
    ) -> Result<DiagramId, AutomatonError> {
        let vectors = match never {
            [] => self.known_verdict_vectors(assertions)?,
            _ => self.verdict_vectors_unless(assertions, never)?.into(),
        };
        let mut kept = Vec::with_capacity(vectors.len());
        for vector in vectors.iter() {
            if leaf(self, vector)? {
                kept.push(vector.clone());
            }
        }
        Ok(self.algebra.diagrams.among(&kept, assertions.len()))
    }

    /// The verdict vectors over `assertions` that some value has, sorted with `true` before `false`.
    pub(crate) fn verdict_vectors(&mut self, assertions: &[AssertionId]) -> Result<Vec<Vec<bool>>, AutomatonError> {
        Ok(self.known_verdict_vectors(assertions)?.to_vec())
    }

    /// The verdict vectors over `assertions` that some value has, remembered once they are known.
    fn known_verdict_vectors(&mut self, assertions: &[AssertionId]) -> Result<Arc<[Vec<bool>]>, AutomatonError> {
        if let Some(known) = self.value_memo.vectors.get(assertions) {
            return Ok(known.clone());
        }
        let vectors: Arc<[Vec<bool>]> = self.verdict_vectors_unless(assertions, &[])?.into();
        // While a query is open, a negative answer may rest on it and may still change.
        if self.fixpoint.is_idle() && assertions.len() <= KEPT_VECTOR_ASSERTIONS {
            self.value_memo.vectors.insert(assertions.into(), vectors.clone());
        }
        Ok(vectors)
    }

    /// The verdict vectors over `assertions` of values that satisfy no assertion of `never`.
    fn verdict_vectors_unless(
        &mut self,
        assertions: &[AssertionId],
        never: &[AssertionId],
    ) -> Result<Vec<Vec<bool>>, AutomatonError> {
        let limit = ("assertions", self.algebra.limits.assertions);
        let what = "subschemas and earlier items that one value is compared with";
        check_limit(assertions.len(), limit, what)?;
        let Some(sorted) = self.split_finite(assertions)? else {
            return self.verdict_vectors_beside(assertions, never, &[]);
        };
        // A value that satisfies an assertion with few values is one of those values; every other value satisfies none
        // of these assertions.
        let (few, others) = (sorted.few.iter(), sorted.others.iter());
        let few: Vec<AssertionId> = few.map(|place| assertions[*place]).collect();
        let rest: Vec<AssertionId> = others.map(|place| assertions[*place]).collect();
        let verdicts = |satisfied: Vec<u32>| {
            let mut verdicts = vec![false; assertions.len()];
            satisfied.into_iter().for_each(|place| verdicts[place as usize] = true);
            verdicts
        };
        let known = sorted.known.into_iter();
        let mut vectors: Vec<Vec<bool>> = known.map(|(_, satisfied)| verdicts(satisfied)).collect();
        vectors.retain(|verdicts| {
            !assertions
                .iter()
                .zip(verdicts)
                .any(|(assertion, verdict)| *verdict && never.contains(assertion))
        });
        for verdicts in self.verdict_vectors_beside(&rest, never, &few)? {
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
    fn verdict_vectors_beside(
        &mut self,
        assertions: &[AssertionId],
        never: &[AssertionId],
        beside: &[AssertionId],
    ) -> Result<Vec<Vec<bool>>, AutomatonError> {
        let mut vectors = Vec::new();
        let (mut all, mut none): (Vec<AssertionId>, Vec<AssertionId>) = (Vec::new(), beside.to_vec());
        // Each assertion is tried as satisfied first and then as not satisfied; those of `never` only as not satisfied.
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

    /// Checks a number of verdict vectors against the limit.
    fn check_verdicts(&self, count: usize) -> Result<(), AutomatonError> {
        let limit = ("verdicts", self.algebra.limits.verdicts);
        check_limit(count, limit, "combinations of subschemas that a value may satisfy")
    }
}
