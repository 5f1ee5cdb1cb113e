//! The directory of a run: `manifest.json`, `records.jsonl`, and the tables made from these.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::hash::Hash;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::{RunDirectoryError, read_error, write_error};
use super::heading::heading;
use super::manifest::{self, Manifest, Settings};
use super::progress;
use super::shard::Shard;

/// Name of the manifest's file.
pub const MANIFEST: &str = "manifest.json";
/// Name of the records' file.
pub const RECORDS: &str = "records.jsonl";

/// Name of the file in which a part of a run keeps the warnings about its times.
const WARNINGS: &str = "warnings.json";

/// A line of the records' file.
pub trait Recorded: Serialize + DeserializeOwned {
    /// Key of a record; a run has one record for each key.
    type Key: Clone + Eq + Hash + Serialize;

    /// Returns the key of this record.
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
    /// Keys of the records that the process is to measure.
    planned: HashSet<R::Key>,
    failures: HashMap<R::Key, usize>,
    file: File,
    /// The run's manifest, that of its start where it is continued.
    manifest: Value,
    /// Whether this process started the run.
    is_new: bool,
}

impl<R: Recorded> RunDirectory<R> {
    /// Starts a run in `path`, which must not hold one, of the records that are `planned`. Nobody else can write it until this is dropped.
    ///
    /// # Errors
    ///
    /// [`RunDirectoryError::Exists`] or [`RunDirectoryError::Write`].
    pub fn create<S: Settings>(
        path: &Path,
        manifest: &Manifest<S>,
        planned: HashSet<R::Key>,
    ) -> Result<Self, RunDirectoryError> {
        check_place(path, false)?;
        fs::create_dir_all(path).map_err(|source| write_error(path, path, source, 0))?;
        let records = path.join(RECORDS);
        let created = OpenOptions::new().create_new(true).append(true).open(&records);
        let file = created.map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => RunDirectoryError::Exists {
                path: path.to_owned(),
                command: String::new(),
            },
            _ => write_error(&records, path, source, 0),
        })?;
        lock(&file, path)?;
        if let Err(source) = write_whole(&path.join(MANIFEST), &manifest.to_json()) {
            // Nothing was begun, and nothing stays in the way of a second try.
            let _ = fs::remove_file(&records);
            return Err(write_error(&path.join(MANIFEST), path, source, 0));
        }
        Ok(Self {
            path: path.to_owned(),
            records: Vec::new(),
            keys: HashSet::new(),
            planned,
            failures: HashMap::new(),
            file,
            manifest: serde_json::to_value(manifest).unwrap_or_default(),
            is_new: true,
        })
    }

    /// Continues the run in `path`, if it measured the same as `manifest` says. It has the records that are `planned`.
    /// Where its manifest is gone, `manifest` takes its place. A run merged of some of its parts lacks none from now on.
    ///
    /// A last line that a killed run left unfinished is dropped, and records that are not final are left out of account;
    /// both will be measured again. Nobody else can write the run until this is dropped.
    ///
    /// # Errors
    ///
    /// [`RunDirectoryError`], every variant but `Exists`.
    pub fn resume<S: Settings>(
        path: &Path,
        manifest: &Manifest<S>,
        planned: HashSet<R::Key>,
    ) -> Result<Self, RunDirectoryError> {
        check_place(path, true)?;
        let records_path = path.join(RECORDS);
        let opened = OpenOptions::new().create(true).append(true).open(&records_path);
        let file = opened.map_err(|source| write_error(&records_path, path, source, 0))?;
        lock(&file, path)?;
        let (known, elsewhere) = check_manifest(path, manifest)?.unzip();
        let (lines, whole_bytes) = read_records::<R>(&records_path)?;
        let mut directory = Self {
            path: path.to_owned(),
            records: Vec::new(),
            keys: HashSet::new(),
            planned,
            failures: HashMap::new(),
            file,
            manifest: known
                .clone()
                .unwrap_or_else(|| serde_json::to_value(manifest).unwrap_or_default()),
            is_new: false,
        };
        for (line, record) in lines {
            directory
                .take_up(record)
                .map_err(|message| RunDirectoryError::Damaged {
                    path: records_path.clone(),
                    line,
                    message: match known {
                        Some(_) => message,
                        None => {
                            format!("{message} ({MANIFEST} is gone: give the options that the run was started with)")
                        }
                    },
                })?;
        }
        if let Some(difference) = elsewhere.flatten()
            && (1..directory.planned()).contains(&directory.kept())
        {
            let warning = format!("the run {difference}: its records are of both, and their times cannot be compared");
            progress::say(&warning);
            directory.keep_warnings(&[warning])?;
        }
        let kept = directory.kept();
        let set = directory.file.set_len(whole_bytes as u64);
        set.map_err(|source| write_error(&records_path, path, source, kept))?;
        if known.is_none() {
            directory.write(MANIFEST, &manifest.to_json())?;
            progress::say(&format!(
                "{} was gone and is written anew from the options given",
                path.join(MANIFEST).display()
            ));
        } else if let Some(members) = directory.manifest.as_object_mut()
            && members.remove("missing").is_some()
        {
            members.insert("planned".to_owned(), manifest.planned.into());
            let text = serde_json::to_string_pretty(&directory.manifest).unwrap_or_default();
            directory.write(MANIFEST, &(text + "\n"))?;
        }
        Ok(directory)
    }

    /// Adds a record of an earlier run, or returns the reason for which it does not belong to this run.
    fn take_up(&mut self, record: R) -> Result<(), String> {
        let key = record.key();
        let named = || serde_json::to_string(key).unwrap_or_default();
        if self.keys.contains(key) {
            return Err(format!("a second record of {}", named()));
        }
        if !self.planned.contains(key) {
            return Err(format!("{} is no question of this run", named()));
        }
        if record.is_final() {
            self.keys.insert(key.clone());
            self.records.push(record);
        } else {
            *self.failures.entry(key.clone()).or_default() += 1;
        }
        Ok(())
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All records so far, those of the resumed run first.
    pub fn records(&self) -> &[R] {
        &self.records
    }

    /// Number of final records on disk.
    pub fn kept(&self) -> usize {
        self.keys.len()
    }

    /// Number of records that the process is to have at its end, those of the resumed run among them.
    pub fn planned(&self) -> usize {
        self.planned.len()
    }

    /// Whether a record for `key` is still to be measured: the process has to measure it, and there is no final one.
    pub fn lacks(&self, key: &R::Key) -> bool {
        self.planned.contains(key) && !self.keys.contains(key)
    }

    /// Returns the part that this run is; `None` where it is a whole run.
    pub fn shard(&self) -> Option<Shard> {
        serde_json::from_value(self.manifest["shard"].clone()).ok()
    }

    /// Returns how often earlier runs came to no final record for `key`.
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
        let kept = self.kept();
        let failed = |source| write_error(&path, &self.path, source, kept);
        let mut line = serde_json::to_vec(&record).map_err(|error| failed(error.into()))?;
        line.push(b'\n');
        self.file
            .write_all(&line)
            .and_then(|()| self.file.flush())
            .map_err(failed)?;
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
        let path = self.path.join(name);
        write_whole(&path, content).map_err(|source| write_error(&path, &self.path, source, self.kept()))
    }

    /// Deletes the run's files where this process started the run and measured nothing: they would only stand in the way of a second try.
    pub fn discard(self) {
        if self.is_new {
            for name in [RECORDS, MANIFEST, WARNINGS] {
                // A file that stays is one that the user finds.
                let _ = fs::remove_file(self.path.join(name));
            }
            let _ = fs::remove_dir(&self.path);
        }
    }

    /// Returns the heading above the run's tables, in Markdown: command, date, program, machine, models, frameworks and data.
    pub fn heading(&self) -> String {
        heading(&self.manifest)
    }

    /// Tells the user, where this is a part of a run, that the part is at its end, and prints `warnings` about its times. Returns false where this is
    /// a whole run, of which tables are to be made.
    ///
    /// # Errors
    ///
    /// [`RunDirectoryError::Write`], where the warnings cannot be kept for the whole run.
    pub fn ends_part(&self, warnings: &[String]) -> Result<bool, RunDirectoryError> {
        let Some(shard) = self.shard() else {
            return Ok(false);
        };
        for warning in warnings {
            progress::say(warning);
        }
        self.keep_warnings(warnings)?;
        progress::say(&format!(
            "part {shard}: {} of {} records are in {}; when all parts are there, `maskwright merge {} --out DIR` puts them together",
            self.kept(),
            self.planned(),
            self.path.display(),
            self.path.parent().unwrap_or(&self.path).display(),
        ));
        Ok(true)
    }

    /// Keeps warnings about times beside the records that they are about. Returns all that the run has, those of its earlier processes first,
    /// each once.
    ///
    /// # Errors
    ///
    /// [`RunDirectoryError::Write`].
    pub fn keep_warnings(&self, warnings: &[String]) -> Result<Vec<String>, RunDirectoryError> {
        let mut kept = warnings_of(&self.path);
        let before = kept.len();
        for warning in warnings {
            if !kept.contains(warning) {
                kept.push(warning.clone());
            }
        }
        if kept.len() > before {
            self.write(WARNINGS, &serde_json::to_string(&kept).unwrap_or_default())?;
        }
        Ok(kept)
    }

    /// Tells the user where the run's files are.
    pub fn say_where(&self) {
        progress::say(&format!("records, manifest and tables are in {}", self.path.display()));
    }
}

