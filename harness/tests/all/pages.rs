//! Pages, comparisons and further formats of the committed example runs, as users get them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};

use crate::docs::root;
use crate::program::program;

fn runs() -> PathBuf {
    root().join("docs/example/runs")
}

fn maskwright(words: &[&str]) -> Output {
    program().arg("--quiet").args(words).output().unwrap()
}

fn printed(words: &[&str]) -> String {
    let output = maskwright(words);
    assert!(
        output.status.success(),
        "{words:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The site in `docs/example/site` is what the program makes of the runs beside it. `MASKWRIGHT_UPDATE_DOCS=1` writes it anew, and so
/// does `scripts/example-site.sh`.
#[test]
fn the_example_site_is_current() {
    let directory = tempfile::tempdir().unwrap();
    let made = directory.path().join("site");
    let (runs, example) = (runs(), root().join("docs/example"));
    printed(&[
        "site",
        path(&runs),
        "--out",
        path(&made),
        "--data",
        path(&example),
        "--title",
        "maskwright example",
    ]);
    let committed = example.join("site");
    let names = |place: &Path| -> Vec<String> {
        let entries = fs::read_dir(place).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    if std::env::var_os("MASKWRIGHT_UPDATE_DOCS").is_some() {
        fs::create_dir_all(&committed).unwrap();
        for name in names(&made) {
            fs::copy(made.join(&name), committed.join(&name)).unwrap();
        }
    }
    assert_eq!(names(&made), names(&committed));
    for name in names(&made) {
        let is_same = fs::read(made.join(&name)).unwrap() == fs::read(committed.join(&name)).unwrap();
        assert!(is_same, "{name} is not current: run scripts/example-site.sh");
    }
}

/// A directory with a Test Suite of one case and a MaskBench of one file.
fn data(directory: &Path) -> PathBuf {
    let data = directory.join("data");
    let write = |name: &str, content: &Value| {
        let path = data.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content.to_string()).unwrap();
    };
    let schema = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": {"a": {"type": "integer"}}});
    let tests = json!([
        {"description": "an integer", "data": {"a": 1}, "valid": true},
        {"description": "a string", "data": {"a": "x"}, "valid": false},
    ]);
    write(
        "JSON-Schema-Test-Suite/tests/draft2020-12/properties.json",
        &json!([{"description": "a property", "schema": schema, "tests": tests}]),
    );
    write("JSON-Schema-Test-Suite/remotes/empty.json", &json!({}));
    write(
        "maskbench/data/made---up.json",
        &json!({"schema": schema, "tests": tests}),
    );
    data
}

/// Every run, rendered from its records, says what the run itself has written, but for what was said about the machine's load.
#[test]
fn reports_from_records_alone_are_those_of_the_runs() {
    let directory = tempfile::tempdir().unwrap();
    let data = data(directory.path());
    let data = path(&data);
    let of_models = ["--frameworks", "maskwright,none", "--limit", "2", "--max-tokens", "12"];
    let of_replays = [
        "--frameworks",
        "maskwright,llguidance",
        "--vocabulary",
        "builtin",
        "--data",
        data,
    ];
    for (words, options, has_csv) in [
        (&["bench"][..], &of_models[..], true),
        (&["bench", "--tools", "builtin"], &of_models, true),
        (&["quality", "--tasks", "last-letter"], &of_models, true),
        (
            &["ifstruct", "run", "--split", "test"],
            &["--limit", "2", "--max-tokens", "12"],
            false,
        ),
        (&["testsuite"], &of_replays, false),
        (&["masks"], &of_replays, true),
        (&["coverage", "--true"], &of_replays, false),
    ] {
        let run = directory.path().join(words.join("-"));
        printed(&[words, options, &["--out", path(&run), "--json"]].concat());
        let written = |name: &str| fs::read_to_string(run.join(name)).unwrap();
        let rendered = |format: &str| printed(&["rerender", path(&run), "--format", format]);
        let without_warnings = |text: &str| -> String {
            let lines = text
                .lines()
                .filter(|line| !line.starts_with("WARNING") && !line.is_empty());
            lines.collect::<Vec<_>>().join("\n")
        };
        assert_eq!(
            without_warnings(&rendered("md")),
            without_warnings(&written("report.md")),
            "{words:?}"
        );
        let json = |text: &str| -> Value {
            let mut report: Value = serde_json::from_str(text).unwrap();
            report.as_object_mut().unwrap().remove("warnings");
            report
        };
        assert_eq!(json(&rendered("json")), json(&written("report.json")), "{words:?}");
        match has_csv {
            true => assert_eq!(rendered("csv"), written("report.csv"), "{words:?}"),
            false => {
                let csv = rendered("csv");
                let is_figure = |cell: &str| cell.parse::<f64>().is_ok() || matches!(cell, "" | "true" | "false");
                let figures = csv
                    .lines()
                    .skip(1)
                    .map(|line| line.split(',').filter(|cell| is_figure(cell)).count());
                assert!(csv.lines().count() > 1 && figures.min() > Some(3), "{words:?}: {csv}");
                assert!(!csv.contains(['%', '[', '–']), "{words:?}: {csv}");
            }
        }
        assert_eq!(
            rendered("jsonl").lines().count(),
            written("records.jsonl").lines().count()
        );
        assert!(rendered("text").contains("maskwright"));
    }
    // All of them are one report, without an internet and without what is missing.
    let page = directory.path().join("page.html");
    printed(&["report", path(directory.path()), "--html", path(&page), "--data", data]);
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("Every part has a run, and every run is finished.") && !page.contains("src="));
}

#[test]
fn files_for_lm_evaluation_harness_have_its_members() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("lm-eval");
    printed(&["rerender", path(&runs()), "--format", "lm-eval", "--out", path(&out)]);
    let row = out.join("builtin__maskwright");
    let results: Value = serde_json::from_str(&fs::read_to_string(row.join("results.json")).unwrap()).unwrap();
    for member in [
        "results",
        "configs",
        "versions",
        "n-shot",
        "higher_is_better",
        "n-samples",
        "config",
    ] {
        assert!(results[member].is_object(), "{member}");
    }
    let report: Value =
        serde_json::from_str(&printed(&["rerender", path(&runs().join("bench")), "--format", "json"])).unwrap();
    let own = report["rows"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["framework"] == "maskwright")
        .unwrap();
    assert_eq!(results["results"]["builtin"]["valid,none"], own["empirical"]);
    let samples = fs::read_to_string(row.join("samples_builtin.jsonl")).unwrap();
    assert_eq!(samples.lines().count() as u64, own["instances"].as_u64().unwrap());
    for line in samples.lines() {
        let sample: Value = serde_json::from_str(line).unwrap();
        for member in [
            "doc_id",
            "doc",
            "target",
            "arguments",
            "resps",
            "filtered_resps",
            "doc_hash",
            "valid",
        ] {
            assert!(!sample[member].is_null(), "{member}");
        }
    }
}

