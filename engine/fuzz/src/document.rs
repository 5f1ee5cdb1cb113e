//! Random documents over a small set of names and scalars, so that random schemas often apply to them: arbitrary ones, ones made for a
//! schema, and mutations.

use serde_json::{Map, Number, Value};

use crate::Choices;

/// Names of members.
pub const NAMES: [&str; 7] = ["a", "b", "ab", "c", "ba", "", "é"];
/// Strings, those of [`NAMES`] among them.
pub const STRINGS: [&str; 12] = ["a", "", "b", "ab", "é", "aa", "ba", "abc", "1", "😀", "\n\"\\", "aé😀b"];
/// Numbers as they are written.
pub const NUMBERS: [&str; 16] = [
    "0",
    "1",
    "2",
    "-1",
    "3",
    "1.5",
    "10",
    "0.5",
    "-2.5",
    "5",
    "0.1",
    "6",
    "100",
    "0.75",
    "123456789012345678901",
    "-0.001",
];

/// The number that `text` spells.
pub fn number(text: &str) -> Value {
    Value::Number(text.parse().unwrap_or(Number::from(0)))
}

/// A value without parts.
pub fn scalar(choices: &mut Choices<'_>) -> Value {
    match choices.below(8) {
        0..3 => number(choices.pick(&NUMBERS)),
        3..6 => Value::from(choices.pick(&STRINGS)),
        6 => Value::Null,
        _ => Value::Bool(choices.below(2) == 1),
    }
}

/// Any value, nested `depth` times at most.
pub fn any(choices: &mut Choices<'_>, depth: usize) -> Value {
    let kind = if depth == 0 { 0 } else { choices.below(4) };
    match kind {
        0 => scalar(choices),
        1 => Value::Array((0..choices.below(4)).map(|_| any(choices, depth - 1)).collect()),
        _ => {
            let mut members = Map::new();
            for _ in 0..choices.below(4) {
                members.insert((*choices.pick(&NAMES)).to_owned(), any(choices, depth - 1));
            }
            Value::Object(members)
        }
    }
}

/// A value that `schema` is likely to be about: valid often, but not always.
pub fn for_schema(choices: &mut Choices<'_>, schema: &Value, root: &Value, depth: usize) -> Value {
    let Some(keywords) = schema.as_object().filter(|_| depth > 0 && !choices.chance(6)) else {
        return any(choices, depth.min(1));
    };
    if let Some(value) = keywords.get("const") {
        return value.clone();
    }
    if let Some(values) = keywords.get("enum").and_then(Value::as_array)
        && let Some(position) = choices.position(values)
    {
        return values[position].clone();
    }
    let mut below: Vec<&Value> = ["allOf", "anyOf", "oneOf"]
        .iter()
        .filter_map(|name| keywords.get(*name)?.as_array())
        .flatten()
        .collect();
    below.extend(
        ["then", "else", "if", "not"]
            .iter()
            .filter_map(|name| keywords.get(*name)),
    );
    below.extend(referred(keywords, root));
    let own = [
        "properties",
        "items",
        "prefixItems",
        "required",
        "contains",
        "type",
        "patternProperties",
    ];
    let has_own = own.iter().any(|name| keywords.contains_key(*name));
    if let Some(position) = choices.position(&below)
        && (!has_own || choices.chance(40))
    {
        return for_schema(choices, below[position], root, depth - 1);
    }
    let kinds = match keywords.get("type") {
        Some(Value::String(kind)) => vec![kind.as_str()],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ if has_own => vec!["object", "array"],
        _ => vec!["number", "string", "object", "array"],
    };
    match kinds.get(choices.below(kinds.len().max(1))) {
        Some(&"object") => object(choices, keywords, root, depth),
        Some(&"array") => array(choices, keywords, root, depth),
        Some(&"string") => Value::from(choices.pick(&STRINGS)),
        Some(&"integer") => number(choices.pick(&NUMBERS[..5])),
        Some(&"number") => number(choices.pick(&NUMBERS)),
        Some(&"boolean") => Value::Bool(choices.below(2) == 1),
        Some(&"null") => Value::Null,
        _ => any(choices, depth - 1),
    }
}

/// Returns the schema that a reference leads to, where that is plain to see.
fn referred<'r>(keywords: &Map<String, Value>, root: &'r Value) -> Option<&'r Value> {
    let reference = keywords.get("$ref").or(keywords.get("$dynamicRef"))?.as_str()?;
    root.pointer(reference.split_once('#')?.1)
}

