//! Targets of references: documents, the schema resources in them, and the subschemas within resources.

pub(super) mod documents;
pub(super) mod dynamic_scope;
mod meta_schema;
mod resolve;
pub(super) mod resources;
mod scan;
pub(super) mod uri;

pub(super) use resolve::ReferenceError;
pub(crate) use scan::begins_resource;
pub(crate) use uri::percent_decode as decoded_fragment;
pub(crate) use uri::{resolve as resolved_uri, split_fragment};
