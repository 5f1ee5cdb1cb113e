//! Fuzz target: in a small world of documents a beginning is accepted if and only if some valid document of the world begins with it.

use std::collections::{HashMap, HashSet};

use maskwright::{MaskError, Masker, TokenId};
use maskwright_suites::validate::Validator;
use serde_json::{Map, Value, json};

use super::{ANY, Compiled, Outcome, TargetResult, compiled, discrepancy};
use crate::{Choices, schema, shrink};

/// The names of members in the world.
const NAMES: [&str; 3] = ["a", "b", "ab"];
/// Number of items and of members that containers of the world have at most.
const MOST_ITEMS: usize = 3;
const MOST_MEMBERS: usize = 2;

/// A random schema that admits documents of the small world only: each beginning of each document of the world is accepted if and only if
/// a document begins with it that the judge finds valid, and each that is accepted has a completion. Beginnings end between values.
///
/// # Errors
///
/// A disagreement, with the schema made as small as it allows.
pub fn small_world(bytes: &[u8]) -> TargetResult {
    let mut choices = Choices::new(bytes);
    let schema = match choices.below(3) {
        0 => schema::wide(&mut choices),
        _ => schema::random(&mut choices),
    };
    let Value::Object(schema) = schema else {
        return Ok(Outcome::Nothing);
    };
    // Older drafts take no notice of what stands beside a reference.
    if schema.contains_key("$ref") {
        return Ok(Outcome::Nothing);
    }
    let found = |schema: &Map<String, Value>| checked(&within_world(schema));
    let Err(first) = found(&schema) else {
        return found(&schema);
    };
    let is_wrong = |schema: &Value| {
        schema
            .as_object()
            .is_some_and(|schema| !schema.contains_key("$ref") && found(schema).is_err())
    };
    match shrink::shrunk(&Value::Object(schema), is_wrong) {
        Value::Object(smallest) => found(&smallest),
        _ => Err(first),
    }
}

/// The scalars of the world, and small containers.
fn values() -> Vec<Value> {
    vec![
        json!(0),
        json!(2),
        json!("a"),
        json!("ab"),
        json!(true),
        json!(null),
        json!([0]),
        json!({"a": 0}),
    ]
}

/// The schema with the condition that a document is in the world. A negation keeps that condition from evaluating members and items.
fn within_world(schema: &Map<String, Value>) -> Value {
    let values = values();
    let members: Map<String, Value> = NAMES
        .iter()
        .map(|name| ((*name).to_owned(), json!({"enum": values})))
        .collect();
    let world = json!({"not": {"not": {"anyOf": [
        {"enum": values},
        {"type": "array", "maxItems": MOST_ITEMS, "items": {"enum": values}},
        {"type": "object", "maxProperties": MOST_MEMBERS, "properties": members, "additionalProperties": false},
    ]}}});
    let mut schema = schema.clone();
    match schema.get_mut("allOf").and_then(Value::as_array_mut) {
        Some(parts) => parts.push(world),
        None => {
            schema.insert("allOf".to_owned(), json!([world]));
        }
    }
    Value::Object(schema)
}

/// A document of the world: its value, and its text in pieces that end between values.
struct Told {
    value: Value,
    pieces: Vec<String>,
}

/// All documents of the world, objects in every order of their members.
fn world() -> Vec<Told> {
    let mut world: Vec<Told> = values()
        .into_iter()
        .map(|value| Told {
            pieces: vec![format!("{value} ")],
            value,
        })
        .collect();
    let mut arrays = vec![Vec::new()];
    for _ in 0..=MOST_ITEMS {
        let longer = |items: &Vec<Value>| {
            values()
                .into_iter()
                .map(|value| [&items[..], &[value]].concat())
                .collect::<Vec<_>>()
        };
        let next = arrays.iter().flat_map(longer).collect();
        for items in std::mem::replace(&mut arrays, next) {
            let mut pieces = vec!["[".to_owned()];
            for (place, item) in items.iter().enumerate() {
                pieces.extend((place > 0).then(|| ",".to_owned()));
                pieces.push(format!("{item} "));
            }
            pieces.push("]".to_owned());
            let value = Value::Array(items);
            world.push(Told { value, pieces });
        }
    }
    let mut objects: Vec<Vec<(&str, Value)>> = vec![Vec::new()];
    for _ in 0..=MOST_MEMBERS {
        let mut next = Vec::new();
        for members in &objects {
            for name in NAMES
                .iter()
                .filter(|name| members.iter().all(|(other, _)| other != *name))
            {
                next.extend(
                    values()
                        .into_iter()
                        .map(|value| [&members[..], &[(*name, value)]].concat()),
                );
            }
        }
        for members in std::mem::replace(&mut objects, next) {
            let mut pieces = vec!["{".to_owned()];
            for (place, (name, value)) in members.iter().enumerate() {
                pieces.extend((place > 0).then(|| ",".to_owned()));
                pieces.push(format!("\"{name}\""));
                pieces.push(":".to_owned());
                pieces.push(format!("{value} "));
            }
            pieces.push("}".to_owned());
            let members = members.into_iter().map(|(name, value)| (name.to_owned(), value));
            let value = Value::Object(members.collect());
            world.push(Told { value, pieces });
        }
    }
    world
}

