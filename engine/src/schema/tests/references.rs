//! References: how identifiers, pointers and anchors lead to subschemas.

use super::{load, load_error, root_keywords, valid};
use crate::schema::tests::evaluate::evaluate;
use crate::schema::{Body, NodeId, SchemaSet};
use crate::{CompileErrorKind, Limits, SchemaOptions};

fn with_documents(schema: &str, documents: &[(&str, &str)]) -> SchemaSet {
    let mut options = SchemaOptions::default();
    for (uri, text) in documents {
        options.documents.insert((*uri).to_owned(), (*text).to_owned());
    }
    SchemaSet::load(schema, &options).unwrap()
}

#[test]
fn cycles_stay_cycles() {
    let set = load(r##"{"$ref": "#"}"##);
    assert_eq!(set.len(), 1);
    assert_eq!(root_keywords(&set).refs, [NodeId(0)]);
    let outcome = evaluate(&set, &super::ecma::Patterns::default(), &super::value("1"));
    let found = "no finite reason makes a value valid";
    assert_eq!((outcome.valid, outcome.cyclic), (false, true), "{found}");

    let set = load(r##"{"properties": {"next": {"$ref": "#"}}, "type": "object"}"##);
    assert!(valid(&set, r#"{"next": {"next": {}}}"#));
    assert!(!valid(&set, r#"{"next": {"next": 1}}"#));
}

#[test]
fn pointers_are_decoded() {
    let set = load(
        r##"{
            "$defs": {"a/b": {"const": 1}, "m~n": {"const": 2}, "%25": {"const": 3}, "a b": {"const": 4}, "é": {"const": 5}},
            "anyOf": [
                {"$ref": "#/$defs/a~1b"}, {"$ref": "#/$defs/m~0n"}, {"$ref": "#/%24defs/%2525"},
                {"$ref": "#/$defs/a b"}, {"$ref": "#/$defs/%C3%A9"}
            ]
        }"##,
    );
    for number in 1..=5 {
        assert!(valid(&set, &number.to_string()));
    }
    assert!(!valid(&set, "6"));
}

#[test]
fn pointers_lead_anywhere() {
    let set = load(
        r##"{
            "x-unknown": [{"deep": {"type": "string", "$id": "http://e.org/x", "properties": {"a": {"$ref": "#"}}}}],
            "anyOf": [{"$ref": "#/x-unknown/0/deep"}, {"$ref": "#/anyOf/2"}, {"const": 1}]
        }"##,
    );
    assert!(valid(&set, "\"text\"") && valid(&set, "1") && !valid(&set, "2"));
}

#[test]
fn places_name_document_and_pointer() {
    let set = with_documents(
        r#"{"properties": {"a/b": {"$ref": "http://e.org/other.json"}}}"#,
        &[(
            "http://e.org/other.json",
            r#"{"items": [true], "$schema": "http://json-schema.org/draft-07/schema#", "not": true}"#,
        )],
    );
    let described: Vec<(Option<&str>, String)> = set
        .nodes()
        .map(|(_, node)| (set.uri(node.location), set.pointer(node.location)))
        .collect();
    let other = Some("http://e.org/other.json");
    assert_eq!(
        described[..3],
        [
            (None, String::new()),
            (None, "/properties/a~1b".into()),
            (other, String::new())
        ]
    );
}

#[test]
fn embedded_identifiers_in_unread_documents_are_found() {
    let set = with_documents(
        r#"{"$ref": "http://e.org/inner"}"#,
        &[
            ("http://e.org/broken", "{"),
            (
                "http://e.org/outer",
                r#"{"$defs": {"x": {"$id": "inner", "const": 1}}}"#,
            ),
        ],
    );
    assert!(valid(&set, "1") && !valid(&set, "2"));
}

#[test]
fn an_identifier_of_a_later_document_leaves_the_name_of_an_earlier_one() {
    let refer = |to: &str| format!(r#"{{"$ref": "http://e.org/{to}"}}"#);
    let schema = format!(r#"{{"prefixItems": [{}, {}, {}]}}"#, refer("a"), refer("b"), refer("a"));
    let documents = [
        ("http://e.org/a", r#"{"type": "string"}"#),
        ("http://e.org/b", r#"{"$id": "http://e.org/a", "type": "integer"}"#),
    ];
    let set = with_documents(&schema, &documents);
    assert!(valid(&set, r#"["a", 1, "b"]"#) && !valid(&set, r#"["a", 1, 2]"#) && !valid(&set, r#"["a", "b", "c"]"#));
}

/// A document that names no dialect is read in the schema's.
#[test]
fn documents_have_the_dialect_of_the_schema() {
    let documents = [("http://e.org/a", r#"{"items": [{"type": "string", "nullable": true}]}"#)];
    let seven = r#"{"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "http://e.org/a"}"#;
    let set = with_documents(seven, &documents);
    assert!(valid(&set, r#"["a", 1]"#) && !valid(&set, "[1]") && !valid(&set, "[null]"));
    let described = r#"{"openapi": "3.0.3", "items": {"$ref": "http://e.org/a#/items/0"}}"#;
    let set = with_documents(described, &documents);
    assert!(valid(&set, r#"["a", null]"#) && !valid(&set, "[1]"));
}

#[test]
fn meta_schemas_are_at_hand() {
    for (uri, instance) in [
        ("http://json-schema.org/draft-04/schema", r#"{"minLength": -1}"#),
        (
            "http://json-schema.org/draft-06/schema#",
            r#"{"properties": {"a": {"type": "x"}}}"#,
        ),
        ("http://json-schema.org/draft-07/schema#", r#"{"if": 1}"#),
        (
            "https://json-schema.org/draft/2019-09/schema",
            r#"{"allOf": [{"not": {"minContains": 0.5}}]}"#,
        ),
        (
            "https://json-schema.org/draft/2020-12/schema",
            r#"{"allOf": [{"not": {"prefixItems": {}}}]}"#,
        ),
        (
            "https://json-schema.org/draft/2020-12/schema",
            r#"{"$defs": {"a": {"$defs": 1}}}"#,
        ),
    ] {
        let set = load(&format!(r#"{{"$ref": "{uri}"}}"#));
        assert!(valid(&set, "{}") && !valid(&set, "1"), "{uri}");
        assert!(
            valid(
                &set,
                r#"{"type": ["string"], "allOf": [{"enum": [1, 2], "items": {"minLength": 2.0}}]}"#
            ),
            "{uri}"
        );
        assert!(!valid(&set, instance), "{uri} {instance}");
    }
}

#[test]
fn every_shipped_meta_schema_loads() {
    use crate::schema::meta_schemas::META_SCHEMAS;
    for (path, text) in META_SCHEMAS {
        let set = load(text);
        assert!(set.len() > 1, "{path}");
        assert!(
            text.contains(&format!("://json-schema.org/{path}")),
            "{path} has another identifier"
        );
    }
}

#[test]
fn ambiguous_names_are_refused_where_they_are_used() {
    let twice = r##"{"$defs": {"a": {"$anchor": "x"}, "b": {"$anchor": "x"}}, "$ref": "#TARGET"}"##;
    assert!(
        load_error(&twice.replace("TARGET", "x"))
            .message()
            .contains("two places")
    );
    load(&twice.replace("TARGET", "/$defs/a"));
    let twice = r##"{
        "$id": "http://e.org/", "$ref": "inner",
        "$defs": {
            "a": {"$dynamicAnchor": "x"}, "b": {"$dynamicAnchor": "x"},
            "c": {"$id": "inner", "$dynamicRef": "#x", "$defs": {"x": {"$dynamicAnchor": "x"}}}
        }
    }"##;
    assert!(load_error(twice).message().contains("two places"));
    let twice = r##"{"$defs": {"a": {"$id": "x"}, "b": {"$id": "x"}}, "$ref": "TARGET"}"##;
    assert!(
        load_error(&twice.replace("TARGET", "x"))
            .message()
            .contains("two schemas")
    );
    load(&twice.replace("TARGET", "#/$defs/a"));
}

#[test]
fn dynamic_scopes_are_bounded() {
    // Every order in which the resources are entered is a scope of its own.
    let names: Vec<String> = (0..8).map(|i| format!("r{i}")).collect();
    let refs: Vec<String> = names.iter().map(|name| format!(r#"{{"$ref": "{name}"}}"#)).collect();
    let resources: Vec<String> = names
        .iter()
        .map(|name| {
            let anchors: Vec<String> = names
                .iter()
                .map(|other| {
                    format!(r##""{other}": {{"$dynamicAnchor": "{other}", "items": {{"$dynamicRef": "#{other}"}}}}"##)
                })
                .collect();
            let anchors: Vec<String> = anchors
                .into_iter()
                .filter(|anchor| !anchor.contains(&format!("\"{name}\":")))
                .collect();
            format!(
                r#""{name}": {{"$id": "{name}", "$defs": {{{}}}, "items": {{"anyOf": [{}]}}}}"#,
                anchors.join(","),
                refs.join(",")
            )
        })
        .collect();
    let schema = format!(
        r#"{{"$id": "http://e.org/", "anyOf": [{}], "$defs": {{{}}}}}"#,
        refs.join(","),
        resources.join(",")
    );
    let limits = Limits {
        subschemas: 500,
        ..Limits::default()
    };
    let options = SchemaOptions {
        limits,
        ..SchemaOptions::default()
    };
    let error = SchemaSet::load(&schema, &options).unwrap_err();
    assert_eq!(error.kind(), CompileErrorKind::LimitExceeded);
    assert!(error.message().contains("`subschemas`"), "{error}");
}

#[test]
fn one_place_is_read_once_per_dynamic_scope() {
    let set = load(
        r##"{
            "$id": "http://e.org/root",
            "$defs": {
                "list": {"$id": "list", "items": {"$dynamicRef": "#item"}, "$defs": {"any": {"$dynamicAnchor": "item"}}},
                "numbers": {"$id": "numbers", "$ref": "list", "$defs": {"n": {"$dynamicAnchor": "item", "type": "number"}}},
                "strings": {"$id": "strings", "$ref": "list", "$defs": {"s": {"$dynamicAnchor": "item", "type": "string"}}}
            },
            "properties": {"n": {"$ref": "numbers"}, "s": {"$ref": "strings"}, "l": {"$ref": "list"}}
        }"##,
    );
    assert!(valid(&set, r#"{"n": [1], "s": ["a"], "l": [1, "a"]}"#));
    assert!(!valid(&set, r#"{"n": ["a"]}"#) && !valid(&set, r#"{"s": [1]}"#));
    let lists = set
        .nodes()
        .filter(|(_, node)| set.pointer(node.location) == "/$defs/list");
    assert_eq!(
        lists.filter(|(_, node)| matches!(node.body, Body::Keywords(_))).count(),
        3
    );
}

#[test]
fn embedded_resources_have_their_own_dialect() {
    let set = load(
        r##"{
            "$defs": {
                "old": {
                    "$id": "http://e.org/old", "$schema": "http://json-schema.org/draft-07/schema#",
                    "items": [{"$ref": "#/definitions/s", "maxLength": 1}], "additionalItems": false, "prefixItems": 1,
                    "definitions": {"s": {"type": "string"}}
                }
            },
            "$ref": "http://e.org/old", "prefixItems": [{"minLength": 2}]
        }"##,
    );
    assert!(valid(&set, r#"["long"]"#) && !valid(&set, r#"["x"]"#) && !valid(&set, r#"["long", 1]"#));
    assert!(!valid(&set, "[10]"));
}

#[test]
fn what_the_dialect_around_does_not_know_identifies_nothing() {
    // `id` makes no resource in draft 2020-12, so neither base nor dialect change.
    let set = load(
        r##"{
            "$defs": {
                "part": {
                    "id": "schema/part", "$schema": "http://json-schema.org/draft-04/schema#",
                    "properties": {"a": {"$ref": "#/$defs/part/$defs/b"}}, "$defs": {"b": {"const": 1}}
                }
            },
            "$ref": "#/$defs/part"
        }"##,
    );
    assert!(valid(&set, r#"{"a": 1}"#) && !valid(&set, r#"{"a": 2}"#));
}