#[test]
fn a_report_has_every_part_and_says_what_is_missing() {
    let whole = printed(&["report", path(&runs()), "--markdown"]);
    for title in [
        "## Overview",
        "## Efficiency",
        "## Coverage",
        "## JSON Schema Test Suite",
        "## Masks",
        "## True coverage",
        "## Quality",
        "## IFStruct",
        "## Calls of functions",
        "## Failures",
        "## Runs",
        "Every part has a run, and every run is finished.",
    ] {
        assert!(whole.contains(title), "{title}");
    }
    let part = printed(&["report", path(&runs().join("bench")), "--markdown"]);
    assert!(part.contains("No run of IFStruct") && !part.contains("## IFStruct\n"));
}

#[test]
fn runs_compared_with_themselves_have_no_finding() {
    let runs = runs();
    let same = printed(&["compare", path(&runs), path(&runs), "--fail-on-regression"]);
    assert!(same.contains("0 better, 0 worse"), "{same}");
}

#[test]
fn a_regression_ends_with_an_exit_code_and_other_hardware_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (before, after) = (directory.path().join("before"), directory.path().join("after"));
    let bench = runs().join("bench");
    let manifest = fs::read_to_string(bench.join("manifest.json")).unwrap();
    let mut record: Value = serde_json::from_str(
        fs::read_to_string(bench.join("records.jsonl"))
            .unwrap()
            .lines()
            .next()
            .unwrap(),
    )
    .unwrap();
    for (place, valid) in [(&before, true), (&after, false)] {
        fs::create_dir(place).unwrap();
        fs::write(place.join("manifest.json"), &manifest).unwrap();
        let lines = (0..30).map(|number| {
            record["instance"] = format!("schema {number}").into();
            record["verdict"] = json!({"parsed": true, "valid": valid, "fenced": false, "problems": []});
            format!("{record}\n")
        });
        fs::write(place.join("records.jsonl"), lines.collect::<String>()).unwrap();
    }
    let compared = |options: &[&str]| maskwright(&[&["compare", path(&before), path(&after)], options].concat());
    let output = compared(&["--fail-on-regression"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("WORSE") && text.contains("30 became wrong: schema 0, schema 1"),
        "{text}"
    );
    assert!(compared(&[]).status.success());
    fs::write(
        after.join("manifest.json"),
        manifest.replace("\"cpus\": ", "\"cpus\": 9"),
    )
    .unwrap();
    let output = compared(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--across-hardware"));
    assert!(compared(&["--across-hardware"]).status.success() && compared(&["--no-times"]).status.success());
}

#[test]
fn a_row_that_the_second_run_lacks_is_named_and_other_settings_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (before, after) = (runs().join("masks"), directory.path().join("after"));
    fs::create_dir(&after).unwrap();
    let manifest = fs::read_to_string(before.join("manifest.json")).unwrap();
    fs::write(after.join("manifest.json"), &manifest).unwrap();
    let records = fs::read_to_string(before.join("records.jsonl")).unwrap();
    let kept = records
        .lines()
        .filter(|line| serde_json::from_str::<Value>(line).unwrap()["key"]["framework"] != "llguidance");
    fs::write(
        after.join("records.jsonl"),
        kept.map(|line| format!("{line}\n")).collect::<String>(),
    )
    .unwrap();
    let compared = |options: &[&str]| maskwright(&[&["compare", path(&before), path(&after)], options].concat());
    let output = compared(&["--fail-on-regression"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("llguidance") && text.contains("MISSING in the second runs"),
        "{text}"
    );
    assert!(String::from_utf8_lossy(&output.stderr).contains("--allow-missing"));
    assert!(compared(&[]).status.success());
    assert!(compared(&["--fail-on-regression", "--allow-missing"]).status.success());
    fs::write(
        after.join("manifest.json"),
        manifest
            .replace("\"vocabulary\":\"builtin\"", "\"vocabulary\":\"gpt2\"")
            .replace("\"vocabulary\": \"builtin\"", "\"vocabulary\": \"gpt2\""),
    )
    .unwrap();
    let output = compared(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("vocabulary differ"));
    let text = String::from_utf8(compared(&["--across-settings"]).stdout).unwrap();
    assert!(text.contains("vocabulary differ"), "{text}");
}
