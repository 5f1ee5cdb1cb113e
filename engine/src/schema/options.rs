//! Options of loading a schema.

use std::collections::BTreeMap;

use crate::{Limits, PatternSyntax};

use super::Draft;

/// Options of reading the text of a schema, and the documents that it may refer to.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SchemaOptions {
    /// The draft of a schema without `$schema`. Default 2020-12. Whole documents of OpenAPI 3.0 and 3.1 say themselves
    /// which they are. Documents that the schema refers to have its dialect, unless they name their own.
    pub default_draft: Draft,
    /// The schema of the text that is meant: a JSON Pointer such as `/$defs/order` or `#/components/schemas/Order`, or an anchor.
    /// Default empty: the whole text.
    pub root: String,
    /// Texts of the JSON documents that references may lead to, by absolute URI without fragment. The meta-schemas of
    /// all supported drafts need not be among them. Nothing is ever fetched.
    pub documents: BTreeMap<String, String>,
    /// Whether `dependencies` keeps its meaning in drafts 2019-09 and 2020-12, which replaced it by `dependentRequired`
    /// and `dependentSchemas` and leave it to implementations. Default no, as those drafts' meta-schemas
    /// say: it "is no longer a keyword".
    pub legacy_dependencies: bool,
    /// The dialect of regular expressions. Default ECMA-262, and the syntax that other dialects have in common beyond it.
    pub patterns: PatternSyntax,
    /// Limits on the cost of loading.
    pub limits: Limits,
}
