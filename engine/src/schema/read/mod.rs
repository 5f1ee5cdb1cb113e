//! The meaning of each draft's keywords, in terms of [`Keywords`].
//!
//! [`KeywordReader::read`] has them all in one list; those that take more than a line have functions in the file of
//! their family.

mod number;
mod object;
mod reference;
mod value;

use std::collections::HashSet;
use std::sync::Arc;

use crate::decimal::{Decimal, DecimalError};
use crate::json::{Content, Document, NodeIndex};
use crate::{CompileError, CompileErrorKind};

use super::dialect::{Dialect, Draft, Keyword, Vocabularies};
use super::keywords::{Contains, Keywords, NodeId, TypeSet};
use super::references::dynamic_scope::ScopeId;
use super::references::resources::LocatedSchema;
use super::schema_set::Body;
use super::worklist::Worklist;

/// The subschema being read, an object.
pub(super) struct KeywordReader<'a, 'o> {
    work: &'a mut Worklist<'o>,
    json: Arc<Document>,
    schema: LocatedSchema,
    /// The dynamic scope inside the subschema's resource.
    scope: ScopeId,
    dialect: Dialect,
    keywords: Keywords,
    companions: Companions,
}

/// Keywords that mean something only beside others, which may stand before or after them.
#[derive(Default)]
struct Companions {
    /// Draft 4's booleans, which say how `minimum` and `maximum` are meant.
    exclusive_minimum: bool,
    exclusive_maximum: bool,
    /// OpenAPI 3.0's, which says something beside `type` only.
    nullable: bool,
    contains: Option<NodeId>,
    min_contains: Option<u64>,
    max_contains: Option<u64>,
    additional_items: Option<NodeId>,
    /// Whether `items` is an array, as up to draft 2019-09 it may be.
    items_is_array: bool,
    /// The value of `if`.
    condition: Option<NodeId>,
    then: Option<NodeId>,
    otherwise: Option<NodeId>,
}

/// A keyword as it stands in a subschema.
#[derive(Clone, Copy)]
struct Member<'j> {
    keyword: Keyword,
    name: &'j str,
    value: NodeIndex,
}

type ReadResult<T = ()> = Result<T, CompileError>;

/// The message that a value is no schema.
pub(super) fn not_a_schema(found: Content<'_>) -> String {
    let found = found.describe();
    format!("{found} where a schema is expected: an object or a boolean")
}

impl<'a, 'o> KeywordReader<'a, 'o> {
    pub fn new(work: &'a mut Worklist<'o>, json: Arc<Document>, schema: LocatedSchema, scope: ScopeId) -> Self {
        let dialect = work.index.resource(schema.resource).dialect;
        Self {
            work,
            json,
            schema,
            scope,
            dialect,
            keywords: Keywords::default(),
            companions: Companions::default(),
        }
    }

    /// Reads every keyword of the subschema.
    pub fn read_all(mut self) -> ReadResult<Body> {
        let json = Arc::clone(&self.json);
        let index = self.schema.location.index;
        let hides_siblings = self.dialect.draft.ref_hides_siblings();
        if hides_siblings && let Some(value) = json.member(index, "$ref") {
            let (keyword, name) = (Keyword::Ref, "$ref");
            self.read(Member { keyword, name, value })?;
        } else {
            for (name, value) in json.members(index) {
                if let Some(keyword) = Keyword::lookup(name, self.dialect) {
                    self.read(Member { keyword, name, value })?;
                }
            }
            self.combine_companions();
        }
        Ok(match self.keywords == Keywords::default() {
            true => Body::Anything,
            false => Body::Keywords(Box::new(self.keywords)),
        })
    }

