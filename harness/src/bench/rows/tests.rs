//! Records that become rows.

use maskwright::CompileErrorKind;
use maskwright_models::FinishReason;
use maskwright_suites::validate::Verdict;

use super::*;
use crate::bench::record::{CompileFailure, CompileRecord, RecordKey};

fn record(framework: &str, instance: &str) -> Record {
    Record::empty(RecordKey {
        model: "m".to_owned(),
        framework: framework.to_owned(),
        dataset: "d".to_owned(),
        instance: instance.to_owned(),
    })
}

fn tabulate(records: &[Record], models: &[&str], frameworks: &[&str], scoring: Scoring) -> Vec<BenchRow> {
    let key = |model: &str, framework: &str| RowKey {
        model: model.to_owned(),
        framework: framework.to_owned(),
        server: false,
        paper: None,
    };
    let of_model = |model| frameworks.iter().map(move |framework| key(model, framework));
    let scope = Scope {
        keys: &models.iter().flat_map(|model| of_model(*model)).collect::<Vec<_>>(),
        datasets: &[("d".to_owned(), 5)],
    };
    let bootstrap = Bootstrap {
        confidence: 0.95,
        seed: 0,
        resamples: 1000,
    };
    rows(records, scope, Method { scoring, bootstrap })
}

fn compiled(mut record: Record, seconds: f64, error: Option<CompileErrorKind>) -> Record {
    let failure = |kind| CompileFailure {
        kind,
        pointer: None,
        keyword: None,
        message: String::new(),
    };
    let error = error.map(failure);
    record.compile = Some(CompileRecord {
        seconds: Some(seconds),
        beside_prefill: false,
        error,
    });
    record
}

fn answered(mut record: Record, tgt_s: f64, finish: Option<FinishReason>, valid: bool) -> Record {
    record.generation = Some(GenerationRecord {
        prompt_tokens: 10,
        output_tokens: 5,
        forced_tokens: 2,
        reasoning: None,
        forward_passes: 4,
        finish,
        error: None,
        framework_failed: false,
        helped: false,
        ttft_s: Some(0.5),
        tpot_ms: Some(1.0),
        tgt_s,
        masks: 3,
        mask_us: None,
        exposed_mask_us: None,
        prepared_mask_us: None,
        mask_effect: None,
        token_times_us: vec![],
        text: String::new(),
    });
    let verdict = |valid| Verdict {
        parsed: true,
        valid,
        fenced: false,
        problems: vec![],
    };
    record.verdict = Some(verdict(valid));
    record.paper_verdict = Some(verdict(!valid));
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
    let rows = tabulate(&records, &["m"], &["a", "none"], Scoring::Strict);
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
    let rows = tabulate(&[], &["m"], &["a"], Scoring::Strict);
    assert_eq!(
        (rows[0].instances, rows[0].empirical, rows[0].compliance),
        (0, None, None)
    );
    assert_eq!(rows[0].medians, Figures::default());
}

#[test]
fn limits_and_errors_count_as_the_paper_counts_them() {
    let end = Some(FinishReason::EndOfSequence);
    let valid_but_late = answered(
        compiled(record("a", "2"), 0.1, None),
        40.0,
        Some(FinishReason::TimeLimit),
        true,
    );
    let mut failed = answered(compiled(record("a", "4"), 0.1, None), 1.0, None, false);
    failed
        .generation
        .iter_mut()
        .for_each(|generation| generation.framework_failed = true);
    let records = [
        answered(compiled(record("a", "1"), 0.1, None), 1.0, end, true),
        valid_but_late,
        compiled(record("a", "3"), 40.0, Some(CompileErrorKind::LimitExceeded)),
        failed,
    ];
    let rows = tabulate(&records, &["m"], &["a"], Scoring::Strict);
    let figures = (rows[0].declared, rows[0].empirical, rows[0].compliance);
    assert_eq!(figures, (Some(0.5), Some(0.25), Some(0.5)));
    let intervals = |row: &BenchRow| [row.declared_ci, row.empirical_ci, row.compliance_ci];
    assert_eq!(
        intervals(&rows[0]),
        [(2, 4), (1, 4), (1, 2)].map(|(part, whole)| wilson_at(part, whole, 0.95))
    );
    // The paper's bootstrap, in which other answers are as valid: quantiles 0.025 and 0.975 of the binomial distribution, for 4 trials at
    // 0.5, 4 at 0.25 and 2 at 0.5.
    let rows = tabulate(&records, &["m"], &["a"], Scoring::Paper);
    assert_eq!(
        intervals(&rows[0]),
        [Some([0.0, 1.0]), Some([0.0, 0.75]), Some([0.0, 1.0])]
    );
}

#[test]
fn what_did_not_fit_and_what_was_helped_is_counted_apart() {
    let end = Some(FinishReason::EndOfSequence);
    let full = Some(FinishReason::ContextFull);
    let mut helped = answered(compiled(record("a", "2"), 0.1, None), 1.0, end, true);
    helped
        .generation
        .iter_mut()
        .for_each(|generation| generation.helped = true);
    let records = [
        answered(compiled(record("a", "1"), 0.1, None), 1.0, end, true),
        helped,
        answered(compiled(record("a", "3"), 0.1, None), 1.0, full, false),
        answered(record("none", "1"), 1.0, end, false),
        answered(record("none", "3"), 1.0, end, true),
    ];
    let rows = tabulate(&records, &["m"], &["a", "none"], Scoring::Strict);
    let [a, none] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((a.instances, a.no_room, a.planned, a.unanswered), (2, 1, 5, 2));
    assert_eq!((a.compliance, a.unaided), (Some(1.0), Some(0.5)));
    assert_eq!(
        (none.instances, none.no_room, none.compliance, none.unanswered),
        (1, 1, Some(0.0), 3)
    );
}

#[test]
fn models_have_rows_of_their_own_and_scorings_figures_of_their_own() {
    let end = Some(FinishReason::EndOfSequence);
    let of_model = |model: &str, tgt_s: f64, valid: bool, theoretical: bool| {
        let mut record = answered(compiled(record("a", "1"), 0.1, None), tgt_s, end, valid);
        record.key.model = model.to_owned();
        record.theoretical = Some(theoretical);
        record
    };
    let records = [of_model("m", 1.0, true, true), of_model("n", 2.0, false, false)];
    let strict = tabulate(&records, &["n", "m"], &["a"], Scoring::Strict);
    let paper = tabulate(&records, &["n", "m"], &["a"], Scoring::Paper);
    let shares = |rows: &[BenchRow]| -> Vec<_> {
        let row = |row: &BenchRow| (row.model.clone(), row.theoretical, row.empirical, row.medians.tgt_s);
        rows.iter().map(row).collect()
    };
    let row = |model: &str, theoretical, empirical, tgt_s| {
        (model.to_owned(), Some(theoretical), Some(empirical), Some(tgt_s))
    };
    assert_eq!(shares(&strict), [row("n", 0.0, 0.0, 2.0), row("m", 1.0, 1.0, 1.0)]);
    assert_eq!(shares(&paper), [row("n", 0.0, 1.0, 2.0), row("m", 1.0, 0.0, 1.0)]);
    let json = serde_json::to_value(&strict[0]).unwrap();
    assert_eq!(json["tgt_s_ci"], serde_json::json!([2.0, 2.0]));
    assert!(json["mask_us_ci"].is_null() && json["tgt_s"] == 2.0);
}
