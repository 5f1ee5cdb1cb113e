//! [`SuiteRecord`]: the outcome of one framework on one case of the Test Suite.

use serde::{Deserialize, Serialize};

use crate::run::directory::Recorded;
use crate::testsuite::conformance::{CaseOutcome, Conformance};

/// One line of `records.jsonl` of a run of `maskwright testsuite`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuiteRecord {
    /// Key of the record: framework and case.
    #[serde(flatten)]
    pub key: SuiteKey,
    /// The framework's outcome on the case.
    pub outcome: CaseOutcome,
}

/// Key of a [`SuiteRecord`]: the framework and the number of the case.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SuiteKey {
    /// The framework.
    pub framework: String,
    /// The case's place among the cases of the run, from 0.
    pub number: usize,
}

impl Recorded for SuiteRecord {
    type Key = SuiteKey;

    fn key(&self) -> &SuiteKey {
        &self.key
    }
}

/// The outcomes of every framework of a run of the Test Suite: those of `frameworks` first, in their order, then others as they occur.
pub fn conformances(records: &[SuiteRecord], frameworks: &[String]) -> Vec<Conformance> {
    let mut names: Vec<&str> = frameworks.iter().map(String::as_str).collect();
    for record in records {
        if !names.contains(&record.key.framework.as_str()) {
            names.push(&record.key.framework);
        }
    }
    let of_framework = |name: &str| {
        let mut own: Vec<&SuiteRecord> = records.iter().filter(|record| record.key.framework == name).collect();
        own.sort_by_key(|record| record.key.number);
        Conformance::new(name, own.into_iter().map(|record| record.outcome.clone()).collect())
    };
    names.into_iter().map(of_framework).collect()
}
