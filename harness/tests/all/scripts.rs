//! Scripts of `scripts/`, up to where they need what a test has not: a GPU, a network, a build.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use super::docs::root;
use super::program::{PROGRAM, end, program};

/// Makes programs that do nothing and end well (`true`), or badly (`false`).
fn link(ending: &str, folder: &Path, names: &[&str]) {
    fs::create_dir_all(folder).unwrap();
    let program = Path::new("/bin").join(ending);
    for name in names {
        symlink(&program, folder.join(name)).unwrap();
    }
}

/// The search path with a folder before the machine's own.
fn path(programs: &Path) -> OsString {
    let mut path = vec![programs.to_owned()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
    std::env::join_paths(path).unwrap()
}

/// A script that is called in cargo's target directory, with the programs of a folder before the machine's own.
fn command(script: &str, programs: &Path, target: &Path) -> Command {
    let mut command = Command::new(root().join("scripts").join(script));
    command
        .current_dir(target)
        .env("PATH", path(programs))
        .env("CARGO_TARGET_DIR", target)
        .env_remove("PYTHON");
    command
}

fn run(script: &str, programs: &Path, arguments: &[&Path], target: &Path) -> Output {
    command(script, programs, target).args(arguments).output().unwrap()
}

/// Whether there is a python3: tests of scripts in Python are skipped without one.
fn has_python() -> bool {
    Command::new("python3").arg("--version").output().is_ok()
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
    let programs = directory.path().join("servers/bin");
    link("true", &programs, &["python"]);
    // Where the directory is not found, nothing is installed.
    link("false", &programs, &["python3"]);
    fs::write(directory.path().join("servers/installed"), "").unwrap();
    let arguments = ["--venv", "servers", "--wheel", "servers/installed"].map(Path::new);
    let (code, _, said) = end(&run("check-serving.sh", &programs, &arguments, directory.path()));
    assert_eq!(code, 0, "{said}");
}

#[test]
fn a_program_is_packed_from_and_to_relative_paths() {
    let directory = TempDir::new().unwrap();
    let program = directory.path().join("program");
    // It has a version, and no commands.
    fs::write(&program, "#!/bin/sh\necho program 1.2.3\n").unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let arguments = ["--binary", "program", "--out", "out"].map(Path::new);
    let (code, printed, said) = end(&run("package.sh", directory.path(), &arguments, directory.path()));
    let out = directory.path().canonicalize().unwrap().join("out");
    let archive = Path::new(printed.trim());
    assert!(
        code == 0 && archive.starts_with(&out) && archive.exists(),
        "{printed}{said}"
    );
}

#[test]
fn variables_may_name_relative_paths() {
    let directory = TempDir::new().unwrap();
    let programs = directory.path().join("programs");
    link("true", &programs, &["chromium", "maskwright", "node", "npm"]);
    link("false", &programs, &["python"]);
    let mut pages = command("check-pages.sh", &programs, directory.path());
    let (code, _, said) = end(&pages.env("MASKWRIGHT", "programs/maskwright").output().unwrap());
    assert!(code == 0 && !said.contains("realpath"), "{said}");
    // A Python that is found, and refused.
    let mut python = command("check-python.sh", &programs, directory.path());
    let (_, printed, _) = end(&python.env("PYTHON", "programs/python").output().unwrap());
    assert!(printed.contains("/programs/python is not CPython"), "{printed}");
}

#[test]
fn cuda_libraries_are_found_in_a_path_with_blanks() {
    if !has_python() {
        return;
    }
    let directory = TempDir::new().unwrap();
    let (programs, packages) = (directory.path().join("programs"), directory.path().join("of a user"));
    link("false", &programs, &["maskwright"]);
    let libraries = packages.join("nvidia/cu13/lib");
    fs::create_dir_all(&libraries).unwrap();
    let found = Command::new("bash")
        .args(["-c", ". \"$0\" && echo \"$LD_LIBRARY_PATH\""])
        .arg(root().join("scripts/cuda-libraries.sh"))
        .env("PATH", path(&programs))
        .env("PYTHONPATH", &packages)
        .output();
    let (_, printed, said) = end(&found.unwrap());
    assert!(printed.contains(libraries.to_str().unwrap()), "{printed}{said}");
}

#[test]
fn verdicts_on_nothing_are_an_error() {
    if !has_python() {
        return;
    }
    let directory = TempDir::new().unwrap();
    // As much of the package as is needed before something is judged.
    let package = "class Tokenizer:
    from_bytes = staticmethod(lambda *_, **__: None)


class Compiler:
    __init__ = lambda *_, **__: None
";
    fs::write(directory.path().join("maskwright.py"), package).unwrap();
    let judge = |arguments: &[&str]| {
        let mut script = Command::new("python3");
        script.arg(root().join("scripts/python-verdicts.py")).args(arguments);
        script.env("PYTHONPATH", directory.path());
        end(&script.env("PYTHONDONTWRITEBYTECODE", "1").output().unwrap())
    };
    for option in ["--test-suite", "--maskbench"] {
        let (code, _, said) = judge(&[option, "misspelt"]);
        assert!(code == 2 && said.contains("misspelt"), "{option}: {said}");
    }
    let (code, _, said) = judge(&[]);
    assert!(code == 2 && said.contains("--maskbench"), "{said}");
}

#[test]
fn a_lost_report_and_a_killed_merge_on_a_cluster_are_made_anew() {
    let directory = TempDir::new().unwrap();
    let at = directory.path();
    let file = r#"{"schema": {"type": "integer"}, "tests": [{"data": 1, "valid": true}]}"#;
    fs::create_dir(at.join("data")).unwrap();
    fs::write(at.join("data/o---1.json"), file).unwrap();
    let mut part = program();
    part.current_dir(at);
    part.args(["masks", "--data", "data", "--frameworks", "maskwright"]);
    part.args(["--shard", "1/1", "--out", "."]);
    let (code, _, said) = end(&part.output().unwrap());
    assert_eq!(code, 0, "{said}");
    let merge = |parts: &str| {
        let mut job = Command::new("bash");
        job.arg(root().join("scripts/slurm/merge.sbatch"));
        job.env("MASKWRIGHT", PROGRAM).env("MASKWRIGHT_OUT", at);
        end(&job.env("MASKWRIGHT_PARTS", parts).output().unwrap())
    };
    let (whole, unfinished, page) = (at.join("whole"), at.join("whole.part"), at.join("report.html"));
    let complete = || {
        let (code, _, said) = merge("1");
        assert_eq!(code, 0, "{said}");
        assert!(page.exists() && whole.join("report.json").exists());
    };
    complete();
    let mark = whole.join("mark");
    fs::write(&mark, "").unwrap();
    fs::remove_file(&page).unwrap();
    complete();
    assert!(mark.exists(), "what is merged is not merged again");
    // What a merge leaves that is killed before its last file.
    fs::rename(&whole, &unfinished).unwrap();
    fs::remove_file(unfinished.join("report.json")).unwrap();
    complete();
    assert!(!mark.exists() && !unfinished.exists());
    let (code, _, _) = merge("2");
    assert_ne!(code, 0, "a run of one part is not taken for one of two");
}
