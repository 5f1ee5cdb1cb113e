//! The model that is part of this crate: small enough for a source repository, trained to write JSON.

use crate::source::{CONFIG, GENERATION_CONFIG, ModelFiles, TOKENIZER, TOKENIZER_CONFIG};

/// The builtin model's files.
pub(crate) fn files() -> ModelFiles {
    let small: [(&'static str, &'static [u8]); 4] = [
        (CONFIG, include_bytes!("../builtin/config.json")),
        (TOKENIZER, include_bytes!("../builtin/tokenizer.json")),
        (TOKENIZER_CONFIG, include_bytes!("../builtin/tokenizer_config.json")),
        (GENERATION_CONFIG, include_bytes!("../builtin/generation_config.json")),
    ];
    ModelFiles::in_memory("builtin", small, include_bytes!("../builtin/model.safetensors"))
}
