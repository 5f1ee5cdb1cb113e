//! [`PersistentSets`]: sets that grow one element at a time, such as those of the keys seen in objects ([`KeySets`]).
//!
//! An object with thousands of members passes through as many sets, each with one key more than the one before. Sets
//! are search trees that share all nodes except those on the path to the new key, so a step or a look-up takes time
//! proportional to the depth of the tree. A hash of the key's number decides how far up in the tree the key stands. So
//! the shape of a tree does not depend on the order of insertion: equal sets are the same tree, and comparing their ids
//! is enough.

use crate::automaton::formula::assertion::AssertionId;
use crate::automaton::formula::texts::{TextId, TextTable};
use hashbrown::{DefaultHashBuilder, HashTable};
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::hash::{BuildHasher, Hash};
use std::marker::PhantomData;

/// The number of a set of `T`. Equal ids mean equal sets; the default is the empty set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SetId<T>(u32, PhantomData<T>);

/// The number of a set of keys.
pub(crate) type KeySetId = SetId<TextId>;

/// All sets of keys of one compiled schema, each stored once.
pub(crate) type KeySets = PersistentSets<TextId>;

impl<T> SetId<T> {
    /// The empty set.
    pub(crate) const EMPTY: Self = Self(0, PhantomData);
}

impl<T> Default for SetId<T> {
    fn default() -> Self {
        Self::EMPTY
    }
}

/// An element of a set.
pub(crate) trait Element: Copy + Eq + Hash {
    /// The element's priority in a tree: elements of higher rank stand nearer to the root. No two elements have the same rank.
    fn rank(self) -> u64;
}

impl Element for TextId {
    fn rank(self) -> u64 {
        scattered(self.number().into())
    }
}

impl Element for AssertionId {
    fn rank(self) -> u64 {
        scattered(self.0.into())
    }
}

/// A member of an object: its key and its value.
impl Element for (TextId, AssertionId) {
    fn rank(self) -> u64 {
        scattered(u64::from(self.0.number()) << 32 | u64::from(self.1.0))
    }
}

/// The order in which a set has its elements.
pub(crate) trait SetOrder<T> {
    /// The order of two elements.
    fn compare(&self, one: T, other: T) -> Ordering;
}

/// Keys are sorted by their characters.
impl SetOrder<TextId> for TextTable {
    fn compare(&self, one: TextId, other: TextId) -> Ordering {
        TextTable::compare(self, one, other)
    }
}

/// Members are sorted by the characters of their keys.
impl SetOrder<(TextId, AssertionId)> for TextTable {
    fn compare(&self, one: (TextId, AssertionId), other: (TextId, AssertionId)) -> Ordering {
        TextTable::compare(self, one.0, other.0)
    }
}

/// The order of values by the numbers of the assertions of being equal to them.
pub(crate) struct ByNumber;

impl SetOrder<AssertionId> for ByNumber {
    fn compare(&self, one: AssertionId, other: AssertionId) -> Ordering {
        one.cmp(&other)
    }
}

/// A node of a search tree: the element at its top, and the trees of the elements before and after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Tree<T> {
    top: T,
    before: SetId<T>,
    behind: SetId<T>,
}

/// All sets of one kind of one compiled schema, each stored once.
#[derive(Debug)]
pub(crate) struct PersistentSets<T> {
    /// The trees of all sets but the empty one, each with its number of elements.
    trees: Vec<(Tree<T>, u32)>,
    ids: HashTable<SetId<T>>,
    hasher: DefaultHashBuilder,
}

impl<T> Default for PersistentSets<T> {
    fn default() -> Self {
        Self {
            trees: Vec::new(),
            ids: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
        }
    }
}

impl<T: Element> PersistentSets<T> {
    /// Bytes of memory that the sets take.
    pub(crate) fn memory(&self) -> usize {
        self.trees.capacity() * size_of::<(Tree<T>, u32)>() + self.ids.capacity() * (size_of::<SetId<T>>() + 1)
    }

