//! Two-layer stores: an immutable layer shared by all schemas, below the entries that one schema has added.
//!
//! Formats and the states within their texts recur in schema after schema, so they are computed once.

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
}

impl<T: Clone> LayeredVec<T> {
    pub(super) fn new() -> Self {
        Self {
            shared: Arc::new([]),
            own: Vec::new(),
        }
    }

    /// Moves all values of the store to the shared layer.
    pub(super) fn share(self) -> Self {
        Self {
            shared: self.shared.iter().cloned().chain(self.own).collect(),
            own: Vec::new(),
        }
    }

    /// A store over the shared layer of this one, with nothing added but room for so many values.
    pub(super) fn over(&self, room: usize) -> Self {
        Self {
            shared: self.shared.clone(),
            own: Vec::with_capacity(room),
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
}

impl<K: Clone + Eq + Hash, V: Clone> LayeredMap<K, V> {
    pub(super) fn new() -> Self {
        Self {
            shared: Arc::new(HashMap::new()),
            own: HashMap::new(),
        }
    }

    /// Moves all values of the store to the shared layer.
    pub(super) fn share(self) -> Self {
        let mut all = Arc::unwrap_or_clone(self.shared);
        all.extend(self.own);
        Self {
            shared: Arc::new(all),
            own: HashMap::new(),
        }
    }

    /// A store over the shared layer of this one, with nothing added.
    pub(super) fn over(&self) -> Self {
        Self {
            shared: self.shared.clone(),
            own: HashMap::new(),
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
        self.own.insert(key, value);
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
}

impl<T: Clone> LayeredById<T> {
    pub(super) fn new() -> Self {
        Self {
            shared: Arc::new([]),
            late: HashMap::new(),
            own: Vec::new(),
        }
    }

    /// Moves all values of the store to the shared layer, for an arena with this number of expressions.
    pub(super) fn share(self, expressions: usize) -> Self {
        let values = (0..expressions as u32).map(|id| self.get(LanguageId(id)).cloned());
        Self {
            shared: values.collect(),
            late: HashMap::new(),
            own: Vec::new(),
        }
    }

    /// A store over the shared layer of this one, with nothing added.
    pub(super) fn over(&self) -> Self {
        Self {
            shared: self.shared.clone(),
            late: HashMap::new(),
            own: Vec::new(),
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
        match (id.0 as usize).checked_sub(self.shared.len()) {
            None => {
                self.late.insert(id, value);
            }
            Some(place) => {
                if self.own.len() <= place {
                    self.own.resize(expressions - self.shared.len(), None);
                }
                self.own[place] = Some(value);
            }
        }
    }
}
