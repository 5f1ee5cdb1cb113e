//! Code for GPUs only: opening one, forward passes over few tokens, and the choice of tokens by the kernels in `cuda/`.
//!
//! The kernels are launched on a GPU or, in tests, run by their emulation on the CPU; the type [`Kernels`](kernels::Kernels)
//! hides which. Passes over many tokens are those of [`tensors`](crate::network::tensors).

pub(crate) mod choice;
#[cfg(feature = "cuda")]
pub(crate) mod device;
#[cfg(test)]
pub(crate) mod emulation;
pub(crate) mod kernels;
#[cfg(feature = "cuda")]
pub(crate) mod launch;
pub(crate) mod memory;
pub(crate) mod packed;
pub(crate) mod passes;
pub(crate) mod short_pass;
#[cfg(test)]
mod tests;
pub(crate) mod weights;
