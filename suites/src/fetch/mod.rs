//! Public data, fetched from its homes into a cache and checked file by file.
//!
//! 1. [`SOURCES`] is the table of what can be fetched, [`source`] finds an entry;
//! 2. [`Cache`] is the directory it is kept in, [`Cache::state`] says what is there;
//! 3. [`Fetcher::fetch`] brings a source into the cache, or finds it there; [`Fetched::verify`] checks it again.
//!
//! # What can be relied on
//!
//! A revision is a commit, and every file is compared with the hash that its home announces for that commit: git's own hash for
//! files of a GitHub repository, whose archives have no lasting checksum, and SHA-256 for the hub's large files. The manifest
//! [`MANIFEST`] is written last; an incomplete copy is never taken for a complete one. Downloads that break off are kept and
//! continued, in the same run or the next. Paths that lead out of the directory are refused, sizes are limited, and tokens go to
//! the home that issued them and to no one else.

mod archive;
mod cache;
mod download;
mod error;
mod github;
mod homes;
mod http;
mod hub;
mod manifest;
mod sources;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use cache::{Cache, MANIFEST, State};
pub use error::FetchError;
pub use homes::Homes;
pub use manifest::{Fetched, FetchedFile, Hash};
pub use sources::{Home, Layout, SOURCES, Source, source};

use archive::Unpacking;
use download::Download;
use http::Client;

/// The limit on the number of files of a source.
const SOURCE_FILES_LIMIT: usize = 200_000;
/// The limit on the bytes of all files of a source together.
const SOURCE_BYTES_LIMIT: u64 = 2 << 30;
/// The limit on the bytes of an archive that is downloaded.
const ARCHIVE_BYTES_LIMIT: u64 = 1 << 30;

/// Listener to the progress of a fetch, which may also stop it.
pub trait Progress {
    /// Reports the start of a step: a download of that many bytes, or a step of unknown length.
    fn start(&self, _what: &str, _bytes: Option<u64>) {}

    /// Reports the position within the current step.
    fn position(&self, _at: u64) {}

    /// Whether to stop; asked often.
    fn stopped(&self) -> bool {
        false
    }
}

/// Ignores all reports.
impl Progress for () {}

/// Number of attempts at a failing request, and the pause after the first failure; the pause doubles each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries {
    /// Number of attempts in all.
    pub attempts: u32,
    /// The first pause.
    pub first_pause: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            attempts: 4,
            first_pause: Duration::from_millis(500),
        }
    }
}

/// Fetches sources into a cache.
pub struct Fetcher<'a> {
    /// Cache that the sources are kept in.
    pub cache: Cache,
    /// Addresses that the sources come from.
    pub homes: Homes,
    /// Listener to the progress.
    pub progress: &'a dyn Progress,
    /// Attempts and pauses at failing requests.
    pub retries: Retries,
}

/// Options of a fetch: revision, offline, force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wish<'a> {
    /// A branch, tag or commit other than the source's own.
    pub revision: Option<&'a str>,
    /// Whether only the cache is used.
    pub offline: bool,
    /// Whether a source that is in the cache is fetched again.
    pub force: bool,
}

/// A file that a home lists.
struct Listed {
    bytes: u64,
    hash: Hash,
}

impl Fetcher<'_> {
    /// Makes sure that the cache has all of `source`; returns the directory and its manifest.
    ///
    /// # Errors
    ///
    /// [`FetchError`]; the files downloaded until then are kept for the next attempt, unless they are wrong.
    pub fn fetch(&self, source: &Source, wish: Wish) -> Result<(PathBuf, Fetched), FetchError> {
        if wish.offline {
            return self.offline(source, wish.revision);
        }
        let client = Client::new(&self.homes, self.progress, self.retries);
        let requested = wish.revision.unwrap_or(source.revision);
        let commit = resolve(&client, source, requested)?;
        let _lock = self.cache.lock(source)?;
        if !wish.force
            && let Some(found) = self.cache.find(source, Some(&commit))
        {
            self.cache.set_current(source, &commit)?;
            return Ok(found);
        }
        let files = match source.home {
            Home::Hub(_) => hub::list(&client, source, &commit)?,
            Home::GitHubArchive(_) | Home::GitHubFiles(_) => github::list(&client, source, &commit)?,
        };
        check_sizes(&files, &source.home.page())?;
        match source.home {
            Home::GitHubArchive(repository) => self.archive(&client, source, repository, &commit, &files)?,
            Home::GitHubFiles(_) | Home::Hub(_) => self.files(&client, source, &commit, &files, wish.force)?,
        }
        let fetched = fetched(source, requested, commit, files);
        let directory = self.cache.finish(source, &fetched)?;
        Ok((directory, fetched))
    }

    fn offline(&self, source: &Source, revision: Option<&str>) -> Result<(PathBuf, Fetched), FetchError> {
        let found = self.cache.find(source, revision);
        let found = found.ok_or_else(|| FetchError::Offline {
            what: match revision {
                Some(revision) => format!("{} at {revision}", source.name),
                None => source.name.to_owned(),
            },
            cache: self.cache.root().to_owned(),
        })?;
        if revision.is_some() {
            self.cache.set_current(source, &found.1.revision)?;
        }
        Ok(found)
    }

    /// Fetches the archive of a commit and unpacks it.
    fn archive(
        &self,
        client: &Client,
        source: &Source,
        repository: &str,
        commit: &str,
        files: &BTreeMap<String, Listed>,
    ) -> Result<(), FetchError> {
        let url = github::archive_url(client, repository, commit);
        let partial = format!("{}-{commit}.tar.gz.partial", source.name);
        let download = Download {
            url: &url,
            name: source.name,
            partial: self.cache.downloads().join(partial),
            announced: None,
            limit: ARCHIVE_BYTES_LIMIT,
        };
        let directory = self.cache.revision(source, commit);
        let unpacking = Unpacking {
            client,
            url: &url,
            archive: &download.partial,
            wanted: files,
            directory: &directory,
        };
        let attempt = || {
            download.run(client)?;
            // Files of an earlier attempt are written anew, and those of an earlier fetch stay until the archive has come.
            self.cache.remove(source, commit)?;
            unpacking.run()
        };
        let unpacked = match attempt() {
            Err(FetchError::ArchiveEnds { .. }) => attempt(),
            other => other,
        };
        match &unpacked {
            // To be continued.
            Err(FetchError::ArchiveEnds { .. } | FetchError::Interrupted | FetchError::Io { .. }) => {}
            Err(error) if error.may_pass() => {}
            // Unpacked, or not worth keeping.
            _ => download.discard(),
        }
        unpacked
    }

    /// Fetches files one by one; those that are there and as they should be are kept, unless `all` are to be fetched again.
    fn files(
        &self,
        client: &Client,
        source: &Source,
        commit: &str,
        files: &BTreeMap<String, Listed>,
        all: bool,
    ) -> Result<(), FetchError> {
        let directory = self.cache.revision(source, commit);
        for (path, listed) in files {
            let target = directory.join(path);
            if !all && manifest::problem(&target, &listed.file(path)).is_none() {
                continue;
            }
            let repository = source.home.repository();
            let url = match source.home {
                Home::Hub(_) => hub::file_url(client, repository, commit, path),
                _ => github::file_url(client, repository, commit, path),
            };
            let download = Download {
                url: &url,
                name: path,
                partial: self.cache.downloads().join(format!("{}.partial", listed.hash.hex())),
                announced: Some((listed.bytes, &listed.hash)),
                limit: listed.bytes,
            };
            download.run(client)?;
            download.keep_as(&target)?;
        }
        Ok(())
    }
}

