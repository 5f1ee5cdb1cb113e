//! The program as somebody careless uses it: the same directory twice, places that cannot be written, data with nothing in it,
//! workers that hang. Nothing is lost, nothing counted twice, and what is said helps on.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::chat_server::{Act, ChatServer, fails, says};

const PROGRAM: &str = env!("CARGO_BIN_EXE_maskwright");
/// A valid answer to the first schema of the built-in sample.
const CONTACT: &str = r#"{"name": "Zoë", "email": "zoe@example.com"}"#;

/// The program in `directory`, without what its user may have fetched or set.
fn program(directory: &Path, arguments: &[&str]) -> Command {
    let mut program = Command::new(PROGRAM);
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nothing-fetched");
    program
        .env("MASKWRIGHT_CACHE", cache)
        .env("NO_PROXY", "127.0.0.1")
        .env_remove("COLUMNS")
        .env_remove("RUST_LOG")
        .env_remove("MASKWRIGHT_LOG")
        .current_dir(directory)
        .args(arguments);
    program
}

/// The exit code, standard output, and standard error.
fn end(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = text(&output.stderr);
    assert!(!said.contains("panicked"), "{said}");
    (
        output.status.code().expect("ended by itself"),
        text(&output.stdout),
        said,
    )
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

#[test]
fn two_runs_never_write_one_directory() {
    let directory = TempDir::new().unwrap();
    let long = [&BENCH[..], &["--datasets", "heldout", "--limit", "200"]].concat();
    let mut first = spawn(program(directory.path(), &long));
    let records = directory.path().join("run/records.jsonl");
    wait_until("a first record", || !lines(&records).is_empty());
    let (code, said) = fail(directory.path(), &[&long[..], &["--resume"]].concat());
    assert_eq!(code, 4, "{said}");
    assert!(said.contains("another process is writing the run"), "{said}");
    first.kill().unwrap();
    first.wait().unwrap();
}

#[test]
fn records_that_stand_twice_or_are_of_another_run_are_errors_with_their_line() {
    let directory = TempDir::new().unwrap();
    let records = directory.path().join("run/records.jsonl");
    succeed(directory.path(), &[&BENCH[..], &["--limit", "2"]].concat());
    let known = lines(&records);
    assert_eq!(known.len(), 4);
    let resume = || fail(directory.path(), &["bench", "--resume", "--out", "run"]);
    fs::write(&records, [&known[..], &known[..1]].concat().join("\n") + "\n").unwrap();
    let (code, said) = resume();
    assert!(
        code == 4 && said.contains("records.jsonl, line 5: a second record of"),
        "{said}"
    );
    let foreign = known[1].replace(r#""instance":""#, r#""instance":"not-"#);
    fs::write(&records, [&known[..1], &[foreign]].concat().join("\n") + "\n").unwrap();
    let (code, said) = resume();
    assert!(
        code == 4 && said.contains("line 2:") && said.contains("is no question of this run"),
        "{said}"
    );
}

#[test]
fn resume_alone_continues_with_the_options_of_the_manifest() {
    let directory = TempDir::new().unwrap();
    let out = directory.path().join("run");
    let records = out.join("records.jsonl");
    succeed(
        directory.path(),
        &[&BENCH[..], &["--limit", "2", "--seed", "3"]].concat(),
    );
    let whole = lines(&records);
    fs::write(&records, format!("{}\n", whole[0])).unwrap();
    succeed(directory.path(), &["bench", "--resume", "--out", "run"]);
    assert_eq!(lines(&records).len(), 4);

    // What differs is told option by option.
    let changed = [
        "bench",
        "--resume",
        "--out",
        "run",
        "--shots",
        "1",
        "--max-tokens",
        "41",
    ];
    let (code, said) = fail(directory.path(), &changed);
    assert_eq!(code, 4);
    for needle in ["--shots was 2, now 1", "--max-tokens was 40, now 41"] {
        assert!(said.contains(needle), "{said}");
    }
    // Another command's run is known as such.
    mask_bench(directory.path());
    let (code, said) = fail(directory.path(), &[&MASKS[..], &["--resume", "--out", "run"]].concat());
    assert!(code == 4 && said.contains("a run of `maskwright bench`"), "{said}");
    let (_, said) = fail(directory.path(), &[&MASKS[..], &["--out", "run"]].concat());
    assert!(said.contains("holds a run of `maskwright bench` already"), "{said}");

    // A manifest that is gone is written anew from the options.
    fs::remove_file(out.join("manifest.json")).unwrap();
    let (code, said) = fail(
        directory.path(),
        &["bench", "--resume", "--out", "run", "--frameworks", "none"],
    );
    assert!(
        code == 4 && said.contains("manifest.json is gone: give the options"),
        "{said}"
    );
    succeed(
        directory.path(),
        &[&BENCH[..], &["--limit", "2", "--seed", "3", "--resume"]].concat(),
    );
    assert_eq!(lines(&records).len(), 4);
    assert!(out.join("manifest.json").exists());
}

#[test]
fn nothing_is_said_to_be_kept_where_nothing_is() {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("file"), "").unwrap();
    mask_bench(directory.path());
    test_suite(directory.path());
    for command in [&MASKS[..], &TEST_SUITE, &["bench", "--limit", "1"]] {
        for place in ["file", "file/below", "/proc/nowhere"] {
            let (code, said) = fail(directory.path(), &[command, &["--out", place]].concat());
            assert_eq!(code, 4, "{said}");
            assert!(!said.contains("kept") && !said.contains("--resume"), "{said}");
        }
    }
    assert!(!directory.path().join("runs").exists());
    // Results do not go among the data, whose files they would then be.
    let (code, said) = fail(directory.path(), &[&MASKS[..], &["--out", "bench"]].concat());
    assert!(code == 4 && said.contains("has files that are not a run's"), "{said}");
}

#[cfg(unix)]
#[test]
fn arguments_that_are_not_unicode_are_no_reason_to_panic() {
    use std::os::unix::ffi::OsStrExt as _;
    let directory = TempDir::new().unwrap();
    mask_bench(directory.path());
    let out = std::ffi::OsStr::from_bytes(b"run-\xff");
    let output = program(directory.path(), &MASKS)
        .arg("--out")
        .arg(out)
        .output()
        .unwrap();
    assert_eq!(end(&output).0, 0);
    assert_eq!(lines(&directory.path().join(out).join("records.jsonl")).len(), 1);
}

#[test]
fn a_run_of_the_test_suite_is_resumed_and_its_tables_are_printed_whatever_happens() {
    let directory = TempDir::new().unwrap();
    test_suite(directory.path());
    let arguments = [&TEST_SUITE[..], &["--out", "run"]].concat();
    let printed = succeed(directory.path(), &arguments);
    assert!(printed.contains("Cases passed: llguidance 1 of 2."), "{printed}");
    let records = directory.path().join("run/records.jsonl");
    let known = lines(&records);
    assert_eq!(known.len(), 2);
    // The outcome on record is taken as it is: nothing is judged again.
    let mut changed: Value = serde_json::from_str(&known[0]).unwrap();
    changed["outcome"]["failures"] = json!([{"kind": "crashed", "reason": "made up"}]);
    fs::write(&records, format!("{changed}\n")).unwrap();
    let printed = succeed(
        directory.path(),
        &["testsuite", "--resume", "--out", "run", "--failures"],
    );
    assert!(printed.contains("made up"), "{printed}");
    assert_eq!(lines(&records).len(), 2);

    // Writes past the end of a full disk fail, which a limit on the size of files stands in for.
    let full = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh", PROGRAM])
        .args([&TEST_SUITE[..], &["--resume", "--out", "run"]].concat())
        .current_dir(directory.path())
        .output()
        .unwrap();
    let (code, printed, said) = end(&full);
    assert_eq!(code, 4, "{said}");
    assert!(
        printed.contains("Cases passed:") && said.contains("2 records are kept"),
        "{printed}{said}"
    );
}

#[test]
fn a_run_over_nothing_is_an_error() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    write(path.join("corrupt/x/a.parquet"), "PAR1 and then nothing");
    write(path.join("broken/x/a.json"), "{\"type\": ");
    write(path.join("empty.jsonl"), "");
    write(path.join("bad.jsonl"), "nothing\n");
    write(path.join("masks/a.json"), "{");
    write(path.join("schema.json"), "{}");
    let usage: [&[&str]; 10] = [
        &["bench", "--limit", "0"],
        &["bench", "--max-tokens", "0"],
        &["masks", "--limit", "0"],
        &["sample", "schema.json", "-n", "0"],
        &["sample", "schema.json", "--max-bytes", "0"],
        &["ifstruct", "generate", "--split", "test", "-n", "0"],
        &["ifstruct", "run", "-n", "0"],
        &["bench", "--threads", "100000"],
        // Sums of times must not overflow.
        &["masks", "--time-limit", "1e19"],
        &["bench", "--compile-limit", "1e300"],
    ];
    for arguments in usage {
        let (code, said) = fail(path, arguments);
        assert_eq!(code, 2, "{arguments:?}: {said}");
        assert!(said.contains("must be"), "{said}");
    }
    let nothing: [&[&str]; 7] = [
        &["bench", "--data", "corrupt", "--out", "a"],
        &["bench", "--data", "broken", "--out", "b"],
        &["census", "--datasets", "x", "--data", "broken"],
        &[
            "masks",
            "--vocabulary",
            "builtin",
            "--frameworks",
            "llguidance",
            "--data",
            "masks",
            "--out",
            "c",
        ],
        &["ifstruct", "score", "empty.jsonl"],
        &["ifstruct", "score", "bad.jsonl"],
        &["ifstruct", "score", "/dev/null", "--json"],
    ];
    for arguments in nothing {
        let (code, printed, said) = run(path, arguments);
        assert_eq!(code, 3, "{arguments:?}: {said}");
        assert!(
            said.contains("nothing was measured: ") && printed.is_empty(),
            "{arguments:?}: {printed}{said}"
        );
    }
}

