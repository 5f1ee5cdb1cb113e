//! `maskwright ifstruct` as a user runs it.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use maskwright_models::{Family, RandomCheckpoint, WeightFormat};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The program, without what its user may have fetched.
fn program(arguments: &[&str]) -> Command {
    let mut program = super::program::program();
    program.arg("ifstruct").args(arguments);
    program
}

fn sample(seed: u64, format: &str, wrapped: bool) -> Value {
    json!({
        "seed": seed, "entity_type": format!("test__{}", if wrapped { "recipe" } else { "invoice" }), "prompt": "…",
        "json_schema": {"type": "array", "items": {
            "type": "object",
            "properties": {"id": {"type": "string", "pattern": "^[A-Z]+$"}, "count": {"type": "integer"}},
            "required": ["id"]
        }},
        "top_level_count": 1, "top_level_key": wrapped.then_some("items"), "require_wrapper_key": wrapped,
        "require_code_block": false, "require_no_commentary": true, "output_format": format,
        "presentation_style": "bullets"
    })
}

fn with(mut sample: Value, response: &str) -> String {
    sample["response"] = json!(response);
    sample.to_string()
}

/// Whole samples with replies, two of five lines bad.
fn replies() -> String {
    let lines = [
        with(sample(1, "json", false), "[{\"id\": \"a\"}]"),
        "{\"seed\": 2".to_owned(),
        with(sample(3, "yaml", true), "```yaml\nitems:\n- id: no\n  more: 1\n```"),
        with(
            sample(4, "json", true),
            "<think>hm</think>{\"items\": [{\"id\": \"A\"}]}",
        ),
        json!({"seed": 5, "response": "[]"}).to_string(),
    ];
    lines.join("\n")
}

fn exit_code(output: &Output) -> i32 {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("panicked"), "{said}");
    output.status.code().unwrap()
}

