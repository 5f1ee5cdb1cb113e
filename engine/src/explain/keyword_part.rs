//! [`KeywordPart`]: parts of keywords that exclude values by themselves, and their removal from a subschema, which only admits more values.

use std::mem::take;

use crate::json::Content;
use crate::schema::{Keyword, Keywords, NodeId, SchemaLocation, SchemaSet};

/// A part of a subschema that excludes values by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeywordPart {
    /// A subschema that is `false`.
    False,
    Type,
    Values,
    Minimum,
    Maximum,
    MultipleOf,
    MinLength,
    MaxLength,
    Pattern,
    Format,
    MinItems,
    MaxItems,
    UniqueItems,
    Contains,
    MaxContains,
    Required,
    MinProperties,
    MaxProperties,
    DependentRequired,
    /// `anyOf` without a branch.
    AnyOf,
    /// The demand that no two branches of `oneOf` hold, or a `oneOf` without a branch.
    OneOf,
    Not,
    /// `if` with its branches; the subschema evaluates as much and asserts nothing.
    If(NodeId),
    /// The reference at `index` of a subschema's; the subschema `instead` evaluates as much and asserts nothing.
    Ref {
        index: usize,
        instead: NodeId,
    },
}

/// The keywords that lead to another subschema.
pub(super) const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

impl KeywordPart {
    /// Every part that a subschema may have, but for `if` and references, and the keyword that it is of.
    const ALL: [(Self, &'static str); 21] = [
        (Self::Type, "type"),
        (Self::Values, "enum"),
        (Self::Minimum, "minimum"),
        (Self::Maximum, "maximum"),
        (Self::MultipleOf, "multipleOf"),
        (Self::MinLength, "minLength"),
        (Self::MaxLength, "maxLength"),
        (Self::Pattern, "pattern"),
        (Self::Format, "format"),
        (Self::MinItems, "minItems"),
        (Self::MaxItems, "maxItems"),
        (Self::UniqueItems, "uniqueItems"),
        (Self::Contains, "contains"),
        (Self::MaxContains, "maxContains"),
        (Self::Required, "required"),
        (Self::MinProperties, "minProperties"),
        (Self::MaxProperties, "maxProperties"),
        (Self::DependentRequired, "dependentRequired"),
        (Self::AnyOf, "anyOf"),
        (Self::OneOf, "oneOf"),
        (Self::Not, "not"),
    ];

    /// The parts that a subschema has, but for `if` and references.
    pub(super) fn of(keywords: &Keywords) -> Vec<Self> {
        let mut left = keywords.clone();
        let all = Self::ALL.into_iter().map(|(part, _)| part);
        all.filter(|part| part.take_out(&mut left)).collect()
    }

    /// Takes the part out; whether it was there.
    pub(super) fn take_out(self, keywords: &mut Keywords) -> bool {
        match self {
            Self::False => false,
            Self::Type => keywords.types.take().is_some(),
            Self::Values => keywords.values.take().is_some(),
            Self::Minimum => keywords.minimum.take().is_some(),
            Self::Maximum => keywords.maximum.take().is_some(),
            Self::MultipleOf => keywords.multiple_of.take().is_some(),
            Self::MinLength => keywords.min_length.take().is_some(),
            Self::MaxLength => keywords.max_length.take().is_some(),
            Self::Pattern => keywords.pattern.take().is_some(),
            Self::Format => keywords.format.take().is_some(),
            Self::MinItems => keywords.min_items.take().is_some(),
            Self::MaxItems => keywords.max_items.take().is_some(),
            Self::UniqueItems => take(&mut keywords.unique_items),
            Self::Contains => (keywords.contains.as_mut()).is_some_and(|contains| take(&mut contains.min) > 0),
            Self::MaxContains => (keywords.contains.as_mut()).is_some_and(|contains| contains.max.take().is_some()),
            Self::Required => !take(&mut keywords.required).is_empty(),
            Self::MinProperties => keywords.min_properties.take().is_some(),
            Self::MaxProperties => keywords.max_properties.take().is_some(),
            Self::DependentRequired => !take(&mut keywords.dependent_required).is_empty(),
            Self::AnyOf => keywords.any_of.take_if(|branches| branches.is_empty()).is_some(),
            Self::OneOf => keywords.one_of.take().is_some(),
            Self::Not => keywords.not.take().is_some(),
            Self::If(evaluating) => {
                keywords.all_of.push(evaluating);
                keywords.if_then_else.take().is_some()
            }
            Self::Ref { index, instead } => (keywords.refs.get_mut(index)).is_some_and(|target| {
                *target = instead;
                true
            }),
        }
    }

    /// Returns a subschema that asserts this part of `keywords` alone; none for parts that are not about numbers and strings.
    pub(super) fn alone(self, keywords: &Keywords) -> Option<Keywords> {
        let mut alone = Keywords::default();
        match self {
            Self::Type => alone.types = keywords.types,
            Self::Values => alone.values.clone_from(&keywords.values),
            Self::Minimum => alone.minimum.clone_from(&keywords.minimum),
            Self::Maximum => alone.maximum.clone_from(&keywords.maximum),
            Self::MultipleOf => alone.multiple_of.clone_from(&keywords.multiple_of),
            Self::MinLength => alone.min_length = keywords.min_length,
            Self::MaxLength => alone.max_length = keywords.max_length,
            Self::Pattern => alone.pattern.clone_from(&keywords.pattern),
            Self::Format => {
                alone.format.clone_from(&keywords.format);
                alone.format_asserted = keywords.format_asserted;
            }
            _ => return None,
        }
        Some(alone)
    }

    /// The names of the keywords that assert this part at a location. `exclusive` tells whether each bound is exclusive.
    pub(super) fn names(self, set: &SchemaSet, location: SchemaLocation, exclusive: (bool, bool)) -> Vec<&'static str> {
        // A keyword that the root's draft does not know asserts nothing, unless the location is in a resource of another draft.
        let is_there = |name: &str| set.member(location, name).is_some();
        let is_read = |name: &str| is_there(name) && Keyword::lookup(name, set.dialect()).is_some();
        let written = |names: &[&'static str]| {
            let mut written = names.to_vec();
            written.retain(|name| is_there(name));
            if written.iter().any(|name| is_read(name)) {
                written.retain(|name| is_read(name));
            }
            written
        };
        let bound = |plain: &'static str, name: &'static str, exclusive: bool| match set.member(location, name) {
            Some(Content::Bool(true)) => vec![plain, name],
            Some(_) if exclusive => vec![name],
            _ => vec![plain],
        };
        match self {
            Self::False => Vec::new(),
            Self::Values => written(&["const", "enum"]),
            Self::Minimum => bound("minimum", "exclusiveMinimum", exclusive.0),
            Self::Maximum => bound("maximum", "exclusiveMaximum", exclusive.1),
            Self::DependentRequired => written(&["dependencies", "dependentRequired"]),
            Self::Contains if is_read("minContains") => vec!["minContains"],
            Self::If(_) => vec!["if"],
            Self::Ref { .. } => written(&REFERENCES),
            _ => {
                let own = Self::ALL.into_iter().filter(|(part, _)| *part == self);
                own.map(|(_, name)| name).collect()
            }
        }
    }
}
