//! [`Cache`]: the directory that fetched data is kept in.
//!
//! ```text
//! ROOT/datasets/SOURCE/current            the commit fetched last
//! ROOT/datasets/SOURCE/COMMIT/…           its files
//! ROOT/datasets/SOURCE/COMMIT/fetched.json  what they are; written last
//! ROOT/downloads/…                        what is not complete yet
//! ```

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::error::FetchError;
use super::manifest::{Fetched, is_hex};
use super::sources::Source;

/// Name of the file that makes a directory of fetched files whole.
pub const MANIFEST: &str = "fetched.json";
/// Name of the file that names the commit fetched last.
const CURRENT: &str = "current";
/// The limit on the bytes of a manifest that is read.
const MANIFEST_BYTES_LIMIT: u64 = 256 << 20;

/// The directory that fetched data is kept in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    root: PathBuf,
}

/// State of a source in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// No part of the source is there.
    NotFetched,
    /// Parts are there, of a fetch that did not end.
    Incomplete,
    /// The whole source is there.
    Fetched {
        /// Directory of the source.
        path: PathBuf,
        /// The manifest of the fetched files.
        fetched: Box<Fetched>,
    },
}

impl Cache {
    /// The cache in the directory `root`, which need not exist.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The user's cache: `MASKWRIGHT_CACHE`, or else `maskwright` in `XDG_CACHE_HOME` or in the system's directory of
    /// caches (`~/.cache`, `~/Library/Caches` on macOS, `%LOCALAPPDATA%` on Windows).
    ///
    /// # Errors
    ///
    /// [`FetchError::NoCacheDirectory`], where none of them is known.
    pub fn from_environment() -> Result<Self, FetchError> {
        let directory = |name: &str| {
            let path = PathBuf::from(std::env::var_os(name)?);
            (!path.as_os_str().is_empty()).then_some(path)
        };
        if let Some(root) = directory("MASKWRIGHT_CACHE") {
            return Ok(Self::new(root));
        }
        let home = || std::env::home_dir().filter(|home| home.is_absolute());
        let system = || match std::env::consts::OS {
            "windows" => directory("LOCALAPPDATA"),
            "macos" => Some(home()?.join("Library").join("Caches")),
            _ => Some(home()?.join(".cache")),
        };
        // The XDG specification has relative paths ignored.
        let caches = directory("XDG_CACHE_HOME").filter(|path| path.is_absolute());
        let caches = caches.or_else(system).ok_or(FetchError::NoCacheDirectory)?;
        Ok(Self::new(caches.join("maskwright")))
    }

    /// Returns the directory of the cache.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The directory of all revisions of `source`.
    pub(super) fn source(&self, source: &Source) -> PathBuf {
        self.root.join("datasets").join(source.name)
    }

    /// The directory of `source` at `commit`.
    pub(super) fn revision(&self, source: &Source, commit: &str) -> PathBuf {
        self.source(source).join(commit)
    }

    /// The directory of incomplete downloads.
    pub(super) fn downloads(&self) -> PathBuf {
        self.root.join("downloads")
    }

    /// Returns the state of `source` in the cache, at the revision fetched last.
    pub fn state(&self, source: &Source) -> State {
        match self.find(source, None) {
            Some((path, fetched)) => State::Fetched {
                path,
                fetched: Box::new(fetched),
            },
            None if has_directories(&self.source(source)) => State::Incomplete,
            None => State::NotFetched,
        }
    }

    /// The directory with all of `source` at the revision fetched last.
    pub fn current(&self, source: &Source) -> Option<PathBuf> {
        let commit = fs::read_to_string(self.source(source).join(CURRENT)).ok()?;
        let directory = is_hex(commit.trim(), 40).then(|| self.revision(source, commit.trim()))?;
        directory.join(MANIFEST).is_file().then_some(directory)
    }

