//! The program as a user runs it: the built-in model, killed, resumed, given bad input.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use super::program::{PROGRAM, program};

/// A benchmark of llguidance and the model alone, unless the arguments name others.
fn bench(out: &Path, arguments: &[&str]) -> Output {
    let mut program = program();
    let frameworks: &[&str] = match arguments.contains(&"--frameworks") {
        true => &[],
        false => &["--frameworks", "llguidance,none"],
    };
    program
        .args(["bench", "--max-tokens", "60", "--threads", "1", "--out"])
        .arg(out)
        .args(frameworks)
        .args(arguments)
        .output()
        .unwrap()
}

fn succeed(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?}: {errors}", output.status);
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The exit code and what was said.
fn fail(output: &Output) -> (i32, String) {
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{errors}");
    assert!(!errors.contains("panicked"), "{errors}");
    (output.status.code().expect("ended by itself"), errors)
}

/// The records of a run without their times, which no two runs share.
fn records(out: &Path) -> Vec<Value> {
    let text = fs::read_to_string(out.join("records.jsonl")).unwrap();
    text.lines()
        .map(|line| without_times(serde_json::from_str(line).unwrap()))
        .collect()
}

fn without_times(mut record: Value) -> Value {
    for (part, times) in [
        ("compile", &["seconds"][..]),
        (
            "generation",
            &[
                "ttft_s",
                "tpot_ms",
                "tgt_s",
                "mask_us",
                "exposed_mask_us",
                "prepared_mask_us",
                "token_times_us",
            ][..],
        ),
    ] {
        if let Some(part) = record.get_mut(part).and_then(Value::as_object_mut) {
            part.retain(|name, _| !times.contains(&name.as_str()));
        }
    }
    record
}

