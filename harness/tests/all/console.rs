//! docs/console.md: what the README's commands print on a terminal of 80 columns.
//!
//! `MASKWRIGHT_UPDATE_DOCS=1 cargo test -p maskwright-harness console` captures it anew.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::docs::{read, root};
use super::program::program;

/// Columns of the terminal.
const COLUMNS: usize = 80;

/// What stands above the captured commands.
const HEADING: &str = "# What the commands print

The README's commands on a terminal of 80 columns. `MASKWRIGHT_UPDATE_DOCS=1 cargo test -p maskwright-harness console` captures them anew; without the
variable, the test compares what does not vary from run to run. The times are those of a development build beside other work, and compare nothing:
[results.md](results.md) has those of a release. Documents that `sample` prints are one a line, whatever the width.
Standard error is left out: a `check` that finds something also prints one line there, and ends with exit code 1.
";

/// A command of the README and what it prints.
struct Captured {
    /// Its arguments, in the words of the README.
    arguments: String,
    printed: String,
}

/// The commands of README's console blocks.
fn commands() -> Vec<String> {
    let readme = read("README.md");
    let blocks = readme.split("```console\n").skip(1);
    let lines = blocks.flat_map(|block| block.split("```").next().unwrap().lines());
    lines
        .filter_map(|line| line.strip_prefix("$ "))
        .map(|line| line.split(" #").next().unwrap().trim().to_owned())
        .collect()
}

/// Runs the README's commands.
fn captured() -> Vec<Captured> {
    // These are what a reader types before any of ours, and what runs this test.
    const NOT_OURS: [&str; 3] = [
        "git clone",
        "cd maskwright",
        "cargo test --release --workspace --exclude maskwright-python",
    ];
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("examples")).unwrap();
    for entry in fs::read_dir(root().join("examples")).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), folder.path().join("examples").join(entry.file_name())).unwrap();
        }
    }
    let ours = commands()
        .into_iter()
        .filter(|command| NOT_OURS.iter().all(|known| !command.starts_with(known)));
    ours.map(|command| {
        let arguments = command
            .strip_prefix("cargo run --release -- ")
            .unwrap_or_else(|| panic!("README has a command that no test runs: {command}"));
        Captured {
            arguments: arguments.to_owned(),
            printed: run(folder.path(), arguments),
        }
    })
    .collect()
}

fn run(folder: &Path, arguments: &str) -> String {
    let output = program()
        .args(arguments.split_whitespace())
        .env("COLUMNS", COLUMNS.to_string())
        .current_dir(folder)
        .output()
        .unwrap();
    // `check` exits with 1 where it finds something, which is what README shows.
    let finds = arguments.starts_with("check ");
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success() || finds && output.status.code() == Some(1),
        "{arguments}\n{printed}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    printed
}

fn document(captured: &[Captured]) -> String {
    let blocks = captured.iter().map(|one| {
        let printed = without_warnings(&one.printed);
        format!(
            "\n```console\n$ maskwright {}\n{}\n```\n",
            one.arguments,
            printed.trim_end()
        )
    });
    HEADING.to_owned() + &blocks.collect::<String>()
}

/// What was printed without the warning that the machine was busy, which is no fault of the program's.
fn without_warnings(printed: &str) -> String {
    let Some((before, after)) = printed.split_once("WARNING: the machine was busy") else {
        return printed.to_owned();
    };
    let after = after.split_once("unevenly").map_or("", |(_, after)| after);
    let after = after.split_once("so.").map_or("", |(_, after)| after);
    format!("{}{after}", before.trim_end_matches(' '))
}

/// The words of a text: what stays the same from one run to the next on another machine.
fn words(text: &str) -> BTreeSet<&str> {
    let parts = text.split(|character: char| !character.is_alphabetic());
    parts.filter(|word| word.chars().count() > 1).collect()
}

#[test]
fn commands_of_the_readme_run_and_fit_into_80_columns_as_captured() {
    let now = captured();
    assert!(now.len() >= 3, "README has {} commands", now.len());
    for Captured { arguments, printed } in &now {
        let is_data = arguments.starts_with("sample ");
        for line in printed.lines() {
            assert!(
                is_data || line.chars().count() <= COLUMNS,
                "{arguments}:\n{line}\n{printed}"
            );
        }
    }
    let (document, path) = (document(&now), "docs/console.md");
    if std::env::var_os("MASKWRIGHT_UPDATE_DOCS").is_some() {
        fs::write(root().join(path), &document).unwrap();
    }
    let known = read(path);
    let hint = "docs/console.md is not what the commands print: MASKWRIGHT_UPDATE_DOCS=1 cargo test -p maskwright-harness console";
    assert_eq!(words(&known), words(&document), "{hint}");
    // Nothing of what these print varies.
    for Captured { arguments, printed } in &now {
        if arguments.starts_with("sample ") || arguments.starts_with("check ") {
            assert!(known.contains(printed.trim_end()), "{arguments}: {printed}\n{hint}");
        }
    }
    for line in known.lines().filter(|line| !line.starts_with(['{', '$'])) {
        let is_table = line.starts_with(['│', '┌', '╞', '└']);
        assert!(!is_table || line.chars().count() <= COLUMNS, "{line}");
    }
}

/// A prebuilt program is one archive, of which the guide says how to use it.
#[cfg(unix)]
#[test]
fn a_prebuilt_program_is_packed_with_what_belongs_to_it() {
    let out = tempfile::tempdir().unwrap();
    let packed = Command::new(root().join("scripts/package.sh"))
        .args(["--binary", env!("CARGO_BIN_EXE_maskwright"), "--out"])
        .arg(out.path())
        .output()
        .unwrap();
    assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));
    let printed = String::from_utf8(packed.stdout).unwrap();
    let archive = Path::new(printed.trim());
    let name = archive.file_name().unwrap().to_str().unwrap();
    assert!(
        name.starts_with(concat!("maskwright-", env!("CARGO_PKG_VERSION"), "-")),
        "{name}"
    );
    assert!(out.path().join(format!("{name}.sha256")).exists());
    let unpacked = Command::new("tar")
        .arg("-xzf")
        .arg(archive)
        .current_dir(out.path())
        .status();
    assert!(unpacked.unwrap().success());
    let folder = out.path().join(name.strip_suffix(".tar.gz").unwrap());
    for file in [
        "README.md",
        "LICENSE-MIT",
        "man/maskwright-ifstruct-run.1",
        "man/maskwright-site.1",
        "completions/maskwright.fish",
    ] {
        assert!(folder.join(file).metadata().unwrap().len() > 100, "{file}");
    }
    let version = Command::new(folder.join("maskwright"))
        .arg("--version")
        .output()
        .unwrap();
    assert!(version.status.success());

    let guide = read("docs/guide.md");
    for needle in [
        "cargo install --locked --git",
        "maskwright-VERSION-TARGET.tar.gz",
        "sha256sum --check",
        "scripts/package.sh",
    ] {
        assert!(guide.contains(needle), "{needle}");
    }
}
