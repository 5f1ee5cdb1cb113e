//! `maskwright fetch` as a user runs it, against a server on the loopback address, and what other commands find then.

#[allow(dead_code)]
#[path = "../../../suites/tests/all/home_server/mod.rs"]
mod home_server;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use home_server::{Files, Server, archive_path};
use maskwright_suites::fetch;
use serde_json::Value;
use tempfile::TempDir;

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const BENCH: &str = "guidance-ai/jsonschemabench";
const SUITE: &str = "json-schema-org/JSON-Schema-Test-Suite";

struct Setting {
    server: Server,
    cache: TempDir,
}

impl Setting {
    /// JSONSchemaBench, with two schemas, and the Test Suite.
    fn new() -> Self {
        let server = Server::start();
        let files = |files: &[(&str, &str)]| -> Files {
            let files = files.iter();
            files
                .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
                .collect()
        };
        let bench = files(&[
            ("data/Github_easy/a.json", "{\"type\": \"boolean\"}"),
            ("data/Github_easy/b.json", "{\"type\": \"null\"}"),
            ("maskbench/data/Github_easy---a.json", "{\"schema\": {}}"),
        ]);
        server.github(
            BENCH,
            "main",
            fetch::source("jsonschemabench").unwrap().revision,
            &bench,
        );
        server.github(SUITE, "main", COMMIT, &files(&[("tests/draft2020-12/type.json", "[]")]));
        let cache = TempDir::new().unwrap();
        Self { server, cache }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.program(arguments).output().unwrap()
    }

