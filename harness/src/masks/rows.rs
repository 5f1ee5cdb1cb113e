//! [`MaskRow`]: a framework's figures on MaskBench, derived from records.

use std::collections::{BTreeMap, HashMap, HashSet};

use maskwright_worker::protocol::Time;
use serde::Serialize;

use crate::masks::record::MaskRecord;
use crate::report::statistics::quantile;
use crate::worker::trial::EndingKind;

/// A framework's figures.
///
/// A schema passes if it compiles and every instance is accepted or rejected rightly. The other counts are of schemas
/// too, and a schema can be in more than one of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MaskRow {
    /// The framework.
    #[serde(skip)]
    pub framework: String,
    /// Time between masks, over the schemas that this framework compiles and replays to the end.
    #[serde(flatten)]
    pub own: Times,
    /// Time between masks, over the schemas that every framework of the run compiles and replays to the end.
    pub shared: Times,
    /// Schemas tried, without those of [`Self::unusable`].
    pub schemas: usize,
    /// Files whose schema or documents cannot be used, so that they count in no other figure.
    pub unusable: usize,
    /// Schemas that pass.
    pub passing: usize,
    /// Schemas refused.
    pub compile_errors: usize,
    /// Schemas of which a valid instance was rejected.
    pub validation_errors: usize,
    /// Compiled schemas of which a valid instance was replayed unchanged, because no text in the framework's style was found for it.
    pub not_rewritten: usize,
    /// Schemas of which an invalid instance was accepted.
    pub invalidation_errors: usize,
    /// Schemas on which a limit on time was reached.
    pub timeouts: usize,
    /// Schemas on which the worker crashed, or did not keep to the protocol.
    pub crashes: usize,
    /// Schemas on which the limit on memory was reached.
    pub out_of_memory: usize,
    /// Largest resident memory of the worker in the whole run, in MiB.
    pub peak_rss_mib: u64,
    /// Memory of single compiled schemas; none where the framework does not tell.
    pub schema_kib: Option<SchemaMemory>,
    /// Share of the accepted tokens that were forced; none where no framework was asked.
    pub forced_share: Option<f64>,
    /// Reasons for which schemas were refused, with their numbers, the most frequent first.
    pub compile_error_reasons: Vec<(String, usize)>,
    /// Words on crashes and breaches of the protocol, with their numbers, the most frequent first.
    pub crash_reasons: Vec<(String, usize)>,
}

/// Memory of compiled schemas after their instances, each by itself, in KiB.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SchemaMemory {
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
    /// The largest.
    pub max: f64,
}

/// Times over a set of schemas, in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Times {
    /// Time per token for mask and advance (TBM), in processor time of the worker, all threads.
    pub tbm_us: TimeQuantiles,
    /// Time of compilation and first mask (TTFM), in processor time of the worker, all threads.
    pub ttfm_us: TimeQuantiles,
    /// TBM in elapsed time.
    pub tbm_wall_us: TimeQuantiles,
    /// TTFM in elapsed time.
    pub ttfm_wall_us: TimeQuantiles,
    /// Number of tokens behind the times between masks.
    pub tokens: usize,
    /// Number of schemas behind the times between masks: those with a token.
    pub with_tokens: usize,
    /// Number of schemas behind the times of first masks.
    pub measured: usize,
}

/// Mean and quantiles; all absent where there is no figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct TimeQuantiles {
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// 25th percentile.
    pub p25: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 75th percentile.
    pub p75: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// 99.9th percentile.
    pub p999: Option<f64>,
    /// The largest.
    pub max: Option<f64>,
}

impl TimeQuantiles {
    /// The spread of times in nanoseconds, in microseconds.
    pub fn of_nanoseconds(times: impl IntoIterator<Item = u64>) -> Self {
        let mut values: Vec<f64> = times.into_iter().map(|time| time as f64 / 1e3).collect();
        values.sort_unstable_by(f64::total_cmp);
        let at = |q| quantile(&values, q);
        Self {
            mean: (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64),
            p25: at(0.25),
            p50: at(0.5),
            p75: at(0.75),
            p90: at(0.9),
            p95: at(0.95),
            p99: at(0.99),
            p999: at(0.999),
            max: at(1.0),
        }
    }
}

/// Every time of a framework, in nanoseconds of processor time of its process, over the schemas that every framework of
/// the run compiles and replays to the end.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedTimes {
    /// The framework.
    pub framework: String,
    /// Mask and advance, of every token.
    pub tbm_ns: Vec<u64>,
    /// Compilation and first mask, of every schema.
    pub ttfm_ns: Vec<u64>,
}

