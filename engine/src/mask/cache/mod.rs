//! Caches, each within a bound of memory: results by their keys, sets of tokens, and masks to draw on.
//!
//! The bound of a cache is a constant in the file that uses the cache, such as `MASK_BYTES` of `mask/compiled_schema.rs`.

pub(crate) mod bounded;
pub(crate) mod mask_buffers;
pub(crate) mod shapes;
pub(crate) mod sharded;
pub(crate) mod token_set;
