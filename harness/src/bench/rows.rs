//! [`BenchRow`]: a framework's figures on a dataset, derived from records.

use std::collections::{BTreeMap, HashMap, HashSet};

use maskwright_suites::validate::Scoring;
use serde::{Serialize, Serializer};

use crate::bench::failures::Failures;
use crate::bench::record::{GenerationRecord, Record};
use crate::report::paper::PaperRow;
use crate::report::statistics::{Bootstrap, Interval, Spread, wilson_at};
use crate::run::directory::Recorded as _;

/// One row of the benchmark's tables. Figures that do not apply are `None`, null in JSON.
///
/// The times are medians over the schemas that every framework of the run covers with the same model
/// ([`BenchRow::compared`] of them), so that a framework does not look fast by refusing slow schemas; [`BenchRow::own`] has the
/// medians over the framework's own schemas.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BenchRow {
    /// The model.
    pub model: String,
    /// The framework; `none` for the model alone.
    pub framework: String,
    /// The dataset.
    pub dataset: String,
    /// Whether the row is a server's: its times are those at which answers arrived over a network, and contain the server's
    /// compilations.
    pub server: bool,
    /// Number of schemas measured, without those of [`Self::unusable`] and [`Self::no_room`].
    pub instances: usize,
    /// Number of schemas of the dataset that the row is to be asked about, answered or not.
    pub planned: usize,
    /// Number of schemas whose prompt, or the answer of some row, did not fit into the model's context, so that they tell nothing about
    /// a framework. They count in no figure of any row of the model.
    pub no_room: usize,
    /// Number of schemas that no answer can be judged by. They count in no figure of any row.
    pub unusable: usize,
    /// Number of questions without an answer, for reasons that lie neither in the model nor in the framework, or not asked yet.
    pub unanswered: usize,
    /// Share of the schemas that use only documented features of the framework (paper, definition C.1).
    pub theoretical: Option<f64>,
    /// Share of the schemas that the framework takes without an error (paper, definition 5.1).
    pub declared: Option<f64>,
    /// Confidence interval of [`Self::declared`].
    pub declared_ci: Option<Interval>,
    /// Share of the schemas whose answer is valid (paper, definition 5.2).
    pub empirical: Option<f64>,
    /// Confidence interval of [`Self::empirical`].
    pub empirical_ci: Option<Interval>,
    /// Empirical / declared coverage; for the model alone, the empirical coverage.
    pub compliance: Option<f64>,
    /// Confidence interval of [`Self::compliance`], with the number of declared schemas held fixed.
    pub compliance_ci: Option<Interval>,
    /// Compliance without the answers that the framework had to bring to their end before the limit on tokens.
    pub unaided: Option<f64>,
    /// Number of valid answers.
    pub valid: usize,
    /// Schemas that the row refused or failed on.
    #[serde(skip)]
    pub failures: Failures,
    /// Number of schemas that the times below are taken over.
    pub compared: usize,
    /// Medians over the schemas that every framework covers.
    #[serde(flatten)]
    pub medians: Figures,
    /// Confidence intervals of the medians; `gct_s_ci` and so on in JSON.
    #[serde(flatten, serialize_with = "with_suffix")]
    pub median_cis: Figures<Interval>,
    /// 95th percentiles over the same schemas.
    pub p95: Figures,
    /// 99th percentiles over the same schemas.
    pub p99: Figures,
    /// Medians over the schemas that this framework covers.
    pub own: Figures,
}

