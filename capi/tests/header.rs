//! The committed header is that of the sources.

// Helpers unwrap as tests do.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use cbindgen::{Builder, Config};

/// Files that say what C may use, in the order of the header.
const SOURCES: [&str; 4] = ["tokenizer.rs", "matcher_init.rs", "matcher.rs", "parallel.rs"];

/// The header that the sources make, without what their documentation says to Rust alone.
fn generated(crate_folder: &Path) -> String {
    let config = Config::from_file(crate_folder.join("cbindgen.toml")).unwrap();
    let sources = SOURCES.map(|name| crate_folder.join("src").join(name));
    let builder = sources
        .iter()
        .fold(Builder::new().with_config(config), Builder::with_src);
    let mut header = Vec::new();
    builder.generate().unwrap().write(&mut header);
    let header = String::from_utf8(header).unwrap();
    let mut lines: Vec<&str> = Vec::new();
    let mut is_safety = false;
    for line in header.lines() {
        let is_comment = line.trim_start().starts_with("//");
        is_safety = is_comment && (is_safety || line.trim_start() == "// # Safety");
        if is_safety {
            // The empty line of the comment before it goes, too.
            while lines.last().is_some_and(|last| last.trim() == "//") {
                lines.pop();
            }
        } else {
            lines.push(line.trim_end());
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn the_header_is_current() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let place = crate_folder.join("include/maskwright.h");
    let generated = generated(crate_folder);
    if std::env::var_os("MASKWRIGHT_UPDATE_DOCS").is_some() {
        fs::write(&place, &generated).unwrap();
    }
    let committed = fs::read_to_string(&place).unwrap_or_default();
    let message = "include/maskwright.h is not that of the sources: MASKWRIGHT_UPDATE_DOCS=1 cargo test -p maskwright-capi --test header";
    assert!(committed == generated, "{message}");
}
