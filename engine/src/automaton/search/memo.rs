//! What the search has found out: of values ([`ValueMemo`]) and of objects ([`ObjectMemo`]).

use crate::automaton::formula::{AssertionId, DiagramId, FormulaId, KeySetId, OrderId, TextId};
use crate::automaton::search::{NextKeys, Requirement};
use crate::strings::LanguageId;
use hashbrown::HashMap;
use hashbrown::HashSet;
use std::sync::Arc;

/// The values of an assertion, as far as they were asked for.
#[derive(Clone, Debug)]
pub(crate) enum Domain {
    /// These are all, as assertions of being equal to them; sorted.
    All(Arc<[AssertionId]>),
    /// There are at least so many.
    AtLeast(usize),
}

/// What has been worked out about values.
#[derive(Debug, Default)]
pub(super) struct ValueMemo {
    /// Whether there is a value that satisfies an assertion.
    pub(super) alone: HashMap<AssertionId, bool>,
    /// The combinations of verdicts that values have.
    pub(super) vectors: HashMap<Box<[AssertionId]>, Arc<[Vec<bool>]>>,
    /// All values of assertions, where they are finitely many scalars.
    pub(super) finite: HashMap<AssertionId, Option<Arc<[AssertionId]>>>,
    /// Whether there are infinitely many values.
    pub(super) infinite: HashMap<Requirement, bool>,
    /// Whether there are infinitely many ways to complete a container of which a formula is left.
    pub(super) infinite_containers: HashMap<FormulaId, bool>,
    /// Values that have been written out.
    pub(super) domains: HashMap<Requirement, Domain>,
    /// Beginnings of containers looked at for the values that are being written out.
    pub(super) beginnings: usize,
}

/// What has been worked out about objects.
#[derive(Debug, Default)]
pub(crate) struct ObjectMemo {
    /// The keys that can run out.
    pub(super) scarce: HashMap<FormulaId, LanguageId>,
    /// Whether what is left of an object has room for any key.
    pub(super) roomy: HashMap<FormulaId, bool>,
    /// The keys that an independent-key object names and cannot have.
    pub(super) barred: HashMap<FormulaId, Arc<[TextId]>>,
    /// The verdicts that a member may have.
    pub(super) decided: HashMap<(FormulaId, TextId, Box<[AssertionId]>), DiagramId>,
    /// The keys that may come first in independent-key objects.
    pub(crate) first_keys: HashMap<FormulaId, NextKeys>,
    /// The keys that may come next: by what is left of the object, the keys read, and how far an order of keys has
    /// come.
    pub(crate) next_keys: HashMap<(FormulaId, KeySetId, OrderId, u32), NextKeys>,
    /// Sets of keys that were all found to be in a language.
    pub(super) sets_within: HashSet<(LanguageId, KeySetId)>,
}
