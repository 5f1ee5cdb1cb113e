//! Requirements read from a prompt.

use serde_json::{Map, Value, json};

use super::lexer::{Limits, Scalar, Type};

/// A field, as it was read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub name: String,
    pub kind: Type,
    pub bounds: Limits,
    pub nullable: bool,
    pub optional: bool,
    pub fields: Vec<Field>,
}

impl Field {
    pub(super) fn new(name: &str, kind: Type) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            bounds: Limits::default(),
            nullable: false,
            optional: false,
            fields: Vec::new(),
        }
    }
}

/// The prompt's rule on a code fence.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Fence {
    /// The prompt has no rule.
    #[default]
    Free,
    /// A fence is required.
    Any,
    /// A fence that names this language is required.
    Named(String),
    /// A fence is forbidden.
    Forbidden,
}

/// All requirements on a reply, as a prompt states them or a sample means them.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Recovered {
    /// The schema of the list, every `required` in alphabetical order.
    pub schema: Value,
    /// The number of items, at least and at most.
    pub count: Option<(u64, u64)>,
    /// The key that the list stands under.
    pub wrapper: Option<String>,
    /// Whether it was said that there is no such key.
    pub unwrapped: bool,
    /// Format of the data, `json` or `yaml`.
    pub format: Option<String>,
    /// The rule on a code fence.
    pub fence: Fence,
    /// Whether there may be nothing beside the data.
    pub no_commentary: bool,
    /// Whether no other fields may be added.
    pub no_extras: bool,
    /// Sentences on a fence, on text around the data or on other fields that allow or doubt rather than ask: their requirements
    /// are unknown.
    pub unclear: Vec<String>,
}

/// The schema of a list of objects with `fields`.
pub(super) fn schema(fields: &[Field]) -> Value {
    json!({"type": "array", "items": object(fields)})
}

fn object(fields: &[Field]) -> Value {
    let properties: Map<String, Value> = fields
        .iter()
        .map(|field| (field.name.clone(), property(field)))
        .collect();
    let required: Vec<&str> = fields
        .iter()
        .filter(|field| !field.optional)
        .map(|field| &*field.name)
        .collect();
    json!({"type": "object", "properties": properties, "required": required})
}

fn property(field: &Field) -> Value {
    let mut schema = match &field.kind {
        Type::Scalar(scalar) => limited(*scalar, &field.bounds),
        Type::Enum(values) => json!({"type": "string", "enum": values}),
        Type::List(item, length) => {
            with_length(json!({"type": "array", "items": limited(*item, &field.bounds)}), length)
        }
        Type::Object => object(&field.fields),
        Type::Objects(length) => with_length(json!({"type": "array", "items": object(&field.fields)}), length),
    };
    if field.nullable {
        schema["type"] = json!([schema["type"], "null"]);
    }
    schema
}

fn limited(scalar: Scalar, bounds: &Limits) -> Value {
    let name = match scalar {
        Scalar::String => "string",
        Scalar::Integer => "integer",
        Scalar::Number => "number",
        Scalar::Boolean => "boolean",
    };
    let mut schema = json!({ "type": name });
    for (keyword, bound) in [("minimum", &bounds.min), ("maximum", &bounds.max)] {
        if let Some(bound) = bound {
            schema[keyword] = number(bound);
        }
    }
    schema
}

fn with_length(mut schema: Value, length: &Limits) -> Value {
    for (keyword, bound) in [("minItems", &length.min), ("maxItems", &length.max)] {
        if let Some(bound) = bound {
            schema[keyword] = number(bound);
        }
    }
    schema
}

/// A number as it was written; null where it is none of JSON's, such as 007.
fn number(digits: &str) -> Value {
    serde_json::from_str(digits).unwrap_or_default()
}

/// The schema with every `required` sorted, for schemas to be compared.
pub(super) fn sorted(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| {
                let mut value = sorted(value);
                if let ("required", Some(names)) = (name.as_str(), value.as_array_mut()) {
                    names.sort_by_key(ToString::to_string);
                }
                (name.clone(), value)
            })
            .collect(),
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}