/// Times and counts of answers; `T` is a number, or a statistic of it such as an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Figures<T = f64> {
    /// Grammar compilation time, in seconds.
    pub gct_s: Option<T>,
    /// Time from the start of generation to the first token, in seconds.
    pub ttft_s: Option<T>,
    /// Time from the start of the compilation to the first token, in seconds.
    pub ttft_with_gct_s: Option<T>,
    /// Mean time per output token after the first, in milliseconds.
    pub tpot_ms: Option<T>,
    /// Total generation time, in seconds.
    pub tgt_s: Option<T>,
    /// Time from the start of the compilation to the end of the generation, in seconds.
    pub tgt_with_gct_s: Option<T>,
    /// Tokens of the answer for each second of the generation.
    pub tokens_per_s: Option<T>,
    /// Tokens of the answer, forced ones included.
    pub output_tokens: Option<T>,
    /// Forced tokens.
    pub forced_tokens: Option<T>,
    /// Time of the framework per mask, in microseconds.
    pub mask_us: Option<T>,
    /// Time per mask that the model waits, in microseconds: the part of [`Self::mask_us`] that the forward pass does not hide, and the
    /// handing over between threads.
    pub exposed_mask_us: Option<T>,
    /// Time for which likely tokens were prepared per mask, in microseconds.
    pub prepared_mask_us: Option<T>,
}

impl<T: Copy> Figures<T> {
    /// Returns the figures with their names.
    pub fn named(&self) -> [(&'static str, Option<T>); 12] {
        [
            ("gct_s", self.gct_s),
            ("ttft_s", self.ttft_s),
            ("ttft_with_gct_s", self.ttft_with_gct_s),
            ("tpot_ms", self.tpot_ms),
            ("tgt_s", self.tgt_s),
            ("tgt_with_gct_s", self.tgt_with_gct_s),
            ("tokens_per_s", self.tokens_per_s),
            ("output_tokens", self.output_tokens),
            ("forced_tokens", self.forced_tokens),
            ("mask_us", self.mask_us),
            ("exposed_mask_us", self.exposed_mask_us),
            ("prepared_mask_us", self.prepared_mask_us),
        ]
    }
}

fn with_suffix<S: Serializer>(figures: &Figures<Interval>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(figures.named().map(|(name, interval)| (format!("{name}_ci"), interval)))
}

/// The models, frameworks and datasets that have rows. Rows are ordered by model, as models first occur, then dataset, then framework.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// Models with their frameworks.
    pub keys: &'a [RowKey],
    /// The datasets, each with the number of its schemas.
    pub datasets: &'a [(String, usize)],
}

/// Key of a row: a model with the framework that constrains it, or a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowKey {
    /// The model.
    pub model: String,
    /// The framework, `none` for the model alone, or the server's name.
    pub framework: String,
    /// Whether the row is a server's.
    pub server: bool,
    /// The paper's row for the same framework, where there is one.
    pub paper: Option<PaperRow>,
}

/// Method by which records become figures: the rules of judging and the confidence intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Method {
    /// The rules by which answers are judged. By the paper's, intervals of shares are bootstraps too, else Wilson's.
    pub scoring: Scoring,
    /// The bootstrap of confidence intervals.
    pub bootstrap: Bootstrap,
}

/// Returns the rows of a run.
pub fn rows(records: &[Record], scope: Scope<'_>, method: Method) -> Vec<BenchRow> {
    let mut groups: HashMap<[&str; 3], Vec<&Record>> = HashMap::new();
    for record in records
        .iter()
        .filter(|record| record.unusable.is_none() && record.is_final())
    {
        let key = &record.key;
        groups
            .entry([&key.model, &key.dataset, &key.framework])
            .or_default()
            .push(record);
    }
    let mut models: Vec<&str> = Vec::new();
    for key in scope.keys {
        if !models.contains(&key.model.as_str()) {
            models.push(&key.model);
        }
    }
    let mut rows = Vec::new();
    for model in models {
        for (dataset, planned) in scope.datasets {
            let keys = scope.keys.iter().filter(|key| key.model == model);
            let of_key = |key: &RowKey| -> Vec<&Record> {
                let key = [model, dataset.as_str(), key.framework.as_str()];
                groups.get(&key).cloned().unwrap_or_default()
            };
            let mut of_dataset: Vec<Vec<&Record>> = keys.clone().map(of_key).collect();
            let no_room: HashSet<&str> = {
                let all = of_dataset.iter().flatten();
                let without = all.filter(|record| record.lacked_room());
                without.map(|record| record.key.instance.as_str()).collect()
            };
            for records in &mut of_dataset {
                records.retain(|record| !no_room.contains(record.key.instance.as_str()));
            }
            let shared = covered_by_all(&of_dataset);
            let size = Size {
                dataset,
                planned: *planned,
                no_room: no_room.len(),
                unusable: unusable(records, model, dataset),
            };
            let with_records = keys.zip(&of_dataset);
            rows.extend(with_records.map(|(key, records)| row(key, size, records, &shared, method)));
        }
    }
    rows
}

