//! Merges the parts of a run, each measured by a process of its own, into the run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::formats;
use super::run::{Found, Run};
use crate::error::CommandError;
use crate::ifstruct::settings::SAMPLES_FILE;
use crate::run::directory::{MANIFEST, RECORDS, check_place, warnings_of};
use crate::run::machine::{are_alike, described, machine, without_machine};
use crate::run::manifest;
use crate::run::shard::Shard;

/// Directories do not hold the parts of one run.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A run was not measured in parts.
    #[error("{} holds a whole run or a merged one: give directories of parts, which runs with --shard make, or one with all of them", path.display())]
    NoPart {
        /// The directory.
        path: PathBuf,
    },
    /// Two parts measured something else.
    #[error("{} and {} are no parts of one run: {}", first.display(), second.display(), differences.join("; "))]
    Differ {
        /// The first part.
        first: PathBuf,
        /// The part that does not fit.
        second: PathBuf,
        /// Differences between the settings, option by option.
        differences: Vec<String>,
    },
    /// A part is there twice.
    #[error("{} and {} both hold part {shard}: give one of them", first.display(), second.display())]
    Twice {
        /// The part.
        shard: Shard,
        /// A directory that has it.
        first: PathBuf,
        /// Another one.
        second: PathBuf,
    },
    /// Records are missing.
    #[error(
        "{}: begin and continue parts with --shard I/N and the same --out, or put together what there is with --partial",
        told(missing)
    )]
    Incomplete {
        /// Missing parts and records, part by part.
        missing: Vec<String>,
    },
    /// Parts were measured on different machines.
    #[error(
        "times of different hardware are no figures of one run: {}; --by-hardware makes a run of each kind's parts",
        kinds.join("; ")
    )]
    Hardware {
        /// The parts of each kind of hardware.
        kinds: Vec<String>,
    },
}

/// Returns the text of a list in an error: its first ten entries, and the number of the others.
fn told(list: &[String]) -> String {
    const TOLD: usize = 10;
    let more = list.len().saturating_sub(TOLD);
    let first = list[..list.len() - more].join("; ");
    match more {
        0 => first,
        more => format!("{first}; and {more} more parts"),
    }
}

/// A part of a run, as its directory has it.
struct Part {
    shard: Shard,
    run: Run,
}

impl Part {
    fn path(&self) -> &Path {
        self.run.paths.first().map_or(Path::new(""), PathBuf::as_path)
    }

    fn manifest(&self) -> &Value {
        self.run.manifests.first().unwrap_or(&Value::Null)
    }

    /// Returns the warnings about the part's times that were given when they were measured.
    fn warnings(&self) -> Vec<String> {
        warnings_of(self.path())
    }
}

/// The parts of one run.
pub struct Parts {
    /// Parts in the order of their numbers.
    parts: Vec<Part>,
    /// Missing parts and records, in words, part by part.
    missing: Vec<String>,
}

impl Parts {
    /// The parts in `paths`: each a part's directory, or one that holds such directories.
    ///
    /// # Errors
    ///
    /// [`MergeError`], where they are not the parts of one run or one is there twice; [`CommandError`], where a part cannot be read.
    pub fn read(paths: &[PathBuf]) -> Result<Self, CommandError> {
        let mut by_number: BTreeMap<u32, Part> = BTreeMap::new();
        for run in Run::read_all(paths)? {
            let path = run.paths.first().cloned().unwrap_or_default();
            let manifest = run.manifests.first().unwrap_or(&Value::Null);
            let Ok(shard) = serde_json::from_value::<Shard>(manifest["shard"].clone()) else {
                return Err(MergeError::NoPart { path }.into());
            };
            let part = Part { shard, run };
            // Each with each: two parts may share a model that a third has not.
            for earlier in by_number.values() {
                let differences = differences(earlier, &part);
                if !differences.is_empty() {
                    let (first, second) = (earlier.path().to_owned(), path);
                    return Err(MergeError::Differ {
                        first,
                        second,
                        differences,
                    }
                    .into());
                }
            }
            if let Some(first) = by_number.insert(shard.number, part) {
                let (first, second) = (first.path().to_owned(), path);
                return Err(MergeError::Twice { shard, first, second }.into());
            }
        }
        let count = by_number.values().next().map_or(0, |part| part.shard.count);
        let missing = (1..=count).filter_map(|number| missing(Shard { number, count }, by_number.get(&number)));
        Ok(Self {
            missing: missing.collect(),
            parts: by_number.into_values().collect(),
        })
    }

    /// Refuses parts that lack records.
    ///
    /// # Errors
    ///
    /// [`MergeError::Incomplete`].
    pub fn check_complete(&self) -> Result<(), MergeError> {
        match self.missing.is_empty() {
            true => Ok(()),
            false => Err(MergeError::Incomplete {
                missing: self.missing.clone(),
            }),
        }
    }

    /// Returns the warnings about the times of the parts, part by part.
    pub fn warnings(&self) -> Vec<String> {
        let of_part = |part: &Part| {
            let shard = part.shard;
            let warnings = part.warnings().into_iter();
            warnings
                .map(move |warning| format!("part {shard}: {warning}"))
                .collect::<Vec<_>>()
        };
        self.parts.iter().flat_map(of_part).collect()
    }

    /// Missing parts and records, in words, part by part.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// Refuses parts of different hardware.
    ///
    /// # Errors
    ///
    /// [`MergeError::Hardware`].
    pub fn check_hardware(&self) -> Result<(), MergeError> {
        let groups = self.groups();
        if groups.len() < 2 {
            return Ok(());
        }
        let kind = |parts: &Vec<&Part>| {
            let machine = parts
                .first()
                .map_or_else(Value::default, |part| machine(part.manifest()));
            let numbers: Vec<String> = parts.iter().map(|part| part.shard.to_string()).collect();
            format!("parts {} have {}", numbers.join(", "), described(&machine))
        };
        Err(MergeError::Hardware {
            kinds: groups.iter().map(kind).collect(),
        })
    }

