//! Finding fetched data on disk: [`locate`] for commands, [`locate_for_tests`] for tests.

use std::path::{Path, PathBuf};

use crate::fetch::{self, Cache, Source};

/// Data that is in none of the searched places.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{source_name} not found in {}; run `maskwright fetch {source_name}`, or {alternative}",
    places(looked_in)
)]
pub struct NotFound {
    /// Name of the source.
    pub source_name: String,
    /// The searched places.
    pub looked_in: Vec<PathBuf>,
    /// The alternative to fetching the data.
    alternative: &'static str,
}

fn places(places: &[PathBuf]) -> String {
    if places.is_empty() {
        return "any cache (there is no home directory)".to_owned();
    }
    let places: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
    places.join(", ")
}

/// Finds the directory with the data of the source `name`: in `given`, the directory that the user names, or else in the user's
/// cache, at the revision fetched last.
///
/// `given` may be the data's own directory, or hold one named after the source (`test-suite`) or its repository
/// (`JSON-Schema-Test-Suite`).
///
/// # Errors
///
/// [`NotFound`], which says where it looked and how to get the data.
pub fn locate(name: &str, given: Option<&Path>) -> Result<PathBuf, NotFound> {
    let mut search = Search::new(name, "pass --data DIR");
    match given {
        Some(place) => search.directory(place),
        None => search.cache(),
    }
    search.end()
}

/// Finds data as [`locate`] does, for tests: in the directory that `MASKWRIGHT_DATA` names, in the user's cache, and in `places`.
///
/// # Errors
///
/// [`NotFound`]; the test then skips, and says so.
pub fn locate_for_tests(name: &str, places: &[PathBuf]) -> Result<PathBuf, NotFound> {
    let mut search = Search::new(name, "set MASKWRIGHT_DATA to a directory that holds it");
    if let Some(place) = std::env::var_os("MASKWRIGHT_DATA") {
        search.directory(Path::new(&place));
    }
    search.cache();
    places.iter().for_each(|place| search.directory(place));
    search.end()
}

/// The directories of schemas that were fetched, one of each collection.
pub fn fetched_schemas() -> Vec<PathBuf> {
    // Both hold the same datasets.
    let found = ["jsonschemabench", "jsonschemabench-hub"]
        .into_iter()
        .find_map(|name| locate(name, None).ok());
    found.into_iter().collect()
}

struct Search {
    name: String,
    source: Option<&'static Source>,
    looked_in: Vec<PathBuf>,
    alternative: &'static str,
    found: Option<PathBuf>,
}

impl Search {
    fn new(name: &str, alternative: &'static str) -> Self {
        Self {
            name: name.to_owned(),
            source: fetch::source(name),
            looked_in: Vec::new(),
            alternative,
            found: None,
        }
    }

    fn directory(&mut self, place: &Path) {
        if self.found.is_none() {
            self.looked_in.push(place.to_owned());
            self.found = self.source.and_then(|source| fetch::copies(source, place));
        }
    }

    fn cache(&mut self) {
        if self.found.is_some() {
            return;
        }
        let Ok(cache) = Cache::from_environment() else { return };
        self.looked_in.push(cache.root().to_owned());
        let current = self.source.and_then(|source| Some((source, cache.current(source)?)));
        self.found = current.and_then(|(source, path)| fetch::copies(source, &path));
    }

    fn end(self) -> Result<PathBuf, NotFound> {
        let Self {
            name,
            looked_in,
            alternative,
            found,
            ..
        } = self;
        found.ok_or(NotFound {
            source_name: name,
            looked_in,
            alternative,
        })
    }
}
