//! Fetching: whole, in pieces, against servers that fail in every way, and from the cache.

use std::cell::Cell;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::home_server::{Files, Page, Server, append, archive_path, blob, entries, gzip, tarball};
use maskwright_suites::fetch::{Cache, FetchError, Fetched, Fetcher, MANIFEST, Progress, Retries, State, Wish, source};
use tempfile::TempDir;

mod files;

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const SUITE: &str = "json-schema-org/JSON-Schema-Test-Suite";
const HARD: &str = "suzgunmirac/BIG-Bench-Hard";

/// A server and a cache.
struct Setting {
    server: Server,
    directory: TempDir,
}

impl Setting {
    fn new() -> Self {
        Self {
            server: Server::start(),
            directory: TempDir::new().unwrap(),
        }
    }

    /// Starts a server that has the Test Suite published at `main`.
    fn with_suite() -> Self {
        let setting = Self::new();
        setting.server.github(SUITE, "main", COMMIT, &suite());
        setting
    }

    fn cache(&self) -> Cache {
        Cache::new(self.directory.path())
    }

    fn fetch_with(&self, name: &str, wish: Wish, progress: &dyn Progress) -> Result<(PathBuf, Fetched), FetchError> {
        let fetcher = Fetcher {
            cache: self.cache(),
            homes: self.server.homes(),
            progress,
            retries: Retries {
                attempts: 3,
                first_pause: Duration::from_millis(1),
            },
        };
        fetcher.fetch(source(name).unwrap(), wish)
    }

    fn fetch(&self, name: &str) -> Result<(PathBuf, Fetched), FetchError> {
        self.fetch_with(name, Wish::default(), &())
    }

    /// The error of a fetch that must not look whole afterwards.
    fn fail(&self, name: &str) -> FetchError {
        let error = self.fetch(name).unwrap_err();
        assert!(!matches!(
            self.cache().state(source(name).unwrap()),
            State::Fetched { .. }
        ));
        let manifest = self
            .directory
            .path()
            .join("datasets")
            .join(name)
            .join(COMMIT)
            .join(MANIFEST);
        assert!(!manifest.exists());
        let said = error.to_string();
        assert!(!said.contains("secret"), "{said}");
        error
    }

    fn partials(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.directory.path().join("downloads"));
        let paths = entries.into_iter().flatten().map(|entry| entry.unwrap().path());
        paths
            .filter(|path| path.extension().is_some_and(|extension| extension == "partial"))
            .collect()
    }
}

/// Bytes that do not compress.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 7_u64;
    let next = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

fn files<const N: usize>(files: [(&str, &[u8]); N]) -> Files {
    files
        .into_iter()
        .map(|(path, bytes)| (path.to_owned(), bytes.to_vec()))
        .collect()
}

fn suite() -> Files {
    files([
        ("LICENSE", b"MIT"),
        ("bin/tool", b"not wanted"),
        ("remotes/a b/c.json", b"{}"),
        ("tests/draft2020-12/large.json", &noise(300_000)),
        ("tests/draft2020-12/type.json", b"[]\n"),
    ])
}

fn hard() -> Files {
    let large = noise(300_000);
    files(["three", "five", "seven"].map(|number| {
        let path: &str = Box::leak(format!("bbh/tracking_shuffled_objects_{number}_objects.json").into_boxed_str());
        (path, large.as_slice())
    }))
}

#[test]
fn an_archive_is_fetched_checked_and_found_again() {
    let setting = Setting::with_suite();
    setting
        .server
        .change(&archive_path(SUITE, COMMIT), |page| page.chunked = true);
    let (path, fetched) = setting.fetch("test-suite").unwrap();
    assert_eq!(fs::read(path.join("remotes/a b/c.json")).unwrap(), b"{}");
    assert!(!path.join("bin").exists() && !path.join("tests/link.json").exists());
    assert_eq!(
        (fetched.requested.as_str(), fetched.revision.as_str()),
        ("main", COMMIT)
    );
    let paths: Vec<&str> = fetched.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "LICENSE",
            "remotes/a b/c.json",
            "tests/draft2020-12/large.json",
            "tests/draft2020-12/type.json"
        ]
    );
    assert_eq!(fetched.files[3].hash.to_string(), format!("git-blob:{}", blob(b"[]\n")));
    fetched.verify(&path).unwrap();
    assert!(setting.partials().is_empty());
    let state = setting.cache().state(source("test-suite").unwrap());
    assert!(matches!(state, State::Fetched { path: found, .. } if found == path));

    setting.server.requests();
    setting.fetch("test-suite").unwrap();
    assert_eq!(setting.server.requests().len(), 1, "only the branch is looked up");
    let wish = |wish: Wish<'static>| setting.fetch_with("test-suite", wish, &());
    let revision = Some(COMMIT);
    wish(Wish {
        revision,
        ..Wish::default()
    })
    .unwrap();
    for revision in [None, Some("main"), Some(COMMIT)] {
        wish(Wish {
            revision,
            offline: true,
            force: false,
        })
        .unwrap();
    }
    assert!(setting.server.requests().is_empty());
    fs::write(path.join("LICENSE"), "changed").unwrap();
    wish(Wish {
        force: true,
        ..Wish::default()
    })
    .unwrap();
    assert_eq!(fs::read(path.join("LICENSE")).unwrap(), b"MIT");
}

