//! The keys of objects: states within them, which may come next, and which of them are alike.

pub(crate) mod classes;
mod next;
mod read;
pub(crate) mod remaining;
