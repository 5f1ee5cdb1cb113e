//! Alternatives of which one has to hold, and much has to be found out about the others.

use super::{Verdict, answered, list, work};
use crate::automaton::tests::subject;

/// Number of kinds of things that the items of an array may be.
const KINDS: usize = 8;

/// A closed object of one kind; `variant` tells it from objects of the same kind in other alternatives.
fn thing(kind: usize, variant: usize) -> String {
    let nested = format!(
        r#"{}{{"type": "integer"}}{}"#,
        r#"{"type": "array", "items": "#.repeat(kind + 1),
        "}".repeat(kind + 1)
    );
    let surfaces = list(variant + 2, |surface| format!(r#""S{surface}""#));
    format!(
        r#"{{
            "type": "object",
            "properties": {{
                "type": {{"enum": ["T{kind}"]}},
                "level": {{"type": "string", "pattern": "^\\d$"}},
                "boundaries": {nested},
                "semantics": {{
                    "type": "object",
                    "properties": {{"surfaces": {{"type": "array", "items": {{"enum": [{surfaces}]}}}}, "values": {nested}}},
                    "required": ["surfaces"]
                }},
                "material": {{
                    "type": "object",
                    "additionalProperties": {{
                        "type": "object",
                        "properties": {{"value": {{"type": "integer", "maximum": {}}}, "values": {nested}}},
                        "oneOf": [{{"required": ["value"]}}, {{"required": ["values"]}}]
                    }}
                }}
            }},
            "required": ["type", "level", "boundaries"],
            "additionalProperties": false
        }}"#,
        kind + variant
    )
}

/// Objects are told apart whose arrays hold things of the same eight kinds, each a little different: to satisfy one alternative and not
/// another, a search has to choose a kind first, instead of combining the ways to violate all eight kinds of the other.
#[test]
fn objects_that_differ_in_the_kinds_of_their_items() {
    let alternatives = list(6, |variant| {
        let things = list(KINDS, |kind| thing(kind, variant));
        format!(
            r#"{{
                "properties": {{
                    "type": {{"enum": ["A{variant}"]}},
                    "items": {{"type": "array", "items": {{"oneOf": [{things}]}}}}
                }},
                "required": ["type"]
            }}"#
        )
    });
    let other =
        r#"{"type": "object", "properties": {"type": {"type": "string", "pattern": "^\\+"}}, "required": ["type"]}"#;
    let of_kind_2 = r#"{"type": "T2", "level": "1", "boundaries": [[[3]]], "semantics": {"surfaces": ["S3"]}}"#;
    answered(
        &format!(r#"{{"type": "object", "oneOf": [{alternatives}, {other}]}}"#),
        &[
            (r#"{"type": "A0"}"#, true),
            (r#"{"type": "A9"}"#, false),
            (r#"{"type": "+"}"#, true),
            (&format!(r#"{{"items": [{of_kind_2}], "type": "A2"}}"#), true),
            (&format!(r#"{{"items": [{of_kind_2}], "type": "A1"}}"#), false),
            (&format!(r#"{{"type": "A1", "items": [{of_kind_2}]}}"#), false),
            (&format!(r#"{{"items": [{of_kind_2}, 1], "type": "+1"}}"#), true),
        ],
    );
}

/// Branches that refer to the same definition, or repeat it, ask the same of a member. What its value may satisfy is one question then, and
/// not a search for each of the branches.
#[test]
fn branches_that_say_the_same_of_a_member() {
    let branches = list(60, |own| {
        format!(
            r##"{{
                "type": "object",
                "properties": {{
                    "own{own}": {{"type": ["string", "array"]}},
                    "output": {{"$ref": "#/$defs/text"}},
                    "unit": {{"type": "array", "items": {{"type": "string"}}, "description": "unit {own}"}}
                }},
                "required": ["own{own}"]
            }}"##
        )
    });
    let schema = format!(r##"{{"$defs": {{"text": {{"type": "string"}}}}, "oneOf": [{branches}]}}"##);
    let mut subject = subject(&schema);
    let before = subject.automaton.effort();
    for (text, is_valid) in [
        (r#"{"own1":[],"output":"a","unit":["b"]}"#, true),
        (r#"{"own1":[],"output":"a","own2":0}"#, true),
        (r#"{"own1":[],"output":1}"#, false),
        (r#"{"own1":[],"unit":["a"],"own2":""}"#, false),
    ] {
        assert_eq!(subject.accepts(text), is_valid, "{text}");
    }
    let effort = subject.automaton.effort() - before;
    assert!(effort < 20_000, "{effort}");
}

/// Closed objects of many events, each with some actions: what may come is found out without holding every event against all others, as
/// each requires a key that the others have not.
#[test]
fn closed_objects_that_require_keys_of_their_own() {
    let events = list(40, |event| {
        let others = list(8, |other| {
            format!(r#""other{event}_{other}": {{"type": "string", "maxLength": {other}}}"#)
        });
        let actions = list(4, |action| {
            format!(
                r#"{{
                    "type": "object",
                    "properties": {{
                        "action": {{"const": "action{action}"}},
                        "event{event}": {{"type": "object", "required": ["id"], "properties": {{"id": {{"type": "integer"}}}}}},
                        "changes": {{"type": "array", "items": {{"type": "integer", "minimum": {event}}}}},
                        {others},
                        "sender": {{"type": "string", "minLength": {action}}}
                    }},
                    "required": ["action", "event{event}", "sender"],
                    "additionalProperties": false
                }}"#
            )
        });
        format!(r#"{{"oneOf": [{actions}]}}"#)
    });
    let mut subject = subject(&format!(r#"{{"oneOf": [{events}]}}"#));
    let before = subject.automaton.effort();
    for (text, is_valid) in [
        (
            r#"{"sender":"abc","changes":[7],"event7":{"id":1},"action":"action3"}"#,
            true,
        ),
        (
            r#"{"sender":"abc","changes":[7],"event8":{"id":1},"action":"action3"}"#,
            false,
        ),
    ] {
        assert_eq!(subject.accepts(text), is_valid, "{text}");
    }
    let effort = subject.automaton.effort() - before;
    assert!(effort < 50_000, "{effort}");
}

/// A part of `oneOf` that is also asked for elsewhere is not chosen again and again: that took all memory.
#[test]
fn alternatives_that_are_asked_for_anyway() {
    let met = r##"{"type": "object", "required": ["k"], "properties": {"c": false}, "allOf": [{"$ref": "#/$defs/b"}],
        "oneOf": [{"$ref": "#/$defs/b"}, {"required": ["c"]}],
        "$defs": {"b": {"properties": {"k": {"type": "string"}}, "allOf": [{"properties": {"k": {"minLength": 1}}}]}}}"##;
    answered(
        met,
        &[
            (r#"{"k":"x"}"#, true),
            (r#"{"k":""}"#, false),
            (r#"{"k":"x","c":1}"#, false),
        ],
    );
    let excluded = r#"{"type": "object", "required": ["a", "b"], "properties": {"c": false}, "allOf": [{"not": {"required": ["a", "b"]}}],
        "oneOf": [{"required": ["a", "b"]}, {"required": ["c"]}]}"#;
    assert_eq!(work(excluded, &[]), Verdict::Unsatisfiable);
}
