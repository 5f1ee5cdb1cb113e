//! `maskwright train` as a user runs it: whole, killed and continued, refused.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use maskwright_models::{CheckpointTokenizer, Family, RandomCheckpoint};
use maskwright_suites::ifstruct::reference;
use serde_json::Value;
use tempfile::TempDir;

use super::program::{end, program};

fn checkpoint(directory: &Path, family: Family) {
    let mut checkpoint = RandomCheckpoint::preset(family, "tiny").unwrap();
    let builtin: Value = serde_json::from_str(include_str!("../../../models/builtin/config.json")).unwrap();
    checkpoint.config["vocab_size"] = builtin["vocab_size"].clone();
    checkpoint.config["hidden_size"] = 16.into();
    checkpoint.config["intermediate_size"] = 24.into();
    checkpoint.config["bos_token_id"] = 1.into();
    checkpoint.config["eos_token_id"] = 2.into();
    checkpoint.tokenizer = CheckpointTokenizer::Builtin;
    checkpoint.write(directory).unwrap();
}

/// The arguments of a short training of `model` into `out`.
fn arguments<'a>(model: &'a str, out: &'a str) -> Vec<&'a str> {
    let sizes = "--samples 300 --test-samples 40 --max-prompt-tokens 420 --max-tokens 210 --threads 1";
    let steps = "--supervised-steps 6 --batch 2 --learning-rate 0.01 --grpo-steps 3 --prompts 1 --group 2 --partial-reward --checkpoint-every 2";
    let options = sizes.split(' ').chain(steps.split(' '));
    ["train", "--model", model, "--out", out]
        .into_iter()
        .chain(options)
        .collect()
}

fn records(run: &Path) -> Vec<Value> {
    let text = fs::read_to_string(run.join("records.jsonl")).unwrap_or_default();
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// Copies a directory with all that is in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

#[test]
fn a_training_that_is_killed_goes_on_to_the_same_weights() {
    let directory = TempDir::new().unwrap();
    let path = |name: &str| directory.path().join(name);
    let text = |name: &str| path(name).to_str().unwrap().to_owned();
    checkpoint(&path("start"), Family::Qwen3);
    let (start, whole, killed) = (text("start"), text("whole"), text("killed"));
    let (code, printed, said) = end(&program()
        .args(arguments(&start, &whole))
        .arg("--json")
        .output()
        .unwrap());
    assert_eq!(code, 0, "{said}");
    let report: Value = serde_json::from_str(&printed).unwrap();
    let evaluations = report["evaluations"].as_array().unwrap();
    assert_eq!(evaluations.len(), 3, "{report:#}");
    assert!(evaluations.iter().all(|one| one["rate_ci"].is_array()));
    let samples = &report["samples"]["train"];
    assert_eq!(samples["generated"], 300);
    assert!(samples["fitting"].as_u64().unwrap() < 300, "{samples}");
    let losses: Vec<f64> = records(&path("whole"))
        .iter()
        .filter(|record| record["phase"] == "supervised")
        .filter_map(|record| record["metrics"]["loss"].as_f64())
        .collect();
    assert!(losses[5] < losses[0], "{losses:?}");
    let markdown = fs::read_to_string(path("whole").join("report.md")).unwrap();
    assert!(markdown.contains("No schema is in both splits"), "{markdown}");
    assert!(
        fs::read_to_string(path("whole").join("curves.svg"))
            .unwrap()
            .ends_with("</svg>\n")
    );

    // Killed between two checkpoints of the first phase.
    let mut child = program();
    child
        .args(arguments(&start, &killed))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = child.spawn().unwrap();
    let began = Instant::now();
    while records(&path("killed")).len() < 4 && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!path("killed").join("model").exists());
    let resumed = |out: &str| end(&program().args(["train", "--resume", "--out", out]).output().unwrap());
    // Copies of the run with a gap in its records, and with a damaged checkpoint.
    copy(&path("killed"), &path("gap"));
    let lines = fs::read_to_string(path("gap").join("records.jsonl")).unwrap();
    let first = r#""phase":"supervised","step":1,"what":"step""#;
    let kept = lines.split_inclusive('\n').filter(|line| !line.contains(first));
    fs::write(path("gap").join("records.jsonl"), kept.collect::<String>()).unwrap();
    let (code, _, said) = resumed(&text("gap"));
    assert_eq!(code, 3, "{said}");
    assert!(
        said.contains("records.jsonl has no record of supervised step 1, which"),
        "{said}"
    );
    copy(&path("killed"), &path("damaged"));
    for checkpoint in fs::read_dir(path("damaged").join("checkpoints")).unwrap() {
        let weights = checkpoint.unwrap().path().join("model.safetensors");
        if let Ok(whole) = fs::read(&weights) {
            fs::write(&weights, &whole[..whole.len().min(1000)]).unwrap();
        }
    }
    let (code, _, said) = resumed(&text("damaged"));
    assert_eq!(code, 3, "{said}");
    assert!(
        said.contains("remove this directory") && !said.contains("download"),
        "{said}"
    );
    let (code, _, said) = resumed(&killed);
    assert_eq!(code, 0, "{said}");
    let weights = |name: &str| fs::read(path(name).join("model/model.safetensors")).unwrap();
    assert!(weights("killed") == weights("whole"));
    let without_times = |name: &str| {
        let mut all = records(&path(name));
        for record in &mut all {
            for part in ["metrics", "evaluation"] {
                if record[part].is_object() {
                    record[part]["seconds"] = Value::Null;
                }
            }
        }
        all
    };
    assert_eq!(without_times("killed"), without_times("whole"));

    // What was trained is a model like any other.
    let trained = path("killed").join("model");
    let asked = [
        "ifstruct",
        "run",
        "--split",
        "test",
        "-n",
        "1",
        "--max-tokens",
        "8",
        "--json",
        "--model",
    ];
    let out = text("asked");
    let asked = program()
        .args(asked)
        .arg(&trained)
        .args(["--out", &out])
        .output()
        .unwrap();
    let (code, _, said) = end(&asked);
    assert_eq!(code, 0, "{said}");
    // Reports pass over trainings beside what they show.
    let (code, printed, said) = end(&program().arg("report").arg(directory.path()).output().unwrap());
    assert_eq!(code, 0, "{said}");
    assert!(printed.contains("IFStruct"), "{printed}");
}

