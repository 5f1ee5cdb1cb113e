//! Tests of the order of keys: a document keeps the order of the alternative that it is valid under.

use super::*;
use crate::KeyOrder;

/// Schemas of which several alternatives have the same keys in different orders.
pub(super) const CONTESTED: [&str; 10] = [
    r#"{"anyOf": [
        {"type": "object", "properties": {"a": {"const": 0}, "b": {"type": "integer"}, "c": {"type": "string"}}, "required": ["a", "b", "c"], "additionalProperties": false},
        {"type": "object", "properties": {"a": {"const": 1}, "c": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a", "c", "b"], "additionalProperties": false}]}"#,
    r#"{"type": "object", "oneOf": [
        {"properties": {"b": {"type": "integer"}, "c": true, "a": {"const": 0}}, "required": ["a"]},
        {"properties": {"c": true, "b": {"type": "integer"}, "a": {"const": 1}}, "required": ["a"]}]}"#,
    r#"{"anyOf": [{"properties": {"a": true, "b": true}}, {"properties": {"b": {"type": "integer"}, "a": {"type": "null"}}, "required": ["b"]}]}"#,
    r#"{"type": "object", "anyOf": [{"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}, {"properties": {"b": {"type": "integer"}, "a": {"type": "integer"}}}]}"#,
    r#"{"type": "object", "if": {"properties": {"c": {"const": 1}}, "required": ["c"]},
        "then": {"properties": {"a": {"type": "integer"}, "b": true}}, "else": {"properties": {"b": {"type": "null"}, "a": true}}}"#,
    r#"{"enum": [{"a": 0, "b": 1}, {"b": 1, "a": 1, "c": {"b": 1, "a": 0}}, {"c": {"a": 1, "b": 0}}, {"b": 0}]}"#,
    r#"{"type": "object", "properties": {"c": {"type": "integer"}}, "oneOf": [
        {"properties": {"a": {"const": 0}, "b": true}, "required": ["a"]}, {"properties": {"b": true, "a": {"const": 1}}, "required": ["a"], "maxProperties": 2},
        {"properties": {"b": {"const": 2}, "ab": true, "a": {"type": "null"}}, "required": ["ab"]}], "patternProperties": {"^a": {"minimum": 0}}}"#,
    r#"{"type": "array", "uniqueItems": true, "items": {"type": "object", "anyOf": [
        {"properties": {"a": {"enum": [0, 1]}, "b": {"const": 0}}}, {"properties": {"b": {"const": 1}, "a": {"enum": [0, 1]}}}], "required": ["a"], "propertyNames": {"enum": ["a", "b"]}}}"#,
    r#"{"type": "object", "anyOf": [{"properties": {"a": {"properties": {"b": true, "c": {"const": 1}}, "required": ["c"]}}, "required": ["a"]},
        {"properties": {"a": {"properties": {"c": {"const": 0}, "b": true}}, "b": {"type": "null"}}, "required": ["b"]}]}"#,
    r##"{"type": "object", "properties": {"a": {"anyOf": [{"$ref": "#"}, {"properties": {"b": {"type": "integer"}, "a": {"type": "integer"}}, "required": ["b"]}]}, "b": true}}"##,
];

