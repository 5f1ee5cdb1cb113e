//! MaskBench: schemas with valid and invalid instances, one file each (`maskbench/data/*.json` of
//! [guidance-ai/jsonschemabench](https://github.com/guidance-ai/jsonschemabench)).
//!
//! There are thousands of files of up to 2 MB, so [`MaskBench::open`] lists names only and [`MaskBench::read`] reads one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::dataset::Subsample;
use crate::json_text;
pub use crate::text_file::FileError;
use crate::text_file::{self, Place};

/// A directory of MaskBench files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskBench {
    directory: PathBuf,
    names: Vec<String>,
}

/// One schema with instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskBenchFile {
    /// The file's name without its extension.
    pub name: String,
    /// The schema on one line: order of keys and digits of numbers as in the file ([`json_text::to_string`]).
    pub schema_text: String,
    /// The texts of the documents that the schema may refer to, by URI: the file's member `documents`, where it has one.
    pub documents: BTreeMap<String, String>,
    /// The instances, in the file's order.
    pub instances: Vec<MaskBenchInstance>,
}

/// An instance and whether it is valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskBenchInstance {
    /// The instance as Python's `json.dumps(data, ensure_ascii=False)` prints it ([`json_text::python_string`]).
    pub text: String,
    /// Whether it is valid under the schema, by the file's label.
    pub valid: bool,
}

/// Error of reading MaskBench, or one of its files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MaskBenchError {
    /// The directory holds no files of MaskBench.
    #[error(
        "there is no MaskBench in {}: give the directory that holds `maskbench/data`, or that directory itself",
        path.display()
    )]
    NothingFound {
        /// The directory asked for.
        path: PathBuf,
    },
    /// A file is a schema without labelled documents.
    #[error(
        "{} is a plain schema: files of MaskBench are {{\"schema\": …, \"tests\": [{{\"data\": …, \"valid\": true}}]}}; \
         to run plain schemas: maskwright bench --data DIR",
        path.display()
    )]
    PlainSchema {
        /// The file.
        path: PathBuf,
    },
    /// A file cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
}

impl MaskBench {
    /// The files in `directory`: its `maskbench/data`, that of a `jsonschemabench` in it, its `data`, or its own.
    ///
    /// # Errors
    ///
    /// [`MaskBenchError::NothingFound`], or a directory that cannot be listed.
    pub fn open(directory: &Path) -> Result<Self, MaskBenchError> {
        for below in ["jsonschemabench/maskbench/data", "maskbench/data", "data", ""] {
            let candidate = directory.join(below);
            if !candidate.is_dir() {
                continue;
            }
            let files = text_file::json_files(&candidate)?;
            let names: Vec<String> = files.iter().filter_map(|path| stem(path)).collect();
            if !names.is_empty() {
                return Ok(Self {
                    directory: candidate,
                    names,
                });
            }
        }
        Err(MaskBenchError::NothingFound {
            path: directory.to_owned(),
        })
    }

    /// The names of all files, without their extension, sorted.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The names of a sample of the files, sorted.
    #[must_use]
    pub fn sample(&self, sample: Subsample) -> Vec<&str> {
        let chosen = sample.positions(self.names.len());
        chosen.into_iter().map(|at| self.names[at].as_str()).collect()
    }

    /// Computes the SHA-256 of the names and contents of some files, by which two readers can tell that they read the same. Of a
    /// file that cannot be read, the name counts alone.
    #[must_use]
    pub fn hash(&self, names: &[&str]) -> String {
        let mut hash = Sha256::new();
        for name in names {
            let bytes = text_file::read_bytes(&self.path(name)).unwrap_or_default();
            for part in [name.as_bytes(), &bytes] {
                hash.update((part.len() as u64).to_le_bytes());
                hash.update(part);
            }
        }
        hex::encode(hash.finalize())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.json"))
    }

    /// Checks that not all of some files are plain schemas.
    ///
    /// # Errors
    ///
    /// [`MaskBenchError::PlainSchema`] of the first, where all are.
    pub fn check<S: AsRef<str>>(&self, names: &[S]) -> Result<(), MaskBenchError> {
        let mut plain = None;
        for name in names {
            match self.read(name.as_ref()) {
                Err(error @ MaskBenchError::PlainSchema { .. }) => plain = plain.or(Some(error)),
                _ => return Ok(()),
            }
        }
        plain.map_or(Ok(()), Err)
    }

    /// Reads the file called `name`.
    ///
    /// # Errors
    ///
    /// [`MaskBenchError::PlainSchema`]; [`MaskBenchError::File`], with the place in the file.
    pub fn read(&self, name: &str) -> Result<MaskBenchFile, MaskBenchError> {
        let path = self.path(name);
        let document = text_file::read_json(&path)?;
        if document
            .as_object()
            .is_some_and(|members| ["schema", "tests"].iter().all(|name| !members.contains_key(*name)))
        {
            return Err(MaskBenchError::PlainSchema { path });
        }
        let place = Place::root(&path);
        let schema = place.member(&document, "schema", "a schema", Some)?;
        let tests = place.member(&document, "tests", "a list of tests", Value::as_array)?;
        let documents = match document.get("documents") {
            Some(_) => Some(place.member(&document, "documents", "an object of schemas by URI", Value::as_object)?),
            None => None,
        };
        let documents = documents.into_iter().flatten().map(|(uri, document)| {
            let text = json_text::to_string(document).map_err(|_| place.malformed("a JSON value"))?;
            Ok((uri.clone(), text))
        });
        let place_of_tests = place.at("tests");
        let numbered = tests.iter().enumerate();
        let instances = numbered.map(|(number, test)| instance(test, &place_of_tests.at(number)));
        Ok(MaskBenchFile {
            name: name.to_owned(),
            schema_text: json_text::to_string(schema).map_err(|_| place.malformed("a JSON value"))?,
            documents: documents.collect::<Result<_, FileError>>()?,
            instances: instances.collect::<Result<_, _>>()?,
        })
    }
}

fn stem(path: &Path) -> Option<String> {
    Some(path.file_stem()?.to_str()?.to_owned())
}

fn instance(test: &Value, place: &Place<'_>) -> Result<MaskBenchInstance, FileError> {
    let data = place.member(test, "data", "an instance", Some)?;
    Ok(MaskBenchInstance {
        text: json_text::python_string(data).map_err(|_| place.malformed("a JSON value"))?,
        valid: place.member(test, "valid", "a boolean", Value::as_bool)?,
    })
}
