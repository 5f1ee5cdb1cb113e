//! What is remembered, each within a bound of memory: results by their keys, sets of tokens, and masks to draw on.

pub(crate) mod bounded;
pub(crate) mod sharded;
pub(crate) mod token_set;