/// The part of a run that `path` holds, where it holds one.
pub fn shard_of(path: &Path) -> Option<Shard> {
    let manifest: Value = serde_json::from_str(&fs::read_to_string(path.join(MANIFEST)).ok()?).ok()?;
    serde_json::from_value(manifest["shard"].clone()).ok()
}

/// Returns the warnings about times that the run in `path`, or the part of one, has kept.
pub fn warnings_of(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path.join(WARNINGS)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Whether there is a run in `path`, be it one of which only the beginning was written.
pub fn holds_run(path: &Path) -> bool {
    path.join(RECORDS).exists() || path.join(MANIFEST).exists()
}

/// Checks that a run could be written to `path`, or the run there be continued, as far as can be told without writing.
///
/// # Errors
///
/// [`RunDirectoryError`], with the obstacle.
pub fn check_place(path: &Path, resume: bool) -> Result<(), RunDirectoryError> {
    match (holds_run(path), resume) {
        (true, false) => Err(RunDirectoryError::Exists {
            path: path.to_owned(),
            command: manifest::command_of(&fs::read_to_string(path.join(MANIFEST)).unwrap_or_default()),
        }),
        (false, false) if fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some()) => {
            Err(RunDirectoryError::HoldsOthers { path: path.to_owned() })
        }
        (false, true) => Err(RunDirectoryError::NothingToResume { path: path.to_owned() }),
        _ => writable(path).map_err(|source| write_error(path, path, source, 0)),
    }
}

