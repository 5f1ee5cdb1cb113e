//! The keys of objects: steps within them, the keys that may come next, and classes of keys that are alike.
//!
//! `next.rs` decides whether a `,` and another key may come. It counts the members that were read, and asks the search
//! (`next_keys.rs` and, where the style prescribes an order, `ordered_keys.rs` in `automaton/search/`).

pub(crate) mod classes;
mod next;
mod read;
pub(crate) mod remaining;