    fn read(&mut self, member: Member<'_>) -> ReadResult {
        use Keyword as K;
        match member.keyword {
            // Their work was done when the document was scanned.
            K::Id | K::Schema | K::Anchor | K::DynamicAnchor => {
                self.string(member)?;
            }
            K::RecursiveAnchor => {
                self.boolean(member)?;
            }
            K::Definitions if self.json.is_object(member.value) => {}
            K::Definitions => return Err(self.wrong_type(member, "an object of schemas")),
            K::Ref => self.read_ref(member)?,
            K::DynamicRef => self.read_dynamic_ref(member)?,
            K::RecursiveRef => self.read_recursive_ref(member)?,

            K::Nullable => self.companions.nullable = self.boolean(member)?,
            K::Type => self.keywords.types = Some(self.types(member)?),
            K::Const => self.read_const(member)?,
            K::Enum => self.read_enum(member)?,

            K::ExclusiveMinimum if self.draft() == Draft::Draft4 => {
                self.companions.exclusive_minimum = self.boolean(member)?;
            }
            K::ExclusiveMaximum if self.draft() == Draft::Draft4 => {
                self.companions.exclusive_maximum = self.boolean(member)?;
            }
            K::Minimum | K::ExclusiveMinimum => self.read_minimum(member)?,
            K::Maximum | K::ExclusiveMaximum => self.read_maximum(member)?,
            K::MultipleOf => self.keywords.multiple_of = Some(self.divisor(member)?),

            K::MinLength => self.keywords.min_length = self.least(member)?,
            K::MaxLength => self.keywords.max_length = Some(self.count(member)?),
            K::Pattern => self.keywords.pattern = Some(self.string(member)?),
            K::Format => {
                self.keywords.format = Some(self.string(member)?);
                let vocabularies = self.dialect.vocabularies;
                self.keywords.format_asserted = vocabularies.contains(Vocabularies::FORMAT_ASSERTION);
            }
            // `contentSchema` describes the content of strings and asserts nothing.
            K::ContentSchema => {}

            K::PrefixItems => self.keywords.prefix_items = self.subschema_array(member)?,
            K::Items if !matches!(self.json.content(member.value), Content::Array(_)) => {
                self.keywords.items = Some(self.subschema(member)?);
            }
            K::Items if self.draft() <= Draft::Draft201909 => {
                self.companions.items_is_array = true;
                self.keywords.prefix_items = self.subschema_array(member)?;
            }
            K::Items => {
                let message = "an array has this meaning up to draft 2019-09 only: use `prefixItems`, or name an earlier \
                               draft in `$schema`";
                return Err(self.malformed(member, message));
            }
            K::AdditionalItems => self.companions.additional_items = Some(self.subschema(member)?),
            K::Contains => self.companions.contains = Some(self.subschema(member)?),
            K::MinContains => self.companions.min_contains = Some(self.count(member)?),
            K::MaxContains => self.companions.max_contains = Some(self.count(member)?),
            K::MinItems => self.keywords.min_items = self.least(member)?,
            K::MaxItems => self.keywords.max_items = Some(self.count(member)?),
            K::UniqueItems => self.keywords.unique_items = self.boolean(member)?,
            K::UnevaluatedItems => self.keywords.unevaluated_items = Some(self.subschema(member)?),

            K::Properties => self.keywords.properties = self.subschema_map(member)?,
            K::PatternProperties => self.keywords.pattern_properties = self.subschema_map(member)?,
            K::AdditionalProperties => self.keywords.additional_properties = Some(self.subschema(member)?),
            K::PropertyNames => self.keywords.property_names = Some(self.subschema(member)?),
            K::Required => self.keywords.required = self.names_at(member, member.value)?,
            K::MinProperties => self.keywords.min_properties = self.least(member)?,
            K::MaxProperties => self.keywords.max_properties = Some(self.count(member)?),
            K::Dependencies => self.read_dependencies(member, "an object of schemas and arrays of strings")?,
            K::DependentRequired => self.read_dependencies(member, "an object of arrays of strings")?,
            K::DependentSchemas => {
                let dependent = self.subschema_map(member)?;
                self.keywords.dependent_schemas.extend(dependent);
            }
            K::UnevaluatedProperties => self.keywords.unevaluated_properties = Some(self.subschema(member)?),

            K::AllOf => self.keywords.all_of = self.subschema_array(member)?,
            K::AnyOf => self.keywords.any_of = Some(self.subschema_array(member)?),
            K::OneOf => self.keywords.one_of = Some(self.subschema_array(member)?),
            K::Not => self.keywords.not = Some(self.subschema(member)?),
            K::If => self.companions.condition = Some(self.subschema(member)?),
            K::Then => self.companions.then = Some(self.subschema(member)?),
            K::Else => self.companions.otherwise = Some(self.subschema(member)?),
        }
        Ok(())
    }

    /// Gives the keywords that depend on others beside them their meaning. Without those they say nothing.
    fn combine_companions(&mut self) {
        let evaluates = self.draft() >= Draft::Draft202012;
        let (keywords, companions) = (&mut self.keywords, &self.companions);
        if companions.nullable {
            keywords.types = keywords.types.map(|types| types.union(TypeSet::NULL));
        }
        if let Some(minimum) = &mut keywords.minimum {
            minimum.exclusive |= companions.exclusive_minimum;
        }
        if let Some(maximum) = &mut keywords.maximum {
            maximum.exclusive |= companions.exclusive_maximum;
        }
        // Beside an `items` that is a schema, or without `items`, `additionalItems` says nothing.
        if companions.items_is_array {
            keywords.items = companions.additional_items;
        }
        keywords.contains = companions.contains.map(|node| Contains {
            node,
            min: companions.min_contains.unwrap_or(1),
            max: companions.max_contains,
            evaluates,
        });
        keywords.if_then_else = companions
            .condition
            .map(|condition| (condition, companions.then, companions.otherwise));
    }