#[test]
fn verifying_names_what_differs() {
    let setting = Setting::with_suite();
    let (path, fetched) = setting.fetch("test-suite").unwrap();
    fs::write(path.join("LICENSE"), "MIX").unwrap();
    fs::write(path.join("remotes/a b/c.json"), "{").unwrap();
    fs::remove_file(path.join("tests/draft2020-12/type.json")).unwrap();
    let said = fetched.verify(&path).unwrap_err().to_string();
    for needle in [
        "LICENSE has git-blob:",
        "c.json has 1 bytes, not 2",
        "type.json is missing",
        "--force",
    ] {
        assert!(said.contains(needle), "{said}");
    }
}

#[test]
fn a_dropped_connection_is_continued() {
    let setting = Setting::with_suite();
    let archive = archive_path(SUITE, COMMIT);
    setting.server.change(&archive, |page| page.cut = Some((100_000, 2)));
    setting.fetch("test-suite").unwrap();
    let requests = setting.server.requests();
    let ranges: Vec<&String> = requests.iter().filter(|request| request.contains(" range=")).collect();
    assert_eq!(ranges.len(), 2, "{requests:?}");
    assert!(
        ranges[0].contains("range=bytes=100000- if-range=\"first\""),
        "{requests:?}"
    );
    assert!(ranges[1].contains("range=bytes=200000-"), "{requests:?}");
}

#[test]
fn a_later_run_continues_or_starts_over() {
    for (changed, ranges) in [(false, true), (true, true), (false, false)] {
        let setting = Setting::with_suite();
        let archive = archive_path(SUITE, COMMIT);
        setting.server.change(&archive, |page| page.cut = Some((50_000, 3)));
        let error = setting.fail("test-suite");
        assert!(
            matches!(
                error,
                FetchError::Truncated {
                    got: 150_000,
                    expected: Some(_),
                    ..
                }
            ),
            "{error}"
        );
        assert_eq!(setting.partials().len(), 1);
        setting.server.change(&archive, |page| {
            page.cut = None;
            page.ranges = ranges;
            if changed {
                // Another archive of the same files, as a server may make at any time.
                page.body = gzip(&gzip_contents(&page.body));
                page.headers = vec![("etag", "\"second\"".to_owned())];
            }
        });
        setting.server.requests();
        let (path, fetched) = setting.fetch("test-suite").unwrap();
        fetched.verify(&path).unwrap();
        let requests = setting.server.requests();
        assert!(
            requests.iter().any(|request| request.contains("range=bytes=150000-")),
            "{requests:?}"
        );
        assert!(setting.partials().is_empty());
    }
}

fn gzip_contents(bytes: &[u8]) -> Vec<u8> {
    let mut contents = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(bytes), &mut contents).unwrap();
    contents
}

#[test]
fn an_archive_that_ends_early_is_a_typed_error() {
    // Sent whole as far as the connection tells, or cut off without a length.
    for (cut, chunked) in [(None, false), (Some((120_000, usize::MAX)), true)] {
        let setting = Setting::with_suite();
        setting.server.change(&archive_path(SUITE, COMMIT), |page| {
            // As GitHub sends archives: no length, no parts.
            page.chunked = chunked;
            page.ranges = !chunked;
            page.cut = cut;
            if cut.is_none() {
                page.body.truncate(120_000);
            }
        });
        let error = setting.fail("test-suite");
        match cut {
            None => assert!(matches!(error, FetchError::ArchiveEnds { .. }), "{error}"),
            Some(_) => assert!(matches!(error, FetchError::Truncated { .. }), "{error}"),
        }
        assert!(error.to_string().contains("run the command again"), "{error}");
        assert_eq!(setting.partials().len(), 1, "it is kept");
        setting.server.github(SUITE, "main", COMMIT, &suite());
        setting.fetch("test-suite").unwrap();
    }
}

