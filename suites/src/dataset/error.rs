//! Errors of a dataset as a whole, and of one of its rows.

use std::fmt;
use std::path::{Path, PathBuf};

use super::MAX_SCHEMA_BYTES;
use crate::json_text::GIT_LFS_POINTER;
use crate::strict_json::JsonError;

/// Error of one instance of a dataset, which has no schema. A run records it and goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceError {
    dataset: String,
    id: String,
    file: Option<PathBuf>,
    row: Option<usize>,
    kind: InstanceErrorKind,
}

/// The ways in which a row cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InstanceErrorKind {
    /// The file, or the part of it that holds the row, could not be read.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// The text is empty, or whitespace only.
    #[error("is empty")]
    Empty,
    /// The row has a null, or a value that is not a string, where the schema should be.
    #[error("has no text in column `{column}`")]
    NoText {
        /// Name of the column.
        column: &'static str,
    },
    /// Git LFS has left a pointer in place of the file.
    #[error("{GIT_LFS_POINTER}")]
    GitLfsPointer,
    /// The bytes are not UTF-8.
    #[error("is not UTF-8: invalid bytes at offset {offset}")]
    NotUtf8 {
        /// Offset of the first invalid byte.
        offset: usize,
    },
    /// The text is not one JSON document.
    #[error("is not JSON: {0}")]
    NotJson(JsonError),
    /// The schema is larger than [`MAX_SCHEMA_BYTES`].
    #[error("has {bytes} bytes, over the limit of {MAX_SCHEMA_BYTES}")]
    TooLarge {
        /// Size of the schema in bytes.
        bytes: u64,
    },
}

impl InstanceError {
    pub(super) fn new(
        dataset: &str,
        id: &str,
        file: Option<&Path>,
        row: Option<usize>,
        kind: InstanceErrorKind,
    ) -> Self {
        Self {
            dataset: dataset.to_owned(),
            id: id.to_owned(),
            file: file.map(Path::to_owned),
            row,
            kind,
        }
    }

    /// Name of the dataset.
    pub fn dataset(&self) -> &str {
        &self.dataset
    }

    /// Id of the instance.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The file that holds the row, where there is one.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Number of the row in a file of many, from 0.
    pub fn row(&self) -> Option<usize> {
        self.row
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> &InstanceErrorKind {
        &self.kind
    }
}

impl fmt::Display for InstanceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.dataset, self.id)?;
        match (&self.file, self.row) {
            (Some(file), Some(row)) => write!(f, " ({}, row {row})", file.display())?,
            (Some(file), None) => write!(f, " ({})", file.display())?,
            (None, Some(row)) => write!(f, " (row {row})")?,
            (None, None) => {}
        }
        write!(f, " {}", self.kind)
    }
}

impl std::error::Error for InstanceError {}

/// Error of finding datasets.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// The directory does not exist or is not one.
    #[error("there is no directory {path}: unpack JSONSchemaBench there, or give the directory that holds it")]
    NoDirectory {
        /// The directory asked for.
        path: PathBuf,
    },
    /// The path is that of a file.
    #[error("{path} is a file: --data takes a directory; put the schema into one")]
    IsFile {
        /// The path asked for.
        path: PathBuf,
    },
    /// The directory exists but cannot be listed.
    #[error("the directory {path} cannot be listed: {source}")]
    Unreadable {
        /// The directory, or one inside it.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// The directory holds no dataset.
    #[error(
        "no datasets in {path}: expected NAME/*.json, data/NAME/*.json, NAME/*.parquet, NAME-*.parquet or *.json there"
    )]
    NothingFound {
        /// The directory.
        path: PathBuf,
    },
    /// Two datasets have the same name, but for case and punctuation.
    #[error("there are two datasets by the name {name}: rename one")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// No dataset has the name.
    #[error("there is no dataset {name:?}; {}", known(nearest.as_deref(), available))]
    Unknown {
        /// The name asked for.
        name: String,
        /// The most similar name there is, if any is similar.
        nearest: Option<String>,
        /// All names there are.
        available: Vec<String>,
    },
}

fn known(nearest: Option<&str>, available: &[String]) -> String {
    let all = available.join(", ");
    match nearest {
        Some(nearest) => format!("did you mean {nearest}? Available: {all}"),
        None => format!("available: {all}; more with --data DIR, or after `maskwright fetch jsonschemabench`"),
    }
}
