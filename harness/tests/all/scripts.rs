//! Scripts of `scripts/`, up to where they need what a test has not: a GPU, a network, a build.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use super::docs::root;
use super::program::end;

/// Makes programs that do nothing and end well (`true`), or badly (`false`).
fn link(ending: &str, folder: &Path, names: &[&str]) {
    fs::create_dir_all(folder).unwrap();
    let program = Path::new("/bin").join(ending);
    for name in names {
        symlink(&program, folder.join(name)).unwrap();
    }
}

/// Runs a script with the programs of a folder before the machine's own.
fn run(script: &str, programs: &Path, arguments: &[&Path], target: &Path) -> Output {
    let mut path = vec![programs.to_owned()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
    Command::new(root().join("scripts").join(script))
        .args(arguments)
        .env("PATH", std::env::join_paths(path).unwrap())
        .env("CARGO_TARGET_DIR", target)
        .env_remove("PYTHON")
        .output()
        .unwrap()
}

#[test]
fn a_report_of_a_gpu_deletes_its_own_files_alone() {
    let directory = TempDir::new().unwrap();
    let (programs, out) = (directory.path().join("programs"), directory.path().join("out"));
    link("false", &programs, &["maskwright", "maskwright-models"]);
    let arguments = [Path::new("--out"), &out, &programs];
    let report = || run("gpu-report.sh", &programs, &arguments, &programs);
    let theirs = out.join("theirs");
    fs::create_dir(&out).unwrap();
    fs::write(&theirs, "").unwrap();
    let (code, _, said) = end(&report());
    assert!(code == 1 && theirs.exists() && said.contains("--out"), "{said}");
    fs::remove_file(&theirs).unwrap();
    // It ends with its first command, and has made the directory its own before.
    report();
    fs::write(&theirs, "").unwrap();
    let (_, _, said) = end(&report());
    assert!(!theirs.exists() && out.join("version.txt").exists(), "{said}");
}

#[test]
fn an_installation_that_was_interrupted_is_made_anew() {
    for (script, environment) in [
        ("compare-ifstruct/run.sh", "compare-ifstruct"),
        ("compare-llamacpp/quantised.sh", "compare-llamacpp"),
        ("compare-server/run.sh", "compare-server"),
        ("compare-transformers/run.sh", "compare-transformers"),
    ] {
        let directory = TempDir::new().unwrap();
        let programs = directory.path().join("programs");
        link("true", &programs, &["python3"]);
        // The script ends with its build.
        link("false", &programs, &["cargo"]);
        let environment = directory.path().join(environment);
        // A Python without the packages.
        link("true", &environment.join("bin"), &["pip", "python"]);
        let (_, _, said) = end(&run(script, &programs, &[directory.path()], directory.path()));
        assert!(environment.join("installed").exists(), "{script}: {said}");
    }
}

#[test]
fn servers_may_be_installed_in_a_relative_directory() {
    let directory = TempDir::new().unwrap();
    let programs = directory.path().join("bin");
    link("true", &programs, &["python"]);
    let installed = directory.path().join("installed");
    fs::write(&installed, "").unwrap();
    let up: PathBuf = root().canonicalize().unwrap().iter().skip(1).map(|_| "..").collect();
    let relative = up.join(directory.path().canonicalize().unwrap().strip_prefix("/").unwrap());
    let arguments = [Path::new("--venv"), &relative, Path::new("--wheel"), &installed];
    let (code, _, said) = end(&run("check-serving.sh", &programs, &arguments, directory.path()));
    assert_eq!(code, 0, "{said}");
}