fn object(choices: &mut Choices<'_>, keywords: &Map<String, Value>, root: &Value, depth: usize) -> Value {
    let mut members = Map::new();
    let properties = keywords.get("properties").and_then(Value::as_object);
    let mut names: Vec<String> = Vec::new();
    for required in keywords.get("required").and_then(Value::as_array).into_iter().flatten() {
        if !choices.chance(5) {
            names.extend(required.as_str().map(str::to_owned));
        }
    }
    for name in properties.into_iter().flat_map(Map::keys) {
        if choices.chance(60) {
            names.push(name.clone());
        }
    }
    for _ in 0..choices.below(3) {
        names.push((*choices.pick(&NAMES)).to_owned());
    }
    let elsewhere = ["additionalProperties", "unevaluatedProperties", "patternProperties"];
    let elsewhere = elsewhere.iter().filter_map(|name| keywords.get(*name));
    let elsewhere: Vec<&Value> = elsewhere
        .flat_map(|value| match value.as_object() {
            Some(by_pattern) => by_pattern
                .values()
                .filter(|value| value.is_object())
                .chain([value])
                .collect(),
            None => vec![value],
        })
        .collect();
    choices.shuffle(&mut names);
    for name in names {
        let schema = properties.and_then(|properties| properties.get(&name));
        let schema = schema.or_else(|| Some(elsewhere[choices.position(&elsewhere)?]));
        let value = for_schema(choices, schema.unwrap_or(&Value::Bool(true)), root, depth - 1);
        members.insert(name, value);
    }
    Value::Object(members)
}

fn array(choices: &mut Choices<'_>, keywords: &Map<String, Value>, root: &Value, depth: usize) -> Value {
    let first = ["prefixItems", "items"]
        .iter()
        .find_map(|name| keywords.get(*name)?.as_array());
    let rest = ["items", "contains", "additionalItems", "unevaluatedItems"];
    let rest: Vec<&Value> = rest
        .iter()
        .filter_map(|name| keywords.get(*name))
        .filter(|value| !value.is_array())
        .collect();
    let least = keywords.get("minItems").and_then(Value::as_u64).unwrap_or(0).min(3) as usize;
    let count = least + choices.below(4);
    let items = (0..count).map(|position| {
        let own = first.and_then(|first| first.get(position));
        let schema = own.or_else(|| Some(rest[choices.position(&rest)?]));
        for_schema(choices, schema.unwrap_or(&Value::Bool(true)), root, depth - 1)
    });
    Value::Array(items.collect())
}

/// `value` with something changed in one place: a member or an item dropped, added, renamed or swapped, another value.
pub fn changed(choices: &mut Choices<'_>, value: &Value) -> Value {
    let parts = match value {
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    };
    let mut value = value.clone();
    if parts > 0 && choices.chance(60) {
        let at = choices.below(parts);
        let part = match &mut value {
            Value::Array(items) => items.get_mut(at),
            Value::Object(members) => members.values_mut().nth(at),
            _ => None,
        };
        if let Some(part) = part {
            *part = changed(choices, part);
        }
        return value;
    }
    match &mut value {
        Value::Array(items) => change_items(choices, items),
        Value::Object(members) => change_members(choices, members),
        Value::Number(number) if choices.chance(50) => *number = nudged(choices, number),
        Value::String(text) if choices.chance(50) => change_text(choices, text),
        other => *other = any(choices, 1),
    }
    value
}

fn change_items(choices: &mut Choices<'_>, items: &mut Vec<Value>) {
    match (choices.below(5), choices.position(items)) {
        (0, Some(at)) => drop(items.remove(at)),
        (1, Some(at)) => items.push(items[at].clone()),
        (2, Some(at)) => items.swap(0, at),
        (3, Some(at)) => items[at] = any(choices, 1),
        _ => items.push(any(choices, 1)),
    }
}

fn change_members(choices: &mut Choices<'_>, members: &mut Map<String, Value>) {
    let names: Vec<String> = members.keys().cloned().collect();
    match (choices.below(5), choices.position(&names)) {
        (0, Some(at)) => drop(members.shift_remove(&names[at])),
        (1, Some(at)) => {
            if let Some(value) = members.shift_remove(&names[at]) {
                members.insert((*choices.pick(&NAMES)).to_owned(), value);
            }
        }
        (2, Some(at)) => {
            let other = names[choices.below(names.len())].clone();
            let (one, two) = (members[&names[at]].clone(), members[&other].clone());
            members.insert(names[at].clone(), two);
            members.insert(other, one);
        }
        (3, Some(at)) => drop(members.insert(names[at].clone(), any(choices, 1))),
        _ => drop(members.insert((*choices.pick(&NAMES)).to_owned(), any(choices, 1))),
    }
}

fn nudged(choices: &mut Choices<'_>, number: &Number) -> Number {
    match number.as_i64() {
        Some(whole) if choices.chance(70) => Number::from(whole.saturating_add([1, -1, 1_000][choices.below(3)])),
        _ => choices.pick(&NUMBERS).parse().unwrap_or(Number::from(0)),
    }
}

fn change_text(choices: &mut Choices<'_>, text: &mut String) {
    match choices.below(3) {
        0 => drop(text.pop()),
        1 => text.push_str(choices.pick(&STRINGS)),
        _ => text.insert_str(0, choices.pick(&STRINGS)),
    }
}
