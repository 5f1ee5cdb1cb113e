//! [`Shards`]: what was worked out, read by many threads at once.

use std::hash::{BuildHasher, Hash};
use std::sync::{PoisonError, RwLock};

use hashbrown::DefaultHashBuilder;

use super::kept::Kept;

/// Parts that are locked by themselves.
const SHARDS: usize = 16;

/// Values by keys, within so many bytes all together. Who finds one waits for nobody but who keeps another in the same
/// part, and that is short.
#[derive(Debug)]
pub(super) struct Shards<K, V> {
    parts: [RwLock<Kept<K, V>>; SHARDS],
    hashes: DefaultHashBuilder,
}

impl<K: Eq + Hash, V: Clone> Shards<K, V> {
    /// Nothing yet, and never more than so many bytes; with room for so many values from the beginning.
    pub(super) fn new(allowed: usize, values: usize) -> Self {
        Self {
            parts: std::array::from_fn(|_| RwLock::new(Kept::with_room(allowed / SHARDS, values / SHARDS))),
            hashes: DefaultHashBuilder::default(),
        }
    }

    fn part(&self, key: &K) -> &RwLock<Kept<K, V>> {
        &self.parts[self.hashes.hash_one(key) as usize % SHARDS]
    }

    /// Bytes that are taken, roughly.
    pub(super) fn bytes(&self) -> usize {
        let parts = self.parts.iter();
        parts
            .map(|part| part.read().unwrap_or_else(PoisonError::into_inner).bytes())
            .sum()
    }

    pub(super) fn get(&self, key: &K) -> Option<V> {
        // Values are kept whole, so that they stay usable after a panic elsewhere.
        self.part(key)
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .look_up(key)
    }

    /// Keeps a value of so many bytes.
    pub(super) fn keep(&self, key: K, value: V, bytes: usize) {
        let mut part = self.part(&key).write().unwrap_or_else(PoisonError::into_inner);
        part.keep(key, value, bytes);
    }
}
