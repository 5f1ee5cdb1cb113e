//! [`ExactCompiler`]: compiles a schema into a masker, with the options that schemas are read by.

use std::fmt;
use std::sync::Arc;

use super::compiled_schema::CompiledSchema;
use super::masker::StateMasker;
use super::shared_tokens::SharedTokens;
use super::tuning::Tuning;
use super::warm_up::warm_up_vocabulary;
use crate::automaton::{Automaton, Formats, State};
use crate::schema::{Draft, SchemaOptions, SchemaSet};
use crate::strings::Languages;
use crate::{CompileError, CompileErrorKind, Compiler, Limits, Masker, Style, Vocabulary};

/// How schemas are read, and how the documents under them may look.
///
/// The default is what a model should write: [`Style::generation`], draft 2020-12 where a schema does not say, and `format`
/// as an annotation. [`judging`](Self::judging) admits all of JSON. Each setter returns the changed options.
///
/// ```
/// use maskwright::{ExactOptions, Formats, Style};
///
/// let options = ExactOptions::default().formats(Formats::Asserted);
/// assert_eq!(options.style, Style::generation());
/// ```
#[derive(Clone, Debug, Default)]
pub struct ExactOptions {
    /// The draft of schemas that do not name one, the documents that references may lead to, and the limits.
    pub schema: SchemaOptions,
    /// Whether the keyword `format` asserts.
    pub formats: Formats,
    /// Which of the texts of a JSON value may be written.
    pub style: Style,
}

impl ExactOptions {
    /// The options for judging documents: every text of JSON is admitted ([`Style::rfc8259`]), all else is as by default.
    pub fn judging() -> Self {
        Self::default().style(Style::rfc8259())
    }

    /// Sets which of the texts of a JSON value may be written.
    #[must_use]
    pub fn style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// Sets whether the keyword `format` asserts.
    #[must_use]
    pub fn formats(mut self, formats: Formats) -> Self {
        self.formats = formats;
        self
    }

    /// Sets the draft of schemas without `$schema`.
    #[must_use]
    pub fn default_draft(mut self, draft: Draft) -> Self {
        self.schema.default_draft = draft;
        self
    }

    /// Adds the text of a JSON document that references may lead to, by its absolute URI without fragment.
    #[must_use]
    pub fn document(mut self, uri: impl Into<String>, text: impl Into<String>) -> Self {
        self.schema.documents.insert(uri.into(), text.into());
        self
    }

    /// Sets whether `dependencies` keeps its meaning in drafts 2019-09 and 2020-12.
    #[must_use]
    pub fn legacy_dependencies(mut self, keep: bool) -> Self {
        self.schema.legacy_dependencies = keep;
        self
    }

    /// Sets what a schema, and the documents under it, may cost.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.schema.limits = limits;
        self
    }

    /// The automaton of a schema, in which strings are of some languages and others, and the place before a document.
    pub(crate) fn automaton(&self, schema: &str, languages: Languages) -> Result<(Automaton, State), CompileError> {
        let set = SchemaSet::load(schema, &self.schema)?;
        let (mut automaton, root) = Automaton::new(languages, set, self.formats, self.style)?;
        let Some(start) = automaton.start(root)? else {
            let conflict = crate::explain::unsatisfiable(automaton.schema(), self.formats);
            let message = format!("no JSON value is valid under this schema: {conflict}");
            return Err(CompileError::new(CompileErrorKind::Unsatisfiable, message).at(""));
        };
        Ok((automaton, start))
    }
}

/// Compiles schemas into masks that allow a token if and only if some valid document goes on with it.
///
/// Documents are JSON in a [`Style`], without a name that comes twice in an object. What the compiler cannot treat exactly it refuses, with the place and the keyword.
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
    /// A compiler for a vocabulary. Sorts its tokens, and looks at values of any kind and, where formats are asserted, at
    /// texts of these, which takes a fraction of a second.
    pub fn new(vocabulary: Arc<Vocabulary>, options: ExactOptions) -> Self {
        Self::tuned(vocabulary, options, Tuning::default())
    }

    /// A compiler that takes one way or another from other sizes on.
    pub(crate) fn tuned(vocabulary: Arc<Vocabulary>, options: ExactOptions, tuning: Tuning) -> Self {
        let tokens = Arc::new(SharedTokens::new(&vocabulary, options.style, tuning));
        let languages = warm_up_vocabulary(&vocabulary, &tokens, &options);
        Self {
            tokens,
            languages: languages.share(),
            vocabulary,
            options,
        }
    }
}

impl Compiler for ExactCompiler {
    fn compile(&self, schema: &str) -> Result<Box<dyn Masker>, CompileError> {
        let languages = self.languages.over(&self.options.schema.limits);
        let (automaton, start) = self.options.automaton(schema, languages)?;
        let shared = CompiledSchema::new(self.vocabulary.clone(), self.tokens.clone(), automaton);
        shared.builder().warm_up(start, &shared);
        Ok(Box::new(StateMasker::new(shared, start)))
    }
}
