//! [`Warning`]: a keyword that is probably not meant as it stands, with its JSON Pointer and a message.

use std::fmt;

/// A place of a schema where something is probably not meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub(super) kind: WarningKind,
    pub(super) pointer: String,
    pub(super) message: String,
}

/// A kind of mistake that a schema probably has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum WarningKind {
    /// A keyword that no draft has, and that looks like one.
    MisspeltKeyword,
    /// A keyword that no draft has, with a schema as value: a member that stands beside `properties` instead of in it.
    MisplacedSchema,
    /// A keyword among the names of `properties`.
    MisplacedKeyword,
    /// A keyword that another draft has.
    OtherDraft,
    /// A keyword beside a `$ref` that hides it, as it does up to draft 7.
    BesideRef,
    /// A keyword for values of a type that `type` excludes.
    OtherType,
    /// A keyword that means something beside another only, which is not there.
    Companion,
    /// A value of `const` or `enum` that `type` excludes.
    ExcludedValue,
    /// A `format` that no draft defines, so that it asserts nothing.
    UnknownFormat,
    /// A pattern that is no ECMA-262 and is read as other dialects read it.
    PatternDialect,
    /// A pattern that ECMA-262 reads otherwise than whoever wrote it probably meant.
    PatternMeaning,
    /// An object that can have no members, though something is said of their names.
    OnlyEmptyObject,
    /// An object closed by `additionalProperties` against members that a branch beside it declares.
    ClosedAgainstBranch,
    /// A branch of `oneOf` whose values are all valid under another branch too.
    OverlappingBranches,
    /// A schema of members that also admits values which are no objects.
    UntypedRoot,
    /// The definition of a tool, or of a response format, in which the schema is a part.
    ToolDefinition,
    /// A document of definitions, of which none is the schema.
    OnlyDefinitions,
    /// A keyword of OpenAPI that does less than it seems: a `nullable` that adds no null, a `discriminator` that some branch does not heed.
    OpenApi,
    /// A note on something that other software refuses, drops or asks for.
    Peers,
}

impl WarningKind {
    /// Every kind.
    pub const ALL: [Self; 19] = [
        Self::MisspeltKeyword,
        Self::MisplacedSchema,
        Self::MisplacedKeyword,
        Self::OtherDraft,
        Self::BesideRef,
        Self::OtherType,
        Self::Companion,
        Self::ExcludedValue,
        Self::UnknownFormat,
        Self::PatternDialect,
        Self::PatternMeaning,
        Self::OnlyEmptyObject,
        Self::ClosedAgainstBranch,
        Self::OverlappingBranches,
        Self::UntypedRoot,
        Self::ToolDefinition,
        Self::OnlyDefinitions,
        Self::OpenApi,
        Self::Peers,
    ];

    /// Returns the kind's name in programs and their output. The name never changes.
    pub fn code(self) -> &'static str {
        match self {
            Self::MisspeltKeyword => "misspelt-keyword",
            Self::MisplacedSchema => "misplaced-schema",
            Self::MisplacedKeyword => "misplaced-keyword",
            Self::OtherDraft => "other-draft",
            Self::BesideRef => "beside-ref",
            Self::OtherType => "other-type",
            Self::Companion => "companion",
            Self::ExcludedValue => "excluded-value",
            Self::UnknownFormat => "unknown-format",
            Self::PatternDialect => "pattern-dialect",
            Self::PatternMeaning => "pattern-meaning",
            Self::OnlyEmptyObject => "only-empty-object",
            Self::ClosedAgainstBranch => "closed-against-branch",
            Self::OverlappingBranches => "overlapping-branches",
            Self::UntypedRoot => "untyped-root",
            Self::ToolDefinition => "tool-definition",
            Self::OnlyDefinitions => "only-definitions",
            Self::OpenApi => "open-api",
            Self::Peers => "peers",
        }
    }
}

impl Warning {
    /// Returns the kind of the mistake.
    pub fn kind(&self) -> WarningKind {
        self.kind
    }

    /// JSON Pointer to the keyword, the value or the schema that is meant; empty for the root.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// Returns a sentence that names the mistake and the remedy, without the place.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.pointer {
            "" => f.write_str("the root")?,
            pointer => f.write_str(pointer)?,
        }
        write!(f, ": {} ({})", self.message, self.kind.code())
    }
}
