//! The report of a run of `bench --tools`, made from its records.

use super::run::RunRecords;
use super::{in_order, names};
use crate::tools::record::CallRecord;
use crate::tools::report::ToolReport;
use crate::tools::rows::{keys_of_records, rows};

/// Returns the tables of a run of `bench --tools`, as printed by the run itself.
pub fn report(run: &RunRecords<CallRecord>) -> ToolReport {
    let mut keys = keys_of_records(&run.records);
    let place = |list: &str, name: &str| {
        let known = names(&run.settings, list);
        // A name that is missing in the manifest comes last.
        known.iter().position(|known| known == name).unwrap_or(usize::MAX)
    };
    keys.sort_by_key(|key| (place("models", &key.model), place("frameworks", &key.framework)));
    let found = run.records.iter().map(|record| record.key.dataset.as_str());
    let datasets = in_order(names(&run.settings, "datasets"), found);
    let sized = datasets.into_iter().map(|name| {
        let known = run.settings["datasets"].as_array().into_iter().flatten();
        let mut own = known.filter(|dataset| dataset["name"] == *name);
        let size = own
            .next()
            .and_then(|dataset| dataset["instances"].as_u64())
            .unwrap_or(0);
        (name, usize::try_from(size).unwrap_or(usize::MAX))
    });
    ToolReport {
        rows: rows(&run.records, &keys, &sized.collect::<Vec<_>>()),
        warnings: run.warnings.clone(),
    }
}
