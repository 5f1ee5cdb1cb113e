//! `maskwright bench --server`: answers, failures and limits of servers, as traces played on the loopback address.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::chat_server::{Act, ChatServer, chunk, done, event, fails, says, usage};
use super::program::{end, program};
use serde_json::{Value, json};
use tempfile::TempDir;

mod answers;
mod limits;
mod runs;

/// A valid answer to the first schema of the built-in sample.
const CONTACT: &str = r#"{"name": "Zoë", "email": "zoe@example.com"}"#;

fn bench(out: &Path, arguments: &[&str]) -> Command {
    let mut program = program();
    program.args(["bench", "--out"]).arg(out).args(arguments);
    program
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