/// The times behind [`MaskRow::shared`], in the order of `frameworks`.
pub fn shared_times(records: &[MaskRecord], frameworks: &[String]) -> Vec<SharedTimes> {
    let by_framework = ByFramework::new(records, frameworks);
    frameworks
        .iter()
        .map(|name| {
            let records = by_framework.shared(name);
            SharedTimes {
                framework: name.clone(),
                tbm_ns: records
                    .iter()
                    .flat_map(|record| record.cpu_ns.iter().copied())
                    .collect(),
                ttfm_ns: first_mask_times(&records, |time| time.cpu_ns).collect(),
            }
        })
        .collect()
}

/// The mean times between masks of two frameworks in pairs, in nanoseconds of processor time: one for each schema that every
/// framework compiles and replays to the end.
pub fn paired_means(records: &[MaskRecord], frameworks: &[String], one: &str, other: &str) -> Vec<(f64, f64)> {
    let by_framework = ByFramework::new(records, frameworks);
    let means = |framework: &str| -> BTreeMap<&str, f64> {
        let shared = by_framework.shared(framework).into_iter();
        let with_times = shared.filter(|record| !record.cpu_ns.is_empty());
        let means = with_times.map(|record| {
            let sum: u64 = record.cpu_ns.iter().sum();
            (record.key.file.as_str(), sum as f64 / record.cpu_ns.len() as f64)
        });
        means.collect()
    };
    let others = means(other);
    let pairs = means(one).into_iter();
    pairs
        .filter_map(|(file, mean)| Some((mean, *others.get(file)?)))
        .collect()
}

/// The rows of a run, in the order of `frameworks`. With `check_end`, a document is accepted only if it may end.
pub fn rows(records: &[MaskRecord], frameworks: &[String], check_end: bool) -> Vec<MaskRow> {
    let by_framework = ByFramework::new(records, frameworks);
    frameworks
        .iter()
        .map(|name| row(name, &by_framework, check_end))
        .collect()
}

/// Usable records, and the files that every framework compiled and replayed to the end.
struct ByFramework<'a> {
    /// Number of files of each framework that cannot be used.
    unusable: HashMap<&'a str, usize>,
    records: HashMap<&'a str, Vec<&'a MaskRecord>>,
    shared: HashSet<&'a str>,
}

impl<'a> ByFramework<'a> {
    fn new(records: &'a [MaskRecord], frameworks: &[String]) -> Self {
        let mut sorted = Self {
            unusable: HashMap::new(),
            records: HashMap::new(),
            shared: HashSet::new(),
        };
        for record in records {
            match record.unusable {
                Some(_) => *sorted.unusable.entry(&record.key.framework).or_default() += 1,
                None => sorted.records.entry(&record.key.framework).or_default().push(record),
            }
        }
        let shared = frameworks.iter().map(|name| {
            let measured = sorted.of(name).iter().filter(|record| record.is_measured());
            measured.map(|record| record.key.file.as_str()).collect()
        });
        let shared = shared.reduce(|all: HashSet<&str>, one| all.intersection(&one).copied().collect());
        sorted.shared = shared.unwrap_or_default();
        sorted
    }

    fn of(&self, framework: &str) -> &[&'a MaskRecord] {
        self.records.get(framework).map_or(&[][..], Vec::as_slice)
    }

    fn measured(&self, framework: &str) -> Vec<&'a MaskRecord> {
        let records = self.of(framework).iter().copied();
        records.filter(|record| record.is_measured()).collect()
    }

    fn shared(&self, framework: &str) -> Vec<&'a MaskRecord> {
        let mut records = self.measured(framework);
        records.retain(|record| self.shared.contains(record.key.file.as_str()));
        records
    }
}

fn row(framework: &str, by_framework: &ByFramework<'_>, check_end: bool) -> MaskRow {
    let records = by_framework.of(framework);
    let count = |property: &dyn Fn(&MaskRecord) -> bool| records.iter().filter(|record| property(record)).count();
    let own = by_framework.measured(framework);
    MaskRow {
        framework: framework.to_owned(),
        own: times(&own),
        shared: times(&by_framework.shared(framework)),
        schemas: records.len(),
        unusable: by_framework.unusable.get(framework).copied().unwrap_or(0),
        passing: count(&|record| record.passes(check_end)),
        compile_errors: count(&|record| record.compile_error.is_some()),
        validation_errors: count(&|record| record.rejects_valid(check_end)),
        not_rewritten: count(&|record| record.compile.is_some() && record.not_rewritten > 0),
        invalidation_errors: count(&|record| record.accepts_invalid(check_end)),
        timeouts: count(&|record| record.ended(&[EndingKind::Timeout])),
        crashes: count(&|record| record.ended(&[EndingKind::Crash, EndingKind::Protocol])),
        out_of_memory: count(&|record| record.ended(&[EndingKind::Memory])),
        peak_rss_mib: records.iter().map(|record| record.peak_rss_mib).max().unwrap_or(0),
        schema_kib: schema_memory(&own),
        forced_share: forced_share(&own),
        compile_error_reasons: reasons(
            records
                .iter()
                .filter_map(|record| Some(&record.compile_error.as_ref()?.message)),
        ),
        crash_reasons: reasons(records.iter().filter_map(|record| {
            let ending = record.ending.as_ref()?;
            matches!(ending.kind, EndingKind::Crash | EndingKind::Protocol).then_some(&ending.message)
        })),
    }
}

