//! Failures that only the strict level finds.

use super::*;

/// Asserts the failures that only the strict level finds, for each reply.
#[track_caller]
fn expect_strict(sample: &Sample, cases: &[(&str, &[(FailureKind, &str)])]) {
    let strict = Scorer::new(sample, Level::Strict).unwrap();
    for (reply, expected) in cases {
        let public = score(sample, reply).failures;
        let mut score = strict.score(reply);
        score.failures.retain(|failure| !public.contains(failure));
        let found: Vec<_> = score
            .failures
            .iter()
            .map(|failure| (failure.kind, failure.path.as_str()))
            .collect();
        assert_eq!(found, *expected, "{reply:?}: {:?}", score.failures);
    }
}

#[test]
fn the_strict_level_sees_repeated_keys_and_misread_scalars() {
    expect_strict(
        &sample(),
        &[
            (r#"[{"s": "x", "s": "y"}]"#, &[(DuplicateKey, "[0].s")]),
            (r#"[{"s": "x", "i": 1.0}]"#, &[]),
        ],
    );
    let long = "k".repeat(300);
    let (reply, path) = (
        format!(r#"[{{"{long}": {{"a": 1, "a": 2}}}}]"#),
        format!("[0].{}….a", &long[..100]),
    );
    expect_strict(&sample(), &[(reply.as_str(), &[(DuplicateKey, path.as_str())])]);
    let wrapped = Sample {
        require_wrapper_key: true,
        ..sample()
    };
    expect_strict(&wrapped, &[(r#"{"a": [], "a": []}"#, &[(DuplicateKey, "a")])]);
    expect_strict(
        &yaml_sample(),
        &[
            ("- s: x\n  s: y", &[(DuplicateKey, "[0].s")]),
            ("- &a\n  s: x\n- <<: *a\n  s: y", &[]),
            ("- s: no", &[(Coercion, "[0].s")]),
            ("- s: 1.10", &[(Coercion, "[0].s")]),
            ("- s: 1:30", &[(Coercion, "[0].s")]),
            ("- s: 010", &[(Coercion, "[0].s")]),
            ("- s: ~", &[(Coercion, "[0].s")]),
            ("- s: x\n  o: null\n- s: x\n  o: ~", &[]),
            ("- s: 2024-01-01", &[(Coercion, "[0].s")]),
            ("- s: '2024-01-01'\n- s:", &[]),
            ("- s: x\n  o: off", &[(Coercion, "[0].o")]),
            ("- s: x\n  i: 03", &[(Coercion, "[0].i")]),
            ("- s: x\n  i: 1:3", &[(Coercion, "[0].i")]),
            ("- s: x\n  n: 1.10\n- s: x\n  n: 12.50\n- s: x\n  n: 1_000.5", &[]),
            ("- s: x\n  n: 0.61234567890123456789", &[(Coercion, "[0].n")]),
            ("- s: x\n  n: 1e3", &[(Coercion, "[0].n")]),
            ("- s: x\n  n: .inf\n- s: x\n  b: yes", &[]),
            ("- s: x\n  on: 1", &[(Coercion, "[0].on")]),
        ],
    );
}

#[test]
fn keywords_for_other_fields_know_those_that_the_walk_judges() {
    let with = |schema: &str, keyword: serde_json::Value| {
        let mut items = json!({
            "type": "object",
            "properties": {
                "a": {"type": "string"},
                "l": {"type": "array", "items": {"type": "integer"}, "unevaluatedItems": false}
            }
        });
        items
            .as_object_mut()
            .unwrap()
            .extend(keyword.as_object().unwrap().clone());
        let schema = json!({"$schema": schema, "type": "array", "items": items});
        Sample {
            json_schema: schema.as_object().unwrap().clone(),
            ..sample()
        }
    };
    let newest = "https://json-schema.org/draft/2020-12/schema";
    let oldest = "http://json-schema.org/draft-04/schema#";
    for (sample, path) in [
        (with(newest, json!({"unevaluatedProperties": false})), "[0]"),
        (
            with(newest, json!({"additionalProperties": {"type": "integer"}})),
            "[0].z",
        ),
        (
            with(oldest, json!({"additionalProperties": {"type": "integer"}})),
            "[0].z",
        ),
    ] {
        expect_strict(
            &sample,
            &[
                (r#"[{"a": "x", "l": [1, 2]}]"#, &[]),
                (r#"[{"a": "x", "z": "y"}]"#, &[(Keyword, path)]),
            ],
        );
    }
}

#[test]
fn the_strict_level_judges_the_other_keywords() {
    let mut sample = sample();
    let items = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string", "pattern": "^[A-Z]{2}[0-9]+$", "maxLength": 5},
            "day": {"type": "string", "format": "date"},
            "at": {"type": "string", "format": "date-time"},
            "mail": {"type": "string", "format": "email"},
            "link": {"type": "string", "format": "uri"},
            "uuid": {"type": "string", "format": "uuid"},
            "time": {"type": "string", "format": "time"},
            "tags": {"type": "array", "items": {"type": "string", "minLength": 1}, "uniqueItems": true},
            "step": {"type": "number", "multipleOf": 0.5},
            "then": {"type": "string", "minLength": 2}
        },
        "dependentRequired": {"day": ["at"]},
        "if": {"properties": {"id": {"const": "AB1"}}, "required": ["id"]},
        "then": {"required": ["mail"]}
    });
    sample.json_schema = json!({"type": "array", "items": items}).as_object().unwrap().clone();
    expect_strict(
        &sample,
        &[
            (r#"[{"id": "AB12", "tags": ["a", "b"], "step": 1.5}]"#, &[]),
            (r#"[{"id": "ab12"}]"#, &[(Pattern, "[0].id")]),
            (r#"[{}, {"id": "AB1234"}]"#, &[(StringLength, "[1].id")]),
            (
                r#"[{"day": "2024-02-30", "at": "2024-02-28T10:00:00Z"}]"#,
                &[(Format, "[0].day")],
            ),
            (r#"[{"at": "yesterday"}]"#, &[(Format, "[0].at")]),
            (r#"[{"mail": "nobody"}]"#, &[(Format, "[0].mail")]),
            (r#"[{"link": "not a link"}]"#, &[(Format, "[0].link")]),
            (r#"[{"uuid": "1"}]"#, &[(Format, "[0].uuid")]),
            (r#"[{"time": "25:00:00Z"}]"#, &[(Format, "[0].time")]),
            (r#"[{"tags": ["a", "a"]}]"#, &[(NotUnique, "[0].tags")]),
            (r#"[{"tags": ["a", ""]}]"#, &[(StringLength, "[0].tags[1]")]),
            (r#"[{"step": 0.75}]"#, &[(Keyword, "[0].step")]),
            (r#"[{"day": "2024-02-28"}]"#, &[(Condition, "[0]")]),
            (r#"[{"id": "AB1"}]"#, &[(Condition, "[0]")]),
            (r#"[{"then": "a"}]"#, &[(StringLength, "[0].then")]),
            // What the walk judges is not judged twice.
            (r#"[{"id": 1, "more": 1}]"#, &[]),
            (r#"[{"step": NaN}]"#, &[(Undecided, "")]),
        ],
    );
}
