//! [`Schemas`]: the texts of the schemas that records are about, which records name only, found again in the data.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use maskwright_suites::dataset::{Catalog, Dataset, Subsample};
use maskwright_suites::locate::{fetched_schemas, locate};
use maskwright_suites::mask_bench::MaskBench;
use maskwright_suites::synthetic::{SchemaGenerator, SchemaSplit};
use maskwright_suites::test_suite::{Case, Draft, SuitePart, TestSuite};
use serde_json::Value;

use crate::bench::settings::{DatasetSettings, HELD_OUT};

/// Sources in which the schemas of records are looked up.
pub struct Schemas {
    data: Option<PathBuf>,
    /// Datasets that were looked up, by name; of each, the schemas by name. The key of generated schemas is a name with their number and seed.
    datasets: RefCell<HashMap<String, HashMap<String, String>>>,
    /// The cases of drafts of the Test Suite, by category and description.
    suites: RefCell<HashMap<String, Suite>>,
    mask_bench: Option<MaskBench>,
    /// Directories that runs named with `--data`.
    recorded: Vec<RecordedData>,
}

/// The directory that the command of a run of `bench` named with `--data`, and what the run took from it.
struct RecordedData {
    directory: PathBuf,
    sample: Subsample,
    datasets: Vec<DatasetSettings>,
}

impl RecordedData {
    /// Returns the data of a run by its manifest; `None` where its command named no directory.
    fn of_manifest(manifest: &Value) -> Option<Self> {
        let words: Vec<&str> = manifest["command"]
            .as_array()?
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let value = |option: &str| {
            let joined = words
                .iter()
                .find_map(|word| word.strip_prefix(option)?.strip_prefix('='));
            let next = words.windows(2).find(|pair| pair[0] == option).map(|pair| pair[1]);
            joined.or(next)
        };
        Some(Self {
            directory: value("--data")?.into(),
            sample: Subsample {
                limit: value("--limit").and_then(|limit| limit.parse().ok()),
                seed: value("--seed").and_then(|seed| seed.parse().ok()),
            },
            datasets: serde_json::from_value(manifest["settings"]["datasets"].clone()).ok()?,
        })
    }

    /// Returns a dataset, where the directory still has what the run took from it.
    fn dataset(&self, name: &str) -> Option<Dataset> {
        let taken = self.datasets.iter().find(|dataset| dataset.name == name)?;
        let mut catalog = Catalog::empty();
        catalog.add_directory(&self.directory).ok()?;
        let found = catalog.select(&[name], self.sample).ok()?.pop()?;
        (DatasetSettings::of(&found).sha256 == taken.sha256).then_some(found)
    }
}

/// Cases of a draft and the documents that they refer to.
#[derive(Default)]
pub struct Suite {
    cases: HashMap<(String, String), Case>,
    /// The documents, by URI.
    pub documents: BTreeMap<String, String>,
}

impl Schemas {
    /// Looks schemas up in the program itself, and in `data`, or else in the fetched data. Data that is missing gives no schemas.
    pub fn new(data: Option<&Path>) -> Self {
        let directory = data
            .map(Path::to_owned)
            .or_else(|| locate("jsonschemabench", None).ok());
        Self {
            data: data.map(Path::to_owned),
            datasets: RefCell::default(),
            suites: RefCell::default(),
            mask_bench: directory.and_then(|directory| MaskBench::open(&directory).ok()),
            recorded: Vec::new(),
        }
    }

