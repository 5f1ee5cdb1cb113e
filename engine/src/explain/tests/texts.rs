//! Explanations of texts that a schema forbids.

use super::*;

/// The first thing that is said of a text.
fn said(schema: &str, text: &str) -> String {
    let forbidden = explainer(schema).forbidden(text.as_bytes()).unwrap();
    forbidden.unwrap_or_else(|| panic!("{text} is valid")).to_string()
}

#[test]
fn a_byte_within_a_character_has_its_column() {
    let said = said(r#"{"const": "è"}"#, "\"é\"");
    assert!(said.starts_with("byte 2 (line 1, column 2), `é`"), "{said}");
}

#[test]
fn keywords_that_the_draft_does_not_know_are_not_blamed() {
    let schema =
        r#"{"$schema": "http://json-schema.org/draft-07/schema#", "contains": {"type": "string"}, "minContains": 2}"#;
    let said = said(schema, "[1]");
    assert!(said.contains("`/contains`") && !said.contains("minContains"), "{said}");
}

#[test]
fn forbidden_bytes_are_described() {
    let shop = r#"{
        "type": "object",
        "properties": {
            "kind": {"enum": ["cup", "café", "plate"]},
            "price": {"type": "number", "minimum": 0, "maximum": 10},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 1}
        },
        "required": ["kind", "price"],
        "additionalProperties": false
    }"#;
    let either = r#"{"anyOf": [{"type": "integer"}, {"type": "null"}]}"#;
    for (schema, text, expected) in [
        (
            shop,
            "{\n \"kind\": \"caps\"",
            "byte 14 (line 2, column 13), `p` at `/kind`: forbidden by `/properties/kind/enum` ([\"cup\", \"café\", \"plate\"]); expected \"café\"",
        ),
        (
            shop,
            r#"{"kind": "cup"}"#,
            r#"byte 14 (line 1, column 15), `}` at the root: forbidden by `/required` ("price" is missing); expected the name "price" or the name "tags""#,
        ),
        (
            shop,
            r#"{"colour": 1}"#,
            r#"byte 2 (line 1, column 3), `c` at the root: forbidden by `/additionalProperties` ("colour" is not declared); expected the name "kind", the name "price" or the name "tags""#,
        ),
        (
            r#"{"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false}"#,
            r#"{"a":"x","extra":1}"#,
            r#"byte 8 (line 1, column 9), `,` at the root: forbidden by `/additionalProperties` ("extra" is not declared); expected `}`"#,
        ),
        (
            r#"{"type": "object", "dependentRequired": {"a": ["b", "a"], "c": ["d"]}}"#,
            r#"{"a":[]}"#,
            r#"byte 7 (line 1, column 8), `}` at the root: forbidden by `/dependentRequired` ("b" is missing); expected a name"#,
        ),
        (
            r#"{"if": {"required": ["k"]}, "then": {"required": ["z"]}}"#,
            r#"{"k":[]}"#,
            r#"byte 7 (line 1, column 8), `}` at the root: forbidden by `/if` and `/then/required` ("z" is missing); expected a name"#,
        ),
        (
            shop,
            r#"{"kind": "cup", "price": 11}"#,
            "byte 27 (line 1, column 28), `}` at `/price`: forbidden by `/properties/price/maximum` (10); expected a digit, `.`, `E` or `e`",
        ),
        (
            shop,
            r#"{"tags": ["a", "b"]}"#,
            "byte 13 (line 1, column 14), `,` at `/tags`: forbidden by `/properties/tags/maxItems` (1); expected `]`",
        ),
        (
            shop,
            r#"{"tags": [null]}"#,
            "byte 10 (line 1, column 11), `n` at `/tags/0`: forbidden by `/properties/tags/items/type` (\"string\"); expected a string or `]`",
        ),
        (
            shop,
            "[]",
            "byte 0 (line 1, column 1), `[` at the root: forbidden by `/type` (\"object\"); expected an object",
        ),
        (
            shop,
            r#"{"price" 1}"#,
            "byte 9 (line 1, column 10), `1` at the root: not JSON; expected `:`",
        ),
        (
            shop,
            "",
            "byte 0 (line 1, column 1), the end at the root: not JSON; expected an object",
        ),
        (
            either,
            "true",
            "byte 0 (line 1, column 1), `t` at the root: forbidden by `/anyOf/0/type` (\"integer\") and `/anyOf/1/type`; expected null or a number",
        ),
        (
            either,
            "1.5",
            "byte 3 (line 1, column 4), the end at the root: forbidden by `/anyOf/0/type` (\"integer\") and `/anyOf/1/type`; expected",
        ),
        (
            r##"{"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"b": {"pattern": "^\\d{2}$"}}}}}"##,
            r#"{"b": "1x"}"#,
            r##"byte 8 (line 1, column 9), `x` at `/b`: forbidden by `/$defs/a/properties/b/pattern` (`^\d{2}$`), by way of `/$ref`; expected"##,
        ),
        (
            r#"{"required": ["name", "id"]}"#,
            r#"{"id": 1}"#,
            r#"byte 8 (line 1, column 9), `}` at the root: forbidden by `/required` ("name" is missing); expected"#,
        ),
        (
            r#"{"patternProperties": {"^x": {"type": "integer"}, "y$": {"minimum": 3}}, "additionalProperties": false}"#,
            r#"{"xy": 1}"#,
            "byte 8 (line 1, column 9), `}` at `/xy`: forbidden by `/patternProperties/y$/minimum` (3); expected a digit",
        ),
        (
            r#"{"if": {"properties": {"k": {"const": 1}}, "required": ["k"]}, "then": {"properties": {"v": {"type": "null"}}}}"#,
            r#"{"k": 1, "v": 2}"#,
            "byte 14 (line 1, column 15), `2` at `/v`: forbidden by `/if` and `/then/properties/v/type` (\"null\"); expected null",
        ),
        (
            r#"{"properties": {"a": true}, "patternProperties": {"^x": true}, "additionalProperties": false}"#,
            r#"{"b": 1}"#,
            "byte 2 (line 1, column 3), `b` at the root: forbidden by `/additionalProperties` (\"b\" is not declared); expected `\\`, `a` or `x`",
        ),
    ] {
        let said = said(schema, text);
        assert!(said.starts_with(expected), "{said}\n{expected}");
    }
}

