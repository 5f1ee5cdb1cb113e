//! The part of JSON Schema that the benchmark's rows use, compiled; with the public validator's reading of the keywords.
//!
//! IFStruct's reading of a schema is not the standard's: a value is judged by one type only, objects take no keys beyond `properties`, null needs a
//! `type` that names it, and keywords for another type are not checked.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::strict_json::pointer_token;

use super::datum::Bound;

/// Error of a row's schema that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the schema of the row cannot be used: `{pointer}`: {message}")]
pub struct SchemaError {
    /// JSON Pointer into the schema.
    pub pointer: String,
    /// The problem at that place.
    pub message: String,
}

/// Rules for a value, by the public validator's reading of its schema.
#[derive(Debug, Default)]
pub(super) struct Schema {
    pub kind: SchemaKind,
    pub null: Null,
    /// `type` as the schema has it, for messages.
    pub type_name: String,
    pub choices: Option<Vec<Value>>,
    pub minimum: Option<Bound>,
    pub maximum: Option<Bound>,
}

/// The type by whose rules a value is judged.
#[derive(Debug, Default)]
pub(super) enum SchemaKind {
    /// No type, several, or one that is none: nothing is checked but `enum`.
    #[default]
    Any,
    Array(Box<ArraySchema>),
    Object(Box<ObjectSchema>),
    String,
    Number,
    Integer,
    Boolean,
}

/// Treatment of null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Null {
    #[default]
    Refused,
    /// Null is allowed, whatever else the schema says.
    Passes,
    /// Null is judged like any other value.
    Checked,
}

#[derive(Debug)]
pub(super) struct ArraySchema {
    pub items: Option<Schema>,
    pub min_items: Option<Bound>,
    pub max_items: Option<Bound>,
}

#[derive(Debug)]
pub(super) struct ObjectSchema {
    pub required: Vec<String>,
    /// In the schema's order.
    pub properties: Vec<(String, Schema)>,
    pub positions: HashMap<String, usize>,
}

impl Schema {
    /// Compiles a schema, nested no deeper than `serde_json` reads.
    ///
    /// # Errors
    ///
    /// A keyword that is not of its form.
    pub fn new(schema: &Map<String, Value>) -> Result<Self, SchemaError> {
        Keywords {
            members: schema,
            pointer: String::new(),
        }
        .schema()
    }
}

/// A subschema and where it stands.
struct Keywords<'a> {
    members: &'a Map<String, Value>,
    pointer: String,
}

impl<'a> Keywords<'a> {
    fn schema(&self) -> Result<Schema, SchemaError> {
        let given = self.get("type");
        let mut null = Null::Refused;
        let mut decisive = None;
        match given {
            None => {}
            Some(Value::String(name)) => {
                decisive = Some(name.as_str());
                if name == "null" {
                    null = Null::Checked;
                }
            }
            Some(Value::Array(names)) => {
                let names: Option<Vec<&str>> = names.iter().map(Value::as_str).collect();
                let names = names.ok_or_else(|| self.error("type", "names of types"))?;
                if names.contains(&"null") {
                    null = Null::Passes;
                }
                let mut others = names.into_iter().filter(|name| *name != "null");
                decisive = others.next().filter(|_| others.next().is_none());
            }
            Some(_) => return Err(self.error("type", "the name of a type or a list of them")),
        }
        let kind = match decisive {
            Some("array") => SchemaKind::Array(Box::new(self.array()?)),
            Some("object") => SchemaKind::Object(Box::new(self.object()?)),
            Some("string") => SchemaKind::String,
            Some("number") => SchemaKind::Number,
            Some("integer") => SchemaKind::Integer,
            Some("boolean") => SchemaKind::Boolean,
            _ => SchemaKind::Any,
        };
        let choices = match self.get("enum") {
            None => None,
            Some(Value::Array(choices)) => Some(choices.clone()),
            Some(_) => return Err(self.error("enum", "a list")),
        };
        Ok(Schema {
            kind,
            null,
            type_name: match given {
                Some(Value::String(name)) => name.clone(),
                Some(names) => names.to_string(),
                None => "a value".to_owned(),
            },
            choices,
            minimum: self.bound("minimum")?,
            maximum: self.bound("maximum")?,
        })
    }

    fn array(&self) -> Result<ArraySchema, SchemaError> {
        let items = match self.get("items") {
            None => None,
            Some(Value::Object(items)) if items.is_empty() => None,
            Some(items) => Some(self.below("items", items)?),
        };
        Ok(ArraySchema {
            items,
            min_items: self.bound("minItems")?,
            max_items: self.bound("maxItems")?,
        })
    }

    fn object(&self) -> Result<ObjectSchema, SchemaError> {
        let required = match self.members.get("required") {
            None => Vec::new(),
            Some(names) => names
                .as_array()
                .and_then(|names| names.iter().map(|name| name.as_str().map(str::to_owned)).collect())
                .ok_or_else(|| self.error("required", "a list of names"))?,
        };
        let mut properties = Vec::new();
        match self.members.get("properties") {
            None => {}
            Some(Value::Object(members)) => {
                for (name, schema) in members {
                    let place = format!("properties/{}", pointer_token(name));
                    properties.push((name.clone(), self.below(&place, schema)?));
                }
            }
            Some(_) => return Err(self.error("properties", "an object of schemas")),
        }
        let positions = properties.iter().enumerate().map(|(at, (name, _))| (name.clone(), at));
        Ok(ObjectSchema {
            required,
            positions: positions.collect(),
            properties,
        })
    }

    /// The subschema at `place`.
    fn below(&self, place: &str, schema: &'a Value) -> Result<Schema, SchemaError> {
        let members = schema
            .as_object()
            .ok_or_else(|| self.error(place, "a schema that is an object"))?;
        let pointer = format!("{}/{place}", self.pointer);
        Keywords { members, pointer }.schema()
    }

    fn bound(&self, keyword: &str) -> Result<Option<Bound>, SchemaError> {
        match self.get(keyword) {
            None => Ok(None),
            Some(Value::Number(number)) => Ok(Some(Bound::new(number))),
            Some(_) => Err(self.error(keyword, "a number")),
        }
    }

    /// The value of a keyword; one that is null counts as not given.
    fn get(&self, keyword: &str) -> Option<&'a Value> {
        self.members.get(keyword).filter(|value| !value.is_null())
    }

    fn error(&self, place: &str, expected: &str) -> SchemaError {
        SchemaError {
            pointer: format!("{}/{place}", self.pointer),
            message: format!("expected {expected}"),
        }
    }
}
