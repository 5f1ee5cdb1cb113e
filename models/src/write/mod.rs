//! Models written to disk: checkpoints with random weights for tests and timing, and GGUF files for llama.cpp.

pub(crate) mod families_table;
pub(crate) mod gguf;
mod llamacpp_comparison;
pub(crate) mod random_checkpoint;
mod random_tensors;
mod transformers_comparison;
mod typical_shapes;
