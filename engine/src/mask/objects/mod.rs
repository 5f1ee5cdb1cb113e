//! Masks within the names of members, and of the token suffixes behind a closing quote.

mod exhausted_keys;
pub(crate) mod keys;
mod remaining_keys;
pub(crate) mod suffixes;
