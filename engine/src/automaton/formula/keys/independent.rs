//! [`IndependentKeys`]: what an object must satisfy in which each key is a matter by itself.

use crate::automaton::formula::{AssertionId, TextId};
use crate::strings::LanguageId;

/// What an independent-key object must satisfy. See
/// [`Algebra::independent_keys`](crate::automaton::formula::algebra::Algebra::independent_keys).
#[derive(Debug)]
pub(crate) struct IndependentKeys {
    /// Keys that must come, sorted.
    pub(crate) required: Vec<TextId>,
    /// Keys that must not, sorted.
    pub(crate) refused: Vec<TextId>,
    /// What the values of keys must satisfy, sorted.
    pub(crate) assertions: Vec<(TextId, AssertionId)>,
    pub(crate) languages: Vec<(LanguageId, AssertionId)>,
    /// Members that there must be at least.
    pub(crate) min: u64,
    /// Members that are too many.
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
    /// Whether there is room for a member that none of them is.
    pub(crate) fn has_room_for_more(&self) -> bool {
        (self.required.len() as u64).saturating_add(1) < self.over
    }

    /// Whether there may be any number of members.
    pub(crate) fn is_unbounded(&self) -> bool {
        self.over == u64::MAX
    }

    /// Whether the number of members does not count.
    pub(crate) fn is_of_any_size(&self) -> bool {
        self.min == 0 && self.is_unbounded()
    }

    /// Keys of which something is asked, some of them more than once.
    pub(crate) fn names(&self) -> impl Iterator<Item = TextId> {
        self.assertions
            .iter()
            .map(|(name, _)| *name)
            .chain(self.required.iter().copied())
    }

    /// Whether a member of this key must come.
    pub(crate) fn requires(&self, name: TextId) -> bool {
        self.required.binary_search(&name).is_ok()
    }

    /// What the value of this key must satisfy, by its key.
    pub(crate) fn assertions_of(&self, name: TextId) -> impl Iterator<Item = AssertionId> {
        let from = self.assertions.partition_point(|(one, _)| *one < name);
        let assertions = self.assertions[from..].iter().take_while(move |(one, _)| *one == name);
        assertions.map(|(_, assertion)| *assertion)
    }

    /// Whether there is room for a member of this key beside those that must come.
    pub(crate) fn has_room(&self, name: TextId) -> bool {
        if self.is_unbounded() {
            return true;
        }
        let others = self.required.len() - usize::from(self.requires(name));
        others as u64 + 1 < self.over
    }
}
