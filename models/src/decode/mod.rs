//! The loop that writes an answer: forward pass, mask, sampling, forced tokens.

pub(crate) mod generate;
pub(crate) mod generation;
pub(crate) mod mask_effect;
mod mask_thread;
pub(crate) mod options;
mod overlapped_masker;
pub(crate) mod sampler;
mod speculation;
mod token_budget;