#[test]
fn wrong_names_are_usage_errors_with_a_suggestion() {
    let directory = TempDir::new().unwrap();
    test_suite(directory.path());
    let categories = [&TEST_SUITE[..], &["--categories", "tpye"]].concat();
    let cases: [(&[&str], &str); 6] = [
        (&["bench", "--frameworks", "llguidence"], "did you mean \"llguidance\"?"),
        (&["bench", "--datasets", "bultin"], "builtin"),
        (&["bench", "--frameworx", "none"], "--frameworks"),
        (&["bnch"], "bench"),
        (&["man", "ifstrukt"], "did you mean \"ifstruct\"?"),
        (&categories, "did you mean \"type\"?"),
    ];
    for (arguments, needle) in cases {
        let (code, said) = fail(directory.path(), arguments);
        assert_eq!(code, 2, "{arguments:?}: {said}");
        assert!(said.contains(needle), "{arguments:?}: {said}");
    }
}

#[test]
fn schemas_that_do_not_fit_into_the_context_count_apart() {
    let directory = TempDir::new().unwrap();
    let copy = directory.path().join("model");
    fs::create_dir(&copy).unwrap();
    let builtin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/builtin");
    for file in fs::read_dir(builtin).unwrap().map(|entry| entry.unwrap().path()) {
        if file.is_file() {
            fs::copy(&file, copy.join(file.file_name().unwrap())).unwrap();
        }
    }
    let config = copy.join("config.json");
    let mut values: Value = serde_json::from_str(&fs::read_to_string(&config).unwrap()).unwrap();
    values["max_position_embeddings"] = json!(120);
    fs::write(&config, values.to_string()).unwrap();
    let data = directory.path().join("data/mine");
    write(data.join("short.json"), r#"{"type": "boolean"}"#);
    let long = json!({"type": "boolean", "description": "a word ".repeat(200)});
    write(data.join("long.json"), long.to_string());
    let arguments = [
        "bench",
        "--model",
        "./model",
        "--frameworks",
        "llguidance,none",
        "--data",
        "data",
        "--shots",
        "0",
        "--threads",
        "1",
        "--max-tokens",
        "20",
        "--out",
        "run",
    ];
    let printed = succeed(directory.path(), &[&arguments[..], &["--json"]].concat());
    let report: Value = serde_json::from_str(&printed).unwrap();
    for row in report["rows"].as_array().unwrap() {
        assert_eq!((&row["instances"], &row["no_room"]), (&json!(1), &json!(1)), "{row}");
    }
    assert_eq!(report["rows"][0]["compliance"], 1.0, "{report}");
    let markdown = fs::read_to_string(directory.path().join("run/report.md")).unwrap();
    assert!(markdown.contains("1 of 2 schemas count nowhere"), "{markdown}");

    let ifstruct = [
        "ifstruct",
        "run",
        "--model",
        "./model",
        "--split",
        "test",
        "-n",
        "2",
        "--modes",
        "unconstrained,unconstrained",
        "--threads",
        "1",
        "--out",
        "replies",
    ];
    let printed = succeed(directory.path(), &ifstruct);
    assert!(
        printed.contains("./model, unconstrained: 2 samples count nowhere"),
        "{printed}"
    );
    assert!(
        printed.contains("unconstrained 0 of 0") && !printed.contains("UNFINISHED"),
        "{printed}"
    );
}

#[test]
fn a_server_that_dies_half_way_shows_in_the_report() {
    let directory = TempDir::new().unwrap();
    let server = ChatServer::start(|number, _| match number {
        ..3 => says(CONTACT),
        _ => Act::Reply(500, vec![], "gone\u{1b}[31m".to_owned()),
    });
    let argument = server.argument("remote", "retries=0");
    let arguments = ["bench", "--server", &argument, "--limit", "8", "--out", "run"];
    let (code, said) = fail(directory.path(), &arguments);
    assert_eq!(code, 5, "{said}");
    assert!(!said.contains('\u{1b}') && said.contains("\\u{1b}"), "{said}");
    let markdown = fs::read_to_string(directory.path().join("run/report.md")).unwrap();
    assert!(
        markdown.contains("UNFINISHED: remote (server): 2 of 8 answered"),
        "{markdown}"
    );
    assert!(markdown.contains(" 2 of 8 |"), "{markdown}");
    for needle in [
        "# maskwright bench",
        "- command: `maskwright bench",
        "- hardware:",
        "- servers: remote (chat-1",
        "- started: ",
    ] {
        assert!(markdown.contains(needle), "{needle}: {markdown}");
    }
}

#[test]
fn a_first_request_that_meets_a_busy_server_is_made_again() {
    let directory = TempDir::new().unwrap();
    for busy in [
        fails(429, "slow down"),
        Act::Reply(429, vec![("retry-after", "0".to_owned())], String::new()),
    ] {
        let server = ChatServer::play([busy, says(CONTACT)]);
        let argument = server.argument("remote", "");
        let out = format!("run-{}", server.address.replace(':', "-"));
        let arguments = ["bench", "--server", &argument, "--limit", "1", "--out", &out];
        succeed(directory.path(), &arguments);
        assert_eq!(server.chats().len(), 3);
    }
}

#[test]
fn a_server_that_asks_to_come_back_another_day_is_not_waited_for() {
    let directory = TempDir::new().unwrap();
    let busy = Act::Reply(429, vec![("retry-after", "86400".to_owned())], "come back".to_owned());
    let server = ChatServer::play([busy]);
    let argument = server.argument("remote", "");
    let (code, said) = fail(
        directory.path(),
        &["bench", "--server", &argument, "--limit", "1", "--out", "run"],
    );
    assert!(code == 3 && said.contains("it asks to wait 86400 s"), "{said}");
    assert_eq!(server.chats().len(), 1);
}

#[test]
fn a_reply_counts_once_and_missing_ones_are_told() {
    let directory = TempDir::new().unwrap();
    let generate = [
        "ifstruct",
        "generate",
        "--split",
        "test",
        "-n",
        "40",
        "--seed",
        "1",
        "--out",
        "samples.jsonl",
    ];
    succeed(directory.path(), &generate);
    let first: Value = serde_json::from_str(&lines(&directory.path().join("samples.jsonl"))[0]).unwrap();
    let reply = json!({"seed": first["seed"], "response": "[]"}).to_string();
    fs::write(
        directory.path().join("replies.jsonl"),
        format!("{reply}\n{reply}\n{reply}\n"),
    )
    .unwrap();
    let arguments = ["ifstruct", "score", "replies.jsonl", "--samples", "samples.jsonl"];
    let (code, printed, said) = run(directory.path(), &arguments);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("replies.jsonl:3: a second reply to seed"), "{said}");
    assert!(printed.contains("39 of 40 samples have no reply"), "{printed}");
    let (_, printed, _) = run(directory.path(), &[&arguments[..], &["--json"]].concat());
    let report: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((&report["scored"], &report["missing"]), (&json!(1), &json!(39)));
}

