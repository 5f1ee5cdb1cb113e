//! Values that have to differ from others (`uniqueItems`).

mod closed;
mod containers;
mod keys;
pub(crate) mod numbers;
mod rivals;
mod strings;
