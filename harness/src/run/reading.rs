//! [`command_of_run`] and [`records_of_run`]: runs as those read them who write nothing.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::directory::{MANIFEST, RECORDS, Recorded, RunDirectoryError, read_error, read_records};
use super::manifest;

/// The command whose run is in `path`, such as `bench`.
///
/// # Errors
///
/// [`RunDirectoryError::Read`], where there is no manifest, and [`RunDirectoryError::DamagedManifest`], where it names no command.
pub fn command_of_run(path: &Path) -> Result<String, RunDirectoryError> {
    let manifest = path.join(MANIFEST);
    let text = fs::read_to_string(&manifest).map_err(|source| read_error(&manifest, source))?;
    let command = manifest::command_of(&text);
    match command.is_empty() {
        true => Err(RunDirectoryError::DamagedManifest {
            path: manifest,
            message: "it does not tell whose run it is".to_owned(),
        }),
        false => Ok(command),
    }
}

/// The final records of the run in `path`, one for each key.
///
/// # Errors
///
/// [`RunDirectoryError::Read`] and [`RunDirectoryError::Damaged`], with the line.
pub fn records_of_run<R: Recorded>(path: &Path) -> Result<Vec<R>, RunDirectoryError> {
    let (lines, _) = read_records::<R>(&path.join(RECORDS))?;
    let mut seen = HashSet::new();
    let records = lines.into_iter().map(|(_, record)| record);
    Ok(records
        .filter(|record| record.is_final() && seen.insert(record.key().clone()))
        .collect())
}
