//! [`CoverageRecord`]: the verdicts of one framework on the documents of one schema.

use serde::{Deserialize, Serialize};

use super::documents::Origin;
use super::subject::Source;
use super::unseen::Tried;
use crate::bench::record::CompileFailure;
use crate::run::directory::Recorded;
use crate::worker::trial::Ending;

/// One line of `records.jsonl` of a run of `maskwright coverage --true`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoverageRecord {
    /// Key of the record: framework, dataset and schema.
    pub key: CoverageKey,
    /// Reason for which the schema could not be used at all; it then counts for no framework.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unusable: Option<String>,
    /// Reason for which the schema was refused, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compile_error: Option<CompileFailure>,
    /// Failure of the worker while compiling, where it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<Ending>,
    /// Failure of the worker while replaying documents, where it failed: the schema was taken, but some documents have no verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay_ending: Option<Ending>,
    /// SHA-256 of the documents.
    #[serde(default)]
    pub documents_sha256: String,
    /// Documents that are valid, whether they were replayed or not.
    #[serde(default)]
    pub valid: usize,
    /// Documents that are invalid.
    #[serde(default)]
    pub invalid: usize,
    /// Documents on which the framework gave a verdict.
    #[serde(default)]
    pub verdicts: usize,
    /// Valid documents that were blocked.
    #[serde(default)]
    pub blocked: usize,
    /// Invalid documents that were let through.
    #[serde(default)]
    pub let_through: usize,
    /// Source of the dataset's documents and of their labels.
    #[serde(default)]
    pub source: Source,
    /// Documents of the dataset that were left out because the judge contradicts their label.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub disputed: usize,
    /// The smallest valid document found that is blocked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_constrained: Option<CounterExample>,
    /// The smallest invalid document found that is let through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under_constrained: Option<CounterExample>,
    /// The schema, where there is a counter-example and it is short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Key of a [`CoverageRecord`]: framework, dataset and schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CoverageKey {
    /// The framework.
    pub framework: String,
    /// The dataset.
    pub dataset: String,
    /// Name of the schema in the dataset.
    pub schema: String,
}

/// A document that shows a defect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterExample {
    /// The document.
    pub text: String,
    /// Origin of the document that was reduced to this one.
    pub origin: Origin,
    /// The judge's objection to the document; none where the document is valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl Recorded for CoverageRecord {
    type Key = CoverageKey;

    fn key(&self) -> &CoverageKey {
        &self.key
    }
}

impl CoverageRecord {
    /// A record without results.
    pub fn empty(key: CoverageKey) -> Self {
        Self {
            key,
            unusable: None,
            compile_error: None,
            ending: None,
            replay_ending: None,
            documents_sha256: String::new(),
            valid: 0,
            invalid: 0,
            verdicts: 0,
            blocked: 0,
            let_through: 0,
            source: Source::default(),
            disputed: 0,
            over_constrained: None,
            under_constrained: None,
            schema: None,
        }
    }

    /// Whether there are documents to judge a framework by.
    pub fn has_documents(&self) -> bool {
        self.valid + self.invalid > 0
    }

    /// Whether the framework took the schema (definition 5.1), whatever the verdicts on its documents.
    pub fn is_declared(&self) -> bool {
        self.compile_error.is_none() && self.ending.is_none()
    }

    /// Whether there are verdicts of the framework, and the worker did not fail before the last.
    fn is_tested(&self) -> bool {
        self.is_declared() && self.replay_ending.is_none() && self.verdicts > 0
    }

    /// The verdicts on the documents, where there are some.
    pub fn tried(&self) -> Option<Tried> {
        self.is_tested().then_some(Tried {
            documents: self.verdicts,
            wrong: self.blocked + self.let_through,
        })
    }

    /// Whether the framework took the schema and blocks a document that is valid (definition 5.4). A refused schema blocks all valid documents, but
    /// is counted as refused.
    pub fn is_over_constrained(&self) -> bool {
        self.blocked > 0
    }

    /// Whether the framework lets a document through that is invalid (definition 5.5).
    pub fn is_under_constrained(&self) -> bool {
        self.let_through > 0
    }

    /// Whether no document shows that something valid is blocked. A refused schema blocks all that is valid, which is nothing where no valid
    /// document is known, as in the paper's listing 2: nothing may be written under it. A framework that failed, or gave no verdict, shows nothing.
    pub fn blocks_nothing(&self) -> bool {
        match self.compile_error {
            Some(_) => self.valid == 0,
            None => self.is_tested() && !self.is_over_constrained(),
        }
    }

    /// Whether no document shows that something invalid is let through. A refused schema lets nothing through; a framework that failed, or gave no
    /// verdict, shows nothing.
    pub fn lets_nothing_through(&self) -> bool {
        match self.compile_error {
            Some(_) => true,
            None => self.is_tested() && !self.is_under_constrained(),
        }
    }

    /// Whether no document tells the framework's constraints from the schema (definition 5.3).
    pub fn is_truly_covered(&self) -> bool {
        self.blocks_nothing() && self.lets_nothing_through()
    }
}
