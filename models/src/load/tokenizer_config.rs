//! [`TokenizerConfig`]: the part of tokenizer_config.json that prompts need.

use serde_json::{Map, Value};

use crate::error::ModelError;
use crate::load::file_names::TOKENIZER_CONFIG;
use crate::load::files::ModelFiles;
use crate::load::json_fields::JsonFields;

/// Special tokens and chat templates of tokenizer_config.json; empty where the file is missing.
#[derive(Clone, Debug, Default)]
pub(crate) struct TokenizerConfig {
    pub(crate) bos_token: Option<String>,
    pub(crate) eos_token: Option<String>,
    /// Names and texts of all special tokens (`bos_token`, `pad_token` …), which templates may use.
    pub(crate) special_tokens: Vec<(String, String)>,
    /// `chat_template` as it stands: a text, or a list of named ones.
    pub(crate) chat_template: Option<Value>,
}

impl TokenizerConfig {
    /// Reads the file, if it is among `files`.
    pub(crate) fn read(files: &ModelFiles) -> Result<Self, ModelError> {
        match files.get(TOKENIZER_CONFIG) {
            Some(bytes) => {
                let file = files.label(TOKENIZER_CONFIG);
                Ok(Self::from_map(JsonFields::parse(&file, bytes)?.into_map()))
            }
            None => Ok(Self::default()),
        }
    }

    fn from_map(mut map: Map<String, Value>) -> Self {
        let special = map.iter().filter(|(name, _)| name.ends_with("_token"));
        let special_tokens: Vec<(String, String)> = special
            .filter_map(|(name, token)| Some((name.clone(), token_text(token)?.to_owned())))
            .collect();
        let find = |wanted: &str| {
            special_tokens
                .iter()
                .find(|(name, _)| name == wanted)
                .map(|(_, text)| text.clone())
        };
        Self {
            bos_token: find("bos_token"),
            eos_token: find("eos_token"),
            chat_template: map.remove("chat_template").filter(|template| !template.is_null()),
            special_tokens,
        }
    }
}

/// A special token's text: a string, or an object that has it as `content`.
fn token_text(token: &Value) -> Option<&str> {
    token.as_str().or_else(|| token.get("content")?.as_str())
}
