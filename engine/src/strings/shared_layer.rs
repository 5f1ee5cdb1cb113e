//! Two-layer stores: an immutable layer shared by all schemas, below the entries that one schema has added.
//!
//! Formats and the states within their texts recur in schema after schema, so they are computed once. The entries added last can be
//! dropped again: those since a store was told to [begin](LayeredVec::begin) a trial, which may be within another.

use std::hash::Hash;
use std::ops::Index;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::strings::language_id::LanguageId;

/// A vector in two layers: the shared values come first.
#[derive(Debug)]
pub(super) struct LayeredVec<T> {
    shared: Arc<[T]>,
    own: Vec<T>,
    /// The number of own values where each trial that has not ended began.
    trials: Vec<usize>,
}

impl<T: Clone> LayeredVec<T> {
    pub(super) fn new() -> Self {
        Self {
            shared: Arc::new([]),
            own: Vec::new(),
            trials: Vec::new(),
        }
    }

    /// Moves all values of the store to the shared layer.
    pub(super) fn share(self) -> Self {
        Self {
            shared: self.shared.iter().cloned().chain(self.own).collect(),
            own: Vec::new(),
            trials: Vec::new(),
        }
    }

    /// A store over the shared layer of this one, with nothing added but room for so many values.
    pub(super) fn over(&self, room: usize) -> Self {
        Self {
            shared: self.shared.clone(),
            own: Vec::with_capacity(room),
            trials: Vec::new(),
        }
    }

    /// Begins a trial.
    pub(super) fn begin(&mut self) {
        self.trials.push(self.own.len());
    }

    /// The places of the values that were added since the last trial began.
    pub(super) fn last_trial(&self) -> std::ops::Range<usize> {
        let before = self.trials.last().copied().unwrap_or_default();
        self.shared.len() + before..self.len()
    }

    /// Ends the trial that began last; its values are dropped if it `fails`.
    pub(super) fn end(&mut self, fails: bool) {
        if let Some(before) = self.trials.pop().filter(|_| fails) {
            self.own.truncate(before);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.shared.len() + self.own.len()
    }

    /// The number of shared values.
    pub(super) fn shared(&self) -> usize {
        self.shared.len()
    }

    pub(super) fn push(&mut self, value: T) {
        self.own.push(value);
    }

    /// Bytes of the room for values that are not there yet.
    pub(super) fn room_bytes(&self) -> usize {
        (self.own.capacity() - self.own.len()) * size_of::<T>()
    }

    /// A value that is not shared, by its place.
    pub(super) fn own_mut(&mut self, place: usize) -> Option<&mut T> {
        self.own.get_mut(place.checked_sub(self.shared.len())?)
    }
}

impl<T> Index<usize> for LayeredVec<T> {
    type Output = T;

    fn index(&self, place: usize) -> &T {
        match place.checked_sub(self.shared.len()) {
            None => &self.shared[place],
            Some(place) => &self.own[place],
        }
    }
}

/// A map in two layers.
#[derive(Debug)]
pub(super) struct LayeredMap<K, V> {
    shared: Arc<HashMap<K, V>>,
    own: HashMap<K, V>,
    trials: Trials<K, V>,
}

impl<K: Clone + Eq + Hash, V: Clone> LayeredMap<K, V> {
    pub(super) fn new() -> Self {
        Self {
            shared: Arc::new(HashMap::new()),
            own: HashMap::new(),
            trials: Trials::default(),
        }
    }

    /// Moves all values of the store to the shared layer.
    pub(super) fn share(self) -> Self {
        let mut all = Arc::unwrap_or_clone(self.shared);
        all.extend(self.own);
        Self {
            shared: Arc::new(all),
            own: HashMap::new(),
            trials: Trials::default(),
        }
    }

    /// A store over the shared layer of this one, with nothing added.
    pub(super) fn over(&self) -> Self {
        Self {
            shared: self.shared.clone(),
            own: HashMap::new(),
            trials: Trials::default(),
        }
    }

    pub(super) fn get<Q: ?Sized + Hash + hashbrown::Equivalent<K>>(&self, key: &Q) -> Option<&V> {
        match self.own.get(key) {
            None if !self.shared.is_empty() => self.shared.get(key),
            known => known,
        }
    }

    pub(super) fn contains_key(&self, key: &K) -> bool {
        self.get(key).is_some()
    }

    pub(super) fn insert(&mut self, key: K, value: V) {
        let noted = self.trials.are_begun().then(|| key.clone());
        let before = self.own.insert(key, value);
        if let Some(key) = noted {
            self.trials.note(key, before);
        }
    }

