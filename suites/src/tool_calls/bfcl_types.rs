//! [`json_schema`]: converts BFCL's descriptions of parameters to JSON Schema.

use serde_json::{Map, Value};

/// The types of BFCL's function descriptions with their names in JSON Schema. BFCL's own conversion for models with OpenAI's interface maps them
/// in the same way; a type that is in neither list becomes `string` there and here.
const TYPES: [(&str, &str); 20] = [
    ("Any", "string"),
    ("Array", "array"),
    ("ArrayList", "array"),
    ("Bigint", "integer"),
    ("HashMap", "object"),
    ("Hashtable", "object"),
    ("Queue", "array"),
    ("Stack", "array"),
    ("String", "string"),
    ("any", "string"),
    ("bool", "boolean"),
    ("byte", "integer"),
    ("char", "string"),
    ("dict", "object"),
    ("double", "number"),
    ("float", "number"),
    ("list", "array"),
    ("long", "integer"),
    ("short", "integer"),
    ("tuple", "array"),
];

/// JSON Schema's own types.
const JSON_TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// Largest depth of descriptions of parameters; the files of BFCL have five levels.
const MAX_DEPTH: usize = 64;

/// Returns the schema of a description: types are mapped, and objects with listed members have no others unless the description allows them, as
/// with OpenAI's strict tools. Everything else stays as it is. Returns `None` where descriptions are nested too deeply.
pub(super) fn json_schema(description: &Value) -> Option<Value> {
    converted(description, MAX_DEPTH)
}

fn converted(description: &Value, depth: usize) -> Option<Value> {
    let Value::Object(members) = description else {
        return Some(description.clone());
    };
    let depth = depth.checked_sub(1)?;
    let mut schema = members.clone();
    if let Some(Value::String(name)) = members.get("type") {
        schema.insert("type".to_owned(), mapped(name).into());
    }
    for keyword in ["items", "additionalProperties"] {
        if let Some(inner) = members.get(keyword) {
            schema.insert(keyword.to_owned(), converted(inner, depth)?);
        }
    }
    if let Some(Value::Object(properties)) = members.get("properties") {
        let each = properties.iter();
        let properties = each.map(|(name, inner)| Some((name.clone(), converted(inner, depth)?)));
        let properties: Map<String, Value> = properties.collect::<Option<_>>()?;
        schema.insert("properties".to_owned(), properties.into());
        schema.entry("additionalProperties").or_insert(Value::Bool(false));
    }
    Some(schema.into())
}

fn mapped(name: &str) -> &str {
    let known = TYPES.iter().find(|(theirs, _)| *theirs == name);
    match known {
        Some((_, ours)) => ours,
        None if JSON_TYPES.contains(&name) => name,
        None => "string",
    }
}
