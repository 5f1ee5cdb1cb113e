//! Finding resources and anchors: a walk over the places of a document that hold schemas.
//!
//! Only those places are walked: an `$id` inside `enum`, or under a keyword that the draft does not know, identifies
//! nothing. What a reference finds outside of them is walked when it is found.

use std::collections::HashMap;
use std::sync::Arc;

use crate::CompileError;
use crate::json::{Content, Document, NodeIndex};

use super::dialect::Dialect;
use super::documents::{DocumentId, Location, ResourceId};
use super::index::Index;
use super::keyword::{Holds, Keyword};
use super::uri;

/// A schema resource.
#[derive(Debug)]
pub(super) struct Resource {
    pub document: DocumentId,
    pub root: NodeIndex,
    /// Absolute where the document says so or was registered so; without fragment.
    pub uri: Arc<str>,
    pub dialect: Dialect,
    pub anchors: HashMap<Box<str>, Anchor>,
    /// `$recursiveAnchor: true` at its root.
    pub recursive_anchor: bool,
}

/// A plain name within a resource.
#[derive(Clone, Copy, Debug)]
pub(super) struct Anchor {
    pub location: Location,
    /// Given by `$dynamicAnchor`.
    pub dynamic: bool,
    /// Given to two places: a reference to it has no meaning.
    pub ambiguous: bool,
}

impl Resource {
    pub fn location(&self, id: ResourceId) -> Location {
        Location {
            document: self.document,
            index: self.root,
            resource: id,
        }
    }
}

impl Index<'_> {
    /// Walks the schema at `root`, which lies in the resource `parent`; at a document's root there is none.
    pub fn scan(
        &mut self,
        document: DocumentId,
        root: NodeIndex,
        parent: Option<ResourceId>,
    ) -> Result<ResourceId, CompileError> {
        let json = Arc::clone(self.documents.json(document));
        let own = self.enter(document, &json, root, parent)?;
        let mut tasks = vec![(root, own)];
        let mut children = Vec::new();
        while let Some((index, resource)) = tasks.pop() {
            let dialect = self.resources[resource.0 as usize].dialect;
            collect_subschemas(&json, index, dialect, &mut children);
            for child in children.drain(..) {
                // Where a reference led to an unknown keyword's value, its inside may have been walked before.
                if self.resource_of(document, child).is_none() {
                    let resource = self.enter(document, &json, child, Some(resource))?;
                    tasks.push((child, resource));
                }
            }
        }
        Ok(own)
    }

    /// Notes which resource the schema at `index` belongs to, its own perhaps, and the anchors it defines.
    fn enter(
        &mut self,
        document: DocumentId,
        json: &Document,
        index: NodeIndex,
        parent: Option<ResourceId>,
    ) -> Result<ResourceId, CompileError> {
        let inherited = match parent {
            Some(parent) => self.resources[parent.0 as usize].dialect,
            None => self.default_dialect(),
        };
        let is_nameless = parent.is_none() && self.documents.uri(document).is_none();
        let named = self.named_dialect(document, json, index, parent.is_none(), inherited)?;
        let dialect = named.unwrap_or(inherited);
        // Whether a part of a document is a resource is for the dialect around it to say.
        let identifying = if parent.is_none() { dialect } else { inherited };
        let id = identifier(json, index, identifying, is_nameless);
        let (id_uri, id_fragment) = uri::split_fragment(id.unwrap_or_default());
        let resource = match parent {
            Some(parent) if id_uri.is_empty() => parent,
            _ => self.new_resource(document, index, parent, id_uri, dialect)?,
        };
        self.set_resource_of(document, index, resource);
        let location = Location {
            document,
            index,
            resource,
        };
        if dialect.draft.ref_hides_siblings() {
            // A pointer is not a name.
            if !id_fragment.is_empty() && !id_fragment.starts_with('/') {
                self.add_anchor(location, &uri::percent_decode(id_fragment), false);
            }
            return Ok(resource);
        }
        for (name, value) in json.members(index) {
            match Keyword::lookup(name, dialect) {
                Some(Keyword::Anchor) => self.add_named(json, location, value, false),
                Some(Keyword::DynamicAnchor) => self.add_named(json, location, value, true),
                Some(Keyword::RecursiveAnchor) if json.content(value) == Content::Bool(true) => {
                    let resource = &mut self.resources[resource.0 as usize];
                    resource.recursive_anchor |= resource.root == index;
                }
                Some(Keyword::DynamicRef) => {
                    let reference = json.string(value).unwrap_or_default();
                    self.dynamic_names.note(uri::split_fragment(reference).1);
                }
                Some(Keyword::RecursiveRef) => self.dynamic_names.note_recursive(),
                _ => {}
            }
        }
        Ok(resource)
    }

    /// The dialect that the schema at `index` names. A `$schema` counts at the root of a resource only.
    fn named_dialect(
        &mut self,
        document: DocumentId,
        json: &Document,
        index: NodeIndex,
        is_document: bool,
        inherited: Dialect,
    ) -> Result<Option<Dialect>, CompileError> {
        let Some(value) = json.member(index, "$schema") else {
            return Ok(None);
        };
        let id = identifier(json, index, inherited, false).unwrap_or_default();
        let is_resource = is_document || !uri::split_fragment(id).0.is_empty();
        match json.string(value).filter(|_| is_resource) {
            Some(named) => self.dialect_named(document, value, named).map(Some),
            None => Ok(None),
        }
    }

    fn add_named(&mut self, json: &Document, location: Location, value: NodeIndex, dynamic: bool) {
        // Other values than strings are refused when the subschema is read.
        if let Some(name) = json.string(value) {
            self.add_anchor(location, name, dynamic);
        }
    }

    fn add_anchor(&mut self, location: Location, name: &str, dynamic: bool) {
        let anchor = Anchor {
            location,
            dynamic,
            ambiguous: false,
        };
        let anchors = &mut self.resources[location.resource.0 as usize].anchors;
        match anchors.get_mut(name) {
            // One place may carry a name as `$anchor` and as `$dynamicAnchor`.
            Some(known) if known.location == location => known.dynamic |= dynamic,
            Some(known) => known.ambiguous = true,
            None => {
                anchors.insert(name.into(), anchor);
            }
        }
    }
}

