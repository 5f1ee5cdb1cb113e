//! [`Restriction`]: the conditions under which keywords are supported, and where they hold.

use std::collections::HashSet;

use maskwright_suites::census::{is_keyword, is_recursive, local};
use serde_json::{Map, Value};

/// Keywords that allow and forbid nothing by themselves.
const ANNOTATIONS: [&str; 20] = [
    "$anchor",
    "$comment",
    "$defs",
    "$dynamicAnchor",
    "$id",
    "$recursiveAnchor",
    "$schema",
    "$vocabulary",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "default",
    "definitions",
    "deprecated",
    "description",
    "examples",
    "id",
    "readOnly",
    "title",
    "writeOnly",
];

/// A condition under which a keyword is supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restriction {
    /// `all-required`: where every member of `properties` is required (`minProperties`, `maxProperties`).
    AllRequired,
    /// `alone`: where no other keyword of the same schema asserts anything (`$ref`, `anyOf`).
    Alone,
    /// `boolean`: where the value is true or false (`additionalProperties`).
    Boolean,
    /// `disjoint`: where no instance can be valid under two branches, by their types, values, or the values of a required
    /// member (`oneOf`).
    Disjoint,
    /// `false`: where the value is false (`additionalProperties`).
    False,
    /// `integer`: where the type is integer (`minimum` and the like).
    Integer,
    /// `local`: where the reference is a pointer into the document (`$ref`).
    Local,
    /// `no-lookaround`: where the pattern, or each name of the value, looks neither ahead nor behind.
    NoLookaround,
    /// `not-recursive`: where no reference of the document leads back to itself (`$ref`).
    NotRecursive,
    /// `one-schema`: where the value is one schema, not a list (`items`).
    OneSchema,
}

/// A text that names no restriction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no restriction {:?} of keywords: known are {}", .0, Restriction::NAMES.map(|(name, _)| name).join(", "))]
pub struct UnknownRestriction(pub(super) String);

/// Context of a keyword: the root schema, and the schema object that has the keyword.
pub(super) struct Place<'a> {
    pub(super) root: &'a Value,
    pub(super) schema: &'a Map<String, Value>,
}

/// Whether a member of a schema affects which instances are valid.
pub(super) fn asserts(schema: &Map<String, Value>, name: &str, value: &Value) -> bool {
    match name {
        "then" | "else" => schema.contains_key("if"),
        "if" => schema.contains_key("then") || schema.contains_key("else"),
        "additionalItems" => schema.get("items").is_some_and(Value::is_array),
        "minContains" | "maxContains" => schema.contains_key("contains"),
        "uniqueItems" => value != &Value::Bool(false),
        "format" => types(schema).is_none_or(|types| types.contains("string")),
        _ => is_keyword(name) && !ANNOTATIONS.contains(&name),
    }
}

/// The types that `type` allows; `None` without it.
fn types(schema: &Map<String, Value>) -> Option<HashSet<&str>> {
    match schema.get("type")? {
        Value::String(one) => Some(HashSet::from([one.as_str()])),
        Value::Array(several) => Some(several.iter().filter_map(Value::as_str).collect()),
        _ => None,
    }
}

/// The values that `enum` or `const` allows; `None` without them.
fn values(schema: &Map<String, Value>) -> Option<Vec<&Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => Some(vec![value]),
        (None, Some(Value::Array(values))) => Some(values.iter().collect()),
        _ => None,
    }
}

fn requires(schema: &Map<String, Value>, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|required| required.iter().any(|other| other == name))
}