    fn draft(&self) -> Draft {
        self.dialect.draft
    }

    /// Returns the error that `member`'s value is not of a type that the keyword takes.
    fn wrong_type(&self, member: Member<'_>, expected: &str) -> CompileError {
        let found = self.json.content(member.value).describe();
        self.malformed(member, format!("the value must be {expected}, not {found}"))
    }

    fn malformed(&self, member: Member<'_>, message: impl Into<String>) -> CompileError {
        self.error(member, CompileErrorKind::Malformed, message)
    }

    fn error(&self, member: Member<'_>, kind: CompileErrorKind, message: impl Into<String>) -> CompileError {
        let documents = &self.work.index.documents;
        let error = documents.error_at(self.schema.location, kind, message.into());
        error.on_keyword(member.name)
    }

    /// The value of `member`, a subschema.
    fn subschema(&mut self, member: Member<'_>) -> ReadResult<NodeId> {
        self.subschema_at(member, member.value)
    }

    /// The subschema at `index`, somewhere in the value of `member`.
    fn subschema_at(&mut self, member: Member<'_>, index: NodeIndex) -> ReadResult<NodeId> {
        // Draft 4 has booleans for these two only.
        let allows_boolean = matches!(member.keyword, Keyword::AdditionalItems | Keyword::AdditionalProperties);
        match self.json.content(index) {
            Content::Object(_) => {}
            Content::Bool(_) if self.draft() >= Draft::Draft6 || allows_boolean => {}
            Content::Bool(_) => {
                let message = "draft 4, and OpenAPI 3.0 with it, has no boolean schemas here: write {} for true and {\"not\": {}} for false";
                return Err(self.malformed(member, message));
            }
            other => {
                let mut message = not_a_schema(other);
                if index != member.value {
                    message = format!("at `{}`: {message}", self.json.pointer(index));
                }
                // Many describe a member by the name of its type.
                if let Some(meant) = self.json.string(index).and_then(value::meant_type) {
                    message.push_str(&format!(", such as {{\"type\": \"{meant}\"}}"));
                }
                return Err(self.malformed(member, message));
            }
        }
        let mut schema = self.schema;
        schema.location.index = index;
        schema.resource = self.work.index.resource_of(schema.location).unwrap_or(schema.resource);
        self.work.node(schema, self.scope)
    }

    /// The subschemas that the value of `member`, an array, holds.
    fn subschema_array(&mut self, member: Member<'_>) -> ReadResult<Vec<NodeId>> {
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
    fn subschema_map(&mut self, member: Member<'_>) -> ReadResult<Vec<(String, NodeId)>> {
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
    fn string(&self, member: Member<'_>) -> ReadResult<String> {
        match self.json.string(member.value) {
            Some(text) => Ok(text.to_owned()),
            None => Err(self.wrong_type(member, "a string")),
        }
    }

    /// The value of `member`, a boolean.
    fn boolean(&self, member: Member<'_>) -> ReadResult<bool> {
        match self.json.content(member.value) {
            Content::Bool(value) => Ok(value),
            _ => Err(self.wrong_type(member, "a boolean")),
        }
    }

    /// The value of `member`, a number.
    fn number(&self, member: Member<'_>) -> ReadResult<Decimal> {
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
    fn count(&self, member: Member<'_>) -> ReadResult<u64> {
        self.number(member)?
            .to_u64_saturating()
            .ok_or_else(|| self.malformed(member, "the value must be an integer that is not negative"))
    }

    /// The value of `member`, a lower bound on a count; `None` for 0, which asks for nothing.
    fn least(&self, member: Member<'_>) -> ReadResult<Option<u64>> {
        self.count(member).map(|count| Some(count).filter(|&count| count > 0))
    }

    /// The strings of the array at `index`, in order, each once.
    fn names_at(&self, member: Member<'_>, index: NodeIndex) -> ReadResult<Vec<String>> {
        let expected = "an array of strings";
        if !matches!(self.json.content(index), Content::Array(_)) {
            let content = self.json.content(index);
            // Draft 3 had it in the member's own schema, and people still write it so.
            let hint = match (member.keyword, content) {
                (Keyword::Required, Content::Bool(_)) => ": the object around lists the members that must be there",
                _ => "",
            };
            let found = content.describe();
            return Err(self.malformed(member, format!("{found} where {expected} is expected{hint}")));
        }
        let mut seen = HashSet::new();
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
