//! `maskwright bowtie` by pipe, as Bowtie starts it.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::program::{end, program};

/// The exit code, the replies to `requests`, and standard error.
fn converse(framework: &str, requests: &[Value]) -> (i32, Vec<Value>, String) {
    let mut process = program()
        .args(["bowtie", framework])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = process.stdin.take().unwrap();
    for request in requests {
        // A program that has ended reads no more.
        let _ = writeln!(input, "{request}");
    }
    drop(input);
    let (code, replies, said) = end(&process.wait_with_output().unwrap());
    let replies = replies.lines().map(|line| serde_json::from_str(line).unwrap());
    (code, replies.collect(), said)
}

fn run(seq: u32, schema: Value, registry: Value, instances: &[Value]) -> Value {
    let test = |instance: &Value| json!({"description": "one", "instance": instance, "valid": true});
    let tests: Vec<Value> = instances.iter().map(test).collect();
    let case = json!({"description": "some", "schema": schema, "registry": registry, "tests": tests});
    json!({"cmd": "run", "seq": seq, "case": case})
}

fn valid(seq: u32, verdicts: &[bool]) -> Value {
    let results: Vec<Value> = verdicts.iter().map(|valid| json!({"valid": valid})).collect();
    json!({"seq": seq, "results": results})
}

const DRAFT_4: &str = "http://json-schema.org/draft-04/schema#";
const DRAFT_2020_12: &str = "https://json-schema.org/draft/2020-12/schema";

#[test]
fn verdicts_are_those_of_the_masks_in_the_dialect_that_was_said() {
    let exclusive = json!({"maximum": 3, "exclusiveMaximum": true});
    let registry = json!({"https://example.com/number": {"type": "integer"}});
    let requests = [
        json!({"cmd": "start", "version": 1}),
        json!({"cmd": "dialect", "dialect": DRAFT_2020_12}),
        run(
            1,
            json!({"type": "integer", "minimum": 10}),
            json!({}),
            &[json!(1), json!(12), json!(2.5), json!("12")],
        ),
        run(
            2,
            json!({"items": {"$ref": "https://example.com/number"}}),
            registry,
            &[json!([1]), json!(["a"]), json!({})],
        ),
        run(3, json!(false), json!({}), &[json!(null), json!(1)]),
        run(4, exclusive.clone(), json!({}), &[json!(2)]),
        json!({"cmd": "dialect", "dialect": DRAFT_4}),
        run(5, exclusive, json!({}), &[json!(2), json!(3)]),
        json!({"cmd": "dialect", "dialect": "https://example.com/dialect"}),
        json!({"cmd": "stop"}),
        json!({"cmd": "nonsense"}),
    ];
    let (code, replies, said) = converse("maskwright", &requests);
    assert_eq!((code, replies.len()), (0, 9), "{said}");
    let about = &replies[0]["implementation"];
    assert_eq!(
        (&replies[0]["ready"], &replies[0]["version"]),
        (&json!(true), &json!(1))
    );
    assert_eq!(
        (&about["name"], &about["language"]),
        (&json!("maskwright"), &json!("rust"))
    );
    assert!(
        about["dialects"].as_array().unwrap().contains(&json!(DRAFT_4)),
        "{about}"
    );
    assert!(
        ["homepage", "issues", "source", "version"]
            .iter()
            .all(|name| about[name].is_string()),
        "{about}"
    );
    assert_eq!(replies[1], json!({"ok": true}));
    assert_eq!(replies[2], valid(1, &[false, true, false, false]));
    assert_eq!(replies[3], valid(2, &[true, false, true]));
    assert_eq!(replies[4], valid(3, &[false, false]));
    // A keyword that has another meaning in this dialect.
    assert_eq!((&replies[5]["seq"], &replies[5]["skipped"]), (&json!(4), &json!(true)));
    assert!(
        replies[5]["message"].as_str().unwrap().contains("exclusiveMaximum"),
        "{}",
        replies[5]
    );
    assert_eq!(replies[7], valid(5, &[true, false]));
    assert_eq!(replies[8], json!({"ok": false}));
}

#[test]
fn a_framework_of_others_skips_what_it_refuses_and_goes_on() {
    let refused = json!({"uniqueItems": true, "type": "array"});
    let requests = [
        json!({"cmd": "start", "version": 1}),
        json!({"cmd": "dialect", "dialect": DRAFT_2020_12}),
        run(7, refused, json!({}), &[json!([1, 1])]),
        run(
            8,
            json!({"enum": ["a", 2]}),
            json!({}),
            &[json!("a"), json!(2), json!(3)],
        ),
    ];
    let (code, replies, said) = converse("llguidance", &requests);
    assert_eq!((code, replies.len()), (0, 4), "{said}");
    assert_eq!(
        replies[0]["implementation"]["source"],
        "https://github.com/guidance-ai/llguidance"
    );
    assert_eq!(
        (&replies[2]["seq"], &replies[2]["skipped"]),
        (&json!(7), &json!(true)),
        "{}",
        replies[2]
    );
    assert_eq!(replies[3], valid(8, &[true, true, false]));
}

#[test]
fn what_is_not_bowtie_is_an_error() {
    let start = json!({"cmd": "start", "version": 1});
    let cases = [
        (vec![json!([1])], "cmd"),
        (vec![json!({"cmd": "start", "version": 2})], "version 2"),
        (vec![json!({"cmd": "dialect", "dialect": DRAFT_4})], "start"),
        (vec![start.clone(), json!({"cmd": "sing"})], "sing"),
        (
            vec![start, json!({"cmd": "run", "seq": 1, "case": {"schema": true}})],
            "tests",
        ),
    ];
    for (requests, part) in cases {
        let (code, _, said) = converse("maskwright", &requests);
        assert!(code == 2 && said.contains(part), "{code}: {said}");
    }
}
