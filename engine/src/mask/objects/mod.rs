//! The tokens of names of members, and what may come behind a closing quote.

pub(crate) mod exhausted_keys;
pub(crate) mod keys;
pub(crate) mod remaining_keys;
pub(crate) mod values;
pub(crate) mod viable_suffixes;
