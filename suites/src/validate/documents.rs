//! [`Documents`]: the schemas that a schema may refer to.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

use jsonschema::{Retrieve, Uri};
use serde_json::Value;

use super::{MAX_DEPTH, literal_brackets, objects};
use crate::strict_json;

/// Base URI that the `jsonschema` crate gives a schema without an identifier.
const NAMELESS: &str = "json-schema:///";

/// Documents by the URI that references name. Those that are no JSON are left out: a reference to one leads nowhere.
#[derive(Clone, Debug, Default)]
pub(super) struct Documents {
    by_uri: Arc<BTreeMap<String, Value>>,
}

impl Documents {
    pub(super) fn read(texts: &BTreeMap<String, String>) -> Self {
        let read = texts.iter().filter_map(|(uri, text)| {
            let value = strict_json::parse(text, MAX_DEPTH).ok()?.value;
            let uri = uri.trim_end_matches('#').to_owned();
            Some((uri, literal_brackets::escaped(&value).unwrap_or(value)))
        });
        Self {
            by_uri: Arc::new(read.collect()),
        }
    }

    /// Number of objects in all documents.
    pub(super) fn objects(&self) -> usize {
        self.by_uri.values().map(objects).sum()
    }
}

impl Retrieve for Documents {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        let uri = uri.as_str();
        let found = self
            .by_uri
            .get(uri)
            .or_else(|| self.by_uri.get(uri.strip_prefix(NAMELESS)?));
        found.cloned().ok_or_else(|| not_at_hand(uri).into())
    }
}

/// The message about a document that a schema refers to and that was not handed over.
pub(super) fn not_at_hand(uri: &str) -> String {
    let uri = uri.strip_prefix(NAMELESS).unwrap_or(uri);
    format!("the document `{uri}` is not at hand, and nothing is fetched")
}
