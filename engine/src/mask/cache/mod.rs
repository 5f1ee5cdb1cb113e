//! Caches with bounds on memory: results by key, compressed sets of tokens, and mask buffers.
//!
//! The bound of a cache is a constant in the file that uses the cache, such as `MASK_BYTES` of `mask/compiled_schema.rs`.

pub(crate) mod bounded;
pub(crate) mod mask_buffers;
pub(crate) mod shapes;
pub(crate) mod sharded;
pub(crate) mod token_set;
