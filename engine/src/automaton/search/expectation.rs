//! [`Expectation`]: what a value is read for.

use crate::automaton::formula::{AssertionId, DiagramId};
use crate::numbers::NumberSetId;
use crate::strings::LanguageId;
use hashbrown::HashMap;
use smallvec::SmallVec;
use std::hash::Hash;
use std::sync::Arc;

/// A value's assertions, and which of their verdicts its surroundings can live with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ExpectationId(pub(crate) u32);

/// What a value is read for: assertions, and which of their verdicts its surroundings admit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Expectation {
    /// Sorted.
    pub(crate) assertions: Box<[AssertionId]>,
    pub(crate) diagram: DiagramId,
}

/// The verdicts of the assertions of a container.
pub(crate) type Verdicts = SmallVec<[bool; 4]>;

/// The expectations of one compilation, with what has been worked out about each.
#[derive(Debug, Default)]
pub(crate) struct Expectations {
    pub(super) all: Vec<Arc<Expectation>>,
    pub(super) ids: HashMap<Arc<Expectation>, ExpectationId>,
    /// The strings that will do.
    pub(super) strings: HashMap<ExpectationId, LanguageId>,
    /// The numbers that will do.
    pub(crate) numbers: HashMap<ExpectationId, NumberSetId>,
    /// Whether infinitely many values will do.
    pub(super) infinite: HashMap<ExpectationId, bool>,
}
