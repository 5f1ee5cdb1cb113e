//! Caches with bounds on memory: results by key, compressed sets of tokens, and mask buffers.

pub(crate) mod bounded;
pub(crate) mod mask_buffers;
pub(crate) mod shapes;
pub(crate) mod sharded;
pub(crate) mod token_set;
