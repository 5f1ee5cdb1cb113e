//! The table of keywords: the drafts that have each keyword, and the kind of subschemas that it holds.

use super::{Dialect, Draft, OpenApi, Vocabularies};

/// A keyword that identifies, asserts, applies or holds subschemas. All others are annotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keyword {
    Id,
    Schema,
    Anchor,
    DynamicAnchor,
    RecursiveAnchor,
    Ref,
    DynamicRef,
    RecursiveRef,
    Definitions,
    Type,
    /// OpenAPI 3.0's.
    Nullable,
    Const,
    Enum,
    Minimum,
    Maximum,
    ExclusiveMinimum,
    ExclusiveMaximum,
    MultipleOf,
    MinLength,
    MaxLength,
    Pattern,
    Format,
    PrefixItems,
    Items,
    AdditionalItems,
    Contains,
    MinContains,
    MaxContains,
    MinItems,
    MaxItems,
    UniqueItems,
    UnevaluatedItems,
    Properties,
    PatternProperties,
    AdditionalProperties,
    PropertyNames,
    Required,
    MinProperties,
    MaxProperties,
    Dependencies,
    DependentRequired,
    DependentSchemas,
    UnevaluatedProperties,
    AllOf,
    AnyOf,
    OneOf,
    Not,
    If,
    Then,
    Else,
    ContentSchema,
}

/// The form in which a keyword's value holds subschemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    Nothing,
    One,
    Array,
    OneOrArray,
    /// An object of subschemas, among which `dependencies` also has arrays of names.
    Map,
}

