//! What was read from a prompt.

use serde_json::{Map, Value, json};

use super::lexer::{Limits, Scalar, Type};

/// A field, as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub name: String,
    pub kind: Type,
    pub bounds: Limits,
    pub nullable: bool,
    pub optional: bool,
    pub fields: Vec<Field>,
}

impl Field {
    pub fn new(name: &str, kind: Type) -> Self {
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

#[derive(Clone, Debug, PartialEq, Default)]
pub enum Fence {
    #[default]
    Free,
    Any,
    Named(String),
    Forbidden,
}

/// All that a reply must be.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Recovered {
    pub schema: Value,
    pub count: Option<(u64, u64)>,
    pub wrapper: Option<String>,
    /// Whether it was said that there is no wrapper.
    pub unwrapped: bool,
    pub format: Option<String>,
    pub fence: Fence,
    pub no_commentary: bool,
    pub no_extras: bool,
}

/// The schema of a list of objects with `fields`.
pub fn schema(fields: &[Field]) -> Value {
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
            schema[keyword] = serde_json::from_str(bound).unwrap();
        }
    }
    schema
}

fn with_length(mut schema: Value, length: &Limits) -> Value {
    for (keyword, bound) in [("minItems", &length.min), ("maxItems", &length.max)] {
        if let Some(bound) = bound {
            schema[keyword] = serde_json::from_str(bound).unwrap();
        }
    }
    schema
}

/// The schema with every `required` sorted, for schemas to be compared.
pub fn sorted(schema: &Value) -> Value {
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