#[test]
fn wrong_contents_missing_files_and_paths_that_lead_out_are_refused() {
    let setting = Setting::with_suite();
    let archive = archive_path(SUITE, COMMIT);
    let mut changed = suite();
    changed.insert("tests/draft2020-12/type.json".to_owned(), b"{}\n".to_vec());
    setting.server.change(&archive, |page| page.body = tarball(&changed));
    let error = setting.fail("test-suite");
    let said = error.to_string();
    assert!(matches!(error, FetchError::Mismatch { .. }), "{said}");
    for needle in ["type.json", &blob(b"[]\n"), &blob(b"{}\n"), "removed"] {
        assert!(said.contains(needle), "{said}");
    }
    assert!(setting.partials().is_empty());

    changed.insert("tests/draft2020-12/type.json".to_owned(), vec![b' '; 4]);
    setting.server.change(&archive, |page| page.body = tarball(&changed));
    assert!(matches!(setting.fail("test-suite"), FetchError::Mismatch { .. }));

    changed.remove("tests/draft2020-12/type.json");
    setting.server.change(&archive, |page| page.body = tarball(&changed));
    let error = setting.fail("test-suite");
    assert!(
        matches!(&error, FetchError::Missing { path, count: 1, .. } if path.ends_with("type.json")),
        "{error}"
    );

    for outside in [
        "repository-main/../../outside",
        "/outside",
        "repository-main/tests/../../outside",
    ] {
        let mut builder = tar::Builder::new(Vec::new());
        append(&mut builder, outside, b"x");
        setting
            .server
            .change(&archive, |page| page.body = gzip(&builder.into_inner().unwrap()));
        let error = setting.fail("test-suite");
        assert!(
            matches!(&error, FetchError::UnsafePath { path, .. } if path == outside),
            "{error}"
        );
    }
    assert!(!setting.directory.path().join("datasets/outside").exists());

    setting
        .server
        .change(&archive, |page| page.body = b"<html>not an archive".to_vec());
    assert!(matches!(setting.fail("test-suite"), FetchError::ArchiveDamaged { .. }));
    let broken = gzip(
        b"not a tar archive, but long enough to be taken for the header of one"
            .repeat(20)
            .as_slice(),
    );
    setting.server.change(&archive, |page| page.body = broken);
    assert!(matches!(setting.fail("test-suite"), FetchError::ArchiveDamaged { .. }));
}

#[test]
fn failures_of_servers_are_told_apart_and_passing_ones_repeated() {
    let setting = Setting::with_suite();
    let branch = format!("/api/repos/{SUITE}/commits/main");
    setting.server.change(&branch, |page| page.unavailable = 2);
    setting.fetch("test-suite").unwrap();

    let setting = Setting::with_suite();
    setting.server.change(&branch, |page| page.unavailable = 3);
    assert!(matches!(
        setting.fail("test-suite"),
        FetchError::Failed { status: 503, .. }
    ));
    setting.server.pages().remove(&archive_path(SUITE, COMMIT));
    let error = setting.fail("test-suite");
    assert!(matches!(error, FetchError::NotFound { status: 404, .. }) && error.to_string().contains("--revision"));
    let limited = Page {
        status: 403,
        ..Page::new("")
    }
    .with("x-ratelimit-remaining", "0");
    setting.server.put(&branch, limited);
    let error = setting.fail("test-suite");
    assert!(matches!(error, FetchError::Refused { .. }) && error.to_string().contains("set GITHUB_TOKEN"));

    let Setting { server, directory } = setting;
    let homes = server.homes();
    drop(server);
    let fetcher = Fetcher {
        cache: Cache::new(directory.path()),
        homes,
        progress: &(),
        retries: Retries {
            attempts: 1,
            first_pause: Duration::ZERO,
        },
    };
    let error = fetcher
        .fetch(source("test-suite").unwrap(), Wish::default())
        .unwrap_err();
    assert!(
        matches!(error, FetchError::Unreachable { .. }) && error.to_string().contains("--offline"),
        "{error}"
    );
}

#[test]
fn offline_without_a_copy_says_so_and_asks_nobody() {
    let setting = Setting::with_suite();
    let wish = Wish {
        offline: true,
        ..Wish::default()
    };
    let error = setting.fetch_with("test-suite", wish, &()).unwrap_err();
    assert!(matches!(error, FetchError::Offline { .. }), "{error}");
    assert!(
        error
            .to_string()
            .contains(&setting.directory.path().display().to_string()),
        "{error}"
    );
    setting.fetch("test-suite").unwrap();
    let wish = Wish {
        revision: Some("v2"),
        ..wish
    };
    assert!(matches!(
        setting.fetch_with("test-suite", wish, &()),
        Err(FetchError::Offline { .. })
    ));
    assert!(setting.server.requests().iter().all(|request| !request.contains("v2")));
}

/// Stops after some questions whether to.
struct StopAfter(Cell<usize>);

impl Progress for StopAfter {
    fn stopped(&self) -> bool {
        let left = self.0.get();
        self.0.set(left.saturating_sub(1));
        left == 0
    }
}

#[test]
fn an_interrupted_fetch_is_never_taken_for_whole() {
    let mut interrupted = 0;
    for name in ["test-suite", "bbh"] {
        for questions in 0.. {
            let setting = Setting::with_suite();
            setting.server.github(HARD, "main", COMMIT, &hard());
            let source = source(name).unwrap();
            match setting.fetch_with(name, Wish::default(), &StopAfter(Cell::new(questions))) {
                Ok(_) => break,
                Err(FetchError::Interrupted) => interrupted += 1,
                Err(error) => panic!("{error}"),
            }
            assert!(
                !matches!(setting.cache().state(source), State::Fetched { .. }),
                "{questions}"
            );
            let (path, fetched) = setting.fetch(name).unwrap();
            fetched.verify(&path).unwrap();
        }
    }
    assert!(interrupted > 10, "{interrupted}");
}
