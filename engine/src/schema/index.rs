//! Everything that references can name: documents, the resources in them, and the places inside those.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::json::{Content, NodeIndex};
use crate::{CompileError, CompileErrorKind};

use super::dialect::Dialect;
use super::documents::{DocumentId, Documents, Location, ResourceId};
use super::scan::{Anchor, Resource};
use super::scope::DynamicNames;
use super::{SchemaOptions, meta, uri};

/// What was found so far. Documents are read when something refers to them.
pub(super) struct Index<'o> {
    pub options: &'o SchemaOptions,
    pub documents: Documents,
    pub resources: Vec<Resource>,
    /// Names that dynamic references in the documents read so far use.
    pub dynamic_names: DynamicNames,
    by_uri: HashMap<Arc<str>, Entry>,
    /// For each document, the resource of each place that holds a schema.
    resource_of: Vec<Box<[u32]>>,
    /// By the URI of the meta-schema.
    pub dialects: HashMap<String, Dialect>,
    /// Whether every document of the registry was read.
    read_all: bool,
    /// Bytes of the URIs resolved so far.
    uri_bytes: usize,
}

/// What a URI names.
#[derive(Clone, Copy)]
struct Entry {
    resource: ResourceId,
    /// By an identifier in the document, rather than by where the document was found.
    by_identifier: bool,
    /// Two resources of one document have it as identifier.
    ambiguous: bool,
}

const NO_RESOURCE: u32 = u32::MAX;

impl<'o> Index<'o> {
    pub fn new(options: &'o SchemaOptions) -> Self {
        Self {
            options,
            documents: Documents::default(),
            resources: Vec::new(),
            dynamic_names: DynamicNames::default(),
            by_uri: HashMap::new(),
            resource_of: Vec::new(),
            dialects: HashMap::new(),
            read_all: false,
            uri_bytes: 0,
        }
    }

    /// Reads a document and finds its resources.
    pub fn add_document(&mut self, text: &str, uri: Option<&str>) -> Result<ResourceId, CompileError> {
        let document = self.documents.add(text, uri, &self.options.limits)?;
        let values = self.documents.json(document).len();
        self.resource_of.push(vec![NO_RESOURCE; values].into());
        let resource = self.scan(document, 0, None)?;
        if let Some(uri) = uri {
            self.by_uri.entry(uri.into()).or_insert(Entry {
                resource,
                by_identifier: false,
                ambiguous: false,
            });
        }
        Ok(resource)
    }

    pub fn resource(&self, id: ResourceId) -> &Resource {
        &self.resources[id.0 as usize]
    }

    pub fn resource_of(&self, document: DocumentId, index: NodeIndex) -> Option<ResourceId> {
        let resource = self.resource_of[document.0 as usize][index as usize];
        (resource != NO_RESOURCE).then_some(ResourceId(resource))
    }

    pub fn set_resource_of(&mut self, document: DocumentId, index: NodeIndex, resource: ResourceId) {
        self.resource_of[document.0 as usize][index as usize] = resource.0;
    }

    /// The location of a place where a schema was found to stand.
    pub fn location(&self, document: DocumentId, index: NodeIndex, otherwise: ResourceId) -> Location {
        Location {
            document,
            index,
            resource: self.resource_of(document, index).unwrap_or(otherwise),
        }
    }

    pub fn default_dialect(&self) -> Dialect {
        self.with_options(Dialect::of_draft(self.options.default_draft))
    }

    pub fn with_options(&self, dialect: Dialect) -> Dialect {
        Dialect {
            legacy_dependencies: self.options.legacy_dependencies,
            ..dialect
        }
    }

    /// Starts a resource whose identifier, resolved against its parent's URI or the document's, is `id`.
    pub fn new_resource(
        &mut self,
        document: DocumentId,
        root: NodeIndex,
        parent: Option<ResourceId>,
        id: &str,
        dialect: Dialect,
    ) -> Result<ResourceId, CompileError> {
        let base = match parent {
            Some(parent) => &*self.resource(parent).uri,
            None => self.documents.uri(document).unwrap_or_default(),
        };
        let uri: Arc<str> = uri::resolve(base, id).into();
        self.count_uri(&uri)?;
        let resource = ResourceId(self.resources.len() as u32);
        if !id.is_empty() || parent.is_none() {
            self.name_resource(&uri, resource, document, !id.is_empty());
        }
        self.resources.push(Resource {
            document,
            root,
            uri,
            dialect,
            anchors: HashMap::new(),
            recursive_anchor: false,
        });
        Ok(resource)
    }

    fn count_uri(&mut self, uri: &str) -> Result<(), CompileError> {
        self.uri_bytes += uri.len();
        let limit = self.options.limits.uri_bytes;
        if self.uri_bytes > limit {
            let message = format!("the URIs in the schema add up to more than the limit `uri_bytes` of {limit}");
            return Err(CompileError::new(CompileErrorKind::LimitExceeded, message));
        }
        Ok(())
    }

    fn name_resource(&mut self, uri: &Arc<str>, resource: ResourceId, document: DocumentId, by_identifier: bool) {
        let entry = Entry {
            resource,
            by_identifier,
            ambiguous: false,
        };
        let Some(known) = self.by_uri.get(uri).copied() else {
            self.by_uri.insert(Arc::clone(uri), entry);
            return;
        };
        let same_document = self.resource(known.resource).document == document;
        let merged = if by_identifier && !known.by_identifier {
            entry
        } else {
            // Between documents the one read first keeps the name: the schema itself before the registry.
            let ambiguous = known.ambiguous || (same_document && by_identifier);
            Entry { ambiguous, ..known }
        };
        self.by_uri.insert(Arc::clone(uri), merged);
    }

