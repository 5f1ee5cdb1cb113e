//! `testsuite` and `masks` as a user runs them, over small data of our own, with frameworks in workers.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_maskwright");
/// A vocabulary that loads at once.
const VOCABULARY: [&str; 2] = ["--vocabulary", "builtin"];

/// A command over llguidance, unless the arguments name other frameworks.
fn maskwright(arguments: &[&str]) -> Output {
    let frameworks: &[&str] = match arguments.contains(&"--frameworks") {
        true => &[],
        false => &["--frameworks", "llguidance"],
    };
    let mut program = Command::new(PROGRAM);
    program.args(arguments).args(frameworks).args(VOCABULARY);
    // Runs without --out go to `runs` below it.
    program.current_dir(env!("CARGO_TARGET_TMPDIR")).output().unwrap()
}

fn succeed(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?}: {errors}", output.status);
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn succeed_json(output: &Output) -> Value {
    serde_json::from_str(&succeed(output)).unwrap()
}

fn write(path: &Path, value: &Value) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, value.to_string()).unwrap();
}

/// A Test Suite of three categories: one that llguidance gets right, one that it refuses, one where right means
/// refusing.
fn test_suite() -> TempDir {
    let directory = TempDir::new().unwrap();
    let root = directory.path();
    fs::create_dir_all(root.join("remotes")).unwrap();
    let case = |schema: Value, tests: &[(Value, bool)]| {
        let tests: Vec<Value> = tests
            .iter()
            .map(|(data, valid)| json!({"description": data.to_string(), "data": data, "valid": valid}))
            .collect();
        json!({"description": schema.to_string(), "schema": schema, "tests": tests})
    };
    let folder = root.join("tests/draft2020-12");
    write(
        &folder.join("type.json"),
        &json!([
            case(json!({"type": "integer"}), &[(json!(1), true), (json!("1"), false)]),
            case(json!({"enum": ["a", "é"]}), &[(json!("a"), true), (json!("b"), false)]),
        ]),
    );
    write(
        &folder.join("not.json"),
        &json!([case(json!({"not": {"type": "integer"}}), &[(json!("a"), true)])]),
    );
    write(
        &folder.join("boolean_schema.json"),
        &json!([case(json!(false), &[(json!(1), false)])]),
    );
    directory
}

#[test]
fn testsuite_counts_cases_and_categories() {
    let suite = test_suite();
    let data = suite.path().to_str().unwrap();
    let report = succeed_json(&maskwright(&["testsuite", "--data", data, "--json"]));
    let row = &report["frameworks"]["llguidance"];
    let counts = [
        "cases",
        "passed",
        "categories",
        "compile_error",
        "over",
        "under",
        "full",
    ];
    let counts: Vec<u64> = counts.iter().map(|name| row[name].as_u64().unwrap()).collect();
    assert_eq!(counts, [4, 3, 3, 1, 0, 0, 2], "{row}");
    assert_eq!(row["draft"], "2020-12");
    assert_eq!(row["by_category"]["not"]["compile_error"], true);
    assert_eq!(row["by_category"]["type"]["passed"], 2);
    assert!(row["options"].as_str().unwrap().contains("whitespace_flexible"));
}

