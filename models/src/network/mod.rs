//! Forward passes: layers of weights, and two ways to compute with them, over slices on the CPU and by tensor operations
//! elsewhere.

pub(crate) mod cpu;
pub(crate) mod device;
mod experts;
#[cfg(any(feature = "cuda", test))]
mod gpu;
mod kv_cache;
mod layers;
pub(crate) mod matrices;
mod recurrent;
pub(crate) mod rope;
pub(crate) mod self_check;
pub(crate) mod tensors;
pub(crate) mod transformer;
