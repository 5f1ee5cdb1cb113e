//! Masks within the names of members, and of the token suffixes behind a closing quote.
//!
//! `keys.rs` has the tokens that continue or close a name, where the names left are a list with `remaining_keys.rs`, and where keys of
//! `patternProperties` have been used up with `exhausted_keys.rs`; `suffixes.rs` has the tokens that go on behind the closing quote.

mod exhausted_keys;
pub(crate) mod keys;
mod remaining_keys;
pub(crate) mod suffixes;
