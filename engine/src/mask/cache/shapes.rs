//! [`Shapes`]: token sets by the shape of values, cached for one schema or for all schemas of a vocabulary.

use std::sync::{Arc, Mutex};

use crate::automaton::{Automaton, CommonShape, ValueShape};

use super::bounded::{BoundedCache, lock};

/// Memory for the entries that all schemas share.
const SHARED_BYTES: usize = 2 << 20;

/// A cache for shapes that schemas have in common.
#[derive(Debug)]
pub(crate) struct SharedShapes<T>(Mutex<BoundedCache<CommonShape, Arc<T>>>);

impl<T> Default for SharedShapes<T> {
    fn default() -> Self {
        Self(Mutex::new(BoundedCache::new(SHARED_BYTES)))
    }
}

impl<T> SharedShapes<T> {
    /// Bytes that are taken, roughly.
    pub(crate) fn bytes(&self) -> usize {
        lock(&self.0).bytes()
    }
}

/// A cache for the shapes of one schema.
#[derive(Debug)]
pub(crate) struct Shapes<T>(BoundedCache<ValueShape, Arc<T>>);

impl<T> Shapes<T> {
    /// Makes an empty cache of at most so many bytes.
    pub(crate) fn new(allowed: usize) -> Self {
        Self(BoundedCache::new(allowed))
    }

    /// Bytes that are taken, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// Whether something is known of a shape in this schema.
    pub(crate) fn has(&mut self, shape: ValueShape) -> bool {
        self.0.get(&shape).is_some()
    }

    /// Returns the cached value of a shape.
    ///
    /// # Errors
    ///
    /// The shape has no entry. The error is the shape as other schemas know it, if it is common.
    pub(crate) fn get(
        &mut self,
        automaton: &mut Automaton,
        shared: &SharedShapes<T>,
        shape: ValueShape,
    ) -> Result<Arc<T>, Option<CommonShape>> {
        if let Some(known) = self.0.get(&shape) {
            return Ok(known);
        }
        let common = automaton.common_shape(shape);
        let Some(known) = common.and_then(|common| lock(&shared.0).get(&common)) else {
            return Err(common);
        };
        self.0.keep(shape, known.clone(), 0);
        Ok(known)
    }

    /// Keeps the value of a shape, for all schemas if the shape is common.
    pub(crate) fn keep(
        &mut self,
        shared: &SharedShapes<T>,
        (shape, common): (ValueShape, Option<CommonShape>),
        found: &Arc<T>,
        bytes: usize,
    ) {
        if let Some(common) = common {
            lock(&shared.0).keep(common, found.clone(), bytes);
        }
        self.0.keep(shape, found.clone(), bytes);
    }
}
