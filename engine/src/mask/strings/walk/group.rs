//! [`Group`]: sibling nodes of the token trie whose first characters lead to one state; a walk judges a group as a whole where it can.

use std::ops::Range;
use std::sync::Arc;

use crate::mask::index::base_sets::{Words, bit, set, unset};
use crate::mask::index::posting_lists::Class;
use crate::mask::index::trie::{Trie, first_child};

use super::character_walk::CharacterWalk;
use super::class_sets::{Combine, OfClass};
use crate::mask::strings::residual_states::DEAD;

/// Number of texts of a group from which on it pays to judge the group as a whole.
pub(crate) const WORTH_TAKING: usize = 1_000;

/// The texts below the root, or below a space, behind first characters that lead to one state.
#[derive(Debug, Default)]
pub(crate) struct Group {
    pub(crate) state: u32,
    /// The children, as ranges of adjacent nodes.
    ranges: Vec<Range<u32>>,
    /// Number of texts below the children.
    pub(crate) texts: usize,
}

impl Group {
    /// A group without children.
    pub(crate) fn empty(state: u32) -> Self {
        Self {
            state,
            ..Self::default()
        }
    }

    /// The union of some groups.
    pub(crate) fn of(groups: &[Self]) -> Self {
        let mut ranges: Vec<Range<u32>> = groups.iter().flat_map(|group| group.ranges.iter().cloned()).collect();
        ranges.sort_unstable_by_key(|range| range.start);
        Self {
            state: groups.first().map_or(DEAD, |group| group.state),
            ranges,
            texts: groups.iter().map(|group| group.texts).sum(),
        }
    }

    /// Adds a range of adjacent children behind all others.
    pub(crate) fn add(&mut self, children: Range<u32>, trie: &Trie<u32>) {
        self.texts += trie.run(children.start, children.end).len();
        self.ranges.push(children);
    }

    /// The nodes behind a first character.
    pub(crate) fn children<'a>(&'a self, trie: &'a Trie<u32>) -> impl Iterator<Item = u32> + 'a {
        self.ranges.iter().flat_map(|range| {
            let next = |at: &u32| Some(trie.end(*at)).filter(|at| *at < range.end);
            std::iter::successors(Some(range.start), next)
        })
    }

    /// Whether a node or an ancestor of it is in the group.
    pub(crate) fn has(&self, node: u32) -> bool {
        let place = self.ranges.partition_point(|range| range.end <= node);
        self.ranges.get(place).is_some_and(|range| range.start <= node)
    }
}

impl CharacterWalk<'_> {
    /// Adds a set of tokens that may come.
    fn take_in(&mut self, sure: Words) {
        self.words = Some(match self.words.take() {
            Some(others) => self.classes.combined(Combine::Or, &others, &sure),
            None => sure,
        });
    }

    /// Adds those among some tokens that are below a node, in a group, and have only characters of a class behind the first.
    pub(crate) fn take_class(&mut self, node: u32, group: &Group, class: Class, among: Option<&Words>) -> Arc<OfClass> {
        let key = (node, class);
        let index = self.index;
        let all = self.classes.of_class(index, &key);
        let first = group.ranges.iter().map(|range| (range.start, range.end)).collect();
        let words = self.classes.of_group((first, key), || {
            let contents = &index.inside;
            let below = |range: &Range<u32>| &contents.tokens[contents.inside.run(range.start, range.end)];
            if 2 * group.texts < contents.tokens.len() {
                let mut words = vec![0; all.words.len()];
                let texts = group.ranges.iter().flat_map(below);
                texts
                    .filter(|token| bit(&all.words, **token))
                    .for_each(|token| set(&mut words, *token));
                return words;
            }
            let mut words = all.words.to_vec();
            let mut from = first_child(node);
            for range in group
                .ranges
                .iter()
                .cloned()
                .chain(std::iter::once(contents.inside.end(node)..0))
            {
                unset(&mut words, below(&(from..range.start)));
                from = range.end;
            }
            words
        });
        match among {
            Some(among) => self.take_in(self.classes.combined(Combine::And, &words, among)),
            None => self.take_in(words),
        }
        all
    }
}