/// The value of `$id` (`id` in draft 4) if it identifies. Up to draft 7 a `$ref` beside it hides it; at the root of
/// the schema itself it is taken nevertheless, because the document has no other name.
fn identifier(json: &Document, index: NodeIndex, dialect: Dialect, is_nameless: bool) -> Option<&str> {
    let id = json.string(json.member(index, dialect.draft.id_keyword())?)?;
    let is_hidden = dialect.draft.ref_hides_siblings() && has_ref(json, index) && !is_nameless;
    (!is_hidden).then_some(id)
}

fn has_ref(json: &Document, index: NodeIndex) -> bool {
    json.member(index, "$ref")
        .is_some_and(|target| json.string(target).is_some())
}

/// Collects the places of the subschemas directly inside the schema at `index`.
fn collect_subschemas(json: &Document, index: NodeIndex, dialect: Dialect, found: &mut Vec<NodeIndex>) {
    // A hidden `definitions` still holds what references point to; other siblings of `$ref` are nothing.
    let only_definitions = dialect.draft.ref_hides_siblings() && has_ref(json, index);
    for (name, value) in json.members(index) {
        let Some(keyword) = Keyword::lookup(name, dialect) else {
            continue;
        };
        if only_definitions && keyword != Keyword::Definitions {
            continue;
        }
        match keyword.holds(dialect.draft) {
            Holds::Nothing => {}
            Holds::One => found.push(value),
            Holds::Array => found.extend(json.items(value)),
            Holds::OneOrArray if json.is_object(value) => found.push(value),
            Holds::OneOrArray => found.extend(json.items(value)),
            Holds::Map | Holds::MapOrNames => found.extend(json.members(value).map(|(_, subschema)| subschema)),
        }
    }
}
