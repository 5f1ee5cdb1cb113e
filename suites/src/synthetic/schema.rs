//! A document written down as a JSON Schema, with the order and choice of keywords varied as in real schemas.

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value, json};

use super::names::{capitalised, pick};
use super::shape::{Object, Property, SchemaShape, ValueShape};
use super::words;

/// Values of `$schema` and how often.
const DIALECTS: &[&str] = &[
    "https://json-schema.org/draft/2020-12/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-06/schema#",
];

/// The schema of `document`.
pub(super) fn write(document: &SchemaShape, rng: &mut ChaCha8Rng) -> Value {
    let habits = AuthorHabits {
        required_first: rng.random_bool(0.15),
        closed_first: rng.random_bool(0.2),
        annotated: if rng.random_bool(0.3) { 0.35 } else { 0.0 },
    };
    let writer = SchemaWriter { document, habits };
    let mut root = Map::new();
    if rng.random_bool(0.12) {
        // In the drafts before 2019-09 the keyword `$defs` means nothing, but a `$ref` into it is resolved all the same.
        insert(&mut root, "$schema", pick(rng, DIALECTS));
    }
    if rng.random_bool(0.12) {
        insert(&mut root, "title", capitalised(pick(rng, words::NOUNS)));
    }
    if rng.random_bool(0.06) {
        insert(&mut root, "description", description(rng));
    }
    let definitions_first = rng.random_bool(0.4);
    if definitions_first {
        writer.definitions(&mut root, rng);
    }
    writer.write(&document.root, &mut root, rng);
    if !definitions_first {
        writer.definitions(&mut root, rng);
    }
    Value::Object(root)
}

/// Choices that one author keeps to throughout a schema.
struct AuthorHabits {
    required_first: bool,
    closed_first: bool,
    /// Probability that a property has a title or description.
    annotated: f64,
}

struct SchemaWriter<'a> {
    document: &'a SchemaShape,
    habits: AuthorHabits,
}

impl SchemaWriter<'_> {
    fn definitions(&self, into: &mut Map<String, Value>, rng: &mut ChaCha8Rng) {
        if self.document.definitions.is_empty() {
            return;
        }
        let definitions: Map<_, _> = self
            .document
            .definitions
            .iter()
            .map(|(name, shape)| (name.clone(), self.schema(shape, rng)))
            .collect();
        insert(into, self.document.definitions_key, definitions);
    }

    fn schema(&self, shape: &ValueShape, rng: &mut ChaCha8Rng) -> Value {
        let mut into = Map::new();
        self.write(shape, &mut into, rng);
        Value::Object(into)
    }

    fn write(&self, shape: &ValueShape, into: &mut Map<String, Value>, rng: &mut ChaCha8Rng) {
        match shape {
            ValueShape::Boolean => insert(into, "type", "boolean"),
            ValueShape::Null => insert(into, "type", "null"),
            ValueShape::Integer {
                min,
                max,
                exclusive_min,
                step,
            } => {
                insert(into, "type", "integer");
                insert_some(into, if *exclusive_min { "exclusiveMinimum" } else { "minimum" }, *min);
                insert_some(into, "maximum", *max);
                insert_some(into, "multipleOf", *step);
            }
            ValueShape::Number { min, max } => {
                insert(into, "type", "number");
                insert_some(into, "minimum", *min);
                insert_some(into, "maximum", *max);
            }
            ValueShape::Text { min, max } => {
                insert(into, "type", "string");
                insert_some(into, "minLength", *min);
                insert_some(into, "maxLength", *max);
            }
            ValueShape::Format(format) => {
                insert(into, "type", "string");
                insert(into, "format", *format);
            }
            ValueShape::Pattern(pattern) => {
                insert(into, "type", "string");
                insert(into, "pattern", pattern.regex);
            }
            ValueShape::Enum { values, typed } => {
                if *typed {
                    insert(
                        into,
                        "type",
                        if values.iter().all(Value::is_string) {
                            "string"
                        } else {
                            "integer"
                        },
                    );
                }
                insert(into, "enum", values.clone());
            }
            ValueShape::Const(value) => insert(into, "const", value.clone()),
            ValueShape::Array {
                items,
                min,
                max,
                unique,
            } => {
                insert(into, "type", "array");
                insert(into, "items", self.schema(items, rng));
                insert_some(into, "minItems", *min);
                insert_some(into, "maxItems", *max);
                insert_some(into, "uniqueItems", unique.then_some(true));
            }
            ValueShape::Object(object) => self.object(object, into, rng),
            ValueShape::Nullable(inner) => {
                self.write(inner, into, rng);
                if let Some(kind) = into.get_mut("type") {
                    *kind = json!([kind.take(), "null"]);
                }
            }
            ValueShape::AnyOf(branches) => {
                insert(
                    into,
                    "anyOf",
                    branches.iter().map(|b| self.schema(b, rng)).collect::<Vec<_>>(),
                );
            }
            ValueShape::Reference(index) => {
                if let Some((name, _)) = self.document.definitions.get(*index) {
                    let name = name.replace(' ', "%20");
                    insert(into, "$ref", format!("#/{}/{name}", self.document.definitions_key));
                }
            }
        }
    }

    fn object(&self, object: &Object, into: &mut Map<String, Value>, rng: &mut ChaCha8Rng) {
        insert(into, "type", "object");
        let required: Vec<&str> = object
            .fields
            .iter()
            .filter(|f| f.required)
            .map(|f| f.name.as_str())
            .collect();
        let required = (!required.is_empty()).then_some(required);
        let closed = object.closed.then_some(false);
        if self.habits.required_first {
            insert_some(into, "required", required.clone());
        }
        if self.habits.closed_first {
            insert_some(into, "additionalProperties", closed);
        }
        let properties: Map<_, _> = object
            .fields
            .iter()
            .map(|field| (field.name.clone(), self.property(field, rng)))
            .collect();
        insert(into, "properties", properties);
        if !self.habits.required_first {
            insert_some(into, "required", required);
        }
        if !self.habits.closed_first {
            insert_some(into, "additionalProperties", closed);
        }
    }

    fn property(&self, field: &Property, rng: &mut ChaCha8Rng) -> Value {
        let mut schema = Map::new();
        let annotated = !matches!(field.shape, ValueShape::Reference(_)) && rng.random_bool(self.habits.annotated);
        let leading = rng.random_bool(0.3);
        let note = if rng.random_bool(0.2) { "title" } else { "description" };
        if annotated && leading {
            insert(&mut schema, note, description(rng));
        }
        self.write(&field.shape, &mut schema, rng);
        if annotated && !leading {
            insert(&mut schema, note, description(rng));
        }
        Value::Object(schema)
    }
}

fn description(rng: &mut ChaCha8Rng) -> String {
    let (modifier, noun, other) = (
        pick(rng, words::MODIFIERS),
        pick(rng, words::NOUNS),
        pick(rng, words::NOUNS),
    );
    match rng.random_range(0..5) {
        0 => format!("The {modifier} {noun}"),
        1 => format!("The {noun} of the {other}."),
        2 => format!("{} {noun} of this {other}", capitalised(modifier)),
        3 => format!("{} {noun}", capitalised(other)),
        _ => format!("Which {noun} the {modifier} {other} has."),
    }
}

fn insert(into: &mut Map<String, Value>, key: &str, value: impl Into<Value>) {
    into.insert(key.to_owned(), value.into());
}

fn insert_some(into: &mut Map<String, Value>, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        insert(into, key, value);
    }
}
