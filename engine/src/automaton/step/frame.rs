//! [`Frame`]: a container that is open, one level of the stack.

use crate::automaton::formula::{AssertionId, FormulaId, IndependentKeys, KeySetId, OrderId, TextId};
use crate::automaton::search::ExpectationId;
use crate::automaton::step::{Mixer, OpenId, StackId};
use crate::strings::LanguageId;
use hashbrown::HashMap;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// What is left of a container: of the demand on it, and of its assertions, of which there mostly is one.
pub(crate) type Left = SmallVec<[FormulaId; 3]>;

/// A container on the stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(super) kind: Container,
    /// What is left: first of the demand on the container, then of each assertion's formula; an assertion whose verdict
    /// is known has a decided one.
    pub(super) formulas: Left,
    /// What the container is read for.
    pub(super) expected: ExpectationId,
    pub(super) below: StackId,
    /// Number of containers around it and itself.
    pub(super) depth: u32,
    pub(super) plain: Derived<Option<IndependentFrame>>,
    /// All that counts, mixed, as soon as it is [known to all](Automaton::push).
    pub(super) mixed: Derived<u64>,
}

impl Frame {
    pub(super) fn mix(&mut self) {
        let mut mixer = Mixer::default();
        self.kind.hash(&mut mixer);
        self.formulas.hash(&mut mixer);
        (self.expected, self.below, self.depth).hash(&mut mixer);
        self.mixed = Derived(mixer.finish());
    }
}

impl Hash for Frame {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(self.mixed.0);
    }
}

/// An object whose members can come in any order and number, each a matter by itself. What is asked of it stays as it
/// is while it is read: only which names have come changes.
#[derive(Clone, Debug)]
pub(crate) struct IndependentFrame {
    pub(super) asked: Arc<IndependentKeys>,
    /// Whether there is room for any name that it does not speak of.
    pub(super) has_room: bool,
    /// Keys that must come and have not.
    pub(super) missing: u32,
}

/// What follows from the rest of a frame, so that it makes no difference to which one it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Derived<T>(pub(super) T);

impl<T> PartialEq for Derived<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Derived<T> {}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Container {
    Array {
        /// The items so far, as assertions of being equal to them; kept where items are compared here or further out.
        values: Option<Box<[AssertionId]>>,
    },
    Object {
        /// The values of `used` in its order, as assertions of being equal to them; kept where items are compared
        /// further out.
        values: Option<Box<[AssertionId]>>,
        /// Keys of the members so far.
        used: KeySetId,
        /// The name of the member that is read.
        name: Option<TextId>,
        /// The names that come in an order, and how many of them have been read or passed over.
        order: OrderId,
        passed: u32,
    },
}

impl Container {
    /// The values so far, where they are kept: items in their order, members in that of their names' characters.
    pub(super) fn values(&self) -> &[AssertionId] {
        match self {
            Self::Array { values } | Self::Object { values, .. } => values.as_deref().unwrap_or_default(),
        }
    }

    /// Keys of the members so far.
    pub(super) fn used(&self) -> KeySetId {
        match self {
            Self::Array { .. } => KeySetId::EMPTY,
            Self::Object { used, .. } => *used,
        }
    }
}

/// The containers that are open somewhere, each kept once.
#[derive(Debug)]
pub(super) struct Frames {
    pub(super) all: Vec<Arc<Frame>>,
    pub(super) ids: HashMap<Arc<Frame>, StackId>,
}

/// The languages of assertions whose verdicts strings still have to tell.
#[derive(Debug, Default)]
pub(super) struct OpenLanguages {
    pub(super) all: Vec<Arc<[LanguageId]>>,
    pub(super) ids: HashMap<Arc<[LanguageId]>, OpenId>,
}
