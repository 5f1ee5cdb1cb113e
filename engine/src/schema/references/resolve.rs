//! Resolution of references: documents are read as they are referred to, JSON Pointers and anchors followed.

use std::sync::Arc;

use crate::json::{Content, unescaped_token};
use crate::{CompileError, CompileErrorKind};

use super::documents::{DocumentId, SchemaLocation};
use super::resources::{Anchor, LocatedSchema, NamedResource, ResourceId, ResourceIndex};
use super::uri;
use crate::schema::meta_schemas;

/// The reason for which a reference cannot be resolved.
pub(in crate::schema) enum ReferenceError {
    /// The reference names nothing in a document that is at hand.
    Malformed(String),
    /// The reference names a document that is not at hand.
    NotRegistered(String),
    /// The reference names a document that cannot be read.
    Document(CompileError),
}

impl From<CompileError> for ReferenceError {
    fn from(error: CompileError) -> Self {
        Self::Document(error)
    }
}

impl ResourceIndex<'_> {
    /// Reads a document and finds its resources.
    pub fn add_document(&mut self, text: &str, uri: Option<&str>) -> Result<ResourceId, CompileError> {
        let document = self.parse_document(text, uri)?;
        let resource = self.scan(SchemaLocation { document, index: 0 }, None)?;
        if let Some(uri) = uri {
            self.by_uri.entry(uri.into()).or_insert(NamedResource {
                resource,
                by_identifier: false,
                ambiguous: false,
            });
        }
        Ok(resource)
    }

    /// Returns the root schema: that of the whole document, or the subschema that `pointer` names in it by a JSON Pointer or
    /// an anchor, with or without `#` before it; percent signs encode characters only behind `#`.
    pub fn root(&mut self, document: ResourceId, pointer: &str) -> Result<LocatedSchema, CompileError> {
        let fragment = pointer.strip_prefix('#').map(str::to_owned);
        let fragment = fragment.unwrap_or_else(|| pointer.replace('%', "%25"));
        let reference = format!("#{fragment}");
        let (kind, reason) = match self.resolve(document, &reference) {
            Ok((found, _)) => return Ok(found),
            Err(ReferenceError::Document(error)) => return Err(error),
            Err(ReferenceError::Malformed(reason)) => (CompileErrorKind::Malformed, reason),
            Err(ReferenceError::NotRegistered(reason)) => (CompileErrorKind::Unsupported, reason),
        };
        Err(CompileError::new(
            kind,
            format!("the root `{reference}` cannot be found: {reason}"),
        ))
    }

    /// The schema that `reference` names from inside the resource `from`, and the anchor if it names one.
    pub fn resolve(
        &mut self,
        from: ResourceId,
        reference: &str,
    ) -> Result<(LocatedSchema, Option<Anchor>), ReferenceError> {
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
            return Ok((self.resource(resource).root, None));
        }
        let fragment = uri::percent_decode(fragment);
        if fragment.starts_with('/') {
            return Ok((self.follow_pointer(resource, &fragment)?, None));
        }
        match self.resource(resource).anchors.get(&*fragment) {
            Some(anchor) if anchor.ambiguous => Err(ReferenceError::Malformed(format!(
                "two places have the anchor `{fragment}`: rename one"
            ))),
            Some(anchor) => Ok((anchor.schema, Some(*anchor))),
            None => Err(ReferenceError::Malformed(format!(
                "no place has the anchor `{fragment}`; a JSON Pointer begins with `#/`"
            ))),
        }
    }

    fn resource_named(&mut self, uri: &str) -> Result<ResourceId, ReferenceError> {
        if let Some(found) = self.known_resource(uri)? {
            return Ok(found);
        }
        if let Some(text) = self.registered(uri).or_else(|| meta_schemas::text(uri)) {
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
                let document = DocumentId(self.resource_of.len() as u32);
                match self.add_document(text, Some(uri)) {
                    Ok(_) => {}
                    Err(error) if error.kind() == CompileErrorKind::LimitExceeded => return Err(error.into()),
                    // Nothing names this document: its defects are no reason to refuse the schema, and what was read of it is not known.
                    Err(_) => {
                        let resources = &self.resources;
                        let is_of = |named: &NamedResource| {
                            resources[named.resource.0 as usize].root.location.document == document
                        };
                        self.by_uri.retain(|_, named| !is_of(named));
                    }
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

    fn known_resource(&self, uri: &str) -> Result<Option<ResourceId>, ReferenceError> {
        match self.by_uri.get(uri) {
            None => Ok(None),
            Some(NamedResource { ambiguous: true, .. }) => Err(ReferenceError::Malformed(format!(
                "two schemas have the identifier `{uri}`: change one"
            ))),
            Some(named) => Ok(Some(named.resource)),
        }
    }

    /// The schema that a JSON Pointer, percent-decoded, leads to from the root of `resource`.
    fn follow_pointer(&mut self, resource: ResourceId, pointer: &str) -> Result<LocatedSchema, ReferenceError> {
        let mut at = self.resource(resource).root;
        let json = Arc::clone(self.documents.json(at.location.document));
        for token in pointer.split('/').skip(1) {
            let name = unescaped_token(token);
            let index = at.location.index;
            let next = match json.content(index) {
                Content::Object(_) => json.member(index, &name),
                Content::Array(_) => array_position(&name).and_then(|position| json.item(index, position)),
                _ => None,
            };
            at.location.index = next.ok_or_else(|| {
                let from = match json.pointer(index) {
                    root if root.is_empty() => "at the root".to_owned(),
                    inside => format!("in `{inside}`"),
                };
                let mut near = json.members(index).map(|(near, _)| near);
                let near = near.find(|near| bare_name(near) == bare_name(&name));
                let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                ReferenceError::Malformed(format!("`{pointer}` leads nowhere: there is no `{name}` {from}{hint}"))
            })?;
            at.resource = self.resource_of(at.location).unwrap_or(at.resource);
        }
        let content = json.content(at.location.index);
        if !matches!(content, Content::Object(_) | Content::Bool(_)) {
            let kind = content.describe();
            let message = format!("`{pointer}` leads to {kind}, not to a schema");
            return Err(ReferenceError::Malformed(message));
        }
        if self.resource_of(at.location).is_none() {
            at.resource = self.scan(at.location, Some(at.resource))?;
        }
        Ok(at)
    }
}

/// Returns a name without the parts that are often got wrong: case, signs and a plural. All names for definitions become one.
fn bare_name(name: &str) -> String {
    let bare: String = name.chars().filter(|character| character.is_alphanumeric()).collect();
    let bare = bare.to_lowercase();
    let bare = bare.strip_suffix('s').unwrap_or(&bare);
    match bare {
        "definition" => "def".to_owned(),
        bare => bare.to_owned(),
    }
}

/// An array index as a JSON Pointer spells it: digits without leading zeros.
fn array_position(token: &str) -> Option<usize> {
    let canonical = token == "0" || !token.starts_with('0');
    let digits = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
    (canonical && digits).then(|| token.parse().ok()).flatten()
}