/// The commit that a revision of `source` is. A commit is known without asking.
fn resolve(client: &Client, source: &Source, revision: &str) -> Result<String, FetchError> {
    if manifest::is_hex(revision, 40) {
        return Ok(revision.to_ascii_lowercase());
    }
    client.progress.start(&format!("{}: {revision}", source.name), None);
    match source.home {
        Home::Hub(repository) => hub::resolve(client, repository, revision),
        Home::GitHubArchive(repository) | Home::GitHubFiles(repository) => {
            github::resolve(client, repository, revision)
        }
    }
}

fn fetched(source: &Source, requested: &str, commit: String, files: BTreeMap<String, Listed>) -> Fetched {
    Fetched {
        source: source.name.to_owned(),
        url: source.home.page(),
        licence: source.licence.to_owned(),
        requested: requested.to_owned(),
        revision: commit,
        fetched_at: jiff::Timestamp::now().to_string(),
        bytes: files.values().map(|listed| listed.bytes).sum(),
        files: files.iter().map(|(path, listed)| listed.file(path)).collect(),
    }
}

impl Listed {
    fn file(&self, path: &str) -> FetchedFile {
        FetchedFile {
            path: path.to_owned(),
            bytes: self.bytes,
            hash: self.hash.clone(),
        }
    }
}

/// Takes up a file that a home lists, within limits.
fn add_listed(files: &mut BTreeMap<String, Listed>, url: &str, path: String, listed: Listed) -> Result<(), FetchError> {
    if !manifest::is_safe(&path) || path == MANIFEST {
        return Err(FetchError::UnsafePath {
            url: url.to_owned(),
            path,
        });
    }
    let too_large = |what: &str, limit: String| FetchError::TooLarge {
        what: what.to_owned(),
        url: url.to_owned(),
        limit,
    };
    if listed.bytes > SOURCE_BYTES_LIMIT {
        return Err(too_large(&path, format!("{SOURCE_BYTES_LIMIT} bytes")));
    }
    files.insert(path, listed);
    if files.len() > SOURCE_FILES_LIMIT {
        return Err(too_large("the list", format!("{SOURCE_FILES_LIMIT} files")));
    }
    Ok(())
}

/// Checks the sizes of all files that a home lists together.
fn check_sizes(files: &BTreeMap<String, Listed>, url: &str) -> Result<(), FetchError> {
    let bytes = files.values().map(|listed| listed.bytes).fold(0, u64::saturating_add);
    match bytes > SOURCE_BYTES_LIMIT {
        false => Ok(()),
        true => Err(FetchError::TooLarge {
            what: "the list".to_owned(),
            url: url.to_owned(),
            limit: format!("{SOURCE_BYTES_LIMIT} bytes in all"),
        }),
    }
}

/// The directories to look for `source` in, below `place`: named after it or its repository, or `place` itself.
pub(crate) fn copies(source: &Source, place: &Path) -> Option<PathBuf> {
    let names = [source.name, source.checkout(), ""];
    let mut roots = names.iter().flat_map(|name| {
        let copy = if name.is_empty() {
            place.to_owned()
        } else {
            place.join(name)
        };
        source
            .layout
            .roots
            .iter()
            .map(move |root| if root.is_empty() { copy.clone() } else { copy.join(root) })
    });
    roots.find(|root| fs::metadata(root.join(source.layout.marker)).is_ok())
}