/// A dataset with its numbers of schemas: planned, without room, unusable.
#[derive(Clone, Copy)]
struct Size<'a> {
    dataset: &'a str,
    planned: usize,
    no_room: usize,
    /// Number of schemas that no answer can be judged by.
    unusable: usize,
}

/// Returns the number of schemas of a dataset that no answer can be judged by.
fn unusable(records: &[Record], model: &str, dataset: &str) -> usize {
    let unusable = records
        .iter()
        .filter(|record| record.unusable.is_some() && record.key.model == model && record.key.dataset == dataset);
    unusable
        .map(|record| record.key.instance.as_str())
        .collect::<HashSet<_>>()
        .len()
}

/// Returns the times for each token of two rows of a model, in pairs: one for each schema that both rows cover, in all datasets, without
/// those that some row of the model had no room for.
pub fn paired_times(records: &[Record], one: &BenchRow, other: &BenchRow) -> Vec<(f64, f64)> {
    let of_model = records
        .iter()
        .filter(|record| record.is_final() && record.key.model == one.model);
    let no_room: HashSet<(&str, &str)> = of_model.filter(|record| record.lacked_room()).map(question).collect();
    let times = |row: &BenchRow| -> BTreeMap<(&str, &str), f64> {
        let own = records.iter().filter(|record| {
            record.is_final() && (&record.key.model, &record.key.framework) == (&row.model, &row.framework)
        });
        let timed = own.filter_map(|record| {
            Some((question(record), record.comparable()?.tpot_ms?)).filter(|(key, _)| !no_room.contains(key))
        });
        timed.collect()
    };
    // In order, since sums of floating-point numbers depend on it.
    let others = times(other);
    let pairs = times(one).into_iter();
    pairs
        .filter_map(|(key, time)| Some((time, *others.get(&key)?)))
        .collect()
}

/// Returns the dataset and the schema of a record.
fn question(record: &Record) -> (&str, &str) {
    (&record.key.dataset, &record.key.instance)
}

/// Returns the names of the schemas with a comparable answer in every group that has answers: of runs read as one, not all ask for the same
/// frameworks on the same datasets.
fn covered_by_all<'a>(groups: &[Vec<&'a Record>]) -> HashSet<&'a str> {
    groups
        .iter()
        .filter(|group| !group.is_empty())
        .map(|group| {
            let covered = group.iter().filter(|record| record.comparable().is_some());
            covered
                .map(|record| record.key.instance.as_str())
                .collect::<HashSet<_>>()
        })
        .reduce(|shared, covered| shared.intersection(&covered).copied().collect())
        .unwrap_or_default()
}