    /// The parts of each kind of hardware, in the order of their first parts.
    fn groups(&self) -> Vec<Vec<&Part>> {
        let mut groups: Vec<Vec<&Part>> = Vec::new();
        for part in &self.parts {
            let own = machine(part.manifest());
            // Compared with every part of the group: a part without a local model names no device, and so is alike to any.
            let is_of = |group: &&mut Vec<&Part>| {
                let mut parts = group.iter();
                parts.all(|one| are_alike(&machine(one.manifest()), &own))
            };
            match groups.iter_mut().find(is_of) {
                Some(group) => group.push(part),
                None => groups.push(vec![part]),
            }
        }
        groups
    }

    /// Writes the run to `out`; where its parts are of several kinds of hardware, a run of each kind's parts to `out/hardware-N`. Returns the
    /// directories.
    ///
    /// # Errors
    ///
    /// [`CommandError`], where `out` is not empty or cannot be written.
    pub fn write(&self, out: &Path) -> Result<Vec<PathBuf>, CommandError> {
        check_place(out, false)?;
        let groups = self.groups();
        let is_one = groups.len() < 2;
        let mut written = Vec::new();
        for (number, group) in groups.iter().enumerate() {
            let path = match is_one {
                true => out.to_owned(),
                false => out.join(format!("hardware-{}", number + 1)),
            };
            write_run(&path, group, &self.missing).map_err(|source| CommandError::write(&path, source))?;
            written.push(path);
        }
        Ok(written)
    }
}

/// Returns a sentence on a part that is missing or lacks records; `None` where the part is complete.
fn missing(shard: Shard, part: Option<&Part>) -> Option<String> {
    let Some(part) = part else {
        return Some(format!("part {shard} is not there"));
    };
    let planned = part.manifest()["planned"].as_u64().unwrap_or(0) as usize;
    let kept = part.run.len();
    (kept < planned).then(|| {
        let path = part.path().display();
        format!("part {shard} has {kept} of {planned} records ({path})")
    })
}

/// Returns the differences between two parts in command, number of parts, program and settings, one by one. Each part has the models that it asked;
/// models that both have must be the same, on whatever machine.
fn differences(one: &Part, other: &Part) -> Vec<String> {
    let mut found = Vec::new();
    let (ours, theirs) = (one.run.command(), other.run.command());
    if ours != theirs {
        found.push(format!("runs of `{ours}` and of `{theirs}`"));
        return found;
    }
    if one.shard.count != other.shard.count {
        found.push(format!("{} parts and {} parts", one.shard.count, other.shard.count));
    }
    let (one, other) = (one.manifest(), other.manifest());
    if one["program"] != other["program"] {
        found.push(format!("measured by {} and by {}", one["program"], other["program"]));
    }
    let mut settings = [one, other].map(|manifest| without_machine(&manifest["settings"]));
    let names = settings.each_ref().map(|settings| super::names(settings, "models"));
    let is_shared = |model: &Value| {
        let name = model["name"].as_str().unwrap_or_default();
        names.iter().all(|names| names.iter().any(|known| known == name))
    };
    for settings in &mut settings {
        if let Some(models) = settings.get_mut("models").and_then(Value::as_array_mut) {
            models.retain(is_shared);
        }
    }
    found.extend(manifest::setting_differences(&settings[0], &settings[1]));
    found
}

/// Writes a run of these parts: their records one part behind the other, and the manifest of the first with the models of all.
fn write_run(path: &Path, parts: &[&Part], missing: &[String]) -> std::io::Result<()> {
    fs::create_dir_all(path)?;
    let Some(first) = parts.first() else {
        return Ok(());
    };
    if let Found::Ifstruct(..) = &first.run.found {
        fs::copy(first.path().join(SAMPLES_FILE), path.join(SAMPLES_FILE))?;
    }
    let mut manifest = first.manifest().clone();
    let mut models: Vec<Value> = Vec::new();
    for model in parts
        .iter()
        .flat_map(|part| part.manifest()["settings"]["models"].as_array().into_iter().flatten())
    {
        if !models.iter().any(|known| known["name"] == model["name"]) {
            models.push(model.clone());
        }
    }
    if manifest["settings"]["models"].is_array() {
        manifest["settings"]["models"] = models.into();
    }
    if let Some(members) = manifest.as_object_mut() {
        members.remove("shard");
        let planned: u64 = parts
            .iter()
            .filter_map(|part| part.manifest()["planned"].as_u64())
            .sum();
        members.insert("planned".to_owned(), planned.into());
        members.insert(
            "parts".to_owned(),
            parts.iter().map(|part| part_summary(part)).collect(),
        );
        if !missing.is_empty() {
            members.insert("missing".to_owned(), json!(missing));
        }
    }
    let records: String = parts.iter().map(|part| formats::json_lines(&part.run)).collect();
    fs::write(path.join(RECORDS), records)?;
    let text = serde_json::to_string_pretty(&manifest).unwrap_or_default();
    fs::write(path.join(MANIFEST), text + "\n")
}

/// Returns the entry of a part in the manifest of the whole run.
fn part_summary(part: &Part) -> Value {
    let manifest = part.manifest();
    let mut members: Map<String, Value> = Map::new();
    members.insert("shard".to_owned(), json!(part.shard));
    for name in ["command", "started", "hardware"] {
        members.insert(name.to_owned(), manifest[name].clone());
    }
    members.insert("records".to_owned(), part.run.len().into());
    members.insert("warnings".to_owned(), json!(part.warnings()));
    members.into()
}
