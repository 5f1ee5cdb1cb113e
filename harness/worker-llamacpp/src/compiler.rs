//! llama.cpp behind maskwright's traits.

use std::io::Write;
use std::sync::{Arc, LazyLock};

use llama_cpp_2::json_schema_to_grammar;
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::token::data::LlamaTokenData;
use llama_cpp_2::token::data_array::LlamaTokenDataArray;
use maskwright::{
    CompileError, CompileErrorKind, Compiler, MaskError, Masker, TokenId, TokenKind, TokenMask, Vocabulary,
};
use maskwright_worker::TokenHistory;

use crate::gguf::vocabulary_file;

/// Options with which llama.cpp is used, in the words of its documentation.
pub const OPTIONS: &str = "json_schema_to_grammar, grammar sampler (GBNF) applied to all candidates";

/// The rule that a grammar begins with.
const ROOT: &str = "root";

/// Reason for which llama.cpp cannot be made ready.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// llama.cpp does not start.
    #[error("llama.cpp does not start: {0}")]
    Backend(String),
    /// The vocabulary could not be handed over, which takes a file.
    #[error("the vocabulary cannot be written to a temporary file: {0}")]
    File(#[from] std::io::Error),
    /// llama.cpp refuses the vocabulary.
    #[error("llama.cpp refuses the vocabulary: {0}")]
    Vocabulary(#[from] llama_cpp_2::LlamaModelLoadError),
}

/// llama.cpp starts once in a process.
static BACKEND: LazyLock<Result<LlamaBackend, String>> = LazyLock::new(|| {
    let mut backend = LlamaBackend::init().map_err(|error| error.to_string())?;
    // Thousands of lines about each vocabulary. What it says when it aborts is not among them.
    backend.void_logs();
    Ok(backend)
});

/// llama.cpp, made ready for a vocabulary.
pub struct LlamaCppCompiler {
    shared: Arc<Shared>,
}

/// A vocabulary in both forms.
struct Shared {
    /// A model without weights.
    model: LlamaModel,
    /// The tokens that a grammar is asked about: text, and the one end-of-sequence id that llama.cpp knows.
    candidates: Vec<LlamaTokenData>,
    eos: TokenId,
    vocabulary: Arc<Vocabulary>,
}

impl LlamaCppCompiler {
    /// Makes llama.cpp ready for `vocabulary`.
    ///
    /// # Errors
    ///
    /// [`PrepareError`].
    pub fn new(vocabulary: Arc<Vocabulary>) -> Result<Self, PrepareError> {
        let backend = BACKEND.as_ref().map_err(|error| PrepareError::Backend(error.clone()))?;
        let mut file = tempfile::Builder::new().suffix(".gguf").tempfile()?;
        file.write_all(&vocabulary_file(&vocabulary))?;
        file.flush()?;
        let parameters = LlamaModelParams::default().with_vocab_only(true);
        let model = LlamaModel::load_from_file(backend, file.path(), &parameters)?;
        let eos = vocabulary.eos_tokens().first().copied().unwrap_or_default();
        let is_end = |token: TokenId| model.vocab().is_eog(llama_token(token));
        let is_candidate = |&token: &TokenId| {
            let is_text = vocabulary.kind(token) == TokenKind::Text && !is_end(token);
            token == eos || is_text
        };
        let candidates = (0..vocabulary.len() as TokenId)
            .filter(is_candidate)
            .map(candidate)
            .collect();
        let shared = Shared {
            candidates,
            eos,
            vocabulary,
            model,
        };
        Ok(Self {
            shared: Arc::new(shared),
        })
    }
}

fn llama_token(token: TokenId) -> LlamaToken {
    LlamaToken::new(token.cast_signed())
}

/// Returns a token as a candidate of llama.cpp's samplers, with logit 0.
fn candidate(token: TokenId) -> LlamaTokenData {
    LlamaTokenData::new(llama_token(token), 0.0, 0.0)
}

impl Compiler for LlamaCppCompiler {
    fn compile(&self, schema: &str) -> Result<Box<dyn Masker>, CompileError> {
        let grammar = json_schema_to_grammar(schema).map_err(|error| schema_error(schema, &error.to_string()))?;
        let start = LlamaSampler::grammar(&self.shared.model, &grammar, ROOT).map_err(|error| {
            let message = format!("its own grammar of the schema cannot be used: {error}");
            CompileError::new(CompileErrorKind::Refused, message)
        })?;
        Ok(Box::new(LlamaCppMasker {
            sampler: start.clone(),
            start: Arc::new(start),
            history: TokenHistory::default(),
            ended: false,
            mask: TokenMask::none(self.shared.vocabulary.len()),
            mask_is_current: false,
            shared: self.shared.clone(),
        }))
    }
}

/// Returns the compile error of the schema converter, of which the bindings tell a number only.
fn schema_error(schema: &str, message: &str) -> CompileError {
    match serde_json::from_str::<serde_json::Value>(schema) {
        Err(error) => CompileError::new(CompileErrorKind::Malformed, error.to_string()),
        Ok(_) => CompileError::new(CompileErrorKind::Refused, message),
    }
}

/// Masker of a document in progress. Samplers come before the model that they point into, so that they are dropped first.
#[derive(Clone)]
struct LlamaCppMasker {
    sampler: LlamaSampler,
    /// The sampler before the first token, from which states are made again: llama.cpp has no rollback.
    start: Arc<LlamaSampler>,
    history: TokenHistory,
    /// Whether the last token was an end of sequence, which leaves a grammar as it is.
    ended: bool,
    mask: TokenMask,
    mask_is_current: bool,
    shared: Arc<Shared>,
}

impl LlamaCppMasker {
    /// Returns the token that llama.cpp knows among those equivalent to `token`: ends of sequence, or tokens with the same bytes.
    fn known_twin(&self, token: TokenId) -> TokenId {
        let vocabulary = &self.shared.vocabulary;
        if vocabulary.is_eos(token) {
            return self.shared.eos;
        }
        let duplicates = vocabulary.duplicates();
        let found = duplicates.binary_search_by_key(&token, |&(_, second)| second);
        found.map_or(token, |at| duplicates[at].0)
    }

    /// Whether the grammar allows `token`.
    fn allows(&mut self, token: TokenId) -> bool {
        if self.ended {
            return false;
        }
        if self.mask_is_current {
            return self.mask.allows(token);
        }
        let known = llama_token(self.known_twin(token));
        let is_candidate = self
            .shared
            .candidates
            .binary_search_by_key(&known, |candidate| candidate.id());
        let Ok(at) = is_candidate else { return false };
        let mut one = LlamaTokenDataArray::new(vec![self.shared.candidates[at]], false);
        one.apply_sampler(&mut self.sampler);
        is_allowed(&one.data[0])
    }

    /// Makes the state again from the history, all of which was accepted before.
    fn replay(&mut self) -> Result<(), MaskError> {
        self.sampler = LlamaSampler::clone(&self.start);
        self.ended = false;
        let history = std::mem::take(&mut self.history);
        let replayed = history.tokens().iter().try_for_each(|&token| self.accept(token));
        self.history = history;
        replayed
    }

    fn accept(&mut self, token: TokenId) -> Result<(), MaskError> {
        self.ended = self.shared.vocabulary.is_eos(token);
        let known = llama_token(self.known_twin(token));
        self.sampler.try_accept(known).map_err(|error| {
            let message = format!("llama.cpp allows token {token} and fails to accept it: {error}");
            MaskError::Internal(message)
        })
    }

    fn fill(&mut self) {
        self.mask.clear();
        if self.ended {
            return;
        }
        let mut candidates = LlamaTokenDataArray::new(self.shared.candidates.clone(), false);
        candidates.apply_sampler(&mut self.sampler);
        for candidate in candidates.data.iter().filter(|candidate| is_allowed(candidate)) {
            self.mask.allow(candidate.id().0.cast_unsigned());
        }
        let vocabulary = &self.shared.vocabulary;
        for &(first, second) in vocabulary.duplicates() {
            if self.mask.allows(first) {
                self.mask.allow(second);
            }
        }
        if self.mask.allows(self.shared.eos) {
            for &eos in vocabulary.eos_tokens() {
                self.mask.allow(eos);
            }
        }
    }
}

fn is_allowed(candidate: &LlamaTokenData) -> bool {
    candidate.logit() > f32::NEG_INFINITY
}

impl Masker for LlamaCppMasker {
    fn mask(&mut self) -> Result<&TokenMask, MaskError> {
        if !self.mask_is_current {
            self.fill();
            self.mask_is_current = true;
        }
        Ok(&self.mask)
    }

    fn advance(&mut self, token: TokenId) -> Result<(), MaskError> {
        if !self.allows(token) {
            return Err(self.history.refusal(token));
        }
        if let Err(error) = self.accept(token) {
            self.replay()?;
            return Err(error);
        }
        self.history.push(token);
        self.mask_is_current = false;
        Ok(())
    }

    fn is_complete(&mut self) -> Result<bool, MaskError> {
        Ok(self.ended || self.allows(self.shared.eos))
    }

    fn position(&self) -> usize {
        self.history.position()
    }

    /// Appends nothing, because llama.cpp does not look for text that must come.
    fn forced_tokens(&mut self, _tokens: &mut Vec<TokenId>) -> Result<(), MaskError> {
        Ok(())
    }

    fn fork(&self) -> Result<Box<dyn Masker>, MaskError> {
        Ok(Box::new(self.clone()))
    }

    fn rollback(&mut self, tokens: usize) -> Result<(), MaskError> {
        if self.history.take_back(tokens)? {
            self.mask_is_current = false;
            self.replay()?;
        }
        Ok(())
    }
}