    /// Finds the directory and manifest of `source` at a revision, or at the one fetched last.
    pub(super) fn find(&self, source: &Source, revision: Option<&str>) -> Option<(PathBuf, Fetched)> {
        let at = |commit: &str| {
            let path = self.revision(source, commit);
            read_manifest(&path).map(|fetched| (path, fetched))
        };
        match revision {
            None => {
                let path = self.current(source)?;
                read_manifest(&path).map(|fetched| (path, fetched))
            }
            Some(commit) if is_hex(commit, 40) => at(&commit.to_ascii_lowercase()),
            // A branch or tag: the last of the fetches that asked for it.
            Some(revision) => directories(&self.source(source))
                .filter_map(|path| read_manifest(&path).map(|fetched| (path, fetched)))
                .filter(|(_, fetched)| fetched.requested == revision)
                .max_by(|(_, left), (_, right)| left.fetched_at.cmp(&right.fetched_at)),
        }
    }

    /// Says that all of `source` is there.
    pub(super) fn finish(&self, source: &Source, fetched: &Fetched) -> Result<PathBuf, FetchError> {
        let directory = self.revision(source, &fetched.revision);
        let path = directory.join(MANIFEST);
        let mut text = serde_json::to_vec_pretty(fetched).map_err(|error| FetchError::write(&path, error.into()))?;
        text.push(b'\n');
        write_atomically(&path, &text)?;
        self.set_current(source, &fetched.revision)?;
        Ok(directory)
    }

    /// Makes `commit` the revision that is used.
    pub(super) fn set_current(&self, source: &Source, commit: &str) -> Result<(), FetchError> {
        let path = self.source(source).join(CURRENT);
        match fs::read_to_string(&path) {
            Ok(text) if text.trim() == commit => Ok(()),
            _ => write_atomically(&path, format!("{commit}\n").as_bytes()),
        }
    }

    /// Removes all files of `source` at `commit`, the manifest first, so that files left after a kill are not taken for a
    /// complete fetch.
    pub(super) fn remove(&self, source: &Source, commit: &str) -> Result<(), FetchError> {
        let directory = self.revision(source, commit);
        let absent_is_fine = |result: std::io::Result<()>| match result {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(FetchError::write(&directory, error)),
            _ => Ok(()),
        };
        absent_is_fine(fs::remove_file(directory.join(MANIFEST)))?;
        absent_is_fine(fs::remove_dir_all(&directory))
    }

    /// Waits until no other process fetches `source`. The lock is released when dropped.
    pub(super) fn lock(&self, source: &Source) -> Result<File, FetchError> {
        let path = self.source(source).join(".lock");
        create_parent(&path)?;
        let file = File::create(&path).map_err(|error| FetchError::write(&path, error))?;
        match file.lock() {
            // Without locks, two fetches waste work, but every file is checked before the manifest is written.
            Err(error) if error.kind() != std::io::ErrorKind::Unsupported => Err(FetchError::write(&path, error)),
            _ => Ok(file),
        }
    }
}

/// The manifest of a directory, if it is whole.
fn read_manifest(directory: &Path) -> Option<Fetched> {
    let path = directory.join(MANIFEST);
    if fs::metadata(&path).ok()?.len() > MANIFEST_BYTES_LIMIT {
        return None;
    }
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

fn directories(path: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir())
}

fn has_directories(path: &Path) -> bool {
    directories(path).next().is_some()
}

pub(super) fn create_parent(path: &Path) -> Result<(), FetchError> {
    let directory = path.parent().unwrap_or(path);
    fs::create_dir_all(directory).map_err(|error| FetchError::write(directory, error))
}

/// Writes a file so that it is there whole or not at all.
fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), FetchError> {
    let failed = |error| FetchError::write(path, error);
    create_parent(path)?;
    let beside = path.with_extension("partial");
    let mut file = File::create(&beside).map_err(failed)?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(failed)?;
    drop(file);
    fs::rename(&beside, path).map_err(failed)
}
