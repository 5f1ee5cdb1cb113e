//! What the keywords of each draft mean, in terms of [`Keywords`]: one family per file.

mod array;
mod logic;
mod number;
mod object;
mod reference;
mod string;
mod value;

use std::sync::Arc;

use crate::decimal::{Decimal, DecimalError};
use crate::json::{Content, Document, NodeIndex};
use crate::{CompileError, CompileErrorKind};

use super::dialect::Dialect;
use super::documents::Location;
use super::keyword::Keyword;
use super::load::Loader;
use super::scope::ScopeId;
use super::{Body, Draft, Keywords, NodeId};

/// The subschema being read.
pub(super) struct Reader<'a, 'o> {
    loader: &'a mut Loader<'o>,
    json: Arc<Document>,
    location: Location,
    /// The dynamic scope inside the subschema's resource.
    scope: ScopeId,
    dialect: Dialect,
    keywords: Keywords,
    /// Keywords whose meaning depends on others beside them.
    number: number::Pending,
    array: array::Pending,
    logic: logic::Pending,
}

/// A keyword as it stands in a subschema.
#[derive(Clone, Copy)]
struct Member<'j> {
    keyword: Keyword,
    name: &'j str,
    value: NodeIndex,
}

type Read<T = ()> = Result<T, CompileError>;

/// Reads the subschema that `reader` was made for, an object.
pub(super) fn read_keywords(mut reader: Reader<'_, '_>) -> Read<Body> {
    let json = Arc::clone(&reader.json);
    let (index, dialect) = (reader.location.index, reader.dialect);
    let reference = if dialect.draft.ref_hides_siblings() {
        json.member(index, "$ref")
    } else {
        None
    };
    if let Some(value) = reference {
        let name = "$ref";
        let keyword = Keyword::Ref;
        reference::read(&mut reader, Member { keyword, name, value })?;
    } else {
        for (name, value) in json.members(index) {
            if let Some(keyword) = Keyword::lookup(name, dialect) {
                reader.read(Member { keyword, name, value })?;
            }
        }
        number::finish(&mut reader);
        array::finish(&mut reader);
        logic::finish(&mut reader);
    }
    let says_nothing = reader.keywords == Keywords::default();
    Ok(if says_nothing {
        Body::Anything
    } else {
        Body::Keywords(Box::new(reader.keywords))
    })
}

impl<'a, 'o> Reader<'a, 'o> {
    pub fn new(loader: &'a mut Loader<'o>, json: Arc<Document>, location: Location, scope: ScopeId) -> Self {
        let dialect = loader.index.resource(location.resource).dialect;
        Self {
            loader,
            json,
            location,
            scope,
            dialect,
            keywords: Keywords::default(),
            number: number::Pending::default(),
            array: array::Pending::default(),
            logic: logic::Pending::default(),
        }
    }

    fn read(&mut self, member: Member<'_>) -> Read {
        use Keyword as K;
        match member.keyword {
            K::Id
            | K::Schema
            | K::Anchor
            | K::DynamicAnchor
            | K::RecursiveAnchor
            | K::Ref
            | K::DynamicRef
            | K::RecursiveRef
            | K::Definitions => reference::read(self, member),
            K::Type | K::Const | K::Enum => value::read(self, member),
            K::Minimum | K::Maximum | K::ExclusiveMinimum | K::ExclusiveMaximum | K::MultipleOf => {
                number::read(self, member)
            }
            K::MinLength | K::MaxLength | K::Pattern | K::Format => string::read(self, member),
            K::PrefixItems
            | K::Items
            | K::AdditionalItems
            | K::Contains
            | K::MinContains
            | K::MaxContains
            | K::MinItems
            | K::MaxItems
            | K::UniqueItems
            | K::UnevaluatedItems => array::read(self, member),
            K::Properties
            | K::PatternProperties
            | K::AdditionalProperties
            | K::PropertyNames
            | K::Required
            | K::MinProperties
            | K::MaxProperties
            | K::Dependencies
            | K::DependentRequired
            | K::DependentSchemas
            | K::UnevaluatedProperties => object::read(self, member),
            K::AllOf | K::AnyOf | K::OneOf | K::Not | K::If | K::Then | K::Else => logic::read(self, member),
            // It describes the content of strings and asserts nothing.
            K::ContentSchema => Ok(()),
        }
    }

    fn draft(&self) -> Draft {
        self.dialect.draft
    }

    /// The error that `member`'s value is not what the keyword takes.
    fn wrong_type(&self, member: Member<'_>, expected: &str) -> CompileError {
        let found = self.json.content(member.value).describe();
        self.malformed(member, format!("the value must be {expected}, not {found}"))
    }

    fn malformed(&self, member: Member<'_>, message: impl Into<String>) -> CompileError {
        self.error(member, CompileErrorKind::Malformed, message)
    }

