//! GGUF files, as llama.cpp and its quantiser write them: weights, sizes, tokenizer and chat template in one file.
//!
//! The format: <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>. A file is mapped into memory, and its header is
//! checked before anything is reserved for what it announces. From its metadata, [`configuration`] makes the configuration files
//! that a checkpoint in Hugging Face layout has, so that everything behind them is the same for both; [`tensors`] gives the
//! weights under the names that such a checkpoint has.

mod block_format;
pub(crate) mod choice;
pub(crate) mod configuration;
mod file;
mod metadata;
pub(crate) mod pre_tokenizers;
pub(crate) mod tensors;
mod tokenizer;

#[cfg(test)]
pub(crate) use block_format::QUANTISED;
pub(crate) use block_format::{BlockFormat, BlockParts, K_BLOCK, SMALL_BLOCK};
pub(crate) use file::is_gguf;
