//! The datasets of a directory, found by their layout.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::error::{DatasetError, InstanceError, InstanceErrorKind};
use super::{Instance, MAX_SCHEMA_BYTES};

/// Files of one dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Files {
    /// One schema per file.
    Json(Vec<PathBuf>),
    /// Many schemas per file.
    Parquet(Vec<PathBuf>),
}

/// The datasets in `directory`, or else in its subdirectory `data`, or else the one that `directory` itself is.
pub(super) fn find(directory: &Path) -> Result<Vec<(String, Files)>, DatasetError> {
    if directory.is_file() {
        return Err(DatasetError::IsFile {
            path: directory.to_owned(),
        });
    }
    if !directory.is_dir() {
        return Err(DatasetError::NoDirectory {
            path: directory.to_owned(),
        });
    }
    let data = directory.join("data");
    if data.is_dir() {
        let found = find_layout(&data)?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    let found = find_layout(directory)?;
    if !found.is_empty() {
        return Ok(found);
    }
    let own = files_of(&list(directory)?);
    match (own, own_name(directory)) {
        (Some(files), Some(name)) => Ok(vec![(name, files)]),
        _ => Err(DatasetError::NothingFound {
            path: directory.to_owned(),
        }),
    }
}

/// `NAME/*.json`, `NAME/*.parquet` and `NAME-*.parquet` in `directory`, sorted by name.
fn find_layout(directory: &Path) -> Result<Vec<(String, Files)>, DatasetError> {
    let mut found: Vec<(String, Files)> = Vec::new();
    for path in list(directory)? {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            continue;
        };
        if path.is_dir() {
            if let Some(files) = files_of(&list(&path)?) {
                found.push((name.to_owned(), files));
            }
        } else if let Some((name, _)) = name.split_once('-')
            && has_extension(&path, "parquet")
        {
            match found.last_mut() {
                Some((last, Files::Parquet(files))) if last == name => files.push(path.clone()),
                _ => found.push((name.to_owned(), Files::Parquet(vec![path.clone()]))),
            }
        }
    }
    found.sort_by(|(left, _), (right, _)| left.cmp(right));
    Ok(found)
}

/// The schemas among `paths`: the JSON files if there are any, else the parquet files.
fn files_of(paths: &[PathBuf]) -> Option<Files> {
    let with = |extension| -> Vec<PathBuf> {
        paths
            .iter()
            .filter(|path| has_extension(path, extension))
            .cloned()
            .collect()
    };
    let json = with("json");
    if !json.is_empty() {
        return Some(Files::Json(json));
    }
    let parquet = with("parquet");
    (!parquet.is_empty()).then_some(Files::Parquet(parquet))
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension()
        .is_some_and(|found| found.eq_ignore_ascii_case(extension))
        && !path.is_dir()
}

/// Lists the entries of `directory`, sorted by name, hidden ones left out.
fn list(directory: &Path) -> Result<Vec<PathBuf>, DatasetError> {
    let unreadable = |source| DatasetError::Unreadable {
        path: directory.to_owned(),
        source,
    };
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        if !entry.file_name().as_encoded_bytes().starts_with(b".") {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

fn own_name(directory: &Path) -> Option<String> {
    let full = fs::canonicalize(directory).ok()?;
    Some(full.file_name()?.to_string_lossy().into_owned())
}

/// The instance in the file at `path`.
pub(super) fn read_json(dataset: &str, path: &Path) -> Instance {
    let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    match read_bounded(path) {
        Ok(bytes) => Instance::new(dataset, id, Some(path), None, bytes),
        Err(kind) => Instance {
            schema: Err(InstanceError::new(dataset, &id, Some(path), None, kind)),
            id,
        },
    }
}

fn read_bounded(path: &Path) -> Result<Vec<u8>, InstanceErrorKind> {
    let unreadable = |error: std::io::Error| InstanceErrorKind::Unreadable(error.to_string());
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        // Opening a pipe would wait for a writer.
        return Err(InstanceErrorKind::Unreadable("not a regular file".to_owned()));
    }
    if metadata.len() > MAX_SCHEMA_BYTES as u64 {
        return Err(InstanceErrorKind::TooLarge { bytes: metadata.len() });
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(MAX_SCHEMA_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    Ok(bytes)
}
