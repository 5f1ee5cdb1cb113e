//! [`Items`]: the ways in which what was read of a nested rule can be read.

use std::collections::BTreeSet;

use smallvec::SmallVec;

use crate::strings::LanguageId;

use super::skeleton::{BodyId, PointId};

/// The rules that are written in around an item, each with the point behind its call, the innermost last.
pub(super) type Returns = SmallVec<[(BodyId, PointId); 2]>;

/// What comes next in an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Head {
    /// The rest of a text of a language, and the point behind it.
    In(LanguageId, PointId),
    /// A rule, and the point behind it.
    Call(BodyId, PointId),
}

/// A way to read what was read of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Item {
    pub(super) returns: Returns,
    pub(super) head: Head,
}

/// Some items, and whether the rule may end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Items {
    pub(super) items: BTreeSet<Item>,
    pub(super) may_end: bool,
}

impl Items {
    /// The rule in which all items are written in, with the point behind it.
    pub(super) fn common(&self) -> Option<(BodyId, PointId)> {
        let outermost = |item: &Item| item.returns.first().copied();
        let first = outermost(self.items.first()?)?;
        (!self.may_end && self.items.iter().all(|item| outermost(item) == Some(first))).then_some(first)
    }

    /// The items within that rule.
    pub(super) fn without_outermost(&self) -> Self {
        let within = self.items.iter().map(|item| Item {
            returns: item.returns[1..].into(),
            head: item.head,
        });
        Self {
            items: within.collect(),
            may_end: false,
        }
    }
}

impl Item {
    /// The rule that comes next.
    pub(super) fn called(&self) -> Option<BodyId> {
        match self.head {
            Head::In(..) => None,
            Head::Call(body, _) => Some(body),
        }
    }
}