#[test]
fn a_run_measures_every_row_and_writes_its_tables() {
    let directory = TempDir::new().unwrap();
    let out = directory.path().join("run");
    let report: Value = serde_json::from_str(&succeed(&bench(&out, &["--limit", "3", "--json"]))).unwrap();
    let rows = report["rows"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["framework"].as_str().unwrap()).collect();
    assert_eq!(names, ["llguidance", "none"]);
    for row in rows {
        assert_eq!(row["dataset"], "builtin");
        assert_eq!(row["instances"], 3);
        assert_eq!(row["model"], "builtin");
        for figure in [
            "empirical",
            "compliance",
            "ttft_s",
            "tpot_ms",
            "tgt_s",
            "output_tokens",
            "tokens_per_s",
        ] {
            assert!(row[figure].is_f64() || row[figure].is_u64(), "{figure}: {row}");
        }
        let constrained = row["framework"] != "none";
        for figure in [
            "theoretical",
            "declared",
            "gct_s",
            "forced_tokens",
            "mask_us",
            "exposed_mask_us",
            "prepared_mask_us",
        ] {
            assert_eq!(row[figure].is_null(), !constrained, "{figure}: {row}");
        }
        for figure in ["empirical", "compliance", "tgt_s", "output_tokens"] {
            let interval = row[format!("{figure}_ci")].as_array().unwrap();
            let [low, high] = [0, 1].map(|end| interval[end].as_f64().unwrap());
            let value = row[figure].as_f64().unwrap();
            assert!(low <= value && value <= high, "{figure}: {row}");
        }
        assert_eq!(row["p99"]["gct_s"].is_null(), !constrained);
    }
    for record in records(&out) {
        let generation = &record["generation"];
        let passes = generation["forward_passes"].as_u64().unwrap();
        let sampled = generation["output_tokens"].as_u64().unwrap() - generation["forced_tokens"].as_u64().unwrap();
        assert!(passes == sampled || passes == sampled + 1, "{record}");
    }
    let manifest: Value = serde_json::from_str(&fs::read_to_string(out.join("manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["settings"]["models"][0]["name"], "builtin");
    let version = manifest["settings"]["frameworks"][0]["version"].as_str().unwrap();
    assert!(version.starts_with(|digit: char| digit.is_ascii_digit()), "{version}");
    for table in ["report.md", "report.csv", "report.json"] {
        assert!(
            fs::read_to_string(out.join(table)).unwrap().contains("llguidance"),
            "{table}"
        );
    }

    let (code, said) = fail(&bench(&out, &["--limit", "3"]));
    assert_eq!(code, 4);
    assert!(said.contains("--resume"), "{said}");
}

#[test]
fn a_killed_run_resumes_to_the_same_records() {
    let directory = TempDir::new().unwrap();
    let [whole, killed] = ["whole", "killed"].map(|name| directory.path().join(name));
    let arguments = ["--datasets", "heldout", "--limit", "3", "--seed", "5"];
    succeed(&bench(&whole, &arguments));
    succeed(&bench(&killed, &arguments));
    let records_path = killed.join("records.jsonl");
    let bytes = fs::read(&records_path).unwrap();
    fs::write(&records_path, &bytes[..bytes.len() / 2]).unwrap();

    let resume = |changed: &[&str]| {
        let mut all = arguments.to_vec();
        all.push("--resume");
        all.extend(changed);
        bench(&killed, &all)
    };
    let (code, said) = fail(&resume(&["--shots", "1"]));
    assert_eq!(code, 4);
    assert!(said.contains("shots was 2, now 1"), "{said}");
    succeed(&resume(&[]));
    assert_eq!(records(&killed), records(&whole));
    succeed(&resume(&[]));
    assert_eq!(records(&killed).len(), 6, "nothing is measured twice");
}

#[test]
fn scorings_differ_without_measuring_again() {
    let directory = TempDir::new().unwrap();
    let data = directory.path().join("data").join("mine");
    fs::create_dir_all(&data).unwrap();
    fs::write(data.join("a.json"), r#"{"enum": ["127.0.0.1"], "format": "ipv4"}"#).unwrap();
    fs::write(data.join("b.json"), r#"{"const": true}"#).unwrap();
    let out = directory.path().join("run");
    let data = directory.path().to_str().unwrap();
    let empirical = |more: &[&str]| {
        let mut arguments = vec!["--frameworks", "llguidance", "--data", data, "--json"];
        arguments.extend(more);
        let report: Value = serde_json::from_str(&succeed(&bench(&out, &arguments))).unwrap();
        assert_eq!(report["rows"][0]["declared"], 1.0, "{report}");
        assert_eq!(report["rows"][0]["theoretical"], 1.0, "{report}");
        report["rows"][0]["empirical"].clone()
    };
    assert_eq!(empirical(&[]), 1.0);
    let before = fs::read(out.join("records.jsonl")).unwrap();
    assert_eq!(empirical(&["--resume", "--scoring", "paper"]), 0.5);
    assert_eq!(fs::read(out.join("records.jsonl")).unwrap(), before);
}

#[test]
fn an_answer_over_the_time_limit_is_declared_but_not_empirical() {
    let directory = TempDir::new().unwrap();
    let out = directory.path().join("run");
    let arguments = [
        "--limit",
        "2",
        "--frameworks",
        "llguidance",
        "--generation-limit",
        "0.000001",
        "--json",
    ];
    let report: Value = serde_json::from_str(&succeed(&bench(&out, &arguments))).unwrap();
    let row = &report["rows"][0];
    assert_eq!(
        (&row["declared"], &row["empirical"]),
        (&1.0.into(), &0.0.into()),
        "{row}"
    );
    assert_eq!(records(&out)[0]["generation"]["finish"], "time_limit");
}

#[test]
fn several_models_are_run_one_after_the_other_and_resume() {
    let directory = TempDir::new().unwrap();
    let copy = directory.path().join("copy");
    fs::create_dir(&copy).unwrap();
    let builtin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/builtin");
    for file in fs::read_dir(builtin).unwrap().map(|entry| entry.unwrap().path()) {
        if file.is_file() {
            fs::copy(&file, copy.join(file.file_name().unwrap())).unwrap();
        }
    }
    let out = directory.path().join("run");
    let models = format!("{},builtin", copy.display());
    let arguments = ["--model", &models, "--limit", "1", "--json"];
    let report: Value = serde_json::from_str(&succeed(&bench(&out, &arguments))).unwrap();
    let rows = report["rows"].as_array().unwrap();
    let copy = copy.to_str().unwrap();
    let named: Vec<_> = rows.iter().map(|row| (&row["model"], &row["framework"])).collect();
    assert_eq!(named.len(), 4);
    assert!(named[0].0 == copy && named[3].0 == "builtin", "{named:?}");
    assert_eq!(rows[0]["output_tokens"], rows[2]["output_tokens"], "the same weights");
    let manifest: Value = serde_json::from_str(&fs::read_to_string(out.join("manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["settings"]["models"][1]["name"], "builtin");
    let markdown = fs::read_to_string(out.join("report.md")).unwrap();
    assert!(markdown.contains("| model "), "{markdown}");

    let records_path = out.join("records.jsonl");
    let text = fs::read_to_string(&records_path).unwrap();
    fs::write(&records_path, text.lines().next().unwrap().to_owned() + "\n").unwrap();
    let mut resume = arguments.to_vec();
    resume.push("--resume");
    let resumed: Value = serde_json::from_str(&succeed(&bench(&out, &resume))).unwrap();
    assert_eq!(resumed["rows"].as_array().unwrap().len(), 4);
    assert_eq!(records(&out).len(), 4);
}

#[test]
fn sampled_answers_depend_on_the_seed_only() {
    let directory = TempDir::new().unwrap();
    let run = |name: &str, seed: &str| {
        let out = directory.path().join(name);
        let arguments = [
            "--limit",
            "1",
            "--temperature",
            "1.2",
            "--top-p",
            "0.95",
            "--seed",
            seed,
        ];
        succeed(&bench(&out, &arguments));
        records(&out)
    };
    let first = run("first", "3");
    assert_eq!(first, run("again", "3"));
    assert_ne!(first, run("other", "4"));
}

#[test]
fn rows_that_cannot_be_used_are_left_out_and_said() {
    let directory = TempDir::new().unwrap();
    let data = directory.path().join("data").join("mine");
    fs::create_dir_all(&data).unwrap();
    fs::write(data.join("a.json"), "{\"type\": ").unwrap();
    fs::write(data.join("b.json"), "{\"type\": \"nonsense\"}").unwrap();
    fs::write(data.join("c.json"), "{\"type\": \"boolean\"}").unwrap();
    let out = directory.path().join("run");
    let output = bench(&out, &["--data", directory.path().to_str().unwrap(), "--json"]);
    let report: Value = serde_json::from_str(&succeed(&output)).unwrap();
    assert_eq!(report["rows"][0]["instances"], 1, "{report}");
    assert_eq!(report["rows"][0]["empirical"], 1.0, "{report}");
    assert_eq!(report["rows"][0]["unusable"], 2, "{report}");
    let tables = fs::read_to_string(out.join("report.md")).unwrap();
    assert!(
        tables.contains("2 of 3 schemas count nowhere: no answer can be judged by them"),
        "{tables}"
    );
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("left out: mine/a") && said.contains("left out: mine/b"),
        "{said}"
    );
}

#[test]
fn bad_arguments_and_models_say_what_to_do() {
    let directory = TempDir::new().unwrap();
    let out = directory.path().join("run");
    let broken = directory.path().join("model");
    fs::create_dir(&broken).unwrap();
    let broken = broken.to_str().unwrap();
    let cases: [(&[&str], i32, &str); 10] = [
        (&["--frameworks", "nonsense"], 2, "known are maskwright"),
        (&["--datasets", "bultin"], 2, "builtin"),
        (&["--data", "/nonexistent"], 3, "/nonexistent"),
        (&["--model", "./nowhere"], 3, "there is no such directory"),
        (&["--model", broken], 3, "model.safetensors"),
        (&["--model", "builtin,./nowhere"], 3, "there is no such directory"),
        (&["--top-p", "0"], 2, "top-p is 0"),
        (&["--confidence", "1"], 2, "must be between 0 and 1"),
        (&["--scoring", "lenient"], 2, "must be strict or paper"),
        (&["--generation-limit", "0"], 2, "must be above 0"),
    ];
    for (arguments, expected, needle) in cases {
        let (code, said) = fail(&bench(&out, arguments));
        assert_eq!((code, said.contains(needle)), (expected, true), "{arguments:?}: {said}");
        assert!(!out.exists(), "{arguments:?}: nothing was started");
    }
    let (code, said) = fail(&bench(&out, &["--resume"]));
    assert_eq!(code, 4);
    assert!(said.contains("there is no run to resume"), "{said}");
}

/// A limit on the size of files stands in for a full disk: writes past it fail.
#[cfg(unix)]
#[test]
fn a_full_disk_keeps_the_records_so_far() {
    let directory = TempDir::new().unwrap();
    let out = directory.path().join("run");
    let frameworks = ["--frameworks", "llguidance,none"];
    let arguments = ["--datasets", "heldout", "--limit", "12", "--out", out.to_str().unwrap()];
    let limited = Command::new("sh")
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f 16; exec \"$@\"",
            "sh",
            PROGRAM,
            "bench",
            "--max-tokens",
            "60",
        ])
        .args(["--threads", "1"])
        .args(frameworks)
        .args(arguments)
        .output()
        .unwrap();
    let (code, said) = fail(&limited);
    assert_eq!(code, 4, "{said}");
    assert!(said.contains("records.jsonl") && said.contains("--resume"), "{said}");
    let text = fs::read_to_string(out.join("records.jsonl")).unwrap();
    assert!(text.matches('\n').count() > 0, "records before the limit are kept");
    succeed(&bench(&out, &["--datasets", "heldout", "--limit", "12", "--resume"]));
    assert_eq!(records(&out).len(), 24);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_ends_cleanly_and_resumes() {
    let directory = TempDir::new().unwrap();
    let out = directory.path().join("run");
    let mut child = program()
        .args([
            "bench",
            "--frameworks",
            "llguidance,none",
            "--datasets",
            "heldout",
            "--limit",
            "30",
            "--threads",
            "1",
            "--out",
        ])
        .arg(&out)
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let lines = || fs::read_to_string(out.join("records.jsonl")).map_or(0, |text| text.matches('\n').count());
    while lines() == 0 {
        assert!(child.try_wait().unwrap().is_none(), "it ended before its first record");
        std::thread::sleep(Duration::from_millis(20));
    }
    let signal = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(signal.success());
    let (code, said) = fail(&child.wait_with_output().unwrap());
    assert_eq!(code, 130, "{said}");
    let kept = records(&out).len();
    assert!(
        kept < 60 && said.contains(&format!("{kept} of 60 records are kept")),
        "{said}"
    );
}

#[test]
fn list_names_frameworks_models_and_datasets() {
    let output = program().args(["list", "--json"]).output().unwrap();
    let listing: Value = serde_json::from_str(&succeed(&output)).unwrap();
    assert_eq!(listing["frameworks"][0]["name"], "maskwright");
    assert_eq!(listing["datasets"][0]["name"], "builtin");
    assert!(listing["datasets"][0]["schemas"].as_u64().unwrap() >= 40);
    let text = succeed(&program().arg("list").output().unwrap());
    assert!(text.contains("LM only") && text.contains("heldout"), "{text}");
    let text = succeed(&program().args(["list", "--models"]).output().unwrap());
    assert!(
        text.contains("Lfm2ForCausalLM") && text.contains("indexer chooses is missing"),
        "{text}"
    );
    let output = program().args(["list", "--models", "--json"]).output().unwrap();
    let listing: Value = serde_json::from_str(&succeed(&output)).unwrap();
    for family in listing["families"].as_array().unwrap() {
        let compared = family["compared_with"].as_array().unwrap();
        assert!(compared[0].as_str().unwrap().starts_with("transformers"), "{family}");
    }
}

#[test]
fn census_counts_the_built_in_sample() {
    let output = program().args(["census", "--json"]).output().unwrap();
    let census: Value = serde_json::from_str(&succeed(&output)).unwrap();
    let builtin = &census["datasets"]["builtin"];
    let schemas = builtin["schemas"].as_u64().unwrap();
    let drafts = builtin["drafts"].as_object().unwrap();
    assert_eq!(drafts.values().filter_map(Value::as_u64).sum::<u64>(), schemas);
    for draft in ["draft-04", "draft-06", "draft-07", "2019-09", "2020-12", "none"] {
        assert!(drafts.contains_key(draft), "{draft}");
    }
    let objects = builtin["keywords"]["properties"]["schemas"].as_u64().unwrap();
    assert!(objects > schemas / 2 && objects <= schemas, "{objects} of {schemas}");
    let text = succeed(&program().arg("census").output().unwrap());
    assert!(text.contains("uniqueItems") && text.contains("date-time"), "{text}");
}

#[test]
fn ifstruct_generates_the_same_samples_again() {
    let generate = |arguments: &[&str]| {
        let output = program()
            .args(["ifstruct", "generate", "--split", "test"])
            .args(arguments)
            .output();
        output.unwrap()
    };
    let all = succeed(&generate(&["-n", "40", "--seed", "3"]));
    assert_eq!(all.lines().count(), 40);
    let rest = succeed(&generate(&["-n", "10", "--seed", "3", "--skip", "30"]));
    assert!(all.ends_with(&rest) && rest.lines().count() == 10);
    let directory = TempDir::new().unwrap();
    let out = directory.path().join("test.jsonl");
    let path = out.to_str().unwrap();
    let statistics: Value = serde_json::from_str(&succeed(&generate(&[
        "-n", "40", "--seed", "3", "--out", path, "--json",
    ])))
    .unwrap();
    assert_eq!(fs::read_to_string(&out).unwrap(), all);
    assert_eq!(statistics["samples"], 40);
    for what in ["entity", "style", "voice", "format", "structure", "fence", "commentary"] {
        let counts = statistics["shares"][what].as_object().unwrap();
        assert_eq!(
            counts.values().map(|count| count.as_u64().unwrap()).sum::<u64>(),
            40,
            "{what}"
        );
    }
    for line in all.lines() {
        let sample: Value = serde_json::from_str(line).unwrap();
        assert!(
            sample["entity_type"].as_str().unwrap().starts_with("test__"),
            "{sample}"
        );
        assert!(sample["prompt"].as_str().unwrap().len() > 100, "{sample}");
    }
    let (code, said) = fail(&generate(&["-n", "1000001"]));
    assert_eq!(code, 2);
    assert!(said.contains("--seed"), "{said}");
    assert_eq!(fail(&generate(&["--seed", "18446744073709551615"])).0, 2);
    assert_eq!(fail(&generate(&["-n", "1", "--out", "/nonexistent/x.jsonl"])).0, 4);
}
