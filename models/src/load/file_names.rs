//! The names that a model's files have in Hugging Face layout.

/// Sizes and switches of the network.
pub(crate) const CONFIG: &str = "config.json";
/// The tokenizer.
pub(crate) const TOKENIZER: &str = "tokenizer.json";
/// The tokenizer in the format of tiktoken, which is not read.
pub(crate) const TIKTOKEN: &str = "tiktoken.model";
/// Special tokens, and in older models the chat template.
pub(crate) const TOKENIZER_CONFIG: &str = "tokenizer_config.json";
/// Sampling settings and end-of-sequence ids.
pub(crate) const GENERATION_CONFIG: &str = "generation_config.json";
/// The chat template as plain text.
pub(crate) const TEMPLATE_JINJA: &str = "chat_template.jinja";
/// The chat template for prompts with tools, of models that have one of its own, as plain text.
pub(crate) const TEMPLATE_TOOL_USE: &str = "additional_chat_templates/tool_use.jinja";
/// The chat template inside a JSON object.
pub(crate) const TEMPLATE_JSON: &str = "chat_template.json";
/// The weights of a checkpoint that is not sharded.
pub(crate) const WEIGHTS: &str = "model.safetensors";
/// Index of a sharded checkpoint: the weight file of each tensor.
pub(crate) const WEIGHT_INDEX: &str = "model.safetensors.index.json";
