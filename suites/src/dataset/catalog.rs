//! The catalog of datasets, and the choice among them.

use std::collections::HashSet;
use std::path::Path;

use super::directory::{self, Files};
use super::error::DatasetError;
use super::{Dataset, Instance, builtin, parquet_file};

/// The datasets that can be run, in the order in which they were added.
#[derive(Debug)]
pub struct Catalog {
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    name: String,
    rows: Rows,
}

#[derive(Debug)]
enum Rows {
    Held(Dataset),
    Found(Files),
}

/// A dataset that can be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Available {
    /// Name of the dataset.
    pub name: String,
    /// Number of its instances, usable or not.
    pub count: usize,
}

/// The instances of each dataset that are loaded: their number, and whether they are the first ones or a random sample.
///
/// Samples of the same seed lie within one another: a larger limit only adds instances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Subsample {
    /// Largest number of instances; `None` for all.
    pub limit: Option<usize>,
    /// Seed of a random sample, kept in file order; `None` for the first instances.
    pub seed: Option<u64>,
}

impl Catalog {
    /// A catalog with nothing in it.
    pub fn empty() -> Self {
        Self { entries: Vec::new() }
    }

    /// A catalog with the sample that is part of the program, [`super::BUILTIN`].
    pub fn builtin() -> Self {
        let dataset = builtin::dataset();
        Self {
            entries: vec![Entry {
                name: dataset.name.clone(),
                rows: Rows::Held(dataset),
            }],
        }
    }

    /// Adds the datasets found in `directory`. Its schemas are read only when selected.
    ///
    /// The layouts, the first that is found: `data/NAME/…` or `NAME/…` with files `*.json` (one schema each) or
    /// `*.parquet` (columns `json_schema` and `unique_id`; all splits together), files `NAME-*.parquet`, or `*.json` in
    /// `directory` itself, which then is the dataset.
    pub fn add_directory(&mut self, directory: &Path) -> Result<(), DatasetError> {
        for (name, files) in directory::find(directory)? {
            self.insert(name, Rows::Found(files))?;
        }
        Ok(())
    }

    /// Adds a dataset made in memory, such as generated schemas.
    pub fn add(&mut self, dataset: Dataset) -> Result<(), DatasetError> {
        self.insert(dataset.name.clone(), Rows::Held(dataset))
    }

    /// The datasets with their sizes.
    pub fn available(&self) -> Vec<Available> {
        let entries = self.entries.iter();
        entries
            .map(|entry| Available {
                name: entry.name.clone(),
                count: entry.rows.count(),
            })
            .collect()
    }

    /// Loads the datasets with the given names, in the given order and each once; with no name, all of them.
    ///
    /// Case and punctuation in names do not matter: `GlaiveAI-2K` is `Glaiveai2K`.
    pub fn select<S: AsRef<str>>(&self, names: &[S], sample: Subsample) -> Result<Vec<Dataset>, DatasetError> {
        let mut chosen: Vec<&Entry> = Vec::new();
        for name in names {
            let entry = self.find(name.as_ref())?;
            if !chosen.iter().any(|other| std::ptr::eq(*other, entry)) {
                chosen.push(entry);
            }
        }
        if names.is_empty() {
            chosen.extend(&self.entries);
        }
        Ok(chosen.into_iter().map(|entry| entry.load(sample)).collect())
    }

    fn find(&self, name: &str) -> Result<&Entry, DatasetError> {
        let wanted = plain(name);
        let found = self.entries.iter().find(|entry| plain(&entry.name) == wanted);
        found.ok_or_else(|| {
            let similarity = |entry: &&Entry| strsim::jaro_winkler(&plain(&entry.name), &wanted);
            let nearest = self
                .entries
                .iter()
                .max_by(|left, right| similarity(left).total_cmp(&similarity(right)));
            DatasetError::Unknown {
                name: name.to_owned(),
                nearest: nearest
                    .filter(|entry| similarity(entry) > 0.7)
                    .map(|entry| entry.name.clone()),
                available: self.entries.iter().map(|entry| entry.name.clone()).collect(),
            }
        })
    }

    fn insert(&mut self, name: String, rows: Rows) -> Result<(), DatasetError> {
        if self.entries.iter().any(|entry| plain(&entry.name) == plain(&name)) {
            return Err(DatasetError::NameTaken { name });
        }
        self.entries.push(Entry { name, rows });
        Ok(())
    }
}

/// A name as it is compared.
fn plain(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

impl Rows {
    fn count(&self) -> usize {
        match self {
            Self::Held(dataset) => dataset.instances.len(),
            Self::Found(Files::Json(paths)) => paths.len(),
            Self::Found(Files::Parquet(paths)) => paths.iter().map(|path| parquet_file::count(path)).sum(),
        }
    }
}

impl Entry {
    fn load(&self, sample: Subsample) -> Dataset {
        let chosen = sample.positions(self.rows.count());
        let instances = match &self.rows {
            Rows::Held(dataset) => chosen.iter().map(|&at| dataset.instances[at].clone()).collect(),
            Rows::Found(Files::Json(paths)) => chosen
                .iter()
                .map(|&at| directory::read_json(&self.name, &paths[at]))
                .collect(),
            Rows::Found(Files::Parquet(paths)) => self.load_parquet(paths, &chosen),
        };
        Dataset {
            name: self.name.clone(),
            instances,
        }
    }

    /// The rows of `paths`, numbered through all files, that are `chosen`. Every file before the last of them is read, so that the name of a
    /// row whose id an earlier file has, too, does not depend on what is chosen.
    fn load_parquet(&self, paths: &[std::path::PathBuf], chosen: &[usize]) -> Vec<Instance> {
        let mut instances = Vec::with_capacity(chosen.len());
        let (mut first, mut seen) = (0, HashSet::new());
        for path in paths {
            if chosen.last().is_none_or(|&last| last < first) {
                break;
            }
            let end = first + parquet_file::count(path);
            let wanted = |row: usize| chosen.binary_search(&(first + row)).is_ok();
            let found = parquet_file::read(&self.name, path, wanted, &mut seen);
            // An unreadable file counts as a row, too, which may not be chosen.
            if (first..end).any(|at| chosen.binary_search(&at).is_ok()) {
                instances.extend(found);
            }
            first = end;
        }
        instances
    }
}

impl Subsample {
    /// The positions chosen among `count`, ascending.
    #[must_use]
    pub fn positions(self, count: usize) -> Vec<usize> {
        let limit = self.limit.unwrap_or(count).min(count);
        let Some(seed) = self.seed else {
            return (0..limit).collect();
        };
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_cached_key(|&at| scrambled(seed, at as u64));
        order.truncate(limit);
        order.sort_unstable();
        order
    }
}

/// A number that looks random, always the same for the same arguments: SplitMix64 (Steele, Lea and Flood, 2014).
fn scrambled(seed: u64, position: u64) -> u64 {
    let mix = |mut z: u64| {
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;
    mix(mix(seed.wrapping_add(GAMMA)).wrapping_add(position.wrapping_mul(GAMMA)))
}