    /// Number of elements of a set.
    pub(crate) fn len(&self, set: SetId<T>) -> usize {
        let place = (set.0 as usize).checked_sub(1);
        place.map_or(0, |place| self.trees[place].1 as usize)
    }

    /// The top node of a set's tree; `None` for the empty set.
    fn top(&self, set: SetId<T>) -> Option<Tree<T>> {
        let place = (set.0 as usize).checked_sub(1)?;
        self.trees.get(place).map(|(tree, _)| *tree)
    }

    /// Returns one element of a set, and the sets of the elements before and after it; `None` for the empty set.
    pub(crate) fn parts(&self, set: SetId<T>) -> Option<(T, [SetId<T>; 2])> {
        let tree = self.top(set)?;
        Some((tree.top, [tree.before, tree.behind]))
    }

    /// Whether an element is in a set.
    pub(crate) fn has(&self, set: SetId<T>, element: T, order: &impl SetOrder<T>) -> bool {
        let mut at = self.top(set);
        while let Some(tree) = at.filter(|tree| tree.top.rank() >= element.rank()) {
            at = match order.compare(element, tree.top) {
                Ordering::Equal => return true,
                Ordering::Less => self.top(tree.before),
                Ordering::Greater => self.top(tree.behind),
            };
        }
        false
    }

    /// The set with one more element.
    pub(crate) fn with(&mut self, set: SetId<T>, element: T, order: &impl SetOrder<T>) -> SetId<T> {
        if self.has(set, element, order) {
            return set;
        }
        let (mut way, mut at) = (Vec::new(), set);
        while let Some(tree) = self.top(at)
            && tree.top.rank() > element.rank()
        {
            let is_before = order.compare(element, tree.top) == Ordering::Less;
            way.push((tree, is_before));
            at = if is_before { tree.before } else { tree.behind };
        }
        let (before, behind) = self.split(at, element, order);
        let mut whole = self.tree(Tree {
            top: element,
            before,
            behind,
        });
        for (tree, is_before) in way.into_iter().rev() {
            whole = self.tree(match is_before {
                true => Tree { before: whole, ..tree },
                false => Tree { behind: whole, ..tree },
            });
        }
        whole
    }

    /// Number of elements at the beginning of a set for which `holds` is true. `holds` must be true for a prefix of the
    /// sorted elements only, as in [`slice::partition_point`].
    pub(crate) fn partition_point(&self, set: SetId<T>, holds: impl Fn(T) -> bool) -> usize {
        let (mut count, mut at) = (0, self.top(set));
        while let Some(tree) = at {
            at = match holds(tree.top) {
                true => {
                    count += self.len(tree.before) + 1;
                    self.top(tree.behind)
                }
                false => self.top(tree.before),
            };
        }
        count
    }

    /// The elements of a set, sorted.
    pub(crate) fn all(&self, set: SetId<T>) -> Vec<T> {
        let mut all = Vec::with_capacity(self.len(set));
        self.each_within(
            set,
            |_| false,
            |element| {
                all.push(element);
                true
            },
        );
        all
    }

