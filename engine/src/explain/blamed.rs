//! [`Blame`]: keywords that exclude a value, and the facts about them.

use crate::schema::NodeId;

/// Keywords that exclude a value.
#[derive(Clone, Debug, Default)]
pub(super) struct Blame {
    /// Candidates that exclude the value by themselves, sorted.
    pub(super) keywords: Vec<usize>,
    /// The candidates among `keywords` that belong to the branches that fit best, sorted.
    pub(super) leading: Vec<usize>,
    /// The unions on the way to the leading ones, outermost first.
    pub(super) unions: Vec<Union>,
    /// The value that the leading ones are about.
    pub(super) value: usize,
    /// The byte at which the candidates exclude the value.
    pub(super) at: usize,
    /// Whether each branch has one keyword that excludes it, so that the set is likely to be minimal.
    pub(super) is_simple: bool,
}

/// An `anyOf`, or the part of a `oneOf` that says that a branch holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Union {
    pub(super) node: NodeId,
    /// The branch that fits best.
    pub(super) branch: NodeId,
    /// The number of other branches.
    pub(super) others: usize,
}

impl Blame {
    pub(super) fn one(candidate: usize, value: usize, at: usize) -> Self {
        Self {
            keywords: vec![candidate],
            leading: vec![candidate],
            unions: Vec::new(),
            value,
            at,
            is_simple: true,
        }
    }

    /// Returns the blame of a subschema that a reference leads to.
    pub(super) fn by_way_of(mut self, reference: Option<usize>) -> Self {
        for keywords in [&mut self.keywords, &mut self.leading] {
            if let Some(reference) = reference
                && let Err(place) = keywords.binary_search(&reference)
            {
                keywords.insert(place, reference);
            }
        }
        self
    }
}
