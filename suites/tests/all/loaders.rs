//! The loaders of the JSON Schema Test Suite and of MaskBench: small fixtures, and the real files where they are at hand.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use maskwright_suites::dataset::Subsample;
use maskwright_suites::mask_bench::{FileError, MaskBench, MaskBenchError};
use maskwright_suites::strict_json;
use maskwright_suites::test_suite::{Case, Draft, SuitePart, TestSuite, TestSuiteError};
use serde_json::Value;
use tempfile::TempDir;

fn write(root: &Path, path: &str, content: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn categories(cases: &[Case]) -> BTreeSet<&str> {
    cases.iter().map(|case| case.category.as_str()).collect()
}

#[test]
fn cases_are_what_python_would_print() {
    let root = TempDir::new().unwrap();
    let file = r#"[{"description": "d", "comment": "ignored", "schema": {"b":1e308, "a":[ "é\u0001" ]}, "tests": [
        {"description": "big", "data": 12345678910111213141516171819202122, "valid": true},
        {"description": "out of range", "data": [1E400, 1.0], "valid": false}]},
        {"description": "e", "schema": true, "tests": []},
        {"description": "f", "schema": {"$schema": "own", "x": 1.50}, "tests": []}]"#;
    for draft in ["draft7", "draft2020-12"] {
        write(root.path(), &format!("tests/{draft}/b.json"), file);
        write(root.path(), &format!("tests/{draft}/a.json"), "[]");
        write(root.path(), &format!("tests/{draft}/optional/format/date.json"), file);
    }
    write(root.path(), "remotes/integer.json", r#"{"type": "integer"}"#);
    write(root.path(), "remotes/nested/yes.json", "true");
    write(root.path(), "remotes/draft4/own.json", "{}");
    write(root.path(), "remotes/draft7/own.json", "{}");
    let suite = TestSuite::open(root.path()).unwrap();

    let cases = suite.cases(Draft::Draft202012, SuitePart::Required).unwrap();
    assert_eq!(categories(&cases), BTreeSet::from(["b"]));
    let schemas: Vec<&str> = cases.iter().map(|case| case.schema_text.as_str()).collect();
    let plain = r#"{"b": 1e+308, "a": ["\u00e9\u0001"]}"#;
    assert_eq!(schemas, [plain, "true", r#"{"$schema": "own", "x": 1.5}"#]);
    let instances: Vec<_> = cases[0].instances.iter().map(|i| (i.text.as_str(), i.valid)).collect();
    let expected = [
        ("12345678910111213141516171819202122", true),
        // Python would print `Infinity`, which no framework takes for JSON.
        ("[1e+400, 1.0]", false),
    ];
    assert_eq!(instances, expected);
    assert_eq!(cases[0].instances[0].description, "big");

    let cases = suite.cases(Draft::Draft7, SuitePart::OptionalFormat).unwrap();
    assert_eq!(categories(&cases), BTreeSet::from(["optional/format/date"]));
    let stated = r#"{"$schema": "http://json-schema.org/draft-07/schema#", "b": 1e+308, "a": ["\u00e9\u0001"]}"#;
    let schemas: Vec<&str> = cases.iter().map(|case| case.schema_text.as_str()).collect();
    assert_eq!(schemas, [stated, "true", r#"{"$schema": "own", "x": 1.5}"#]);
    assert_eq!(suite.cases(Draft::Draft7, SuitePart::Optional).unwrap(), []);

    let remotes = suite.remotes(Draft::Draft7).unwrap();
    let remotes: Vec<(&str, &str)> = remotes
        .iter()
        .map(|(uri, text)| (uri.as_str(), text.as_str()))
        .collect();
    let draft = r#"{"$schema": "http://json-schema.org/draft-07/schema#""#;
    assert_eq!(
        remotes,
        [
            ("http://localhost:1234/draft4/own.json", "{}"),
            ("http://localhost:1234/draft7/own.json", &format!("{draft}}}")),
            (
                "http://localhost:1234/integer.json",
                &format!(r#"{draft}, "type": "integer"}}"#)
            ),
            ("http://localhost:1234/nested/yes.json", "true"),
        ]
    );
}

#[test]
fn drafts_are_read_in_many_spellings() {
    for draft in Draft::ALL {
        let name = draft.to_string();
        for spelling in [name.clone(), format!("draft{name}"), format!("Draft-{name}")] {
            assert_eq!(spelling.parse(), Ok(draft), "{spelling}");
        }
    }
    assert_eq!("draft-04".parse(), Ok(Draft::Draft4));
    for unknown in ["", "3", "5", "draft", "2020"] {
        let said = unknown.parse::<Draft>().unwrap_err().to_string();
        assert!(said.contains("2020-12"), "{said}");
    }
}

#[test]
fn what_is_wrong_with_a_suite_is_said_with_its_place() {
    let root = TempDir::new().unwrap();
    let missing = TestSuite::open(root.path()).unwrap_err();
    assert!(missing.to_string().contains("`tests` is missing"), "{missing}");
    write(root.path(), "remotes/a.json", "{");
    write(
        root.path(),
        "tests/draft7/a.json",
        r#"[{"description": "d", "schema": {}}]"#,
    );
    let suite = TestSuite::open(root.path()).unwrap();
    let error = suite.cases(Draft::Draft7, SuitePart::Required).unwrap_err().to_string();
    assert!(
        error.contains("a.json") && error.contains("a list of tests at `/0/tests`"),
        "{error}"
    );
    let error = suite.remotes(Draft::Draft7).unwrap_err();
    assert!(
        matches!(error, TestSuiteError::File(FileError::NotJson { .. })),
        "{error}"
    );
    let error = suite.cases(Draft::Draft4, SuitePart::Required).unwrap_err().to_string();
    assert!(error.contains("`tests/draft4` is missing"), "{error}");
}

#[test]
fn mask_bench_is_found_from_above_and_from_inside() {
    let root = TempDir::new().unwrap();
    let file = r#"{"description": "", "meta": {}, "schema": {"b": 1.50, "a": ["é"]}, "tests": [
        {"description": "", "valid": true, "data": {"é": [1.50, 1E5, 10000000000000000000000]}},
        {"valid": false, "data": null}]}"#;
    write(root.path(), "jsonschemabench/maskbench/data/b.json", file);
    write(root.path(), "jsonschemabench/maskbench/data/a.x.json", file);
    write(root.path(), "jsonschemabench/data/Github_easy/o1.json", "{}");
    let expected = MaskBench::open(root.path()).unwrap();
    assert_eq!(expected.names(), ["a.x", "b"]);
    for below in [
        "jsonschemabench",
        "jsonschemabench/maskbench",
        "jsonschemabench/maskbench/data",
    ] {
        let found = MaskBench::open(&root.path().join(below)).unwrap();
        assert_eq!(found.names(), expected.names(), "{below}");
    }
    let one = Subsample {
        limit: Some(1),
        seed: None,
    };
    assert_eq!(expected.sample(one), ["a.x"]);

    let read = expected.read("b").unwrap();
    assert_eq!(read.schema_text, r#"{"b": 1.50, "a": ["é"]}"#);
    let instances: Vec<_> = read.instances.iter().map(|i| (i.text.as_str(), i.valid)).collect();
    let first = r#"{"é": [1.5, 100000.0, 10000000000000000000000]}"#;
    assert_eq!(instances, [(first, true), ("null", false)]);

    write(
        root.path(),
        "bad/c.json",
        r#"{"schema": {}, "tests": [{"data": 1, "valid": 1}]}"#,
    );
    let bad = MaskBench::open(&root.path().join("bad")).unwrap();
    let said = bad.read("c").unwrap_err().to_string();
    assert!(said.contains("a boolean at `/tests/0/valid`"), "{said}");
    assert!(bad.check(bad.names()).is_ok(), "the file is damaged, and of MaskBench");
    write(root.path(), "bad/d.json", r#"{"type": "object"}"#);
    let bad = MaskBench::open(&root.path().join("bad")).unwrap();
    assert!(bad.check(bad.names()).is_ok(), "one file is of MaskBench");
    let said = bad.check(&["d"]).unwrap_err().to_string();
    let format =
        r#"d.json is a plain schema: files of MaskBench are {"schema": …, "tests": [{"data": …, "valid": true}]};"#;
    assert!(said.contains(format), "{said}");
    assert!(matches!(
        MaskBench::open(&root.path().join("jsonschemabench/data/none")),
        Err(MaskBenchError::NothingFound { .. })
    ));
}

#[test]
fn the_real_test_suite_has_the_cases_of_the_paper() {
    let Some(directory) = maskwright_test_data::find("test-suite") else {
        return;
    };
    let suite = TestSuite::open(&directory).unwrap();
    let required = suite.cases(Draft::Draft202012, SuitePart::Required).unwrap();
    assert_eq!((required.len(), categories(&required).len()), (383, 46));
    let formats = suite.cases(Draft::Draft202012, SuitePart::OptionalFormat).unwrap();
    assert_eq!((formats.len(), categories(&formats).len()), (28, 21));
    for draft in Draft::ALL {
        for part in [SuitePart::Required, SuitePart::Optional, SuitePart::OptionalFormat] {
            let cases = suite.cases(draft, part).unwrap();
            assert!(!cases.is_empty(), "{draft} {part:?}");
            for case in cases {
                strict_json::check(&case.schema_text).unwrap();
                assert!(case.schema_text.is_ascii());
                let stated = case.schema_text.starts_with(r#"{"$schema": "http"#) || case.schema_text.len() < 6;
                assert!(
                    stated || draft >= Draft::Draft201909,
                    "{draft} {}: {}",
                    case.category,
                    case.description
                );
            }
        }
        let remotes = suite.remotes(draft).unwrap();
        assert!(remotes.contains_key("http://localhost:1234/nested/foo-ref-string.json"));
    }
}

#[test]
fn real_mask_bench_files_lose_nothing() {
    let Some(directory) = maskwright_test_data::find("jsonschemabench") else {
        return;
    };
    let bench = MaskBench::open(&directory).unwrap();
    assert_eq!(bench.names().len(), 5718);
    let sample = Subsample {
        limit: Some(200),
        seed: Some(1),
    };
    for name in bench.sample(sample) {
        let read = bench.read(name).unwrap();
        let source = fs::read_to_string(directory.join(format!("maskbench/data/{name}.json"))).unwrap();
        let source = strict_json::parse(&source, 512).unwrap().value;
        let schema = strict_json::parse(&read.schema_text, 512).unwrap().value;
        assert_eq!(schema.to_string(), source["schema"].to_string(), "{name}");
        let labels: Vec<bool> = read.instances.iter().map(|instance| instance.valid).collect();
        let expected: Vec<bool> = source["tests"]
            .as_array()
            .unwrap()
            .iter()
            .map(|test| test["valid"].as_bool().unwrap())
            .collect();
        assert_eq!(labels, expected, "{name}");
        for (instance, test) in read.instances.iter().zip(source["tests"].as_array().unwrap()) {
            let again: Value = strict_json::parse(&instance.text, 512).unwrap().value;
            assert_eq!(number_free(&again), number_free(&test["data"]), "{name}");
        }
    }
}

/// A value with every number as its double: literals differ in form.
fn number_free(value: &Value) -> String {
    match value {
        Value::Number(number) => format!("{:?}", number.as_f64()),
        Value::Array(items) => format!("{:?}", items.iter().map(number_free).collect::<Vec<_>>()),
        Value::Object(members) => {
            let members = members.iter().map(|(name, member)| (name, number_free(member)));
            format!("{:?}", members.collect::<Vec<_>>())
        }
        other => other.to_string(),
    }
}
