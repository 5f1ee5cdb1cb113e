//! The class `Tokenizer`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use maskwright::{TokenId, TokenKind, Vocabulary, VocabularyBuilder};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMapping, PyType};

use crate::errors::{TokenizerError, tokenizer_error};
use crate::matcher::{token_id, token_ids};
use crate::style::dict;
use crate::tokenizer_files;

/// The tokens of a model: their bytes, and the tokens that end an answer. Threads may share it.
#[pyclass(frozen, module = "maskwright")]
pub(crate) struct Tokenizer(Arc<Vocabulary>);

impl Tokenizer {
    /// The tokens of a vocabulary.
    pub(crate) fn over(vocabulary: Arc<Vocabulary>) -> Self {
        Self(vocabulary)
    }

    pub(crate) fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.0
    }
}

/// Builds a vocabulary, with the settings of the caller.
pub(crate) fn build(
    mut builder: VocabularyBuilder,
    stop_token_ids: Option<Vec<TokenId>>,
    vocab_size: Option<usize>,
) -> PyResult<Tokenizer> {
    if let Some(ids) = stop_token_ids {
        builder = builder.eos(ids);
    }
    if let Some(size) = vocab_size {
        builder = builder.size(size);
    }
    Ok(Tokenizer(Arc::new(builder.build().map_err(tokenizer_error)?)))
}

#[pymethods]
impl Tokenizer {
    /// Reads a file of a tokenizer, or a model's directory.
    #[classmethod]
    #[pyo3(signature = (path, *, stop_token_ids=None, vocab_size=None, special_tokens=None))]
    fn from_file(
        _class: &Bound<'_, PyType>,
        py: Python<'_>,
        path: PathBuf,
        stop_token_ids: Option<Vec<i64>>,
        vocab_size: Option<usize>,
        special_tokens: Option<&Bound<'_, PyMapping>>,
    ) -> PyResult<Self> {
        let stop_token_ids = stop_token_ids.map(|ids| token_ids(&ids));
        let special_tokens: BTreeMap<String, i64> = match special_tokens {
            Some(tokens) => dict(tokens)?.extract()?,
            None => BTreeMap::new(),
        };
        py.detach(|| {
            let read = tokenizer_files::read(&path).map_err(TokenizerError::new_err)?;
            let mut builder = read.builder;
            for (name, id) in special_tokens {
                builder = builder.special(token_id(id), name).map_err(tokenizer_error)?;
            }
            build(
                builder,
                stop_token_ids.or(read.stop_tokens),
                vocab_size.or(read.vocab_size),
            )
        })
    }

    /// Takes the tokens of a fast tokenizer of the packages `transformers` or `tokenizers`.
    #[classmethod]
    #[pyo3(signature = (tokenizer, *, stop_token_ids=None, vocab_size=None))]
    fn from_huggingface(
        _class: &Bound<'_, PyType>,
        py: Python<'_>,
        tokenizer: &Bound<'_, PyAny>,
        stop_token_ids: Option<Vec<i64>>,
        vocab_size: Option<usize>,
    ) -> PyResult<Self> {
        let backend = match tokenizer.getattr_opt("backend_tokenizer")? {
            Some(backend) => backend,
            None if tokenizer.hasattr("to_str")? => tokenizer.clone(),
            None => {
                let name = tokenizer.get_type().name()?;
                let message = format!(
                    "{name} has no backend_tokenizer: only fast tokenizers say which bytes each token stands for. Load the \
                     model's file instead, with Tokenizer.from_file: tokenizer.json, tokenizer.model or *.tiktoken"
                );
                return Err(TokenizerError::new_err(message));
            }
        };
        let json: String = backend.call_method0("to_str")?.extract()?;
        let stop_token_ids = match stop_token_ids {
            Some(ids) => Some(token_ids(&ids)),
            None => match tokenizer.getattr_opt("eos_token_id")? {
                Some(id) => id.extract::<Option<i64>>()?.map(|id| vec![token_id(id)]),
                None => None,
            },
        };
        py.detach(|| {
            let builder = tokenizer_files::hugging_face(json.as_bytes()).map_err(TokenizerError::new_err)?;
            build(builder, stop_token_ids, vocab_size)
        })
    }

