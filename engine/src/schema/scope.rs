//! Dynamic scopes, as far as they matter: for each name that a dynamic reference uses, the outermost resource on the way
//! here that defines it.
//!
//! Two ways to a subschema that agree on these see the same subschema. Without dynamic references there is one scope.

use std::collections::{BTreeSet, HashMap};

use super::documents::{Location, ResourceId};
use super::scan::Resource;

/// What dynamic references ask for: a name given by `$dynamicAnchor`, or `None` for `$recursiveAnchor`.
pub(super) type DynamicName = Option<Box<str>>;

/// The names that dynamic references use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DynamicNames(BTreeSet<DynamicName>);

impl DynamicNames {
    /// Notes the fragment of a `$dynamicRef`; only a plain name makes it dynamic.
    pub fn note(&mut self, fragment: &str) {
        if !fragment.is_empty() && !fragment.starts_with('/') {
            self.0.insert(Some(super::uri::percent_decode(fragment).into()));
        }
    }

    pub fn note_recursive(&mut self) {
        self.0.insert(None);
    }
}

/// Index of a dynamic scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ScopeId(u32);

type Bindings = Vec<(DynamicName, Location)>;

/// All dynamic scopes met.
pub(super) struct Scopes {
    names: DynamicNames,
    /// Each sorted by name.
    scopes: Vec<Bindings>,
    ids: HashMap<Bindings, ScopeId>,
    entered: HashMap<(ScopeId, ResourceId), ScopeId>,
    /// Bindings in all scopes together.
    size: usize,
}

impl Scopes {
    /// The scope outside of all resources.
    pub const OUTSIDE: ScopeId = ScopeId(0);

    pub fn new(names: DynamicNames) -> Self {
        Self {
            names,
            scopes: vec![Vec::new()],
            ids: HashMap::from([(Vec::new(), Self::OUTSIDE)]),
            entered: HashMap::new(),
            size: 0,
        }
    }

    pub fn names(&self) -> &DynamicNames {
        &self.names
    }

    pub fn size(&self) -> usize {
        self.size
    }

    /// The scope inside `resource`, entered from `scope`: names that are bound stay so.
    pub fn enter(&mut self, scope: ScopeId, id: ResourceId, resource: &Resource) -> ScopeId {
        if self.names.0.is_empty() {
            return scope;
        }
        if let Some(&inside) = self.entered.get(&(scope, id)) {
            return inside;
        }
        let outer = &self.scopes[scope.0 as usize];
        let is_new = |name: &DynamicName| {
            self.names.0.contains(name) && outer.binary_search_by(|(bound, _)| bound.cmp(name)).is_err()
        };
        let mut bindings: Bindings = definitions(resource, id).filter(|(name, _)| is_new(name)).collect();
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

    /// Where `name` leads in `scope`.
    pub fn lookup(&self, scope: ScopeId, name: Option<&str>) -> Option<Location> {
        let bindings = &self.scopes[scope.0 as usize];
        let found = bindings
            .binary_search_by(|(bound, _)| bound.as_deref().cmp(&name))
            .ok()?;
        Some(bindings[found].1)
    }
}

/// The names that `resource` defines for dynamic references.
fn definitions(resource: &Resource, id: ResourceId) -> impl Iterator<Item = (DynamicName, Location)> + '_ {
    let recursive = resource.recursive_anchor.then(|| (None, resource.location(id)));
    let anchors = resource.anchors.iter().filter(|(_, anchor)| anchor.dynamic);
    recursive
        .into_iter()
        .chain(anchors.map(|(name, anchor)| (Some(name.clone()), anchor.location)))
}
