//! [`ModelVocabulary`]: a model's tokenizer and tokens, without its weights.

use std::sync::Arc;

use indicatif::ProgressBar;
use maskwright::{TokenId, Tokenize, Vocabulary};

use crate::error::ModelError;
use crate::load::config::ModelConfig;
use crate::load::file_names::{CONFIG, TOKENIZER};
use crate::load::files::ModelFiles;
use crate::load::generation_config::{self, GenerationDefaults};
use crate::load::hub::settings::HubSettings;
use crate::load::source::ModelSource;
use crate::load::tokenizer_config::TokenizerConfig;
use crate::prompt::tokenizer::ModelTokenizer;

/// A model's tokenizer, the bytes of its tokens, and the tokens that end an answer.
#[derive(Clone, Debug)]
pub struct ModelVocabulary {
    /// The tokenizer.
    pub tokenizer: Arc<ModelTokenizer>,
    /// The text of tokenizer.json.
    pub tokenizer_json: Arc<str>,
    /// The bytes of each token, as many tokens as the model has logits.
    pub vocabulary: Arc<Vocabulary>,
    /// The tokens that end an answer: those of generation_config.json, or without it of config.json, and the
    /// tokenizer's own end-of-sequence token.
    pub eos_ids: Vec<TokenId>,
}

impl ModelVocabulary {
    /// Finds a model's configuration, downloading it where necessary, but no weights.
    ///
    /// # Errors
    ///
    /// [`ModelError`], naming the file or field at fault.
    pub fn load(source: &ModelSource, hub: &HubSettings, progress: Option<&ProgressBar>) -> Result<Self, ModelError> {
        let files = ModelFiles::open_configuration(source, hub, progress)?;
        Ok(ConfigurationFiles::read(&files)?.vocabulary)
    }
}

/// The contents of a model's configuration files but for its chat template, checked.
pub(crate) struct ConfigurationFiles {
    pub(crate) config: ModelConfig,
    pub(crate) generation_defaults: GenerationDefaults,
    pub(crate) tokenizer_config: TokenizerConfig,
    pub(crate) vocabulary: ModelVocabulary,
}

impl ConfigurationFiles {
    /// Reads the configuration files among `files`.
    pub(crate) fn read(files: &ModelFiles) -> Result<Self, ModelError> {
        let config = ModelConfig::from_json(&files.label(CONFIG), files.require(CONFIG)?)?;
        let (generation_defaults, generation_eos) = generation_config::read(files)?;
        let tokenizer_config = TokenizerConfig::read(files)?;
        let tokenizer_json = files.require(TOKENIZER)?;
        let tokenizer_file = files.label(TOKENIZER);
        let tokenizer = Arc::new(ModelTokenizer::from_bytes(&tokenizer_file, tokenizer_json)?);
        let eos_ids = eos_ids(generation_eos, &config, &tokenizer_config, &tokenizer);
        let vocabulary = Vocabulary::from_tokenizer_json(tokenizer_json)
            .and_then(|builder| {
                let inner = Arc::clone(&tokenizer) as Arc<dyn Tokenize>;
                builder
                    .eos(eos_ids.iter().copied())
                    .size(config.vocab_size)
                    .tokenizer(inner)
                    .build()
            })
            .map_err(|source| ModelError::Vocabulary {
                file: tokenizer_file,
                source,
            })?;
        let vocabulary = ModelVocabulary {
            tokenizer,
            // It has been read as JSON above, so it is UTF-8.
            tokenizer_json: String::from_utf8_lossy(tokenizer_json).into(),
            vocabulary: Arc::new(vocabulary),
            eos_ids,
        };
        Ok(Self {
            config,
            generation_defaults,
            tokenizer_config,
            vocabulary,
        })
    }
}

/// The ids that end an answer, the most authoritative first.
fn eos_ids(
    generation: Vec<TokenId>,
    config: &ModelConfig,
    tokenizer_config: &TokenizerConfig,
    tokenizer: &ModelTokenizer,
) -> Vec<TokenId> {
    let mut ids = if generation.is_empty() {
        config.eos_token_ids.clone()
    } else {
        generation
    };
    ids.extend(
        tokenizer_config
            .eos_token
            .as_deref()
            .and_then(|name| tokenizer.id(name)),
    );
    let mut seen = Vec::new();
    ids.retain(|id| {
        let new = !seen.contains(id);
        seen.push(*id);
        new
    });
    ids
}
