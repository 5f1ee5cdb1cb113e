//! Subschemas that say the same are made one, and no others.

use super::{load, root_keywords, valid};
use crate::schema::SchemaSet;

/// The schema with its equal subschemas merged, and the number of those that are left.
fn merged(schema: &str) -> (SchemaSet, usize) {
    let mut set = load(schema);
    let left = set.merge_equal();
    (set, left.len())
}

/// The subschemas of the properties `a` and `b` of the root.
fn properties(set: &SchemaSet) -> [u32; 2] {
    let named = &root_keywords(set).properties;
    [named[0].1.0, named[1].1.0]
}

#[test]
fn equal_subschemas_are_the_first_of_them() {
    let nested = r#"{"type": "array", "items": {"type": "string", "maxLength": 3}, "title": "#;
    let (set, left) = merged(&format!(
        r#"{{"properties": {{"a": {nested} "one"}}, "b": {nested} "other"}}, "c": {{"minimum": 1}}}}}}"#
    ));
    let [a, b] = properties(&set);
    assert_eq!((a, b), (1, 1));
    assert_eq!(left, 4, "the root, the array, its items, and `c`");
    assert!(valid(&set, r#"{"a": ["abc"], "b": ["abc"], "c": 1}"#));
    assert!(!valid(&set, r#"{"b": ["abcd"]}"#));
    assert!(!valid(&set, r#"{"c": 0}"#));
}

#[test]
fn references_of_members_and_items_are_their_targets() {
    let (set, _) = merged(
        r##"{
            "$defs": {"text": {"type": "string"}, "again": {"$ref": "#/$defs/text"}, "loop": {"$ref": "#/$defs/loop"}},
            "properties": {
                "a": {"$ref": "#/$defs/again", "description": "an annotation"},
                "b": {"type": "string"},
                "c": {"items": {"$ref": "#"}, "additionalProperties": {"$ref": "#/$defs/text"}},
                "d": {"$ref": "#/$defs/loop"}
            }
        }"##,
    );
    let [a, b] = properties(&set);
    assert_eq!(a, b);
    assert!(valid(&set, r#"{"a": "x", "c": [{"b": "x"}]}"#));
    assert!(!valid(&set, r#"{"c": [{"b": 1}]}"#));
    assert!(!valid(&set, r#"{"c": {"x": 1}}"#));
}

/// The error for a reference that leads to itself names the place where it stands.
#[test]
fn references_to_themselves_stay_where_they_are() {
    let (set, left) = merged(r##"{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}"##);
    assert_eq!(left, 2);
    assert_ne!(root_keywords(&set).refs, [set.root()]);
}

/// Differences that decide how values are written are differences.
#[test]
fn what_is_written_differently_is_not_merged() {
    for (a, b) in [
        (r#"{"const": 1}"#, r#"{"const": 1.0}"#),
        (r#"{"enum": [{"x": 1, "y": 2}]}"#, r#"{"enum": [{"y": 2, "x": 1}]}"#),
        (
            r#"{"properties": {"x": true, "y": true}}"#,
            r#"{"properties": {"y": true, "x": true}}"#,
        ),
        (
            r#"{"properties": {"x": true}, "anyOf": [{"required": ["y"]}]}"#,
            r#"{"anyOf": [{"required": ["y"]}], "properties": {"x": true}}"#,
        ),
        (r#"{"format": "date"}"#, r#"{"format": "time"}"#),
        (r#"{"oneOf": [true]}"#, r#"{"anyOf": [true]}"#),
    ] {
        let (set, _) = merged(&format!(r#"{{"properties": {{"a": {a}, "b": {b}}}}}"#));
        let [one, other] = properties(&set);
        assert_ne!(one, other, "{a} and {b}");
    }
}
