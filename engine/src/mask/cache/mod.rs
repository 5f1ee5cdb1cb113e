//! Caches, each within a bound of memory: results by their keys, sets of tokens, and masks to draw on.

pub(crate) mod bounded;
pub(crate) mod mask_buffers;
pub(crate) mod shapes;
pub(crate) mod sharded;
pub(crate) mod token_set;
