//! [`KeySets`]: sets of the keys seen in objects.
//!
//! An object with thousands of members passes through as many sets, each with one key more than the one before. Sets
//! are search trees that share all nodes except those on the path to the new key, so a step or a look-up takes time
//! proportional to the depth of the tree. A hash of the key's number decides how far up in the tree the key stands. So
//! the shape of a tree does not depend on the order of insertion: equal sets are the same tree, and comparing their ids
//! is enough.

use crate::automaton::formula::texts::{TextId, TextTable};
use hashbrown::HashMap;
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::hash::Hash;

/// The number of a set of keys. Equal ids mean equal sets; the default is the empty set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct KeySetId(u32);

impl KeySetId {
    /// The empty set.
    pub(crate) const EMPTY: Self = Self(0);
}

/// A node of a search tree: the key at its top, and the trees of the keys before and after it in the order of their
/// characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Tree {
    name: TextId,
    before: KeySetId,
    behind: KeySetId,
}

/// All sets of keys of one compiled schema, each stored once.
#[derive(Debug, Default)]
pub(crate) struct KeySets {
    /// The trees of all sets but the empty one, each with its number of keys.
    trees: Vec<(Tree, u32)>,
    ids: HashMap<Tree, KeySetId>,
}

impl KeySets {
    /// Number of sets stored, without the empty one.
    pub(crate) fn count(&self) -> usize {
        self.trees.len()
    }

    /// Number of keys in a set.
    pub(crate) fn len(&self, set: KeySetId) -> usize {
        match set {
            KeySetId::EMPTY => 0,
            set => self.trees[set.0 as usize - 1].1 as usize,
        }
    }

    /// The top node of a set's tree; `None` for the empty set.
    fn top(&self, set: KeySetId) -> Option<Tree> {
        let place = (set.0 as usize).checked_sub(1)?;
        self.trees.get(place).map(|(tree, _)| *tree)
    }

    /// One key of a set, and the sets of the keys before and after it; `None` for the empty set.
    pub(crate) fn parts(&self, set: KeySetId) -> Option<(TextId, [KeySetId; 2])> {
        let tree = self.top(set)?;
        Some((tree.name, [tree.before, tree.behind]))
    }

    /// Whether a key is in a set.
    pub(crate) fn has(&self, set: KeySetId, name: TextId, texts: &TextTable) -> bool {
        let mut at = self.top(set);
        while let Some(tree) = at.filter(|tree| rank(tree.name) >= rank(name)) {
            at = match order(name, tree.name, texts) {
                Ordering::Equal => return true,
                Ordering::Less => self.top(tree.before),
                Ordering::Greater => self.top(tree.behind),
            };
        }
        false
    }

    /// The set with one more key.
    pub(crate) fn with(&mut self, set: KeySetId, name: TextId, texts: &TextTable) -> KeySetId {
        if self.has(set, name, texts) {
            return set;
        }
        let (mut way, mut at) = (Vec::new(), set);
        while let Some(tree) = self.top(at)
            && rank(tree.name) > rank(name)
        {
            let is_before = order(name, tree.name, texts) == Ordering::Less;
            way.push((tree, is_before));
            at = if is_before { tree.before } else { tree.behind };
        }
        let (before, behind) = self.split(at, name, texts);
        let mut whole = self.tree(Tree { name, before, behind });
        for (tree, is_before) in way.into_iter().rev() {
            whole = self.tree(match is_before {
                true => Tree { before: whole, ..tree },
                false => Tree { behind: whole, ..tree },
            });
        }
        whole
    }

    /// Number of keys at the beginning of a set for which `holds` is true. `holds` must be true for a prefix of the
    /// sorted keys only, as in [`slice::partition_point`].
    pub(crate) fn partition_point(&self, set: KeySetId, holds: impl Fn(TextId) -> bool) -> usize {
        let (mut count, mut at) = (0, self.top(set));
        while let Some(tree) = at {
            at = match holds(tree.name) {
                true => {
                    count += self.len(tree.before) + 1;
                    self.top(tree.behind)
                }
                false => self.top(tree.before),
            };
        }
        count
    }

