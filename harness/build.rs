//! Tells the program which commit it was built from, and which versions of the frameworks it was built with.

use std::process::Command;

/// Packages whose version goes on record.
const FRAMEWORKS: [&str; 2] = ["llguidance", "outlines-core"];

fn main() {
    println!("cargo::rerun-if-changed=../.git/HEAD");
    println!("cargo::rerun-if-changed=../.git/logs/HEAD");
    println!("cargo::rustc-env=MASKWRIGHT_COMMIT={}", commit());
    println!("cargo::rustc-env=MASKWRIGHT_FEATURES={}", features());
    println!("cargo::rerun-if-changed=../Cargo.lock");
    let lock = std::fs::read_to_string("../Cargo.lock").unwrap_or_default();
    for package in FRAMEWORKS {
        let version = locked_version(&lock, package).unwrap_or("unknown");
        println!(
            "cargo::rustc-env=MASKWRIGHT_{}_VERSION={version}",
            package.to_uppercase().replace('-', "_")
        );
    }
}

/// The features of this package that are on.
fn features() -> String {
    const PREFIX: &str = "CARGO_FEATURE_";
    let variables = std::env::vars().filter_map(|(name, _)| Some(name.strip_prefix(PREFIX)?.to_lowercase()));
    let features: Vec<String> = variables.filter(|name| name != "default").collect();
    match features.is_empty() {
        true => "none".to_owned(),
        false => features.join(", "),
    }
}

fn commit() -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        output.status.success().then_some(text)
    };
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) else {
        return "unknown".to_owned();
    };
    match git(&["status", "--porcelain", "--untracked-files=no"]) {
        Some(changes) if changes.is_empty() => commit,
        _ => format!("{commit}-dirty"),
    }
}

/// The version of `package` in a Cargo.lock: the line after its name.
fn locked_version<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name);
    lines.nth(1)?.strip_prefix("version = \"")?.strip_suffix('"')
}
