//! The schema resources found so far, the names they have, and the anchors inside them.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::{CompileError, CompileErrorKind};

use super::documents::{DocumentId, Documents, SchemaLocation};
use super::uri;
use crate::schema::SchemaOptions;
use crate::schema::dialect::Dialect;

/// Index of a schema resource: a document, or a part of one with an identifier of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::schema) struct ResourceId(pub u32);

/// A subschema and the resource that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::schema) struct LocatedSchema {
    pub location: SchemaLocation,
    pub resource: ResourceId,
}

/// A schema resource.
#[derive(Debug)]
pub(in crate::schema) struct Resource {
    /// The resource's own schema.
    pub root: LocatedSchema,
    /// Absolute where the document says so or was registered so; without fragment.
    pub uri: Arc<str>,
    pub dialect: Dialect,
    pub anchors: HashMap<Box<str>, Anchor>,
    /// Whether `$recursiveAnchor: true` stands at the root of the resource.
    pub recursive_anchor: bool,
}

/// A plain name within a resource.
#[derive(Clone, Copy, Debug)]
pub(in crate::schema) struct Anchor {
    pub schema: LocatedSchema,
    /// Given by `$dynamicAnchor`.
    pub dynamic: bool,
    /// Given to two subschemas: a reference to it has no meaning.
    pub ambiguous: bool,
}

/// The name that a dynamic reference asks for: one given by `$dynamicAnchor`, or `None` for `$recursiveAnchor`.
pub(in crate::schema) type DynamicName = Option<Box<str>>;

/// Every resource found so far. Documents are read when something refers to them.
pub(in crate::schema) struct ResourceIndex<'o> {
    pub options: &'o SchemaOptions,
    pub documents: Documents,
    pub resources: Vec<Resource>,
    /// The names that dynamic references in the documents read so far use.
    pub dynamic_names: BTreeSet<DynamicName>,
    pub(super) by_uri: HashMap<Arc<str>, NamedResource>,
    /// For each document, the resource of each value that is a schema.
    pub(super) resource_of: Vec<Vec<Option<ResourceId>>>,
    /// Dialects that registered meta-schemas describe, by their URI.
    pub(super) dialects: HashMap<String, Dialect>,
    /// Whether every document of the registry was read.
    pub(super) read_all: bool,
    /// Bytes of the URIs resolved so far.
    uri_bytes: usize,
}

/// The resource that a URI names.
#[derive(Clone, Copy)]
pub(super) struct NamedResource {
    pub resource: ResourceId,
    /// The name is an identifier in the document, rather than where the document was found.
    pub by_identifier: bool,
    /// Two resources of one document have the URI as identifier.
    pub ambiguous: bool,
}

impl<'o> ResourceIndex<'o> {
    pub fn new(options: &'o SchemaOptions) -> Self {
        Self {
            options,
            documents: Documents::default(),
            resources: Vec::new(),
            dynamic_names: BTreeSet::new(),
            by_uri: HashMap::new(),
            resource_of: Vec::new(),
            dialects: HashMap::new(),
            read_all: false,
            uri_bytes: 0,
        }
    }

    pub fn resource(&self, id: ResourceId) -> &Resource {
        &self.resources[id.0 as usize]
    }

    /// The resource that the schema at `location` belongs to, if it was found to be a schema.
    pub fn resource_of(&self, location: SchemaLocation) -> Option<ResourceId> {
        self.resource_of[location.document.0 as usize][location.index as usize]
    }

    pub(super) fn set_resource_of(&mut self, location: SchemaLocation, resource: ResourceId) {
        let of_document = &mut self.resource_of[location.document.0 as usize];
        of_document[location.index as usize] = Some(resource);
    }

    /// Parses a document whose schemas are yet to be found.
    pub(super) fn parse_document(&mut self, text: &str, uri: Option<&str>) -> Result<DocumentId, CompileError> {
        let document = self.documents.add(text, uri, &self.options.limits)?;
        let values = self.documents.json(document).len();
        self.resource_of.push(vec![None; values]);
        Ok(document)
    }

    /// `dialect` as the options have it.
    pub(super) fn with_options(&self, dialect: Dialect) -> Dialect {
        Dialect {
            legacy_dependencies: self.options.legacy_dependencies,
            ..dialect
        }
    }

    /// Starts a resource whose identifier, resolved against its parent's URI or the document's, is `id`.
    pub(super) fn new_resource(
        &mut self,
        root: SchemaLocation,
        parent: Option<ResourceId>,
        id: &str,
        dialect: Dialect,
    ) -> Result<ResourceId, CompileError> {
        let base = match parent {
            Some(parent) => &*self.resource(parent).uri,
            None => self.documents.uri(root.document).unwrap_or_default(),
        };
        let uri: Arc<str> = uri::resolve(base, id).into();
        self.count_uri(&uri)?;
        let resource = ResourceId(self.resources.len() as u32);
        if !id.is_empty() || parent.is_none() {
            self.name_resource(&uri, resource, root.document, !id.is_empty());
        }
        self.resources.push(Resource {
            root: LocatedSchema {
                location: root,
                resource,
            },
            uri,
            dialect,
            anchors: HashMap::new(),
            recursive_anchor: false,
        });
        Ok(resource)
    }

    /// Counts a URI towards the limit on all of them.
    pub(super) fn count_uri(&mut self, uri: &str) -> Result<(), CompileError> {
        self.uri_bytes += uri.len();
        let limit = self.options.limits.uri_bytes;
        if self.uri_bytes > limit {
            let message = format!("the URIs in the schema add up to more than the limit `uri_bytes` of {limit}");
            return Err(CompileError::new(CompileErrorKind::LimitExceeded, message));
        }
        Ok(())
    }

    fn name_resource(&mut self, uri: &Arc<str>, resource: ResourceId, document: DocumentId, by_identifier: bool) {
        let new = NamedResource {
            resource,
            by_identifier,
            ambiguous: false,
        };
        let named = match self.by_uri.get(uri).copied() {
            None => new,
            Some(known) => match self.resource(known.resource).root.location.document == document {
                // Between documents the one read first keeps the name: the schema itself before the registry.
                false => known,
                true if known.by_identifier || !by_identifier => {
                    let ambiguous = known.ambiguous || by_identifier;
                    NamedResource { ambiguous, ..known }
                }
                true => new,
            },
        };
        self.by_uri.insert(Arc::clone(uri), named);
    }
}
