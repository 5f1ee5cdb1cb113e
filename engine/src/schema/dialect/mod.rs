//! Drafts and vocabularies of JSON Schema, and the dialect that `$schema` selects.

mod keyword;

use std::fmt;

use crate::json::{Document, NodeIndex};

pub(crate) use keyword::{Holds, Keyword};

/// A supported draft of JSON Schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Draft {
    /// Draft 4 (2013).
    Draft4,
    /// Draft 6 (2017).
    Draft6,
    /// Draft 7 (2018).
    Draft7,
    /// Draft 2019-09.
    Draft201909,
    /// Draft 2020-12.
    #[default]
    Draft202012,
    /// Schemas of OpenAPI 3.0: draft 4, and `nullable`, which adds null to the types that `type` lists beside it.
    ///
    /// `discriminator` asserts nothing, as the specification says: it is a hint on which branch of a `oneOf` or `anyOf` to
    /// look at. Keywords of draft 4 that OpenAPI 3.0 leaves out, such as `patternProperties`, keep their meaning.
    OpenApi30,
    /// Schemas of OpenAPI 3.1: draft 2020-12, with annotations of its own, of which `discriminator` is one.
    OpenApi31,
}

/// A version of OpenAPI whose keywords a dialect has beyond those of a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenApi {
    V30,
    V31,
}

impl fmt::Display for Draft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Draft4 => "draft 4",
            Self::Draft6 => "draft 6",
            Self::Draft7 => "draft 7",
            Self::Draft201909 => "draft 2019-09",
            Self::Draft202012 => "draft 2020-12",
            Self::OpenApi30 => "OpenAPI 3.0",
            Self::OpenApi31 => "OpenAPI 3.1",
        })
    }
}

impl Draft {
    /// The draft whose meta-schema has the URI `uri`. Scheme and an empty fragment do not matter.
    pub(crate) fn from_meta_schema(uri: &str) -> Option<Self> {
        let open_api = uri.strip_prefix("https://spec.openapis.org/oas/").unwrap_or_default();
        let version = ["3.1/", "3.2/"]
            .iter()
            .find_map(|version| open_api.strip_prefix(version));
        if version.is_some_and(|rest| rest.starts_with("dialect/") || rest.starts_with("schema-base")) {
            return Some(Self::OpenApi31);
        }
        // What the hyper-schemas add says nothing of which values are valid.
        Some(match meta_schema_path(uri)? {
            "draft-04/schema" | "draft-04/hyper-schema" => Self::Draft4,
            "draft-06/schema" | "draft-06/hyper-schema" => Self::Draft6,
            "draft-07/schema" | "draft-07/hyper-schema" => Self::Draft7,
            "draft/2019-09/schema" | "draft/2019-09/hyper-schema" => Self::Draft201909,
            "draft/2020-12/schema" | "draft/2020-12/hyper-schema" => Self::Draft202012,
            // Without a number: the latest.
            "schema" => Self::Draft202012,
            _ => return None,
        })
    }

    /// The draft that a whole OpenAPI document says it is read by, unless its `$schema` says otherwise; `None` for other
    /// documents.
    pub(crate) fn of_document(json: &Document) -> Option<Self> {
        let version = json.string(json.member(0, "openapi")?)?;
        match version {
            _ if version.starts_with("3.0") => Some(Self::OpenApi30),
            // The schemas of 3.2 are those of 3.1.
            _ if version.starts_with("3.1") || version.starts_with("3.2") => Some(Self::OpenApi31),
            _ => None,
        }
    }

    /// The meta-schema of the schemas in a whole document of OpenAPI 3.1 that do not name one by `$schema`, where the document says
    /// so by `jsonSchemaDialect`, and the place of that.
    pub(crate) fn dialect_of_document(json: &Document) -> Option<(NodeIndex, &str)> {
        let at = json.member(0, "jsonSchemaDialect")?;
        let is_open_api = Self::of_document(json) == Some(Self::OpenApi31);
        Some((at, json.string(at)?)).filter(|_| is_open_api)
    }

    /// The keyword that names a resource.
    pub(crate) fn id_keyword(self) -> &'static str {
        if self == Self::Draft4 { "id" } else { "$id" }
    }

    /// Whether a `$ref` hides all that stands beside it.
    pub(crate) fn ref_hides_siblings(self) -> bool {
        self <= Self::Draft7
    }
}

