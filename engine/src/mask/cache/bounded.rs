//! [`BoundedCache`]: a map within a bound of memory, as two generations of entries of which the older is dropped.

use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;

/// Values by keys, within so many bytes all together: of two generations, of which the older is forgotten when the younger has
/// half of the room, but for the values asked for since.
#[derive(Debug)]
pub(crate) struct BoundedCache<K, V> {
    young: Generation<K, V>,
    old: Generation<K, V>,
    allowed: usize,
}

#[derive(Debug)]
struct Generation<K, V> {
    /// The values with the bytes that each takes.
    values: HashMap<K, (V, usize)>,
    bytes: usize,
}

/// Bytes that a key and its entry in the table take, roughly.
const ENTRY_BYTES: usize = 96;

impl<K: Eq + Hash, V: Clone> BoundedCache<K, V> {
    /// An empty cache that never holds more than so many bytes.
    pub(crate) fn new(allowed: usize) -> Self {
        Self::with_room(allowed, 0)
    }

    /// An empty cache that never holds more than so many bytes, with room for so many values from the beginning.
    pub(crate) fn with_room(allowed: usize, values: usize) -> Self {
        let generation = |values: usize| Generation {
            values: HashMap::with_capacity(values),
            bytes: 0,
        };
        Self {
            young: generation(values),
            old: generation(0),
            allowed,
        }
    }

    /// Bytes that the values take, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.young.bytes + self.old.bytes
    }

    /// Bytes of the tables that no value takes yet, roughly.
    pub(crate) fn room_bytes(&self) -> usize {
        let room = |values: &HashMap<K, (V, usize)>| {
            let table = values.capacity() * 8 / 7 * (size_of::<(K, (V, usize))>() + 1);
            table.saturating_sub(values.len() * ENTRY_BYTES)
        };
        room(&self.young.values) + room(&self.old.values)
    }

    pub(crate) fn get(&mut self, key: &K) -> Option<V> {
        if let Some((value, _)) = self.young.values.get(key) {
            return Some(value.clone());
        }
        if self.old.values.is_empty() {
            return None;
        }
        let (key, (value, bytes)) = self.old.values.remove_entry(key)?;
        self.old.bytes -= bytes;
        self.add(key, value.clone(), bytes);
        Some(value)
    }

    /// Looks a value up for one of many readers at once; the value is forgotten as early as if nobody had asked.
    pub(crate) fn look_up(&self, key: &K) -> Option<V> {
        let found = self.young.values.get(key).or_else(|| self.old.values.get(key));
        found.map(|(value, _)| value.clone())
    }

    /// Keeps a value of so many bytes.
    pub(crate) fn keep(&mut self, key: K, value: V, bytes: usize) {
        self.add(key, value, bytes + ENTRY_BYTES);
    }

    fn add(&mut self, key: K, value: V, bytes: usize) {
        if self.young.bytes + bytes > self.allowed / 2 {
            self.old = Generation {
                values: std::mem::take(&mut self.young.values),
                bytes: std::mem::take(&mut self.young.bytes),
            };
        }
        self.young.bytes += bytes;
        if let Some((_, before)) = self.young.values.insert(key, (value, bytes)) {
            self.young.bytes -= before;
        }
    }
}

/// Locks a cache, also after a panic elsewhere: values are added whole, so that it stays usable.
pub(crate) fn lock<T>(kept: &Mutex<T>) -> MutexGuard<'_, T> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries that are asked for stay, and no more are kept than there is room for.
    #[test]
    fn what_is_asked_for_stays() {
        let value = 1_000;
        let mut kept = BoundedCache::new(20 * (value + ENTRY_BYTES));
        for key in 0..100 {
            kept.keep(key, key, value);
            assert!(kept.bytes() <= 20 * (value + ENTRY_BYTES));
            assert_eq!(kept.get(&0), Some(0), "after {key}");
        }
        let left = (1..100).filter(|key| kept.get(key) == Some(*key)).count();
        assert!((9..20).contains(&left), "{left}");
        kept.keep(0, 1, value);
        assert_eq!((kept.get(&0), kept.get(&1)), (Some(1), None));
    }
}
