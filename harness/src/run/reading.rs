//! [`command_of_run`], [`manifest_of_run`] and [`records_of_runs`]: reading of runs that are not to be written.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::directory::{MANIFEST, RECORDS, Recorded, read_records};
use super::error::{RunDirectoryError, read_error};
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

/// Reads the manifest of the run in `path`, whatever its command; null where it is no JSON.
///
/// # Errors
///
/// [`RunDirectoryError::Read`], where there is no manifest.
pub fn manifest_of_run(path: &Path) -> Result<Value, RunDirectoryError> {
    let manifest = path.join(MANIFEST);
    let text = fs::read_to_string(&manifest).map_err(|source| read_error(&manifest, source))?;
    Ok(serde_json::from_str(&text).unwrap_or_default())
}

/// The final records of the runs in `paths`, in their order.
///
/// # Errors
///
/// [`RunDirectoryError::Twice`], where two runs have a record of the same: it would count twice, and look like more than was measured. Those of
/// [`records_of_run`], where a run cannot be read.
pub fn records_of_runs<R: Recorded>(paths: &[PathBuf]) -> Result<Vec<R>, RunDirectoryError> {
    let mut run_of: HashMap<R::Key, &Path> = HashMap::new();
    let mut all = Vec::new();
    for path in paths {
        for record in records_of_run::<R>(path)? {
            if let Some(first) = run_of.insert(record.key().clone(), path) {
                return Err(RunDirectoryError::Twice {
                    first: first.to_owned(),
                    second: path.clone(),
                    key: serde_json::to_string(record.key()).unwrap_or_default(),
                });
            }
            all.push(record);
        }
    }
    Ok(all)
}

/// The final records of the run in `path`, one for each key.
///
/// # Errors
///
/// [`RunDirectoryError::Read`] and [`RunDirectoryError::Damaged`], with the line, also where a record is there twice.
pub fn records_of_run<R: Recorded>(path: &Path) -> Result<Vec<R>, RunDirectoryError> {
    let path = path.join(RECORDS);
    let (lines, _) = read_records::<R>(&path)?;
    let mut seen = HashSet::new();
    let mut records = Vec::with_capacity(lines.len());
    for (line, record) in lines.into_iter().filter(|(_, record)| record.is_final()) {
        if !seen.insert(record.key().clone()) {
            let message = format!(
                "a second record of {}",
                serde_json::to_string(record.key()).unwrap_or_default()
            );
            return Err(RunDirectoryError::Damaged { path, line, message });
        }
        records.push(record);
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::super::directory::tests::Counted;
    use super::*;

    #[test]
    fn a_record_that_is_there_twice_is_refused_with_its_line() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(
            directory.path().join(RECORDS),
            "{\"key\": 1}\n{\"key\": 2}\n{\"key\": 1}\n",
        )
        .unwrap();
        let error = records_of_run::<Counted>(directory.path()).unwrap_err().to_string();
        assert!(error.contains("line 3: a second record of 1"), "{error}");
    }

    #[test]
    fn runs_with_records_of_the_same_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let run = |name: &str, keys: &[u32]| {
            let path = directory.path().join(name);
            fs::create_dir(&path).unwrap();
            let lines = keys.iter().map(|key| format!("{{\"key\": {key}}}\n"));
            fs::write(path.join(RECORDS), lines.collect::<String>()).unwrap();
            path
        };
        let (one, two, three) = (run("one", &[1, 2]), run("two", &[3]), run("three", &[4, 2]));
        let keys = records_of_runs::<Counted>(&[one.clone(), two]).unwrap();
        assert_eq!(keys.iter().map(|record| record.key).collect::<Vec<_>>(), [1, 2, 3]);
        for paths in [[one.clone(), three], [one.clone(), one]] {
            let error = records_of_runs::<Counted>(&paths).unwrap_err().to_string();
            assert!(error.contains("one") && error.contains("count twice"), "{error}");
        }
    }
}