    /// Also looks into the directories that runs named with `--data`, unless another was given: where these still have what the runs took
    /// from them.
    pub fn with_recorded<'a>(mut self, manifests: impl IntoIterator<Item = &'a Value>) -> Self {
        if self.data.is_none() {
            self.recorded = manifests.into_iter().filter_map(RecordedData::of_manifest).collect();
        }
        self
    }

    /// The schema of a dataset of `bench`. `generated` has the number and seed of generated schemas, for the dataset of these.
    pub fn of_dataset(&self, dataset: &str, name: &str, generated: (usize, u64)) -> Option<String> {
        let mut datasets = self.datasets.borrow_mut();
        let key = match dataset {
            HELD_OUT => format!("{HELD_OUT} {} {}", generated.0, generated.1),
            dataset => dataset.to_owned(),
        };
        let schemas = datasets.entry(key).or_insert_with(|| match dataset {
            HELD_OUT => {
                let examples = SchemaGenerator::new(generated.1, SchemaSplit::HeldOut).take(generated.0);
                let texts = examples.map(|example| example.schema.to_string()).enumerate();
                texts.map(|(number, text)| (format!("{number:06}"), text)).collect()
            }
            dataset => self.loaded(dataset),
        });
        schemas.get(name).cloned()
    }

    fn loaded(&self, dataset: &str) -> HashMap<String, String> {
        let mut catalog = Catalog::builtin();
        match &self.data {
            Some(directory) => drop(catalog.add_directory(directory)),
            None => {
                for directory in fetched_schemas() {
                    drop(catalog.add_directory(&directory));
                }
            }
        }
        let recorded = self.recorded.iter().find_map(|data| data.dataset(dataset));
        let found = match recorded {
            Some(recorded) => vec![recorded],
            None => catalog.select(&[dataset], Subsample::default()).unwrap_or_default(),
        };
        let instances = found.into_iter().flat_map(|dataset| dataset.instances);
        instances
            .filter_map(|instance| Some((instance.id, instance.schema.ok()?)))
            .collect()
    }

    /// The schema of a file of MaskBench, with the documents that it brings along.
    pub fn of_mask_bench(&self, file: &str) -> Option<(String, BTreeMap<String, String>)> {
        let file = self.mask_bench.as_ref()?.read(file).ok()?;
        Some((file.schema_text, file.documents))
    }

    /// Returns the result of `look` on a case of the Test Suite and the documents beside it; `None` where there is no such case.
    pub fn of_suite<T>(
        &self,
        draft: &str,
        category: &str,
        description: &str,
        look: impl FnOnce(&Case, &BTreeMap<String, String>) -> T,
    ) -> Option<T> {
        let mut suites = self.suites.borrow_mut();
        let suite = suites
            .entry(draft.to_owned())
            .or_insert_with(|| self.suite(draft).unwrap_or_default());
        let case = suite.cases.get(&(category.to_owned(), description.to_owned()))?;
        Some(look(case, &suite.documents))
    }

    fn suite(&self, draft: &str) -> Option<Suite> {
        let data = self.data.as_deref();
        let directory = data
            .map(|data| data.join("JSON-Schema-Test-Suite"))
            .filter(|data| data.is_dir())
            .or_else(|| locate("test-suite", data).ok())?;
        let suite = TestSuite::open(&directory).ok()?;
        let draft: Draft = draft.parse().ok()?;
        let parts = [SuitePart::Required, SuitePart::Optional, SuitePart::OptionalFormat];
        let cases = parts
            .iter()
            .flat_map(|part| suite.cases(draft, *part).unwrap_or_default());
        let cases = cases.map(|case| ((case.category.clone(), case.description.clone()), case));
        Some(Suite {
            cases: cases.collect(),
            documents: suite.remotes(draft).unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    #[test]
    fn schemas_are_found_where_the_run_found_them_unless_they_changed() {
        let data = tempfile::tempdir().unwrap();
        let directory = data.path().join("mine");
        fs::create_dir(&directory).unwrap();
        for name in ["a", "b"] {
            fs::write(
                directory.join(format!("{name}.json")),
                format!(r#"{{"const": "{name}"}}"#),
            )
            .unwrap();
        }
        let mut catalog = Catalog::empty();
        catalog.add_directory(&directory).unwrap();
        let sample = Subsample {
            limit: Some(1),
            seed: None,
        };
        let taken = catalog.select(&["mine"], sample).unwrap();
        let manifest = json!({
            "command": ["maskwright", "bench", format!("--data={}", directory.display()), "--limit", "1"],
            "settings": {"datasets": [DatasetSettings::of(&taken[0])]},
        });
        let schema = |data| {
            Schemas::new(data)
                .with_recorded([&manifest])
                .of_dataset("mine", "a", (0, 0))
        };
        assert_eq!(schema(None).as_deref(), Some(r#"{"const": "a"}"#));
        assert_eq!(
            schema(Some(data.path())).as_deref(),
            Some(r#"{"const": "a"}"#),
            "a directory that was given"
        );
        assert_eq!(
            schema(Some(Path::new("missing"))),
            None,
            "a directory that was given counts alone"
        );
        fs::write(directory.join("a.json"), "{}").unwrap();
        assert_eq!(schema(None), None);
    }
}