#[test]
fn pass_rates_are_split_and_bad_lines_are_counted() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("replies.jsonl");
    fs::write(&file, replies()).unwrap();
    let file = file.to_str().unwrap();

    let output = program(&["score", file, "--json"]).output().unwrap();
    assert_eq!(exit_code(&output), 1, "bad lines");
    let said = String::from_utf8_lossy(&output.stderr);
    for part in [
        "replies.jsonl:2: not a JSON object",
        "replies.jsonl:5: expected a whole sample",
        "2 lines",
    ] {
        assert!(said.contains(part), "{said}");
    }
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["scored"], &report["passed"]), (&json!(3), &json!(2)));
    assert_eq!(report["level"], "public");
    let [low, high] = [0, 1].map(|end| report["pass_rate_ci"][end].as_f64().unwrap());
    assert!(low < 2.0 / 3.0 && 2.0 / 3.0 < high);
    assert_eq!(report["by_format"]["json"]["pass_rate"], 1.0);
    assert_eq!(report["by_format"]["yaml"]["passed"], 0);
    assert_eq!(report["by_structure"]["wrapper_key"]["replies"], 2);
    assert_eq!(report["by_entity_type"]["test__invoice"]["replies"], 1);
    assert_eq!(report["by_presentation_style"]["bullets"]["replies"], 3);
    let kinds: Vec<&str> = report["failures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["extra_field", "wrong_type"]);
    assert_eq!(report["replies"][1]["line"], 3);
    assert_eq!(report["replies"][1]["score"]["failures"][0]["path"], "[0].id");
    assert_eq!(report["bad_lines"][0]["line"], 2);

    let output = program(&["score", file, "--strict", "--failures"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("line 1, seed 1: [0].id: "), "{said}");
    assert!(said.contains("`no` is read as a boolean"), "{said}");
    let table = String::from_utf8(output.stdout).unwrap();
    for part in [
        "pass rate (%)",
        "33.33",
        "pattern not matched",
        "wrapper_key",
        "test__recipe",
    ] {
        assert!(table.contains(part), "{table}");
    }
}

#[test]
fn samples_that_cannot_be_judged_are_not_asked_for() {
    let directory = TempDir::new().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let mut unusable = sample(1, "json", false);
    unusable["json_schema"]["type"] = json!(1);
    let samples = format!("{unusable}\n{}\n", sample(2, "json", false));
    fs::write(path("samples.jsonl"), samples).unwrap();
    let (samples, out) = (path("samples.jsonl"), path("run"));
    let arguments = [
        "run",
        "--samples",
        &samples,
        "--modes",
        "unconstrained",
        "--max-tokens",
        "8",
        "--out",
        &out,
        "--json",
    ];
    let output = program(&arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(exit_code(&output), 0, "{said}");
    assert!(
        said.contains("left out: seed 1: the schema of the row cannot be used"),
        "{said}"
    );
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let tables = fs::read_to_string(format!("{out}/report.md")).unwrap();
    for title in ["Pass rates by format", "The most common failures"] {
        assert!(tables.contains(title), "{tables}");
    }
    assert_eq!(report["rows"][0]["total"], 1);
}

#[test]
fn a_rewriting_counts_only_if_it_keeps_every_requirement() {
    use super::chat_server::{ChatServer, says};

    let directory = TempDir::new().unwrap();
    let generate = |out: &str, further: &[&str]| {
        let path = directory.path().join(out);
        let arguments = [
            "generate",
            "--split",
            "test",
            "-n",
            "12",
            "--seed",
            "3",
            "--out",
            path.to_str().unwrap(),
        ];
        let output = program(&[&arguments, further].concat()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let text = fs::read_to_string(&path).unwrap_or_default();
        let samples: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        (exit_code(&output), said, samples)
    };
    let (_, _, own) = generate("own.jsonl", &[]);
    let voiced = |samples: &[Value]| samples.iter().filter(|sample| sample["voice"].is_string()).count();
    assert!(voiced(&own) >= 3);
    // A server that keeps each request, but for a sentence of its own; and one that loses the request's last sentence.
    let request = |prompt: &str| {
        prompt
            .split_once("The request:\n")
            .map(|(_, request)| request.to_owned())
    };
    let faithful = ChatServer::start(move |_, asked| match request(&asked.prompt()) {
        Some(request) => says(&format!("{request} Thanks a lot!")),
        None => says("{}"),
    });
    let argument = faithful.argument("rewriter", "");
    let (code, said, rewritten) = generate("kept.jsonl", &["--rewriter", &argument]);
    assert_eq!(code, 0, "{said}");
    for (before, after) in own.iter().zip(&rewritten) {
        assert_eq!(
            (&before["seed"], &before["json_schema"]),
            (&after["seed"], &after["json_schema"])
        );
        let is_rewritten = after["prompt"].as_str().unwrap().ends_with("Thanks a lot!");
        assert_eq!(is_rewritten, before["voice"].is_string(), "{after}");
        assert_eq!(after["rewritten_by"].is_string(), is_rewritten);
    }
    let losing = ChatServer::start(move |_, asked| match request(&asked.prompt()) {
        Some(request) => says(&request.replace(|c: char| c.is_ascii_digit(), "")),
        None => says("{}"),
    });
    let argument = losing.argument("rewriter", "");
    let (code, said, kept) = generate("lost.jsonl", &["--rewriter", &argument]);
    assert_eq!(code, 0, "{said}");
    let lost = own
        .iter()
        .zip(&kept)
        .filter(|(before, after)| before["prompt"] == after["prompt"])
        .count();
    assert!(
        lost > own.len() - voiced(&own) && said.contains("had lost or added"),
        "{said}"
    );
    // What allows where the request forbids, and what is cut off, is no rewriting either; one question that is refused costs no other.
    let contrary = ChatServer::start(move |number, asked| match request(&asked.prompt()) {
        Some(_) if number == 1 => {
            super::chat_server::Act::Reply(400, Vec::new(), r#"{"error": {"message": "filtered"}}"#.to_owned())
        }
        Some(request) => says(&format!("{request} Feel free to add extra fields.")),
        None => says("{}"),
    });
    let (code, said, kept) = generate("contrary.jsonl", &["--rewriter", &contrary.argument("rewriter", "")]);
    assert_eq!(code, 0, "{said}");
    assert!(own.iter().zip(&kept).all(|(before, after)| before == after), "{said}");
    // A server that goes away leaves what was written, and how to go on.
    let gone = ChatServer::start(|number, _| match number {
        0 => says("{}"),
        _ => super::chat_server::Act::Silence(std::time::Duration::ZERO),
    });
    let (code, said, left) = generate("gone.jsonl", &["--rewriter", &gone.argument("rewriter", "retries=0")]);
    let first_voiced = own.iter().position(|sample| sample["voice"].is_string()).unwrap();
    let next = format!("--skip {first_voiced} -n {}", own.len() - first_voiced);
    assert!(code == 3 && said.contains(&next), "{said}");
    assert_eq!(left, own[..first_voiced]);
}

#[test]
fn replies_are_joined_with_samples_by_seed() {
    let directory = TempDir::new().unwrap();
    let [samples, replies] = ["samples.jsonl", "replies.jsonl"].map(|name| directory.path().join(name));
    fs::write(
        &samples,
        format!("{}\n{}\n", sample(1, "json", false), sample(2, "yaml", false)),
    )
    .unwrap();
    let lines = [(1, "[{\"id\": \"A\"}]"), (2, "- id: A"), (2, "- id: 1")];
    let lines = lines.map(|(seed, response)| json!({"seed": seed, "response": response}).to_string());
    fs::write(&replies, lines.join("\n")).unwrap();
    let [samples, replies] = [&samples, &replies].map(|path| path.to_str().unwrap());
    let output = program(&["score", replies, "--samples", samples, "--json"])
        .output()
        .unwrap();
    assert_eq!(exit_code(&output), 1, "a second reply to seed 2");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["scored"], &report["passed"]), (&json!(2), &json!(2)));
    assert_eq!(
        (&report["missing"], &report["bad_lines"][0]["line"]),
        (&json!(0), &json!(3))
    );

    // A reply may contain its sample where others name theirs.
    let mut whole: Value = serde_json::from_str(&sample(1, "json", false).to_string()).unwrap();
    whole["response"] = json!("[{\"id\": \"A\"}]");
    let named = json!({"seed": 2, "response": "- id: A"});
    fs::write(replies, format!("{whole}\n{named}\n")).unwrap();
    let output = program(&["score", replies, "--samples", samples, "--json"])
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&report["scored"], &report["missing"]),
        (&json!(2), &json!(0)),
        "{report}"
    );

    fs::write(replies, lines.join("\n")).unwrap();
    fs::write(samples, "{}\n").unwrap();
    let output = program(&["score", replies, "--samples", samples]).output().unwrap();
    assert_eq!(exit_code(&output), 3);
    assert!(String::from_utf8_lossy(&output.stderr).contains("none of the 3 lines"));
    let output = program(&["score", "/nowhere.jsonl"]).output().unwrap();
    assert_eq!(exit_code(&output), 3);
    let output = program(&["score", replies, "--samples", "/nowhere.parquet"])
        .output()
        .unwrap();
    assert_eq!(exit_code(&output), 3);
}

