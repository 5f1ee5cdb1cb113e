//! The report of `testsuite` from records.

use super::names;
use super::run::RunRecords;
use crate::frameworks::FrameworkSettings;
use crate::testsuite::record::{SuiteRecord, conformances};
use crate::testsuite::report::Sheet;

/// The tables of a run of the Test Suite, as the run itself has made them. Of an unfinished run they have the cases that each framework
/// came to.
pub fn sheet(run: &RunRecords<SuiteRecord>) -> Sheet {
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let mut frameworks = conformances(&run.records, &names(&run.settings, "frameworks"));
    frameworks.retain(|one| !one.cases.is_empty());
    let known: Vec<FrameworkSettings> = serde_json::from_value(run.settings["frameworks"].clone()).unwrap_or_default();
    let settings = frameworks.iter().map(|one| {
        let own = known.iter().find(|known| known.name == one.framework).cloned();
        own.unwrap_or_else(|| FrameworkSettings {
            name: one.framework.clone(),
            version: String::new(),
            options: String::new(),
        })
    });
    Sheet {
        draft: text(&run.settings["draft"]),
        vocabulary: text(&run.settings["vocabulary"]),
        settings: settings.collect(),
        frameworks,
        paper: None,
    }
}
