//! [`ClassSets`]: for each class of characters the set of tokens whose characters behind the first are of that class, shared by all schemas.

use std::sync::{Arc, Mutex};

use crate::mask::cache::bounded::{BoundedCache, lock};
use crate::mask::index::base_sets::Words;
use crate::mask::index::posting_lists::Class;
use crate::mask::index::tokens::TokenIndex;

/// Memory for the sets of each kind: some 150 of a vocabulary of 200,000 tokens.
const BYTES: usize = 4 << 20;

/// Key of a set: the root of the trie of contents or the node of a space, and the class of characters behind the first character below.
pub(crate) type BehindFirst = (u32, Class);

/// Key of a set: the first children, as ranges of adjacent nodes, and the class of characters behind them.
pub(crate) type OfGroup = (Class, BehindFirst);

/// The tokens below a node whose characters behind the first are of one class.
#[derive(Debug)]
pub(crate) struct OfClass {
    pub(crate) words: Words,
    /// Nodes of tokens that end with a partial character outside of the class.
    pub(crate) partial_beyond: Vec<u32>,
}

/// An operation on two sets of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Combine {
    /// The union.
    Or,
    /// The intersection.
    And,
}

/// Caches of sets of tokens by classes of characters, and of unions and intersections of two such sets.
#[derive(Debug)]
pub(crate) struct ClassSets {
    of_classes: Mutex<BoundedCache<BehindFirst, Arc<OfClass>>>,
    of_groups: Mutex<BoundedCache<OfGroup, Words>>,
    /// The combined sets by the addresses of the two sets; the two sets are kept alive beside the result, so that their addresses are not
    /// reused.
    combined: Mutex<BoundedCache<(Combine, usize, usize), [Words; 3]>>,
}

impl Default for ClassSets {
    fn default() -> Self {
        Self {
            of_classes: Mutex::new(BoundedCache::new(BYTES)),
            of_groups: Mutex::new(BoundedCache::new(BYTES)),
            combined: Mutex::new(BoundedCache::new(BYTES)),
        }
    }
}

impl ClassSets {
    /// Bytes that are taken, roughly.
    pub(crate) fn bytes(&self) -> usize {
        lock(&self.of_classes).bytes() + lock(&self.of_groups).bytes() + lock(&self.combined).bytes()
    }

    /// The tokens of a class.
    pub(crate) fn of_class(&self, index: &TokenIndex, key: &BehindFirst) -> Arc<OfClass> {
        if let Some(known) = lock(&self.of_classes).get(key) {
            return known;
        }
        let (node, class) = key;
        let (words, partial_beyond) = index.postings.within(class, *node, &index.inside);
        let bytes = 4 * (words.len() + partial_beyond.len());
        let words = words.into();
        let found = Arc::new(OfClass { words, partial_beyond });
        lock(&self.of_classes).keep(key.clone(), found.clone(), bytes);
        found
    }

    /// Returns the tokens of a class in a group, computed by `find` where they are not cached.
    pub(crate) fn of_group(&self, key: OfGroup, find: impl FnOnce() -> Vec<u32>) -> Words {
        if let Some(known) = lock(&self.of_groups).get(&key) {
            return known;
        }
        let found: Words = find().into();
        lock(&self.of_groups).keep(key, found.clone(), 4 * found.len());
        found
    }

    /// Returns the union or the intersection of two sets of as many words.
    pub(crate) fn combined(&self, how: Combine, one: &Words, other: &Words) -> Words {
        let address = |words: &Words| Arc::as_ptr(words) as usize;
        let key = (how, address(one), address(other));
        if let Some([_, _, known]) = lock(&self.combined).get(&key) {
            return known;
        }
        let pairs = one.iter().zip(other.iter());
        let made: Vec<u32> = match how {
            Combine::Or => pairs.map(|(one, other)| one | other).collect(),
            Combine::And => pairs.map(|(one, other)| one & other).collect(),
        };
        let made: Words = made.into();
        // The second is mostly kept elsewhere as well.
        let bytes = 4 * (one.len() + made.len());
        lock(&self.combined).keep(key, [one.clone(), other.clone(), made.clone()], bytes);
        made
    }
}
