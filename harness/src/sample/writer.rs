//! [`DocumentWriter`]: writes documents of one schema.

use std::collections::BTreeMap;

use maskwright::{Compiler as _, ExactCompiler, ExactOptions, Masker, Whitespace};
use serde_json::Value;

use super::draft::Draft;
use super::guide::Guide;
use super::settings::{SampleError, SampleSettings};
use super::tokens::Tokens;

/// Writes documents of one schema.
pub struct DocumentWriter {
    schema: Value,
    /// JSON pointer or reference of the root within the schema.
    root: String,
    tokens: Tokens,
    start: Box<dyn Masker>,
    settings: SampleSettings,
    /// Whether the style fixes the whitespace of each place.
    has_layout: bool,
}

impl DocumentWriter {
    /// A writer for a schema, with the documents that it refers to.
    ///
    /// # Errors
    ///
    /// [`SampleError`], where the schema is refused.
    pub fn new(
        schema: &str,
        documents: &BTreeMap<String, String>,
        options: ExactOptions,
        settings: SampleSettings,
    ) -> Result<Self, SampleError> {
        // Where the text is no JSON the compiler says so.
        let parsed: Value = serde_json::from_str(schema).unwrap_or(Value::Null);
        let tokens = Tokens::new(&parsed)?;
        let root = options.schema.root.clone();
        let has_layout = matches!(options.style.whitespace, Whitespace::Fixed(_));
        let compiler = ExactCompiler::new(tokens.vocabulary.clone(), options);
        Ok(Self {
            schema: parsed,
            root,
            start: compiler.compile_with_documents(schema, documents)?,
            tokens,
            settings,
            has_layout,
        })
    }

    /// A document, which depends on the seed only.
    ///
    /// # Errors
    ///
    /// [`SampleError`], where none can be ended within the limits.
    pub fn write(&self, seed: u64) -> Result<String, SampleError> {
        let masker = self.start.fork()?;
        let guide = Guide::root(&self.schema, &self.root);
        Draft::new(
            (&self.schema, guide),
            &self.tokens,
            masker,
            &self.settings,
            (seed, self.has_layout),
        )
        .write()
    }
}
