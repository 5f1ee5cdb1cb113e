//! The JSON Schema itself.

use serde_json::{Map, Value, json};

use crate::ifstruct::Count;
use crate::ifstruct::draw::Draw;
use crate::ifstruct::generate::phrase;
use crate::ifstruct::generate::spec::{Spec, object_schema};
use crate::ifstruct::generate::taxonomy::Field;
use crate::json_text;

/// The schema, with titles and descriptions as people's schemas have them: of the whole reply or of one item.
pub(super) fn render(spec: &Spec<'_>, draw: &mut Draw) -> String {
    let mut items = object_schema(&spec.fields);
    let closed = draw.chance(60);
    annotate(&mut items, &spec.fields, closed);
    if draw.chance(30) {
        items = prepend(items, "title", json!(phrase::capitalise(&spec.entity.one)));
    }
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("array"));
    let (min, max) = match spec.count {
        Count::Exactly(exact) => (exact, exact),
        Count::Between(low, high) => (low, high),
    };
    if draw.chance(50) {
        schema.insert("minItems".to_owned(), json!(min));
        schema.insert("maxItems".to_owned(), json!(max));
    }
    schema.insert("items".to_owned(), items);
    let mut schema = Value::Object(schema);
    if let Some(key) = spec.wrapper.as_ref().filter(|_| draw.chance(60)) {
        schema = json!({ "type": "object", "properties": { key: schema }, "required": [key] });
        if closed && let Some(schema) = schema.as_object_mut() {
            schema.insert("additionalProperties".to_owned(), json!(false));
        }
    }
    if draw.chance(30) {
        schema = prepend(schema, "$schema", json!("https://json-schema.org/draft/2020-12/schema"));
    }
    match draw.below(4) {
        0 => json_text::to_string(&schema).unwrap_or_default(),
        // A schema is JSON whatever the reply is.
        1 => format!("```json\n{schema:#}\n```"),
        _ => format!("{schema:#}"),
    }
}

fn prepend(schema: Value, keyword: &str, value: Value) -> Value {
    let mut members = Map::new();
    members.insert(keyword.to_owned(), value);
    if let Value::Object(others) = schema {
        members.extend(others);
    }
    Value::Object(members)
}

/// Writes the descriptions of `fields` into the schema of their object, and `additionalProperties: false` if it is `closed`.
fn annotate(object: &mut Value, fields: &[Field], closed: bool) {
    for field in fields {
        let schema = &mut object["properties"][&field.name];
        if let Some(inner) = field.kind.fields() {
            match schema.get_mut("items") {
                Some(items) => annotate(items, inner, closed),
                None => annotate(schema, inner, closed),
            }
        }
        if let (Some(about), Some(schema)) = (&field.about, schema.as_object_mut()) {
            schema.insert("description".to_owned(), json!(phrase::label(about)));
        }
    }
    if closed && let Some(object) = object.as_object_mut() {
        object.insert("additionalProperties".to_owned(), json!(false));
    }
}
