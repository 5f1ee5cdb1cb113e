//! [`ValueMemo`] and [`ObjectMemo`]: memoised results of the search about values and objects.

use crate::automaton::formula::{AssertionId, Constraint, DiagramId, FormulaId, KeySetId, MeantTypes, OrderId, TextId};
use crate::automaton::memory::table_bytes;
use crate::automaton::search::{ExpectationId, NextKeys};
use crate::strings::LanguageId;
use hashbrown::HashMap;
use hashbrown::HashSet;
use std::sync::Arc;

/// The values that satisfy a constraint, as far as they have been counted.
#[derive(Clone, Debug)]
pub(crate) enum Domain {
    /// All values, sorted, as assertions of being equal to them.
    All(Arc<[AssertionId]>),
    /// At least this many values.
    AtLeast(usize),
    /// Listing the values takes more than the limits of a search, at this nesting depth of enumerations.
    Unlisted(usize),
}

/// An enumeration of values that is under way.
#[derive(Debug)]
pub(super) struct Enumeration {
    /// The constraint that the values satisfy.
    pub(super) value: Constraint,
    /// Number of queries that were open when it began.
    pub(super) open: usize,
    /// The values that have been found, sorted.
    pub(super) found: Arc<[AssertionId]>,
    /// Whether they have been asked for within this enumeration.
    pub(super) is_asked: bool,
    /// The index of the outermost enumeration whose values it rests on, which may be this one.
    pub(super) rests_on: Option<usize>,
}

impl Enumeration {
    pub(super) fn new(value: Constraint, open: usize) -> Self {
        Self {
            value,
            open,
            found: Arc::from([]),
            is_asked: false,
            rests_on: None,
        }
    }

    /// Notes that it rests on the values of the enumeration at an index.
    pub(super) fn rest_on(&mut self, place: usize) {
        self.rests_on = Some(self.rests_on.map_or(place, |known| known.min(place)));
    }
}

/// The classes into which values are sorted by their verdicts on some assertions.
#[derive(Debug)]
pub(super) enum Classes {
    /// The verdicts of each class.
    All(VerdictVectors),
    /// More than can be found by looking at this many combinations of verdicts, or within the limits of a search.
    Many(usize),
}

/// Combinations of verdicts on some assertions that values have.
pub(super) type VerdictVectors = Arc<[Vec<bool>]>;

/// Memo of results about values.
#[derive(Debug, Default)]
pub(super) struct ValueMemo {
    /// Whether some value satisfies an assertion.
    pub(super) alone: HashMap<AssertionId, bool>,
    /// The verdict vectors over some assertions that values have.
    pub(super) vectors: HashMap<Box<[AssertionId]>, VerdictVectors>,
    /// The classes into which values are sorted by their verdicts on some assertions.
    pub(super) classes: HashMap<Box<[AssertionId]>, Classes>,
    /// All values of an assertion, if they are finitely many scalars; `None` if not.
    pub(super) finite: HashMap<AssertionId, Option<Arc<[AssertionId]>>>,

    /// Whether infinitely many values satisfy a constraint.
    pub(super) infinite: HashMap<Constraint, bool>,
    /// Whether there are infinitely many ways to complete a container with this residual formula.
    pub(super) infinite_containers: HashMap<FormulaId, bool>,
    /// The values that have been enumerated for a constraint.
    pub(super) domains: HashMap<Constraint, Domain>,
    /// Number of partial containers visited in the current enumeration.
    pub(super) beginnings: usize,
    /// The enumerations that are under way, each within the one before.
    pub(super) enumerated: Vec<Enumeration>,
}

/// Memo of results about objects.
#[derive(Debug, Default)]
pub(crate) struct ObjectMemo {
    /// The keys of a formula's cells that can run out; `None` where there are too many cells to be looked at.
    pub(super) scarce: HashMap<FormulaId, Option<LanguageId>>,
    /// Whether an object with this residual formula has room for any key.
    pub(super) roomy: HashMap<FormulaId, bool>,
    /// The keys that an independent-key object mentions but cannot have.
    pub(super) barred: HashMap<FormulaId, Arc<[TextId]>>,
    /// The verdicts that the value of a member may have.
    pub(super) decided: HashMap<(FormulaId, TextId, Box<[AssertionId]>), DiagramId>,
    /// The keys that may come next as far as a part of an object's condition is concerned; `None` if it cannot be met.
    pub(super) viable: HashMap<FormulaId, Option<Arc<[TextId]>>>,
    /// The keys that may come next in independent-key objects of which no key outside of the prescribed order has been
    /// seen, by the progress in that order.
    pub(crate) first_keys: HashMap<(FormulaId, OrderId, u32), NextKeys>,
    /// The keys that may come next, by the object's residual formula, the keys seen, and the progress in the order of
    /// keys.
    pub(crate) next_keys: HashMap<(FormulaId, KeySetId, OrderId, u32), NextKeys>,
    /// The order that is planned for the keys of an object with an expectation.
    pub(super) orders: HashMap<ExpectationId, OrderId>,
    /// The types that a value with an expectation is meant to have.
    pub(super) types_meant: HashMap<ExpectationId, MeantTypes>,
    /// Sets of keys that lie within a language as a whole.
    pub(super) sets_within: HashSet<(LanguageId, KeySetId)>,
}

impl ValueMemo {
    /// Bytes of memory that the findings about values take.
    pub(super) fn memory(&self) -> usize {
        let classes = self.classes.values().filter_map(|classes| match classes {
            Classes::All(vectors) => Some(vectors),
            Classes::Many(_) => None,
        });
        let vectors = self.vectors.values().chain(classes);
        let vectors = vectors.flat_map(|vectors| vectors.iter());
        let vectors = vectors.map(|vector| size_of::<Vec<bool>>() + vector.capacity());
        let finite = self.finite.values().flatten().map(|values| size_of_val(&**values));
        let domains = self.domains.values().map(|domain| match domain {
            Domain::All(values) => size_of_val(&**values),
            Domain::AtLeast(_) | Domain::Unlisted(_) => 0,
        });
        table_bytes(&self.alone)
            + table_bytes(&self.vectors)
            + table_bytes(&self.classes)
            + table_bytes(&self.finite)
            + table_bytes(&self.infinite)
            + table_bytes(&self.infinite_containers)
            + table_bytes(&self.domains)
            + vectors.chain(finite).chain(domains).sum::<usize>()
    }
}

impl ObjectMemo {
    /// Bytes of memory that the findings about objects take, but for the tables that grow with documents.
    pub(super) fn memory(&self) -> usize {
        let decided = self.decided.keys().map(|(_, _, assertions)| size_of_val(&**assertions));
        let viable = self.viable.values().flatten().map(|names| size_of_val(&**names));
        table_bytes(&self.scarce)
            + table_bytes(&self.roomy)
            + table_bytes(&self.barred)
            + table_bytes(&self.decided)
            + table_bytes(&self.viable)
            + table_bytes(&self.first_keys)
            + table_bytes(&self.orders)
            + table_bytes(&self.types_meant)
            + decided.chain(viable).sum::<usize>()
    }
}
