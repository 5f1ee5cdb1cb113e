//! Tells the package which versions of the frameworks it was built with.

/// Packages whose version goes on record.
const FRAMEWORKS: [&str; 2] = ["llguidance", "outlines-core"];

/// The workspace's lock file, from this package's folder.
const LOCK_FILE: &str = "../../Cargo.lock";

fn main() {
    println!("cargo::rerun-if-changed={LOCK_FILE}");
    let lock = std::fs::read_to_string(LOCK_FILE).unwrap_or_default();
    for package in FRAMEWORKS {
        let version = locked_version(&lock, package).unwrap_or("unknown");
        println!(
            "cargo::rustc-env=MASKWRIGHT_{}_VERSION={version}",
            package.to_uppercase().replace('-', "_")
        );
    }
}

/// The version of `package` in a Cargo.lock: the line after its name.
fn locked_version<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name);
    lines.nth(1)?.strip_prefix("version = \"")?.strip_suffix('"')
}
