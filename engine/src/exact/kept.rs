//! [`Kept`]: what was worked out, as long as it does not take too much memory.

use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;

/// Values by keys, within so many bytes all together.
#[derive(Debug)]
pub(super) struct Kept<K, V> {
    values: HashMap<K, V>,
    bytes: usize,
    allowed: usize,
}

/// Bytes that a key and what holds it take, roughly.
const ENTRY_BYTES: usize = 96;

impl<K: Eq + Hash, V: Clone> Kept<K, V> {
    /// Nothing yet, and never more than so many bytes.
    pub(super) fn new(allowed: usize) -> Self {
        Self::with_room(allowed, 0)
    }

    /// The same, with room for so many values from the beginning.
    pub(super) fn with_room(allowed: usize, values: usize) -> Self {
        Self {
            values: HashMap::with_capacity(values),
            bytes: 0,
            allowed,
        }
    }

    /// Bytes that are taken, roughly.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn get(&self, key: &K) -> Option<V> {
        self.values.get(key).cloned()
    }

    /// Keeps a value of so many bytes; all others are forgotten where they would take too much memory.
    pub(super) fn keep(&mut self, key: K, value: V, bytes: usize) {
        if self.bytes + bytes + ENTRY_BYTES > self.allowed {
            self.values.clear();
            self.bytes = 0;
        }
        self.bytes += bytes + ENTRY_BYTES;
        self.values.insert(key, value);
    }
}

/// What is kept is added whole, so that it stays usable after a panic elsewhere.
pub(super) fn lock<T>(kept: &Mutex<T>) -> MutexGuard<'_, T> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}
