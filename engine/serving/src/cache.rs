//! [`Cache`]: compiled schemas by their text, within a bound on memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Values by text. The one that was asked for least recently goes first when the bound is exceeded.
#[derive(Debug)]
pub(crate) struct Cache<V> {
    allowed: usize,
    kept: Mutex<Kept<V>>,
}

#[derive(Debug)]
struct Kept<V> {
    entries: HashMap<Arc<str>, Entry<V>>,
    bytes: usize,
    /// Counts requests: an entry knows when it was asked for last.
    clock: u64,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    bytes: usize,
    used: u64,
}

impl<V: Clone> Cache<V> {
    /// An empty cache for values of so many bytes together.
    pub(crate) fn new(allowed: usize) -> Self {
        let (entries, bytes, clock) = (HashMap::new(), 0, 0);
        let kept = Mutex::new(Kept { entries, bytes, clock });
        Self { allowed, kept }
    }

    /// Values are added whole, so that the cache stays usable after a panic elsewhere.
    fn kept(&self) -> MutexGuard<'_, Kept<V>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value of a text. `size` says how many bytes it takes by now, because values grow. It is called without the lock, because it may
    /// wait for another thread that works with the value.
    pub(crate) fn get(&self, text: &str, size: impl Fn(&V) -> usize) -> Option<V> {
        let value = {
            let kept = &mut *self.kept();
            kept.clock += 1;
            let entry = kept.entries.get_mut(text)?;
            entry.used = kept.clock;
            entry.value.clone()
        };
        let bytes = size(&value) + text.len();
        let kept = &mut *self.kept();
        // Another thread may have let the entry go meanwhile.
        if let Some(entry) = kept.entries.get_mut(text) {
            kept.bytes = kept.bytes - entry.bytes + bytes;
            entry.bytes = bytes;
            self.make_room(kept, Some(text));
        }
        Some(value)
    }

    /// Lets the value of a text go, if `is_spent` says so of it.
    pub(crate) fn discard(&self, text: &str, is_spent: impl Fn(&V) -> bool) {
        let kept = &mut *self.kept();
        if kept.entries.get(text).is_some_and(|entry| is_spent(&entry.value))
            && let Some(entry) = kept.entries.remove(text)
        {
            kept.bytes -= entry.bytes;
        }
    }

    /// Keeps a value of `bytes` bytes, and gives the one that another thread may have kept meanwhile in its place.
    pub(crate) fn keep(&self, text: &str, value: V, bytes: usize) -> V {
        let kept = &mut *self.kept();
        kept.clock += 1;
        if let Some(entry) = kept.entries.get_mut(text) {
            entry.used = kept.clock;
            return entry.value.clone();
        }
        let bytes = bytes + text.len();
        let entry = Entry {
            value: value.clone(),
            bytes,
            used: kept.clock,
        };
        kept.entries.insert(text.into(), entry);
        kept.bytes += bytes;
        self.make_room(kept, None);
        value
    }

    /// Lets entries go until the bound is kept, `spared` and the last one not among them.
    fn make_room(&self, kept: &mut Kept<V>, spared: Option<&str>) {
        while kept.bytes > self.allowed && kept.entries.len() > 1 {
            let others = kept.entries.iter().filter(|(text, _)| Some(&***text) != spared);
            let oldest = others.min_by_key(|(_, entry)| entry.used).map(|(text, _)| text.clone());
            let Some(entry) = oldest.and_then(|text| kept.entries.remove(&text)) else {
                return;
            };
            kept.bytes -= entry.bytes;
        }
    }

    /// Number of values, and bytes that they took when they were asked for last.
    pub(crate) fn size(&self) -> (usize, usize) {
        let kept = self.kept();
        (kept.entries.len(), kept.bytes)
    }

    /// Lets all values go.
    pub(crate) fn clear(&self) {
        let mut kept = self.kept();
        kept.entries.clear();
        kept.bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_least_recently_asked_for_goes_first() {
        let cache = Cache::new(30);
        for text in ["a", "b", "c"] {
            cache.keep(text, text.len(), 8);
        }
        assert_eq!(cache.size(), (3, 27));
        assert_eq!(cache.get("a", |_| 8), Some(1));
        cache.keep("d", 1, 8);
        assert_eq!((cache.get("b", |_| 8), cache.get("a", |_| 8)), (None, Some(1)));
        assert_eq!(cache.get("c", |_| 25), Some(1), "it has grown, and is spared");
        assert_eq!(cache.size(), (1, 26));
        assert_eq!(cache.keep("c", 7, 8), 1, "the first one stays");
        cache.keep("large", 5, 1000);
        assert_eq!(cache.size().0, 1, "one is always kept");
        cache.clear();
        assert_eq!(cache.size(), (0, 0));
    }

    #[test]
    fn values_that_are_spent_go() {
        let cache = Cache::new(30);
        cache.keep("a", 1, 8);
        cache.keep("b", 2, 8);
        for text in ["a", "b", "c"] {
            cache.discard(text, |value| *value == 1);
        }
        assert_eq!((cache.get("a", |_| 8), cache.get("b", |_| 8)), (None, Some(2)));
        assert_eq!(cache.size(), (1, 9));
    }

    #[test]
    fn values_are_measured_without_the_lock() {
        let cache = Cache::new(30);
        cache.keep("a", 1, 8);
        let measured = |_: &i32| {
            assert!(cache.kept.try_lock().is_ok(), "another thread can use the cache");
            cache.clear();
            20
        };
        assert_eq!(cache.get("a", measured), Some(1));
        assert_eq!(cache.size(), (0, 0), "an entry that has gone is not counted");
    }
}
