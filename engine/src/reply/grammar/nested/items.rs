//! [`Items`]: a set of positions at which the part of a nested rule read so far may stand, as in an LR item set.

use std::collections::BTreeSet;

use smallvec::SmallVec;

use crate::strings::LanguageId;

use super::skeleton::{BodyId, PointId};

/// The inlined calls around an item, each with its rule and return point, the innermost last.
pub(super) type Returns = SmallVec<[(BodyId, PointId); 2]>;

/// The next symbol of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Head {
    /// A text of a residual language, and the point behind the text.
    In(LanguageId, PointId),
    /// A call of a rule, and its return point.
    Call(BodyId, PointId),
}

/// A position at which the part of a rule read so far may stand: the inlined calls around it, and the next symbol.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Item {
    pub(super) returns: Returns,
    pub(super) head: Head,
}

/// A set of items, and whether the rule may end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Items {
    pub(super) items: BTreeSet<Item>,
    pub(super) may_end: bool,
}

impl Items {
    /// The number of items, and of the calls around them.
    pub(super) fn size(&self) -> usize {
        self.items.iter().map(|item| 1 + item.returns.len()).sum()
    }

    /// The outermost inlined call, with its return point, if it is around all items.
    pub(super) fn common(&self) -> Option<(BodyId, PointId)> {
        let outermost = |item: &Item| item.returns.first().copied();
        let first = outermost(self.items.first()?)?;
        (!self.may_end && self.items.iter().all(|item| outermost(item) == Some(first))).then_some(first)
    }

    /// The items without the outermost inlined call of each.
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
    /// The rule that the item calls next.
    pub(super) fn called(&self) -> Option<BodyId> {
        match self.head {
            Head::In(..) => None,
            Head::Call(body, _) => Some(body),
        }
    }
}
