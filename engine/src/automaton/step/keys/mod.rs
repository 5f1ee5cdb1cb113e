//! The keys of objects: steps within them, the keys that may come next, and classes of keys that are alike.

pub(crate) mod classes;
mod next;
mod read;
pub(crate) mod remaining;
