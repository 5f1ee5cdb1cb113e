//! The forward pass on the CPU, over slices, and the arithmetic that it is made of.

pub(super) mod forward;
pub(crate) mod kernels;
pub(super) mod slices;