/// Whether `uri` names a draft older than the supported ones.
pub(super) fn is_older_draft(uri: &str) -> bool {
    meta_schema_path(uri).is_some_and(|path| {
        ["draft-00", "draft-01", "draft-02", "draft-03"]
            .iter()
            .any(|draft| path.starts_with(draft))
    })
}

/// The path of `uri` below `json-schema.org`, by `http` or `https`; an empty fragment does not matter.
pub(super) fn meta_schema_path(uri: &str) -> Option<&str> {
    let uri = uri.strip_suffix('#').unwrap_or(uri);
    let (scheme, rest) = uri.split_once("://")?;
    let path = rest.strip_prefix("json-schema.org/")?;
    (scheme == "http" || scheme == "https").then_some(path)
}

/// A set of vocabularies. Before draft 2019-09 a draft is one whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Vocabularies(u8);

impl Vocabularies {
    pub const CORE: Self = Self(1);
    pub const APPLICATOR: Self = Self(2);
    pub const UNEVALUATED: Self = Self(4);
    pub const VALIDATION: Self = Self(8);
    pub const FORMAT: Self = Self(16);
    /// Says more about `format` than [`FORMAT`](Self::FORMAT): that it must be asserted.
    pub const FORMAT_ASSERTION: Self = Self(32);
    /// Keywords that assert nothing.
    pub const ANNOTATION: Self = Self(64);
    /// The vocabularies that the drafts' own meta-schemas declare.
    pub const DEFAULT: Self = Self(1 | 2 | 4 | 8 | 16 | 64);

    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The vocabulary with the URI `uri`, which for the `format` of 2019-09 depends on `required`, and the draft it belongs to.
    pub fn from_uri(uri: &str, required: bool) -> Option<(Draft, Self)> {
        let path = meta_schema_path(uri)?;
        let (draft, name) = if let Some(name) = path.strip_prefix("draft/2020-12/vocab/") {
            (Draft::Draft202012, name)
        } else {
            (Draft::Draft201909, path.strip_prefix("draft/2019-09/vocab/")?)
        };
        let vocabulary = match (name, draft) {
            ("core", _) => Self::CORE,
            // Draft 2019-09 has `unevaluated*` among the applicators.
            ("applicator", Draft::Draft201909) => Self::APPLICATOR.union(Self::UNEVALUATED),
            ("applicator", _) => Self::APPLICATOR,
            ("unevaluated", Draft::Draft202012) => Self::UNEVALUATED,
            ("validation", _) => Self::VALIDATION,
            // In 2019-09 one vocabulary serves both, and requiring it asks for assertion.
            ("format", Draft::Draft201909) if required => Self::FORMAT.union(Self::FORMAT_ASSERTION),
            ("format", Draft::Draft201909) => Self::FORMAT,
            ("format-annotation", Draft::Draft202012) => Self::FORMAT,
            ("format-assertion", Draft::Draft202012) => Self::FORMAT.union(Self::FORMAT_ASSERTION),
            ("meta-data" | "content", _) => Self::ANNOTATION,
            _ => return None,
        };
        Some((draft, vocabulary))
    }
}

/// The rules by which a resource is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// The draft of JSON Schema: never one of OpenAPI.
    pub draft: Draft,
    /// The version of OpenAPI whose keywords are added to the draft, if any.
    pub open_api: Option<OpenApi>,
    pub vocabularies: Vocabularies,
    /// Whether `dependencies` means something in drafts that dropped it.
    pub legacy_dependencies: bool,
}

impl Dialect {
    /// The dialect that the meta-schema of `draft` describes.
    pub fn of_draft(draft: Draft) -> Self {
        let (draft, open_api) = match draft {
            Draft::OpenApi30 => (Draft::Draft4, Some(OpenApi::V30)),
            Draft::OpenApi31 => (Draft::Draft202012, Some(OpenApi::V31)),
            draft => (draft, None),
        };
        Self {
            draft,
            open_api,
            vocabularies: Vocabularies::DEFAULT,
            legacy_dependencies: false,
        }
    }

    /// The draft of JSON Schema or OpenAPI.
    pub fn name(self) -> Draft {
        match self.open_api {
            Some(OpenApi::V30) => Draft::OpenApi30,
            Some(OpenApi::V31) => Draft::OpenApi31,
            None => self.draft,
        }
    }
}
