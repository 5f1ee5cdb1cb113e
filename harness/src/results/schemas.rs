//! [`Schemas`]: the texts of the schemas that records are about, which records name only, found again in the data.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use maskwright_suites::dataset::{Catalog, Subsample};
use maskwright_suites::locate::{fetched_schemas, locate};
use maskwright_suites::mask_bench::MaskBench;
use maskwright_suites::synthetic::{SchemaGenerator, SchemaSplit};
use maskwright_suites::test_suite::{Case, Draft, SuitePart, TestSuite};

use crate::bench::settings::HELD_OUT;

/// Sources in which the schemas of records are looked up.
pub struct Schemas {
    data: Option<PathBuf>,
    /// Datasets that were looked up, by name; of each, the schemas by name. The key of generated schemas is a name with their number and seed.
    datasets: RefCell<HashMap<String, HashMap<String, String>>>,
    /// The cases of drafts of the Test Suite, by category and description.
    suites: RefCell<HashMap<String, Suite>>,
    mask_bench: Option<MaskBench>,
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
        }
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
        let found = catalog.select(&[dataset], Subsample::default()).unwrap_or_default();
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
