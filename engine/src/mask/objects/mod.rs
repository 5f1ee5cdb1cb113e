//! The tokens of names of members, and the suffixes that may come behind a closing quote.
//!
//! `keys.rs` has the tokens that continue or close a name, `suffixes.rs` the tokens that go on behind the closing quote.

mod exhausted_keys;
pub(crate) mod keys;
mod remaining_keys;
pub(crate) mod suffixes;
