//! The report of a run of `bench --tools`, made from its records.

use super::run::RunRecords;
use super::{in_order, is_asked, names};
use crate::tools::record::CallRecord;
use crate::tools::report::ToolReport;
use crate::tools::rows::{keys_of_records, rows};

/// Returns the tables of a run of `bench --tools`, as printed by the run itself; of runs that are read as one, without rows that none of them was
/// asked for.
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
    let mut rows = rows(&run.records, &keys, &sized.collect::<Vec<_>>());
    rows.retain(|row| {
        let mut settings = run.settings_of_each.iter();
        let is_planned = |settings| is_asked(settings, [&row.model, &row.framework], ["datasets", &row.dataset]);
        row.answered + row.unusable > 0 || settings.any(is_planned)
    });
    ToolReport {
        rows,
        warnings: run.warnings.clone(),
    }
}