fn row(key: &RowKey, size: Size<'_>, records: &[&Record], shared: &HashSet<&str>, method: Method) -> BenchRow {
    let share = |part: usize, whole: usize| (whole > 0).then(|| part as f64 / whole as f64);
    // The paper's bootstrap leaves a share of all or nothing without width, however few the schemas are.
    let interval = |part, whole| match method.scoring {
        Scoring::Strict => wilson_at(part, whole, method.bootstrap.confidence),
        Scoring::Paper => method.bootstrap.share(part, whole),
    };
    let count = |holds: &dyn Fn(&Record) -> bool| records.iter().filter(|record| holds(record)).count();
    let constrained = records.iter().any(|record| record.compile.is_some());
    let documented = count(&|record| record.theoretical == Some(true));
    let told = records.iter().any(|record| record.theoretical.is_some());
    let declared = count(&|record| record.declared() == Some(true));
    let valid = count(&|record| record.is_valid(method.scoring));
    let unaided = count(&|record| record.is_valid(method.scoring) && !record.was_helped());
    let judged = if constrained { declared } else { records.len() };
    let covered: Vec<Measured> = records.iter().filter_map(|record| Measured::of(record)).collect();
    let compared: Vec<&Measured> = covered
        .iter()
        .filter(|measured| shared.contains(measured.instance))
        .collect();
    let all: Vec<&Measured> = covered.iter().collect();
    let spread = |pick: fn(Spread) -> f64| move |values: Vec<f64>| Spread::of(values).map(pick);
    BenchRow {
        model: key.model.clone(),
        framework: key.framework.clone(),
        dataset: size.dataset.to_owned(),
        server: key.server,
        instances: records.len(),
        planned: size.planned,
        no_room: size.no_room,
        unusable: size.unusable,
        unanswered: size
            .planned
            .saturating_sub(records.len() + size.no_room + size.unusable),
        theoretical: share(documented, records.len()).filter(|_| told),
        declared: share(declared, records.len()).filter(|_| constrained),
        declared_ci: interval(declared, records.len()).filter(|_| constrained),
        empirical: share(valid, records.len()),
        empirical_ci: interval(valid, records.len()),
        compliance: share(valid, judged),
        compliance_ci: interval(valid, judged),
        unaided: share(unaided, judged),
        valid,
        failures: Failures::of(records, method.scoring),
        compared: compared.len(),
        medians: figures(&compared, spread(|spread| spread.median)),
        median_cis: figures(&compared, |values| method.bootstrap.median(values)),
        p95: figures(&compared, spread(|spread| spread.p95)),
        p99: figures(&compared, spread(|spread| spread.p99)),
        own: figures(&all, spread(|spread| spread.median)),
    }
}

/// A comparable answer with its compilation.
struct Measured<'a> {
    instance: &'a str,
    gct_s: Option<f64>,
    /// Whether the compilation ran while the model read the prompt, so that its time is part of the generation's times.
    gct_within: bool,
    generation: &'a GenerationRecord,
}

impl<'a> Measured<'a> {
    /// Returns the time of the compilation before the generation, in seconds; 0 where the compilation ran during it or there was none.
    fn gct_before(&self) -> f64 {
        self.gct_s.filter(|_| !self.gct_within).unwrap_or(0.0)
    }

    fn of(record: &'a Record) -> Option<Self> {
        Some(Self {
            instance: &record.key.instance,
            gct_s: record.compile.as_ref().and_then(|compile| compile.seconds),
            gct_within: record.compile.as_ref().is_some_and(|compile| compile.beside_prefill),
            generation: record.comparable()?,
        })
    }
}

/// Applies `summarise` to the values of each figure over all answers.
fn figures<T>(answers: &[&Measured<'_>], summarise: impl Fn(Vec<f64>) -> Option<T>) -> Figures<T> {
    let over = |figure: fn(&Measured<'_>) -> Option<f64>| {
        summarise(answers.iter().filter_map(|answer| figure(answer)).collect())
    };
    Figures {
        gct_s: over(|answer| answer.gct_s),
        ttft_s: over(|answer| answer.generation.ttft_s),
        ttft_with_gct_s: over(|answer| Some(answer.generation.ttft_s? + answer.gct_before())),
        tpot_ms: over(|answer| answer.generation.tpot_ms),
        tgt_s: over(|answer| Some(answer.generation.tgt_s)),
        tgt_with_gct_s: over(|answer| Some(answer.generation.tgt_s + answer.gct_before())),
        tokens_per_s: over(|answer| Some(answer.generation.output_tokens as f64 / answer.generation.tgt_s)),
        output_tokens: over(|answer| Some(answer.generation.output_tokens as f64)),
        forced_tokens: over(|answer| answer.gct_s.map(|_| answer.generation.forced_tokens as f64)),
        mask_us: over(|answer| answer.generation.mask_us),
        exposed_mask_us: over(|answer| answer.generation.exposed_mask_us),
        prepared_mask_us: over(|answer| answer.generation.prepared_mask_us),
    }
}

#[cfg(test)]
mod tests;