    fn error(&self, member: Member<'_>, kind: CompileErrorKind, message: impl Into<String>) -> CompileError {
        let documents = &self.loader.index.documents;
        let error = documents.error_at(self.location.place(), kind, message.into());
        error.on_keyword(member.name)
    }

    /// The value of `member`, a subschema.
    fn subschema(&mut self, member: Member<'_>) -> Read<NodeId> {
        self.subschema_at(member, member.value)
    }

    /// The subschema at `index`, somewhere in the value of `member`.
    fn subschema_at(&mut self, member: Member<'_>, index: NodeIndex) -> Read<NodeId> {
        match self.json.content(index) {
            Content::Object(_) => {}
            Content::Bool(_) if self.draft() >= Draft::Draft6 || allows_boolean_in_draft_4(member.keyword) => {}
            Content::Bool(_) => {
                let message = "draft 4 has no boolean schemas here: write {} for true and {\"not\": {}} for false";
                return Err(self.malformed(member, message));
            }
            other => {
                let message = format!(
                    "{} where a schema is expected: an object or a boolean",
                    other.describe()
                );
                return Err(self.malformed(member, message));
            }
        }
        let Location { document, resource, .. } = self.location;
        let location = self.loader.index.location(document, index, resource);
        self.loader.node(location, self.scope)
    }

    /// The subschemas that the value of `member`, an array, holds.
    fn subschema_array(&mut self, member: Member<'_>) -> Read<Vec<NodeId>> {
        let json = Arc::clone(&self.json);
        match json.content(member.value) {
            Content::Array(_) => json
                .items(member.value)
                .map(|item| self.subschema_at(member, item))
                .collect(),
            _ => Err(self.wrong_type(member, "an array of schemas")),
        }
    }

    /// The subschemas that the value of `member`, an object, holds, by name.
    fn subschema_map(&mut self, member: Member<'_>) -> Read<Vec<(String, NodeId)>> {
        let json = Arc::clone(&self.json);
        match json.content(member.value) {
            Content::Object(_) => json
                .members(member.value)
                .map(|(name, value)| Ok((name.to_owned(), self.subschema_at(member, value)?)))
                .collect(),
            _ => Err(self.wrong_type(member, "an object of schemas")),
        }
    }

    /// The value of `member`, a string.
    fn string(&self, member: Member<'_>) -> Read<String> {
        match self.json.string(member.value) {
            Some(text) => Ok(text.to_owned()),
            None => Err(self.wrong_type(member, "a string")),
        }
    }

    /// The value of `member`, a boolean.
    fn boolean(&self, member: Member<'_>) -> Read<bool> {
        match self.json.content(member.value) {
            Content::Bool(value) => Ok(value),
            _ => Err(self.wrong_type(member, "a boolean")),
        }
    }

    /// The value of `member`, a number.
    fn number(&self, member: Member<'_>) -> Read<Decimal> {
        let Content::Number(text) = self.json.content(member.value) else {
            return Err(self.wrong_type(member, "a number"));
        };
        Decimal::parse(text.as_bytes()).map_err(|error| match error {
            DecimalError::Syntax(_) => self.wrong_type(member, "a number"),
            DecimalError::Limit(_) => self.exponent_too_large(member, text),
        })
    }

    fn exponent_too_large(&self, member: Member<'_>, number: &str) -> CompileError {
        let message = format!("{number} is too long, or its exponent too large");
        self.error(member, CompileErrorKind::LimitExceeded, message)
    }

    /// The value of `member`, a count: an integer that is not negative, in any spelling.
    fn count(&self, member: Member<'_>) -> Read<u64> {
        self.number(member)?
            .to_u64_saturating()
            .ok_or_else(|| self.malformed(member, "the value must be an integer that is not negative"))
    }

    /// As [`count`](Self::count), for keywords that ask for at least so many; 0 asks for nothing.
    fn least(&self, member: Member<'_>) -> Read<Option<u64>> {
        self.count(member).map(|count| Some(count).filter(|&count| count > 0))
    }

    /// The strings of the array at `index`, in order, each once.
    fn names_at(&self, member: Member<'_>, index: NodeIndex) -> Read<Vec<String>> {
        let expected = "an array of strings";
        if !matches!(self.json.content(index), Content::Array(_)) {
            let found = self.json.content(index).describe();
            return Err(self.malformed(member, format!("{found} where {expected} is expected")));
        }
        let mut seen = std::collections::HashSet::new();
        let mut names = Vec::new();
        for item in self.json.items(index) {
            let Some(name) = self.json.string(item) else {
                let found = self.json.content(item).describe();
                return Err(self.malformed(member, format!("{found} in what must be {expected}")));
            };
            if seen.insert(name) {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }
}

fn allows_boolean_in_draft_4(keyword: Keyword) -> bool {
    matches!(keyword, Keyword::AdditionalItems | Keyword::AdditionalProperties)
}
