//! The model that is part of this crate: small enough for a source repository, trained to write JSON.

use crate::load::file_names::{CONFIG, GENERATION_CONFIG, TOKENIZER, TOKENIZER_CONFIG};

/// The builtin model's configuration files, with their names.
pub(crate) const CONFIGURATION: [(&str, &[u8]); 4] = [
    (CONFIG, include_bytes!("../../builtin/config.json")),
    (TOKENIZER, include_bytes!("../../builtin/tokenizer.json")),
    (TOKENIZER_CONFIG, include_bytes!("../../builtin/tokenizer_config.json")),
    (
        GENERATION_CONFIG,
        include_bytes!("../../builtin/generation_config.json"),
    ),
];

/// The builtin model's weight file.
pub(crate) const WEIGHTS: &[u8] = include_bytes!("../../builtin/model.safetensors");
