//! The directory of a run: `manifest.json`, `records.jsonl`, and the tables made of them.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::hash::Hash;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::manifest::Manifest;
use super::progress;

/// Name of the manifest's file.
pub const MANIFEST: &str = "manifest.json";
/// Name of the records' file.
pub const RECORDS: &str = "records.jsonl";

/// A run's directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RunDirectoryError {
    /// The file system refused, for instance because the disk is full.
    #[error("cannot write {}: {source}; records so far are kept, continue with --resume", path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The file system refused to read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// A new run was to be written over another.
    #[error("{} holds a run already: continue it with --resume, or choose another --out", path.display())]
    Exists {
        /// The directory.
        path: PathBuf,
    },
    /// There is no run to resume.
    #[error("there is no run to resume in {}: start it without --resume", path.display())]
    NothingToResume {
        /// The directory.
        path: PathBuf,
    },
    /// A file of the run is damaged.
    #[error("{}, line {line}: {message}; remove the line or start a new run", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// 1-based line number.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// The run to resume measured something else.
    #[error("the run in {} cannot be resumed with these options: {difference}", path.display())]
    OtherRun {
        /// The directory.
        path: PathBuf,
        /// The first thing that differs.
        difference: String,
    },
}

/// A line of the records' file.
pub trait Recorded: Serialize + DeserializeOwned {
    /// What a record is about; there is one record for each key in a run.
    type Key: Clone + Eq + Hash;

    /// What this record is about.
    fn key(&self) -> &Self::Key;

    /// Whether the record stands. One that does not is measured again when the run is resumed, and its line in the file
    /// counts for nothing once a later one has the same key.
    fn is_final(&self) -> bool {
        true
    }
}

/// A run being written. Every record is on disk before the next is measured.
#[derive(Debug)]
pub struct RunDirectory<R: Recorded> {
    path: PathBuf,
    records: Vec<R>,
    keys: HashSet<R::Key>,
    failures: HashMap<R::Key, usize>,
    file: File,
}

impl<R: Recorded> RunDirectory<R> {
    /// Starts a run in `path`, which must not hold one.
    ///
    /// # Errors
    ///
    /// [`RunDirectoryError::Exists`] or [`RunDirectoryError::Write`].
    pub fn create<S: Serialize>(path: &Path, manifest: &Manifest<S>) -> Result<Self, RunDirectoryError> {
        if path.join(RECORDS).exists() || path.join(MANIFEST).exists() {
            return Err(RunDirectoryError::Exists { path: path.to_owned() });
        }
        fs::create_dir_all(path).map_err(|source| write_error(path, source))?;
        write_whole(&path.join(MANIFEST), &manifest.to_json())?;
        let records = path.join(RECORDS);
        Ok(Self {
            path: path.to_owned(),
            records: Vec::new(),
            keys: HashSet::new(),
            failures: HashMap::new(),
            file: append_to(&records)?,
        })
    }

    /// Continues the run in `path`, if it measured the same as `manifest` says.
    ///
    /// A last line that a killed run left unfinished is dropped, and records that are not final are left out of account;
    /// both will be measured again.
    ///
    /// # Errors
    ///
    /// [`RunDirectoryError`], every variant but `Exists`.
    pub fn resume<S>(path: &Path, manifest: &Manifest<S>) -> Result<Self, RunDirectoryError>
    where
        S: Serialize + DeserializeOwned,
    {
        let manifest_path = path.join(MANIFEST);
        let text = match fs::read_to_string(&manifest_path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(RunDirectoryError::NothingToResume { path: path.to_owned() });
            }
            other => other.map_err(|source| read_error(&manifest_path, source))?,
        };
        let known = Manifest::<S>::from_json(&text).map_err(|error| RunDirectoryError::Damaged {
            line: error.line(),
            message: error.to_string(),
            path: manifest_path,
        })?;
        if let Some(difference) = known.difference(manifest) {
            return Err(RunDirectoryError::OtherRun {
                path: path.to_owned(),
                difference,
            });
        }
        let records_path = path.join(RECORDS);
        let (mut records, whole_bytes) = read_records::<R>(&records_path)?;
        let mut failures: HashMap<R::Key, usize> = HashMap::new();
        for record in records.iter().filter(|record| !record.is_final()) {
            *failures.entry(record.key().clone()).or_default() += 1;
        }
        records.retain(Recorded::is_final);
        let file = append_to(&records_path)?;
        file.set_len(whole_bytes as u64)
            .map_err(|source| write_error(&records_path, source))?;
        Ok(Self {
            path: path.to_owned(),
            keys: records.iter().map(|record| record.key().clone()).collect(),
            records,
            failures,
            file,
        })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All records so far, those of the resumed run first.
    pub fn records(&self) -> &[R] {
        &self.records
    }

    /// Whether there is a final record for `key`.
    pub fn has(&self, key: &R::Key) -> bool {
        self.keys.contains(key)
    }

    /// How often earlier runs came to no final record for `key`.
    pub fn failures(&self, key: &R::Key) -> usize {
        self.failures.get(key).copied().unwrap_or(0)
    }

    /// Adds a record, on disk first.
    ///
    /// # Errors
    ///
    /// [`RunDirectoryError::Write`]; a line written in part is dropped on resuming.
    pub fn add(&mut self, record: R) -> Result<(), RunDirectoryError> {
        let path = self.path.join(RECORDS);
        let mut line = serde_json::to_vec(&record).map_err(|error| write_error(&path, error.into()))?;
        line.push(b'\n');
        self.file
            .write_all(&line)
            .and_then(|()| self.file.flush())
            .map_err(|source| write_error(&path, source))?;
        if record.is_final() {
            self.keys.insert(record.key().clone());
        }
        self.records.push(record);
        Ok(())
    }

    /// Writes a file beside the records, replacing it in one step.
    ///
    /// # Errors
    ///
    /// [`RunDirectoryError::Write`].
    pub fn write(&self, name: &str, content: &str) -> Result<(), RunDirectoryError> {
        write_whole(&self.path.join(name), content)
    }

    /// Tells the user where the run's files are.
    pub fn say_where(&self) {
        progress::say(&format!("records, manifest and tables are in {}", self.path.display()));
    }
}

/// The whole lines of a records file, and their length in bytes.
fn read_records<R: Recorded>(path: &Path) -> Result<(Vec<R>, usize), RunDirectoryError> {
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        other => other.map_err(|source| read_error(path, source))?,
    };
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
    let mut records = Vec::new();
    for (index, line) in bytes[..whole].split(|&byte| byte == b'\n').enumerate() {
        if line.is_empty() {
            continue;
        }
        let record = serde_json::from_slice(line).map_err(|error| RunDirectoryError::Damaged {
            path: path.to_owned(),
            line: index + 1,
            message: error.to_string(),
        })?;
        records.push(record);
    }
    Ok((records, whole))
}

fn append_to(path: &Path) -> Result<File, RunDirectoryError> {
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .map_err(|source| write_error(path, source))
}

fn write_whole(path: &Path, content: &str) -> Result<(), RunDirectoryError> {
    let partial = path.with_extension("partial");
    fs::write(&partial, content)
        .and_then(|()| fs::rename(&partial, path))
        .map_err(|source| write_error(path, source))
}

fn write_error(path: &Path, source: io::Error) -> RunDirectoryError {
    RunDirectoryError::Write {
        path: path.to_owned(),
        source,
    }
}

fn read_error(path: &Path, source: io::Error) -> RunDirectoryError {
    RunDirectoryError::Read {
        path: path.to_owned(),
        source,
    }
}
