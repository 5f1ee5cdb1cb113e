//! Replies that break one rule each, and what a judge should call it.

use maskwright_suites::ifstruct::{Count, OutputFormat, Sample, reference};
use serde_json::{Map, Value, json};

/// A reply that breaks one rule.
pub struct Mutation {
    /// Name of the change.
    pub name: &'static str,
    pub reply: String,
    /// The rule that the reply violates, in snake case: one name for each kind of rule.
    pub violates: &'static str,
    /// The items, where only they were changed.
    pub items: Option<Vec<Value>>,
}

/// All mutations that make sense for `sample`, of one of its reference replies.
pub fn mutations(sample: &Sample, seed: u64) -> Vec<Mutation> {
    let items = reference::items(sample, seed).unwrap();
    let mut list = of_items(sample, &items);
    list.extend(of_reply(sample, &items));
    list
}

fn fenced(sample: &Sample) -> bool {
    sample.require_code_block
}

/// Changes within the items.
fn of_items(sample: &Sample, items: &[Value]) -> Vec<Mutation> {
    let mut list = Vec::new();
    let mut push = |name, violates, change: &dyn Fn(&mut Map<String, Value>) -> bool| {
        let mut changed = items.to_vec();
        if changed[0].as_object_mut().is_some_and(change) {
            list.push(Mutation {
                name,
                reply: reference::write(sample, changed.clone(), fenced(sample)),
                violates,
                items: Some(changed),
            });
        }
    };
    let schema = &sample.json_schema["items"];
    let properties = schema["properties"].as_object().unwrap();
    push("an extra field", "extra_field", &|item| {
        item.insert("surplus_field".to_owned(), json!("x")).is_none()
    });
    for required in schema["required"].as_array().unwrap() {
        push("a required field left out", "missing_field", &|item| {
            item.remove(required.as_str().unwrap()).is_some()
        });
    }
    for (name, property) in properties {
        let kind = match &property["type"] {
            Value::Array(names) => names[0].as_str().unwrap(),
            name => name.as_str().unwrap(),
        };
        let mut set = |what, violates, value: Value| {
            push(what, violates, &|item| {
                item.insert(name.clone(), value.clone()).is_some()
            });
        };
        if property["type"].is_string() {
            set("null", "wrong_type", Value::Null);
        }
        match kind {
            "string" if property.get("enum").is_some() => {
                set("a value not in the enum", "not_in_enum", json!("none_of_them"))
            }
            "string" => set("a number for a string", "wrong_type", json!(7)),
            "boolean" => set("an integer for a boolean", "wrong_type", json!(1)),
            "integer" | "number" => {
                set("a boolean for a number", "wrong_type", json!(true));
                set("a string for a number", "wrong_type", json!("7"));
                if kind == "integer" {
                    set("a fraction for an integer", "wrong_type", json!(2.5));
                }
                if let Some(min) = property.get("minimum").and_then(Value::as_f64) {
                    set("below the minimum", "out_of_bounds", json!(min as i64 - 1));
                }
                if let Some(max) = property.get("maximum").and_then(Value::as_f64) {
                    set("above the maximum", "out_of_bounds", json!(max as i64 + 1));
                }
            }
            "array" => {
                set("a string for a list", "wrong_type", json!("x"));
                let length = |keyword| property.get(keyword).and_then(Value::as_u64);
                if let Some(min) = length("minItems") {
                    push("a list too short", "array_length", &|item| {
                        let list = item.get_mut(name).and_then(Value::as_array_mut);
                        list.is_some_and(|list| {
                            list.truncate(min as usize - 1);
                            true
                        })
                    });
                }
                if let Some(max) = length("maxItems") {
                    push("a list too long", "array_length", &|item| {
                        let list = item.get_mut(name).and_then(Value::as_array_mut);
                        list.is_some_and(|list| match list.first().cloned() {
                            Some(first) => {
                                list.resize(max as usize + 1, first);
                                true
                            }
                            None => false,
                        })
                    });
                }
                if property["items"]["type"] == "object" {
                    push("an extra field within", "extra_field", &|item| {
                        let first = item.get_mut(name).and_then(|list| list.get_mut(0));
                        first
                            .and_then(Value::as_object_mut)
                            .is_some_and(|first| first.insert("surplus_field".to_owned(), json!(1)).is_none())
                    });
                }
            }
            _ => set("a list for an object", "wrong_type", json!([])),
        }
    }
    let (low, high) = match sample.top_level_count.unwrap() {
        Count::Exactly(exact) => (exact, exact),
        Count::Between(low, high) => (low, high),
    };
    for (name, count) in [("an item too few", low - 1), ("an item too many", high + 1)] {
        if count == 0 {
            // An empty list has no block style.
            continue;
        }
        let mut changed = items.to_vec();
        changed.resize(count as usize, items[0].clone());
        let reply = reference::write(sample, changed, fenced(sample));
        list.push(Mutation {
            name,
            reply,
            violates: "item_count",
            items: None,
        });
    }
    list
}

