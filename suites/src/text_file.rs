//! Reading a file of the public suites: whole, bounded, UTF-8, one JSON document.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::dataset::MAX_SCHEMA_BYTES;
use crate::json_text::{GIT_LFS_POINTER, is_git_lfs_pointer};
use crate::strict_json::{self, JsonError};

/// Largest nesting depth of arrays and objects in a file; the deepest of MaskBench has 63.
const MAX_FILE_DEPTH: usize = 512;

/// Error of reading a file of a public suite.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file system refused.
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// The file is larger than any of the public ones.
    #[error("{} has more than {MAX_SCHEMA_BYTES} bytes: split it, or leave it out", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// Git LFS has left a pointer in place of the file.
    #[error("{} {GIT_LFS_POINTER}", path.display())]
    GitLfsPointer {
        /// The file.
        path: PathBuf,
    },
    /// The bytes are not UTF-8.
    #[error("{} is not UTF-8: invalid bytes at offset {offset}; unpack it again", path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// Offset of the first invalid byte.
        offset: usize,
    },
    /// The text is not one JSON document.
    #[error("{} is not JSON: {error}; unpack it again", path.display())]
    NotJson {
        /// The file.
        path: PathBuf,
        /// The JSON error, with its place.
        error: JsonError,
    },
    /// The document is not built as files of this suite are.
    #[error("{}: expected {expected} at `{pointer}`; is this a file of the suite?", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// JSON Pointer to the place.
        pointer: String,
        /// The expected contents.
        expected: &'static str,
    },
}

/// The JSON document in the file at `path`. Of a name given twice the last value is kept, as Python does.
pub(crate) fn read_json(path: &Path) -> Result<Value, FileError> {
    let text = read_text(path)?;
    let document = strict_json::parse(&text, MAX_FILE_DEPTH).map_err(|error| FileError::NotJson {
        path: path.to_owned(),
        error,
    })?;
    Ok(document.value)
}

/// The bytes of the file at `path`, unless it is too large.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, FileError> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_SCHEMA_BYTES as u64 + 1).read_to_end(&mut bytes))
        .map_err(|source| unreadable(path, source))?;
    if bytes.len() > MAX_SCHEMA_BYTES {
        return Err(FileError::TooLarge { path: path.to_owned() });
    }
    Ok(bytes)
}

pub(crate) fn read_text(path: &Path) -> Result<String, FileError> {
    let bytes = read_bytes(path)?;
    if is_git_lfs_pointer(&bytes) {
        return Err(FileError::GitLfsPointer { path: path.to_owned() });
    }
    String::from_utf8(bytes).map_err(|error| FileError::NotUtf8 {
        path: path.to_owned(),
        offset: error.utf8_error().valid_up_to(),
    })
}

/// The regular files `*.json` in `directory`, sorted by name; hidden ones are left out.
pub(crate) fn json_files(directory: &Path) -> Result<Vec<PathBuf>, FileError> {
    let mut found = entries(directory)?;
    found.retain(|path| path.extension().is_some_and(|extension| extension == "json") && path.is_file());
    Ok(found)
}

/// Lists the entries of `directory`, sorted by name; hidden ones are left out.
pub(crate) fn entries(directory: &Path) -> Result<Vec<PathBuf>, FileError> {
    let listed = fs::read_dir(directory).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = listed.map_err(|source| unreadable(directory, source))?;
    let mut paths: Vec<PathBuf> = entries
        .iter()
        .filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."))
        .map(fs::DirEntry::path)
        .collect();
    paths.sort();
    Ok(paths)
}

fn unreadable(path: &Path, source: std::io::Error) -> FileError {
    FileError::Unreadable {
        path: path.to_owned(),
        source,
    }
}

/// Place of a value in a file, for errors.
#[derive(Clone)]
pub(crate) struct Place<'a> {
    path: &'a Path,
    pointer: String,
}

impl<'a> Place<'a> {
    /// The whole document in the file at `path`.
    pub(crate) fn root(path: &'a Path) -> Self {
        Self {
            path,
            pointer: String::new(),
        }
    }

    /// The member or item `name` of this place.
    pub(crate) fn at(&self, name: impl std::fmt::Display) -> Self {
        Self {
            path: self.path,
            pointer: format!("{}/{name}", self.pointer),
        }
    }

    /// The error that `expected` is not here.
    pub(crate) fn malformed(&self, expected: &'static str) -> FileError {
        FileError::Malformed {
            path: self.path.to_owned(),
            pointer: self.pointer.clone(),
            expected,
        }
    }

    /// The member `name` of `value`, which stands here, as `read` takes it.
    pub(crate) fn member<'v, T>(
        &self,
        value: &'v Value,
        name: &str,
        expected: &'static str,
        read: impl FnOnce(&'v Value) -> Option<T>,
    ) -> Result<T, FileError> {
        let found = value.get(name).and_then(read);
        found.ok_or_else(|| self.at(name).malformed(expected))
    }
}
