//! Tests of loading against the drafts: own cases, the Test Suite, the corpus.

mod corpus;
mod ecma;
mod errors;
pub(crate) mod evaluate;
mod merge;
mod mutations;
mod references;
mod suite;
mod uri;

use std::path::{Path, PathBuf};

use crate::json::{Document, Value};
use crate::{CompileError, Limits};

use evaluate::{Texts, is_valid};

use super::{Keywords, SchemaOptions, SchemaSet};

fn load(schema: &str) -> SchemaSet {
    SchemaSet::load(schema, &SchemaOptions::default()).unwrap()
}

fn load_error(schema: &str) -> CompileError {
    SchemaSet::load(schema, &SchemaOptions::default()).unwrap_err()
}

fn value(text: &str) -> Value {
    let document = Document::parse(text, &Limits::default()).unwrap();
    Value::new(&document, 0).unwrap()
}

fn valid(set: &SchemaSet, instance: &str) -> bool {
    is_valid(set, &ecma::Patterns::default(), &value(instance))
}

fn root_keywords(set: &SchemaSet) -> &Keywords {
    match &set.node(set.root()).body {
        super::Body::Keywords(keywords) => keywords,
        other => panic!("{other:?}"),
    }
}

/// The folder `name` of the public data, or `None` after saying that the test skips.
pub(crate) fn public_data(name: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let named = std::env::var_os("MASKWRIGHT_DATA").map(PathBuf::from);
    let places: Vec<PathBuf> = named.into_iter().chain([beside]).collect();
    let found = places
        .iter()
        .map(|place| place.join(name))
        .find(|folder| folder.is_dir());
    if found.is_none() {
        eprintln!("skipped: no {name} in any of {places:?}");
    }
    found
}

/// All files below `folder` whose name ends in `.json`, sorted.
pub(crate) fn json_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "json") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}
