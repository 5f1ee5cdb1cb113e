//! [`ExactCompiler`]: compiles a schema into a masker.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::compiled_schema::CompiledSchema;
use super::masker::StateMasker;
use super::options::ExactOptions;
use super::shared_tokens::SharedTokens;
use super::tuning::Tuning;
use super::warm_up::warm_up_vocabulary;
use crate::automaton::WrittenState;
use crate::strings::Languages;
use crate::{CompileError, Compiler, Masker, Vocabulary};

/// Expressions of one schema's strings that there is room for from the beginning: few schemas have more characters in their names and
/// constants.
pub(crate) const EXPRESSIONS: usize = 448;

/// Compiles schemas into masks that allow a token if and only if some valid document goes on with it.
///
/// Documents are JSON in a [`Style`](crate::Style), without a name that comes twice in an object. The compiler refuses schemas
/// that it cannot treat exactly, with the place and the keyword.
pub struct ExactCompiler {
    vocabulary: Arc<Vocabulary>,
    tokens: Arc<SharedTokens>,
    /// The languages that have come up before all schemas, which these share.
    languages: Languages,
    options: ExactOptions,
}

impl fmt::Debug for ExactCompiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExactCompiler")
            .field("vocabulary", &self.vocabulary)
            .field("options", &self.options)
            .finish()
    }
}

impl ExactCompiler {
    /// Creates a compiler for a vocabulary. Where its tokens spell ASCII alone and the style escapes only characters that must be, all other
    /// characters are escaped too ([`Escapes::Ascii`](crate::Escapes::Ascii)), so that documents that have them can be written. Indexes
    /// the tokens and computes masks of unconstrained values and, where formats are asserted, of their texts, which takes a fraction of
    /// a second.
    pub fn new(vocabulary: Arc<Vocabulary>, options: ExactOptions) -> Self {
        Self::tuned(vocabulary, options, Tuning::default())
    }

    /// A compiler with other thresholds between algorithms.
    pub(crate) fn tuned(vocabulary: Arc<Vocabulary>, options: ExactOptions, tuning: Tuning) -> Self {
        let options = options.for_vocabulary(&vocabulary);
        let tokens = Arc::new(SharedTokens::new(&vocabulary, options.style, tuning));
        let languages = warm_up_vocabulary(&vocabulary, &tokens, &options);
        Self {
            tokens,
            languages: languages.share(),
            vocabulary,
            options,
        }
    }

    /// Bytes that the caches shared by all schemas take, roughly: what tokens allow in common strings, values and object members. They
    /// grow with each kind that is new, up to 30 MiB, and belong to no schema's [`Masker::memory_bytes`].
    pub fn cache_bytes(&self) -> usize {
        self.tokens.cache_bytes()
    }

    fn compile_under(&self, options: &ExactOptions, schema: &str) -> Result<Box<dyn Masker>, CompileError> {
        let languages = self.languages.over(&options.schema.limits, EXPRESSIONS);
        let (automaton, start) = options.automaton(schema, languages)?;
        let shared = CompiledSchema::new(self.vocabulary.clone(), self.tokens.clone(), automaton);
        shared.builder().warm_up(start, &shared)?;
        let start = WrittenState::start(start, &options.style.bounds, self.tokens.index.longest);
        Ok(Box::new(StateMasker::new(shared, start)))
    }
}

impl Compiler for ExactCompiler {
    fn compile(&self, schema: &str) -> Result<Box<dyn Masker>, CompileError> {
        self.compile_under(&self.options, schema)
    }

    fn compile_with_documents(
        &self,
        schema: &str,
        documents: &BTreeMap<String, String>,
    ) -> Result<Box<dyn Masker>, CompileError> {
        if documents.is_empty() {
            return self.compile(schema);
        }
        let mut options = self.options.clone();
        let further = documents.iter().map(|(uri, text)| (uri.clone(), text.clone()));
        options.schema.documents.extend(further);
        self.compile_under(&options, schema)
    }
}
