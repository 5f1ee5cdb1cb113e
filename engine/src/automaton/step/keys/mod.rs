//! The keys of objects: transitions within them, the keys that may come next, and equivalence classes of keys.

pub(crate) mod classes;
mod next;
pub(crate) mod remaining;
mod within;
