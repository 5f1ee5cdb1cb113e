//! Forward passes: layers of weights, and two ways to compute with them, over slices on the CPU and by tensor operations
//! elsewhere.

mod convolution_state;
mod cpu_forward;
pub(crate) mod device;
mod experts;
#[cfg(any(feature = "cuda", test))]
mod gpu;
mod kernels;
mod kv_cache;
mod layers;
mod linear;
pub(crate) mod rope;
pub(crate) mod self_check;
mod tensor_forward;
pub(crate) mod transformer;
