//! `maskwright coverage --true` and `maskwright figures` as a user runs them.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::program::{end, program};

fn run(arguments: &[&str]) -> String {
    let (code, printed, said) = end(&program().args(arguments).output().unwrap());
    assert_eq!(code, 0, "{said}");
    printed
}

#[test]
fn a_framework_that_closes_objects_is_shown_by_a_small_document_and_drawn() {
    let directory = TempDir::new().unwrap();
    let root = directory.path();
    let data = root.join("maskbench/data");
    fs::create_dir_all(&data).unwrap();
    let file = json!({
        "schema": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
        "tests": [{"data": {"a": 1, "further": {"b": [1, 2, 3]}}, "valid": true}, {"data": {"a": "x"}, "valid": false}],
    });
    fs::write(data.join("Github_easy---o1.json"), file.to_string()).unwrap();
    let [root, out, figures] = ["", "run", "figures"].map(|name| root.join(name).to_str().unwrap().to_owned());
    let arguments = [
        "coverage",
        "--true",
        "--frameworks",
        "maskwright,outlines-core",
        "--sources",
        "maskbench",
        "--vocabulary",
        "builtin",
        "--data",
        &root,
        "--out",
        &out,
        "--json",
    ];
    let report: Value = serde_json::from_str(&run(&arguments)).unwrap();
    let row = |framework: &str| {
        let rows = report["rows"].as_array().unwrap();
        let own = rows
            .iter()
            .find(|row| row["framework"] == framework && row["dataset"] == "all");
        own.unwrap().clone()
    };
    let (ours, other) = (row("maskwright"), row("outlines-core"));
    assert_eq!((&ours["truly"], &ours["schemas"]), (&json!(1.0), &json!(1)));
    // At least those of the file, and sampled and changed ones.
    for count in ours["documents"].as_array().unwrap() {
        assert!(count.as_u64().unwrap() >= 1, "{ours}");
    }
    assert_eq!((&other["truly"], &other["over_constrained"]), (&json!(0.0), &json!(1)));
    let defects = report["defects"].as_array().unwrap();
    let defect = defects
        .iter()
        .find(|defect| defect["defect"] == "over_constrained")
        .unwrap();
    let document: Value = serde_json::from_str(defect["document"].as_str().unwrap()).unwrap();
    // The required member and one that the schema does not declare.
    assert_eq!(document.as_object().unwrap().len(), 2, "{document}");
    // What is on record is not measured again.
    let records = fs::read_to_string(Path::new(&out).join("records.jsonl")).unwrap();
    run(&["coverage", "--true", "--resume", "--out", &out]);
    assert_eq!(
        fs::read_to_string(Path::new(&out).join("records.jsonl")).unwrap(),
        records
    );

    let printed = run(&["figures", &out, "--out", &figures]);
    for name in [
        "figure-5-constraints.svg",
        "figure-2a-keywords.svg",
        "figure-4-features.svg",
        "tables.md",
    ] {
        assert!(printed.lines().any(|line| line == name), "{printed}");
    }
    let drawn = fs::read_to_string(Path::new(&figures).join("figure-5-constraints.svg")).unwrap();
    assert!(drawn.contains("valid, but outlines-core blocks it"), "{drawn}");
}