#[test]
fn what_cannot_be_trained_is_refused() {
    let directory = TempDir::new().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    checkpoint(&directory.path().join("lfm2"), Family::Lfm2);
    let lfm2 = path("lfm2");
    let out = path("out");
    let (code, _, said) = end(&program()
        .args(["train", "--model", &lfm2, "--out", &out])
        .output()
        .unwrap());
    assert_eq!(code, 3, "{said}");
    assert!(
        said.contains("training a network with layers without attention"),
        "{said}"
    );
    let none = ["train", "--out", &out, "--supervised-steps", "0", "--grpo-steps", "0"];
    let (code, _, said) = end(&program().args(none).output().unwrap());
    assert_eq!(code, 2, "{said}");
    let short = ["train", "--out", &out, "--max-prompt-tokens", "3"];
    let (code, _, said) = end(&program().args(short).output().unwrap());
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("no sample of the train split fits"), "{said}");
    let (code, _, said) = end(&program().args(["train", "--resume", "--out", &out]).output().unwrap());
    assert_eq!(code, 4, "{said}");
    assert!(said.contains("no run to resume"), "{said}");
}

/// Runs a program of Python; none where there is no Python.
fn python(arguments: &[&str]) -> Option<(i32, String, String)> {
    let found = Command::new("python3")
        .args(arguments)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output();
    found.ok().map(|output| end(&output))
}

#[test]
fn the_recipe_for_trl_has_the_rewards_of_the_program() {
    let directory = TempDir::new().unwrap();
    let scripts = super::docs::root().join("scripts/train-ifstruct");
    for name in ["reward.py", "samples.py", "grpo.py"] {
        let path = scripts.join(name);
        let compile = "import ast, sys; ast.parse(open(sys.argv[1], encoding='utf-8').read())";
        let Some((code, _, said)) = python(&["-c", compile, path.to_str().unwrap()]) else {
            eprintln!("skipped: there is no python3");
            return;
        };
        assert_eq!(code, 0, "{said}");
    }
    let files: Vec<String> = ["train", "test"]
        .iter()
        .map(|split| {
            let path = directory.path().join(split).to_str().unwrap().to_owned();
            let arguments = ["ifstruct", "generate", "-n", "30", "--split", split, "--out", &path];
            assert_eq!(end(&program().args(arguments).output().unwrap()).0, 0);
            path
        })
        .collect();
    let sample = fs::read_to_string(&files[1])
        .unwrap()
        .lines()
        .next()
        .unwrap()
        .to_owned();
    let reply = reference::reply(&serde_json::from_str(&sample).unwrap(), 0).unwrap();
    let reply_path = directory.path().join("reply").to_str().unwrap().to_owned();
    fs::write(&reply_path, reply).unwrap();
    let script = "\
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from reward import IfstructReward
from samples import check_apart, read
train, test = read(Path(sys.argv[3])), read(Path(sys.argv[4]))
check_apart(train, test)
try:
    check_apart(train, train)
except SystemExit as error:
    assert 'share' in str(error)
else:
    raise AssertionError('a split is not apart from itself')
sample, reply = test[0]['sample'], Path(sys.argv[5]).read_text(encoding='utf-8')
reward = IfstructReward(sys.argv[2])
conversation = [{'role': 'assistant', 'content': 'no'}]
print(reward(completions=[reply, conversation], prompts=None, sample=[sample, sample]))
try:
    reward.score(['{}'], ['x'])
except ValueError:
    pass
else:
    raise AssertionError('a line that is no sample')
reward.close()
";
    let program = super::program::program();
    let program = program.get_program().to_str().unwrap();
    let scripts = scripts.to_str().unwrap();
    let arguments = ["-c", script, scripts, program, &files[0], &files[1], &reply_path];
    let (code, printed, said) = python(&arguments).unwrap();
    assert_eq!(code, 0, "{said}");
    assert_eq!(printed.trim(), "[1.0, 0.0]", "{said}");
}
