//! Loads a schema: the traversal from the root over all reachable subschemas.

use std::sync::Arc;

use crate::json::Content;
use crate::{CompileError, CompileErrorKind};

use super::SchemaOptions;
use super::keywords::NodeId;
use super::read::{KeywordReader, not_a_schema};
use super::references::dynamic_scope::{DynamicScopes, ScopeId};
use super::references::resources::{LocatedSchema, ResourceIndex};
use super::schema_set::{Body, SchemaSet};
use super::worklist::Worklist;

/// Reading a document that a dynamic reference led to can bring in new names for dynamic references, which makes scopes
/// differ that were one: then the walk starts over. More often than this is no schema but an attack.
const MAX_WALKS: usize = 32;

impl SchemaSet {
    /// Loads the schema with the text `text`.
    ///
    /// # Errors
    ///
    /// [`CompileError`]: the text is not JSON or not a schema, a reference leads to a document or schema that is not at hand, or
    /// a limit was reached.
    pub fn load(text: &str, options: &SchemaOptions) -> Result<Self, CompileError> {
        let mut index = ResourceIndex::new(options);
        let document = index.add_document(text, None)?;
        let root = index.root(document, &options.root)?;
        let dialect = index.resource(root.resource).dialect;
        for _ in 0..MAX_WALKS {
            let mut work = Worklist::new(index);
            let root = walk(&mut work, root)?;
            if work.scopes.names() == &work.index.dynamic_names {
                return Ok(Self {
                    nodes: work.nodes,
                    root,
                    dialect,
                    documents: work.index.documents,
                    patterns: options.patterns,
                    limits: options.limits.clone(),
                });
            }
            index = work.index;
        }
        let message = "dynamic references lead to ever more documents with new dynamic anchors";
        Err(CompileError::new(CompileErrorKind::LimitExceeded, message))
    }
}

fn walk(work: &mut Worklist<'_>, root: LocatedSchema) -> Result<NodeId, CompileError> {
    let root = work.node(root, DynamicScopes::OUTSIDE)?;
    let mut next = 0;
    while let Some(&(schema, scope)) = work.keys.get(next) {
        work.nodes[next].body = read(work, schema, scope)?;
        next += 1;
    }
    Ok(root)
}

fn read(work: &mut Worklist<'_>, schema: LocatedSchema, scope: ScopeId) -> Result<Body, CompileError> {
    let json = Arc::clone(work.index.documents.json(schema.location.document));
    match json.content(schema.location.index) {
        Content::Bool(true) => Ok(Body::Anything),
        Content::Bool(false) => Ok(Body::Nothing),
        Content::Object(_) => KeywordReader::new(work, json, schema, scope).read_all(),
        other => {
            let documents = &work.index.documents;
            Err(documents.error_at(schema.location, CompileErrorKind::Malformed, not_a_schema(other)))
        }
    }
}
