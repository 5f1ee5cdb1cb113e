//! `maskwright bench --server`: answers, failures and limits of servers, as traces played on the loopback address.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use super::chat_server::{Act, ChatServer, chunk, done, event, fails, says, usage};
use serde_json::{Value, json};
use tempfile::TempDir;

mod answers;
mod limits;
mod runs;

/// A valid answer to the first schema of the built-in sample.
const CONTACT: &str = r#"{"name": "Zoë", "email": "zoe@example.com"}"#;

fn bench(out: &Path, arguments: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_maskwright"));
    program
        .env(
            "MASKWRIGHT_CACHE",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("nothing-fetched"),
        )
        .env_remove("OPENAI_API_KEY")
        .env_remove("GEMINI_API_KEY")
        .env("NO_PROXY", "127.0.0.1")
        .env_remove("http_proxy")
        .env_remove("HTTP_PROXY")
        .env_remove("all_proxy")
        .env_remove("ALL_PROXY")
        .args(["bench", "--out"])
        .arg(out)
        .args(arguments);
    program
}

/// The exit code, standard output, and standard error.
fn end(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let said = text(&output.stderr);
    assert!(!said.contains("panicked"), "{said}");
    (
        output.status.code().expect("ended by itself"),
        text(&output.stdout),
        said,
    )
}

fn succeed(mut program: Command) -> String {
    let (code, printed, said) = end(&program.output().unwrap());
    assert_eq!(code, 0, "{said}");
    printed
}

fn fail(mut program: Command) -> (i32, String) {
    let (code, _, said) = end(&program.output().unwrap());
    assert_ne!(code, 0, "{said}");
    (code, said)
}

fn records(out: &Path) -> Vec<Value> {
    let text = fs::read_to_string(out.join("records.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Bytes in pieces of three, so that characters of two bytes are cut.
fn in_small_pieces(text: &str) -> Act {
    Act::Stream(text.as_bytes().chunks(3).map(<[u8]>::to_vec).collect())
}
