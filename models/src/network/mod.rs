//! Forward passes: layers of weights, and two ways to compute with them, over slices on the CPU and by tensor operations
//! elsewhere.

mod causal_convolution;
mod convolution_state;
mod cpu_forward;
mod delta_net;
pub(crate) mod device;
mod expert_weights;
mod experts;
#[cfg(any(feature = "cuda", test))]
mod gpu;
mod kernels;
mod kv_cache;
mod layers;
mod linear;
mod mamba2;
mod mxfp4;
mod quantised;
mod recurrent_state;
mod rollback;
pub(crate) mod rope;
pub(crate) mod self_check;
pub(crate) mod stored_matrices;
mod tensor_forward;
mod tensor_norm;
mod tensor_slices;
pub(crate) mod transformer;
