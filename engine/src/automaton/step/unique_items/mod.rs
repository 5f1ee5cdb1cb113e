//! Distinctness constraints (`uniqueItems`): values that must differ from values read before.
//!
//! `containers.rs` is the entry: it tells an item apart from the earlier ones, which `formula/read_values.rs` remembers. `rivals.rs` has the
//! values that an open container must not equal, `numbers.rs`, `strings.rs` and `keys.rs` the same for one kind of value each, and
//! `closed.rs` containers that have just ended.

mod closed;
mod containers;
mod keys;
pub(crate) mod numbers;
mod rivals;
mod strings;
