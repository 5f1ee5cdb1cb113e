//! [`KeySets`]: the keys seen in objects.
//!
//! An object of thousands of members passes through as many sets, each of which has one key more than that before it.
//! They are search trees that share all but the way to that key, so that neither a step nor a query takes longer than
//! there are frames of a tree. A key's number says how far up it stands, as if by chance: equal sets are then one and
//! the same tree, and compared by their numbers.

use crate::automaton::formula::texts::{TextId, TextTable};
use hashbrown::HashMap;
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::hash::Hash;

/// A set of keys, by default the empty one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct KeySetId(u32);

impl KeySetId {
    /// No keys.
    pub(crate) const EMPTY: Self = Self(0);
}

/// The key at the top of a tree, and the trees of those before and behind it in the order of their characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Tree {
    name: TextId,
    before: KeySetId,
    behind: KeySetId,
}

/// The sets of keys of one compilation.
#[derive(Debug, Default)]
pub(crate) struct KeySets {
    /// Without the empty one, each with its number of keys.
    trees: Vec<(Tree, u32)>,
    ids: HashMap<Tree, KeySetId>,
}

impl KeySets {
    /// Number of sets.
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

    fn top(&self, set: KeySetId) -> Option<Tree> {
        let place = (set.0 as usize).checked_sub(1)?;
        self.trees.get(place).map(|(tree, _)| *tree)
    }

    /// A key of a set, and sets of the others; none of the empty one.
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

    /// A set and one more key.
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

    /// Number of the keys in a set for which something holds that does up to one of them and behind that no more.
    pub(crate) fn partition_point(&self, set: KeySetId, texts: &TextTable, holds: impl Fn(&str) -> bool) -> usize {
        let (mut count, mut at) = (0, self.top(set));
        while let Some(tree) = at {
            at = match holds(texts.get(tree.name)) {
                true => {
                    count += self.len(tree.before) + 1;
                    self.top(tree.behind)
                }
                false => self.top(tree.before),
            };
        }
        count
    }

    /// Number of the keys in a set that begin with a text.
    pub(crate) fn beginning_with(&self, set: KeySetId, text: &str, texts: &TextTable) -> usize {
        match text {
            "" => self.len(set),
            _ => {
                let before = self.partition_point(set, texts, |name| name < text);
                self.partition_point(set, texts, |name| name < text || name.starts_with(text)) - before
            }
        }
    }

    /// The keys in a set that begin with a text, in the order of their characters.
    pub(crate) fn names(&self, set: KeySetId, text: &str, texts: &TextTable) -> Vec<TextId> {
        let mut names = Vec::new();
        self.each(set, text, texts, |name| names.push(name));
        names
    }

    /// Calls for each key in a set that begins with a text, in the order of their characters.
    pub(crate) fn each(&self, set: KeySetId, text: &str, texts: &TextTable, mut call: impl FnMut(TextId)) {
        let (mut open, mut at) = (SmallVec::<[Tree; 16]>::new(), self.top(set));
        loop {
            while let Some(tree) = at {
                at = match !text.is_empty() && texts.get(tree.name) < text {
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
            if !texts.get(tree.name).starts_with(text) {
                return;
            }
            call(tree.name);
            at = self.top(tree.behind);
        }
    }

    /// The keys that are in one set only, with whether that is the second. It takes as long as these are many, times
    /// the depth of the trees.
    pub(crate) fn differences(&mut self, one: KeySetId, other: KeySetId, texts: &TextTable) -> Vec<(TextId, bool)> {
        let (mut found, mut open) = (Vec::new(), vec![(one, other)]);
        while let Some((one, other)) = open.pop() {
            if one == other {
                continue;
            }
            // A key that stands higher than all of the other set is not in that.
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

    /// The keys of a set before another and those behind it.
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
    match one == other {
        true => Ordering::Equal,
        false => texts.get(one).cmp(texts.get(other)),
    }
}

/// How far up in a tree a key stands: another number for each.
fn rank(name: TextId) -> u32 {
    name.number()
        .wrapping_mul(0x9E37_79B1)
        .rotate_left(16)
        .wrapping_mul(0x85EB_CA6B)
}

#[cfg(test)]
mod tests;