    /// The location that `reference` names from inside the resource `from`, and the anchor if it names one.
    pub fn resolve(&mut self, from: ResourceId, reference: &str) -> Result<(Location, Option<Anchor>), ReferenceError> {
        let (target_uri, fragment) = uri::split_fragment(reference);
        let resource = if target_uri.is_empty() {
            from
        } else {
            let uri = uri::resolve(&self.resource(from).uri, target_uri);
            self.count_uri(&uri)?;
            if *uri == *self.resource(from).uri {
                from
            } else {
                self.resource_named(&uri)?
            }
        };
        if fragment.is_empty() {
            return Ok((self.resource(resource).location(resource), None));
        }
        let fragment = uri::percent_decode(fragment);
        if fragment.starts_with('/') {
            return Ok((self.follow_pointer(resource, &fragment)?, None));
        }
        match self.resource(resource).anchors.get(&*fragment) {
            Some(anchor) if anchor.ambiguous => Err(ReferenceError::Malformed(format!(
                "two places have the anchor `{fragment}`: rename one"
            ))),
            Some(anchor) => Ok((anchor.location, Some(*anchor))),
            None => Err(ReferenceError::Malformed(format!(
                "no place has the anchor `{fragment}`; a JSON Pointer begins with `#/`"
            ))),
        }
    }

    fn resource_named(&mut self, uri: &str) -> Result<ResourceId, ReferenceError> {
        if let Some(found) = self.known_resource(uri)? {
            return Ok(found);
        }
        if let Some(text) = self.registered(uri) {
            return Ok(self.add_document(text, Some(uri))?);
        }
        if let Some(text) = meta::text(uri) {
            return Ok(self.add_document(text, Some(uri))?);
        }
        // The identifier of a resource inside a document that nothing has named yet.
        if !std::mem::replace(&mut self.read_all, true) {
            let options = self.options;
            for (uri, text) in &options.documents {
                let uri = uri.strip_suffix('#').unwrap_or(uri);
                if self.by_uri.contains_key(uri) {
                    continue;
                }
                match self.add_document(text, Some(uri)) {
                    Err(error) if error.kind() == CompileErrorKind::LimitExceeded => return Err(error.into()),
                    // Nothing names this document: its defects are no reason to refuse the schema.
                    Ok(_) | Err(_) => {}
                }
            }
            if let Some(found) = self.known_resource(uri)? {
                return Ok(found);
            }
        }
        Err(ReferenceError::NotRegistered(format!(
            "the document `{uri}` is not at hand, and nothing is fetched: register its text under that URI"
        )))
    }

    /// The text that the caller registered under `uri`, with or without the empty fragment that meta-schemas of older
    /// drafts end with.
    pub fn registered(&self, uri: &str) -> Option<&'o str> {
        let documents = &self.options.documents;
        let text = documents.get(uri).or_else(|| documents.get(&*format!("{uri}#")));
        text.map(String::as_str)
    }

    fn known_resource(&self, uri: &str) -> Result<Option<ResourceId>, ReferenceError> {
        match self.by_uri.get(uri) {
            None => Ok(None),
            Some(Entry { ambiguous: true, .. }) => Err(ReferenceError::Malformed(format!(
                "two schemas have the identifier `{uri}`: change one"
            ))),
            Some(entry) => Ok(Some(entry.resource)),
        }
    }

    /// The place that a JSON Pointer, percent-decoded, leads to from the root of `resource`.
    fn follow_pointer(&mut self, resource: ResourceId, pointer: &str) -> Result<Location, ReferenceError> {
        let Resource { document, root, .. } = *self.resource(resource);
        let json = Arc::clone(self.documents.json(document));
        let (mut index, mut inside) = (root, resource);
        for token in pointer.split('/').skip(1) {
            let name = if token.contains('~') {
                Cow::Owned(token.replace("~1", "/").replace("~0", "~"))
            } else {
                Cow::Borrowed(token)
            };
            let next = match json.content(index) {
                Content::Object(_) => json.member(index, &name),
                Content::Array(_) => array_position(&name).and_then(|position| json.item(index, position)),
                _ => None,
            };
            index = next.ok_or_else(|| {
                let from = json.pointer(index);
                ReferenceError::Malformed(format!("`{pointer}` leads nowhere: there is no `{name}` in `{from}`"))
            })?;
            inside = self.resource_of(document, index).unwrap_or(inside);
        }
        if !matches!(json.content(index), Content::Object(_) | Content::Bool(_)) {
            let kind = json.content(index).describe();
            return Err(ReferenceError::Malformed(format!(
                "`{pointer}` leads to {kind}, not to a schema"
            )));
        }
        if self.resource_of(document, index).is_none() {
            inside = self.scan(document, index, Some(inside))?;
        }
        Ok(Location {
            document,
            index,
            resource: inside,
        })
    }
}

/// An array index as a JSON Pointer spells it: digits without leading zeros.
fn array_position(token: &str) -> Option<usize> {
    let canonical = token == "0" || !token.starts_with('0');
    let digits = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
    (canonical && digits).then(|| token.parse().ok()).flatten()
}

/// Why a reference cannot be resolved.
pub(super) enum ReferenceError {
    /// It names nothing in documents that are at hand.
    Malformed(String),
    /// It names a document that is not at hand.
    NotRegistered(String),
    /// It names a document that cannot be read.
    Document(CompileError),
}

impl From<CompileError> for ReferenceError {
    fn from(error: CompileError) -> Self {
        Self::Document(error)
    }
}
