//! [`KeySets`]: the names that have come in objects.
//!
//! An object of thousands of members passes through as many sets, each of which has one name more than that before it. They
//! are search trees that share all but the way to that name, so that neither a step nor a query takes longer than there
//! are frames of a tree. A name's number says how far up it stands, as if by chance: equal sets are then one and the same
//! tree, and compared by their numbers.

use crate::automaton::formula::texts::{TextId, TextTable};
use hashbrown::HashMap;
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::hash::Hash;

/// A set of names, by default the empty one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct KeySetId(u32);

impl KeySetId {
    /// No names.
    pub(crate) const EMPTY: Self = Self(0);
}

/// The name at the top of a tree, and the trees of those before and behind it in the order of their characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Tree {
    name: TextId,
    before: KeySetId,
    behind: KeySetId,
}

/// The sets of names of one compilation.
#[derive(Debug, Default)]
pub(crate) struct KeySets {
    /// Without the empty one, each with its number of names.
    trees: Vec<(Tree, u32)>,
    ids: HashMap<Tree, KeySetId>,
}

impl KeySets {
    /// Number of sets.
    pub(crate) fn count(&self) -> usize {
        self.trees.len()
    }

    /// Number of names in a set.
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

    /// A name of a set, and sets of the others; none of the empty one.
    pub(crate) fn parts(&self, set: KeySetId) -> Option<(TextId, [KeySetId; 2])> {
        let tree = self.top(set)?;
        Some((tree.name, [tree.before, tree.behind]))
    }

    /// Whether a name is in a set.
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

    /// A set and one more name.
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

    /// Number of the names in a set for which something holds that does up to one of them and behind that no more.
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

    /// Number of the names in a set that begin with a text.
    pub(crate) fn beginning_with(&self, set: KeySetId, text: &str, texts: &TextTable) -> usize {
        match text {
            "" => self.len(set),
            _ => {
                let before = self.partition_point(set, texts, |name| name < text);
                self.partition_point(set, texts, |name| name < text || name.starts_with(text)) - before
            }
        }
    }

    /// The names in a set that begin with a text, in the order of their characters.
    pub(crate) fn names(&self, set: KeySetId, text: &str, texts: &TextTable) -> Vec<TextId> {
        let mut names = Vec::new();
        self.each(set, text, texts, |name| names.push(name));
        names
    }

    /// Calls for each of them.
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

    /// The names that are in one set only, with whether that is the second. It takes as long as these are many, times
    /// the depth of the trees.
    pub(crate) fn differences(&mut self, one: KeySetId, other: KeySetId, texts: &TextTable) -> Vec<(TextId, bool)> {
        let (mut found, mut open) = (Vec::new(), vec![(one, other)]);
        while let Some((one, other)) = open.pop() {
            if one == other {
                continue;
            }
            // A name that stands higher than all of the other set is not in that.
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

    /// The names of a set before another and those behind it.
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

/// How far up in a tree a name stands: another number for each.
fn rank(name: TextId) -> u32 {
    name.number()
        .wrapping_mul(0x9E37_79B1)
        .rotate_left(16)
        .wrapping_mul(0x85EB_CA6B)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Sets are those of the standard library, and equal ones are the same.
    #[test]
    fn sets_are_sets() {
        let (mut texts, mut sets) = (TextTable::default(), KeySets::default());
        let names: Vec<String> = (0..60_u32).map(|at| format!("{:b}", at * at % 61)).collect();
        let mut seed = 1_u32;
        let mut known: Vec<(BTreeSet<&str>, KeySetId)> = vec![(BTreeSet::new(), KeySetId::EMPTY)];
        for _ in 0..300 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (from, name) = (seed as usize >> 8, &names[(seed as usize >> 20) % names.len()]);
            let (mut all, set) = known[from % known.len()].clone();
            all.insert(name);
            let id = texts.intern(name);
            let set = sets.with(set, id, &texts);
            assert!(sets.has(set, id, &texts));
            known.push((all, set));
        }
        for (all, set) in &known {
            let text = |id: TextId| texts.get(id);
            let listed = sets.names(*set, "", &texts);
            assert_eq!(
                listed.iter().map(|name| text(*name)).collect::<Vec<_>>(),
                all.iter().copied().collect::<Vec<_>>()
            );
            for prefix in ["", "1", "10", "101", "2"] {
                let beginning: Vec<&str> = all.iter().copied().filter(|name| name.starts_with(prefix)).collect();
                assert_eq!(sets.beginning_with(*set, prefix, &texts), beginning.len());
                let before = all.iter().filter(|name| **name < prefix).count();
                assert_eq!(sets.partition_point(*set, &texts, |name| name < prefix), before);
                let listed = sets.names(*set, prefix, &texts);
                assert_eq!(listed.iter().map(|name| text(*name)).collect::<Vec<_>>(), beginning);
            }
        }
        for (place, (all, set)) in known.iter().enumerate() {
            let (others, other) = &known[place * 7 % known.len()];
            assert_eq!(all == others, set == other);
            let mut found: Vec<(String, bool)> = sets
                .differences(*set, *other, &texts)
                .into_iter()
                .map(|(name, is_second)| (texts.get(name).to_owned(), is_second))
                .collect();
            found.sort();
            let only = |one: &BTreeSet<&str>, other: &BTreeSet<&str>, is_second| {
                let names: Vec<_> = one
                    .difference(other)
                    .map(|name| ((*name).to_owned(), is_second))
                    .collect();
                names
            };
            let mut expected = [only(all, others, false), only(others, all, true)].concat();
            expected.sort();
            assert_eq!(found, expected);
        }
    }
}
