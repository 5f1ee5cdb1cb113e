//! Finding resources and anchors: a walk over the values of a document that are schemas.
//!
//! Only these are walked: an `$id` inside `enum`, or under a keyword that the draft does not know, identifies nothing. A schema
//! that a reference finds elsewhere is walked when it is found.

use std::sync::Arc;

use crate::CompileError;
use crate::json::{Content, Document, NodeIndex};

use super::documents::SchemaLocation;
use super::resources::{Anchor, LocatedSchema, ResourceId, ResourceIndex};
use super::uri;
use crate::schema::dialect::{Dialect, Draft, Holds, Keyword};

impl ResourceIndex<'_> {
    /// Walks the schema at `root`, which lies in the resource `parent`; at a document's root there is none.
    pub(super) fn scan(
        &mut self,
        root: SchemaLocation,
        parent: Option<ResourceId>,
    ) -> Result<ResourceId, CompileError> {
        let json = Arc::clone(self.documents.json(root.document));
        let own = self.enter(&json, root, parent)?;
        let mut tasks = vec![(root.index, own)];
        let mut children = Vec::new();
        while let Some((index, resource)) = tasks.pop() {
            collect_subschemas(&json, index, self.resource(resource).dialect, &mut children);
            for index in children.drain(..) {
                let child = SchemaLocation { index, ..root };
                // The inside of an unknown keyword's value may have been walked before, if a reference led there.
                if self.resource_of(child).is_none() {
                    tasks.push((index, self.enter(&json, child, Some(resource))?));
                }
            }
        }
        Ok(own)
    }

    /// Notes which resource the schema at `location` belongs to, its own perhaps, and the anchors it defines.
    fn enter(
        &mut self,
        json: &Document,
        location: SchemaLocation,
        parent: Option<ResourceId>,
    ) -> Result<ResourceId, CompileError> {
        let inherited = match parent {
            Some(parent) => self.resource(parent).dialect,
            None => {
                let own = Draft::of_document(json);
                match (Draft::dialect_of_document(json), self.resources.first()) {
                    (Some((index, named)), _) => {
                        self.dialect_named(SchemaLocation { index, ..location }, named, "jsonSchemaDialect")?
                    }
                    // A document that the schema refers to is mostly written in the same dialect: parts of an OpenAPI description do not say it again.
                    (None, Some(schema)) if own.is_none() => schema.dialect,
                    (None, _) => self.with_options(Dialect::of_draft(own.unwrap_or(self.options.default_draft))),
                }
            }
        };
        let is_nameless = parent.is_none() && self.documents.uri(location.document).is_none();
        // A `$schema` counts at the root of a resource only.
        let is_root = |_: &NodeIndex| parent.is_none() || begins_resource(json, location.index, inherited);
        let named = json.member(location.index, "$schema").filter(is_root);
        let dialect = match named.and_then(|index| Some((index, json.string(index)?))) {
            Some((index, named)) => self.dialect_named(SchemaLocation { index, ..location }, named, "$schema")?,
            None => inherited,
        };
        // Whether a part of a document is a resource is for the dialect around it to say.
        let identifying = if parent.is_none() { dialect } else { inherited };
        let id = identifier(json, location.index, identifying, is_nameless);
        let (id_uri, id_fragment) = uri::split_fragment(id.unwrap_or_default());
        let resource = match parent {
            Some(parent) if id_uri.is_empty() => parent,
            _ => self.new_resource(location, parent, id_uri, dialect)?,
        };
        self.set_resource_of(location, resource);
        let schema = LocatedSchema { location, resource };
        if dialect.draft.ref_hides_siblings() {
            if uri::is_plain_name(id_fragment) {
                self.add_anchor(schema, &uri::percent_decode(id_fragment), false);
            }
            return Ok(resource);
        }
        for (name, value) in json.members(location.index) {
            // Other values than strings are refused when the subschema is read.
            let text = json.string(value);
            match (Keyword::lookup(name, dialect), text) {
                (Some(Keyword::Anchor), Some(name)) => self.add_anchor(schema, name, false),
                (Some(Keyword::DynamicAnchor), Some(name)) => self.add_anchor(schema, name, true),
                (Some(Keyword::RecursiveAnchor), _) if json.content(value) == Content::Bool(true) => {
                    let resource = &mut self.resources[resource.0 as usize];
                    resource.recursive_anchor |= resource.root.location == location;
                }
                (Some(Keyword::DynamicRef), Some(reference)) => {
                    let fragment = uri::split_fragment(reference).1;
                    if uri::is_plain_name(fragment) {
                        self.dynamic_names.insert(Some(uri::percent_decode(fragment).into()));
                    }
                }
                (Some(Keyword::RecursiveRef), _) => {
                    self.dynamic_names.insert(None);
                }
                _ => {}
            }
        }
        Ok(resource)
    }

    fn add_anchor(&mut self, schema: LocatedSchema, name: &str, dynamic: bool) {
        let anchors = &mut self.resources[schema.resource.0 as usize].anchors;
        match anchors.get_mut(name) {
            // One schema may carry a name as `$anchor` and as `$dynamicAnchor`.
            Some(known) if known.schema == schema => known.dynamic |= dynamic,
            Some(known) => known.ambiguous = true,
            None => {
                let anchor = Anchor {
                    schema,
                    dynamic,
                    ambiguous: false,
                };
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

/// Whether a subschema is the root of a resource of its own, by the rules of the dialect around it.
pub(crate) fn begins_resource(json: &Document, index: NodeIndex, inherited: Dialect) -> bool {
    let id = identifier(json, index, inherited, false).unwrap_or_default();
    !uri::split_fragment(id).0.is_empty()
}

fn has_ref(json: &Document, index: NodeIndex) -> bool {
    json.member(index, "$ref")
        .is_some_and(|target| json.string(target).is_some())
}

/// Collects the subschemas directly inside the schema at `index`.
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
            Holds::OneOrArray if json.is_object(value) => found.push(value),
            Holds::Array | Holds::OneOrArray => found.extend(json.items(value)),
            Holds::Map => found.extend(json.members(value).map(|(_, subschema)| subschema)),
        }
    }
}
