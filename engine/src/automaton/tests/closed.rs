//! Tests of objects that take no keys but declared ones.

use super::order::CONTESTED;
use super::*;
use crate::KeyOrder;

fn closed(style: Style) -> Style {
    Style { closed: true, ..style }
}

#[test]
fn objects_take_declared_keys_only() {
    // Texts that are valid and admitted, and texts that are valid and not admitted.
    let cases: [(&str, &[&str], &[&str]); 17] = [
        (
            r#"{"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name", "z"]}"#,
            &[r#"{"name":"a","z":1}"#],
            &[r#"{"name":"a","z":1,"phone":"1"}"#],
        ),
        (r#"{"type": "object"}"#, &["{}"], &[r#"{"a":1}"#]),
        // Schemas that say more of keys stay as they are.
        (
            r#"{"properties": {"a": true}, "additionalProperties": true}"#,
            &[r#"{"b":1}"#],
            &["1"],
        ),
        (
            r#"{"type": "object", "additionalProperties": {"type": "integer"}}"#,
            &[r#"{"b":1}"#],
            &[],
        ),
        (
            r#"{"properties": {"a": true}, "patternProperties": {"^b": true}}"#,
            &[r#"{"b":1,"c":1}"#],
            &[],
        ),
        (
            r#"{"type": "object", "propertyNames": {"maxLength": 1}}"#,
            &[r#"{"b":1}"#],
            &[],
        ),
        (
            r#"{"properties": {"a": true}, "allOf": [{"additionalProperties": true}]}"#,
            &[r#"{"b":1}"#],
            &[],
        ),
        ("true", &[r#"{"a":{"b":1}}"#, "1"], &[]),
        // Compositions are closed as a whole, each branch with its own keys.
        (
            r#"{"allOf": [{"properties": {"a": true}}, {"properties": {"b": true}, "required": ["c"]}]}"#,
            &[r#"{"a":1,"b":1,"c":1}"#],
            &[r#"{"a":1,"b":1,"c":1,"d":1}"#, "1"],
        ),
        (
            r#"{"oneOf": [{"properties": {"k": {"const": 1}, "a": true}, "required": ["k"]}, {"properties": {"k": {"const": 2}, "b": true}, "required": ["k"]}]}"#,
            &[r#"{"k":1,"a":1}"#, r#"{"k":2,"b":1}"#],
            &[r#"{"k":1,"b":1}"#, r#"{"k":2,"a":1,"b":1}"#],
        ),
        (
            r#"{"properties": {"k": true}, "if": {"properties": {"k": {"const": 1}}, "required": ["k"]}, "then": {"properties": {"t": true}}, "else": {"properties": {"e": true}}}"#,
            &[r#"{"k":1,"t":1}"#, r#"{"k":2,"e":1}"#, "{}"],
            &[r#"{"k":1,"e":1}"#, r#"{"k":2,"t":1}"#],
        ),
        // Members that a negated schema declares are not asked for.
        (
            r#"{"properties": {"a": true}, "not": {"properties": {"b": true}, "required": ["b"]}}"#,
            &[r#"{"a":1}"#],
            &[r#"{"c":1}"#],
        ),
        // Keys that are needed come.
        (
            r#"{"type": "object", "properties": {"a": true}, "minProperties": 2}"#,
            &[r#"{"a":1,"b":1}"#],
            &[],
        ),
        (
            r#"{"type": "object", "minProperties": 1, "properties": {"a": false}}"#,
            &[r#"{"b":1}"#],
            &[],
        ),
        // Values that have to differ may be any.
        (
            r#"{"type": "array", "uniqueItems": true, "minItems": 3, "items": {"properties": {"a": {"const": 1}}}}"#,
            &[r#"[{},{"a":1},{"b":1}]"#, r#"[{},{"a":1},1]"#],
            &[],
        ),
        (
            r#"{"type": "array", "uniqueItems": true, "items": {"properties": {"a": {"type": "string"}, "b": {"properties": {"c": {"const": 1}}}}}}"#,
            &[r#"[{},{"a":"x"},{"a":"","b":{"d":1}},{"a":"","b":{"c":1}},{"a":""}]"#],
            &[r#"[{"d":1}]"#],
        ),
        // A schema of properties is meant for objects.
        (
            r#"{"properties": {"a": {"properties": {"b": true}}, "c": {"anyOf": [{"type": "string"}, {"properties": {}}, {"properties": {"b": true}}]}}}"#,
            &[r#"{"a":{"b":1},"c":"s"}"#, r#"{"c":{"b":1}}"#],
            &["1", "[]", "null", r#""s""#, r#"{"a":1}"#],
        ),
    ];
    for (schema, admitted, left_out) in cases {
        let mut subject = styled(schema, closed(Style::generation()));
        for text in admitted {
            assert!(subject.judge(text) && subject.accepts(text), "{schema}\n{text}");
        }
        for text in left_out {
            assert!(subject.judge(text) && !subject.accepts(text), "{schema}\n{text}");
        }
    }
}

#[test]
fn what_closed_objects_admit_is_valid_and_comes_to_an_end() {
    let schemas = [&SCHEMAS[..], &DEPENDENT, &CONTESTED].concat();
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let documents: Vec<String> = (0..800).map(|_| document(&mut random, 3)).collect();
    let any_order = Style {
        key_order: KeyOrder::Any,
        ..Style::generation()
    };
    for style in [any_order, Style::generation()] {
        let ended = walk(closed(style), &schemas, 120, &mut |_| {});
        assert!(
            ended >= schemas.len() - 6,
            "walks came to an end under {ended} schemas only"
        );
    }
    for schema in schemas {
        let mut subject = styled(schema, closed(Style::rfc8259()));
        for text in &documents {
            assert!(!subject.accepts(text) || subject.judge(text), "{schema}\n{text}");
        }
    }
}

/// Styles that close objects or ask for all members admit an item that an array still needs, as for `contains`, although the items' own schemas
/// can be met without such items. Each beginning of an array has an end.
#[test]
fn items_that_an_array_needs_are_admitted() {
    const SCHEMAS: [&str; 10] = [
        r#"{"type": "array", "contains": {"type": "object", "minProperties": 1}}"#,
        r#"{"type": "array", "contains": {"type": "object", "properties": {"a": {}}, "minProperties": 2}}"#,
        r#"{"type": "array", "items": {"properties": {"a": {}}}, "contains": {"minProperties": 2}}"#,
        r#"{"type": "array", "items": {"properties": {"a": {}}}, "contains": {"type": "string"}}"#,
        r#"{"type": "array", "items": {"type": "object", "properties": {"a": {}}}, "contains": {"not": {"required": ["a"]}}}"#,
        r#"{"type": "array", "items": {"anyOf": [{"type": "object", "properties": {"a": {}}}, {"type": "object", "properties": {"b": {}}}]}, "contains": {"minProperties": 3}}"#,
        r#"{"type": "array", "items": {"type": "object"}, "not": {"items": {"maxProperties": 0}}}"#,
        r#"{"type": "array", "items": {"type": "object"}, "not": {"items": {"properties": {"a": {}}, "maxProperties": 1}}}"#,
        r#"{"type": "array", "items": {"type": "object"}, "contains": {"minProperties": 4, "oneOf": [{"required": ["b"]}, {}]}}"#,
        r#"{"type": "array", "items": {"properties": {"a": {}}}, "allOf": [{"contains": {"minProperties": 2}}, {"contains": {"maxProperties": 0, "type": "object"}}]}"#,
    ];
    let all_required = Style {
        all_required: true,
        ..Style::generation()
    };
    let any_order = Style {
        key_order: KeyOrder::Any,
        ..closed(all_required)
    };
    let mut random = ChaCha8Rng::seed_from_u64(9);
    for style in [
        closed(Style::generation()),
        all_required,
        closed(all_required),
        any_order,
    ] {
        for schema in SCHEMAS {
            let mut subject = styled(schema, style);
            for _ in 0..20 {
                let (mut at, mut text) = (subject.start, Vec::new());
                for _ in 0..random.random_range(0..12) {
                    let allowed = subject.allowed(at);
                    let Some(&(byte, next)) = allowed.choose(&mut random) else {
                        break;
                    };
                    at = next;
                    text.push(byte);
                }
                let rest = subject.automaton.completion(at).unwrap();
                let begun = String::from_utf8_lossy(&text).into_owned();
                text.extend(rest.unwrap_or_else(|| panic!("{schema}: no end behind {begun:?}")));
                let text = String::from_utf8(text).unwrap();
                assert!(subject.judge(&text) && subject.accepts(&text), "{schema}\n{text}");
            }
        }
    }
}

#[test]
fn all_declared_members_come_where_they_can() {
    let style = Style {
        all_required: true,
        ..Style::generation()
    };
    let recursive = r##"{"$ref": "#/$defs/n", "$defs": {"n": {"type": "object", "properties": {"v": true, "next": {"$ref": "#/$defs/n"}, "maybe": {"anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}]},
        "list": {"type": "array", "items": {"$ref": "#/$defs/n"}}}}}}"##;
    let cases: [(&str, &[&str], &[&str]); 5] = [
        (
            r#"{"type": "object", "properties": {"a": true, "b": {"properties": {"c": true}}}}"#,
            &[r#"{"a":1,"b":{"c":1}}"#, r#"{"a":1,"b":1,"z":1}"#],
            &["{}", r#"{"a":1}"#, r#"{"a":1,"b":{}}"#],
        ),
        (
            r#"{"oneOf": [{"properties": {"k": {"const": 1}, "a": true}, "required": ["k"]}, {"properties": {"k": {"const": 2}, "b": true}, "required": ["k"]}]}"#,
            &[r#"{"k":1,"a":1}"#, r#"{"k":2,"b":1}"#],
            &[r#"{"k":1}"#, r#"{"k":2,"a":1}"#],
        ),
        (
            recursive,
            &[
                r#"{"v":1,"maybe":null,"list":[]}"#,
                r#"{"v":1,"next":{"v":1,"maybe":null,"list":[]},"maybe":null,"list":[]}"#,
            ],
            &[r#"{"v":1}"#],
        ),
        (r#"{"properties": {"a": true, "b": false}}"#, &[r#"{"a":1}"#], &["{}"]),
        (
            r#"{"properties": {"a": true, "b": true}, "maxProperties": 1}"#,
            &["{}", r#"{"b":1}"#],
            &[],
        ),
    ];
    for (schema, admitted, left_out) in cases {
        let mut subject = styled(schema, style);
        for text in admitted {
            assert!(subject.judge(text) && subject.accepts(text), "{schema}\n{text}");
        }
        for text in left_out {
            assert!(subject.judge(text) && !subject.accepts(text), "{schema}\n{text}");
        }
        let rest = subject.automaton.completion(subject.start).unwrap().unwrap();
        assert!(subject.accepts(std::str::from_utf8(&rest).unwrap()), "{schema}");
    }
    let both = Style { closed: true, ..style };
    let schemas = [&SCHEMAS[..], &DEPENDENT, &CONTESTED].concat();
    let ended = walk(both, &schemas, 160, &mut |_| {});
    assert!(
        ended >= schemas.len() - 6,
        "walks came to an end under {ended} schemas only"
    );
}
