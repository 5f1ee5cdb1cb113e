//! Texts with PyYAML's reading of them, as `scripts/compare-ifstruct` records it.

use std::path::Path;

use serde_json::{Value, json};

use super::*;

/// Reads `text` and returns the value in the form of the recordings.
fn reading(text: &str) -> Value {
    match read(text) {
        Ok(datum) => written(&datum),
        Err(error) if error.kind == FailureKind::WrongFormat => json!({"error": "flow"}),
        Err(_) => json!({"error": "syntax"}),
    }
}

fn written(datum: &Datum) -> Value {
    match &datum.content {
        Content::Null => Value::Null,
        Content::Boolean(value) => json!(value),
        Content::Integer(value) => json!({"int": value.to_string()}),
        Content::Float(value) if value.is_nan() => json!({"float": "nan"}),
        Content::Float(value) => json!({"float": format!("{:016x}", value.to_bits())}),
        Content::Text(text) => json!(text),
        Content::List(items) => items.iter().map(|item| written(item)).collect(),
        Content::Mapping(mapping) => {
            let members = mapping.entries.iter();
            json!({"map": members.map(|(key, value)| json!([written(key), written(value)])).collect::<Vec<_>>()})
        }
        Content::Foreign(name) => json!({"other": name}),
    }
}

/// Returns those of the recordings in `path` that are read differently: the text, PyYAML's reading, ours.
fn disagreements(path: &Path) -> Vec<(String, Value, Value)> {
    let text = std::fs::read_to_string(path).unwrap();
    let recorded = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let compared = recorded.map(|row| {
        let text = row["text"].as_str().unwrap().to_owned();
        let found = reading(&text);
        (text, row["reading"].clone(), found)
    });
    compared.filter(|(_, recorded, found)| recorded != found).collect()
}

/// Texts that are known to be read otherwise, and why.
const KNOWN: &[&str] = &[
    // Directives: PyYAML passes over unknown ones, takes every version 1 and no comment right behind it.
    "%UNKNOWN x\n---\na",
    "%YAML 1.3\n---\na",
    "%YAML 1.1# c\n---\na",
    // PyYAML merges a mapping whatever its tag.
    "y:\n  <<: !x\n    a: 1",
    // An error rather than a flow mapping.
    "- {a:[b]}",
    // A line of folded text that begins with a tab is not folded; behind indentation it is taken for one that does not.
    "- >\n  \ta\n  b",
];

#[test]
fn texts_are_read_as_pyyaml_reads_them() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/ifstruct/yaml-readings.jsonl");
    let differing = disagreements(&path);
    // A key may have 1,024 characters there, and bytes here.
    let long_key = format!("- \"{}\": 1", "é".repeat(600));
    let known: Vec<&str> = KNOWN.iter().copied().chain([long_key.as_str()]).collect();
    let unknown: Vec<_> = differing
        .iter()
        .filter(|(text, ..)| !known.contains(&text.as_str()))
        .collect();
    assert!(unknown.is_empty(), "{unknown:#?}");
    for text in known {
        assert!(
            differing.iter().any(|(found, ..)| found == text),
            "{text:?} is read alike: take it off the list"
        );
    }
}

/// `MASKWRIGHT_YAML_READINGS` names a file that `scripts/compare-ifstruct/readings.py COUNT FILE` wrote.
#[test]
#[ignore = "needs recordings of random texts"]
fn random_texts_are_read_as_pyyaml_reads_them() {
    let path = std::env::var_os("MASKWRIGHT_YAML_READINGS").unwrap();
    let differing = disagreements(Path::new(&path));
    for (text, recorded, found) in &differing {
        println!("{}", json!({"text": text, "recorded": recorded, "found": found}));
    }
    println!("{} read otherwise", differing.len());
    // Those that both refuse, for one reason or another, are alike in what counts.
    let refused = |reading: &Value| reading.get("error").is_some();
    assert!(
        differing
            .iter()
            .all(|(_, recorded, found)| refused(recorded) && refused(found))
    );
}