/// Changes around the items.
fn of_reply(sample: &Sample, items: &[Value]) -> Vec<Mutation> {
    let reply = reference::write(sample, items.to_vec(), fenced(sample));
    let mut list = Vec::new();
    let mut push = |name, violates, reply: String| {
        list.push(Mutation {
            name,
            reply,
            violates,
            items: None,
        })
    };
    let other = |change: &dyn Fn(&mut Sample)| {
        let mut sample = sample.clone();
        change(&mut sample);
        reference::write(&sample, items.to_vec(), fenced(&sample))
    };
    let yaml = sample.output_format == OutputFormat::Yaml;
    match sample.require_wrapper_key {
        true => {
            push(
                "another wrapper key",
                "wrong_wrapper_key",
                other(&|sample| sample.top_level_key = Some("another_key".to_owned())),
            );
            push(
                "no wrapper",
                "missing_wrapper",
                other(&|sample| sample.require_wrapper_key = false),
            );
        }
        false => push(
            "a wrapper",
            "unexpected_wrapper",
            other(&|sample| {
                sample.require_wrapper_key = true;
                sample.top_level_key = Some("items".to_owned());
            }),
        ),
    }
    if sample.require_code_block {
        push(
            "no fence",
            "missing_code_block",
            reference::write(sample, items.to_vec(), false),
        );
        push(
            "a fence that does not end",
            "unclosed_code_block",
            reply.trim_end_matches('`').to_owned(),
        );
        let wrong = if yaml { "json" } else { "yaml" };
        push(
            "a fence of the other format",
            // Without a language that is asked for, what the fence says is taken for the format.
            match sample.code_block_language {
                Some(_) => "wrong_fence_language",
                None => "wrong_format",
            },
            other(&|sample| sample.code_block_language = Some(wrong.to_owned())),
        );
    }
    if sample.forbid_code_block {
        push(
            "a fence",
            "forbidden_code_block",
            reference::write(sample, items.to_vec(), true),
        );
    }
    if sample.require_no_commentary && sample.require_code_block {
        push("words before", "commentary", format!("Here you are:\n\n{reply}"));
        push("words behind", "commentary", format!("{reply}\n\nI hope this helps!"));
    }
    if !sample.require_code_block && !yaml {
        push(
            "words behind",
            "trailing_content",
            format!("{reply}\n\nI hope this helps!"),
        );
    }
    push(
        "the other format",
        // JSON is YAML of a kind; YAML is no JSON at all.
        match (yaml, sample.require_code_block) {
            (true, _) => "wrong_format",
            (false, true) => "syntax",
            (false, false) => "no_data",
        },
        other(&|sample| {
            sample.output_format = if yaml { OutputFormat::Json } else { OutputFormat::Yaml };
            sample.code_block_language = sample
                .require_code_block
                .then(|| if yaml { "yaml" } else { "json" }.to_owned());
        }),
    );
    list
}
