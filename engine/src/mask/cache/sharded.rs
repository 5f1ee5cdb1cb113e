//! [`ShardedCache`]: a bounded cache that many threads read concurrently.

use std::hash::{BuildHasher, Hash};
use std::sync::{PoisonError, RwLock};

use hashbrown::DefaultHashBuilder;

use crate::mask::cache::bounded::BoundedCache;

/// Parts that are locked by themselves, of a cache that many threads read: a power of two.
const SHARDS: usize = 16;

/// Values by keys, within so many bytes all together. A thread that looks a value up waits only for a thread that keeps another
/// value in the same part, and not for long.
#[derive(Debug)]
pub(crate) struct ShardedCache<K, V> {
    parts: Box<[RwLock<BoundedCache<K, V>>]>,
    hashes: DefaultHashBuilder,
}

impl<K: Eq + Hash, V: Clone> ShardedCache<K, V> {
    /// Makes an empty cache of at most so many bytes; with room for so many values from the beginning.
    pub(crate) fn new(allowed: usize, values: usize) -> Self {
        Self::of_parts(SHARDS, allowed, values)
    }

    /// Makes an empty cache of at most so many bytes, in one part: for values that few threads ask for at a time it takes less
    /// memory.
    pub(crate) fn whole(allowed: usize) -> Self {
        Self::of_parts(1, allowed, 0)
    }

    fn of_parts(count: usize, allowed: usize, values: usize) -> Self {
        let part = |_| RwLock::new(BoundedCache::with_room(allowed / count, values / count));
        Self {
            parts: (0..count).map(part).collect(),
            hashes: DefaultHashBuilder::default(),
        }
    }

    fn part(&self, key: &K) -> &RwLock<BoundedCache<K, V>> {
        &self.parts[self.hashes.hash_one(key) as usize & (self.parts.len() - 1)]
    }

    /// Bytes that are taken, roughly.
    pub(crate) fn bytes(&self) -> usize {
        let parts = self.parts.iter();
        parts
            .map(|part| {
                let part = part.read().unwrap_or_else(PoisonError::into_inner);
                part.bytes() + part.room_bytes()
            })
            .sum()
    }

    pub(crate) fn get(&self, key: &K) -> Option<V> {
        // Values are kept whole, so that they stay usable after a panic elsewhere.
        self.part(key)
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .look_up(key)
    }

    /// Keeps a value of so many bytes.
    pub(crate) fn keep(&self, key: K, value: V, bytes: usize) {
        let mut part = self.part(&key).write().unwrap_or_else(PoisonError::into_inner);
        part.keep(key, value, bytes);
    }
}
