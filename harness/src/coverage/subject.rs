//! [`Subject`]: a schema whose coverage is tested.

use std::collections::BTreeMap;

use clap::ValueEnum;
use maskwright_suites::dataset::Subsample;
use maskwright_suites::mask_bench::{MaskBench, MaskBenchError, MaskBenchFile};
use maskwright_suites::test_suite::{Case, Draft, SuitePart, TestSuite, TestSuiteError};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A source of schemas with labelled documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// MaskBench: schemas of JSONSchemaBench and others (`maskwright fetch jsonschemabench`)
    #[default]
    Maskbench,
    /// The JSON Schema Test Suite (`maskwright fetch test-suite`)
    Testsuite,
}

impl Source {
    /// Both sources, in the order of reports.
    pub const ALL: [Self; 2] = [Self::Maskbench, Self::Testsuite];

    /// The name that reports show.
    pub fn name(self) -> &'static str {
        match self {
            Self::Maskbench => "MaskBench",
            Self::Testsuite => "the JSON Schema Test Suite",
        }
    }
}

/// A schema with the documents that come with it.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Source of the schema and of the labels of its documents.
    pub source: Source,
    /// The dataset.
    pub dataset: String,
    /// Name of the schema in the dataset.
    pub name: String,
    /// Text of the schema.
    pub schema: String,
    /// The documents that the schema may refer to.
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
            source: Source::Maskbench,
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
                source: Source::Testsuite,
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

/// SHA-256 of schemas with their names, documents and labels, in order.
pub fn hash(subjects: &[Subject]) -> String {
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    for subject in subjects {
        for text in [&subject.dataset, &subject.name, &subject.schema] {
            add(text);
        }
        for (name, document) in &subject.documents {
            add(name);
            add(document);
        }
        for (text, valid) in &subject.given {
            add(text);
            add(if *valid { "valid" } else { "invalid" });
        }
    }
    hex::encode(hash.finalize())
}

/// Returns the dataset of a file of MaskBench: the part of its name before `---`, or else before the first `_`.
pub fn dataset_of(name: &str) -> &str {
    match name.split_once("---") {
        Some((dataset, _)) => dataset,
        None => name.split('_').next().unwrap_or(name),
    }
}
