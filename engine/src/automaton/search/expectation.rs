//! [`Expectation`]: the requirement on a value: assertions, and a decision diagram of the verdicts on them that are admitted.

use crate::automaton::formula::{AssertionId, DiagramId, Strings};
use crate::automaton::memory::{list_bytes, table_bytes};
use crate::numbers::NumberSetId;
use hashbrown::HashMap;
use smallvec::SmallVec;
use std::hash::Hash;
use std::sync::Arc;

/// The number of an [`Expectation`]. Equal ids mean equal expectations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ExpectationId(pub(crate) u32);

/// The assertions that a value is judged by, and the diagram of the verdicts that the containers around it admit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Expectation {
    /// The assertions, sorted.
    pub(crate) assertions: Box<[AssertionId]>,
    pub(crate) diagram: DiagramId,
}

/// The verdicts of a value's assertions, in their order.
pub(crate) type Verdicts = SmallVec<[bool; 4]>;

/// All expectations of one compiled schema, each stored once, with the results about them.
#[derive(Debug, Default)]
pub(crate) struct Expectations {
    pub(super) all: Vec<Arc<Expectation>>,
    pub(super) ids: HashMap<Arc<Expectation>, ExpectationId>,
    /// The strings that meet an expectation.
    pub(super) strings: HashMap<ExpectationId, Strings>,
    /// The numbers that meet an expectation.
    pub(crate) numbers: HashMap<ExpectationId, NumberSetId>,
    /// Whether some value meets an expectation.
    pub(super) possible: HashMap<ExpectationId, bool>,
    /// Whether infinitely many values meet an expectation.
    pub(super) infinite: HashMap<ExpectationId, bool>,
}

impl Expectations {
    /// Bytes of memory that the expectations take.
    pub(crate) fn memory(&self) -> usize {
        let each = self
            .all
            .iter()
            .map(|one| size_of_val(&**one) + size_of_val(&*one.assertions) + 2 * size_of::<usize>());
        list_bytes(&self.all)
            + each.sum::<usize>()
            + table_bytes(&self.ids)
            + table_bytes(&self.strings)
            + table_bytes(&self.numbers)
            + table_bytes(&self.possible)
            + table_bytes(&self.infinite)
    }
}
