//! [`Row`]: a framework's figures on a dataset, derived from records.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::record::{GenerationRecord, Record};
use crate::statistics::Spread;

/// One row of the benchmark's table. Figures that do not apply are `None`, null in JSON.
///
/// The times are medians over the schemas that every framework of the run covers ([`Row::compared`] of them), so
/// that a framework does not look fast by refusing what is slow; [`Row::own`] has them over the framework's own.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The framework; `none` for the model alone.
    pub framework: String,
    /// The dataset.
    pub dataset: String,
    /// Schemas measured; those no answer can be judged by are left out.
    pub instances: usize,
    /// Share of the schemas that compile (paper, definition 5.1).
    pub declared: Option<f64>,
    /// Share of the schemas whose answer is valid (paper, definition 5.2).
    pub empirical: Option<f64>,
    /// Share of the schemas that compile whose answer is valid; of all schemas for the model alone.
    pub compliance: Option<f64>,
    /// Number of schemas behind the figures below.
    pub compared: usize,
    /// Medians over the schemas that every framework covers.
    #[serde(flatten)]
    pub medians: Figures,
    /// 95th percentiles over the same schemas.
    pub p95: Figures,
    /// 99th percentiles over the same schemas.
    pub p99: Figures,
    /// Medians over the schemas that this framework covers.
    pub own: Figures,
}

/// Times and counts of answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Grammar compilation time, in seconds.
    pub gct_s: Option<f64>,
    /// Time from the start of generation to the first token, in seconds.
    pub ttft_s: Option<f64>,
    /// The same with the compilation before it, in seconds.
    pub ttft_with_gct_s: Option<f64>,
    /// Mean time per output token after the first, in milliseconds.
    pub tpot_ms: Option<f64>,
    /// Total generation time, in seconds.
    pub tgt_s: Option<f64>,
    /// Tokens of the answer, forced ones included.
    pub output_tokens: Option<f64>,
    /// Forced tokens.
    pub forced_tokens: Option<f64>,
    /// Time of the framework per mask, in microseconds.
    pub mask_us: Option<f64>,
    /// The part of it that the forward pass does not hide, in microseconds.
    pub exposed_mask_us: Option<f64>,
}

/// The rows of a run: for each dataset, in the order of `datasets`, one per framework, in the order of `frameworks`.
pub fn rows(records: &[Record], datasets: &[String], frameworks: &[String]) -> Vec<Row> {
    let mut groups: HashMap<(&str, &str), Vec<&Record>> = HashMap::new();
    for record in records.iter().filter(|record| record.unusable.is_none()) {
        let key = (record.key.dataset.as_str(), record.key.framework.as_str());
        groups.entry(key).or_default().push(record);
    }
    let mut rows = Vec::new();
    for dataset in datasets {
        let of_dataset: Vec<&[&Record]> = frameworks
            .iter()
            .map(|framework| {
                let key = (dataset.as_str(), framework.as_str());
                groups.get(&key).map_or(&[][..], Vec::as_slice)
            })
            .collect();
        let shared = covered_by_all(&of_dataset);
        let named = frameworks.iter().zip(of_dataset);
        rows.extend(named.map(|(framework, records)| row(framework, dataset, records, &shared)));
    }
    rows
}

/// The schemas that are comparable in every group.
fn covered_by_all<'a>(groups: &[&[&'a Record]]) -> HashSet<&'a str> {
    groups
        .iter()
        .map(|group| {
            let covered = group.iter().filter(|record| record.comparable().is_some());
            covered
                .map(|record| record.key.instance.as_str())
                .collect::<HashSet<_>>()
        })
        .reduce(|shared, covered| shared.intersection(&covered).copied().collect())
        .unwrap_or_default()
}

fn row(framework: &str, dataset: &str, records: &[&Record], shared: &HashSet<&str>) -> Row {
    let share = |part: usize, whole: usize| (whole > 0).then(|| part as f64 / whole as f64);
    let constrained = records.iter().any(|record| record.compile.is_some());
    let compiled = records.iter().filter(|record| record.declared() == Some(true)).count();
    let valid = records.iter().filter(|record| record.is_valid()).count();
    let covered: Vec<Measured> = records
        .iter()
        .filter_map(|record| {
            let generation = record.comparable()?;
            let gct_s = record.compile.as_ref().map(|compile| compile.seconds);
            let instance = record.key.instance.as_str();
            Some(Measured {
                instance,
                gct_s,
                generation,
            })
        })
        .collect();
    let compared: Vec<&Measured> = covered
        .iter()
        .filter(|measured| shared.contains(measured.instance))
        .collect();
    let all: Vec<&Measured> = covered.iter().collect();
    Row {
        framework: framework.to_owned(),
        dataset: dataset.to_owned(),
        instances: records.len(),
        declared: share(compiled, records.len()).filter(|_| constrained),
        empirical: share(valid, records.len()),
        compliance: share(valid, if constrained { compiled } else { records.len() }),
        compared: compared.len(),
        medians: figures(&compared, |spread| spread.median),
        p95: figures(&compared, |spread| spread.p95),
        p99: figures(&compared, |spread| spread.p99),
        own: figures(&all, |spread| spread.median),
    }
}

