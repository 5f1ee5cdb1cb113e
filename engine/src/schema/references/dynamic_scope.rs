//! Dynamic scopes, as far as they matter: for each name that a dynamic reference uses, the outermost resource on the way
//! to a subschema that defines it.
//!
//! Two ways to a subschema whose scopes agree see the same subschema. Without dynamic references there is one scope.

use std::collections::{BTreeSet, HashMap};

use super::resources::{DynamicName, LocatedSchema, Resource, ResourceId};

/// Index of a dynamic scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::schema) struct ScopeId(u32);

/// For each name that a dynamic reference uses, the schema that it leads to in a scope.
type Bindings = Vec<(DynamicName, LocatedSchema)>;

/// All dynamic scopes met.
pub(in crate::schema) struct DynamicScopes {
    /// The names that dynamic references use.
    names: BTreeSet<DynamicName>,
    /// Each sorted by name.
    scopes: Vec<Bindings>,
    ids: HashMap<Bindings, ScopeId>,
    entered: HashMap<(ScopeId, ResourceId), ScopeId>,
    /// Bindings in all scopes together.
    size: usize,
}

impl DynamicScopes {
    /// The scope outside of all resources.
    pub const OUTSIDE: ScopeId = ScopeId(0);

    pub fn new(names: BTreeSet<DynamicName>) -> Self {
        Self {
            names,
            scopes: vec![Vec::new()],
            ids: HashMap::from([(Vec::new(), Self::OUTSIDE)]),
            entered: HashMap::new(),
            size: 0,
        }
    }

    pub fn names(&self) -> &BTreeSet<DynamicName> {
        &self.names
    }

    /// Number of bindings in all scopes together.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The scope inside `resource`, entered from `scope`: names that are bound stay so.
    pub fn enter(&mut self, scope: ScopeId, resource: &Resource) -> ScopeId {
        let id = resource.root.resource;
        if self.names.is_empty() {
            return scope;
        }
        if let Some(&inside) = self.entered.get(&(scope, id)) {
            return inside;
        }
        let outer = &self.scopes[scope.0 as usize];
        let is_new = |name: &DynamicName| {
            self.names.contains(name) && outer.binary_search_by(|(bound, _)| bound.cmp(name)).is_err()
        };
        let mut bindings: Bindings = definitions(resource).filter(|(name, _)| is_new(name)).collect();
        if bindings.is_empty() {
            self.entered.insert((scope, id), scope);
            return scope;
        }
        bindings.extend_from_slice(outer);
        bindings.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        let inside = match self.ids.get(&bindings) {
            Some(&known) => known,
            None => {
                let new = ScopeId(self.scopes.len() as u32);
                self.size += bindings.len();
                self.scopes.push(bindings.clone());
                self.ids.insert(bindings, new);
                new
            }
        };
        self.entered.insert((scope, id), inside);
        inside
    }

    /// Returns the schema that `name` leads to in `scope`.
    pub fn lookup(&self, scope: ScopeId, name: Option<&str>) -> Option<LocatedSchema> {
        let bindings = &self.scopes[scope.0 as usize];
        let found = bindings
            .binary_search_by(|(bound, _)| bound.as_deref().cmp(&name))
            .ok()?;
        Some(bindings[found].1)
    }
}

/// The names that `resource` defines for dynamic references.
fn definitions(resource: &Resource) -> impl Iterator<Item = (DynamicName, LocatedSchema)> + '_ {
    let recursive = resource.recursive_anchor.then_some((None, resource.root));
    let anchors = resource.anchors.iter().filter(|(_, anchor)| anchor.dynamic);
    recursive
        .into_iter()
        .chain(anchors.map(|(name, anchor)| (Some(name.clone()), anchor.schema)))
}