/// A name that comes twice is told as such, whichever byte of it cannot stand there.
#[test]
fn names_that_come_twice_are_told() {
    for (schema, text, offset) in [
        ("true", r#"{"price": 1, "pric\u0065": 2}"#, 24),
        (
            r#"{"properties": {"a": true}, "additionalProperties": false}"#,
            r#"{"a": 1, "a": 2}"#,
            7,
        ),
        (
            r#"{"properties": {"a": true, "b": true}, "additionalProperties": false}"#,
            r#"{"a": 1, "a": 2}"#,
            10,
        ),
        (r#"{"maxProperties": 1}"#, "{\"a\":1\n, \"a\":2}", 7),
        ("true", r#"[{"x": {"k": [], "k": {}}}]"#, 19),
        (
            r#"{"properties": {"x": {"maxProperties": 1}}}"#,
            r#"{"x": {"a": {"a": 1}, "a": 2}}"#,
            20,
        ),
    ] {
        let forbidden = explainer(schema).forbidden(text.as_bytes()).unwrap().unwrap();
        assert!(matches!(forbidden.cause, Cause::RepeatedName(_)), "{text}: {forbidden}");
        assert_eq!(forbidden.offset, offset, "{text}: {forbidden}");
        assert!(
            forbidden.to_string().contains("comes twice in this object"),
            "{forbidden}"
        );
    }
    for text in [r#"{"a": 1, "b": 2}"#, r#"{"a": {"a": 1}, "b": {"a": 2}}"#] {
        let forbidden = explainer(r#"{"maxProperties": 1}"#)
            .forbidden(text.as_bytes())
            .unwrap()
            .unwrap();
        assert!(matches!(forbidden.cause, Cause::Keywords { .. }), "{text}: {forbidden}");
    }
}

/// Characters are shown as JSON spells them, and nothing that is expected is listed twice.
#[test]
fn characters_are_shown_as_in_json() {
    let schema = r#"{"enum": ["\u000b\"", "\u000b\\", "é"]}"#;
    let text = said(schema, r#""x""#);
    assert!(text.contains(r#"expected "\u000b\"", "\u000b\\" or "é""#), "{text}");
    assert!(!text.contains("u{"), "{text}");
    let text = said(r#"{"type": "string"}"#, "\"\u{b}\"");
    assert!(text.contains("`\\u000b`") && !text.contains("u{"), "{text}");
    let text = said(r#"{"pattern": "^é$"}"#, "\"ê\"");
    assert!(text.contains("`ê`"), "{text}");
    for schema in SCHEMAS {
        for text in ["", "[", "{", "\"", "1", "{\"a\":", "[1,"] {
            let Some(forbidden) = explainer(schema).forbidden(text.as_bytes()).unwrap() else {
                continue;
            };
            let said = forbidden.to_string();
            let expected = said.split_once("; expected ").map_or("", |(_, expected)| expected);
            let mut listed: Vec<&str> = expected.split(", ").flat_map(|some| some.split(" or ")).collect();
            let before = listed.len();
            listed.sort_unstable();
            listed.dedup();
            assert_eq!(before, listed.len(), "{schema}: {said}");
        }
    }
}

/// The branch that the document names comes first, or else the one that it follows longest.
#[test]
fn the_branch_that_fits_best_comes_first() {
    let shapes = r##"{"oneOf": [{"$ref": "#/$defs/circle"}, {"$ref": "#/$defs/square"}, {"$ref": "#/$defs/none"}, {"type": "null"}],
        "$defs": {
            "circle": {"type": "object", "required": ["kind", "r"],
                "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}, "unit": {"enum": ["m", "cm"]}}},
            "square": {"type": "object", "required": ["kind", "side"],
                "properties": {"kind": {"const": "square"}, "side": {"type": "number"}, "unit": {"enum": ["m", "cm"]}}},
            "none": {"type": "object", "required": ["kind"],
                "properties": {"kind": {"enum": ["point", "empty"]}}, "additionalProperties": false}
        }}"##;
    for (text, keyword, note) in [
        (
            r#"{"kind": "square", "side": "1"}"#,
            "/$defs/square/properties/side/type",
            "\"number\"",
        ),
        (
            r#"{"side": "1", "kind": "square"}"#,
            "/$defs/square/properties/side/type",
            "\"number\"",
        ),
        (
            r#"{"r": 1, "side": 2, "kind": "squire"}"#,
            "/$defs/square/properties/kind/const",
            "\"square\"",
        ),
        (r#"{"kind": "circle"}"#, "/$defs/circle/required", "\"r\" is missing"),
        (r#"{"kind": "empty", "r": 1}"#, "/$defs/none/additionalProperties", ""),
        (
            r#"{"unit": "km", "kind": "circle", "r": 0}"#,
            "/$defs/circle/properties/unit/enum",
            "[\"m\", \"cm\"]",
        ),
    ] {
        let said = said(shapes, text);
        let first = format!("forbidden by `{keyword}`");
        assert!(said.contains(&first) && said.contains(note), "{text}: {said}");
        assert!(said.contains("and 3 other branches of `/oneOf`"), "{text}: {said}");
    }
}

/// A schema without the keywords that are not named, made of its text.
struct Pruned<'k> {
    named: &'k [KeywordLocation],
}

impl Pruned<'_> {
    fn names(&self, pointer: &str) -> bool {
        self.named
            .iter()
            .any(|keyword| keyword.document.is_none() && keyword.pointer == pointer)
    }

    fn schema(&self, schema: &serde_json::Value, pointer: &str) -> serde_json::Value {
        use serde_json::{Map, Value};
        let Some(members) = schema.as_object() else {
            let is_kept = schema.as_bool() != Some(false) || self.names(pointer);
            return if is_kept { schema.clone() } else { Value::Bool(true) };
        };
        let mut pruned = Map::new();
        for (keyword, value) in members {
            let at = format!("{pointer}/{keyword}");
            let each = |(name, value): (String, &Value)| {
                let at = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
                (name, self.schema(value, &at))
            };
            let named = self.names(&at);
            let value = match (&**keyword, value) {
                (
                    "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                    Value::Object(of),
                ) => Value::Object(of.iter().map(|(name, value)| each((name.clone(), value))).collect()),
                ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(of)) if !named => {
                    let items = of.iter().enumerate().map(|(at, value)| each((at.to_string(), value)).1);
                    Value::Array(items.collect())
                }
                ("not", _) if !named => continue,
                ("contains", _) if members.contains_key("maxContains") => value.clone(),
                ("if", _) if !named => continue,
                ("not" | "if", _) => value.clone(),
                (
                    "items"
                    | "additionalProperties"
                    | "propertyNames"
                    | "contains"
                    | "then"
                    | "else"
                    | "unevaluatedItems"
                    | "unevaluatedProperties"
                    | "additionalItems",
                    _,
                ) => self.schema(value, &at),
                ("$id" | "$schema" | "$anchor" | "$dynamicAnchor" | "$recursiveAnchor" | "maxContains", _) => {
                    value.clone()
                }
                _ if named => value.clone(),
                _ => continue,
            };
            // Without the part that no two branches hold, `oneOf` says that one does.
            if keyword == "oneOf" && !named {
                let parts = pruned.entry("allOf").or_insert_with(|| Value::Array(Vec::new()));
                if let Value::Array(parts) = parts {
                    parts.push(serde_json::json!({"anyOf": value}));
                }
            } else if let (Some(Value::Array(parts)), Value::Array(more)) = (pruned.get_mut(keyword), &value) {
                parts.extend(more.iter().cloned());
            } else {
                pruned.insert(keyword.clone(), value);
            }
        }
        Value::Object(pruned)
    }
}

/// A schema made of nothing but the keywords that are named excludes every value, or forbids the text.
#[test]
fn named_keywords_exclude_by_themselves() {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let recursive = r##"{"$ref": "#/$defs/n", "$defs": {"n": {"type": "object", "required": ["a"],
        "properties": {"a": {"anyOf": [{"$ref": "#/$defs/n"}, {"type": "integer", "maximum": 3}]}, "b": {"$ref": "#/$defs/s"}}},
        "s": {"type": ["string", "null"], "maxLength": 2}}}"##;
    let mut checked = 0;
    for schema in SCHEMAS.into_iter().chain([recursive]) {
        let mut explainer = explainer(schema);
        let whole: serde_json::Value = serde_json::from_str(schema).unwrap();
        for _ in 0..40 {
            let text = text(&mut random);
            let Some(Forbidden {
                cause: Cause::Keywords { conflict, .. },
                offset,
                ..
            }) = explainer.forbidden(&text).unwrap()
            else {
                continue;
            };
            let pruned = Pruned {
                named: &conflict.keywords,
            }
            .schema(&whole, "")
            .to_string();
            // Several keywords may be named that are read as one; a `$dynamicRef` may need anchors that are gone.
            let Ok(mut pruned_explainer) = Explainer::new(&pruned, &ExactOptions::judging()) else {
                continue;
            };
            let found = pruned_explainer.forbidden(&text).unwrap();
            let found = found.unwrap_or_else(|| panic!("{schema}\n{pruned}\n{}", String::from_utf8_lossy(&text)));
            assert!(found.offset <= offset, "{schema}\n{pruned}\n{found}");
            checked += 1;
        }
    }
    assert!(checked > 800, "{checked}");
    for schema in [
        r##"{"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}}"##,
        r##"{"$ref": "#/$defs/n", "$defs": {"n": {"type": "object", "required": ["v", "next"],
            "properties": {"v": {"type": "integer"}, "next": {"$ref": "#/$defs/n"}}}}}"##,
        r##"{"$defs": {"a": {"type": "array", "minItems": 2, "items": {"$ref": "#/$defs/b"}},
            "b": {"type": "object", "required": ["x"], "properties": {"x": {"$ref": "#/$defs/a"}}}}, "$ref": "#/$defs/b"}"##,
        r#"{"type": "object", "required": ["x"], "properties": {"x": {"allOf": [{"minimum": 3}, {"maximum": 2, "type": "number"}]}}}"#,
        r#"{"oneOf": [{"type": "string"}, {"type": "null"}], "type": "object"}"#,
    ] {
        let conflict = explainer(schema).conflict().unwrap().unwrap();
        let whole: serde_json::Value = serde_json::from_str(schema).unwrap();
        let pruned = Pruned {
            named: &conflict.keywords,
        }
        .schema(&whole, "")
        .to_string();
        assert!(explainer(&pruned).conflict().unwrap().is_some(), "{schema}\n{pruned}");
    }
}
