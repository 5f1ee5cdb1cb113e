//! [`Search`]: the state of the satisfiability search: the algebra of requirements, the fixpoint solver and the memos.

use crate::automaton::formula::Algebra;
use crate::automaton::memory::{SHARED_BYTES, list_bytes, table_bytes};
use crate::automaton::search::{Expectations, KeyList, LeastFixpoint, ObjectMemo, ValueMemo};
use std::sync::Arc;

use crate::automaton::error::AutomatonError;

/// The search for values that satisfy formulas, with the algebra in which the formulas are made.
#[derive(Debug)]
pub(crate) struct Search {
    pub(crate) algebra: Algebra,
    pub(crate) fixpoint: LeastFixpoint,
    pub(crate) expectations: Expectations,
    pub(crate) key_lists: Vec<Arc<KeyList>>,
    pub(super) value_memo: ValueMemo,
    pub(crate) object_memo: ObjectMemo,
    /// Number of steps of the current search that may be exponentially many.
    pub(super) steps: usize,
    /// Number of goals processed so far, as a measure of work.
    pub(crate) goals: usize,
    /// Number of nested searches, each started by the one before.
    pub(super) searches: usize,
    /// Bytes of memory that the layer above takes, as it reported last.
    pub(crate) memory_above: usize,
}

impl Search {
    pub(crate) fn new(algebra: Algebra) -> Self {
        Self {
            algebra,
            fixpoint: LeastFixpoint::default(),
            expectations: Expectations::default(),
            key_lists: Vec::new(),
            value_memo: ValueMemo::default(),
            object_memo: ObjectMemo::default(),
            steps: 0,
            goals: 0,
            searches: 0,
            memory_above: 0,
        }
    }

    /// An estimate of the memory of this layer and those below and above it, in bytes.
    pub(crate) fn memory(&self) -> usize {
        let objects = &self.object_memo;
        self.algebra.memory() + 64 * objects.sets_within.len() + table_bytes(&objects.next_keys) + self.memory_above
    }

    /// An estimate of the memory of this layer and those below that grows with the schema and is not part of
    /// [`memory`](Self::memory).
    pub(crate) fn proportional_memory(&self) -> usize {
        let lists = self.key_lists.iter().map(|list| SHARED_BYTES + size_of_val(&**list));
        self.algebra.proportional_memory()
            + self.fixpoint.memory()
            + self.expectations.memory()
            + self.value_memo.memory()
            + self.object_memo.memory()
            + list_bytes(&self.key_lists)
            + lists.sum::<usize>()
    }

    /// Checks the memory of all layers against the limit.
    pub(crate) fn check_memory(&self) -> Result<(), AutomatonError> {
        self.algebra.check_memory(self.memory())
    }
}