#[test]
fn documents_beside_the_schema_are_found() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    let item = json!({"type": "object", "properties": {"price": {"$ref": "parts/price.json"}}, "required": ["price"], "additionalProperties": false});
    write(path.join("documents/item.json"), item.to_string());
    write(
        path.join("documents/parts/price.json"),
        r#"{"$id": "https://example.org/price", "type": "integer"}"#,
    );
    let schema = json!({"$id": "https://example.com/order.json", "type": "array", "items": {"$ref": "item.json"}, "minItems": 1, "maxItems": 2});
    write(path.join("schema.json"), schema.to_string());
    write(path.join("good.json"), r#"[{"price": 1}]"#);
    write(path.join("bad.json"), r#"[{"price": "x"}]"#);
    for command in [
        &["check", "schema.json"][..],
        &["sample", "schema.json"],
        &["sample", "schema.json", "--check"],
    ] {
        let (code, printed, said) = run(path, command);
        assert!(
            code != 0 && format!("{printed}{said}").contains("--documents DIR|FILE"),
            "{printed}{said}"
        );
    }
    let documents = ["--documents", "documents"];
    let check = ["check", "schema.json", "--instance", "good.json"];
    let printed = succeed(path, &[&check[..], &documents].concat());
    assert!(printed.contains("nothing found"), "{printed}");
    let (code, printed, _) = run(path, &[&check[..], &["--instance", "bad.json"], &documents].concat());
    assert!(code == 1 && printed.contains("bad.json: forbidden"), "{printed}");
    let printed = succeed(
        path,
        &[&["sample", "schema.json", "-n", "3", "--check"][..], &documents].concat(),
    );
    assert_eq!(printed.lines().count(), 3);

    // Single files, and a schema without a base.
    write(path.join("plain.json"), r#"{"$ref": "item.json"}"#);
    let files = [
        "--documents",
        "documents/item.json",
        "--documents",
        "documents/parts/price.json",
    ];
    let plain = ["check", "plain.json", "--instance", "good.json"];
    let (code, printed, _) = run(path, &[&plain[..], &files].concat());
    assert!(
        code == 1 && printed.contains("refused: ") && printed.contains("parts/price.json"),
        "{printed}"
    );

    write(path.join("data/mine/schema.json"), schema.to_string());
    let bench = [
        "bench",
        "--frameworks",
        "maskwright",
        "--data",
        "data",
        "--threads",
        "1",
        "--max-tokens",
        "40",
        "--json",
    ];
    let printed = succeed(path, &[&bench[..], &documents, &["--out", "run"]].concat());
    let report: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(report["rows"][0]["empirical"], 1.0, "{report}");
    let (code, said) = fail(path, &[&bench[..], &["--out", "without"]].concat());
    assert!(code == 3 && said.contains("--documents DIR|FILE"), "{said}");

    // MaskBench: documents of the file itself, or beside all files.
    let tests = json!([{"data": [{"price": 1}], "valid": true}, {"data": [{"price": "x"}], "valid": false}]);
    let own =
        json!({"https://example.com/item.json": item, "https://example.com/parts/price.json": {"type": "integer"}});
    write(
        path.join("own/a.json"),
        json!({"schema": schema, "tests": tests, "documents": own}).to_string(),
    );
    write(
        path.join("other/a.json"),
        json!({"schema": schema, "tests": tests}).to_string(),
    );
    let masks = [
        "masks",
        "--vocabulary",
        "builtin",
        "--frameworks",
        "maskwright,maskwright-generation,llguidance",
        "--json",
    ];
    let passing = |more: &[&str]| {
        let report: Value = serde_json::from_str(&succeed(path, &[&masks[..], more].concat())).unwrap();
        ["maskwright", "maskwright-generation", "llguidance"]
            .map(|name| report["frameworks"][name]["passing"].as_u64().unwrap())
    };
    assert_eq!(passing(&["--data", "own", "--out", "m1"]), [1, 1, 0]);
    assert_eq!(
        passing(&["--data", "other", "--out", "m2", "--documents", "documents"]),
        [1, 1, 0]
    );
    assert_eq!(passing(&["--data", "other", "--out", "m3"]), [0, 0, 0]);
}

#[test]
fn output_to_a_closed_pipe_ends_the_command() {
    let directory = TempDir::new().unwrap();
    write(
        directory.path().join("schema.json"),
        r#"{"type": "array", "items": {"type": "string"}}"#,
    );
    for arguments in [
        &["sample", "schema.json", "-n", "100000000"][..],
        &["ifstruct", "generate", "--split", "test", "-n", "1000000"],
    ] {
        let mut child = program(directory.path(), arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        wait_until("it ends", || child.try_wait().unwrap().is_some());
        assert!(child.wait().unwrap().success());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn workers_end_with_a_harness_that_is_killed() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    mask_bench(path);
    // It neither reads nor answers.
    write(path.join("hangs.sh"), "echo $$ > pid\nexec sleep 1000\n");
    let arguments = [
        "masks",
        "--frameworks",
        "hangs",
        "--worker",
        "hangs=sh hangs.sh",
        "--data",
        "bench",
        "--out",
        "run",
    ];
    let mut harness = spawn(program(path, &arguments));
    let pid = || {
        fs::read_to_string(path.join("pid"))
            .ok()
            .and_then(|text| text.trim().parse::<u32>().ok())
    };
    wait_until("the worker has started", || pid().is_some());
    let worker = Path::new("/proc").join(pid().unwrap().to_string());
    let is_running = || fs::read_to_string(worker.join("stat")).is_ok_and(|stat| !stat.contains(") Z "));
    assert!(is_running());
    harness.kill().unwrap();
    harness.wait().unwrap();
    wait_until("the worker has ended", || !is_running());
}

#[test]
fn names_of_others_do_not_reach_the_terminal_raw() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    write(path.join("data/mine/a\u{1b}[31mb.json"), "{\"type\": ");
    write(path.join("data/mine/c.json"), r#"{"type": "boolean"}"#);
    let arguments = [&BENCH[..], &["--data", "data"]].concat();
    let (code, printed, said) = run(path, &arguments);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("left out: mine/a\\u{1b}[31mb"), "{said}");
    assert!(!said.contains('\u{1b}') && !printed.contains('\u{1b}'));
}

#[test]
fn git_lfs_pointers_are_known() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    write(path.join("data/mine/a.json"), pointer);
    write(path.join("parquet/mine/a.parquet"), pointer);
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        write(path.join("model").join(file), pointer);
    }
    for arguments in [
        &["bench", "--data", "data", "--out", "a"][..],
        &["bench", "--data", "parquet", "--out", "b"],
        &["bench", "--model", "./model", "--out", "c"],
        &["check", "data/mine/a.json"],
    ] {
        let (_, printed, said) = run(path, arguments);
        assert!(
            format!("{printed}{said}").contains("Git LFS pointer"),
            "{arguments:?}: {printed}{said}"
        );
    }
}

/// The README's commands, and what others print, at 80 columns.
#[test]
fn what_is_printed_fits_into_80_columns() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    test_suite(path);
    mask_bench(path);
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    for name in ["order.schema.json", "order.json", "broken-order.json"] {
        fs::copy(examples.join(name), path.join(name)).unwrap();
    }
    let bench = [
        "bench",
        "--limit",
        "2",
        "--max-tokens",
        "40",
        "--threads",
        "1",
        "--out",
        "a",
        "--percentiles",
        "--paper",
    ];
    let check = ["check", "order.schema.json", "--instance", "order.json"];
    let commands: [&[&str]; 9] = [
        &bench,
        &[&MASKS[..], &["--out", "b", "--percentiles"]].concat(),
        &[&TEST_SUITE[..], &["--out", "c", "--paper"]].concat(),
        &check,
        &["list"],
        &["fetch"],
        &["census", "--top", "5"],
        &["--help"],
        &["bench", "--help"],
    ];
    for arguments in commands {
        let output = program(path, arguments).env("COLUMNS", "80").output().unwrap();
        let (code, printed, said) = end(&output);
        assert_eq!(code, 0, "{arguments:?}: {said}");
        for line in printed.lines() {
            assert!(line.chars().count() <= 80, "{arguments:?}:\n{line}\n{printed}");
        }
    }
}

