//! The program as somebody careless uses it: the same directory twice, places that cannot be written, data with nothing in it,
//! workers that hang. Nothing is lost, nothing counted twice, and what is said helps on.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::chat_server::{Act, ChatServer, fails, says};
use super::program::{self, PROGRAM, end};

mod figures;
mod hostile;
mod inputs;
mod outputs;
mod runs;

/// A valid answer to the first schema of the built-in sample.
const CONTACT: &str = r#"{"name": "Zoë", "email": "zoe@example.com"}"#;

/// The program's commands that take options.
const COMMANDS: [&str; 20] = [
    "bench",
    "census",
    "check",
    "completions",
    "coverage",
    "fetch",
    "figures",
    "ifstruct generate",
    "ifstruct leaderboard",
    "ifstruct reward",
    "ifstruct run",
    "ifstruct score",
    "list",
    "man",
    "masks",
    "merge",
    "quality",
    "sample",
    "shapes",
    "testsuite",
];

/// The program in `directory`, without what its user may have fetched or set.
fn program(directory: &Path, arguments: &[&str]) -> Command {
    let mut program = program::program();
    program.current_dir(directory).args(arguments);
    program
}

fn run(directory: &Path, arguments: &[&str]) -> (i32, String, String) {
    end(&program(directory, arguments).output().unwrap())
}

/// What was printed by a run that has to succeed.
fn succeed(directory: &Path, arguments: &[&str]) -> String {
    let (code, printed, said) = run(directory, arguments);
    assert_eq!(code, 0, "{arguments:?}: {said}");
    printed
}

/// The exit code and what was said by a run that has to fail.
fn fail(directory: &Path, arguments: &[&str]) -> (i32, String) {
    let (code, printed, said) = run(directory, arguments);
    assert_ne!(code, 0, "{arguments:?}: {printed}");
    (code, said)
}

/// A small benchmark of llguidance and the model alone.
const BENCH: [&str; 9] = [
    "bench",
    "--frameworks",
    "llguidance,none",
    "--max-tokens",
    "40",
    "--threads",
    "1",
    "--out",
    "run",
];

fn lines(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Waits until `holds`, or fails.
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn spawn(mut program: Command) -> Child {
    program.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn write(path: PathBuf, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// A copy of the built-in model in `directory`/model.
fn model(directory: &Path) -> PathBuf {
    let copy = directory.join("model");
    fs::create_dir(&copy).unwrap();
    let builtin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/builtin");
    for file in fs::read_dir(builtin).unwrap().map(|entry| entry.unwrap().path()) {
        if file.is_file() {
            fs::copy(&file, copy.join(file.file_name().unwrap())).unwrap();
        }
    }
    copy
}

/// A Test Suite of two categories in `directory`/suite.
fn test_suite(directory: &Path) {
    fs::create_dir_all(directory.join("suite/remotes")).unwrap();
    let case = |schema: Value, data: Value| json!([{"description": "a case", "schema": schema, "tests": [{"description": "one", "data": data, "valid": true}]}]);
    let folder = directory.join("suite/tests/draft2020-12");
    write(
        folder.join("type.json"),
        case(json!({"type": "integer"}), json!(1)).to_string(),
    );
    write(
        folder.join("not.json"),
        case(json!({"not": {"type": "integer"}}), json!("a")).to_string(),
    );
}

const TEST_SUITE: [&str; 7] = [
    "testsuite",
    "--frameworks",
    "llguidance",
    "--vocabulary",
    "builtin",
    "--data",
    "suite",
];

/// MaskBench of one file in `directory`/bench.
fn mask_bench(directory: &Path) {
    let file = json!({"schema": {"type": "boolean"}, "tests": [{"data": true, "valid": true}]});
    write(directory.join("bench/one.json"), file.to_string());
}

const MASKS: [&str; 7] = [
    "masks",
    "--frameworks",
    "llguidance",
    "--vocabulary",
    "builtin",
    "--data",
    "bench",
];
