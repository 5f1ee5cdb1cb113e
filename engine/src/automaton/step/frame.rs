//! [`Frame`]: an open object or array on the stack, with its residual formulas.

use crate::automaton::formula::{FormulaId, IndependentKeys, ItemsId, KeySetId, MembersId, OrderId, TextId};
use crate::automaton::search::ExpectationId;
use crate::automaton::step::{Mixer, OpenId, StackId};
use crate::strings::LanguageId;
use hashbrown::HashMap;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The residual formulas of a container: that of the demand on it, followed by those of its assertions, of which there
/// is usually one.
pub(crate) type Left = SmallVec<[FormulaId; 3]>;

/// An open container on the stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(super) kind: Container,
    /// The residual formulas: first of the demand on the container, then of each assertion. An assertion whose verdict
    /// is known has a decided formula.
    pub(super) formulas: Left,
    /// The expectation that the container is judged by.
    pub(super) expected: ExpectationId,
    pub(super) below: StackId,
    /// Number of containers around this one, plus one.
    pub(super) depth: u32,
    pub(super) plain: Derived<Option<IndependentFrame>>,
    /// The hash of all fields that count, set when the frame is [pushed](super::machine::Automaton::push).
    pub(super) mixed: Derived<u64>,
}

impl Frame {
    /// Computes the hash of the fields that count.
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

/// An object whose members can come in any number, each judged by itself. The demand on it stays the same while it is
/// read; only the set of keys seen and the progress in the order of keys change. Keys of the order are not among the
/// keys seen: those up to the progress are read or skipped, and it makes no difference which.
#[derive(Clone, Debug)]
pub(crate) struct IndependentFrame {
    pub(super) asked: Arc<IndependentKeys>,
    /// Whether there is room for any key that the object does not mention, once the order of keys allows it.
    pub(super) has_room: bool,
    /// Number of required keys that have not been seen.
    pub(super) missing: u32,
    /// Number of required keys in the rest of the prescribed order. Before the last of them no key outside of the order
    /// can come.
    pub(super) awaited: u32,
}

/// A value that is derived from the rest of a frame, and therefore ignored when frames are compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Derived<T>(pub(super) T);

impl<T> PartialEq for Derived<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Derived<T> {}

/// The kind of an open container, with the part of it that has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Container {
    Array {
        /// The items so far, as assertions of being equal to them; kept if items of this or an enclosing array are
        /// compared.
        values: Option<ItemsId>,
        /// Number of items that may still come before the style's bound, where the array counts them.
        left: u32,
    },
    Object {
        /// The members so far, with assertions of being equal to their values; kept if items of an enclosing array are
        /// compared.
        values: Option<MembersId>,
        /// The keys of the members so far; of an [independent-key object](IndependentFrame) only those outside of the
        /// prescribed order.
        used: KeySetId,
        /// The key of the member being read.
        name: Option<TextId>,
        /// The prescribed order of keys, and how many of them have been read or skipped.
        order: OrderId,
        passed: u32,
    },
}

impl Container {
    /// The items so far, if this is an array whose items are kept.
    pub(super) fn items(&self) -> ItemsId {
        match self {
            Self::Array { values, .. } => values.unwrap_or_default(),
            Self::Object { .. } => ItemsId::EMPTY,
        }
    }

    /// Whether the values read are kept.
    pub(super) fn keeps_values(&self) -> bool {
        match self {
            Self::Array { values, .. } => values.is_some(),
            Self::Object { values, .. } => values.is_some(),
        }
    }

    /// Number of keys of an object's prescribed order that have been read or skipped.
    pub(super) fn passed(&self) -> u32 {
        match self {
            Self::Array { .. } => 0,
            Self::Object { passed, .. } => *passed,
        }
    }

    /// The keys of the members so far; of an [independent-key object](IndependentFrame) only those outside of the
    /// prescribed order.
    pub(super) fn used(&self) -> KeySetId {
        match self {
            Self::Array { .. } => KeySetId::EMPTY,
            Self::Object { used, .. } => *used,
        }
    }
}

/// All frames that have been open in some document, each stored once.
#[derive(Debug, Default)]
pub(super) struct Frames {
    pub(super) all: Vec<Arc<Frame>>,
    pub(super) ids: HashMap<Arc<Frame>, StackId>,
}

/// Lists of the languages of assertions whose verdicts a string has not decided yet, each stored once.
#[derive(Debug, Default)]
pub(super) struct OpenLanguages {
    pub(super) all: Vec<Arc<[LanguageId]>>,
    pub(super) ids: HashMap<Arc<[LanguageId]>, OpenId>,
}
