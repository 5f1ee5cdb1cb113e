//! Conversion of a sample to the language of the replies that meet its request: the form around the data, and the data's schema.

use maskwright::{DataFormat, Envelope, ReplyForm};
use maskwright_suites::ifstruct::{Count, OutputFormat, Sample};
use serde_json::{Map, Value, json};

/// The forms in which a reply passes: data in the format asked for, in a fence as far as that is required, forbidden or named, and
/// nothing beside it, also where commentary would be allowed.
pub fn form(sample: &Sample) -> ReplyForm {
    let (data, languages): (_, &[&str]) = match sample.output_format {
        OutputFormat::Json => (DataFormat::Json, &["json", ""]),
        OutputFormat::Yaml => (DataFormat::Yaml, &["yaml", "yml", ""]),
    };
    let mut envelopes: Vec<Envelope> = match &sample.code_block_language {
        Some(language) => vec![Envelope::fenced(language)],
        None => languages.iter().map(|language| Envelope::fenced(language)).collect(),
    };
    if sample.forbid_code_block {
        envelopes.clear();
    }
    if !sample.require_code_block && sample.code_block_language.is_none() {
        envelopes.push(Envelope::bare());
    }
    ReplyForm { data, envelopes }
}

/// The schema of the whole data: the list with as many items as asked for, in its wrapper where there is one, and no keys but those
/// listed.
pub fn schema(sample: &Sample) -> Value {
    let mut list = Value::Object(sample.json_schema.clone());
    close_objects(&mut list);
    let count = sample.top_level_count.map(|count| match count {
        Count::Exactly(count) => (count, count),
        Count::Between(least, most) => (least, most),
    });
    if let (Some(list), Some((least, most))) = (list.as_object_mut(), count) {
        let own = |keyword: &str, list: &Map<String, Value>| list.get(keyword).and_then(Value::as_u64);
        let least = own("minItems", list).map_or(least, |own| own.max(least));
        let most = own("maxItems", list).map_or(most, |own| own.min(most));
        list.insert("minItems".to_owned(), json!(least));
        list.insert("maxItems".to_owned(), json!(most));
    }
    match (sample.require_wrapper_key, &sample.top_level_key) {
        (true, key) => {
            let key = key.as_deref().unwrap_or("items");
            json!({
                "type": "object",
                "properties": { key: list },
                "required": [key],
                "additionalProperties": false,
            })
        }
        (false, _) => list,
    }
}

/// Forbids keys that are not listed, wherever some are.
fn close_objects(schema: &mut Value) {
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        match schema {
            Value::Object(keywords) => {
                if matches!(keywords.get("properties"), Some(Value::Object(_))) {
                    keywords.insert("additionalProperties".to_owned(), Value::Bool(false));
                }
                for (keyword, value) in keywords.iter_mut() {
                    match (keyword.as_str(), value) {
                        ("properties", Value::Object(properties)) => open.extend(properties.values_mut()),
                        ("items", items) => open.push(items),
                        _ => {}
                    }
                }
            }
            Value::Array(schemas) => open.extend(schemas),
            _ => {}
        }
    }
}