#[test]
fn the_program_says_what_it_is_and_completes_its_arguments() {
    let directory = TempDir::new().unwrap();
    let version = succeed(directory.path(), &["--version"]);
    assert!(
        version.contains("(commit ") && version.contains("features: "),
        "{version}"
    );
    for shell in ["bash", "zsh", "fish"] {
        let script = succeed(directory.path(), &["completions", shell]);
        assert!(script.contains("testsuite") && script.contains("max-tokens"), "{shell}");
    }
    let page = succeed(directory.path(), &["man", "ifstruct", "run"]);
    assert!(page.contains(".TH") && page.contains("generation\\-limit"), "{page}");
    let help = succeed(directory.path(), &["--help"]);
    for needle in ["MASKWRIGHT_CACHE", "NO_COLOR", "Exit codes", "--quiet", "--verbose"] {
        assert!(help.contains(needle), "{needle}: {help}");
    }
    // An installed program has no folders of the repository beside it.
    let commands = [
        "bench",
        "census",
        "check",
        "fetch",
        "ifstruct",
        "ifstruct run",
        "ifstruct score",
        "list",
        "masks",
        "sample",
        "testsuite",
    ];
    for command in commands {
        let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let help = succeed(directory.path(), &words);
        for folder in ["docs/", "harness/", "scripts/"] {
            let relative = help
                .split_whitespace()
                .find(|word| word.contains(folder) && !word.contains("://"));
            assert_eq!(relative, None, "{command}");
        }
    }
    let quiet = program(directory.path(), &[&BENCH[..], &["--limit", "1", "--quiet"]].concat())
        .output()
        .unwrap();
    let (code, _, said) = end(&quiet);
    assert_eq!((code, said.as_str()), (0, ""));
    let mut stderr = std::io::sink();
    stderr.write_all(said.as_bytes()).unwrap();
}