/// A comparable answer.
struct Measured<'a> {
    instance: &'a str,
    gct_s: Option<f64>,
    generation: &'a GenerationRecord,
}

fn figures(answers: &[&Measured<'_>], pick: impl Fn(Spread) -> f64) -> Figures {
    let over = |figure: fn(&Measured<'_>) -> Option<f64>| {
        Spread::of(answers.iter().filter_map(|answer| figure(answer))).map(&pick)
    };
    Figures {
        gct_s: over(|answer| answer.gct_s),
        ttft_s: over(|answer| answer.generation.ttft_s),
        ttft_with_gct_s: over(|answer| Some(answer.generation.ttft_s? + answer.gct_s.unwrap_or(0.0))),
        tpot_ms: over(|answer| answer.generation.tpot_ms),
        tgt_s: over(|answer| Some(answer.generation.tgt_s)),
        output_tokens: over(|answer| Some(answer.generation.output_tokens as f64)),
        forced_tokens: over(|answer| answer.gct_s.map(|_| answer.generation.forced_tokens as f64)),
        mask_us: over(|answer| answer.generation.mask_us),
        exposed_mask_us: over(|answer| answer.generation.exposed_mask_us),
    }
}

#[cfg(test)]
mod tests {
    use maskwright::CompileErrorKind;
    use maskwright_models::FinishReason;
    use maskwright_suites::validate::Verdict;

    use super::*;
    use crate::record::{CompileFailure, CompileRecord, RecordKey};

    fn record(framework: &str, instance: &str) -> Record {
        Record {
            key: RecordKey {
                framework: framework.to_owned(),
                dataset: "d".to_owned(),
                instance: instance.to_owned(),
            },
            unusable: None,
            compile: None,
            generation: None,
            verdict: None,
        }
    }

    fn compiled(mut record: Record, seconds: f64, error: Option<CompileErrorKind>) -> Record {
        let failure = |kind| CompileFailure {
            kind,
            pointer: None,
            keyword: None,
            message: String::new(),
        };
        let error = error.map(failure);
        record.compile = Some(CompileRecord { seconds, error });
        record
    }

    fn answered(mut record: Record, tgt_s: f64, finish: Option<FinishReason>, valid: bool) -> Record {
        record.generation = Some(GenerationRecord {
            prompt_tokens: 10,
            output_tokens: 5,
            forced_tokens: 2,
            forward_passes: 4,
            finish,
            error: None,
            ttft_s: Some(0.5),
            tpot_ms: Some(1.0),
            tgt_s,
            masks: 3,
            mask_us: None,
            exposed_mask_us: None,
            token_times_us: vec![],
            text: String::new(),
        });
        record.verdict = Some(Verdict {
            parsed: true,
            valid,
            fenced: false,
            problems: vec![],
        });
        record
    }

    #[test]
    fn frameworks_are_compared_where_all_of_them_answered() {
        let end = Some(FinishReason::EndOfSequence);
        let records = [
            answered(compiled(record("a", "1"), 0.1, None), 1.0, end, true),
            answered(compiled(record("a", "2"), 0.3, None), 3.0, end, false),
            compiled(record("a", "3"), 0.9, Some(CompileErrorKind::Unsupported)),
            answered(
                compiled(record("a", "4"), 0.7, None),
                40.0,
                Some(FinishReason::TimeLimit),
                false,
            ),
            answered(record("none", "1"), 2.0, end, false),
            answered(record("none", "2"), 4.0, Some(FinishReason::TokenLimit), false),
            answered(record("none", "3"), 100.0, end, true),
            answered(record("none", "4"), 100.0, end, false),
            Record::unusable(record("a", "5").key, "not JSON"),
            Record::unusable(record("none", "5").key, "not JSON"),
        ];
        let names = ["a", "none"].map(str::to_owned);
        let rows = rows(&records, &["d".to_owned()], &names);
        let [a, none] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!(
            (a.instances, none.instances),
            (4, 4),
            "unusable schemas count for nobody"
        );
        assert_eq!((a.compared, none.compared), (2, 2));
        assert_eq!(
            (a.declared, a.empirical, a.compliance),
            (Some(0.75), Some(0.25), Some(1.0 / 3.0))
        );
        assert_eq!(
            (none.declared, none.empirical, none.compliance),
            (None, Some(0.25), Some(0.25))
        );
        assert_eq!((a.medians.tgt_s, none.medians.tgt_s), (Some(2.0), Some(3.0)));
        assert_eq!((a.own.tgt_s, none.own.tgt_s), (Some(2.0), Some(52.0)));
        assert_eq!((a.medians.gct_s, none.medians.gct_s), (Some(0.2), None));
        assert_eq!(
            (a.medians.ttft_with_gct_s, none.medians.ttft_with_gct_s),
            (Some(0.7), Some(0.5))
        );
        assert_eq!((a.medians.forced_tokens, none.medians.forced_tokens), (Some(2.0), None));
    }

    #[test]
    fn rows_without_records_are_empty_not_missing() {
        let rows = rows(&[], &["d".to_owned()], &["a".to_owned()]);
        assert_eq!(
            (rows[0].instances, rows[0].empirical, rows[0].compliance),
            (0, None, None)
        );
        assert_eq!(rows[0].medians, Figures::default());
    }
}
