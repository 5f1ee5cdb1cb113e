//! [`NamedVocabulary`]: the vocabularies that frameworks are measured with where no model runs.

mod encodings;

use std::sync::Arc;

use maskwright::{TokenId, Tokenize, Vocabulary};
use maskwright_models::{HubSettings, LoadedModel, ModelError, ModelTokenizer, ModelVocabulary};
use maskwright_worker::TokenizerSource;

use self::encodings::{ENCODINGS, Encoding};
use crate::run::progress;
use crate::terminal::did_you_mean;

/// The encoding used where nothing else is asked for.
pub const DEFAULT: &str = "o200k_base";

/// A vocabulary with its name, and the tokenizer's source from which a worker can build the same tokenizer.
#[derive(Clone)]
pub struct NamedVocabulary {
    /// Name that the user gave.
    pub name: String,
    /// The tokens, with the tokenizer.
    pub vocabulary: Arc<Vocabulary>,
    /// The tokenizer.
    pub tokenizer: TokenizerSource,
}

/// Reason for which a vocabulary cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum VocabularySourceError {
    /// The name is that of a model, which could not be read.
    #[error(
        "no vocabulary: expected {}, or a model: {source}{}",
        ENCODINGS.map(|encoding| encoding.name).join(", "),
        did_you_mean(name, ENCODINGS.iter().map(|encoding| encoding.name))
    )]
    Model {
        /// The name.
        name: String,
        /// Reason of the failure.
        source: ModelError,
    },
    /// The encoding's own data are damaged.
    #[error("the encoding {name} cannot be used: {message}")]
    Encoding {
        /// The encoding.
        name: &'static str,
        /// Reason of the failure.
        message: String,
    },
}

impl NamedVocabulary {
    /// The encoding called `name`, or the vocabulary of the model that `name` stands for, whose weights are not
    /// loaded.
    ///
    /// # Errors
    ///
    /// [`VocabularySourceError`].
    pub fn load(name: &str) -> Result<Self, VocabularySourceError> {
        if let Some(encoding) = ENCODINGS.iter().find(|encoding| encoding.name == name) {
            return Self::of_encoding(encoding);
        }
        let bar = progress::download_bar(name);
        let model = name
            .parse()
            .and_then(|source| ModelVocabulary::load(&source, &HubSettings::from_environment(), Some(&bar)));
        bar.finish_and_clear();
        let model = model.map_err(|source| VocabularySourceError::Model {
            name: name.to_owned(),
            source,
        })?;
        Ok(Self {
            name: name.to_owned(),
            vocabulary: model.vocabulary,
            tokenizer: TokenizerSource::TokenizerJson(model.tokenizer_json.as_ref().to_owned()),
        })
    }

    fn of_encoding(encoding: &Encoding) -> Result<Self, VocabularySourceError> {
        let name = encoding.name;
        let vocabulary = encoding
            .vocabulary()
            .map_err(|message| VocabularySourceError::Encoding { name, message })?;
        Ok(Self {
            name: name.to_owned(),
            vocabulary: Arc::new(vocabulary),
            tokenizer: TokenizerSource::Tiktoken(name.to_owned()),
        })
    }

    /// The vocabulary of a loaded model.
    pub fn of_model(model: &LoadedModel) -> Self {
        Self {
            name: model.name().to_owned(),
            vocabulary: model.vocabulary(),
            tokenizer: TokenizerSource::TokenizerJson(model.tokenizer_json().as_ref().to_owned()),
        }
    }

    /// The canonical tokens of `text`.
    pub fn tokenize(&self, text: &str) -> Vec<TokenId> {
        let tokenizer = self.vocabulary.tokenizer();
        tokenizer.map_or_else(Vec::new, |tokenizer| tokenizer.tokenize(text.as_bytes()))
    }
}

/// Builds the tokenizer of a source, as a worker receives it; `None` where that fails.
pub fn tokenizer(source: &TokenizerSource) -> Option<Arc<dyn Tokenize>> {
    match source {
        TokenizerSource::Tiktoken(name) => {
            let encoding = ENCODINGS.iter().find(|encoding| encoding.name == name)?;
            encoding.tokenizer().ok()
        }
        TokenizerSource::TokenizerJson(json) => {
            let tokenizer = ModelTokenizer::from_bytes("tokenizer.json", json.as_bytes()).ok()?;
            Some(Arc::new(tokenizer))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_have_all_tokens_and_spell_what_they_encode() {
        for (name, tokens) in [("o200k_base", 200_019), ("cl100k_base", 100_277)] {
            let named = NamedVocabulary::load(name).unwrap();
            assert_eq!(named.vocabulary.len(), tokens, "{name}");
            let texts = ["{\"a\": [1.5e3, \"\\u00e9\"]}", "naïve 日本語 🙂", "", "<|endoftext|>"];
            for text in texts {
                let ids = named.tokenize(text);
                assert_eq!(named.vocabulary.text_bytes(&ids), text.as_bytes(), "{name}");
            }
            let bytes = [b'a', 0xff, 0x80, b'b'];
            let ids = named.vocabulary.tokenizer().unwrap().tokenize(&bytes);
            assert_eq!(named.vocabulary.text_bytes(&ids), bytes, "{name}");
        }
    }

    #[test]
    fn a_worker_makes_the_same_tokenizer() {
        for name in ["o200k_base", "builtin"] {
            let named = NamedVocabulary::load(name).unwrap();
            let again = tokenizer(&named.tokenizer).unwrap();
            let text = "{\"name\": \"Ünsal\", \"n\": 12}";
            assert_eq!(again.tokenize(text.as_bytes()), named.tokenize(text), "{name}");
        }
    }

    #[test]
    fn unknown_names_say_what_there_is() {
        let error = NamedVocabulary::load("o300k").map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("o200k_base") && error.contains("hub id"), "{error}");
    }
}