#[test]
fn testsuite_lists_failures_and_draws_the_heat_map() {
    let suite = test_suite();
    let out = suite.path().join("out");
    let (data, out_argument) = (suite.path().to_str().unwrap(), out.to_str().unwrap());
    let output = maskwright(&["testsuite", "--data", data, "--failures", "--out", out_argument]);
    let text = succeed(&output);
    assert!(text.contains("llguidance: not / "), "{text}");
    assert!(text.contains("compile_error"), "{text}");
    for file in ["manifest.json", "report.md", "report.json", "failures.txt"] {
        assert!(
            fs::read_to_string(out.join(file)).unwrap().contains("llguidance"),
            "{file}"
        );
    }
    let svg = fs::read_to_string(out.join("heat-map.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("boolean_schema"), "{svg}");
    let none = maskwright(&["testsuite", "--data", data, "--categories", "nothing"]);
    assert_eq!(none.status.code(), Some(2));
}

fn mask_bench() -> TempDir {
    let directory = TempDir::new().unwrap();
    let folder = directory.path().join("maskbench/data");
    let file = |name: &str, schema: Value, tests: Value| {
        write(
            &folder.join(name),
            &json!({"meta": {}, "schema": schema, "tests": tests}),
        );
    };
    file(
        "1-right.json",
        json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": false}),
        json!([{"data": {"a": 1}, "valid": true}, {"data": {"a": "x"}, "valid": false}]),
    );
    file(
        "2-refused.json",
        json!({"not": {}}),
        json!([{"data": 1, "valid": false}]),
    );
    file(
        "3-enum.json",
        json!({"enum": ["x", 12]}),
        json!([{"data": 12, "valid": true}]),
    );
    fs::write(folder.join("4-broken.json"), "{").unwrap();
    directory
}

#[test]
fn masks_measures_all_schemas_and_resumes() {
    let bench = mask_bench();
    let out = bench.path().join("run");
    let (data, out_argument) = (bench.path().to_str().unwrap(), out.to_str().unwrap());
    let arguments = ["masks", "--data", data, "--out", out_argument, "--json"];
    let report = succeed_json(&maskwright(&arguments));
    let row = &report["frameworks"]["llguidance"];
    let counts = [
        "schemas",
        "passing",
        "compile_errors",
        "validation_errors",
        "invalidation_errors",
        "timeouts",
        "crashes",
    ];
    let counts: Vec<u64> = counts.iter().map(|name| row[name].as_u64().unwrap()).collect();
    assert_eq!(counts, [3, 2, 1, 0, 0, 0, 0], "{row}");
    for figure in ["mean", "p25", "p50", "p90", "p99", "p999", "max"] {
        for times in ["tbm_us", "ttfm_us", "tbm_wall_us"] {
            assert!(row[times][figure].as_f64().unwrap() > 0.0, "{times} {figure}: {row}");
        }
    }
    assert!(row["tokens"].as_u64().unwrap() > 3 && row["peak_rss_mib"].as_u64().unwrap() > 0);
    assert!(row["schema_kib"].is_null(), "llguidance does not tell");
    assert_eq!(row["shared"]["measured"], 2);

    let records = fs::read_to_string(out.join("records.jsonl")).unwrap();
    let lines: Vec<&str> = records.lines().collect();
    assert_eq!(lines.len(), 4);
    fs::write(out.join("records.jsonl"), format!("{}\n{}", lines[0], &lines[1][..20])).unwrap();
    let again = [&arguments[..], &["--resume"]].concat();
    succeed(&maskwright(&again));
    let resumed = fs::read_to_string(out.join("records.jsonl")).unwrap();
    assert_eq!(resumed.lines().count(), 4);
    assert_eq!(resumed.lines().next(), Some(lines[0]));
    // A run of other files is not the same run.
    let other = [&again[..], &["--limit", "1"]].concat();
    assert_eq!(maskwright(&other).status.code(), Some(4));
}

#[test]
fn documents_are_replayed_in_the_order_that_a_framework_takes() {
    let directory = TempDir::new().unwrap();
    let schema = json!({"properties": {"first": {"type": "integer"}, "second": {}}});
    let (valid, invalid) = (json!({"second": 1e3, "first": 1}), json!({"first": 1.5, "second": 1}));
    write(
        &directory.path().join("mask-bench/order.json"),
        &json!({"schema": schema, "tests": [{"data": valid, "valid": true}, {"data": invalid, "valid": false}]}),
    );
    fs::create_dir_all(directory.path().join("suite/remotes")).unwrap();
    write(
        &directory.path().join("suite/tests/draft2020-12/order.json"),
        &json!([{"description": "order", "schema": schema, "tests": [
            {"description": "turned around", "data": valid, "valid": true},
            {"description": "no integer", "data": invalid, "valid": false},
        ]}]),
    );
    let both = ["--frameworks", "maskwright,maskwright-generation", "--json"];
    let (bench, out) = (directory.path().join("mask-bench"), directory.path().join("run"));
    let masks = [
        "masks",
        "--data",
        bench.to_str().unwrap(),
        "--out",
        out.to_str().unwrap(),
    ];
    let report = succeed_json(&maskwright(&[&masks[..], &both].concat()));
    let suite = directory.path().join("suite");
    let conformance = succeed_json(&maskwright(
        &[&["testsuite", "--data", suite.to_str().unwrap()][..], &both].concat(),
    ));
    for name in ["maskwright", "maskwright-generation"] {
        let row = &report["frameworks"][name];
        let counts = [&row["passing"], &row["validation_errors"], &row["invalidation_errors"]];
        assert_eq!(counts, [1, 0, 0], "{row}");
        let [p50, max] = ["p50", "max"].map(|figure| row["schema_kib"][figure].as_f64().unwrap());
        assert!(1.0 < p50 && p50 <= max && max < 4096.0, "{row}");
        assert_eq!(conformance["frameworks"][name]["passed"], 1, "{conformance}");
    }
}

/// The example of docs/worker-protocol.md, as it stands there.
#[test]
fn the_documented_worker_works() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: the worker of docs/worker-protocol.md needs python3, which is not installed");
        return;
    }
    let protocol = include_str!("../../../docs/worker-protocol.md");
    let (_, after) = protocol.split_once("```python\n").expect("an example");
    let (example, _) = after.split_once("```\n").expect("its end");
    let bench = mask_bench();
    let script = bench.path().join("worker.py");
    fs::write(&script, example).unwrap();
    let out = bench.path().join("run");
    let report = succeed_json(&maskwright(&[
        "masks",
        "--data",
        bench.path().to_str().unwrap(),
        "--out",
        out.to_str().unwrap(),
        "--frameworks",
        "llguidance,enum",
        "--worker",
        &format!("enum=python3 {}", script.display()),
        "--json",
    ]));
    let row = &report["frameworks"]["enum"];
    assert_eq!(
        (&row["passing"], &row["compile_errors"], &row["crashes"]),
        (&json!(1), &json!(2), &json!(0))
    );
    assert_eq!(report["frameworks"]["llguidance"]["shared"]["measured"], 1);
}

