//! `unevaluatedProperties` and `unevaluatedItems` beside every way in which a subschema applies to the same value, and everything that it may
//! evaluate there.

use std::collections::HashSet;

use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::{document, loaded, subject, walk};
use crate::Style;

/// Keywords of which each evaluates items of an array, or members of an object.
const EVALUATED: [&str; 8] = [
    r#""prefixItems": [true]"#,
    r#""items": {"type": "integer"}"#,
    r#""contains": {"type": "object"}"#,
    r#""unevaluatedItems": {"type": "boolean"}"#,
    r#""properties": {"b": true}"#,
    r#""patternProperties": {"^a": {"type": "integer"}}"#,
    r#""additionalProperties": {"type": "object"}"#,
    r#""unevaluatedProperties": {"type": "array"}"#,
];

/// Keywords with a subschema `P`: those through which it applies to the same value, so that what it evaluates counts, and some through which it does not.
const PLACES: [&str; 12] = [
    r#""allOf": [P]"#,
    r#""anyOf": [P, {"maxItems": 1, "required": ["a"]}]"#,
    r#""oneOf": [P, {"minItems": 2, "required": ["b"]}]"#,
    r#""not": {"not": P}"#,
    r#""if": P"#,
    r#""if": {"minItems": 2, "required": ["a"]}, "then": P"#,
    r#""if": {"minItems": 2, "required": ["a"]}, "else": P"#,
    r#""dependentSchemas": {"b": P}"#,
    r#""dependentSchemas": {"b": {"required": ["c"], "allOf": [P]}}"#,
    r##""$ref": "#/$defs/p""##,
    r#""contains": P, "minContains": 0"#,
    r#""propertyNames": P"#,
];

/// The rest of a schema whose unevaluated parts are restricted.
const RESTS: [&str; 2] = [
    r#""unevaluatedItems": false, "unevaluatedProperties": false"#,
    r#""unevaluatedItems": {"type": "string"}, "unevaluatedProperties": {"type": "boolean"}"#,
];

fn schemas() -> Vec<String> {
    let mut schemas = Vec::new();
    for rest in RESTS {
        for place in PLACES {
            for evaluated in EVALUATED {
                let part = format!("{{{evaluated}}}");
                let place = place.replace('P', &part);
                schemas.push(format!(r#"{{{rest}, {place}, "$defs": {{"p": {part}}}}}"#));
            }
        }
    }
    schemas
}

/// A subschema with up to three of the above, within one another.
fn nested(random: &mut ChaCha8Rng, depth: u32) -> String {
    let (mut members, mut names) = (Vec::new(), HashSet::new());
    for _ in 0..random.random_range(1..=3) {
        let member = match depth > 0 && random.random_bool(0.6) {
            true => PLACES.choose(random).unwrap().replace('P', &nested(random, depth - 1)),
            false => (*EVALUATED.choose(random).unwrap()).to_owned(),
        };
        if names.insert(member.split(':').next().unwrap().to_owned()) {
            members.push(member);
        }
    }
    format!("{{{}}}", members.join(", "))
}

/// Random schemas whose unevaluated parts are restricted.
fn nested_schemas(random: &mut ChaCha8Rng, count: usize) -> Vec<String> {
    let schemas = (0..count).map(|_| {
        let rest = RESTS.choose(random).unwrap();
        let (part, definition) = (nested(random, 2), nested(random, 0));
        format!(r#"{{{rest}, "allOf": [{part}], "$defs": {{"p": {definition}}}}}"#)
    });
    schemas.collect()
}

/// One automaton judges all documents, so that what it has learnt from one must not change what it says of another.
#[test]
fn unevaluated_parts_are_judged_as_the_specification_says() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut documents: Vec<String> = (0..150).map(|_| document(&mut random, 3)).collect();
    let plain = [
        r#"[{"b":1}]"#,
        r#"["s"]"#,
        r#"{"b":1}"#,
        r#"{"b":[]}"#,
        r#"[[{"b":1}]]"#,
        r#"{"b":1,"c":true}"#,
    ];
    documents.extend(plain.map(str::to_owned));
    for schema in schemas().into_iter().chain(nested_schemas(&mut random, 300)) {
        let mut subject = subject(&schema);
        for text in &documents {
            assert_eq!(subject.accepts(text), subject.judge(text), "{schema}\n{text}");
        }
    }
}

#[test]
fn walks_among_unevaluated_parts_end() {
    walk(Style::generation(), &schemas(), 60, &mut |_| {});
    let mut random = ChaCha8Rng::seed_from_u64(8);
    walk(Style::rfc8259(), &nested_schemas(&mut random, 100), 60, &mut |_| {});
}

/// On an array `dependentSchemas` says nothing, so that none has an item here.
#[test]
fn arrays_depend_on_no_member() {
    let schema = r#"{"type": "array", "minItems": 1, "unevaluatedItems": false, "dependentSchemas": {"b": {"prefixItems": [true]}}}"#;
    assert!(loaded(schema, Style::rfc8259()).2.is_none());
}
