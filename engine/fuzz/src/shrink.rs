//! Shrinks the schema or document of a discrepancy: parts are removed greedily as long as the discrepancy remains.

use serde_json::{Map, Value};

/// Shrinks `value` by removals that keep `wrong` true, until none is left.
pub fn shrunk(value: &Value, wrong: impl Fn(&Value) -> bool) -> Value {
    let mut value = value.clone();
    while let Some(smaller) = smaller(&value).into_iter().find(&wrong) {
        value = smaller;
    }
    value
}

/// All values that result from `value` by one removal.
fn smaller(value: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    match value {
        Value::Array(items) => {
            all.extend(items.iter().cloned());
            for at in 0..items.len() {
                let with = |item: Option<Value>| {
                    let mut items = items.clone();
                    items.splice(at..=at, item);
                    Value::Array(items)
                };
                all.push(with(None));
                all.extend(smaller(&items[at]).into_iter().map(|item| with(Some(item))));
            }
        }
        Value::Object(members) => {
            all.extend(members.values().filter(|member| member.is_object()).cloned());
            for (name, member) in members {
                let with = |value: Option<Value>| {
                    let kept = |(other, old): (&String, &Value)| {
                        let value = if other == name {
                            value.clone()
                        } else {
                            Some(old.clone())
                        };
                        Some((other.clone(), value?))
                    };
                    Value::Object(members.iter().filter_map(kept).collect::<Map<_, _>>())
                };
                all.push(with(None));
                all.extend(smaller(member).into_iter().map(|member| with(Some(member))));
            }
        }
        Value::Number(number) if number.to_string().len() > 1 => all.extend([Value::from(0), Value::from(1)]),
        _ => {}
    }
    if value.as_object().is_some_and(|members| !members.is_empty()) {
        all.insert(0, Value::Bool(true));
    }
    all
}
