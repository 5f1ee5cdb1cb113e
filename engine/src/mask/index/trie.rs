//! [`Trie`]: a trie of texts in preorder, as flat arrays.

use std::ops::Range;

use hashbrown::HashMap;
use smallvec::{SmallVec, smallvec};

/// A trie of sorted texts over labels (bytes or characters). Nodes are in preorder; node 0 is the root. A text is identified by its
/// index in the sorted list (its *place*), so a run of siblings with all their descendants is a run of places.
#[derive(Debug)]
pub(crate) struct Trie<L> {
    labels: Box<[L]>,
    /// The node after each node's descendants.
    ends: Box<[u32]>,
    /// Indices at which the texts of each node begin; one more entry than nodes. A node's descendants' texts follow its own.
    starts: Box<[u32]>,
    /// The children of nodes that have many, with their labels.
    many: HashMap<u32, Box<[(L, u32)]>>,
}

/// Number of children of a node from which on they are listed.
const LISTED_CHILDREN: usize = 12;

/// The root of any trie.
pub(crate) const ROOT: u32 = 0;

/// The first child of a node; the end of its children where it has none.
pub(crate) fn first_child(node: u32) -> u32 {
    node + 1
}

impl<L: Copy + Default + Ord> Trie<L> {
    /// A trie of texts that are sorted.
    pub(crate) fn new<'a>(texts: impl Iterator<Item = &'a [L]>) -> Self
    where
        L: 'a,
    {
        let (mut labels, mut ends, mut starts) = (vec![L::default()], vec![0], vec![0]);
        // The nodes on the way to the last text.
        let mut path: Vec<u32> = vec![0];
        let mut before: &[L] = &[];
        let mut count = 0;
        for text in texts {
            let shared = before.iter().zip(text).take_while(|(a, b)| a == b).count();
            for node in path.drain(shared + 1..) {
                ends[node as usize] = labels.len() as u32;
            }
            for &label in &text[shared..] {
                path.push(labels.len() as u32);
                labels.push(label);
                ends.push(0);
                starts.push(count);
            }
            count += 1;
            before = text;
        }
        for node in path {
            ends[node as usize] = labels.len() as u32;
        }
        starts.push(count);
        let mut trie = Self {
            labels: labels.into(),
            ends: ends.into(),
            starts: starts.into(),
            many: HashMap::new(),
        };
        for node in ROOT..trie.end(ROOT) {
            if trie.children(node).nth(LISTED_CHILDREN - 1).is_some() {
                let children = trie.children(node).map(|child| (trie.label(child), child));
                let children = children.collect();
                trie.many.insert(node, children);
            }
        }
        trie
    }

    /// The node after the last descendant: where its children end, and where its next sibling is.
    pub(crate) fn end(&self, node: u32) -> u32 {
        self.ends[node as usize]
    }

    /// The label that leads to a node.
    pub(crate) fn label(&self, node: u32) -> L {
        self.labels[node as usize]
    }

    /// Whether a node has no children.
    pub(crate) fn is_leaf(&self, node: u32) -> bool {
        self.end(node) == first_child(node)
    }

    /// The children of a node.
    pub(crate) fn children(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let end = self.end(node);
        let first = Some(first_child(node)).filter(|first| *first < end);
        std::iter::successors(first, move |child| Some(self.end(*child)).filter(|next| *next < end))
    }

    /// The children of a node with labels from `first` to `last`.
    pub(crate) fn children_within(&self, node: u32, (first, last): (L, L)) -> impl Iterator<Item = u32> + '_ {
        let end = self.end(node);
        let from = Some(self.child_from(node, first)).filter(|child| *child < end);
        let children = std::iter::successors(from, move |child| Some(self.end(*child)).filter(|next| *next < end));
        children.take_while(move |child| self.label(*child) <= last)
    }

    /// The children of a node with their labels, if they are many.
    pub(crate) fn listed(&self, node: u32) -> &[(L, u32)] {
        match (self.end(node) - node) as usize > LISTED_CHILDREN {
            true => self.many.get(&node).map_or(&[], |listed| listed),
            false => &[],
        }
    }

    /// The child of a node by its label.
    pub(crate) fn child(&self, node: u32, label: L) -> Option<u32> {
        let listed = self.listed(node);
        if !listed.is_empty() {
            let place = listed.binary_search_by_key(&label, |(label, _)| *label);
            return place.ok().map(|place| listed[place].1);
        }
        let mut children = self.children(node).skip_while(|child| self.label(*child) < label);
        children.next().filter(|child| self.label(*child) == label)
    }

    /// Walks down from a node beside states: `enter` says of each node, by the state of its parent, which state it has
    /// itself, and none where nothing below it matters. Nodes are not entered in their order.
    pub(crate) fn descend<S, E>(
        &self,
        from: u32,
        state: S,
        mut enter: impl FnMut(u32, &S) -> Result<Option<S>, E>,
    ) -> Result<(), E> {
        let mut open: SmallVec<[(u32, S); 8]> = smallvec![(from, state)];
        while let Some((node, state)) = open.pop() {
            for child in self.children(node) {
                if let Some(next) = enter(child, &state)?
                    && !self.is_leaf(child)
                {
                    open.push((child, next));
                }
            }
        }
        Ok(())
    }

    /// The node that a text leads to.
    pub(crate) fn find(&self, text: impl IntoIterator<Item = L>) -> Option<u32> {
        text.into_iter().try_fold(ROOT, |node, label| self.child(node, label))
    }

    /// Returns the places of the texts that equal this one.
    pub(crate) fn places(&self, text: impl IntoIterator<Item = L>) -> Range<usize> {
        self.find(text).map_or(0..0, |node| self.at(node))
    }

    /// The first child of a node whose label is at least `label`; the end of its children where none is.
    pub(crate) fn child_from(&self, node: u32, label: L) -> u32 {
        let listed = self.listed(node);
        if listed.is_empty() {
            let mut children = self.children(node).skip_while(|child| self.label(*child) < label);
            return children.next().unwrap_or(self.end(node));
        }
        let place = listed.partition_point(|(other, _)| *other < label);
        listed.get(place).map_or(self.end(node), |(_, child)| *child)
    }

    /// The texts of a run of siblings and all their descendants.
    pub(crate) fn run(&self, from: u32, to: u32) -> Range<usize> {
        self.starts[from as usize] as usize..self.starts[to as usize] as usize
    }

    /// The texts that end at a node.
    pub(crate) fn at(&self, node: u32) -> Range<usize> {
        self.run(node, node + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_by_what_they_begin_with() {
        let texts = ["", "a", "ab", "ab", "ac", "b", "bcd"];
        let trie = Trie::new(texts.iter().map(|text| text.as_bytes()));
        assert_eq!(trie.at(ROOT), 0..1);
        let roots: Vec<u32> = trie.children(0).collect();
        assert_eq!(roots.iter().map(|root| trie.label(*root)).collect::<Vec<_>>(), b"ab");
        assert_eq!(trie.run(roots[0], roots[1]), 1..5, "all that begin with a");
        let below: Vec<u32> = trie.children(roots[0]).collect();
        assert_eq!(
            below.iter().map(|node| trie.at(*node)).collect::<Vec<_>>(),
            [2..4, 4..5]
        );
        assert_eq!(trie.child_from(ROOT, b'b'), roots[1]);
        assert_eq!(trie.child_from(ROOT, b'c'), trie.end(0));
        let within = |node, labels| trie.children_within(node, labels).collect::<Vec<_>>();
        assert_eq!(within(roots[0], (b'a', b'b')), below[..1]);
        assert_eq!(within(roots[0], (b'b', b'z')), below);
        assert!(within(roots[0], (b'd', b'z')).is_empty() && within(below[0], (b'a', b'z')).is_empty());
        assert_eq!(trie.places(*b"ab"), 2..4);
        assert_eq!(trie.find(*b"bc"), Some(roots[1] + 1));
        assert_eq!(trie.find(*b"abc"), None);
        assert!(trie.is_leaf(below[0]) && !trie.is_leaf(roots[1]));
        let empty = Trie::<u8>::new([].into_iter());
        assert!(empty.is_leaf(0) && empty.at(0).is_empty() && empty.child_from(ROOT, 0) == empty.end(0));
    }
}