/// A class like those of MaskBench: it admits the texts of `enum` and `const`, and asks for the tokenizer as adapters do. A module
/// `transformers` that knows no more than is asked of it here stands beside it.
const MASKBENCH_ENGINE: [(&str, &str); 2] = [
    (
        "transformers.py",
        r#"
import json, os
from pathlib import Path

class AutoTokenizer:
    @classmethod
    def from_pretrained(cls, model):
        print("this is no reply")
        assert os.environ["HF_HUB_OFFLINE"] == "1"
        repository = Path(os.environ["HF_HUB_CACHE"], "models--" + model.replace("/", "--"))
        files = repository / "snapshots" / (repository / "refs" / "main").read_text()
        self = cls()
        self.json = json.loads((files / "tokenizer.json").read_text())
        self.size = json.loads((files / "config.json").read_text())["vocab_size"]
        self.end = json.loads((files / "tokenizer_config.json").read_text())["eos_token"]
        return self
"#,
    ),
    (
        "adapter.py",
        r#"
import json

printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
others = [byte for byte in range(256) if byte not in printable]
byte_of = {chr(byte): byte for byte in printable} | {chr(256 + at): byte for at, byte in enumerate(others)}

class EnumEngine:
    def get_id(self):
        return "enum"

    def get_version(self):
        return "7"

    def init(self):
        assert self.multi and not self.debug and "/" in self.tokenizer_model_id
        special = {token["content"]: token["id"] for token in self.tokenizer.json["added_tokens"]}
        vocab = self.tokenizer.json["model"]["vocab"]
        self.tokens = {id: bytes(byte_of[c] for c in text) for text, id in vocab.items() if text not in special}
        self.end = special[self.tokenizer.end]
        assert max(self.tokens) < self.tokenizer.size

    def compile_grammar(self, schema):
        if not {"enum", "const"} & set(schema):
            raise ValueError("only enum and const")
        self.texts = [json.dumps(value).encode() for value in schema.get("enum", [schema.get("const")])]

    def reset(self):
        self.so_far = b""

    def compute_mask(self):
        starts = lambda text: any(allowed.startswith(text) for allowed in self.texts)
        self.mask = {token for token, text in self.tokens.items() if starts(self.so_far + text)}
        # As some engines do, it allows nothing where nothing can come any more.
        self.mask |= {self.end} if self.mask and self.so_far in self.texts else set()

    def commit_token(self, token):
        if token in self.mask:
            self.so_far += self.tokens.get(token, b"")
        return token in self.mask
"#,
    ),
];

