//! Files on disk, read up to a limit and written with the directories they are in; errors name the path.

use std::fs::{self, File};
use std::path::Path;

use crate::error::ModelError;

/// Reads a file of at most `limit` bytes.
pub(crate) fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, ModelError> {
    let failed = |source| ModelError::cannot_read(path, source);
    let bytes = fs::metadata(path).map_err(failed)?.len();
    if bytes > limit {
        return Err(ModelError::FileTooLarge {
            file: path.display().to_string(),
            bytes,
            limit,
        });
    }
    fs::read(path).map_err(failed)
}

/// Writes `bytes` to `path`, whose directory is created.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), ModelError> {
    create_parent(path)?;
    fs::write(path, bytes).map_err(|source| ModelError::cannot_write(path, source))
}

/// Creates `path` for writing, with its directory.
pub(crate) fn create_file(path: &Path) -> Result<File, ModelError> {
    create_parent(path)?;
    File::create(path).map_err(|source| ModelError::cannot_write(path, source))
}

/// Creates the directory that `path` is in.
pub(crate) fn create_parent(path: &Path) -> Result<(), ModelError> {
    let directory = path.parent().unwrap_or(path);
    fs::create_dir_all(directory).map_err(|source| ModelError::cannot_write(directory, source))
}