impl Restriction {
    pub(super) const NAMES: [(&'static str, Self); 10] = [
        ("all-required", Self::AllRequired),
        ("alone", Self::Alone),
        ("boolean", Self::Boolean),
        ("disjoint", Self::Disjoint),
        ("false", Self::False),
        ("integer", Self::Integer),
        ("local", Self::Local),
        ("no-lookaround", Self::NoLookaround),
        ("not-recursive", Self::NotRecursive),
        ("one-schema", Self::OneSchema),
    ];

    pub(super) fn holds(self, place: &Place<'_>, value: &Value) -> bool {
        let schema = place.schema;
        match self {
            Self::AllRequired => {
                let properties = schema.get("properties").and_then(Value::as_object);
                properties.is_none_or(|properties| properties.keys().all(|name| requires(schema, name)))
            }
            Self::Alone => {
                schema
                    .iter()
                    .filter(|(name, value)| asserts(schema, name, value))
                    .count()
                    == 1
            }
            Self::Boolean => value.is_boolean(),
            Self::Disjoint => disjoint_branches(place.root, value),
            Self::False => value == &Value::Bool(false),
            Self::Integer => types(schema).is_some_and(|types| types == HashSet::from(["integer"])),
            Self::Local => value
                .as_str()
                .is_some_and(|reference| reference == "#" || reference.starts_with("#/")),
            Self::NoLookaround => match value {
                Value::String(pattern) => !looks_around(pattern),
                Value::Object(patterns) => !patterns.keys().any(|pattern| looks_around(pattern)),
                _ => true,
            },
            Self::NotRecursive => !is_recursive(place.root),
            Self::OneSchema => !value.is_array(),
        }
    }
}

fn looks_around(pattern: &str) -> bool {
    ["(?=", "(?!", "(?<=", "(?<!"]
        .iter()
        .any(|start| pattern.contains(start))
}

/// Whether the schemas of a list exclude one another, as far as [`disjoint`] sees.
fn disjoint_branches(root: &Value, branches: &Value) -> bool {
    let branches = branches.as_array().map(Vec::as_slice).unwrap_or_default();
    let resolved: Vec<&Value> = branches.iter().map(|branch| resolve(root, branch)).collect();
    let mut pairs = resolved
        .iter()
        .enumerate()
        .flat_map(|(at, left)| resolved[at + 1..].iter().map(move |right| (*left, *right)));
    pairs.all(|(left, right)| disjoint(root, left, right))
}

/// Returns the target of the schema's `$ref` where that is local, and otherwise `schema` itself.
fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let reference = schema.get("$ref").and_then(Value::as_str);
    reference.and_then(|reference| local(root, reference)).unwrap_or(schema)
}

/// Whether no instance is valid under both, by types, values, or the values of a member that both require.
fn disjoint(root: &Value, left: &Value, right: &Value) -> bool {
    if [left, right].contains(&&Value::Bool(false)) {
        return true;
    }
    let (Value::Object(left), Value::Object(right)) = (left, right) else {
        return false;
    };
    excludes(left, right) || excluding_member(root, left, right)
}

fn excludes(left: &Map<String, Value>, right: &Map<String, Value>) -> bool {
    let by_values = match (values(left), values(right)) {
        (Some(left), Some(right)) => !left.iter().any(|value| right.contains(value)),
        _ => false,
    };
    let by_types = match (types(left), types(right)) {
        (Some(left), Some(right)) => {
            let numbers = |types: &HashSet<&str>| types.contains("number") || types.contains("integer");
            left.is_disjoint(&right) && !(numbers(&left) && numbers(&right))
        }
        _ => false,
    };
    by_values || by_types
}

fn excluding_member(root: &Value, left: &Map<String, Value>, right: &Map<String, Value>) -> bool {
    // Members say nothing about instances that are no objects.
    if !is_object(left) && !is_object(right) {
        return false;
    }
    let (Some(left_members), Some(right_members)) = (members(left), members(right)) else {
        return false;
    };
    left_members.iter().any(|(name, member)| {
        let other = right_members.get(name).map(|other| resolve(root, other));
        match (resolve(root, member), other) {
            (Value::Object(member), Some(Value::Object(other))) => {
                requires(left, name) && requires(right, name) && excludes(member, other)
            }
            _ => false,
        }
    })
}

fn is_object(schema: &Map<String, Value>) -> bool {
    types(schema).is_some_and(|types| types == HashSet::from(["object"]))
}

fn members(schema: &Map<String, Value>) -> Option<&Map<String, Value>> {
    schema.get("properties")?.as_object()
}
