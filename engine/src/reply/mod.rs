//! [`ReplyCompiler`]: masks of a whole reply to a request for data: the data, in JSON or YAML, and what stands around it.

mod masks;
mod subset;
#[cfg(test)]
mod tests;
mod threads;
mod write;
mod yaml;

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use hashbrown::HashMap;

use crate::mask::ExactOptions;
use crate::mask::cache::bounded::lock;
use crate::mask::compiled_schema::CompiledSchema;
use crate::mask::masker::StateMasker;
use crate::mask::shared_tokens::SharedTokens;
use crate::mask::tuning::Tuning;
use crate::strings::Languages;
use crate::{CompileError, CompileErrorKind, Escapes, Masker, NumberStyle, Style, Vocabulary, Whitespace};
use masks::{ClosingTokens, Reply};

/// How the data of a reply is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DataFormat {
    /// One JSON document, in the style of the options.
    Json,
    /// One YAML document in block style, two spaces a level. Strings stand in double quotes, and names as they are; a list is empty as `[]`. What
    /// PyYAML's `safe_load` makes of it is the value. Of the style of the options,
    /// all counts but whitespace, escapes and numbers.
    ///
    /// Schemas are those of closed objects whose names need no quotes: with `properties` and `additionalProperties: false`, `type` or
    /// `enum` at every place, and no keyword beyond those of types, bounds, lengths, `pattern`, `format` and annotations.
    Yaml,
}

/// What stands around the data of a reply.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Envelope {
    /// What the reply begins with. In YAML, it is empty or ends with a line break.
    pub before: String,
    /// What it ends with.
    pub after: String,
}

impl Envelope {
    /// Nothing but the data.
    pub fn bare() -> Self {
        let (before, after) = (String::new(), String::new());
        Self { before, after }
    }

    /// A fenced code block of Markdown, with the language it names; of none, where that is empty.
    pub fn fenced(language: &str) -> Self {
        Self {
            before: format!("```{language}\n"),
            after: "\n```".to_owned(),
        }
    }
}

/// What a reply looks like.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReplyForm {
    /// How the data is written.
    pub data: DataFormat,
    /// What may stand around it: one of these.
    pub envelopes: Vec<Envelope>,
}

/// Compiles schemas into masks that allow a token if and only if some reply of a form goes on with it, whose data is valid.
pub struct ReplyCompiler {
    vocabulary: Arc<Vocabulary>,
    options: ExactOptions,
    /// The tokens as each format reads them, sorted when it is first asked for.
    json: OnceLock<Arc<SharedTokens>>,
    yaml: OnceLock<Arc<SharedTokens>>,
    /// The tokens that may lead from the data into what comes after it, by that.
    tails: Mutex<HashMap<String, Arc<ClosingTokens>>>,
}

impl fmt::Debug for ReplyCompiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyCompiler")
            .field("vocabulary", &self.vocabulary)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl ReplyCompiler {
    /// A compiler for a vocabulary.
    pub fn new(vocabulary: Arc<Vocabulary>, options: ExactOptions) -> Self {
        Self {
            vocabulary,
            options,
            json: OnceLock::new(),
            yaml: OnceLock::new(),
            tails: Mutex::default(),
        }
    }

    /// Compiles `schema`, the text of a JSON Schema, into a masker at the start of a reply of a form. The first reply in each format
    /// takes a fraction of a second more, in which the tokens are sorted.
    ///
    /// # Errors
    ///
    /// As [`Compiler::compile`](crate::Compiler::compile) of [`ExactCompiler`](crate::ExactCompiler); and
    /// [`CompileErrorKind::Unsupported`] where [`DataFormat::Yaml`] cannot hold what the schema allows.
    pub fn compile(&self, schema: &str, form: &ReplyForm) -> Result<Box<dyn Masker>, CompileError> {
        let mut options = self.options.clone();
        let (schema, kept) = match form.data {
            DataFormat::Json => (Cow::Borrowed(schema), &self.json),
            DataFormat::Yaml => {
                options.style = Style {
                    whitespace: Whitespace::Compact,
                    escapes: Escapes::Printable,
                    numbers: NumberStyle::Plain,
                    strings: options.style.strings,
                    key_order: options.style.key_order,
                    closed: options.style.closed,
                    all_required: options.style.all_required,
                    bounds: options.style.bounds,
                };
                (Cow::Owned(subset::of_yaml(schema)?), &self.yaml)
            }
        };
        if form.envelopes.is_empty() || form.envelopes.len() > MAX_ENVELOPES {
            let message = format!(
                "a reply has one to {MAX_ENVELOPES} envelopes, not {}",
                form.envelopes.len()
            );
            return Err(CompileError::new(CompileErrorKind::Unsupported, message));
        }
        let (automaton, start) = options.automaton(&schema, Languages::within(&options.schema.limits))?;
        let tokens =
            kept.get_or_init(|| Arc::new(SharedTokens::new(&self.vocabulary, options.style, Tuning::default())));
        let shared = CompiledSchema::new(self.vocabulary.clone(), tokens.clone(), automaton);
        let tails = form.envelopes.iter().map(|envelope| self.tails(&envelope.after));
        let reply = Reply::new(shared, form.clone(), tails.collect(), start);
        let start = reply.start();
        Ok(Box::new(StateMasker::new(reply, start)))
    }

    fn tails(&self, after: &str) -> Arc<ClosingTokens> {
        let mut known = lock(&self.tails);
        if let Some(known) = known.get(after) {
            return known.clone();
        }
        let tails = Arc::new(ClosingTokens::new(&self.vocabulary, after));
        if known.len() >= MAX_ENVELOPES {
            known.clear();
        }
        known.insert(after.to_owned(), tails.clone());
        tails
    }
}

/// Envelopes of one form.
const MAX_ENVELOPES: usize = 64;