impl Keyword {
    /// The keyword that `name` is in `dialect`.
    pub fn lookup(name: &str, dialect: Dialect) -> Option<Self> {
        use Draft::{Draft4, Draft6, Draft7, Draft201909, Draft202012};
        use Keyword as K;
        use Vocabularies as V;
        let (keyword, first, last, vocabulary) = match name {
            "id" => (K::Id, Draft4, Draft4, V::CORE),
            "$id" => (K::Id, Draft6, Draft202012, V::CORE),
            "$schema" => (K::Schema, Draft4, Draft202012, V::CORE),
            "$anchor" => (K::Anchor, Draft201909, Draft202012, V::CORE),
            "$dynamicAnchor" => (K::DynamicAnchor, Draft202012, Draft202012, V::CORE),
            "$recursiveAnchor" => (K::RecursiveAnchor, Draft201909, Draft201909, V::CORE),
            "$ref" => (K::Ref, Draft4, Draft202012, V::CORE),
            "$dynamicRef" => (K::DynamicRef, Draft202012, Draft202012, V::CORE),
            "$recursiveRef" => (K::RecursiveRef, Draft201909, Draft201909, V::CORE),
            // The later meta-schemas still describe `definitions`, as deprecated.
            "definitions" => (K::Definitions, Draft4, Draft202012, V::CORE),
            "$defs" => (K::Definitions, Draft201909, Draft202012, V::CORE),
            "type" => (K::Type, Draft4, Draft202012, V::VALIDATION),
            "nullable" if dialect.open_api == Some(OpenApi::V30) => (K::Nullable, Draft4, Draft4, V::VALIDATION),
            "const" => (K::Const, Draft6, Draft202012, V::VALIDATION),
            "enum" => (K::Enum, Draft4, Draft202012, V::VALIDATION),
            "minimum" => (K::Minimum, Draft4, Draft202012, V::VALIDATION),
            "maximum" => (K::Maximum, Draft4, Draft202012, V::VALIDATION),
            "exclusiveMinimum" => (K::ExclusiveMinimum, Draft4, Draft202012, V::VALIDATION),
            "exclusiveMaximum" => (K::ExclusiveMaximum, Draft4, Draft202012, V::VALIDATION),
            "multipleOf" => (K::MultipleOf, Draft4, Draft202012, V::VALIDATION),
            "minLength" => (K::MinLength, Draft4, Draft202012, V::VALIDATION),
            "maxLength" => (K::MaxLength, Draft4, Draft202012, V::VALIDATION),
            "pattern" => (K::Pattern, Draft4, Draft202012, V::VALIDATION),
            "format" => (K::Format, Draft4, Draft202012, V::FORMAT),
            "prefixItems" => (K::PrefixItems, Draft202012, Draft202012, V::APPLICATOR),
            "items" => (K::Items, Draft4, Draft202012, V::APPLICATOR),
            "additionalItems" => (K::AdditionalItems, Draft4, Draft201909, V::APPLICATOR),
            "contains" => (K::Contains, Draft6, Draft202012, V::APPLICATOR),
            "minContains" => (K::MinContains, Draft201909, Draft202012, V::VALIDATION),
            "maxContains" => (K::MaxContains, Draft201909, Draft202012, V::VALIDATION),
            "minItems" => (K::MinItems, Draft4, Draft202012, V::VALIDATION),
            "maxItems" => (K::MaxItems, Draft4, Draft202012, V::VALIDATION),
            "uniqueItems" => (K::UniqueItems, Draft4, Draft202012, V::VALIDATION),
            "unevaluatedItems" => (K::UnevaluatedItems, Draft201909, Draft202012, V::UNEVALUATED),
            "properties" => (K::Properties, Draft4, Draft202012, V::APPLICATOR),
            "patternProperties" => (K::PatternProperties, Draft4, Draft202012, V::APPLICATOR),
            "additionalProperties" => (K::AdditionalProperties, Draft4, Draft202012, V::APPLICATOR),
            "propertyNames" => (K::PropertyNames, Draft6, Draft202012, V::APPLICATOR),
            "required" => (K::Required, Draft4, Draft202012, V::VALIDATION),
            "minProperties" => (K::MinProperties, Draft4, Draft202012, V::VALIDATION),
            "maxProperties" => (K::MaxProperties, Draft4, Draft202012, V::VALIDATION),
            "dependencies" if dialect.legacy_dependencies => (K::Dependencies, Draft4, Draft202012, V::APPLICATOR),
            "dependencies" => (K::Dependencies, Draft4, Draft7, V::APPLICATOR),
            "dependentRequired" => (K::DependentRequired, Draft201909, Draft202012, V::VALIDATION),
            "dependentSchemas" => (K::DependentSchemas, Draft201909, Draft202012, V::APPLICATOR),
            "unevaluatedProperties" => (K::UnevaluatedProperties, Draft201909, Draft202012, V::UNEVALUATED),
            "allOf" => (K::AllOf, Draft4, Draft202012, V::APPLICATOR),
            "anyOf" => (K::AnyOf, Draft4, Draft202012, V::APPLICATOR),
            "oneOf" => (K::OneOf, Draft4, Draft202012, V::APPLICATOR),
            "not" => (K::Not, Draft4, Draft202012, V::APPLICATOR),
            "if" => (K::If, Draft7, Draft202012, V::APPLICATOR),
            "then" => (K::Then, Draft7, Draft202012, V::APPLICATOR),
            "else" => (K::Else, Draft7, Draft202012, V::APPLICATOR),
            "contentSchema" => (K::ContentSchema, Draft201909, Draft202012, V::ANNOTATION),
            _ => return None,
        };
        let known = (first..=last).contains(&dialect.draft) && dialect.vocabularies.contains(vocabulary);
        known.then_some(keyword)
    }

    /// Returns the form in which the keyword's value holds subschemas in `draft`.
    pub fn holds(self, draft: Draft) -> Holds {
        match self {
            Self::Items if draft <= Draft::Draft201909 => Holds::OneOrArray,
            Self::Items
            | Self::AdditionalItems
            | Self::Contains
            | Self::UnevaluatedItems
            | Self::AdditionalProperties
            | Self::PropertyNames
            | Self::UnevaluatedProperties
            | Self::Not
            | Self::If
            | Self::Then
            | Self::Else
            | Self::ContentSchema => Holds::One,
            Self::PrefixItems | Self::AllOf | Self::AnyOf | Self::OneOf => Holds::Array,
            Self::Definitions
            | Self::Properties
            | Self::PatternProperties
            | Self::DependentSchemas
            | Self::Dependencies => Holds::Map,
            _ => Holds::Nothing,
        }
    }
}
