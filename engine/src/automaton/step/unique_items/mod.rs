//! Distinctness constraints (`uniqueItems`): values that must differ from values read before.

mod closed;
mod containers;
mod keys;
pub(crate) mod numbers;
mod rivals;
mod strings;