#[test]
fn a_reward_answers_each_line_before_the_next_is_written() {
    let mut child = program(&["reward"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut ask = |line: &str| -> Value {
        writeln!(input, "{line}").unwrap();
        let mut answer = String::new();
        output.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap()
    };
    let right = ask(&with(sample(1, "json", false), "[{\"id\": \"a\"}]"));
    assert_eq!((&right["reward"], &right["seed"]), (&json!(1.0), &json!(1)));
    let malformed = ask("nonsense");
    assert_eq!(malformed["line"], 2);
    assert!(
        malformed["error"].as_str().unwrap().contains("not a JSON object"),
        "{malformed}"
    );
    let mut unusable = sample(3, "json", false);
    unusable["json_schema"] = json!({"type": 1});
    let unusable = ask(&with(unusable, "[]"));
    assert!(unusable["error"].as_str().unwrap().contains("`/type`"), "{unusable}");
    let wrong = ask(&with(sample(2, "yaml", false), "- id: 1"));
    assert_eq!(wrong["reward"], 0.0);
    assert_eq!(wrong["failures"][0]["kind"], "wrong_type");
    drop(input);
    assert!(child.wait().unwrap().success());
}

/// A model that cannot be computed, or whose template writes no prompt, has no replies that could be counted as bad ones.
#[test]
fn a_model_that_fails_ends_the_run() {
    let directory = TempDir::new().unwrap();
    let write = |name: &str, template: &str, last_weight: f32| {
        let path = directory.path().join(name);
        let mut checkpoint = RandomCheckpoint::preset(Family::Llama, "tiny").unwrap();
        checkpoint.format = WeightFormat::F32;
        checkpoint.write(&path).unwrap();
        fs::write(path.join("chat_template.jinja"), template).unwrap();
        let weights = path.join("model.safetensors");
        let mut bytes = fs::read(&weights).unwrap();
        let end = bytes.len();
        bytes[end - 4..].copy_from_slice(&last_weight.to_le_bytes());
        fs::write(&weights, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let prompt = "{{ messages[0].content[:9] }}";
    let damaged = write("damaged", prompt, f32::NAN);
    let silent = write("silent", "", 1.0);
    let commands = [
        vec!["ifstruct", "run", "-n", "1"],
        vec!["bench", "--limit", "1", "--frameworks", "none"],
        vec!["bench", "--tools", "builtin", "--limit", "1", "--frameworks", "none"],
    ];
    for (model, expected) in [
        (&damaged, "the logit of token 0 is NaN"),
        (&silent, "no tokens to append"),
    ] {
        for command in &commands {
            let out = TempDir::new().unwrap();
            let out = out.path().join("run");
            let mut program = super::program::program();
            program.args(command).args(["--model", model, "--out"]).arg(&out);
            let (code, _, said) = super::program::end(&program.output().unwrap());
            assert_eq!(code, 3, "{command:?}: {said}");
            assert!(
                said.contains(expected) && !said.contains("--dtype"),
                "{command:?}: {said}"
            );
            let records = fs::read_to_string(out.join("records.jsonl")).unwrap_or_default();
            assert!(records.is_empty(), "{command:?}: {records}");
        }
    }
}

/// Constrained replies pass, the rows have what was promised, and a run that is resumed asks nothing anew.
#[test]
fn a_model_is_asked_alone_and_constrained() {
    let directory = TempDir::new().unwrap();
    let out = directory.path().join("run");
    let out = out.to_str().unwrap();
    let arguments = [
        "run",
        "-n",
        "2",
        "--seed",
        "5",
        "--max-tokens",
        "900",
        "--out",
        out,
        "--json",
    ];
    let output = program(&arguments).output().unwrap();
    assert_eq!(exit_code(&output), 0, "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let (mut alone, mut finished) = (0, 0);
    for row in report["rows"].as_array().unwrap() {
        let count = |name: &str| row[name].as_u64().unwrap();
        assert_eq!(row["model"], "builtin");
        assert!(row["format"] == "json" || row["format"] == "yaml", "{row}");
        assert_eq!(
            row["pass_rate"].as_f64(),
            Some(count("passed") as f64 / count("total") as f64)
        );
        match row["mode"].as_str() {
            Some("constrained") => {
                assert_eq!(count("passed"), count("finished"), "{row}");
                finished += count("finished");
            }
            Some("unconstrained") => alone += count("total"),
            mode => panic!("{mode:?}"),
        }
    }
    assert_eq!((alone, finished), (2, 2));
    let records = fs::read(Path::new(out).join("records.jsonl")).unwrap();

    let again = [&arguments[..], &["--resume"]].concat();
    let output = program(&again).output().unwrap();
    assert_eq!(exit_code(&output), 0);
    assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap(), report);
    assert_eq!(fs::read(Path::new(out).join("records.jsonl")).unwrap(), records);

    let page = directory.path().join("board.html");
    let output = program(&["leaderboard", out, out, "--json", "--html", page.to_str().unwrap()])
        .output()
        .unwrap();
    assert_eq!(exit_code(&output), 0);
    let board: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(board["rows"], report["rows"], "what is given twice counts once");
    assert!(fs::read_to_string(page).unwrap().contains(">constrained</td>"));
}
