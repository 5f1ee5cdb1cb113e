//! The walk from the root over everything reachable.

use std::collections::HashMap;
use std::sync::Arc;

use crate::json::{Content, NodeIndex};
use crate::{CompileError, CompileErrorKind};

use super::documents::{DocumentId, Location, ResourceId};
use super::index::Index;
use super::keywords::{Reader, read_keywords};
use super::scope::{ScopeId, Scopes};
use super::{Body, NodeId, SchemaOptions, SchemaSet, Subschema};

/// Reading a document that a dynamic reference led to can bring in new names for dynamic references, which makes scopes
/// differ that were one: then the walk starts over. More often than this is no schema but an attack.
const MAX_WALKS: usize = 32;

impl SchemaSet {
    /// Loads the schema with the text `text`.
    ///
    /// # Errors
    ///
    /// [`CompileError`]: the text is not JSON or not a schema, something refers to what is not at hand, or a limit was reached.
    pub fn load(text: &str, options: &SchemaOptions) -> Result<Self, CompileError> {
        let mut index = Index::new(options);
        let root = index.add_document(text, None)?;
        let draft = index.resource(root).dialect.draft;
        for _ in 0..MAX_WALKS {
            let mut loader = Loader::new(index);
            let root = loader.walk(root)?;
            if loader.scopes.names() == &loader.index.dynamic_names {
                return Ok(Self {
                    nodes: loader.nodes,
                    root,
                    draft,
                    documents: loader.index.documents,
                    limits: options.limits.clone(),
                });
            }
            index = loader.index;
        }
        let message = "dynamic references lead to ever more documents with new dynamic anchors";
        Err(CompileError::new(CompileErrorKind::LimitExceeded, message))
    }
}

/// One walk.
pub(super) struct Loader<'o> {
    pub index: Index<'o>,
    pub scopes: Scopes,
    nodes: Vec<Subschema>,
    /// What each node is, parallel to `nodes`.
    keys: Vec<(Location, ScopeId)>,
    ids: HashMap<(DocumentId, NodeIndex, ScopeId), NodeId>,
}

impl<'o> Loader<'o> {
    fn new(index: Index<'o>) -> Self {
        Self {
            scopes: Scopes::new(index.dynamic_names.clone()),
            index,
            nodes: Vec::new(),
            keys: Vec::new(),
            ids: HashMap::new(),
        }
    }

    fn walk(&mut self, root: ResourceId) -> Result<NodeId, CompileError> {
        let location = self.index.resource(root).location(root);
        let root = self.node(location, Scopes::OUTSIDE)?;
        let mut next = 0;
        while let Some(&(location, scope)) = self.keys.get(next) {
            self.nodes[next].body = self.read(location, scope)?;
            next += 1;
        }
        Ok(root)
    }

    /// The node for the subschema at `location`, reached from inside `scope`. It is read later.
    pub fn node(&mut self, location: Location, scope: ScopeId) -> Result<NodeId, CompileError> {
        let resource = self.index.resource(location.resource);
        let scope = self.scopes.enter(scope, location.resource, resource);
        let key = (location.document, location.index, scope);
        if let Some(&known) = self.ids.get(&key) {
            return Ok(known);
        }
        let limits = &self.index.options.limits;
        let exceeded = if self.nodes.len() >= limits.subschemas {
            Some(("subschemas", limits.subschemas))
        } else if self.scopes.size() > limits.dynamic_bindings {
            Some(("dynamic_bindings", limits.dynamic_bindings))
        } else {
            None
        };
        if let Some((name, limit)) = exceeded {
            let message =
                format!("the schema is larger than the limit `{name}` of {limit} once references are resolved");
            let kind = CompileErrorKind::LimitExceeded;
            return Err(self.index.documents.error_at(location.place(), kind, message));
        }
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(Subschema {
            place: location.place(),
            body: Body::Anything,
        });
        self.keys.push((location, scope));
        self.ids.insert(key, id);
        Ok(id)
    }

    fn read(&mut self, location: Location, scope: ScopeId) -> Result<Body, CompileError> {
        let json = Arc::clone(self.index.documents.json(location.document));
        match json.content(location.index) {
            Content::Bool(true) => Ok(Body::Anything),
            Content::Bool(false) => Ok(Body::Nothing),
            Content::Object(_) => read_keywords(Reader::new(self, json, location, scope)),
            other => {
                let message = format!(
                    "{} where a schema is expected: an object or a boolean",
                    other.describe()
                );
                let kind = CompileErrorKind::Malformed;
                Err(self.index.documents.error_at(location.place(), kind, message))
            }
        }
    }
}
