//! The arguments with which a schema is read.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use maskwright::{Draft, ExactOptions, PatternSyntax};

use crate::error::CommandError;

/// Options with which a schema is read.
#[derive(Debug, Args)]
pub struct SchemaArguments {
    /// Draft of schemas that do not name one in `$schema`
    #[arg(long, value_enum, default_value_t = NamedDraft::Draft202012, value_name = "DRAFT")]
    draft: NamedDraft,
    /// The schema that is meant, where it is a part of the file: a JSON Pointer such as `#/$defs/order`
    #[arg(long, default_value = "", hide_default_value = true, value_name = "POINTER")]
    root: String,
    /// Dialect of regular expressions
    #[arg(long, value_enum, default_value_t = Patterns::Common)]
    patterns: Patterns,
    /// A document that the schema refers to, by its URI; may be repeated
    #[arg(long = "document", value_name = "URI=FILE", value_parser = named_file)]
    named_documents: Vec<(String, PathBuf)>,
}

/// A draft of JSON Schema or OpenAPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum NamedDraft {
    /// Draft 4
    #[value(name = "4")]
    Draft4,
    /// Draft 6
    #[value(name = "6")]
    Draft6,
    /// Draft 7
    #[value(name = "7")]
    Draft7,
    /// Draft 2019-09
    #[value(name = "2019-09")]
    Draft201909,
    /// Draft 2020-12
    #[value(name = "2020-12")]
    Draft202012,
    /// Schemas of OpenAPI 3.0: draft 4, and `nullable`
    #[value(name = "openapi-3.0")]
    OpenApi30,
    /// Schemas of OpenAPI 3.1: draft 2020-12
    #[value(name = "openapi-3.1")]
    OpenApi31,
}

/// Dialect of regular expressions in schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Patterns {
    /// ECMA-262, extended by what Go, Python, Rust and PCRE have in common, such as `(?i)`
    Common,
    /// ECMA-262 and nothing else
    Ecma,
    /// Dialect of the Rust crate `regex`
    Rust,
    /// Dialect of Python's module `re`
    Python,
}

impl SchemaArguments {
    /// Returns `options` changed by these arguments, and with the documents that they name.
    ///
    /// # Errors
    ///
    /// [`CommandError::Read`], where a document cannot be read.
    pub fn apply(&self, options: ExactOptions) -> Result<ExactOptions, CommandError> {
        let draft = match self.draft {
            NamedDraft::Draft4 => Draft::Draft4,
            NamedDraft::Draft6 => Draft::Draft6,
            NamedDraft::Draft7 => Draft::Draft7,
            NamedDraft::Draft201909 => Draft::Draft201909,
            NamedDraft::Draft202012 => Draft::Draft202012,
            NamedDraft::OpenApi30 => Draft::OpenApi30,
            NamedDraft::OpenApi31 => Draft::OpenApi31,
        };
        let patterns = match self.patterns {
            Patterns::Common => PatternSyntax::Common,
            Patterns::Ecma => PatternSyntax::Ecma,
            Patterns::Rust => PatternSyntax::Rust,
            Patterns::Python => PatternSyntax::Python,
        };
        let mut options = options.default_draft(draft).root(&self.root).patterns(patterns);
        for (uri, file) in &self.named_documents {
            options = options.document(uri, crate::commands::read_text(file)?);
        }
        Ok(options)
    }
}

fn named_file(text: &str) -> Result<(String, PathBuf), String> {
    match text.rsplit_once('=') {
        Some((uri, file)) if !uri.is_empty() && !file.is_empty() => Ok((uri.to_owned(), file.into())),
        _ => Err("a URI, `=` and a file are expected".to_owned()),
    }
}