#[test]
fn a_class_of_maskbench_is_a_framework() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: classes of MaskBench need python3, which is not installed");
        return;
    }
    let suite = test_suite();
    for (name, text) in MASKBENCH_ENGINE {
        fs::write(suite.path().join(name), text).unwrap();
    }
    let test = |data: u32, valid: bool| json!({"description": "one", "data": data, "valid": valid});
    let tests = [test(1, true), test(12, true), test(2, false), test(123, false)];
    write(
        &suite.path().join("tests/draft2020-12/enum.json"),
        &json!([{"description": "ends that may be and that must be", "schema": {"enum": [1, 12, 1234]}, "tests": tests}]),
    );
    let data = suite.path().to_str().unwrap();
    let run = |further: &[&str]| {
        let mut program = Command::new(PROGRAM);
        program.args([
            "testsuite",
            "--data",
            data,
            "--json",
            "--worker",
            "maskbench:adapter.EnumEngine",
        ]);
        program.args(further).current_dir(suite.path()).output().unwrap()
    };
    let report = succeed_json(&run(&[
        "--frameworks",
        "llguidance,EnumEngine",
        VOCABULARY[0],
        VOCABULARY[1],
    ]));
    let row = &report["frameworks"]["EnumEngine"];
    // The cases of `enum`, and that in which nothing is valid.
    assert_eq!(row["passed"], 3, "{row}");
    assert_eq!(report["frameworks"]["llguidance"]["passed"], 4);
    let reason = row["failures"].to_string();
    assert!(reason.contains("only enum and const"), "{reason}");

    let without = run(&["--frameworks", "EnumEngine", "--vocabulary", "o200k_base"]);
    let said = String::from_utf8_lossy(&without.stderr);
    assert_eq!(without.status.code(), Some(3));
    assert!(said.contains("--vocabulary builtin"), "{said}");
    let missing = maskwright(&[
        "testsuite",
        "--data",
        data,
        "--frameworks",
        "X",
        "--worker",
        "maskbench:nowhere.X",
    ]);
    let said = String::from_utf8_lossy(&missing.stderr);
    assert_eq!(missing.status.code(), Some(3));
    assert!(said.contains("nowhere"), "{said}");
    for wrong in ["maskbench:Engine", "x=maskbench:a.B c", "maskbench:"] {
        let refused = maskwright(&["testsuite", "--data", data, "--worker", wrong]);
        assert_eq!(refused.status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn a_framework_that_crashes_or_is_not_there_is_told() {
    let suite = test_suite();
    let data = suite.path().to_str().unwrap();
    let crashing = r#"crash=sh crash.sh"#;
    fs::write(
        suite.path().join("crash.sh"),
        r#"while read -r line; do case "$line" in
        *hello*) echo '{"name":"crash","version":"1","options":""}' ;;
        *setup*) echo '{}' ;;
        *) kill -SEGV $$ ;;
        esac; done"#,
    )
    .unwrap();
    let output = Command::new(PROGRAM)
        .args([
            "testsuite",
            "--data",
            data,
            "--frameworks",
            "crash,llguidance",
            "--worker",
            crashing,
            "--json",
        ])
        .args(VOCABULARY)
        .current_dir(suite.path())
        .output()
        .unwrap();
    let report = succeed_json(&output);
    assert_eq!(report["frameworks"]["crash"]["passed"], 0);
    assert_eq!(report["frameworks"]["llguidance"]["passed"], 3);
    let reason = &report["frameworks"]["crash"]["failures"][0]["failures"][0]["reason"];
    assert!(reason.as_str().unwrap().contains("SIGSEGV"), "{reason}");

    let unknown = maskwright(&["testsuite", "--data", data, "--frameworks", "nothing"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&unknown.stderr).contains("known are"),
        "{unknown:?}"
    );
    let not_asked = maskwright(&["testsuite", "--data", data, "--worker", "x=/nonexistent"]);
    assert_eq!(not_asked.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&not_asked.stderr).contains("name x among the frameworks"),
        "{not_asked:?}"
    );
    let missing = maskwright(&[
        "testsuite",
        "--data",
        data,
        "--frameworks",
        "x",
        "--worker",
        "x=/nonexistent",
    ]);
    assert_eq!(missing.status.code(), Some(3));
    assert!(
        String::from_utf8_lossy(&missing.stderr).contains("cannot be started"),
        "{missing:?}"
    );
}

/// The figures that llguidance 1.9 is known to have, from an independent run of the suite of August 2026.
#[test]
fn the_real_suite_gives_llguidances_known_figures() {
    let Some(suite) = maskwright_test_data::find("test-suite") else {
        return;
    };
    let output = Command::new(PROGRAM)
        .args(["testsuite", "--json", "--frameworks", "llguidance", "--data"])
        .arg(&suite)
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .output()
        .unwrap();
    let report = succeed_json(&output);
    let row = &report["frameworks"]["llguidance"];
    if row["cases"] != 383 {
        eprintln!(
            "skipped: the figures are known for the suite with 383 cases, this one has {}",
            row["cases"]
        );
        return;
    }
    let counts = ["passed", "categories", "compile_error", "over", "under", "full"];
    let counts: Vec<u64> = counts.iter().map(|name| row[name].as_u64().unwrap()).collect();
    assert_eq!(counts, [166, 46, 26, 8, 0, 15]);
}

/// The exact engine has no failing case in the required part of any draft.
#[test]
fn the_real_suite_finds_nothing_against_the_exact_engine() {
    let Some(suite) = maskwright_test_data::find("test-suite") else {
        return;
    };
    for draft in ["4", "6", "7", "2019-09", "2020-12"] {
        let data = suite.to_str().unwrap();
        let report = succeed_json(&maskwright(&[
            "testsuite",
            "--json",
            "--frameworks",
            "maskwright",
            "--draft",
            draft,
            "--data",
            data,
        ]));
        let row = &report["frameworks"]["maskwright"];
        assert!(row["cases"].as_u64().unwrap() > 100, "{row}");
        assert_eq!(row["failures"], json!([]), "draft {draft}");
        assert_eq!(row["passed"], row["cases"], "draft {draft}");
    }
}
