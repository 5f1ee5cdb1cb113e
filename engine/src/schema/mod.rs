//! Loading: from the text of a schema to subschemas of one dialect-free form, with every reference resolved.
//!
//! ```text
//! text ─ json ─► Document ─ references/scan ─► resources, anchors ─ load ─► SchemaSet of Keywords
//!                    ▲                                                │ read/: the meaning of each keyword
//!                    └── references/documents ◄── references/resolve ◄┘
//! ```
//!
//! [`load`] starts at the root and reads all reachable subschemas, one at a time. [`read`] translates the keywords of
//! each draft to [`Keywords`], the form of draft 2020-12. [`dialect`] tells which draft has which
//! keywords. [`references`] finds the target of a reference: in the schema, in the documents that the caller registered, or
//! among the published meta-schemas, and never in a file or on the network. Every step is a loop over explicit stacks.
//!
//! Defects in parts that no reference reaches go unnoticed: they cannot change which values are valid.

mod dialect;
mod keywords;
mod load;
mod merge;
mod meta_schemas;
mod options;
mod read;
mod references;
mod schema_set;
#[cfg(test)]
pub(crate) mod tests;
mod worklist;

/// Keywords that describe a schema and leave open which values are valid.
pub(crate) const ANNOTATIONS: [&str; 8] = [
    "$comment",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
];

pub use dialect::Draft;
pub(crate) use dialect::{Dialect, Holds, Keyword, OpenApi};
pub(crate) use keywords::{Bound, Keywords, NodeId, TypeSet};
pub use options::SchemaOptions;
pub(crate) use references::documents::SchemaLocation;
pub(crate) use references::{begins_resource, decoded_fragment, resolved_uri, split_fragment};
pub(crate) use schema_set::{Body, SchemaSet, Subschema};
