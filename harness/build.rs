//! Tells the program which commit and which features it was built from.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=../.git/HEAD");
    println!("cargo::rerun-if-changed=../.git/logs/HEAD");
    println!("cargo::rustc-env=MASKWRIGHT_COMMIT={}", commit());
    println!("cargo::rustc-env=MASKWRIGHT_FEATURES={}", features());
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