    /// Number of keys in a set that begin with a text.
    pub(crate) fn beginning_with(&self, set: KeySetId, text: TextId, texts: &TextTable) -> usize {
        match text {
            TextId::EMPTY => self.len(set),
            _ => {
                let is_before = |name| texts.compare(name, text) == Ordering::Less;
                let before = self.partition_point(set, is_before);
                self.partition_point(set, |name| is_before(name) || texts.begins_with(name, text)) - before
            }
        }
    }

    /// The keys in a set that begin with a text, sorted by their characters.
    pub(crate) fn names(&self, set: KeySetId, text: TextId, texts: &TextTable) -> Vec<TextId> {
        let mut names = Vec::new();
        self.each(set, text, texts, |name| names.push(name));
        names
    }

    /// Calls `call` for each key in a set that begins with a text, sorted by their characters.
    pub(crate) fn each(&self, set: KeySetId, text: TextId, texts: &TextTable, mut call: impl FnMut(TextId)) {
        let (mut open, mut at) = (SmallVec::<[Tree; 16]>::new(), self.top(set));
        loop {
            while let Some(tree) = at {
                at = match text != TextId::EMPTY && texts.compare(tree.name, text) == Ordering::Less {
                    true => self.top(tree.behind),
                    false => {
                        open.push(tree);
                        self.top(tree.before)
                    }
                };
            }
            let Some(tree) = open.pop() else {
                return;
            };
            if text != TextId::EMPTY && !texts.begins_with(tree.name, text) {
                return;
            }
            call(tree.name);
            at = self.top(tree.behind);
        }
    }

    /// The keys that are in exactly one of two sets; the flag says that it is the second. The time taken is
    /// proportional to the number of these keys times the depth of the trees.
    pub(crate) fn differences(&mut self, one: KeySetId, other: KeySetId, texts: &TextTable) -> Vec<(TextId, bool)> {
        let (mut found, mut open) = (Vec::new(), vec![(one, other)]);
        while let Some((one, other)) = open.pop() {
            if one == other {
                continue;
            }
            // A key that ranks higher than every key of the other set is not in that set.
            let (first, second) = (self.top(one), self.top(other));
            let first = first.filter(|first| second.is_none_or(|second| rank(first.name) >= rank(second.name)));
            match (first, second) {
                (Some(first), Some(second)) if first.name == second.name => {
                    open.extend([(first.before, second.before), (first.behind, second.behind)]);
                }
                (Some(first), _) => {
                    found.push((first.name, false));
                    let (before, behind) = self.split(other, first.name, texts);
                    open.extend([(first.before, before), (first.behind, behind)]);
                }
                (None, Some(second)) => {
                    found.push((second.name, true));
                    let (before, behind) = self.split(one, second.name, texts);
                    open.extend([(before, second.before), (behind, second.behind)]);
                }
                (None, None) => {}
            }
        }
        found
    }

    /// The keys of a set before `name`, and those after it.
    fn split(&mut self, set: KeySetId, name: TextId, texts: &TextTable) -> (KeySetId, KeySetId) {
        let (mut way, mut at) = (Vec::new(), self.top(set));
        while let Some(tree) = at {
            let is_before = order(name, tree.name, texts) == Ordering::Less;
            way.push((tree, is_before));
            at = self.top(if is_before { tree.before } else { tree.behind });
        }
        let (mut before, mut behind) = (KeySetId::EMPTY, KeySetId::EMPTY);
        for (tree, is_before) in way.into_iter().rev() {
            match is_before {
                true => behind = self.tree(Tree { before: behind, ..tree }),
                false => before = self.tree(Tree { behind: before, ..tree }),
            }
        }
        (before, behind)
    }

    /// The set with this tree, which is added if it is new.
    fn tree(&mut self, tree: Tree) -> KeySetId {
        if let Some(&id) = self.ids.get(&tree) {
            return id;
        }
        let names = self.len(tree.before) + self.len(tree.behind) + 1;
        self.trees.push((tree, names as u32));
        let id = KeySetId(self.trees.len() as u32);
        self.ids.insert(tree, id);
        id
    }
}

fn order(one: TextId, other: TextId, texts: &TextTable) -> Ordering {
    texts.compare(one, other)
}

/// How far up in a tree a key stands. The function is a bijection, so no two keys have the same rank.
fn rank(name: TextId) -> u32 {
    name.number()
        .wrapping_mul(0x9E37_79B1)
        .rotate_left(16)
        .wrapping_mul(0x85EB_CA6B)
}

#[cfg(test)]
mod tests;
