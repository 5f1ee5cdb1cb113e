//! Schemas to run on, as named datasets of instances.
//!
//! A [`Catalog`] knows which datasets there are and loads them:
//!
//! 1. [`Catalog::builtin`] offers the sample that is part of the program, `builtin`;
//! 2. [`Catalog::add_directory`] adds the datasets of a directory: JSONSchemaBench as unpacked from its
//!    repository, the hub's parquet files (epfl-dlab/JSONSchemaBench), or any directory of `*.json` files;
//! 3. [`Catalog::add`] adds a dataset made in memory, such as generated schemas;
//! 4. [`Catalog::available`] lists them with their sizes, [`Catalog::select`] loads those asked for.
//!
//! # Untrusted input
//!
//! A row that cannot be used (unreadable, not UTF-8, not JSON, larger than [`MAX_SCHEMA_BYTES`]) is an instance with an
//! [`InstanceError`] in place of its schema, so that a run records it and goes on. A directory that is missing or holds no
//! dataset, or a name that no dataset has, is a [`DatasetError`]. Nothing is followed out of the directory but symbolic links, and
//! nothing is fetched. Schemas may be nested to any depth; their readers have to keep limits of their own.

mod builtin;
mod catalog;
mod directory;
mod error;
pub(crate) mod parquet_file;

pub use catalog::{Available, Catalog, Subsample};
pub use error::{DatasetError, InstanceError, InstanceErrorKind};

use crate::json_text::is_git_lfs_pointer;
use crate::strict_json;

/// The largest schema that is loaded, in bytes; the largest one of JSONSchemaBench has 2.9 MB.
pub const MAX_SCHEMA_BYTES: usize = 32 << 20;

/// Name of the dataset that is part of the program.
pub const BUILTIN: &str = "builtin";

/// A named list of schemas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dataset {
    /// Name, such as `Github_easy`.
    pub name: String,
    /// The instances, in the order of their files and rows.
    pub instances: Vec<Instance>,
}

/// One schema of a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Name of the instance within its dataset: the file's stem, or the value of column `unique_id` where no earlier row has it.
    pub id: String,
    /// The schema's text exactly as it was found (without a byte order mark), known to be JSON but not to be a schema.
    pub schema: Result<String, InstanceError>,
}

impl Dataset {
    /// A dataset from pairs of id and schema text; a text that is not JSON becomes a [`InstanceError`].
    pub fn from_texts(name: impl Into<String>, texts: impl IntoIterator<Item = (String, String)>) -> Self {
        let name = name.into();
        let instances = texts
            .into_iter()
            .map(|(id, text)| Instance::new(&name, id, None, None, text.into_bytes()))
            .collect();
        Self { name, instances }
    }
}

impl Instance {
    /// The instance made of the bytes of one row or file.
    fn new(dataset: &str, id: String, file: Option<&std::path::Path>, row: Option<usize>, bytes: Vec<u8>) -> Self {
        let schema = schema_text(bytes).map_err(|kind| InstanceError::new(dataset, &id, file, row, kind));
        Self { id, schema }
    }
}

/// The text of a schema, if it is one JSON document of a size that can be treated.
fn schema_text(bytes: Vec<u8>) -> Result<String, InstanceErrorKind> {
    if bytes.len() > MAX_SCHEMA_BYTES {
        return Err(InstanceErrorKind::TooLarge {
            bytes: bytes.len() as u64,
        });
    }
    let mut text = String::from_utf8(bytes).map_err(|error| InstanceErrorKind::NotUtf8 {
        offset: error.utf8_error().valid_up_to(),
    })?;
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    if text.trim().is_empty() {
        return Err(InstanceErrorKind::Empty);
    }
    if is_git_lfs_pointer(text.as_bytes()) {
        return Err(InstanceErrorKind::GitLfsPointer);
    }
    strict_json::check(&text).map_err(InstanceErrorKind::NotJson)?;
    Ok(text)
}
