//! Language models for maskwright: found, downloaded, loaded, asked for logits.
//!
//! 1. A [`ModelSource`] says where a model is: in this crate, in a directory or a GGUF file, or on the Hugging Face hub.
//! 2. [`load`](fn@load) makes a [`LoadedModel`] of it: the [`LanguageModel`] with its [`ModelTokenizer`], the
//!    [`Vocabulary`](maskwright::Vocabulary) that masks are made for, its chat template, and what its authors
//!    recommend for sampling.
//! 3. [`LanguageModel::append`] takes tokens and returns logits; snapshots take tokens back.
//! 4. [`generate`] writes a whole answer, with masks where there is a [`Constraint`], and times every step.
//! 5. A [`TrainableModel`] has gradients, which [`AdamW`] follows.
//!
//! Models of each [`Family`] run (Llama, Qwen, LFM2, Gemma 3, Granite and others), from weights in safetensors or GGUF files, on the
//! CPU or, with the cargo feature `cuda`, on an NVIDIA GPU.
//!
//! # Rooms
//!
//! | module | contents |
//! |---|---|
//! | `load` | finding a model's files, and reading its JSON and weight files |
//! | `prompt` | messages to text (chat templates), text to tokens (tokenizers), tokens to bytes (vocabularies), marks of reasoning |
//! | `network` | forward passes: layers, kernels, key-value caches |
//! | `loaded_model` | [`load`](fn@load), which puts these three together |
//! | `choice` | choosing a token by logits, on the host or the model's device |
//! | `decode` | [`generate`]: the loop of forward passes, masks and sampling |
//! | `train` | gradients of the weights, the optimiser, checkpoints |
//! | `write` | checkpoints with random weights, and GGUF files |
//!
//! # Untrusted input
//!
//! Configuration, weights and tokenizers may be garbage: every number is checked, every size has a limit, and every defect is a
//! [`ModelError`]. Chat templates are programs: their steps are limited, but a hostile one can use much memory before it is
//! stopped.

mod choice;
mod decode;
mod error;
mod language_model;
mod load;
mod loaded_model;
mod network;
mod prompt;
mod train;
mod write;

pub use choice::Choice;
pub use decode::generate::{generate, generate_after};
pub use decode::generation::{DecodeError, FinishReason, GeneratedToken, Generation, MaskTimes, ReasoningSpan};
pub use decode::mask_effect::MaskEffect;
pub use decode::options::{Constraint, DecodeOptions};
pub use decode::sampler::{Sampler, SamplingOptionError, SamplingOptions};
pub use error::ModelError;
pub use language_model::{LanguageModel, Snapshot, logits_to_host};
pub use load::config::ModelConfig;
pub use load::config::experts::{ExpertGroups, ExpertStorage, Experts, Routing};
pub use load::config::family::Family;
pub use load::config::gemma4::{Gemma4Parts, Heads, LayerEmbeddings};
pub use load::config::latent_attention::LatentAttention;
pub use load::config::layer_kinds::{Activation, Mixer, Multipliers, Positions, SoftCaps};
pub use load::config::missing::{MISSING, MissingArchitecture};
pub use load::config::recurrence::{DeltaNet, Mamba2, Recurrence};
pub use load::config::rope_scaling::RopeScaling;
pub use load::generation_config::GenerationDefaults;
pub use load::hub::settings::HubSettings;
pub use load::source::ModelSource;
pub use load::weight_format::WeightFormat;
pub use loaded_model::{LoadOptions, LoadedModel, ModelSummary, PromptOptions, load};
pub use network::device::{GpuSummary, ModelDevice};
pub use network::self_check::{SelfCheck, self_check};
pub use network::transformer::Transformer;
pub use prompt::chat_template::{ChatTemplate, Message};
pub use prompt::reasoning::{Reasoning, ReasoningOptions};
pub use prompt::tokenizer::ModelTokenizer;
pub use prompt::vocabulary::ModelVocabulary;
pub use train::adamw::{AdamW, AdamWOptions};
pub use train::checkpoint::write_directory_whole;
pub use train::gradients::{Gradients, TokenSequence};
pub use train::learning_rate::LearningRate;
pub use train::loss::{LossParts, PolicyLoss, TokenLoss, group_advantages};
pub use train::sampled_replies::{ReplyOptions, SampledReply};
pub use train::trainable_model::TrainableModel;
pub use write::families_table::{COMPARED_WITH, compared_with, families_table};
pub use write::gguf::tokens::PreTokenizer;
pub use write::gguf::{GgufSummary, export_gguf};
pub use write::random_checkpoint::{CheckpointTokenizer, PRESETS, RandomCheckpoint};
