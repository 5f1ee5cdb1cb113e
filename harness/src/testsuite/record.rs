//! [`SuiteRecord`]: what one framework did with one case of the Test Suite.

use serde::{Deserialize, Serialize};

use crate::run::directory::Recorded;
use crate::testsuite::conformance::CaseOutcome;

/// One line of `records.jsonl` of a run of `maskwright testsuite`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuiteRecord {
    /// Which framework and case.
    #[serde(flatten)]
    pub key: SuiteKey,
    /// What became of it.
    pub outcome: CaseOutcome,
}

/// What a [`SuiteRecord`] is about.
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
