//! [`ExactOptions`]: how schemas are read, and which texts their documents may have.

use std::sync::Arc;

use crate::automaton::{Automaton, Formats, State};
use crate::schema::{Draft, SchemaOptions, SchemaSet};
use crate::strings::Languages;
use crate::{CompileError, CompileErrorKind, Escapes, Limits, PatternSyntax, Style, Vocabulary};

/// Options of reading schemas, and of the documents under them.
///
/// The default is for generation by a model: [`Style::generation`], draft 2020-12 where a schema names none, and `format`
/// as an annotation. [`judging`](Self::judging) admits all of JSON. Each setter returns the changed options.
///
/// ```
/// use maskwright::{ExactOptions, Formats, Style};
///
/// let options = ExactOptions::default().formats(Formats::Asserted);
/// assert_eq!(options.style, Style::generation());
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ExactOptions {
    /// The draft of schemas that do not name one, the documents that references may lead to, and the limits.
    pub schema: SchemaOptions,
    /// Whether the keyword `format` asserts.
    pub formats: Formats,
    /// The style: the texts of a JSON value that may be written.
    pub style: Style,
    /// Texts that no string and no key of a document contains.
    pub(crate) left_out: Vec<&'static str>,
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

    /// Sets which schema of the text is meant: a JSON Pointer such as `/$defs/order` or `#/components/schemas/Order`, or an
    /// anchor.
    #[must_use]
    pub fn root(mut self, pointer: impl Into<String>) -> Self {
        self.schema.root = pointer.into();
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

    /// Sets which regular expressions `pattern` and `patternProperties` may have.
    #[must_use]
    pub fn patterns(mut self, syntax: PatternSyntax) -> Self {
        self.schema.patterns = syntax;
        self
    }

    /// Sets the limits on the cost of a schema, and of the documents under it.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.schema.limits = limits;
        self
    }

    /// The options with which all documents can be written in a vocabulary: where its tokens spell ASCII alone and only characters that must be
    /// escaped are, all other characters beyond ASCII are escaped as well.
    pub(crate) fn for_vocabulary(mut self, vocabulary: &Vocabulary) -> Self {
        if self.style.escapes == Escapes::Needed && vocabulary.is_ascii() {
            self.style.escapes = Escapes::Ascii;
        }
        self
    }

    /// The automaton of a schema, in which strings are of some languages and others, and the state before a document.
    pub(crate) fn automaton(&self, schema: &str, languages: Languages) -> Result<(Automaton, State), CompileError> {
        let set = SchemaSet::load(schema, &self.schema)?;
        let (mut automaton, root) = Automaton::new(languages, set, self.formats, self.style, &self.left_out)?;
        let Some(start) = automaton.start(root)? else {
            // In the automaton's schema, equal subschemas are merged; an explanation tells each by its place.
            let whole = Arc::new(SchemaSet::load(schema, &self.schema)?);
            let conflict = crate::explain::unsatisfiable(&whole, self.formats);
            let message = format!("no JSON value is valid under this schema: {conflict}");
            return Err(whole.error_at_root(CompileErrorKind::Unsatisfiable, message));
        };
        Ok((automaton, start))
    }
}
