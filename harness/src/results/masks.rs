//! The report of `masks` from records.

use maskwright_suites::validate::Scoring;

use super::bench::ReadOptions;
use super::run::RunRecords;
use super::{in_order, names};
use crate::frameworks::FrameworkSettings;
use crate::masks::record::MaskRecord;
use crate::masks::report::speed;
use crate::masks::rows::{MaskRow, paired_means, rows};
use crate::run::machine_load::spread_warning;

/// Figures of a run of `masks`, from which its tables are made.
pub struct MaskResults {
    /// The frameworks, in the order of the rows.
    pub names: Vec<String>,
    /// Versions and options of the frameworks.
    pub frameworks: Vec<FrameworkSettings>,
    /// The rows.
    pub rows: Vec<MaskRow>,
    /// Sentences on the lead of the fastest framework, and warnings about the times.
    pub sentences: Vec<String>,
}

/// The figures of a run of `masks`, as the run itself has made them.
pub fn results(run: &RunRecords<MaskRecord>, reading: ReadOptions) -> MaskResults {
    let of_records = run.records.iter().map(|record| record.key.framework.as_str());
    let names = in_order(names(&run.settings, "frameworks"), of_records);
    let frameworks: Vec<FrameworkSettings> =
        serde_json::from_value(run.settings["frameworks"].clone()).unwrap_or_default();
    let rows = rows(&run.records, &names, reading.scoring == Scoring::Strict);
    let mut sentences = speed(&rows, |one, other| paired_means(&run.records, &names, one, other));
    sentences.extend(run.warnings.iter().cloned());
    sentences.extend(spread_warning(run.records.iter().map(|record| &record.repeats_s[..])));
    MaskResults {
        names,
        frameworks,
        rows,
        sentences,
    }
}