/// Whether the run in `path` may be one of the command `ours`: where its manifest tells nothing, it may.
///
/// # Errors
///
/// [`RunDirectoryError::OtherCommand`].
pub fn check_command(path: &Path, ours: &'static str) -> Result<(), RunDirectoryError> {
    let theirs = manifest::command_of(&fs::read_to_string(path.join(MANIFEST)).unwrap_or_default());
    match theirs.is_empty() || theirs == ours {
        true => Ok(()),
        false => Err(RunDirectoryError::OtherCommand {
            path: path.to_owned(),
            theirs,
            ours,
        }),
    }
}

/// Whether files can be made in `path`, once it is made where it is not there.
pub fn writable(path: &Path) -> io::Result<()> {
    if path.is_symlink() && !path.exists() {
        return Err(io::Error::other("it is a link to a place that is not there"));
    }
    let there = path.ancestors().find(|ancestor| ancestor.exists());
    let there = there
        .filter(|ancestor| *ancestor != Path::new(""))
        .unwrap_or(Path::new("."));
    if !there.is_dir() {
        return Err(io::Error::other(format!("{} is no directory", there.display())));
    }
    use rustix::fs::{Access, access};
    access(there, Access::WRITE_OK | Access::EXEC_OK).map_err(io::Error::from)
}

