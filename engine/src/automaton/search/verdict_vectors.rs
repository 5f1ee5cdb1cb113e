//! Verdict vectors: the combinations of verdicts on some assertions that single values realise. They are enumerated only where
//! items must differ or values are counted or written out: there may be exponentially many.
//!
//! The enumeration is a depth-first search that tries both verdicts of each assertion and cuts off combinations that no
//! value has. Assertions with few values are split off first and decided value by value, so a long `enum` or many
//! earlier items do not multiply.

use crate::automaton::error::{AutomatonError, check_limit};
use crate::automaton::formula::{AssertionId, DiagramId};
use crate::automaton::search::memo::{Classes, VerdictVectors};
use crate::automaton::search::search::Search;

/// Number of assertions up to which verdict vectors are remembered.
const KEPT_VECTOR_ASSERTIONS: usize = 16;

/// Maximal number of assertions by whose verdicts values are sorted into classes.
const CLASSED_ASSERTIONS: usize = 64;

/// Number of assertions up to which all combinations of verdicts on them are looked at to sort values into classes.
pub(super) const FEW_ASSERTIONS: usize = 8;

/// Maximal number of combinations of verdicts, on the first assertions or on all, that are looked at to sort values into classes otherwise.
const CLASS_QUERIES: usize = 256;

/// How many verdict vectors there may be, and how many combinations may be looked at to find them.
struct VectorBound {
    /// Number of vectors, those of single values included.
    vectors: usize,
    /// Number of combinations of verdicts that may still be looked at.
    queries: usize,
    /// Whether the last check found more than this.
    is_reached: bool,
}

impl VectorBound {
    /// Checks a number of vectors.
    fn check(&mut self, vectors: usize) -> Result<(), AutomatonError> {
        self.is_reached = vectors > self.vectors || self.queries == 0;
        let count = if self.is_reached { usize::MAX } else { vectors };
        let what = "combinations of subschemas that a value may satisfy";
        check_limit(count, ("verdicts", self.vectors), what)
    }
}

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
            _ => self
                .verdict_vectors_unless(assertions, never, &mut self.needed_vectors())?
                .into(),
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
    fn known_verdict_vectors(&mut self, assertions: &[AssertionId]) -> Result<VerdictVectors, AutomatonError> {
        if let Some(known) = self.value_memo.vectors.get(assertions) {
            return Ok(known.clone());
        }
        let vectors = self.verdict_vectors_unless(assertions, &[], &mut self.needed_vectors())?;
        let vectors: VerdictVectors = vectors.into();
        // While a query is open, a negative answer may rest on it and may still change.
        if self.fixpoint.is_idle() && assertions.len() <= KEPT_VECTOR_ASSERTIONS {
            self.value_memo.vectors.insert(assertions.into(), vectors.clone());
        }
        Ok(vectors)
    }

    /// The verdict vectors over `assertions` that some value has, each of which stands for the class of values that have it; `None` if the
    /// assertions or the classes are too many, or finding them takes more than the limits of a search.
    pub(super) fn classes(&mut self, assertions: &[AssertionId]) -> Result<Option<VerdictVectors>, AutomatonError> {
        if assertions.len() > CLASSED_ASSERTIONS {
            return Ok(None);
        }
        let queries = match assertions.len() <= FEW_ASSERTIONS {
            true => 2 << FEW_ASSERTIONS,
            false => CLASS_QUERIES,
        };
        match self.value_memo.classes.get(assertions) {
            Some(Classes::All(vectors)) => return Ok(Some(vectors.clone())),
            Some(Classes::Many(looks)) if *looks >= queries => return Ok(None),
            _ => {}
        }
        let mut bound = VectorBound {
            vectors: queries,
            queries,
            is_reached: false,
        };
        let vectors = self.within_limits(|this| {
            this.with_finality(|this| match this.verdict_vectors_unless(assertions, &[], &mut bound) {
                Err(_) if bound.is_reached => Ok(None),
                vectors => vectors.map(Some),
            })
        })?;
        // Combinations can only become more while queries are answered.
        let (vectors, is_final) = match vectors {
            Some((vectors, is_final)) => (vectors, is_final || bound.is_reached),
            None => (
                None,
                self.fixpoint.is_idle() && self.searches == 0 && self.value_memo.enumerated.is_empty(),
            ),
        };
        let vectors: Option<VerdictVectors> = vectors.map(VerdictVectors::from);
        if is_final && !self.fixpoint.leaves_out_optional {
            let classes = vectors.clone().map_or(Classes::Many(queries), Classes::All);
            self.value_memo.classes.insert(assertions.into(), classes);
        }
        Ok(vectors)
    }

    /// The limit of verdict vectors where they are needed.
    fn needed_vectors(&self) -> VectorBound {
        VectorBound {
            vectors: self.algebra.limits.verdicts,
            queries: usize::MAX,
            is_reached: false,
        }
    }

    /// The verdict vectors over `assertions` of values that satisfy no assertion of `never`, within a bound.
    fn verdict_vectors_unless(
        &mut self,
        assertions: &[AssertionId],
        never: &[AssertionId],
        bound: &mut VectorBound,
    ) -> Result<Vec<Vec<bool>>, AutomatonError> {
        let limit = ("assertions", self.algebra.limits.assertions);
        let what = "subschemas and earlier items that one value is compared with";
        check_limit(assertions.len(), limit, what)?;
        let Some(sorted) = self.split_finite(assertions)? else {
            return self.verdict_vectors_beside(assertions, never, &[], bound);
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
        for verdicts in self.verdict_vectors_beside(&rest, never, &few, bound)? {
            let mut vector = vec![false; assertions.len()];
            for (place, verdict) in sorted.others.iter().zip(verdicts) {
                vector[*place] = verdict;
            }
            vectors.push(vector);
        }
        vectors.sort_unstable_by(|a, b| b.cmp(a));
        vectors.dedup();
        bound.check(vectors.len())?;
        Ok(vectors)
    }

    /// The verdict vectors over `assertions` of values that satisfy no assertion of `never` and none of `beside`, within a bound.
    fn verdict_vectors_beside(
        &mut self,
        assertions: &[AssertionId],
        never: &[AssertionId],
        beside: &[AssertionId],
        bound: &mut VectorBound,
    ) -> Result<Vec<Vec<bool>>, AutomatonError> {
        let mut vectors = Vec::new();
        let (mut all, mut none): (Vec<AssertionId>, Vec<AssertionId>) = (Vec::new(), beside.to_vec());
        // Each assertion is tried as satisfied first and then as not satisfied; those of `never` only as not satisfied.
        let mut verdicts: Vec<bool> = Vec::with_capacity(assertions.len());
        loop {
            bound.check(vectors.len())?;
            bound.queries -= 1;
            if self.satisfiable(&all, &none)? {
                if let Some(assertion) = assertions.get(verdicts.len()) {
                    let try_it = !never.contains(assertion);
                    verdicts.push(try_it);
                    if try_it { &mut all } else { &mut none }.push(*assertion);
                    continue;
                }
                vectors.push(verdicts.clone());
                bound.check(vectors.len())?;
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
}
