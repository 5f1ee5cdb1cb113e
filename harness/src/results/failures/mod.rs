//! [`Failure`]s: all failures in runs, one by one, each with the schema, text and explanation by which it can be understood.
//!
//! [`of_records`] lists the failures in records; [`explain`] adds the byte and the keywords by this engine.

mod explain;
mod of_records;

use maskwright_suites::validate::Scoring;
use serde::Serialize;

pub use explain::{Explained, explain};

use super::run::Run;
use super::schemas::Schemas;

/// One failure in a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Failure {
    /// The command of the run, such as `bench`.
    pub run_of: &'static str,
    /// Kind of the failure, in a few words.
    pub kind: &'static str,
    /// The model; empty where there is none.
    pub model: String,
    /// The framework, as tables call it.
    pub framework: String,
    /// The dataset, the task, or the category of the Test Suite.
    pub dataset: String,
    /// The schema, case, question or sample.
    pub name: String,
    /// The keyword at fault, as far as it is known; else empty.
    pub keyword: String,
    /// Reason of the failure.
    pub reason: String,
    /// The schema, where it was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The answer or document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The byte of the text at which it left the schema, or at which the framework stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub byte: Option<usize>,
    /// Explanation of the failure by this engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// Whether the text can be explained by the schema.
    #[serde(skip)]
    pub is_explainable: bool,
}

/// Returns the failures of runs, in the order of the runs.
pub fn failures(runs: &[Run], schemas: &Schemas, scoring: Scoring) -> Vec<Failure> {
    runs.iter()
        .flat_map(|run| of_records::of_run(run, schemas, scoring))
        .collect()
}

/// The keyword that a JSON Pointer into a schema leads to: its last segment that is neither a number nor the name of a property.
fn keyword_of(pointer: &str) -> String {
    const OF_NAMES: [&str; 5] = [
        "properties",
        "patternProperties",
        "$defs",
        "definitions",
        "dependentSchemas",
    ];
    let segments: Vec<&str> = pointer.split('/').skip(1).collect();
    let is_keyword = |place: &usize| {
        let is_name = *place > 0
            && OF_NAMES.contains(&segments[place - 1])
            && (*place < 2 || !OF_NAMES.contains(&segments[place - 2]));
        !is_name && segments[*place].parse::<usize>().is_err()
    };
    let last = (0..segments.len()).rev().find(is_keyword);
    last.map_or_else(String::new, |place| segments[place].to_owned())
}

#[cfg(test)]
mod tests {
    use super::keyword_of;

    #[test]
    fn keywords_are_found_in_pointers() {
        for (pointer, keyword) in [
            ("/properties/note/enum", "enum"),
            ("/properties/note", "properties"),
            ("/allOf/0", "allOf"),
            ("/properties/type/type", "type"),
            ("/additionalProperties", "additionalProperties"),
            ("/properties/properties/required", "required"),
            ("", ""),
        ] {
            assert_eq!(keyword_of(pointer), keyword, "{pointer}");
        }
    }
}
