//! The work list of reachable subschemas that are to be read, each once for each dynamic scope in which it is reached.

use std::collections::HashMap;

use crate::json::NodeIndex;
use crate::{CompileError, CompileErrorKind};

use super::keywords::NodeId;
use super::references::documents::DocumentId;
use super::references::dynamic_scope::{DynamicScopes, ScopeId};
use super::references::resources::{LocatedSchema, ResourceIndex};
use super::schema_set::{Body, Subschema};

/// The subschemas met on one walk over a schema.
pub(super) struct Worklist<'o> {
    pub index: ResourceIndex<'o>,
    pub scopes: DynamicScopes,
    pub nodes: Vec<Subschema>,
    /// The schema and the dynamic scope of each node, parallel to `nodes`.
    pub keys: Vec<(LocatedSchema, ScopeId)>,
    ids: HashMap<(DocumentId, NodeIndex, ScopeId), NodeId>,
}

impl<'o> Worklist<'o> {
    pub fn new(index: ResourceIndex<'o>) -> Self {
        Self {
            scopes: DynamicScopes::new(index.dynamic_names.clone()),
            index,
            nodes: Vec::new(),
            keys: Vec::new(),
            ids: HashMap::new(),
        }
    }

    /// The node for `schema`, reached from inside `scope`. It is read later.
    ///
    /// # Errors
    ///
    /// Where the limit on subschemas or on dynamic scopes is reached.
    pub fn node(&mut self, schema: LocatedSchema, scope: ScopeId) -> Result<NodeId, CompileError> {
        let LocatedSchema { location, resource } = schema;
        let scope = self.scopes.enter(scope, self.index.resource(resource));
        let key = (location.document, location.index, scope);
        if let Some(&known) = self.ids.get(&key) {
            return Ok(known);
        }
        let limits = &self.index.options.limits;
        let counts = [
            ("subschemas", limits.subschemas, self.nodes.len() >= limits.subschemas),
            (
                "dynamic_bindings",
                limits.dynamic_bindings,
                self.scopes.size() > limits.dynamic_bindings,
            ),
        ];
        if let Some((name, limit, _)) = counts.into_iter().find(|(.., exceeded)| *exceeded) {
            let message =
                format!("the schema is larger than the limit `{name}` of {limit} once references are resolved");
            let kind = CompileErrorKind::LimitExceeded;
            return Err(self.index.documents.error_at(location, kind, message));
        }
        let id = NodeId(self.nodes.len() as u32);
        let body = Body::Anything;
        self.nodes.push(Subschema { location, body });
        self.keys.push((schema, scope));
        self.ids.insert(key, id);
        Ok(id)
    }
}
