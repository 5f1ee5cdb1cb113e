//! Warnings by kind and place; schemas that have none; the public collections.

use super::{WarningKind, lint, peer_notes};
use crate::schema::tests::{json_files, public_data};
use crate::{Draft, ExactOptions, PatternSyntax};

fn warnings(schema: &str, options: &ExactOptions) -> Vec<(String, String)> {
    let found = lint(schema, options);
    found
        .iter()
        .map(|warning| (warning.kind().code().to_owned(), warning.pointer().to_owned()))
        .collect()
}

/// Asserts which warnings, by code and pointer, a schema has.
fn assert_warnings(schema: &str, options: &ExactOptions, expected: &[(&str, &str)]) {
    let found = warnings(schema, options);
    let found: Vec<(&str, &str)> = found
        .iter()
        .map(|(code, pointer)| (code.as_str(), pointer.as_str()))
        .collect();
    assert_eq!(found, expected, "{schema}");
}

#[test]
fn formats_that_are_nearly_right_are_named() {
    let message = |format: &str| {
        let schema = format!(r#"{{"type": "string", "format": "{format}"}}"#);
        let found = lint(&schema, &ExactOptions::default());
        found.first().map(|warning| warning.message().to_owned())
    };
    for (format, meant) in [
        ("date-tme", "date-time"),
        ("emial", "email"),
        ("uuid4", "uuid"),
        ("url", "uri"),
        ("mail", "email"),
    ] {
        assert!(
            message(format).unwrap().contains(&format!("did you mean `{meant}`?")),
            "{format}"
        );
    }
    for format in [
        "colour-of-hair",
        "ulid",
        "cuid",
        "cuid2",
        "nanoid",
        "ksuid",
        "mime",
        "rate",
    ] {
        let message = message(format).unwrap();
        assert!(
            message.contains("`pattern`") && !message.contains("did you mean"),
            "{message}"
        );
    }
    assert_eq!((message("int64"), message("date")), (None, None));
}

#[test]
fn each_kind_is_found_where_it_is() {
    let options = ExactOptions::default();
    let cases: &[(&str, &[(&str, &str)])] = &[
        // Misspelt.
        (
            r#"{"type": "object", "properties": {"age": {"type": "integer", "mininum": 1, "max": 9}}, "additionalProperies": false, "require": ["age"]}"#,
            &[
                ("misspelt-keyword", "/additionalProperies"),
                ("misspelt-keyword", "/require"),
                ("misspelt-keyword", "/properties/age/mininum"),
                ("misspelt-keyword", "/properties/age/max"),
            ],
        ),
        (
            r#"{"type": "array", "Items": {"min_length": 3, "any_of": [true]}, "max": 2}"#,
            &[("misspelt-keyword", "/Items"), ("misspelt-keyword", "/max")],
        ),
        (
            r#"{"items": {"min_length": 3, "regex": "a", "enums": ["a"]}}"#,
            &[
                ("misspelt-keyword", "/items/min_length"),
                ("misspelt-keyword", "/items/regex"),
                ("misspelt-keyword", "/items/enums"),
            ],
        ),
        // Misplaced.
        (
            r#"{"type": "object", "reply": {"type": "string"}, "properties": {"operations": {"type": "array", "instruct": {"type": "object"}}}}"#,
            &[
                ("misplaced-schema", "/reply"),
                ("misplaced-schema", "/properties/operations/instruct"),
            ],
        ),
        (
            r#"{"type": "object", "properties": {"a": true, "additionalProperties": false}}"#,
            &[("misplaced-keyword", "/properties/additionalProperties")],
        ),
        // The target of a reference by a schema's own URI is no misplaced schema, and its inside is looked at.
        (
            r#"{"$id": "https://example.org/root", "type": "object", "properties": {"a": {"$ref": "root#/parts/a"}, "b": {"$ref": "https://example.org/other#/parts/b"}},
                "parts": {"type": "object", "a": {"type": "string", "mininum": 1}},
                "$defs": {"other": {"$id": "other", "type": "object", "parts": {"type": "null", "b": {"type": "string", "maximun": 1}}}}}"#,
            &[
                ("misspelt-keyword", "/parts/a/mininum"),
                ("misspelt-keyword", "/$defs/other/parts/b/maximun"),
            ],
        ),
        // A pointer within a resource is relative to it.
        (
            r##"{"type": "object", "properties": {"a": {"$id": "urn:a", "$ref": "#/own", "own": {"type": "string", "x": {"type": "null"}}}}, "own": {"type": "null"}}"##,
            &[
                ("misplaced-schema", "/own"),
                ("misplaced-schema", "/properties/a/own/x"),
            ],
        ),
        // Branches that are closed against each other.
        (
            r##"{"allOf": [{"$ref": "#/$defs/a"}, {"type": "object", "properties": {"b": true, "a": true}, "additionalProperties": false}],
                "$defs": {"a": {"type": "object", "properties": {"a": true}, "additionalProperties": false}}}"##,
            &[("closed-against-branch", "/allOf/0")],
        ),
        (
            r#"{"type": "object", "properties": {"x": {"type": "null"}}, "allOf": [{"properties": {"y": true}, "additionalProperties": false}]}"#,
            &[("closed-against-branch", "/allOf/0")],
        ),
        // A branch's reference is relative to its resource.
        (
            r##"{"$id": "https://e/x", "type": "object", "$defs": {"a": {"properties": {"c": true}},
                "in": {"$id": "in", "type": "object", "$defs": {"a": {"properties": {"b": true}}}, "properties": {"b": true}, "allOf": [{"$ref": "#/$defs/a"}],
                "additionalProperties": false}}}"##,
            &[],
        ),
        // The target of a reference is read in the dialect of its own resource.
        (
            r##"{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": {"a": {"$ref": "https://e/in#/definitions/p"}},
                "$defs": {"in": {"$schema": "http://json-schema.org/draft-07/schema#", "$id": "https://e/in",
                "definitions": {"p": {"type": "object", "dependencies": {"x": ["y"]}}}}}}"##,
            &[],
        ),
        // Values are compared as numbers, not as they are spelt.
        (
            r#"{"$schema": "http://json-schema.org/draft-04/schema#", "items": {"type": "integer", "enum": [1.0]}}"#,
            &[],
        ),
        (r#"{"items": {"type": "integer", "format": "utc-millisec"}}"#, &[]),
        (
            r##"{"type": "object", "properties": {"a": {"$recursiveRef": "#"}}}"##,
            &[("other-draft", "/properties/a/$recursiveRef")],
        ),
        // An example instead of a schema.
        (r#"{"name": "string", "age": "integer"}"#, &[("untyped-root", "")]),
        // Other drafts.
        (
            r#"{"items": {"dependencies": {"a": ["b"]}}}"#,
            &[("other-draft", "/items/dependencies")],
        ),
        (
            r#"{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "dependentRequired": {"a": ["b"]}, "properties": {"a": {"prefixItems": [true]}}}"#,
            &[
                ("other-draft", "/dependentRequired"),
                ("other-draft", "/properties/a/prefixItems"),
            ],
        ),
        (
            r#"{"$schema": "http://json-schema.org/draft-04/schema#", "properties": {"a": {"const": 1}}, "type": "object"}"#,
            &[("other-draft", "/properties/a/const")],
        ),
        // Without effect.
        (
            r##"{"$schema": "http://json-schema.org/draft-07/schema#", "items": {"$ref": "#/definitions/a", "maxLength": 3, "description": "x"}, "definitions": {"a": {"type": "string"}}}"##,
            &[("beside-ref", "/items/$ref")],
        ),
        (
            r#"{"items": {"type": "number", "pattern": "^a"}}"#,
            &[("other-type", "/items/pattern")],
        ),
        (
            r#"{"items": {"type": ["string", "null"], "properties": {"a": true}, "minItems": 1}}"#,
            &[("other-type", "/items/properties"), ("other-type", "/items/minItems")],
        ),
        (
            r#"{"items": {"type": "integer", "format": "date-time"}}"#,
            &[("other-type", "/items/format")],
        ),
        (
            r#"{"items": {"then": {"minimum": 1}, "minContains": 2}}"#,
            &[("companion", "/items/then"), ("companion", "/items/minContains")],
        ),
        (r#"{"items": {"if": {"minimum": 1}}}"#, &[("companion", "/items/if")]),
        (
            r#"{"$schema": "http://json-schema.org/draft-07/schema#", "type": "array", "items": {"type": "string"}, "additionalItems": {"type": "null"}}"#,
            &[("companion", "/additionalItems")],
        ),
        // Values.
        (
            r#"{"items": {"type": "string", "enum": ["a", 1, null]}}"#,
            &[("excluded-value", "/items/enum/1")],
        ),
        (
            r#"{"items": {"type": ["integer", "null"], "const": 1.5}}"#,
            &[("excluded-value", "/items/const")],
        ),
        (
            r#"{"items": {"type": "string", "format": "datetime"}}"#,
            &[("unknown-format", "/items/format")],
        ),
        // Patterns.
        (
            r#"{"items": {"pattern": "(?i)^a"}, "patternProperties": {"^[[:alpha:]]+$": true, "^x{,3}$": true}, "required": ["a"], "type": ["array", "object"]}"#,
            &[
                ("pattern-meaning", "/patternProperties/^[[:alpha:]]+$"),
                ("pattern-meaning", "/patternProperties/^x{,3}$"),
                ("pattern-dialect", "/items/pattern"),
            ],
        ),
        (
            r#"{"items": {"pattern": "/^a$/i"}}"#,
            &[("pattern-meaning", "/items/pattern")],
        ),
        // These match `/price$/` and `b/`.
        (r#"{"items": {"pattern": "/price\\$/"}}"#, &[]),
        (r#"{"items": {"pattern": "/^a|b/"}}"#, &[]),
        (
            r#"{"items": {"patternProperties": {"^a|b$": true, "^\\\\\\\\d{3}$": true}}}"#,
            &[
                ("pattern-meaning", "/items/patternProperties/^a|b$"),
                ("pattern-meaning", "/items/patternProperties/^\\\\\\\\d{3}$"),
            ],
        ),
        // Branches.
        (
            r#"{"items": {"oneOf": [{"type": "string"}, {"type": "number"}, {"type": "integer", "title": "x"}]}}"#,
            &[("overlapping-branches", "/items/oneOf/2")],
        ),
        (
            r##"{"items": {"discriminator": {"propertyName": "k"}, "oneOf": [{"$ref": "#/$defs/a"}, {"properties": {"k": {"type": "string"}}}]},
                "$defs": {"a": {"allOf": [{"properties": {"k": {"const": "a"}}}]}}}"##,
            &[("open-api", "/items/discriminator")],
        ),
        // Objects.
        (
            r#"{"type": "object", "properties": {"schema": {"type": "object", "propertyNames": {"type": "string"}, "additionalProperties": false}}}"#,
            &[("only-empty-object", "/properties/schema/additionalProperties")],
        ),
        (
            r##"{"type": "object", "allOf": [{"$ref": "#/$defs/a"}], "properties": {"b": true}, "additionalProperties": false, "$defs": {"a": {"properties": {"c": true}}}}"##,
            &[("closed-against-branch", "/additionalProperties")],
        ),
        // Roots.
        (r#"{"properties": {"a": {"type": "string"}}}"#, &[("untyped-root", "")]),
        (
            r#"{"name": "get_weather", "description": "Weather", "parameters": {"type": "object"}}"#,
            &[("tool-definition", "")],
        ),
        (
            r#"{"type": "function", "function": {"name": "f", "parameters": {}}}"#,
            &[("tool-definition", "")],
        ),
        (
            r#"{"name": "answer", "strict": true, "schema": {"type": "object"}}"#,
            &[("tool-definition", "")],
        ),
        (
            r#"{"type": "json_schema", "json_schema": {"name": "a", "schema": {}}}"#,
            &[("tool-definition", "")],
        ),
        (r#"{"$defs": {"a": {"type": "string"}}}"#, &[("only-definitions", "")]),
        (
            r#"{"openapi": "3.0.3", "info": {}, "components": {"schemas": {"A": {"type": "object"}}}}"#,
            &[("only-definitions", "")],
        ),
        // OpenAPI.
        (
            r#"{"items": {"type": "string", "nullable": true}, "contains": {"type": ["string", "null"], "nullable": true}, "not": {"type": "null", "nullable": true}}"#,
            &[("open-api", "/items/nullable")],
        ),
    ];
    for (schema, expected) in cases {
        assert_warnings(schema, &options, expected);
        let value: serde_json::Value = serde_json::from_str(schema).unwrap();
        assert!(
            expected.iter().all(|(_, pointer)| value.pointer(pointer).is_some()),
            "{schema}"
        );
    }
    let found = lint(cases[0].0, &options);
    for (warning, meant) in found
        .iter()
        .zip(["`additionalProperties`", "`required`", "`minimum`", "`maximum`"])
    {
        assert!(warning.message().contains(meant), "{warning}");
    }
}

#[test]
fn what_is_right_has_no_warning() {
    let clean = [
        "true",
        "{}",
        "not JSON",
        r#"{"type": "object", "properties": {"min": {"type": "integer"}, "require": {"type": "array"}, "type": {"type": "string"}}, "x-order": {"type": "string"}}"#,
        // Values are no schemas.
        r#"{"const": {"mininum": 1}, "default": {"require": ["a"]}, "examples": [{"nullable": true}], "enum": [{"propertees": {}}]}"#,
        // A schema that a reference leads to is there for the reference.
        r##"{"$ref": "#/types/a", "types": {"a": {"type": "string"}}}"##,
        r##"{"type": "object", "properties": {"a": {"$ref": "#/shared"}}, "shared": {"type": "string"}}"##,
        r#"{"$schema": "https://example.org/mine", "kind": {"type": "string"}, "minimun": 1}"#,
        r#"{"type": "object", "additionalProperties": false}"#,
        r#"{"type": "object", "properties": {}, "additionalProperties": false, "anyOf": [{"properties": {"a": false}}]}"#,
        r#"{"items": {"type": "string", "format": "uuid", "pattern": "^[a-z]{2,3}$", "minLength": 1}}"#,
        r#"{"items": {"type": "integer", "format": "int64"}}"#,
        r##"{"defs": {"a": {"type": "string"}}, "items": {"$ref": "#/defs/a"}}"##,
        r#"{"items": {"patternProperties": {"^a$|^b$": true, "^(?:a|b)$": true, "^a|^b": true, "^[|]$": true, "\\d+": true, "^a\\|b$": true}}}"#,
        r#"{"items": {"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 1.5}]}}"#,
        r#"{"items": {"pattern": "^\\{,3}[:a]$"}}"#,
        r#"{"items": {"type": "integer", "enum": [1, 1.0, 2e0]}}"#,
        r#"{"anyOf": [{"required": ["a"]}], "properties": {"a": {}}}"#,
        r#"{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "dependencies": {"a": ["b"]}, "$defs": {}}"#,
        r#"{"_format": "uuid", "uiPattern": "a", "note": "x", "title": "t", "descriptions": "y", "name": "n", "type": "object"}"#,
    ];
    for schema in clean {
        assert_warnings(schema, &ExactOptions::default(), &[]);
    }
}

#[test]
fn options_say_how_the_schema_is_read() {
    let open_api = ExactOptions::default().default_draft(Draft::OpenApi30);
    assert_warnings(
        r#"{"items": {"type": "string", "nullable": true}, "type": "array"}"#,
        &open_api,
        &[],
    );
    assert_warnings(
        r#"{"items": {"nullable": true}}"#,
        &open_api,
        &[("open-api", "/items/nullable")],
    );
    assert_warnings(
        r#"{"items": {"type": "string", "nullable": true, "enum": ["a"]}}"#,
        &open_api,
        &[("open-api", "/items/nullable")],
    );
    let part = ExactOptions::default().root("#/$defs/b");
    let schema = r##"{"$defs": {"a": {"requird": ["x"]}, "b": {"type": "array", "items": {"requird": ["x"]}}}}"##;
    assert_warnings(schema, &part, &[("misspelt-keyword", "/$defs/b/items/requird")]);
    // The root is read by the `$schema` of its document, and may be named by an anchor.
    let dependencies = r#"{"$schema": "http://json-schema.org/draft-07/schema#",
        "$defs": {"b": {"type": "object", "dependencies": {"a": ["b"]}}}}"#;
    assert_warnings(dependencies, &part, &[]);
    for (root, schema, pointer) in [
        (
            "b",
            r#"{"$defs": {"a": {"requird": []}, "b": {"$anchor": "b", "items": {"requird": ["x"]}}}}"#,
            "/$defs/b/items/requird",
        ),
        (
            "#b",
            r##"{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"b": {"$id": "#b", "items": {"requird": ["x"]}}}}"##,
            "/definitions/b/items/requird",
        ),
    ] {
        let options = ExactOptions::default().root(root);
        assert_warnings(schema, &options, &[("misspelt-keyword", pointer)]);
    }
    let ecma = ExactOptions::default().patterns(PatternSyntax::Ecma);
    assert_warnings(r#"{"items": {"pattern": "(?i)a"}}"#, &ecma, &[]);
    let legacy = ExactOptions::default().legacy_dependencies(true);
    assert_warnings(r#"{"dependencies": {"a": ["b"]}}"#, &legacy, &[]);
}

#[test]
fn notes_on_other_software_are_asked_for() {
    let schema = r#"{"type": "object", "properties": {"a": {"not": {"type": "null"}}}}"#;
    assert_warnings(schema, &ExactOptions::default(), &[]);
    let notes = peer_notes(schema, &ExactOptions::default());
    assert!(notes.iter().all(|note| note.kind() == WarningKind::Peers));
    let says = |pointer: &str, part: &str| {
        notes
            .iter()
            .any(|note| note.pointer() == pointer && note.message().contains(part))
    };
    assert!(
        says("", "`a` is not") && says("/properties/a", "OpenAI") && says("/properties/a", "XGrammar drops `not`"),
        "{notes:?}"
    );
    let strict = r#"{"type": "object", "properties": {"a": {"type": ["string", "null"]}}, "required": ["a"], "additionalProperties": false}"#;
    assert!(peer_notes(strict, &ExactOptions::default()).is_empty());
}

#[test]
fn kinds_have_codes_of_their_own() {
    let mut codes: Vec<&str> = WarningKind::ALL.iter().map(|kind| kind.code()).collect();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), WarningKind::ALL.len());
}

/// A hostile schema has its warnings cut, and takes no longer than its text.
#[test]
fn warnings_are_bounded() {
    let many: Vec<String> = (0..20_000)
        .map(|number| format!(r#""p{number}": {{"requird{number}": ["a"], "mininum": 1}}"#))
        .collect();
    let schema = format!(r#"{{"type": "object", "properties": {{{}}}}}"#, many.join(","));
    assert_eq!(lint(&schema, &ExactOptions::default()).len(), 1_000);
    let unknown: Vec<String> = (0..200_000)
        .map(|number| format!(r#""k{number}": {{"type": "string"}}"#))
        .collect();
    let wide = format!(r#"{{"type": "object", {}}}"#, unknown.join(","));
    assert_eq!(lint(&wide, &ExactOptions::default()).len(), 1_000);
    let long = format!(
        r#"{{"type": "object", "properties": {{"{}": {wide}}}}}"#,
        "n".repeat(1 << 20)
    );
    assert!(lint(&long, &ExactOptions::default()).len() < 20);
    let deep = format!("{}true{}", r#"{"not":"#.repeat(900), "}".repeat(900));
    assert_warnings(&deep, &ExactOptions::default(), &[]);
    assert_warnings(
        r##"{"$ref": "#", "allOf": [{"$ref": "#/allOf/0"}]}"##,
        &ExactOptions::default(),
        &[],
    );
}

/// Prints how often each kind of warning comes in the public collections.
#[test]
#[ignore = "prints"]
fn warnings_of_the_collections() {
    for name in ["jsonschemabench", "schemastore", "maskbench/data"] {
        let Some(folder) = public_data(name) else { continue };
        let (mut schemas, mut with, mut kinds, mut examples) = (0, 0, std::collections::BTreeMap::new(), Vec::new());
        for file in json_files(&folder) {
            let Ok(text) = std::fs::read_to_string(&file) else {
                continue;
            };
            // Some collections keep a schema beside its tests.
            let text = match serde_json::from_str::<serde_json::Value>(&text) {
                Ok(value) if value.get("schema").is_some_and(serde_json::Value::is_object) => {
                    value["schema"].to_string()
                }
                _ => text,
            };
            let found = lint(&text, &ExactOptions::default());
            schemas += 1;
            with += usize::from(!found.is_empty());
            let of_file: std::collections::BTreeSet<&str> = found.iter().map(|warning| warning.kind().code()).collect();
            for kind in of_file {
                *kinds.entry(kind).or_insert(0) += 1;
            }
            for warning in found {
                examples.push(format!(
                    "{}\t{warning}",
                    file.file_name().unwrap_or_default().to_string_lossy()
                ));
            }
        }
        eprintln!("{name}: {with} of {schemas} schemas with warnings; schemas by kind: {kinds:?}");
        if let Ok(file) = std::env::var("MASKWRIGHT_WARNINGS") {
            let path = format!("{file}-{}", name.replace('/', "-"));
            std::fs::write(path, examples.join("\n")).unwrap();
        }
    }
}
