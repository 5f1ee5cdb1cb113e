//! `maskwright bench --tools`, with the built-in model.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::program::{end, program};

fn bench(arguments: &[&str], out: &Path) -> (i32, String, String) {
    let mut program = program();
    program.arg("bench").args(arguments).arg("--out").arg(out);
    end(&program.output().unwrap())
}

fn records(out: &Path) -> Vec<Value> {
    let text = fs::read_to_string(out.join("records.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const OPTIONS: [&str; 12] = [
    "--tools",
    "builtin",
    "--tool-choice",
    "required",
    "--no-parallel-calls",
    "--limit",
    "3",
    "--threads",
    "1",
    "--max-tokens",
    "160",
    "--json",
];

#[test]
fn calls_are_asked_for_judged_and_resumed() {
    let directory = TempDir::new().unwrap();
    let out = directory.path().join("run");
    let options = [&OPTIONS[..], &["--frameworks", "maskwright,llguidance,none"]].concat();
    let (code, printed, said) = bench(&options, &out);
    assert_eq!(code, 0, "{said}");
    let all = records(&out);
    assert_eq!(all.len(), 9);
    for record in &all {
        // The built-in model's template knows no tools: calls are plain objects.
        assert_eq!((&record["format"], &record["expected"]), (&json!("llama3"), &json!(1)));
        let judgement = &record["judgement"];
        match record["framework"].as_str().unwrap() {
            // Each of the requests has one function, and a call of it is all that the tag allows.
            "maskwright" => {
                assert_eq!(judgement["calls"], 1, "{record}");
                assert_eq!(judgement["valid_arguments"], true, "{record}");
            }
            "llguidance" => assert!(record["compile"]["error"].is_null(), "{record}"),
            _ => assert!(record["compile"].is_null() && judgement.is_object(), "{record}"),
        }
    }
    let report: Value = serde_json::from_str(&printed).unwrap();
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[0]["valid_arguments"]["part"], 3);
    assert_eq!(
        (&rows[0]["parsed"]["whole"], &rows[0]["declined"]["whole"]),
        (&json!(3), &json!(0))
    );
    let markdown = fs::read_to_string(out.join("report.md")).unwrap();
    assert!(markdown.contains("builtin (3 requests)"), "{markdown}");
    assert!(markdown.contains(" 100.0 % (43.9–100.0) "), "{markdown}");

    // A run that was stopped after two records asks for the rest alone, with the options that it began with.
    let text = fs::read_to_string(out.join("records.jsonl")).unwrap();
    let kept: String = text.lines().take(2).map(|line| line.to_owned() + "\n").collect();
    fs::write(out.join("records.jsonl"), &kept).unwrap();
    let (code, _, said) = bench(&["--resume"], &out);
    assert_eq!(code, 0, "{said}");
    assert!(
        fs::read_to_string(out.join("records.jsonl"))
            .unwrap()
            .starts_with(&kept)
    );
    assert_eq!(records(&out).len(), 9);
    let written = program()
        .arg("rerender")
        .arg(&out)
        .args(["--format", "csv"])
        .output()
        .unwrap();
    let (code, csv, said) = end(&written);
    assert_eq!(code, 0, "{said}");
    assert_eq!(csv, fs::read_to_string(out.join("report.csv")).unwrap());
    let (code, _, said) = end(&program().arg("report").arg(&out).output().unwrap());
    assert_eq!(code, 0, "{said}");
}

#[test]
fn what_cannot_be_asked_is_said_before_a_model_is_loaded() {
    let directory = TempDir::new().unwrap();
    let out = directory.path().join("run");
    let questions = directory.path().join("calls.json");
    fs::write(&questions, "{\"id\": 1}\n").unwrap();
    let questions = questions.to_str().unwrap();
    let refused = |options: &[&str], expected: i32, words: &str| {
        let (code, _, said) = bench(options, &out);
        assert!(code == expected && said.contains(words), "{options:?}: {code}: {said}");
    };
    refused(&["--tools", questions], 3, "possible_answer");
    fs::create_dir(directory.path().join("possible_answer")).unwrap();
    fs::write(directory.path().join("possible_answer/calls.json"), "").unwrap();
    refused(&["--tools", questions], 3, "calls.json:1: `id`");
    refused(&["--tools", "builtin", "--tool-format", "x"], 2, "qwen3");
    refused(
        &["--tools", "builtin", "--frameworks", "outlines-core"],
        3,
        "no structural tags",
    );
    refused(
        &["--tools", "builtin", "--datasets", "builtin"],
        2,
        "cannot be used with",
    );
    refused(&["--tool-choice", "none"], 2, "--tools");
    // A function that no request has cannot be chosen; requests that lack one that others have are left out.
    let options = [
        "--tools",
        "builtin",
        "--tool-choice",
        "roll_dice",
        "--frameworks",
        "none",
    ];
    refused(
        &[&options[..], &["--limit", "1"]].concat(),
        2,
        "no request has a function of that name",
    );
    let (code, told, said) = bench(&[&options[..], &["--max-tokens", "4"]].concat(), &out);
    assert_eq!(code, 0, "{said}");
    assert!(
        told.contains("LM only builtin:") && told.contains("could not be asked"),
        "{told}"
    );
    let records = records(&out);
    let lacking = records
        .iter()
        .filter(|record| record["unusable"] == "no tool is called \"roll_dice\"");
    let lacking = lacking.count();
    assert!(0 < lacking && lacking < records.len(), "{lacking} of {}", records.len());
}
