//! The report of `coverage` from records.

use super::run::RunRecords;
use super::{in_order, names};
use crate::coverage::record::CoverageRecord;
use crate::coverage::report::CoverageReport;
use crate::coverage::rows::rows;

/// The frameworks of a run, in the order of its manifest.
pub fn frameworks(run: &RunRecords<CoverageRecord>) -> Vec<String> {
    let of_records = run.records.iter().map(|record| record.key.framework.as_str());
    in_order(names(&run.settings, "frameworks"), of_records)
}

/// The tables of a run of `coverage`, as the run itself has made them, of the frameworks that [`frameworks`] gives.
pub fn report<'r>(run: &'r RunRecords<CoverageRecord>, frameworks: &'r [String]) -> CoverageReport<'r> {
    let mut datasets: Vec<String> = run.records.iter().map(|record| record.key.dataset.clone()).collect();
    datasets.sort();
    datasets.dedup();
    CoverageReport {
        rows: rows(&run.records, &datasets, frameworks),
        frameworks,
        records: &run.records,
    }
}
