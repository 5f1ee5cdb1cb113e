//! The report of `ifstruct run` from records and samples.

use maskwright_suites::ifstruct::{Sample, Samples};

use super::run::RunRecords;
use crate::ifstruct::record::ReplyRecord;
use crate::ifstruct::report::{Row, rows};

/// The replies of a run whose samples are known, each with its sample.
pub fn replies<'r>(run: &'r RunRecords<ReplyRecord>, samples: &'r Samples) -> Vec<(&'r ReplyRecord, &'r Sample)> {
    let with_sample = |record: &'r ReplyRecord| Some((record, samples.with_seed(record.key.seed)?));
    run.records.iter().filter_map(with_sample).collect()
}

/// The rows of a run of `ifstruct run`, as the run itself has made them.
pub fn report(run: &RunRecords<ReplyRecord>, samples: &Samples) -> Vec<Row> {
    rows(&replies(run, samples))
}
