//! [`Resources`]: the schema resources of a text: parts with a URI of their own.

use std::collections::HashMap;

use crate::json::{Document, NodeIndex};
use crate::schema::{Dialect, begins_resource, resolved_uri, split_fragment};

/// Bytes of a URI reference and of the URI to which it is relative; longer ones lead nowhere here, so that the work stays linear.
const MAX_BYTES: usize = 4096;

/// Bytes of all URIs; further resources have none here. A long base repeats in each URI relative to it.
const MAX_TOTAL_BYTES: usize = 16 << 20;

/// The resources of a text, by URI and by the schema that has it.
#[derive(Default)]
pub(super) struct Resources {
    by_uri: HashMap<String, NodeIndex>,
    uris: HashMap<NodeIndex, String>,
    /// Bytes of all these URIs.
    bytes: usize,
}

impl Resources {
    /// Notes the resource that a schema begins, within another one; the whole text has the URI that its `$id` says. Returns the
    /// resource that the schema is in.
    pub fn enter(&mut self, json: &Document, schema: NodeIndex, within: NodeIndex, dialect: Dialect) -> NodeIndex {
        let is_text = schema == 0;
        if !is_text && !begins_resource(json, schema, dialect) {
            return within;
        }
        let name = dialect.draft.id_keyword();
        let id = json
            .member(schema, name)
            .and_then(|id| json.string(id))
            .unwrap_or_default();
        let base = if is_text { None } else { self.uris.get(&within) };
        let uri = resolved(base.map_or("", String::as_str), split_fragment(id).0);
        // A second walk comes by the same resources.
        let is_new = |uri: &String| !self.uris.contains_key(&schema) && self.bytes + uri.len() <= MAX_TOTAL_BYTES;
        if let Some(uri) = uri.filter(is_new) {
            self.bytes += uri.len();
            self.by_uri.entry(uri.clone()).or_insert(schema);
            self.uris.insert(schema, uri);
        }
        schema
    }

    /// Whether a resource has a URI.
    pub fn are_named(&self) -> bool {
        self.by_uri.keys().any(|uri| !uri.is_empty())
    }

    /// The resource that a reference in another one leads to or into, and its fragment.
    pub fn target<'r>(&self, reference: &'r str, within: NodeIndex) -> Option<(NodeIndex, &'r str)> {
        let (uri, fragment) = split_fragment(reference);
        if uri.is_empty() {
            return Some((within, fragment));
        }
        let base = self.uris.get(&within).map_or("", String::as_str);
        let resource = self.by_uri.get(&resolved(base, uri)?)?;
        Some((*resource, fragment))
    }
}

fn resolved(base: &str, uri: &str) -> Option<String> {
    (base.len() + uri.len() <= MAX_BYTES).then(|| resolved_uri(base, uri))
}
