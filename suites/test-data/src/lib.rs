//! Public data for tests: [`find`] gives a directory, or says that the test skips and what to run.
//!
//! Tests look in the directory that `MASKWRIGHT_DATA` names, in the cache that `maskwright fetch` fills, and in
//! `shared/data` beside the repository. In the last, archives `NAME.tar.xz` count too: they are unpacked into the build's
//! directory, once.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use lzma_rust2::XzReader;
use maskwright_suites::fetch;
use maskwright_suites::locate::locate_for_tests;

/// The directory with the data of the source `name`, such as `jsonschemabench` or `test-suite`; `None` after saying on
/// standard error that the test skips.
#[expect(clippy::print_stderr, reason = "a test that skips says so")]
pub fn find(name: &str) -> Option<PathBuf> {
    let mut places: Vec<PathBuf> = shared_data().into_iter().collect();
    let mut found = locate_for_tests(name, &places);
    if found.is_err()
        && let Some(unpacked) = places.first().and_then(|place| unpacked(name, place))
    {
        places.push(unpacked);
        found = locate_for_tests(name, &places);
    }
    found.inspect_err(|missing| eprintln!("skipped: {missing}")).ok()
}

/// `shared/data` beside the repository, where the test runs under cargo.
fn shared_data() -> Option<PathBuf> {
    let package = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR")?);
    let repository = package.ancestors().find(|path| path.join("Cargo.lock").is_file())?;
    Some(repository.join("../shared/data"))
}

/// The directory that the archive of `name` in `place` is unpacked to.
#[expect(clippy::print_stderr, reason = "a test that skips says so")]
fn unpacked(name: &str, place: &Path) -> Option<PathBuf> {
    let source = fetch::source(name)?;
    let archives = [source.name, source.checkout()].map(|name| place.join(format!("{name}.tar.xz")));
    let archive = archives.into_iter().find(|path| path.is_file())?;
    unpack_once(&archive)
        .inspect_err(|error| eprintln!("{} cannot be unpacked: {error}", archive.display()))
        .ok()
}

fn unpack_once(archive: &Path) -> io::Result<PathBuf> {
    let (name, bytes) = (archive.file_name().unwrap_or_default(), fs::metadata(archive)?.len());
    let parent = build_directory().join("test-data");
    // Another archive of the same name is likely to have another size.
    let target = parent.join(format!(
        "{}-{bytes}",
        name.to_string_lossy().trim_end_matches(".tar.xz")
    ));
    if target.is_dir() {
        return Ok(target);
    }
    fs::create_dir_all(&parent)?;
    let unfinished = tempfile::tempdir_in(&parent)?;
    let contents = XzReader::new(BufReader::new(File::open(archive)?), true);
    tar::Archive::new(contents).unpack(unfinished.path())?;
    match fs::rename(unfinished.path(), &target) {
        // Another test may have been quicker; what it made is the same.
        Err(_) if target.is_dir() => {}
        other => {
            other?;
            // It has another name now: nothing is left to remove.
            let _ = unfinished.keep();
        }
    }
    Ok(target)
}

/// The directory that cargo builds in, which it marks as one of caches; or else the system's for temporary files.
fn build_directory() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let marked = program
        .ancestors()
        .skip(1)
        .find(|path| path.join("CACHEDIR.TAG").is_file());
    marked.map_or_else(std::env::temp_dir, Path::to_owned)
}