/// The same questions by the paper's protocol, with and without a cache of what all prompts begin with, and several times.
#[test]
fn the_papers_protocol_compiles_beside_the_prompt_and_has_no_limit_on_tokens() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    write(path.join("data/mine/a.json"), r#"{"enum": ["first", "second"]}"#);
    write(path.join("data/mine/b.json"), r#"{"not": {}}"#);
    let bench = |more: &[&str], out: &str| -> (Value, Vec<Value>) {
        let arguments = [
            "bench",
            "--frameworks",
            "llguidance",
            "--data",
            "data",
            "--threads",
            "1",
            "--json",
            "--out",
            out,
        ];
        let report = serde_json::from_str(&succeed(path, &[&arguments[..], more].concat())).unwrap();
        let records = lines(&path.join(out).join("records.jsonl"));
        (
            report,
            records.iter().map(|line| serde_json::from_str(line).unwrap()).collect(),
        )
    };
    let (_, plain) = bench(&[], "plain");
    let (report, paper) = bench(&["--protocol", "paper", "--prefix-cache", "--repeat", "3"], "paper");
    assert_eq!(plain[0]["generation"]["text"], paper[0]["generation"]["text"]);
    assert_eq!(paper[0]["compile"]["beside_prefill"], true);
    assert_eq!(paper[0]["repeats_s"].as_array().unwrap().len(), 3);
    assert_eq!(
        paper[1]["compile"]["error"]["kind"],
        plain[1]["compile"]["error"]["kind"]
    );
    assert!(paper[1]["generation"].is_null(), "{}", paper[1]);
    let row = &report["rows"][0];
    assert_eq!(
        (&row["declared"], &row["ttft_with_gct_s"]),
        (&json!(0.5), &row["ttft_s"])
    );
    let manifest: Value = serde_json::from_str(&fs::read_to_string(path.join("paper/manifest.json")).unwrap()).unwrap();
    let settings = &manifest["settings"];
    assert_eq!(
        (
            &settings["protocol"],
            &settings["max_tokens"],
            &settings["finish_in_time"]
        ),
        (&json!("paper"), &Value::Null, &json!(false))
    );
    let (code, said) = fail(path, &["bench", "--paper", "--scoring", "strict"]);
    assert!(code == 2 && said.contains("--paper"), "{said}");
}

#[test]
fn a_file_is_replayed_several_times_and_the_medians_are_kept() {
    let directory = TempDir::new().unwrap();
    mask_bench(directory.path());
    succeed(
        directory.path(),
        &[&MASKS[..], &["--out", "run", "--repeat", "3"]].concat(),
    );
    let record: Value = serde_json::from_str(&lines(&directory.path().join("run/records.jsonl"))[0]).unwrap();
    assert_eq!(record["repeats_s"].as_array().unwrap().len(), 3);
    assert_eq!(record["cpu_ns"].as_array().unwrap().len(), 1);
    let report = fs::read_to_string(directory.path().join("run/report.md")).unwrap();
    for needle in [
        "# maskwright masks",
        "- hardware: ",
        "- frameworks: llguidance ",
        "llguidance: 1 of 1 schemas right.",
    ] {
        assert!(report.contains(needle), "{needle}: {report}");
    }
}

/// Figures that stand beside the paper's are of the same kind.
#[test]
fn the_papers_figures_stand_beside_figures_of_their_kind() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    test_suite(path);
    write(path.join("suite/remotes/integer.json"), r#"{"type": "integer"}"#);
    let remote = json!([{
        "description": "remote", "schema": {"$ref": "http://localhost:1234/integer.json"},
        "tests": [{"description": "one", "data": 1, "valid": true}],
    }]);
    write(path.join("suite/tests/draft2020-12/refRemote.json"), remote.to_string());
    let printed = succeed(path, &[&TEST_SUITE[..], &["--out", "run", "--paper"]].concat());
    let row = printed
        .lines()
        .filter(|line| line.contains("Guidance"))
        .map(str::to_owned);
    let row: String = row.collect();
    // Two of three categories, one of them refused: 50 % beside the paper's 25 of 43.
    assert!(row.contains("2 / 43") && row.contains("50 / 58"), "{printed}");
}

#[test]
fn endless_input_is_no_reason_to_take_all_memory() {
    let directory = TempDir::new().unwrap();
    for arguments in [&["check", "/dev/zero"][..], &["sample", "/dev/zero"]] {
        let (code, said) = fail(directory.path(), arguments);
        assert!(code == 3 && said.contains("more than 256 MiB"), "{said}");
    }
}

#[test]
fn a_leaderboard_is_made_of_its_own_runs_only() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    mask_bench(path);
    succeed(path, &[&MASKS[..], &["--out", "masks"]].concat());
    for (run, needle) in [
        ("masks", "holds a run of `maskwright masks`"),
        ("bench", "holds no run"),
    ] {
        let (code, said) = fail(path, &["ifstruct", "leaderboard", run]);
        assert!(code == 2 && said.contains(needle), "{said}");
    }
    let ifstruct = [
        "ifstruct",
        "run",
        "--split",
        "test",
        "-n",
        "1",
        "--modes",
        "constrained",
        "--max-tokens",
        "40",
        "--out",
        "run",
    ];
    succeed(path, &ifstruct);
    succeed(path, &["ifstruct", "leaderboard", "run"]);
    let records = path.join("run/records.jsonl");
    let line = lines(&records).remove(0);
    fs::write(&records, format!("{line}\n{line}\n")).unwrap();
    let (code, said) = fail(path, &["ifstruct", "leaderboard", "run"]);
    assert!(
        code == 4 && said.contains("line 2: a second reply of builtin to seed"),
        "{said}"
    );
}