/// Keeps every other process from writing a run until the records' file is closed.
fn lock(records: &File, path: &Path) -> Result<(), RunDirectoryError> {
    match records.try_lock() {
        Ok(()) => Ok(()),
        Err(fs::TryLockError::WouldBlock) => Err(RunDirectoryError::InUse { path: path.to_owned() }),
        Err(fs::TryLockError::Error(error)) => {
            tracing::warn!("{} cannot be locked against a second run: {error}", path.display());
            Ok(())
        }
    }
}

/// Compares a manifest with that in the directory, and returns the latter, with the difference in program or machine. `None` without a
/// manifest.
fn check_manifest<S: Settings>(
    path: &Path,
    manifest: &Manifest<S>,
) -> Result<Option<(Value, Option<String>)>, RunDirectoryError> {
    let manifest_path = path.join(MANIFEST);
    let text = match fs::read_to_string(&manifest_path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(|source| read_error(&manifest_path, source))?,
    };
    check_command(path, S::COMMAND)?;
    let known = Manifest::<S>::from_json(&text).map_err(|error| RunDirectoryError::DamagedManifest {
        message: error.to_string(),
        path: manifest_path,
    })?;
    let differences = known.differences(manifest);
    match differences.is_empty() {
        // As it stands, with members that only merged runs have.
        true => Ok(serde_json::from_str(&text)
            .ok()
            .map(|as_it_stands| (as_it_stands, known.machine_difference(manifest)))),
        false => Err(RunDirectoryError::OtherRun {
            path: path.to_owned(),
            differences,
            is_part: manifest.shard.is_some(),
        }),
    }
}

/// The records of whole lines with their line numbers, and the length of these lines in bytes. A last line that is unfinished is left out.
///
/// # Errors
///
/// [`RunDirectoryError::Read`] and [`RunDirectoryError::Damaged`], with the line.
pub fn read_records<R: Recorded>(path: &Path) -> Result<(Vec<(usize, R)>, usize), RunDirectoryError> {
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
        records.push((index + 1, record));
    }
    Ok((records, whole))
}

fn write_whole(path: &Path, content: &str) -> io::Result<()> {
    let partial = path.with_extension("partial");
    fs::write(&partial, content).and_then(|()| fs::rename(&partial, path))
}

#[cfg(test)]
pub(super) mod tests {
    use serde::Deserialize;

    use super::*;

    /// A record that is nothing but its key.
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    pub(in crate::run) struct Counted {
        pub(in crate::run) key: u32,
    }

    impl Recorded for Counted {
        type Key = u32;

        fn key(&self) -> &u32 {
            &self.key
        }
    }

    #[derive(Serialize, Deserialize)]
    struct NoSettings {}

    impl Settings for NoSettings {
        const COMMAND: &'static str = "masks";
    }

    #[test]
    fn a_part_keeps_the_warnings_of_all_its_processes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("part");
        let mut manifest = Manifest::new(NoSettings {});
        manifest.shard = Some(Shard { number: 1, count: 2 });
        let part: RunDirectory<Counted> = RunDirectory::create(&path, &manifest, HashSet::new()).unwrap();
        let [busy, busier] = ["busy", "busier"].map(str::to_owned);
        part.keep_warnings(std::slice::from_ref(&busy)).unwrap();
        assert!(part.ends_part(&[busier, busy]).unwrap());
        assert!(part.ends_part(&[]).unwrap());
        assert_eq!(warnings_of(&path), ["busy", "busier"]);
    }

    #[test]
    fn a_whole_run_has_the_warnings_of_its_earlier_processes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run");
        let manifest = Manifest::new(NoSettings {});
        let run: RunDirectory<Counted> = RunDirectory::create(&path, &manifest, HashSet::new()).unwrap();
        assert_eq!(run.keep_warnings(&["busy".to_owned()]).unwrap(), ["busy"]);
        drop(run);
        let run: RunDirectory<Counted> = RunDirectory::resume(&path, &manifest, HashSet::new()).unwrap();
        assert!(!run.ends_part(&[]).unwrap());
        assert_eq!(run.keep_warnings(&[]).unwrap(), ["busy"]);
    }
}
