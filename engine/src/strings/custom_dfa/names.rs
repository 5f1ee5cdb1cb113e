//! [`Names`]: sets of names of groups, of which each shares its memory with the one that it was made from.

use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::{Arc, OnceLock};

/// A set of names in the order in which they came. To copy it, to compare it and to add a name takes the same time however
/// many there are.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(Option<Arc<Last>>);

/// The name that came last, and those before it.
#[derive(Debug)]
struct Last {
    name: Box<str>,
    before: Names,
    /// The number of names, and the sum of their hashes with keys of this process.
    count: usize,
    sum: u64,
}

impl Names {
    /// The names, the last first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        std::iter::successors(self.0.as_deref(), |last| last.before.0.as_deref()).map(|last| &*last.name)
    }

    pub(super) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |last| last.count)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.iter().any(|known| known == name)
    }

    /// A copy of the set with one more name, which comes last.
    pub(super) fn with(&self, name: &str) -> Self {
        static KEYS: OnceLock<RandomState> = OnceLock::new();
        let hash = KEYS.get_or_init(RandomState::new).hash_one(name);
        Self(Some(Arc::new(Last {
            name: name.into(),
            before: self.clone(),
            count: self.len() + 1,
            sum: self.sum().wrapping_add(hash),
        })))
    }

    /// A copy of the set without one of its names.
    pub(super) fn without(&self, name: &str) -> Self {
        if !self.contains(name) {
            return self.clone();
        }
        let others: Vec<&str> = self.iter().filter(|known| *known != name).collect();
        others
            .into_iter()
            .rev()
            .fold(Self::default(), |all, name| all.with(name))
    }

    fn sum(&self) -> u64 {
        self.0.as_ref().map_or(0, |last| last.sum)
    }
}

impl Drop for Names {
    /// Frees the names one after another: there may be many.
    fn drop(&mut self) {
        let mut last = self.0.take();
        while let Some(mut names) = last.and_then(Arc::into_inner) {
            last = names.before.0.take();
        }
    }
}

impl PartialEq for Names {
    fn eq(&self, other: &Self) -> bool {
        let same = |one: &Arc<Last>, other: &Arc<Last>| Arc::ptr_eq(one, other);
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(one), Some(other)) if same(one, other) => true,
            _ => self.sum() == other.sum() && self.len() == other.len() && self.iter().eq(other.iter()),
        }
    }
}

impl Eq for Names {}

impl Hash for Names {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (self.len(), self.sum()).hash(hasher);
    }
}
