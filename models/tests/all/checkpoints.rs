//! Small checkpoints on disk, which tests write, damage and load.

use std::fs;
use std::path::Path;

use maskwright_models::{Family, LoadOptions, LoadedModel, ModelError, ModelSource, RandomCheckpoint, load};
use serde_json::Value;

/// The family's tiny checkpoint after `change`, in a directory of its own.
pub(crate) fn write(family: Family, change: impl FnOnce(&mut RandomCheckpoint)) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let mut checkpoint = RandomCheckpoint::preset(family, "tiny").unwrap();
    change(&mut checkpoint);
    checkpoint.write(directory.path()).unwrap();
    directory
}

/// The model of that directory.
pub(crate) fn open(directory: &Path) -> Result<LoadedModel, ModelError> {
    load(&ModelSource::Directory(directory.to_owned()), &LoadOptions::default())
}

/// The message of the error that loading ends in.
pub(crate) fn refusal(directory: &Path) -> String {
    open(directory).expect_err("must be refused").to_string()
}

/// Writes `value` into a field of a checkpoint's config.json.
pub(crate) fn edit_config(directory: &Path, field: &str, value: Value) {
    let path = directory.join("config.json");
    let mut config: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    config[field] = value;
    fs::write(path, config.to_string()).unwrap();
}
