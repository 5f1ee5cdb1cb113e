//! Refused schemas, with the places and words of their errors; keywords that drafts know and do not know.

use super::{load, load_error, root_keywords, valid};
use crate::schema::{Bound, SchemaSet, TypeSet};
use crate::{CompileErrorKind, Draft, SchemaOptions};

#[test]
fn values_of_the_wrong_type_are_malformed() {
    for (keyword, value) in [
        ("required", r#""x""#),
        ("required", r#"["x", 1]"#),
        ("required", "true"),
        ("minLength", "-1"),
        ("maxLength", "1.5"),
        ("maxItems", r#""1""#),
        ("type", r#""any""#),
        ("type", "1"),
        ("type", r#"["string", {}]"#),
        ("enum", "1"),
        ("minimum", r#""0""#),
        ("exclusiveMinimum", "true"),
        ("multipleOf", "0"),
        ("multipleOf", "-1"),
        ("pattern", "1"),
        ("format", "{}"),
        ("properties", "[]"),
        ("properties", r#"{"a": 1}"#),
        ("additionalProperties", "null"),
        ("items", "[]"),
        ("items", "1"),
        ("prefixItems", "{}"),
        ("allOf", "{}"),
        ("anyOf", "[1]"),
        ("not", "\"x\""),
        ("uniqueItems", "1"),
        ("dependentRequired", r#"{"a": "b"}"#),
        ("$ref", "1"),
        ("$id", "1"),
        ("$anchor", "{}"),
        ("$defs", "[]"),
        ("$ref", r##""#/nowhere""##),
        ("$ref", r##""#nowhere""##),
    ] {
        let schema = format!(r#"{{"properties": {{"p": {{"title": 7, "{keyword}": {value}}}}}}}"#);
        let error = load_error(&schema);
        assert_eq!(error.kind(), CompileErrorKind::Malformed, "{schema}: {error}");
        assert_eq!(error.pointer(), Some("/properties/p"), "{schema}: {error}");
        assert_eq!(error.keyword(), Some(keyword), "{schema}: {error}");
    }
}

#[test]
fn errors_say_what_was_probably_meant() {
    for (schema, words) in [
        (
            r#"{"items": {"type": "int"}}"#,
            &["\"int\"", "did you mean \"integer\"?"][..],
        ),
        (
            r#"{"items": {"type": ["STRING", "null"]}}"#,
            &["did you mean \"string\"?"],
        ),
        (
            r#"{"properties": {"a": {"type": "null"}, "b": "bool"}}"#,
            &["`/properties/b`", r#"{"type": "boolean"}"#],
        ),
        (
            r##"{"$ref": "#/defs/a", "$defs": {"a": true}}"##,
            &["no `defs`", "did you mean `$defs`?"],
        ),
        (
            r##"{"$ref": "#/$defs/user", "$defs": {"User": true}}"##,
            &["did you mean `User`?"],
        ),
        (
            r##"{"$ref": "#/$defs/a", "definitions": {"a": true}}"##,
            &["did you mean `definitions`?"],
        ),
        (r#"{"default": None}"#, &["found `None`"]),
        (r#"{"type": "null",}"#, &["no comma stands behind the last member"]),
        (r#"{'type': "null"}"#, &["double quotes"]),
        ("{\"type\": \"null\" // comment\n}", &["JSON has no comments"]),
    ] {
        let error = load_error(schema);
        assert_eq!(error.kind(), CompileErrorKind::Malformed, "{schema}: {error}");
        for word in words {
            assert!(error.message().contains(word), "{schema}: {error}");
        }
    }
    assert!(
        !load_error(r##"{"$ref": "#/$defs/a", "$defs": {"b": true}}"##)
            .message()
            .contains("mean")
    );
}

#[test]
fn texts_that_are_no_schema_are_malformed() {
    for text in [
        "",
        "[]",
        "1",
        "{\"a\": 1, \"a\": 2}",
        "{\"const\": \"\\ud800\"}",
        "\u{FEFF}{}",
        "{} {}",
        "nul",
    ] {
        assert_eq!(load_error(text).kind(), CompileErrorKind::Malformed, "{text}");
    }
    let error = load_error(r#"{"properties": {"a": {"type": "string", "type": "null"}}}"#);
    assert_eq!(error.pointer(), Some("/properties/a/type"));
    let error = load_error(r#"{"const": 1e99999999999999999999}"#);
    assert_eq!(error.kind(), CompileErrorKind::LimitExceeded);
    let error = load_error(r#"{"items": {"multipleOf": 1e1000000000}}"#);
    assert_eq!(
        (error.kind(), error.pointer()),
        (CompileErrorKind::LimitExceeded, Some("/items"))
    );
}

#[test]
fn unknown_dialects_and_documents_are_unsupported() {
    for (schema, keyword, advice) in [
        (
            r#"{"$schema": "http://json-schema.org/draft-03/schema#"}"#,
            "$schema",
            "migrate",
        ),
        (r#"{"$schema": "http://e.org/mine"}"#, "$schema", "register"),
        (r#"{"$ref": "http://e.org/other"}"#, "$ref", "register"),
        (r#"{"$ref": "other.json#/a"}"#, "$ref", "register"),
    ] {
        let error = load_error(schema);
        assert_eq!(error.kind(), CompileErrorKind::Unsupported, "{error}");
        assert_eq!(error.keyword(), Some(keyword));
        assert!(error.message().contains(advice), "{error}");
    }
    let mut options = SchemaOptions::default();
    let meta = r#"{"$vocabulary": {"https://json-schema.org/draft/2020-12/vocab/core": true, "http://e.org/v": true}}"#;
    options.documents.insert("http://e.org/mine".into(), meta.into());
    let error = SchemaSet::load(r#"{"$schema": "http://e.org/mine"}"#, &options).unwrap_err();
    assert!(error.message().contains("`http://e.org/v`"), "{error}");
}

#[test]
fn defects_of_other_documents_name_them() {
    let mut options = SchemaOptions::default();
    options
        .documents
        .insert("http://e.org/a".into(), r#"{"not": {"type": 1}}"#.into());
    options.documents.insert("http://e.org/b".into(), "{".into());
    for (reference, place) in [
        ("http://e.org/a", "`http://e.org/a` at `/not`"),
        ("http://e.org/b", "`http://e.org/b`"),
    ] {
        let error = SchemaSet::load(&format!(r#"{{"$ref": "{reference}"}}"#), &options).unwrap_err();
        assert!(error.message().contains(place), "{error}");
        assert_eq!(error.kind(), CompileErrorKind::Malformed);
    }
}

#[test]
fn unreachable_parts_are_not_read() {
    load(r#"{"$defs": {"a": {"type": 1}}, "definitions": {"b": {"$ref": "http://e.org/"}}, "default": {"type": 1}}"#);
}

#[test]
fn annotations_may_have_any_value() {
    let set = load(
        r#"{"title": 1, "description": [], "default": {}, "examples": 1, "$comment": 2, "x": {"type": 1}, "deprecated": "no"}"#,
    );
    assert!(matches!(set.node(set.root()).body, crate::schema::Body::Anything));
}

fn draft(uri: &str, keywords: &str) -> SchemaSet {
    load(&format!(r#"{{"$schema": "{uri}", {keywords}}}"#))
}

#[test]
fn drafts_know_their_own_keywords() {
    let four = draft(
        "http://json-schema.org/draft-04/schema#",
        r#""const": 1, "contains": false, "propertyNames": false, "if": true, "then": false, "$id": 1, "$defs": 1,
           "minimum": 1, "exclusiveMinimum": true, "exclusiveMaximum": true"#,
    );
    let keywords = root_keywords(&four);
    assert_eq!(four.len(), 1);
    let one = crate::decimal::Decimal::parse(b"1").unwrap();
    assert_eq!(
        keywords.minimum,
        Some(Bound {
            value: one,
            exclusive: true
        })
    );
    assert_eq!((&keywords.maximum, &keywords.values), (&None, &None));

    let seven = draft(
        "http://json-schema.org/draft-07/schema",
        r#""minContains": "x", "$anchor": 1, "unevaluatedItems": 1, "items": [true], "additionalItems": false"#,
    );
    assert!(valid(&seven, "[1]") && !valid(&seven, "[1, 2]"));
    // Hyper-schemas and a fragment for the whole document name the same draft.
    for uri in [
        "http://json-schema.org/draft-07/hyper-schema#",
        "http://json-schema.org/draft-07/schema#/",
    ] {
        let seven = draft(uri, r#""items": [true], "additionalItems": false"#);
        assert!(valid(&seven, "[1]") && !valid(&seven, "[1, 2]"), "{uri}");
    }
    let latest = load(r#"{"additionalItems": false, "items": true, "$recursiveRef": 1, "id": 1}"#);
    assert!(valid(&latest, "[1]"));
}

#[test]
fn ref_hides_its_siblings_up_to_draft_7() {
    let body = r##""$ref": "#/definitions/a", "definitions": {"a": {"type": "string"}}, "maxLength": 1, "type": 5"##;
    assert!(valid(
        &draft("http://json-schema.org/draft-07/schema#", body),
        "\"long\""
    ));
    let body = body.replace(r#", "type": 5"#, "");
    assert!(!valid(
        &draft("https://json-schema.org/draft/2019-09/schema", &body),
        "\"long\""
    ));
}

#[test]
fn integers_are_integral_values_but_literals_in_draft_4() {
    for (uri, integer) in [
        ("http://json-schema.org/draft-04/schema#", TypeSet::INTEGER_LITERAL),
        ("http://json-schema.org/draft-06/schema#", TypeSet::INTEGER),
        ("https://json-schema.org/draft/2020-12/schema", TypeSet::INTEGER),
    ] {
        let set = draft(uri, r#""type": "integer""#);
        assert!(valid(&set, "1") && !valid(&set, "1.5"));
        assert_eq!(root_keywords(&set).types, Some(integer));
    }
}

#[test]
fn const_and_enum_are_met_together() {
    let set = load(r#"{"enum": [1, 1.0, {"a": 1, "b": 2}, {"b": 2.0, "a": 1}, "x", 3], "const": 3.0}"#);
    assert_eq!(root_keywords(&set).values.as_ref().map(Vec::len), Some(1));
    let set = load(r#"{"enum": [1, 1.0, {"a": 1, "b": 2}, {"b": 2.0, "a": 1}, "x"]}"#);
    assert_eq!(root_keywords(&set).values.as_ref().map(Vec::len), Some(3));
}

#[test]
fn bounds_of_both_kinds_keep_the_tighter() {
    for (keywords, valid_at, invalid_at) in [
        (r#""minimum": 1, "exclusiveMinimum": 1"#, "2", "1"),
        (r#""exclusiveMinimum": 0, "minimum": 1"#, "1", "0.5"),
        (r#""maximum": 5, "exclusiveMaximum": 7"#, "5", "6"),
        (r#""exclusiveMaximum": 5, "maximum": 5"#, "4.9", "5"),
    ] {
        let set = load(&format!("{{{keywords}}}"));
        assert!(valid(&set, valid_at) && !valid(&set, invalid_at), "{keywords}");
    }
}

#[test]
fn legacy_dependencies_are_an_option() {
    let schema = r#"{"dependencies": {"a": ["b"], "c": {"required": ["d"]}}}"#;
    assert!(valid(&load(schema), r#"{"a": 1}"#));
    let options = SchemaOptions {
        legacy_dependencies: true,
        ..SchemaOptions::default()
    };
    let set = SchemaSet::load(schema, &options).unwrap();
    assert!(!valid(&set, r#"{"a": 1}"#) && !valid(&set, r#"{"c": 1}"#) && valid(&set, r#"{"c": 1, "d": 2}"#));
}

#[test]
fn formats_are_asserted_where_the_meta_schema_asks_for_it() {
    let mut options = SchemaOptions::default();
    let meta = r#"{"$vocabulary": {"https://json-schema.org/draft/2020-12/vocab/format-assertion": true}}"#;
    options.documents.insert("http://e.org/meta".into(), meta.into());
    let set = SchemaSet::load(
        r#"{"$schema": "http://e.org/meta", "format": "date", "type": "string"}"#,
        &options,
    )
    .unwrap();
    assert!(root_keywords(&set).format_asserted);
    assert_eq!(root_keywords(&set).types, None, "no validation vocabulary");
    assert!(!root_keywords(&load(r#"{"format": "date"}"#)).format_asserted);
}

fn refused(schema: &str, options: &crate::ExactOptions) -> String {
    match crate::explain::Explainer::new(schema, options) {
        Ok(mut explainer) => explainer.refused().remove(0).to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn refused_patterns_and_references_are_named_with_their_place() {
    let common = crate::ExactOptions::judging();
    let ecma = common.clone().patterns(crate::PatternSyntax::Ecma);
    let flagged = r#"{"properties": {"key": {"pattern": "(?i)^alt\\+c$"}}}"#;
    for (schema, options, parts) in [
        (
            flagged,
            &ecma,
            &["/properties/key", "`pattern`", "`(?i)^alt\\+c$`", "flag `(?i)`", "[Aa]"][..],
        ),
        (
            r#"{"patternProperties": {"^a": true, "^[b": true, "c$": true}}"#,
            &common,
            &["`patternProperties`", "`^[b`"],
        ),
        (
            r##"{"properties": {"b": {"items": {"$ref": "#/definitions/Root/a"}}}}"##,
            &common,
            &[
                "/properties/b/items",
                "`$ref`",
                "`#/definitions/Root/a`",
                "no `definitions` at the root",
            ],
        ),
    ] {
        let message = refused(schema, options);
        for part in parts {
            assert!(message.contains(part), "{part}: {message}");
        }
        assert!(!message.contains("``"), "{message}");
    }
    assert!(
        crate::explain::Explainer::new(flagged, &common)
            .unwrap()
            .refused()
            .is_empty()
    );
}

fn load_as(schema: &str, draft: Draft, root: &str) -> SchemaSet {
    let options = SchemaOptions {
        default_draft: draft,
        root: root.to_owned(),
        ..SchemaOptions::default()
    };
    SchemaSet::load(schema, &options).unwrap()
}

#[test]
fn open_api_3_0_is_draft_4_with_nullable_types() {
    let cases: &[(&str, &[&str], &[&str])] = &[
        (r#"{"nullable": true, "type": "string"}"#, &["null", "\"a\""], &["1"]),
        (r#"{"nullable": false, "type": "string"}"#, &["\"a\""], &["null"]),
        (
            r#"{"nullable": true, "enum": ["a"], "type": "string"}"#,
            &["\"a\""],
            &["null"],
        ),
        (
            r#"{"nullable": true, "allOf": [{"type": "string"}]}"#,
            &["\"a\""],
            &["null"],
        ),
        (r#"{"minimum": 1, "exclusiveMinimum": true}"#, &["2"], &["1"]),
        (
            r#"{"oneOf": [{"type": "string"}, {"type": "null"}], "discriminator": {"propertyName": "a"}, "const": 1}"#,
            &["null"],
            &["1"],
        ),
    ];
    for (schema, inside, outside) in cases {
        let set = load_as(schema, Draft::OpenApi30, "");
        assert_eq!(set.draft(), Draft::OpenApi30);
        assert!(inside.iter().all(|text| valid(&set, text)), "{schema}");
        assert!(!outside.iter().any(|text| valid(&set, text)), "{schema}");
    }
    assert!(!valid(&load(r#"{"nullable": true, "type": "string"}"#), "null"));
}

#[test]
fn open_api_3_1_is_draft_2020_12() {
    let named = load(
        r#"{"$schema": "https://spec.openapis.org/oas/3.1/dialect/base", "type": "string", "nullable": true, "const": "a"}"#,
    );
    assert_eq!(named.draft(), Draft::OpenApi31);
    assert!(valid(&named, "\"a\"") && !valid(&named, "null") && !valid(&named, "\"b\""));
}

#[test]
fn open_api_3_1_documents_name_the_dialect_of_their_schemas() {
    let document = |dialect: &str| {
        format!(
            r##"{{"openapi": "3.1.0", {dialect} "components": {{"schemas": {{"A": {{"$ref": "#/components/schemas/B", "type": "null"}}, "B": {{"type": "string"}}}}}}}}"##
        )
    };
    let of = |dialect: &str| load_as(&document(dialect), Draft::default(), "#/components/schemas/A");
    let (usual, named) = (
        of(""),
        of(r#""jsonSchemaDialect": "https://spec.openapis.org/oas/3.1/dialect/base","#),
    );
    assert_eq!((usual.draft(), named.draft()), (Draft::OpenApi31, Draft::OpenApi31));
    assert!(!valid(&usual, "\"a\"") && !valid(&named, "\"a\""));
    // Up to draft 7 a reference hides what stands beside it.
    let seven = of(r#""jsonSchemaDialect": "http://json-schema.org/draft-07/schema#","#);
    assert_eq!(seven.draft(), Draft::Draft7);
    assert!(valid(&seven, "\"a\""));
    let error = SchemaSet::load(
        &document(r#""jsonSchemaDialect": "urn:none","#),
        &SchemaOptions::default(),
    )
    .unwrap_err();
    assert_eq!(error.keyword(), Some("jsonSchemaDialect"));
}

#[test]
fn the_root_may_be_a_part_of_the_text() {
    let parts = r##"{"$defs": {"a": {"items": {"$ref": "#/$defs/b"}, "type": "array"}, "b": {"$anchor": "it", "type": "null"}}, "type": "string"}"##;
    for (root, inside, outside) in [
        ("", "\"x\"", "[]"),
        ("#/$defs/a", "[null]", "[1]"),
        ("/$defs/b", "null", "[]"),
        ("#it", "null", "1"),
    ] {
        let set = load_as(parts, Draft::default(), root);
        assert!(valid(&set, inside) && !valid(&set, outside), "{root}");
    }
    let whole = r##"{"openapi": "3.0.3", "components": {"schemas": {"A": {"type": "object", "properties": {"b": {"$ref": "#/components/schemas/B"}}}, "B": {"type": "integer", "nullable": true}}}}"##;
    let set = load_as(whole, Draft::default(), "#/components/schemas/A");
    assert_eq!(set.draft(), Draft::OpenApi30);
    assert!(valid(&set, r#"{"b": null}"#) && !valid(&set, r#"{"b": ""}"#));
    let options = SchemaOptions {
        root: "#/nowhere".to_owned(),
        ..SchemaOptions::default()
    };
    let error = SchemaSet::load(parts, &options).unwrap_err();
    assert!(
        error.message().contains("`#/nowhere`") && !error.message().contains("``"),
        "{error}"
    );
}
