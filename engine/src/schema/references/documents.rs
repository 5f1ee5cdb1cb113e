//! The JSON documents that make up a schema: its own, registered ones and published meta-schemas.

use std::sync::Arc;

use crate::json::{Document, NodeIndex, ParseError, ParseErrorKind};
use crate::{CompileError, CompileErrorKind, Limits};

/// Index of a document in [`Documents`]; 0 is the schema itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::schema) struct DocumentId(pub u32);

/// A JSON value in one of the documents that make up a schema. `SchemaSet::pointer` and `SchemaSet::uri` name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SchemaLocation {
    pub(in crate::schema) document: DocumentId,
    pub(in crate::schema) index: NodeIndex,
}

/// The documents read so far.
#[derive(Clone, Debug, Default)]
pub(in crate::schema) struct Documents {
    /// The parsed documents, each with the URI under which it was found; `None` for the schema itself.
    loaded: Vec<(Arc<Document>, Option<Box<str>>)>,
}

impl Documents {
    /// Parses `text` and keeps it.
    pub fn add(&mut self, text: &str, uri: Option<&str>, limits: &Limits) -> Result<DocumentId, CompileError> {
        let limit = limits.documents;
        if self.loaded.len() >= limit {
            let message = format!("references lead to more documents than the limit `documents` of {limit}");
            return Err(CompileError::new(CompileErrorKind::LimitExceeded, message));
        }
        let json = Document::parse(text, limits).map_err(|error| describe_parse_error(error, uri))?;
        self.loaded.push((Arc::new(json), uri.map(Into::into)));
        Ok(DocumentId(self.loaded.len() as u32 - 1))
    }

    /// Bytes of memory that the documents take.
    pub fn memory(&self) -> usize {
        self.loaded.iter().map(|(json, _)| json.memory()).sum()
    }

    pub fn json(&self, document: DocumentId) -> &Arc<Document> {
        &self.loaded[document.0 as usize].0
    }

    /// The URI under which a document was found; `None` for the schema itself.
    pub fn uri(&self, document: DocumentId) -> Option<&str> {
        self.loaded[document.0 as usize].1.as_deref()
    }

    /// JSON Pointer of `location` in its document.
    pub fn pointer(&self, location: SchemaLocation) -> String {
        self.json(location.document).pointer(location.index)
    }

    /// An error about `location`.
    pub fn error_at(&self, location: SchemaLocation, kind: CompileErrorKind, message: String) -> CompileError {
        in_document(kind, message, self.pointer(location), self.uri(location.document))
    }
}

/// An error at `pointer` of the document `uri`. The pointer of a [`CompileError`] points into the schema itself, so for
/// other documents the location becomes part of the message.
fn in_document(kind: CompileErrorKind, message: String, pointer: String, uri: Option<&str>) -> CompileError {
    match uri {
        None => CompileError::new(kind, message).at(pointer),
        Some(uri) => CompileError::new(kind, format!("in the document `{uri}` at `{pointer}`: {message}")),
    }
}

fn describe_parse_error(error: ParseError, uri: Option<&str>) -> CompileError {
    let message = match error.kind {
        ParseErrorKind::Syntax => format!("not JSON: {error}"),
        _ => error.to_string(),
    };
    in_document(error.kind.into(), message, error.pointer, uri)
}
