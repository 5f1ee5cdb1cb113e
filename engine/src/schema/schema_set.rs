//! The loaded schema: all subschemas that can be reached, with references resolved to their ids.

use crate::json::{Content, Document, NodeIndex};
use crate::{CompileError, CompileErrorKind, Limits, PatternSyntax};

use super::dialect::{Dialect, Draft};
use super::keywords::{Keywords, NodeId};
use super::references::documents::{Documents, SchemaLocation};

/// A schema with everything it refers to.
#[derive(Clone, Debug)]
pub(crate) struct SchemaSet {
    pub(super) nodes: Vec<Subschema>,
    pub(super) root: NodeId,
    /// The dialect by which the root is read.
    pub(super) dialect: Dialect,
    /// The documents that locations point into.
    pub(super) documents: Documents,
    pub(super) patterns: PatternSyntax,
    pub(super) limits: Limits,
}

/// A subschema: an object or a boolean where a schema is expected.
///
/// One location may make several subschemas, where it holds dynamic references that lead elsewhere depending on how it
/// was reached.
#[derive(Clone, Debug)]
pub(crate) struct Subschema {
    pub location: SchemaLocation,
    pub body: Body,
}

/// The content of a subschema.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Body {
    /// Every value is valid.
    Anything,
    /// No value is valid.
    Nothing,
    Keywords(Box<Keywords>),
}

impl SchemaSet {
    /// The limits on the cost of the schema.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The dialect of regular expressions in the schema.
    pub fn patterns(&self) -> PatternSyntax {
        self.patterns
    }

    /// Changes the limits on the cost of the schema.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Bytes of memory that the schema takes.
    pub fn memory(&self) -> usize {
        let nodes = self.nodes.iter().map(|node| match &node.body {
            Body::Keywords(keywords) => keywords.memory(),
            Body::Anything | Body::Nothing => 0,
        });
        self.documents.memory() + self.nodes.capacity() * size_of::<Subschema>() + nodes.sum::<usize>()
    }

    pub fn root(&self) -> NodeId {
        self.root
    }

    /// The draft by which the root is read.
    pub fn draft(&self) -> Draft {
        self.dialect.name()
    }

    /// The dialect by which the root is read.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn node(&self, id: NodeId) -> &Subschema {
        &self.nodes[id.0 as usize]
    }

    /// All subschemas with their ids.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Subschema)> {
        (0..).map(NodeId).zip(&self.nodes)
    }

    /// Adds a subschema.
    pub fn push(&mut self, subschema: Subschema) -> NodeId {
        self.nodes.push(subschema);
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// Makes a subschema say something else.
    pub fn set_body(&mut self, id: NodeId, body: Body) {
        self.nodes[id.0 as usize].body = body;
    }

    /// The member `name` of the object at `location`, as it was written.
    pub fn member(&self, location: SchemaLocation, name: &str) -> Option<Content<'_>> {
        let json = self.documents.json(location.document);
        json.member(location.index, name).map(|value| json.content(value))
    }

    /// The document that `location` points into, with the place in it.
    pub fn json(&self, location: SchemaLocation) -> (&Document, NodeIndex) {
        (self.documents.json(location.document), location.index)
    }

    /// Whether the `const` or `enum` of the subschema at `location` has an integer that is written with a fraction of zeros, as `1.0` is.
    pub fn writes_zero_fractions(&self, location: SchemaLocation) -> bool {
        let json = self.documents.json(location.document);
        let member = |name| json.member(location.index, name);
        let listed = member("enum").into_iter().flat_map(|index| json.items(index));
        member("const")
            .into_iter()
            .chain(listed)
            .any(|index| match json.content(index) {
                Content::Number(text) => {
                    let fraction = text.split_once('.').map(|(_, fraction)| fraction);
                    fraction.is_some_and(|fraction| fraction.bytes().all(|digit| digit == b'0'))
                }
                _ => false,
            })
    }

    /// JSON Pointer of `location` in its document.
    pub fn pointer(&self, location: SchemaLocation) -> String {
        self.documents.pointer(location)
    }

    /// URI under which the document of `location` was registered; `None` for the schema itself.
    pub fn uri(&self, location: SchemaLocation) -> Option<&str> {
        self.documents.uri(location.document)
    }

    /// An error of `kind` about the root.
    pub fn error_at_root(&self, kind: CompileErrorKind, message: impl Into<String>) -> CompileError {
        self.error_at(self.node(self.root).location, kind, message.into())
    }

    /// An error of `kind` about `location`, with its pointer, or for other documents than the schema with their URI.
    pub fn error_at(&self, location: SchemaLocation, kind: CompileErrorKind, message: String) -> CompileError {
        self.documents.error_at(location, kind, message)
    }
}
