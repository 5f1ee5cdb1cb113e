//! The schemas whose values can all be written in block-style YAML, as this crate writes it.

use serde_json::{Map, Value, json};

use crate::{CompileError, CompileErrorKind};

use super::yaml::is_of_name;

/// Keywords that say nothing of values, or only of numbers and strings.
const HARMLESS: [&str; 24] = [
    "$schema",
    "$comment",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "type",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "required",
];

/// Words that YAML 1.1 reads as a truth value or null, in lower case.
const WORDS: [&str; 7] = ["true", "false", "yes", "no", "on", "off", "null"];

/// A schema as it holds for YAML, where no mapping is empty, because that would need braces; nor a document that is a list.
///
/// # Errors
///
/// [`CompileErrorKind::Malformed`] where the text is no JSON, [`CompileErrorKind::Unsupported`] with the place of what cannot be
/// treated.
pub(super) fn of_yaml(schema: &str) -> Result<String, CompileError> {
    let malformed = |error: serde_json::Error| CompileError::new(CompileErrorKind::Malformed, error.to_string()).at("");
    let mut schema: Value = serde_json::from_str(schema).map_err(malformed)?;
    let mut open: Vec<(String, &mut Value)> = vec![(String::new(), &mut schema)];
    while let Some((pointer, schema)) = open.pop() {
        let unsupported = |needed: &str| {
            let message = format!("a reply in YAML needs {needed}");
            CompileError::new(CompileErrorKind::Unsupported, message).at(pointer.as_str())
        };
        let Value::Object(keywords) = schema else {
            return Err(unsupported("a schema with `type` or `enum` here"));
        };
        let types = match keywords.get("type") {
            Some(Value::String(one)) => vec![one.clone()],
            Some(Value::Array(some)) => some.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        let listed = keywords.get("enum").and_then(Value::as_array).cloned();
        let listed = listed.or_else(|| keywords.get("const").map(|value| vec![value.clone()]));
        match &listed {
            Some(values) if values.iter().any(|value| value.is_array() || value.is_object()) => {
                return Err(unsupported("`enum` and `const` without lists and mappings"));
            }
            None if types.is_empty() => return Err(unsupported("`type` or `enum` here")),
            _ => {}
        }
        let is_mapping = listed.is_none() && types.iter().any(|name| name == "object");
        for keyword in keywords.keys() {
            let known = HARMLESS.contains(&keyword.as_str())
                || matches!(keyword.as_str(), "properties" | "additionalProperties" | "items");
            if !known {
                return Err(unsupported("no keywords but those of types, bounds and lengths").on_keyword(keyword));
            }
        }
        if is_mapping {
            check_names(keywords).map_err(|message| unsupported(&message))?;
            keywords.insert("minProperties".to_owned(), json!(1));
        }
        let is_list = listed.is_none() && types.iter().any(|name| name == "array");
        if is_list
            && pointer.is_empty()
            && keywords
                .get("minItems")
                .and_then(Value::as_u64)
                .is_none_or(|least| least == 0)
        {
            keywords.insert("minItems".to_owned(), json!(1));
        }
        if is_list && !matches!(keywords.get("items"), Some(Value::Object(_))) {
            return Err(unsupported("a schema in `items` for a list"));
        }
        for (keyword, value) in keywords.iter_mut() {
            match keyword.as_str() {
                "properties" if is_mapping => {
                    let properties = value.as_object_mut().into_iter().flatten();
                    open.extend(properties.map(|(name, schema)| (format!("{pointer}/properties/{name}"), schema)));
                }
                "items" if is_list => open.push((format!("{pointer}/items"), value)),
                _ => {}
            }
        }
    }
    Ok(schema.to_string())
}

/// Whether the names of a mapping are listed, and stand for themselves without quotes.
fn check_names(keywords: &Map<String, Value>) -> Result<(), String> {
    let listed = keywords.get("properties").and_then(Value::as_object);
    if keywords.get("additionalProperties") != Some(&Value::Bool(false)) || listed.is_none_or(Map::is_empty) {
        return Err("`properties` and `additionalProperties: false` for a mapping".to_owned());
    }
    for name in listed.into_iter().flat_map(Map::keys) {
        let mut bytes = name.bytes();
        let is_plain = bytes.next().is_some_and(|byte| is_of_name(byte, true))
            && bytes.all(|byte| is_of_name(byte, false))
            && !WORDS.contains(&name.to_ascii_lowercase().as_str());
        if !is_plain {
            return Err(format!("names that stand without quotes, unlike {name:?}"));
        }
    }
    Ok(())
}