fn schema_memory(records: &[&MaskRecord]) -> Option<SchemaMemory> {
    let bytes = records.iter().filter_map(|record| record.schema_bytes);
    let mut kib: Vec<f64> = bytes.map(|bytes| bytes as f64 / 1024.0).collect();
    kib.sort_unstable_by(f64::total_cmp);
    Some(SchemaMemory {
        p50: quantile(&kib, 0.5)?,
        p99: quantile(&kib, 0.99)?,
        max: *kib.last()?,
    })
}

fn times(records: &[&MaskRecord]) -> Times {
    let first = |pick| TimeQuantiles::of_nanoseconds(first_mask_times(records, pick));
    Times {
        tbm_us: TimeQuantiles::of_nanoseconds(records.iter().flat_map(|record| record.cpu_ns.iter().copied())),
        ttfm_us: first(|time| time.cpu_ns),
        tbm_wall_us: TimeQuantiles::of_nanoseconds(records.iter().flat_map(|record| record.wall_ns.iter().copied())),
        ttfm_wall_us: first(|time| time.wall_ns),
        tokens: records.iter().map(|record| record.wall_ns.len()).sum(),
        with_tokens: records.iter().filter(|record| !record.wall_ns.is_empty()).count(),
        measured: records.len(),
    }
}

/// Times of compilation and first mask.
fn first_mask_times(records: &[&MaskRecord], pick: fn(Time) -> u64) -> impl Iterator<Item = u64> {
    records.iter().filter_map(move |record| {
        let (compile, mask) = (record.compile?, record.first_mask?);
        Some(pick(compile) + pick(mask))
    })
}

fn forced_share(records: &[&MaskRecord]) -> Option<f64> {
    let told = records.iter().flat_map(|record| &record.instances);
    let told = told.filter_map(|one| Some((one.forced?, one.accepted)));
    let (forced, tokens) = told.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    (tokens > 0).then(|| forced as f64 / tokens as f64)
}

/// Returns messages with their numbers; parts that differ between schemas (numbers, quoted names) are left out.
fn reasons<'a>(messages: impl Iterator<Item = &'a String>) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for message in messages {
        *counts.entry(generalised(message)).or_default() += 1;
    }
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