    fn program(&self, arguments: &[&str]) -> Command {
        let homes = self.server.homes();
        let mut program = Command::new(env!("CARGO_BIN_EXE_maskwright"));
        program
            .args(arguments)
            .env("MASKWRIGHT_CACHE", self.cache.path())
            .env("MASKWRIGHT_GITHUB_API", &homes.github_api)
            .env("MASKWRIGHT_GITHUB_ARCHIVES", &homes.github_archives)
            .env("MASKWRIGHT_GITHUB_RAW", format!("{}/", homes.github_raw))
            .env("HF_ENDPOINT", &homes.hub)
            .env("GITHUB_TOKEN", "github-secret")
            .env_remove("HF_TOKEN");
        program
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// What was said, where the exit code is `code`.
    fn fail(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(!said.contains("panicked") && !said.contains("secret"), "{said}");
        said
    }
}

#[test]
fn what_is_fetched_is_listed_verified_and_found_by_other_commands() {
    let setting = Setting::new();
    let state = |listing: &Value| -> Vec<String> {
        let sources = listing["sources"].as_array().unwrap().iter();
        sources
            .map(|source| source["state"].as_str().unwrap().to_owned())
            .collect()
    };
    assert!(
        state(&setting.json(&["fetch", "--json"]))
            .iter()
            .all(|state| state == "not fetched")
    );
    setting.fail(2, &["census", "--datasets", "Github_easy"]);

    let fetched = setting.json(&["fetch", "jsonschemabench", "test-suite", "--json"]);
    assert_eq!(state(&fetched), ["fetched", "fetched"]);
    let [bench, suite] = [&fetched["sources"][0], &fetched["sources"][1]];
    assert_eq!(
        (&bench["files"], &suite["revision"]),
        (&Value::from(3), &Value::from(COMMIT))
    );
    assert!(
        Path::new(bench["path"].as_str().unwrap())
            .join("data/Github_easy/a.json")
            .is_file()
    );
    let table = String::from_utf8(setting.run(&["fetch"]).stdout).unwrap();
    assert!(
        table.contains("fetched at 0123456789ab") && table.contains("not fetched"),
        "{table}"
    );

    let census = setting.json(&["census", "--datasets", "Github_easy", "--json"]);
    assert_eq!(census["datasets"]["Github_easy"]["schemas"], 2);
    let datasets = setting.json(&["list", "--json"])["datasets"].to_string();
    assert!(datasets.contains("Github_easy"), "{datasets}");
    let out = setting.cache.path().join("run");
    let arguments = [
        "bench",
        "--datasets",
        "Github_easy",
        "--frameworks",
        "none",
        "--limit",
        "1",
        "--max-tokens",
        "20",
    ];
    let report = setting.json(&[&arguments[..], &["--json", "--out", out.to_str().unwrap()]].concat());
    assert_eq!(report["rows"][0]["dataset"], "Github_easy");

    let said = String::from_utf8_lossy(&setting.run(&["fetch", "--verify"]).stderr).into_owned();
    assert!(
        said.contains("test-suite: all 1 files are as they were fetched"),
        "{said}"
    );
    setting.json(&["fetch", "test-suite", "--offline", "--json"]);
    fs::write(
        Path::new(suite["path"].as_str().unwrap()).join("tests/draft2020-12/type.json"),
        "{}",
    )
    .unwrap();
    let said = setting.fail(3, &["fetch", "test-suite", "--verify"]);
    assert!(
        said.contains("type.json has git-blob:") && said.contains("fetch test-suite --force"),
        "{said}"
    );
    assert!(
        setting
            .fail(3, &["fetch", "--verify"])
            .contains("1 of 2 failed: test-suite")
    );
    setting.json(&["fetch", "test-suite", "--force", "--json"]);
    setting.json(&["fetch", "test-suite", "--verify", "--json"]);

    // What cannot be fetched again stays as it is.
    let nowhere = format!("{}/nowhere", setting.server.homes().github_api);
    let mut again = setting.program(&["fetch", "jsonschemabench", "--force"]);
    let again = again.env("MASKWRIGHT_GITHUB_API", nowhere).output().unwrap();
    assert_eq!(again.status.code(), Some(3));
    setting.json(&["fetch", "jsonschemabench", "--offline", "--json"]);
}

#[test]
fn failures_say_what_to_do_and_keep_what_can_be_kept() {
    let setting = Setting::new();
    assert!(
        setting
            .fail(2, &["fetch", "testsuite"])
            .contains("did you mean test-suite?")
    );
    assert!(
        setting
            .fail(3, &["fetch", "test-suite", "--offline"])
            .contains("--offline forbids downloading")
    );
    assert!(
        setting
            .fail(3, &["fetch", "test-suite", "--verify"])
            .contains("run `maskwright fetch test-suite`")
    );
    assert!(
        setting
            .fail(3, &["fetch", "test-suite", "--revision", "v9"])
            .contains("check --revision")
    );
    setting.fail(2, &["fetch", "all", "--revision", "v9"]);
    setting.fail(2, &["fetch", "test-suite", "--offline", "--force"]);

    let archive = archive_path(SUITE, COMMIT);
    setting.server.change(&archive, |page| page.body[20] ^= 1);
    let said = setting.fail(3, &["fetch", "test-suite"]);
    assert!(said.contains("is damaged") || said.contains("wrong contents"), "{said}");

    // The others are fetched all the same.
    let said = setting.fail(3, &["fetch", "test-suite", "jsonschemabench"]);
    assert!(
        said.contains("test-suite: ") && said.contains("1 of 2 failed"),
        "{said}"
    );
    setting.json(&["fetch", "jsonschemabench", "--offline", "--json"]);

    let elsewhere = TempDir::new().unwrap();
    let cache = ["--cache", elsewhere.path().to_str().unwrap()];
    setting.json(&[&["fetch", "jsonschemabench", "--json"], &cache[..]].concat());
    assert!(elsewhere.path().join("datasets/jsonschemabench/current").is_file());
}

#[cfg(unix)]
#[test]
fn an_interrupted_fetch_ends_cleanly_and_continues() {
    let setting = Setting::new();
    let archive = archive_path(SUITE, COMMIT);
    // Bytes that do not compress, slowly.
    let noise: Vec<u8> = (0..200_000_u32)
        .map(|at| (at.wrapping_mul(at ^ 2_654_435_761) >> 13) as u8)
        .collect();
    let files = Files::from([("tests/draft2020-12/type.json".to_owned(), noise)]);
    setting.server.github(SUITE, "main", COMMIT, &files);
    setting
        .server
        .change(&archive, |page| page.pace = Duration::from_millis(50));
    let mut child = setting
        .program(&["fetch", "test-suite"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let partial = setting
        .cache
        .path()
        .join(format!("downloads/test-suite-{COMMIT}.tar.gz.partial"));
    let kept = || fs::metadata(&partial).map_or(0, |metadata| metadata.len());
    while kept() == 0 {
        assert!(child.try_wait().unwrap().is_none(), "it ended before its first bytes");
        std::thread::sleep(Duration::from_millis(5));
    }
    let signal = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(signal.success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("run the command again to continue"), "{said}");
    let start = kept();
    assert!(start > 0);
    setting.server.change(&archive, |page| page.pace = Duration::ZERO);
    setting.server.requests();
    setting.json(&["fetch", "test-suite", "--json"]);
    let requests = setting.server.requests();
    assert!(
        requests
            .iter()
            .any(|request| request.contains(&format!("range=bytes={start}-"))),
        "{requests:?}"
    );
}