    /// Takes the tokens of an encoding of the package `tiktoken`.
    #[classmethod]
    #[pyo3(signature = (encoding, *, stop_token_ids=None, vocab_size=None))]
    fn from_tiktoken(
        _class: &Bound<'_, PyType>,
        py: Python<'_>,
        encoding: &Bound<'_, PyAny>,
        stop_token_ids: Option<Vec<i64>>,
        vocab_size: Option<usize>,
    ) -> PyResult<Self> {
        let stop_token_ids = match stop_token_ids {
            Some(ids) => token_ids(&ids),
            None => vec![encoding.getattr("eot_token")?.extract()?],
        };
        let mut builder = Vocabulary::builder();
        for name in encoding.getattr("special_tokens_set")?.try_iter()? {
            let name: String = name?.extract()?;
            let id: TokenId = encoding.call_method1("encode_single_token", (&name,))?.extract()?;
            builder = builder.special(id, name).map_err(tokenizer_error)?;
        }
        for bytes in encoding.call_method0("token_byte_values")?.try_iter()? {
            let bytes = bytes?;
            let id: TokenId = encoding.call_method1("encode_single_token", (&bytes,))?.extract()?;
            builder = builder.text(id, bytes.extract::<Vec<u8>>()?).map_err(tokenizer_error)?;
        }
        let size = vocab_size.map_or_else(|| encoding.getattr("n_vocab")?.extract(), Ok)?;
        py.detach(|| build(builder, Some(stop_token_ids), Some(size)))
    }

    /// Takes the bytes of each token by its id.
    #[classmethod]
    #[pyo3(signature = (tokens, *, stop_token_ids, special_token_ids=None, vocab_size=None))]
    fn from_bytes(
        _class: &Bound<'_, PyType>,
        py: Python<'_>,
        tokens: Vec<Option<Vec<u8>>>,
        stop_token_ids: Vec<i64>,
        special_token_ids: Option<Vec<TokenId>>,
        vocab_size: Option<usize>,
    ) -> PyResult<Self> {
        let stop_token_ids = token_ids(&stop_token_ids);
        py.detach(|| {
            let special = special_token_ids.unwrap_or_default();
            let mut builder = Vocabulary::builder();
            let len = tokens.len();
            for (id, bytes) in (0..).zip(tokens) {
                builder = match bytes {
                    None => Ok(builder),
                    Some(name) if special.contains(&id) => {
                        builder.special(id, String::from_utf8_lossy(&name).into_owned())
                    }
                    Some(bytes) => builder.text(id, bytes),
                }
                .map_err(tokenizer_error)?;
            }
            build(builder, Some(stop_token_ids), Some(vocab_size.unwrap_or(len)))
        })
    }

    /// Number of token ids, unused ones included: bits of a mask.
    #[getter]
    fn vocab_size(&self) -> usize {
        self.0.len()
    }

    /// The tokens that end an answer.
    #[getter]
    fn stop_token_ids(&self) -> Vec<TokenId> {
        self.0.eos_tokens().to_vec()
    }

    /// The bytes that a text token stands for; None for special and unused ids.
    fn token_bytes<'py>(&self, py: Python<'py>, token: i64) -> Option<Bound<'py, PyBytes>> {
        let token = token_id(token);
        (self.0.kind(token) == TokenKind::Text).then(|| PyBytes::new(py, self.0.token_bytes(token)))
    }

    /// The bytes that tokens spell. Special and unused tokens are left out.
    fn decode<'py>(&self, py: Python<'py>, tokens: Vec<i64>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.text_bytes(&token_ids(&tokens)))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __repr__(&self) -> String {
        format!("<maskwright.Tokenizer of {} tokens>", self.0.len())
    }
}
