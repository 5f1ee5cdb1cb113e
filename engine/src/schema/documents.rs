//! The JSON documents that make up a schema.

use std::sync::Arc;

use crate::json::{Document, NodeIndex, ParseError, ParseErrorKind};
use crate::{CompileError, CompileErrorKind, Limits};

use super::Place;

/// Index of a document in [`Documents`]; 0 is the schema itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct DocumentId(pub u32);

/// The documents read so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Documents {
    loaded: Vec<Loaded>,
}

#[derive(Clone, Debug)]
struct Loaded {
    json: Arc<Document>,
    /// URI under which it was found; `None` for the schema itself.
    uri: Option<Box<str>>,
}

impl Documents {
    /// Parses `text` and keeps it.
    pub fn add(&mut self, text: &str, uri: Option<&str>, limits: &Limits) -> Result<DocumentId, CompileError> {
        if self.loaded.len() >= limits.documents {
            let message = format!(
                "references lead to more documents than the limit `documents` of {}",
                limits.documents
            );
            return Err(CompileError::new(CompileErrorKind::LimitExceeded, message));
        }
        let json = Document::parse(text, limits).map_err(|error| describe_parse_error(error, uri))?;
        self.loaded.push(Loaded {
            json: Arc::new(json),
            uri: uri.map(Into::into),
        });
        Ok(DocumentId(self.loaded.len() as u32 - 1))
    }

    pub fn json(&self, document: DocumentId) -> &Arc<Document> {
        &self.loaded[document.0 as usize].json
    }

    pub fn uri(&self, document: DocumentId) -> Option<&str> {
        self.loaded[document.0 as usize].uri.as_deref()
    }

    /// An error about `place`.
    pub fn error_at(&self, place: Place, kind: CompileErrorKind, message: String) -> CompileError {
        let pointer = self.json(place.document).pointer(place.index);
        in_document(kind, message, pointer, self.uri(place.document))
    }
}

/// An error at `pointer` of the document `uri`. The pointer of a [`CompileError`] points into the schema itself, so for
/// other documents the place becomes part of the message.
fn in_document(kind: CompileErrorKind, message: String, pointer: String, uri: Option<&str>) -> CompileError {
    match uri {
        None => CompileError::new(kind, message).at(pointer),
        Some(uri) => CompileError::new(kind, format!("in the document `{uri}` at `{pointer}`: {message}")),
    }
}

fn describe_parse_error(error: ParseError, uri: Option<&str>) -> CompileError {
    let kind = match error.kind {
        ParseErrorKind::Syntax | ParseErrorKind::DuplicateName => CompileErrorKind::Malformed,
        ParseErrorKind::Limit => CompileErrorKind::LimitExceeded,
    };
    let message = match error.kind {
        ParseErrorKind::Syntax => format!("not JSON: {error}"),
        _ => error.to_string(),
    };
    in_document(kind, message, error.pointer, uri)
}

/// A place and the resource that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Location {
    pub document: DocumentId,
    pub index: NodeIndex,
    pub resource: ResourceId,
}

impl Location {
    pub fn place(self) -> Place {
        Place {
            document: self.document,
            index: self.index,
        }
    }
}

/// Index of a schema resource: a document, or a part of one with an identifier of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ResourceId(pub u32);