/// Returns a message's first line up to 100 characters, with quoted text replaced by `…`.
fn generalised(message: &str) -> String {
    let mut text = String::new();
    let mut quote = None;
    for character in message.lines().next().unwrap_or_default().chars().take(400) {
        match quote {
            Some(open) if character == open => quote = None,
            Some(_) => continue,
            None if matches!(character, '"' | '`') => {
                quote = Some(character);
                text.push('…');
            }
            None => text.push(character),
        }
    }
    text.chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use maskwright::CompileErrorKind;

    use super::*;
    use crate::bench::record::CompileFailure;
    use crate::masks::record::{InstanceRecord, MaskKey};
    use crate::masks::report;
    use crate::worker::trial::Ending;

    fn record(framework: &str, file: &str) -> MaskRecord {
        let key = MaskKey {
            framework: framework.to_owned(),
            file: file.to_owned(),
        };
        let mut record = MaskRecord::unusable(key, String::new());
        record.unusable = None;
        record
    }

    fn replayed(framework: &str, file: &str, instances: &[(bool, bool)], times: &[u64]) -> MaskRecord {
        let mut record = record(framework, file);
        let time = |cpu_ns| Time {
            wall_ns: 2 * cpu_ns,
            cpu_ns,
        };
        record.compile = Some(time(9_000));
        record.first_mask = Some(time(1_000));
        record.cpu_ns = times.to_vec();
        record.wall_ns = times.iter().map(|time| 2 * time).collect();
        record.instances = instances
            .iter()
            .map(|&(valid, complete)| InstanceRecord {
                valid,
                tokens: 4,
                accepted: 4,
                complete,
                forced: Some(1),
                failure: None,
            })
            .collect();
        record
    }

    fn refused(framework: &str, file: &str, message: &str) -> MaskRecord {
        let mut record = record(framework, file);
        record.compile_error = Some(CompileFailure {
            kind: CompileErrorKind::Refused,
            pointer: None,
            keyword: None,
            message: message.to_owned(),
        });
        record
    }

    #[test]
    fn rows_count_schemas_and_compare_shared_ones() {
        let mut hung = record("b", "2");
        hung.ending = Some(Ending {
            kind: EndingKind::Timeout,
            message: String::new(),
        });
        let mut as_it_stands = replayed("a", "2", &[(true, false), (false, true)], &[50_000]);
        as_it_stands.not_rewritten = 1;
        let records = [
            replayed("a", "1", &[(true, true), (false, false)], &[1_000, 3_000]),
            as_it_stands,
            refused("a", "3", "cannot \"x\" at 1"),
            replayed("b", "1", &[(true, true)], &[2_000, 2_000, 2_000]),
            hung,
            refused("b", "3", "no"),
        ];
        let rows = rows(&records, &["a".to_owned(), "b".to_owned()], true);
        let (a, b) = (&rows[0], &rows[1]);
        assert_eq!((a.schemas, a.passing, a.compile_errors), (3, 1, 1));
        assert_eq!((a.validation_errors, a.invalidation_errors, a.timeouts), (1, 1, 0));
        assert_eq!((a.not_rewritten, b.not_rewritten), (1, 0));
        assert_eq!(a.own.tbm_us.mean, Some(18.0));
        assert_eq!((a.own.tokens, a.shared.tokens, a.shared.measured), (3, 2, 1));
        assert_eq!(a.shared.tbm_us.max, Some(3.0));
        assert_eq!(
            (a.shared.ttfm_us.p50, a.shared.ttfm_wall_us.p50),
            (Some(10.0), Some(20.0))
        );
        assert_eq!(a.forced_share, Some(0.25));
        let shared = shared_times(&records, &["a".to_owned(), "b".to_owned()]);
        assert_eq!(
            (&shared[0].tbm_ns[..], &shared[0].ttfm_ns[..]),
            (&[1_000, 3_000][..], &[10_000][..])
        );
        assert_eq!(shared[1].tbm_ns, [2_000; 3]);
        assert_eq!(a.compile_error_reasons, [("cannot … at 1".to_owned(), 1)]);
        assert_eq!((b.passing, b.timeouts, b.own.measured), (1, 1, 1));
    }

    #[test]
    fn files_that_cannot_be_used_are_counted_apart() {
        let key = |framework: &str| MaskKey {
            framework: framework.to_owned(),
            file: "2".to_owned(),
        };
        let mut records = vec![record("a", "1"), record("b", "1")];
        records.extend(["a", "b"].map(|name| MaskRecord::unusable(key(name), "no JSON".to_owned())));
        let rows = rows(&records, &["a".to_owned(), "b".to_owned()], true);
        assert_eq!(
            rows.iter().map(|row| (row.schemas, row.unusable)).collect::<Vec<_>>(),
            [(1, 1); 2]
        );
        let layout = report::Layout {
            style: crate::report::table::Style::Markdown,
            percentiles: false,
        };
        let text = report::text(&rows, &[], &[], layout);
        assert!(text.contains("1 file counts nowhere:"), "{text}");
    }

    #[test]
    fn schemas_without_a_token_are_not_behind_times_between_masks() {
        let of = |framework| {
            let measured = replayed(framework, "1", &[(true, true)], &[1_000, 3_000]);
            [measured, replayed(framework, "without", &[], &[])]
        };
        let names = ["a".to_owned(), "b".to_owned()];
        let records = [of("a"), of("b")].concat();
        let rows = rows(&records, &names, true);
        assert_eq!((rows[0].shared.with_tokens, rows[0].shared.measured), (1, 2));
        let speed = report::speed(&rows, |one, other| paired_means(&records, &names, one, other));
        assert_eq!(
            speed,
            ["a: a mask is 1.00 times as fast as b over 1 schema (geometric means of mean times, 95 % intervals)."]
        );
        let csv = report::csv(&rows);
        let schemas: Vec<&str> = csv.lines().map(|line| line.split(',').nth(4).unwrap()).collect();
        assert_eq!(schemas[1..5], ["1", "1", "2", "2"], "{csv}");
        assert!(report::speed(&rows, |_, _| vec![]).is_empty());
    }

    #[test]
    fn the_papers_scoring_does_not_look_at_the_end() {
        let records = [replayed("a", "1", &[(true, false), (false, false)], &[1])];
        let names = ["a".to_owned()];
        let strict = &rows(&records, &names, true)[0];
        assert_eq!((strict.validation_errors, strict.invalidation_errors), (1, 0));
        let paper = &rows(&records, &names, false)[0];
        assert_eq!((paper.validation_errors, paper.invalidation_errors), (0, 1));
    }
}
