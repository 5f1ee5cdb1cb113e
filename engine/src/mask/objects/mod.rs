//! The tokens of names of members, and the suffixes that may come behind a closing quote.

mod exhausted_keys;
pub(crate) mod keys;
mod remaining_keys;
pub(crate) mod suffixes;
