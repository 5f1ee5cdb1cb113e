//! Finding a model's files and reading them: its JSON files, each checked, and its weights.

pub(crate) mod builtin;
pub(crate) mod config;
pub(crate) mod disk;
pub(crate) mod file_names;
pub(crate) mod files;
pub(crate) mod generation_config;
pub(crate) mod gguf;
pub(crate) mod hub;
pub(crate) mod json_fields;
pub(crate) mod shapes;
pub(crate) mod source;
pub(crate) mod tokenizer_config;
pub(crate) mod weight_counts;
pub(crate) mod weight_format;
pub(crate) mod weights;