    /// Calls `call` for each element of a set, sorted, from the first one on for which `is_before` is false and until
    /// `call` returns false.
    fn each_within(&self, set: SetId<T>, is_before: impl Fn(T) -> bool, mut call: impl FnMut(T) -> bool) {
        let (mut open, mut at) = (SmallVec::<[Tree<T>; 16]>::new(), self.top(set));
        loop {
            while let Some(tree) = at {
                at = match is_before(tree.top) {
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
            if !call(tree.top) {
                return;
            }
            at = self.top(tree.behind);
        }
    }

    /// The elements that are in exactly one of two sets; the flag says that it is the second. The time taken is
    /// proportional to the number of these elements times the depth of the trees.
    pub(crate) fn differences(&mut self, one: SetId<T>, other: SetId<T>, order: &impl SetOrder<T>) -> Vec<(T, bool)> {
        self.differences_up_to(usize::MAX, (one, other), order)
    }

    /// The elements that a set has beside those of a smaller one; `None` if it lacks one of these, or if it has more than
    /// `most` others.
    pub(crate) fn added_up_to(
        &mut self,
        most: usize,
        (smaller, larger): (SetId<T>, SetId<T>),
        order: &impl SetOrder<T>,
    ) -> Option<Vec<T>> {
        let added = self.len(larger).checked_sub(self.len(smaller))?;
        if added > most {
            return None;
        }
        let found = self.differences_up_to(added, (smaller, larger), order);
        let is_added = found.len() == added && found.iter().all(|(_, is_second)| *is_second);
        is_added.then(|| found.into_iter().map(|(element, _)| element).collect())
    }

    /// The elements that are in exactly one of two sets, with whether it is the second; a few more than `most` if there
    /// are more.
    fn differences_up_to(
        &mut self,
        most: usize,
        (one, other): (SetId<T>, SetId<T>),
        order: &impl SetOrder<T>,
    ) -> Vec<(T, bool)> {
        let (mut found, mut open) = (Vec::new(), vec![(one, other)]);
        while let Some((one, other)) = open.pop() {
            if found.len() > most {
                break;
            }
            if one == other {
                continue;
            }
            // An element that ranks higher than every element of the other set is not in that set.
            let (first, second) = (self.top(one), self.top(other));
            let first = first.filter(|first| second.is_none_or(|second| first.top.rank() >= second.top.rank()));
            match (first, second) {
                (Some(first), Some(second)) if first.top == second.top => {
                    open.extend([(first.before, second.before), (first.behind, second.behind)]);
                }
                (Some(first), _) => {
                    found.push((first.top, false));
                    let (before, behind) = self.split(other, first.top, order);
                    open.extend([(first.before, before), (first.behind, behind)]);
                }
                (None, Some(second)) => {
                    found.push((second.top, true));
                    let (before, behind) = self.split(one, second.top, order);
                    open.extend([(before, second.before), (behind, second.behind)]);
                }
                (None, None) => {}
            }
        }
        found
    }

    /// The elements of a set before `element`, and those after it.
    fn split(&mut self, set: SetId<T>, element: T, order: &impl SetOrder<T>) -> (SetId<T>, SetId<T>) {
        let (mut way, mut at) = (Vec::new(), self.top(set));
        while let Some(tree) = at {
            let is_before = order.compare(element, tree.top) == Ordering::Less;
            way.push((tree, is_before));
            at = self.top(if is_before { tree.before } else { tree.behind });
        }
        let (mut before, mut behind) = (SetId::EMPTY, SetId::EMPTY);
        for (tree, is_before) in way.into_iter().rev() {
            match is_before {
                true => behind = self.tree(Tree { before: behind, ..tree }),
                false => before = self.tree(Tree { behind: before, ..tree }),
            }
        }
        (before, behind)
    }

    /// The set with this tree, which is added if it is new.
    fn tree(&mut self, tree: Tree<T>) -> SetId<T> {
        let place = |id: &SetId<T>| id.0 as usize - 1;
        let hash = self.hasher.hash_one(tree);
        if let Some(known) = self.ids.find(hash, |id| self.trees[place(id)].0 == tree) {
            return *known;
        }
        let elements = self.len(tree.before) + self.len(tree.behind) + 1;
        self.trees.push((tree, elements as u32));
        let id = SetId(self.trees.len() as u32, PhantomData);
        let (trees, hasher) = (&self.trees, &self.hasher);
        self.ids
            .insert_unique(hash, id, |id| hasher.hash_one(trees[place(id)].0));
        id
    }
}

impl PersistentSets<TextId> {
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
        let is_before = |name| text != TextId::EMPTY && texts.compare(name, text) == Ordering::Less;
        self.each_within(set, is_before, |name| {
            let begins = text == TextId::EMPTY || texts.begins_with(name, text);
            if begins {
                call(name);
            }
            begins
        });
    }
}

/// A bijection that scatters numbers.
fn scattered(number: u64) -> u64 {
    number
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .rotate_left(32)
        .wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

#[cfg(test)]
mod tests;