/// Texts that a schema's order admits, and texts that it does not.
type Case = (&'static str, &'static [&'static str], &'static [&'static str]);

fn check(style: Style, cases: &[Case]) {
    for (schema, admitted, refused) in cases {
        let mut subject = styled(schema, style);
        for text in *admitted {
            assert!(subject.accepts(text), "{schema}\n{text}");
        }
        for text in *refused {
            assert!(!subject.accepts(text), "{schema}\n{text}");
        }
    }
}

#[test]
fn keys_come_where_the_schema_writes_them() {
    check(
        Style::generation(),
        &[
            // Subschemas that only write their keywords in another order are not one.
            (
                r#"{"patternProperties": {"^a": {"properties": {"x": true}, "anyOf": [{"properties": {"y": true}}]},
                    "^b": {"anyOf": [{"properties": {"y": true}}], "properties": {"x": true}}}}"#,
                &[r#"{"a":{"x":1,"y":1},"b":{"y":1,"x":1}}"#],
                &[r#"{"b":{"x":1,"y":1}}"#, r#"{"a":{"y":1,"x":1}}"#],
            ),
            // Without `kind`, no value of `spec` is valid under one alternative alone of the two that share a definition.
            (
                r##"{"$defs": {"spec": {"type": "object", "properties": {"a": {"type": "integer"}, "b": true}}}, "oneOf": [
                    {"properties": {"kind": {"const": "k"}, "spec": {"$ref": "#/$defs/spec"}}, "required": ["spec"]},
                    {"properties": {"kind": {"const": "l"}, "spec": {"$ref": "#/$defs/spec"}}, "required": ["spec"]},
                    {"properties": {"spec": {"type": "object", "properties": {"b": {"type": "integer"}, "a": true}, "required": ["c"]}}, "required": ["spec", "x"]}]}"##,
                &[
                    r#"{"kind":"k","spec":{"a":1,"b":1}}"#,
                    r#"{"spec":{"b":1,"a":"s","c":0},"x":0}"#,
                ],
                &[
                    r#"{"kind":"k","spec":{"b":1,"a":1}}"#,
                    r#"{"spec":{"a":"s","b":1,"c":0},"x":0}"#,
                ],
            ),
            // Objects of `const` and `enum`, at any depth.
            (
                r#"{"properties": {"p": {"enum": [{"w": 1, "h": 2}, {"h": 3, "w": 4}, [{"y": 1, "x": 2}], null]}, "c": {"const": {"z": 1, "a": {"y": true, "b": []}}}}}"#,
                &[
                    r#"{"p":{"w":1,"h":2},"c":{"z":1,"a":{"y":true,"b":[]}}}"#,
                    r#"{"p":{"h":3,"w":4}}"#,
                    r#"{"p":[{"y":1,"x":2}]}"#,
                ],
                &[
                    r#"{"p":{"h":2,"w":1}}"#,
                    r#"{"p":{"w":4,"h":3}}"#,
                    r#"{"p":[{"x":2,"y":1}]}"#,
                    r#"{"c":{"a":{"y":true,"b":[]},"z":1}}"#,
                    r#"{"c":{"z":1,"a":{"b":[],"y":true}}}"#,
                ],
            ),
            // Equal objects that several subschemas write, each in its own order.
            (
                r#"{"properties": {"p": {"const": {"a": 1, "b": 2}}, "q": {"const": {"b": 2, "a": 1}}, "r": {"enum": [{"o": [{"b": 2, "a": 1}]}]},
                    "s": {"const": {"o": [{"a": 1, "b": 2}]}}, "t": {"enum": [{"a": 1, "b": 2}, {"b": 2, "a": 1}]}}}"#,
                &[
                    r#"{"p":{"a":1,"b":2},"q":{"b":2,"a":1},"r":{"o":[{"b":2,"a":1}]},"s":{"o":[{"a":1,"b":2}]},"t":{"a":1,"b":2}}"#,
                ],
                &[
                    r#"{"p":{"b":2,"a":1}}"#,
                    r#"{"q":{"a":1,"b":2}}"#,
                    r#"{"r":{"o":[{"a":1,"b":2}]}}"#,
                    r#"{"s":{"o":[{"b":2,"a":1}]}}"#,
                    r#"{"q":{"b":1,"a":2}}"#,
                ],
            ),
            // The two objects are equal, whatever their orders.
            (
                r#"{"uniqueItems": true, "items": {"anyOf": [{"const": {"a": 1, "b": 2}}, {"const": {"b": 2, "a": 1}}]}}"#,
                &[r#"[{"a":1,"b":2}]"#, r#"[{"b":2,"a":1}]"#],
                &[r#"[{"a":1,"b":2},{"b":2,"a":1}]"#],
            ),
            // A base stands where it is referred to.
            (
                r##"{"allOf": [{"$ref": "#/$defs/base"}], "properties": {"b": true, "id": true}, "$defs": {"base": {"properties": {"id": true, "at": true}}}}"##,
                &[r#"{"id":1,"at":2,"b":3}"#],
                &[r#"{"b":3,"id":1}"#, r#"{"at":2,"id":1}"#],
            ),
            (
                r##"{"properties": {"b": true}, "$ref": "#/$defs/base", "$defs": {"base": {"properties": {"id": true, "b": true}}}}"##,
                &[r#"{"b":3,"id":1}"#],
                &[r#"{"id":1,"b":3}"#],
            ),
            (
                r#"{"if": {"required": ["k"]}, "then": {"properties": {"t": true}}, "else": {"properties": {"e": true}}, "properties": {"k": true},
                    "dependentSchemas": {"k": {"properties": {"d": true}}}}"#,
                &[r#"{"t":1,"k":1,"d":1}"#, r#"{"e":1,"d":1}"#],
                &[r#"{"k":1,"t":1}"#, r#"{"d":1,"e":1}"#],
            ),
            // Keys that are only required come after those that are declared, and others last.
            (
                r#"{"required": ["z", "b"], "properties": {"b": true, "a": true}}"#,
                &[r#"{"b":1,"a":1,"z":1,"c":1}"#],
                &[r#"{"z":1,"b":1}"#, r#"{"b":1,"c":1,"z":1}"#],
            ),
            // Orders of branches that agree are one.
            (
                r#"{"anyOf": [{"properties": {"k": {"const": 1}, "x": true}}, {"properties": {"k": {"const": 2}, "y": true, "x": true}}]}"#,
                &[r#"{"k":1,"x":1}"#, r#"{"k":2,"y":1,"x":1}"#],
                &[r#"{"k":2,"x":1,"y":1}"#, r#"{"x":1,"k":1}"#],
            ),
        ],
    );
}

#[test]
fn branches_that_disagree_keep_their_own_orders() {
    let closed = r#""type": "object", "additionalProperties": false"#;
    let pick = r#""choice": {"type": "integer"}"#;
    let why = r#""why": {"type": "string"}"#;
    let required = r#""required": ["kind", "choice", "why"]"#;
    let union = |first: String, second: String| {
        format!(
            r#"{{"anyOf": [{{{closed}, {required}, "properties": {{{first}}}}}, {{{closed}, {required}, "properties": {{{second}}}}}]}}"#
        )
    };
    let kind = |kind: &str| format!(r#""kind": {{"const": "{kind}"}}"#);
    let texts = |place: usize| {
        let text = |kind: &str, others: [&str; 2]| {
            let mut members = others.to_vec();
            members.insert(place, kind);
            format!("{{{}}}", members.join(","))
        };
        let (choice, why) = (r#""choice":2"#, r#""why":"so""#);
        [
            (text(r#""kind":"pick""#, [choice, why]), true),
            (text(r#""kind":"argue""#, [why, choice]), true),
            (text(r#""kind":"pick""#, [why, choice]), false),
            (text(r#""kind":"argue""#, [choice, why]), false),
        ]
    };
    // The key that tells the branches apart comes before, between or after those on which they disagree.
    let schemas = [
        union(
            format!("{}, {pick}, {why}", kind("pick")),
            format!("{}, {why}, {pick}", kind("argue")),
        ),
        union(
            format!("{pick}, {}, {why}", kind("pick")),
            format!("{why}, {}, {pick}", kind("argue")),
        ),
        union(
            format!("{pick}, {why}, {}", kind("pick")),
            format!("{why}, {pick}, {}", kind("argue")),
        ),
    ];
    for (place, schema) in schemas.iter().enumerate() {
        for key_order in [KeyOrder::Schema, KeyOrder::Any] {
            let mut subject = styled(
                schema,
                Style {
                    key_order,
                    ..Style::generation()
                },
            );
            for (text, kept) in texts(place) {
                assert_eq!(
                    subject.accepts(&text),
                    kept || key_order == KeyOrder::Any,
                    "{schema}\n{text}"
                );
            }
        }
    }
    // More orders than are told apart.
    let branches = (0..100).map(|at| {
        let mut names: Vec<String> = (0..20).map(|name| format!(r#""n{name}": true"#)).collect();
        names.swap(at % 20, (at % 20 + at / 20 + 1) % 20);
        format!(
            r#"{{"properties": {{"k": {{"const": {at}}}, {}}}, "required": ["k"]}}"#,
            names.join(",")
        )
    });
    let schema = format!(r#"{{"oneOf": [{}]}}"#, branches.collect::<Vec<_>>().join(","));
    let mut subject = styled(&schema, Style::generation());
    assert!(subject.accepts(r#"{"k":7,"n0":1,"n5":1}"#));
}

/// A document that is valid under a branch and has its members in that branch's order is admitted; every document that is
/// admitted is valid.
#[test]
fn every_branch_can_be_written_in_its_order() {
    const NAMES: [&str; 4] = ["a", "b", "c", "k"];
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let (mut kept, mut refused) = (0, 0);
    for _ in 0..150 {
        let branches: Vec<(String, Vec<&str>)> = (0..random.random_range(2..5))
            .map(|_| {
                let mut names = NAMES.to_vec();
                names.shuffle(&mut random);
                names.truncate(random.random_range(2..5));
                let value = |random: &mut ChaCha8Rng| *["true", r#"{"const": 0}"#, r#"{"enum": [0, 1]}"#, r#"{"const": 1}"#].choose(random).unwrap();
                let properties = names.iter().map(|name| format!(r#""{name}": {}"#, value(&mut random)));
                let properties = properties.collect::<Vec<_>>().join(",");
                let required = names.iter().filter(|_| random.random_bool(0.6)).map(|name| format!("{name:?}"));
                let required = required.collect::<Vec<_>>().join(",");
                let branch = format!(
                    r#"{{"type": "object", "properties": {{{properties}}}, "required": [{required}], "additionalProperties": false}}"#
                );
                (branch, names)
            })
            .collect();
        let texts: Vec<&str> = branches.iter().map(|(branch, _)| &branch[..]).collect();
        let word = ["anyOf", "oneOf"].choose(&mut random).unwrap();
        let schema = format!(r#"{{"{word}": [{}]}}"#, texts.join(","));
        let mut whole = styled(&schema, Style::generation());
        let parts: Vec<Subject> = texts.iter().map(|branch| styled(branch, Style::rfc8259())).collect();
        for _ in 0..60 {
            let mut names = NAMES.to_vec();
            names.shuffle(&mut random);
            names.truncate(random.random_range(0..5));
            let members = names
                .iter()
                .map(|name| format!(r#""{name}":{}"#, random.random_range(0..2)));
            let text = format!("{{{}}}", members.collect::<Vec<_>>().join(","));
            let in_order = |order: &[&str]| {
                let places: Vec<_> = names
                    .iter()
                    .map(|name| order.iter().position(|one| one == name))
                    .collect();
                places.is_sorted()
            };
            let admitted = whole.accepts(&text);
            let valid = whole.judge(&text);
            let keeps_one = parts
                .iter()
                .zip(&branches)
                .any(|(part, (_, order))| part.judge(&text) && in_order(order));
            assert!(valid || !admitted, "{schema}\n{text}");
            assert!(admitted || !(valid && keeps_one), "{schema}\n{text}");
            kept += usize::from(admitted);
            refused += usize::from(valid && !admitted);
        }
    }
    assert!(kept > 500 && refused > 500, "{kept} {refused}");
}

/// Among many alternatives that close their objects, a key may come exactly if one alternative has it, its order admits it, and
/// what the alternative requires can still come.
#[test]
fn keys_of_many_closed_alternatives_come_in_their_order() {
    let mut random = ChaCha8Rng::seed_from_u64(12);
    let (mut kept, mut refused) = (0, 0);
    for kind_first in [false, true] {
        let kind = |at: usize| format!(r#""kind": {{"const": "k{at}"}}"#);
        let branches = (0..40).map(|at| {
            let mut members: Vec<String> = (0..3).map(|member| format!(r#""p{at}_{member}": true"#)).collect();
            members.insert(if kind_first { 0 } else { 3 }, kind(at));
            let required = if at % 3 == 0 {
                format!(r#", "p{at}_1""#)
            } else {
                String::new()
            };
            format!(
                r#"{{"properties": {{{}}}, "required": ["kind"{required}]}}"#,
                members.join(",")
            )
        });
        let schema = format!(
            r#"{{"type": "object", "oneOf": [{}], "unevaluatedProperties": false}}"#,
            branches.collect::<Vec<_>>().join(",")
        );
        let mut subject = styled(&schema, Style::generation());
        for _ in 0..400 {
            let at = random.random_range(0..40);
            let other = if random.random_bool(0.2) {
                random.random_range(0..40)
            } else {
                at
            };
            let mut members: Vec<(usize, String)> = (0..3)
                .filter(|_| random.random_bool(0.6))
                .map(|member| {
                    (
                        member + 1,
                        format!(r#""p{}_{member}":1"#, if member == 2 { other } else { at }),
                    )
                })
                .collect();
            if random.random_bool(0.9) {
                members.push((if kind_first { 0 } else { 4 }, format!(r#""kind":"k{at}""#)));
            }
            if random.random_bool(0.8) {
                members.sort();
            }
            let texts: Vec<&str> = members.iter().map(|(_, text)| &text[..]).collect();
            let text = format!("{{{}}}", texts.join(","));
            let admitted = subject.accepts(&text);
            assert_eq!(
                admitted,
                subject.judge(&text) && members.is_sorted(),
                "{schema}\n{text}"
            );
            kept += usize::from(admitted);
            refused += usize::from(!admitted);
        }
    }
    assert!(kept > 200 && refused > 200, "{kept} {refused}");
}

/// Where each alternative judges each key by itself, a key may come exactly if an alternative that fits the members read takes it and
/// requires none that stands between them and the key.
#[test]
fn keys_of_alternatives_that_share_keys_come_in_their_order() {
    const KEYS: usize = 10;
    let mut random = ChaCha8Rng::seed_from_u64(15);
    let (mut kept, mut refused) = (0, 0);
    for round in 0..30 {
        let branches = (0..12).map(|_| {
            let keys: Vec<usize> = (0..KEYS).filter(|_| random.random_bool(0.4)).collect();
            let members: Vec<String> = keys
                .iter()
                .map(|key| format!(r#""k{key}": {{"maximum": {}}}"#, random.random_range(0..3)))
                .collect();
            let required: Vec<String> = (0..KEYS)
                .filter(|key| random.random_bool(if keys.contains(key) { 0.4 } else { 0.02 }))
                .map(|key| format!(r#""k{key}""#))
                .collect();
            let others = ["false", "false", r#"{"type": "null"}"#][random.random_range(0..3)];
            let most = random.random_range(2..8);
            format!(
                r#"{{"properties": {{{}}}, "required": [{}], "additionalProperties": {others}, "maxProperties": {most}}}"#,
                members.join(","),
                required.join(",")
            )
        });
        let schema = format!(
            r#"{{"type": "object", "properties": {{{}}}, "anyOf": [{}]}}"#,
            (0..KEYS)
                .map(|key| format!(r#""k{key}": {{"type": ["integer", "null"]}}"#))
                .collect::<Vec<_>>()
                .join(","),
            branches.collect::<Vec<_>>().join(",")
        );
        let mut subject = styled(&schema, Style::generation());
        for _ in 0..100 {
            let mut keys: Vec<usize> = (0..KEYS).filter(|_| random.random_bool(0.3)).collect();
            if random.random_bool(0.1) {
                keys.reverse();
            }
            let members = keys.iter().map(|key| match random.random_range(0..4) {
                3 => format!(r#""k{key}":null"#),
                value => format!(r#""k{key}":{value}"#),
            });
            let text = format!("{{{}}}", members.collect::<Vec<_>>().join(","));
            let admitted = subject.accepts(&text);
            assert_eq!(
                admitted,
                subject.judge(&text) && keys.is_sorted(),
                "round {round}: {schema}\n{text}"
            );
            kept += usize::from(admitted);
            refused += usize::from(!admitted);
        }
    }
    assert!(kept > 200 && refused > 200, "{kept} {refused}");
}

/// The only member that violates `not` has to stand before the others, so that none of these may be the first.
#[test]
fn keys_that_have_to_come_are_not_passed() {
    let mut subject = styled(
        r#"{"type": "object", "not": {"patternProperties": {"^a$": {"type": "null"}}}, "maxProperties": 2,
            "anyOf": [{"required": ["a"]}, {"required": ["abc"]}]}"#,
        Style::generation(),
    );
    for (text, is_beginning) in [("{\"a", true), ("{\"a\":1,\"abc", true), ("{\"ab", false)] {
        assert_eq!(subject.begins(text), is_beginning, "{text}");
    }
}

/// An object that has left out a key in its turn cannot become equal to an earlier one that has the key.
#[test]
fn keys_that_were_left_out_tell_items_apart() {
    let schema = r#"{"type": "array", "uniqueItems": true, "items": {"type": "object", "additionalProperties": false,
        "properties": {"c": {"type": "string"}, "e": {"type": "boolean"}}}}"#;
    let mut subject = styled(schema, Style::generation());
    for (before, byte, is_allowed) in [
        (r#"[{"c":"x","e":true},{"e":true},{"e":"#, b't', false),
        (r#"[{"c":"x","e":true},{"e":true},{"e":"#, b'f', true),
        (r#"[{"e":true},{"c":"x","e":true},{"e":"#, b't', false),
        (r#"[{"c":"x","e":true},{"e":"#, b't', true),
        (r#"[{"c":"x","e":true},{"c":"x","e":"#, b't', false),
        (r#"[{"c":"x","e":true},{"c":"x"#, b'"', true),
    ] {
        let at = subject.automaton.read_bytes(subject.start, before.as_bytes());
        let next = subject.automaton.step(at.unwrap().unwrap(), byte).unwrap();
        assert_eq!(next.is_some(), is_allowed, "{before}");
    }
}

/// A key may come in its turn where enough keys are left behind it, however many those are: no search of its own is made for each.
#[test]
fn enough_keys_are_left_behind_one_in_its_turn() {
    let properties: Vec<String> = (0..3_000)
        .map(|at| format!(r#""p{at:04}": {{"type": "string"}}"#))
        .collect();
    let mut subject = styled(
        &format!(
            r#"{{"type": "object", "properties": {{{}}}, "minProperties": 3, "additionalProperties": false}}"#,
            properties.join(",")
        ),
        Style::generation(),
    );
    for (text, is_beginning) in [
        (r#"{"p0000":"","p0001":"","p2999":""}"#, true),
        (r#"{"p2997":"","p2998":"","p2999":""}"#, true),
        (r#"{"p2998"#, false),
        (r#"{"p2000":"","p2998"#, true),
        (r#"{"p2000":"","p2999"#, false),
        (r#"{"p2000":"","p1999"#, false),
        (r#"{"p2000":"","p2998":""}"#, false),
    ] {
        assert_eq!(subject.begins(text), is_beginning, "{text}");
    }
}
