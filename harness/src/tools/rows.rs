//! [`CallRow`]: a row's figures on a set of requests, derived from records.

use std::collections::HashMap;

use serde::Serialize;

use super::record::CallRecord;
use crate::frameworks::LM_ONLY;
use crate::report::mcnemar::Comparison;
use crate::report::statistics::{Interval, quantile, wilson};

/// Key of a row: a model and the framework that constrains it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowKey {
    /// The model.
    pub model: String,
    /// The framework; `none` for the model alone.
    pub framework: String,
}

/// A share of requests with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// Number of requests that have the property counted.
    pub part: usize,
    /// Number of requests in all.
    pub whole: usize,
    /// The Wilson interval, for a confidence of 95 %; `None` without any request.
    pub ci: Option<Interval>,
}

impl Share {
    fn of(records: &[&CallRecord], holds: impl Fn(&CallRecord) -> bool) -> Self {
        let (part, whole) = (records.iter().filter(|record| holds(record)).count(), records.len());
        Self {
            part,
            whole,
            ci: wilson(part, whole),
        }
    }

    /// Returns the share, from 0 to 1; `None` without any request.
    pub fn rate(self) -> Option<f64> {
        (self.whole > 0).then(|| self.part as f64 / self.whole as f64)
    }
}

/// One row of the tables. A refused tag, a failure and a reply that was cut off within a call are wrong replies.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallRow {
    /// The set of requests.
    pub dataset: String,
    /// The model.
    pub model: String,
    /// The framework; `none` for the model alone.
    pub framework: String,
    /// The format of calls.
    pub format: String,
    /// Number of requests of the set.
    pub planned: usize,
    /// Number of requests answered.
    pub answered: usize,
    /// Number of requests that could not be asked, or whose prompt does not fit into the model's context: they count nowhere else.
    pub unusable: usize,
    /// Replies with calls, all of them well-formed, among the requests for which a call is right.
    pub parsed: Share,
    /// Replies that call the right functions, among the requests for which a call is right.
    pub right_functions: Share,
    /// Replies that call the right functions with valid arguments, among the requests for which a call is right.
    pub valid_arguments: Share,
    /// Replies that call the right functions with accepted arguments, among the requests for which a call is right.
    pub accepted: Share,
    /// Replies without a call, among the requests for which no call is right.
    pub declined: Share,
    /// Number of requests whose structural tag was refused.
    pub refused: usize,
    /// Number of requests on which the framework failed during the reply.
    pub failed: usize,
    /// Number of replies that were cut off at a limit.
    pub cut_off: usize,
    /// Median time to the first token, in seconds.
    pub ttft_s: Option<f64>,
    /// Median time per output token, in milliseconds.
    pub tpot_ms: Option<f64>,
    /// Median over replies of the framework's time per mask, in microseconds.
    pub mask_us: Option<f64>,
    /// Median time of compiling the structural tag, in milliseconds.
    pub compile_ms: Option<f64>,
    /// Comparison with the model alone: requests that only one of the two rows has right.
    pub against_alone: Option<Comparison>,
}

/// Returns the rows of records, in the order of `keys`, for each set in `datasets`, a name and a number of requests.
pub fn rows(records: &[CallRecord], keys: &[RowKey], datasets: &[(String, usize)]) -> Vec<CallRow> {
    let of_row = |dataset: &str, key: &RowKey| -> Vec<&CallRecord> {
        let own = |record: &&CallRecord| {
            (&record.key.model, &record.key.framework) == (&key.model, &key.framework) && record.key.dataset == dataset
        };
        records.iter().filter(own).collect()
    };
    let mut rows = Vec::new();
    for (dataset, planned) in datasets {
        for key in keys {
            let own = of_row(dataset, key);
            let alone = RowKey {
                framework: LM_ONLY.to_owned(),
                ..key.clone()
            };
            let against = (key.framework != LM_ONLY && keys.contains(&alone)).then(|| of_row(dataset, &alone));
            let mut row = row(dataset, *planned, key, &own);
            row.against_alone = against.map(|alone| compared(&own, &alone));
            rows.push(row);
        }
    }
    rows
}

fn row(dataset: &str, planned: usize, key: &RowKey, records: &[&CallRecord]) -> CallRow {
    let is_usable = |record: &&CallRecord| record.unusable.is_none() && !record.lacked_room();
    let usable: Vec<&CallRecord> = records.iter().copied().filter(is_usable).collect();
    let (calling, declining): (Vec<&CallRecord>, Vec<&CallRecord>) =
        usable.iter().copied().partition(|record| record.expected > 0);
    let generations = || usable.iter().filter_map(|record| record.generation.as_ref());
    let compiled = usable.iter().filter_map(|record| record.compile.as_ref());
    let compiled = compiled.filter(|compile| compile.error.is_none());
    CallRow {
        dataset: dataset.to_owned(),
        model: key.model.clone(),
        framework: key.framework.clone(),
        format: records.first().map(|record| record.format.clone()).unwrap_or_default(),
        planned,
        answered: usable.len(),
        unusable: records.len() - usable.len(),
        parsed: Share::of(&calling, |record| record.is(|judgement| judgement.parsed)),
        right_functions: Share::of(&calling, |record| record.is(|judgement| judgement.right_functions)),
        valid_arguments: Share::of(&calling, |record| record.is(|judgement| judgement.valid_arguments)),
        accepted: Share::of(&calling, CallRecord::is_right),
        declined: Share::of(&declining, CallRecord::is_right),
        refused: usable.iter().filter(|record| record.was_refused()).count(),
        failed: usable.iter().filter(|record| record.failure().is_some()).count(),
        cut_off: usable.iter().filter(|record| record.was_cut_off()).count(),
        ttft_s: median(generations().filter_map(|generation| generation.ttft_s)),
        tpot_ms: median(generations().filter_map(|generation| generation.tpot_ms)),
        mask_us: median(generations().filter_map(|generation| generation.mask_us)),
        compile_ms: median(
            compiled
                .filter_map(|compile| compile.seconds)
                .map(|seconds| seconds * 1e3),
        ),
        against_alone: None,
    }
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    quantile(&values, 0.5)
}

/// Compares two rows on the requests that both have answered.
fn compared(one: &[&CallRecord], other: &[&CallRecord]) -> Comparison {
    let is_usable = |record: &&&CallRecord| record.unusable.is_none() && !record.lacked_room();
    let others: HashMap<&str, bool> = other
        .iter()
        .filter(is_usable)
        .map(|record| (record.key.request.as_str(), record.is_right()))
        .collect();
    let pairs = one.iter().filter(is_usable);
    Comparison::of(pairs.filter_map(|record| Some((record.is_right(), *others.get(record.key.request.as_str())?))))
}

/// Returns the keys of the rows that have records, in the order in which they first occur.
pub fn keys_of_records(records: &[CallRecord]) -> Vec<RowKey> {
    let mut keys: Vec<RowKey> = Vec::new();
    for record in records {
        let key = RowKey {
            model: record.key.model.clone(),
            framework: record.key.framework.clone(),
        };
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}
