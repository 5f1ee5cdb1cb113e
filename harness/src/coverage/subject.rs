//! [`Subject`]: a schema whose coverage is tested.

use std::collections::BTreeMap;

use maskwright_suites::dataset::Subsample;
use maskwright_suites::mask_bench::{MaskBench, MaskBenchError, MaskBenchFile};
use maskwright_suites::test_suite::{Case, Draft, SuitePart, TestSuite, TestSuiteError};

/// A schema with the documents that come with it.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The data set.
    pub dataset: String,
    /// Its name in the data set.
    pub name: String,
    /// Its text.
    pub schema: String,
    /// The documents that it may refer to.
    pub documents: BTreeMap<String, String>,
    /// Texts, and whether they are valid by their label.
    pub given: Vec<(String, bool)>,
    /// Whether `format` asserts.
    pub assert_formats: bool,
}

impl Subject {
    /// A file of MaskBench.
    ///
    /// # Errors
    ///
    /// [`MaskBenchError`], where it cannot be read.
    pub fn of_mask_bench(bench: &MaskBench, name: &str) -> Result<Self, MaskBenchError> {
        let MaskBenchFile {
            name,
            schema_text,
            documents,
            instances,
        } = bench.read(name)?;
        Ok(Self {
            dataset: dataset_of(&name).to_owned(),
            name,
            schema: schema_text,
            documents,
            given: instances.into_iter().map(|one| (one.text, one.valid)).collect(),
            assert_formats: true,
        })
    }

    /// A sample of the cases of the Test Suite that every implementation has to pass, of one draft.
    ///
    /// # Errors
    ///
    /// [`TestSuiteError`], where it cannot be read.
    pub fn of_test_suite(suite: &TestSuite, draft: Draft, sample: Subsample) -> Result<Vec<Self>, TestSuiteError> {
        let remotes = suite.remotes(draft)?;
        let cases = suite.cases(draft, SuitePart::Required)?;
        let chosen = sample.positions(cases.len());
        let subject = |at: usize| {
            let Case {
                category,
                description,
                schema_text,
                instances,
            } = &cases[at];
            Self {
                dataset: format!("Test Suite {draft}"),
                name: format!("{at:04} {category}: {description}"),
                schema: schema_text.clone(),
                documents: remotes.clone(),
                given: instances.iter().map(|one| (one.text.clone(), one.valid)).collect(),
                assert_formats: false,
            }
        };
        Ok(chosen.into_iter().map(subject).collect())
    }
}

/// The data set of a file of MaskBench, by its name: what stands before `---`, or else before the first `_`.
pub fn dataset_of(name: &str) -> &str {
    match name.split_once("---") {
        Some((dataset, _)) => dataset,
        None => name.split('_').next().unwrap_or(name),
    }
}