/// Compares what the engine accepts with the documents that the judge finds valid.
fn checked(schema: &Value) -> TargetResult {
    let text = schema.to_string();
    let judge = match Validator::from_value(schema) {
        Ok(judge) => judge,
        Err(_) => return Ok(Outcome::Nothing),
    };
    let world = world();
    let (mut live, mut whole) = (HashSet::new(), HashSet::new());
    for told in &world {
        if judge.judge_value(&told.value).valid {
            let ends = (1..=told.pieces.len()).map(|count| told.pieces[..count].concat());
            live.extend(ends);
            whole.insert(told.pieces.concat());
        }
    }
    let start = match compiled(&text, ANY)? {
        Compiled::Masker(masker) => masker,
        Compiled::Refused(Outcome::Unsatisfiable) if !whole.is_empty() => {
            let document = whole.into_iter().next().unwrap_or_default();
            return Err(discrepancy("refused as unsatisfiable", &text, document));
        }
        Compiled::Refused(why) => return Ok(why),
    };
    let mut known: HashMap<String, Option<Box<dyn Masker>>> = HashMap::from([(String::new(), Some(start))]);
    for told in &world {
        let mut before = String::new();
        for piece in &told.pieces {
            let here = format!("{before}{piece}");
            if !known.contains_key(&here) {
                let after = match known.get(&before).and_then(Option::as_ref) {
                    Some(masker) => read(&**masker, piece),
                    None => Ok(None),
                };
                let after = match after {
                    Ok(after) => after,
                    Err(MaskError::LimitExceeded(_)) => return Ok(Outcome::Limit),
                    Err(error) => return Err(discrepancy(error.to_string(), &text, here)),
                };
                if let Some(problem) = problem(after.as_deref(), live.contains(&here), whole.contains(&here))
                    .map_err(|error| discrepancy(error.to_string(), &text, &*here))?
                {
                    return Err(discrepancy(problem, &text, here));
                }
                known.insert(here.clone(), after);
            }
            before = here;
        }
    }
    Ok(Outcome::Agreement(live.len()))
}

/// The masker after some bytes; `None` if one of them is refused.
fn read(masker: &dyn Masker, piece: &str) -> Result<Option<Box<dyn Masker>>, MaskError> {
    let mut masker = masker.fork()?;
    for byte in piece.bytes() {
        match masker.advance(TokenId::from(byte)) {
            Ok(()) => {}
            Err(MaskError::TokenRefused { .. }) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    Ok(Some(masker))
}

/// The defect of a state, given whether a valid document begins so and whether this is one; `None` if it has none.
fn problem(masker: Option<&dyn Masker>, is_live: bool, is_whole: bool) -> Result<Option<String>, MaskError> {
    let Some(masker) = masker else {
        return Ok(is_live.then(|| "a valid document begins so, and the beginning is refused".to_owned()));
    };
    if !is_live {
        return Ok(Some(
            "no valid document begins so, and the beginning is accepted".to_owned(),
        ));
    }
    let mut ended = masker.fork()?;
    if ended.is_complete()? != is_whole {
        return Ok(Some(format!(
            "the document is valid: {is_whole}; the engine says otherwise"
        )));
    }
    let mut tokens = Vec::new();
    if !ended.completion(&mut tokens)? {
        return Ok(Some("the beginning has no completion".to_owned()));
    }
    for token in tokens {
        if let Err(error) = ended.advance(token) {
            return Ok(Some(format!("the completion is refused: {error}")));
        }
    }
    Ok((!ended.is_complete()?).then(|| "the completion does not end the document".to_owned()))
}
