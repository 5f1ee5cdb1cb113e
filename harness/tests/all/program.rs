//! The program as tests start it, and what it ends with.

use std::path::Path;
use std::process::{Command, Output};

/// The place of the program.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_maskwright");

/// Variables that a user may have set and that change what the program does or prints.
const SET_BY_USERS: [&str; 9] = [
    "COLUMNS",
    "RUST_LOG",
    "MASKWRIGHT_LOG",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "http_proxy",
    "HTTP_PROXY",
    "all_proxy",
    "ALL_PROXY",
];

/// The program, without what its user may have fetched or set.
pub fn program() -> Command {
    let mut program = Command::new(PROGRAM);
    for name in SET_BY_USERS {
        program.env_remove(name);
    }
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nothing-fetched");
    program.env("MASKWRIGHT_CACHE", cache).env("NO_PROXY", "127.0.0.1");
    program
}

/// The exit code, standard output, and standard error of a program that ended by itself and without a panic.
pub fn end(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = text(&output.stderr);
    assert!(!said.contains("panicked"), "{said}");
    let code = output.status.code().expect("ended by itself");
    (code, text(&output.stdout), said)
}
