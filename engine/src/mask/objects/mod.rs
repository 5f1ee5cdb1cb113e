//! Masks within the names of members, and of the token suffixes behind a closing quote.
//!
//! `keys.rs` has the tokens that continue or close a name, `suffixes.rs` the tokens that go on behind the closing quote.

mod exhausted_keys;
pub(crate) mod keys;
mod remaining_keys;
pub(crate) mod suffixes;
