//! Programs in C that use the header and the libraries: compiled with the machine's compiler, and run under Valgrind where it is there.

// Helpers unwrap as tests do, and what is skipped is told.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Exit code for an error that Valgrind found.
const VALGRIND_FOUND: &str = "99";

/// The system's libraries that a program in C links beside ours.
fn system_libraries() -> &'static [&'static str] {
    match env::consts::OS {
        "linux" => &["-lpthread", "-ldl", "-lm", "-lgcc_s"],
        _ => &["-lpthread", "-lm"],
    }
}

fn runs(program: &OsString) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

/// The C compiler that `CC` names, or `cc`; none where there is none, which is said.
fn compiler() -> Option<OsString> {
    let compiler = env::var_os("CC").unwrap_or_else(|| "cc".into());
    let found = runs(&compiler).then_some(compiler);
    if found.is_none() {
        println!("skipped: there is no C compiler (set CC, or on Debian: apt-get install gcc libc6-dev)");
    }
    found
}

/// The folder with the libraries that cargo has built for this test.
fn libraries() -> PathBuf {
    let test = env::current_exe().unwrap();
    test.parent().unwrap().to_owned()
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Library {
    Static,
    Shared,
}

fn succeeded(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (standard, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{standard}{errors}",
        output.status
    );
    output
}

/// Compiles a program of this crate, and gives the executable.
fn compile(compiler: &OsString, source: &str, library: Library) -> PathBuf {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let name = format!("{}-{library:?}", source.replace('/', "-"));
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut command = Command::new(compiler);
    command.args([
        "-std=c11",
        "-Wall",
        "-Wextra",
        "-Wpedantic",
        "-Werror",
        "-g",
        "-O1",
        "-I",
    ]);
    command.arg(crate_folder.join("include")).arg(crate_folder.join(source));
    command.arg("-o").arg(&program);
    match library {
        Library::Static => command.arg(libraries().join("libmaskwright_c.a")),
        Library::Shared => command.arg("-L").arg(libraries()).arg("-lmaskwright_c"),
    };
    succeeded(command.args(system_libraries()));
    program
}

/// The command that runs a program, under Valgrind if asked for and if it is there.
fn run(program: &Path, under_valgrind: bool) -> Command {
    let mut command = match under_valgrind && runs(&"valgrind".into()) {
        true => {
            let mut command = Command::new("valgrind");
            command.args([
                "--quiet",
                "--leak-check=full",
                // Threads of the library that stay are no leak.
                "--show-leak-kinds=definite,indirect",
                "--errors-for-leak-kinds=definite,indirect",
                "--fair-sched=yes",
            ]);
            // Optimised code compares enums with the bytes that their variants leave open and forgets the result: no fault, and told as one.
            if !cfg!(debug_assertions) {
                command.arg("--undef-value-errors=no");
            }
            command.arg(format!("--error-exitcode={VALGRIND_FOUND}")).arg(program);
            command
        }
        false => {
            if under_valgrind {
                println!("skipped: there is no valgrind, so memory is not checked (Debian: apt-get install valgrind)");
            }
            Command::new(program)
        }
    };
    let name = match env::consts::OS {
        "macos" => "DYLD_LIBRARY_PATH",
        _ => "LD_LIBRARY_PATH",
    };
    command.env(name, libraries());
    command
}

#[test]
#[cfg(unix)]
fn the_contract_holds_in_c() {
    let Some(compiler) = compiler() else {
        return;
    };
    for (library, under_valgrind) in [(Library::Static, true), (Library::Shared, false)] {
        let program = compile(&compiler, "tests/c/contract.c", library);
        succeeded(&mut run(&program, under_valgrind));
    }
}

#[test]
#[cfg(unix)]
fn the_example_writes_a_valid_answer() {
    let Some(compiler) = compiler() else {
        return;
    };
    let program = compile(&compiler, "examples/answer.c", Library::Static);
    let output = succeeded(&mut run(&program, false));
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let members = answer.as_object().unwrap();
    let is_number = members["id"].as_i64().is_some_and(|id| (1..=999).contains(&id));
    let is_colour = members["colour"]
        .as_str()
        .is_some_and(|colour| ["red", "green", "blue"].contains(&colour));
    assert!(members.len() == 2 && is_number && is_colour, "{answer}");
}

#[test]
#[cfg(unix)]
fn the_header_is_one_of_older_c_and_of_cpp() {
    let Some(compiler) = compiler() else {
        return;
    };
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/maskwright.h");
    let check = |language: &[&str]| {
        let mut command = Command::new(&compiler);
        command
            .args(language)
            .args(["-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]);
        command.arg(&header);
        command
    };
    succeeded(&mut check(&["-x", "c", "-std=c99"]));
    let has_cpp = Command::new(&compiler)
        .args(["-x", "c++", "-fsyntax-only", "/dev/null"])
        .output();
    match has_cpp.is_ok_and(|output| output.status.success()) {
        true => drop(succeeded(&mut check(&["-x", "c++", "-std=c++11"]))),
        false => println!("skipped: the compiler has no C++ (Debian: apt-get install g++)"),
    }
}