    /// Begins a trial.
    pub(super) fn begin(&mut self) {
        self.trials.begin();
    }

    /// Ends the trial that began last; the store is as it was before if it `fails`.
    pub(super) fn end(&mut self, fails: bool) {
        for (key, before) in self.trials.end(fails).into_iter().rev() {
            match before {
                Some(before) => drop(self.own.insert(key, before)),
                None => drop(self.own.remove(&key)),
            }
        }
    }

    /// The number of values that are not shared.
    pub(super) fn own(&self) -> usize {
        self.own.len()
    }
}

/// A value for some of the expressions, by their ids, in two layers.
#[derive(Debug)]
pub(super) struct LayeredById<T> {
    /// The values of shared expressions, by their numbers.
    shared: Arc<[Option<T>]>,
    /// Values that were found for shared expressions later.
    late: HashMap<LanguageId, T>,
    /// The values of other expressions, by their numbers.
    own: Vec<Option<T>>,
    trials: Trials<LanguageId, T>,
}

impl<T: Clone> LayeredById<T> {
    pub(super) fn new() -> Self {
        Self {
            shared: Arc::new([]),
            late: HashMap::new(),
            own: Vec::new(),
            trials: Trials::default(),
        }
    }

    /// Moves all values of the store to the shared layer, for an arena with this number of expressions.
    pub(super) fn share(self, expressions: usize) -> Self {
        let values = (0..expressions as u32).map(|id| self.get(LanguageId(id)).cloned());
        Self {
            shared: values.collect(),
            late: HashMap::new(),
            own: Vec::new(),
            trials: Trials::default(),
        }
    }

    /// A store over the shared layer of this one, with nothing added.
    pub(super) fn over(&self) -> Self {
        Self {
            shared: self.shared.clone(),
            late: HashMap::new(),
            own: Vec::new(),
            trials: Trials::default(),
        }
    }

    pub(super) fn get(&self, id: LanguageId) -> Option<&T> {
        match (id.0 as usize).checked_sub(self.shared.len()) {
            None => self.shared[id.0 as usize].as_ref().or_else(|| self.late.get(&id)),
            Some(place) => self.own.get(place)?.as_ref(),
        }
    }

    /// Sets the value of an expression, of which the arena has so many.
    pub(super) fn put(&mut self, id: LanguageId, value: T, expressions: usize) {
        let before = match (id.0 as usize).checked_sub(self.shared.len()) {
            None => self.late.insert(id, value),
            Some(place) => {
                if self.own.len() <= place {
                    self.own.resize(expressions - self.shared.len(), None);
                }
                self.own[place].replace(value)
            }
        };
        if self.trials.are_begun() {
            self.trials.note(id, before);
        }
    }

    /// Begins a trial.
    pub(super) fn begin(&mut self) {
        self.trials.begin();
    }

    /// Ends the trial that began last; the store is as it was before if it `fails`.
    pub(super) fn end(&mut self, fails: bool) {
        for (id, before) in self.trials.end(fails).into_iter().rev() {
            match ((id.0 as usize).checked_sub(self.shared.len()), before) {
                (Some(place), before) => self.own[place] = before,
                (None, Some(before)) => drop(self.late.insert(id, before)),
                (None, None) => drop(self.late.remove(&id)),
            }
        }
    }
}

/// The entries that trials have changed, with their values before.
#[derive(Debug)]
struct Trials<K, V> {
    changes: Vec<(K, Option<V>)>,
    /// The number of changes where each trial that has not ended began.
    begun: Vec<usize>,
}

impl<K, V> Default for Trials<K, V> {
    fn default() -> Self {
        Self {
            changes: Vec::new(),
            begun: Vec::new(),
        }
    }
}

impl<K, V> Trials<K, V> {
    fn are_begun(&self) -> bool {
        !self.begun.is_empty()
    }

    fn begin(&mut self) {
        self.begun.push(self.changes.len());
    }

    fn note(&mut self, key: K, before: Option<V>) {
        self.changes.push((key, before));
    }

    /// Ends the trial that began last, and returns the changes that are to be taken back.
    fn end(&mut self, fails: bool) -> Vec<(K, Option<V>)> {
        let from = self.begun.pop().unwrap_or_default();
        match fails {
            true => self.changes.split_off(from),
            false if self.begun.is_empty() => {
                self.changes = Vec::new();
                Vec::new()
            }
            false => Vec::new(),
        }
    }
}
