//! Values that have to differ from others (`uniqueItems`), while they are read.
//!
//! `containers.rs` asks whether an item that is being read can still differ from the items before it, and `rivals.rs` keeps the
//! values that it can still equal. Whether an array can still reach its length with different items is decided by the search
//! (`automaton/search/unique_items.rs`).

mod closed;
mod containers;
mod keys;
pub(crate) mod numbers;
mod rivals;
mod strings;
