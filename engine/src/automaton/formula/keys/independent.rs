//! [`IndependentKeys`]: the condition on an independent-key object, in which each key is judged by itself.

use crate::automaton::formula::{AssertionId, TextId};
use crate::strings::LanguageId;

/// The conditions on an independent-key object. See
/// [`Algebra::independent_keys`](crate::automaton::formula::algebra::Algebra::independent_keys).
#[derive(Debug)]
pub(crate) struct IndependentKeys {
    /// Required keys, sorted.
    pub(crate) required: Vec<TextId>,
    /// Keys that must not come, sorted.
    pub(crate) refused: Vec<TextId>,
    /// The assertions on the values of single keys, sorted by key.
    pub(crate) assertions: Vec<(TextId, AssertionId)>,
    pub(crate) languages: Vec<(LanguageId, AssertionId)>,
    /// The least number of members.
    pub(crate) min: u64,
    /// The least number of members that is too many; `u64::MAX` if any number is allowed.
    pub(crate) over: u64,
}

impl Default for IndependentKeys {
    fn default() -> Self {
        Self {
            required: Vec::new(),
            refused: Vec::new(),
            assertions: Vec::new(),
            languages: Vec::new(),
            min: 0,
            over: u64::MAX,
        }
    }
}

impl IndependentKeys {
    /// Whether there is room for a member besides the required ones.
    pub(crate) fn has_room_for_more(&self) -> bool {
        (self.required.len() as u64).saturating_add(1) < self.over
    }

    /// Whether there is no upper bound on the number of members.
    pub(crate) fn is_unbounded(&self) -> bool {
        self.over == u64::MAX
    }

    /// Whether there is neither a lower nor an upper bound on the number of members.
    pub(crate) fn is_of_any_size(&self) -> bool {
        self.min == 0 && self.is_unbounded()
    }

    /// The keys with assertions, and the required keys; a key may occur more than once.
    pub(crate) fn names(&self) -> impl Iterator<Item = TextId> {
        self.assertions
            .iter()
            .map(|(name, _)| *name)
            .chain(self.required.iter().copied())
    }

    /// Whether a member with this key is required.
    pub(crate) fn requires(&self, name: TextId) -> bool {
        self.required.binary_search(&name).is_ok()
    }

    /// The assertions on the value of a key that the object mentions by itself; those on languages of keys are not
    /// included.
    pub(crate) fn assertions_of(&self, name: TextId) -> impl Iterator<Item = AssertionId> {
        let from = self.assertions.partition_point(|(one, _)| *one < name);
        let assertions = self.assertions[from..].iter().take_while(move |(one, _)| *one == name);
        assertions.map(|(_, assertion)| *assertion)
    }

    /// Whether there is room for a member with this key besides the required ones.
    pub(crate) fn has_room(&self, name: TextId) -> bool {
        if self.is_unbounded() {
            return true;
        }
        let others = self.required.len() - usize::from(self.requires(name));
        others as u64 + 1 < self.over
    }
}
