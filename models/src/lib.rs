//! Language models for maskwright: found, downloaded, loaded, asked for logits.
//!
//! 1. A [`ModelSource`] says where a model is: in this crate, in a directory, or on the Hugging Face hub.
//! 2. [`load`] makes a [`LoadedModel`] of it: the [`LanguageModel`] with its [`ModelTokenizer`], the
//!    [`Vocabulary`](maskwright::Vocabulary) that masks are made for, its chat template, and what its authors
//!    recommend for sampling.
//! 3. [`LanguageModel::append`] takes tokens and returns logits; snapshots take tokens back.
//!
//! Llama, Mistral (without a sliding window), Qwen 2, 2.5 and 3 run, from safetensors weights, on the CPU or, with the
//! cargo feature `cuda`, on an NVIDIA GPU.
//!
//! # Untrusted input
//!
//! Configuration, weights and tokenizers may be garbage: every number is checked, every size has a limit, and what
//! is wrong is a [`ModelError`]. Chat templates are programs: their steps are limited, but a hostile one can
//! use much memory before it is stopped.

mod builtin;
mod chat_template;
mod config;
mod cpu_forward;
mod decode;
mod error;
mod generation_config;
mod gguf;
mod hub;
mod hub_download;
mod in_time;
mod kernels;
mod kv_cache;
mod language_model;
mod likely;
mod linear;
mod load;
mod mask_thread;
mod model_vocabulary;
mod python_text;
mod random_checkpoint;
mod rope;
mod sampler;
mod self_check;
mod source;
mod tensor_forward;
mod tokenizer;
mod tokenizer_config;
mod transformer;
mod unigram;
mod weights;

pub use chat_template::Message;
pub use config::{Family, ModelConfig};
pub use decode::{
    Constraint, DecodeError, DecodeOptions, FinishReason, GeneratedToken, Generation, MaskTimes, generate,
};
pub use error::ModelError;
pub use generation_config::GenerationDefaults;
pub use gguf::{GgufSummary, PreTokenizer, export_gguf};
pub use hub::HubSettings;
pub use language_model::{LanguageModel, Snapshot, logits_to_host};
pub use load::{LoadOptions, LoadedModel, ModelDevice, ModelSummary, WeightFormat, load};
pub use model_vocabulary::ModelVocabulary;
pub use random_checkpoint::{CheckpointTokenizer, PRESETS, RandomCheckpoint};
pub use rope::RopeScaling;
pub use sampler::{Sampler, SamplingOptionError, SamplingOptions};
pub use self_check::{SelfCheck, self_check};
pub use source::ModelSource;
pub use tokenizer::ModelTokenizer;
pub use transformer::Transformer;
pub use unigram::Unigram;
