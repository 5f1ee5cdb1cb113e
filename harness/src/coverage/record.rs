//! [`CoverageRecord`]: what one framework did with the documents of one schema.

use serde::{Deserialize, Serialize};

use super::documents::Origin;
use crate::bench::record::CompileFailure;
use crate::run::directory::Recorded;
use crate::worker::trial::Ending;

/// One line of `records.jsonl` of a run of `maskwright coverage --true`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoverageRecord {
    /// Which framework and schema.
    pub key: CoverageKey,
    /// Why the schema could not be used at all; it then counts for no framework.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unusable: Option<String>,
    /// Why the schema was refused, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compile_error: Option<CompileFailure>,
    /// How the worker failed, where it did, while compiling or replaying.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<Ending>,
    /// Documents that are valid, whether they were replayed or not.
    #[serde(default)]
    pub valid: usize,
    /// Documents that are invalid.
    #[serde(default)]
    pub invalid: usize,
    /// Valid documents that were blocked.
    #[serde(default)]
    pub blocked: usize,
    /// Invalid documents that were let through.
    #[serde(default)]
    pub let_through: usize,
    /// Documents that were left out because their label is not what the judge says.
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

/// What a [`CoverageRecord`] is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CoverageKey {
    /// The framework.
    pub framework: String,
    /// The data set.
    pub dataset: String,
    /// The schema's name in it.
    pub schema: String,
}

/// A document that shows a defect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterExample {
    /// The document.
    pub text: String,
    /// Where the document was from that it was made smaller from.
    pub origin: Origin,
    /// What the judge says against it; nothing of a valid one.
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
    /// A record of nothing so far.
    pub fn empty(key: CoverageKey) -> Self {
        Self {
            key,
            unusable: None,
            compile_error: None,
            ending: None,
            valid: 0,
            invalid: 0,
            blocked: 0,
            let_through: 0,
            disputed: 0,
            over_constrained: None,
            under_constrained: None,
            schema: None,
        }
    }

    /// Whether the framework took the schema (definition 5.1).
    pub fn is_declared(&self) -> bool {
        self.compile_error.is_none() && self.ending.is_none()
    }

    /// Whether the framework blocks something that is valid (definition 5.4): a document, or, by refusing the schema, all of them.
    pub fn is_over_constrained(&self) -> bool {
        self.blocked > 0
    }

    /// Whether the framework lets something through that is invalid (definition 5.5).
    pub fn is_under_constrained(&self) -> bool {
        self.let_through > 0
    }

    /// Whether no document tells the framework's constraints from the schema (definition 5.3). A refused schema counts as covered
    /// where no valid document of it is known, as in the paper's listing 2: nothing may be written under it.
    pub fn is_truly_covered(&self) -> bool {
        match self.is_declared() {
            true => self.blocked == 0 && self.let_through == 0,
            false => self.ending.is_none() && self.valid == 0,
        }
    }
}
