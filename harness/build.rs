//! Tells the program which commit it was built from.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=../.git/HEAD");
    println!("cargo::rerun-if-changed=../.git/logs/HEAD");
    println!("cargo::rustc-env=MASKWRIGHT_COMMIT={}", commit());
}

fn commit() -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        output
            .status
            .success()
            .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    match git(&["rev-parse", "--short=12", "HEAD"]) {
        Some(commit)
            if git(&["status", "--porcelain", "--untracked-files=no"]).is_none_or(|changes| !changes.is_empty()) =>
        {
            format!("{commit}-dirty")
        }
        Some(commit) => commit,
        None => "unknown".to_owned(),
    }
}
