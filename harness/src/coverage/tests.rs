use std::collections::BTreeMap;

use maskwright::CompileErrorKind;
use maskwright_suites::validate::Validator;
use serde_json::{Value, json};

use super::documents::{Amounts, Documents, Origin};
use super::mutate::{mutants, reductions};
use super::record::{CounterExample, CoverageKey, CoverageRecord};
use super::report::CoverageReport;
use super::rows::{ALL, Defect, findings, rows, unequal};
use super::shrink::{Probe, smallest};
use super::subject::{Source, Subject, dataset_of, hash};
use crate::bench::record::CompileFailure;
use crate::report::statistics::wilson;
use crate::report::table::Style;
use crate::worker::trial::{Ending, EndingKind};

fn subject(schema: &Value, given: &[(&str, bool)]) -> Subject {
    Subject {
        source: Source::Maskbench,
        dataset: "d".to_owned(),
        name: "n".to_owned(),
        schema: schema.to_string(),
        documents: BTreeMap::new(),
        given: given.iter().map(|(text, valid)| ((*text).to_owned(), *valid)).collect(),
        assert_formats: true,
    }
}

const AMOUNTS: Amounts = Amounts {
    sampled: 6,
    mutated: 10,
    seed: 3,
};

#[test]
fn documents_are_what_they_are_called_and_of_all_kinds() {
    let schema = json!({
        "type": "object", "properties": {"a": {"type": "integer", "minimum": 3}, "b": {"type": "array", "items": {"enum": ["x", "y"]}}},
        "required": ["a"], "additionalProperties": false
    });
    // The last label is wrong.
    let given = [(r#"{"a": 4}"#, true), (r#"{"a": 2}"#, false), (r#"{"a": 1}"#, true)];
    let subject = subject(&schema, &given);
    let documents = Documents::of(&subject, AMOUNTS);
    assert_eq!(documents.disputed, 1);
    let judge = Validator::new(&subject.schema).unwrap();
    for one in &documents.all {
        assert_eq!(judge.judge(&one.text).valid, one.valid, "{one:?}");
    }
    let count = |origin, valid| {
        let own = documents
            .all
            .iter()
            .filter(|one| (one.origin, one.valid) == (origin, valid));
        own.count()
    };
    assert_eq!((count(Origin::Given, true), count(Origin::Given, false)), (1, 1));
    assert!(
        count(Origin::Sampled, true) >= 3 && count(Origin::Mutated, true) >= 2,
        "{:?}",
        documents.all
    );
    assert_eq!(count(Origin::Mutated, false), 10);
    let mut texts: Vec<&str> = documents.all.iter().map(|one| one.text.as_str()).collect();
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), documents.all.len(), "no document twice");
    assert_eq!(
        Documents::of(&subject, AMOUNTS).all,
        documents.all,
        "the same seed, the same documents"
    );
}

#[test]
fn the_judge_says_what_sampled_documents_are() {
    let subject = subject(&json!({"type": "integer"}), &[]);
    let mut documents = Documents {
        judge: Validator::new(&subject.schema).ok(),
        ..Documents::default()
    };
    let empty = documents.hash();
    // What an engine that permits too much would have sampled.
    documents.add_made("\"text\"".to_owned(), Origin::Sampled);
    documents.add_made("7".to_owned(), Origin::Sampled);
    let verdicts: Vec<(&str, bool)> = documents.all.iter().map(|one| (one.text.as_str(), one.valid)).collect();
    assert_eq!(
        (verdicts, documents.disputed),
        (vec![("\"text\"", false), ("7", true)], 0)
    );
    let before = documents.hash();
    documents.all[0].valid = true;
    assert!(before != empty && documents.hash() != before, "verdicts count");
}

#[test]
fn changes_of_large_documents_and_many_of_them_are_bounded() {
    let large = json!(["x".repeat(1 << 20)]);
    let found = mutants(&large, usize::MAX, 1);
    assert!((1..=128).contains(&found.len()), "{}", found.len());
    let amounts = Amounts {
        sampled: 0,
        mutated: usize::MAX,
        seed: 1,
    };
    let subject = subject(&json!({"enum": [1, 2]}), &[(r#""long""#, false)]);
    assert_eq!(Documents::of(&subject, amounts).all.len(), 1, "nothing valid to change");
}

#[test]
fn the_shortest_reductions_are_kept() {
    let document: Vec<usize> = (0..3000).collect();
    let found = reductions(&json!(document), 3);
    let half: Vec<usize> = (0..1500).collect();
    assert_eq!(found.len(), 3);
    assert_eq!(found[..2], [json!([]), json!(half)]);
    // Zero in place of four digits is the shortest of what is left.
    assert_eq!(found[2].to_string().len(), json!(document).to_string().len() - 3);
}

/// A framework that must not be asked.
struct Unasked;

impl Probe for Unasked {
    fn accepts(&mut self, texts: &[String], _valid: bool) -> Vec<Option<bool>> {
        panic!("asked about {} texts", texts.len());
    }
}

#[test]
fn long_counter_examples_stay_as_they_are() {
    let judge = Validator::new("true").unwrap();
    let text = json!("x".repeat(20_000)).to_string();
    assert_eq!(smallest(&text, true, Some(&judge), &mut Unasked), text);
}

#[test]
fn changes_are_small_and_repeatable() {
    let document = json!({"a": [1, 2, {"b": "text"}], "c": null});
    let found = mutants(&document, 40, 1);
    assert!(found.len() >= 20, "{}", found.len());
    assert_eq!(found, mutants(&document, 40, 1));
    assert_ne!(found, mutants(&document, 40, 2));
    assert!(found.iter().all(|mutant| *mutant != document));
    let smaller = reductions(&document, 100);
    for expected in [
        json!({}),
        json!({"c": null}),
        json!({"a": [], "c": null}),
        json!({"a": [1, 2], "c": null}),
    ] {
        assert!(smaller.contains(&expected), "{expected}");
    }
}

/// A framework that is wrong on every document in which `word` stands.
struct Wrong(&'static str);

impl Probe for Wrong {
    fn accepts(&mut self, texts: &[String], valid: bool) -> Vec<Option<bool>> {
        texts.iter().map(|text| Some(text.contains(self.0) != valid)).collect()
    }
}

#[test]
fn counter_examples_become_small_and_stay_counter_examples() {
    let judge = Validator::new(r#"{"type": "object", "required": ["a"]}"#).unwrap();
    let text = r#"{"a": {"long": "text and more of it"}, "b": [1, 2, 3], "word": {"c": null}}"#;
    assert_eq!(
        smallest(text, true, Some(&judge), &mut Wrong("word")),
        r#"{"a": {}, "word": {}}"#
    );
    let invalid = r#"{"b": [1, "word", 3], "c": {"d": 1}}"#;
    assert_eq!(
        smallest(invalid, false, Some(&judge), &mut Wrong("word")),
        r#"{"b": ["word"]}"#
    );
    assert_eq!(smallest(text, true, None, &mut Wrong("word")), text);
}

fn record(framework: &str, dataset: &str, schema: &str, counts: [usize; 4]) -> CoverageRecord {
    let key = CoverageKey {
        framework: framework.to_owned(),
        dataset: dataset.to_owned(),
        schema: schema.to_owned(),
    };
    let example = |count: usize| {
        (count > 0).then(|| CounterExample {
            text: "{}".to_owned(),
            origin: Origin::Given,
            problem: None,
        })
    };
    CoverageRecord {
        valid: counts[0],
        invalid: counts[1],
        verdicts: counts[0] + counts[1],
        blocked: counts[2],
        let_through: counts[3],
        over_constrained: example(counts[2]),
        under_constrained: example(counts[3]),
        ..CoverageRecord::empty(key)
    }
}

fn refused(record: CoverageRecord) -> CoverageRecord {
    CoverageRecord {
        compile_error: Some(CompileFailure {
            kind: CompileErrorKind::Refused,
            pointer: None,
            keyword: None,
            message: "no".to_owned(),
        }),
        ..record
    }
}

#[test]
fn rows_count_schemas_by_their_defects() {
    let mut unusable = record("f", "one", "9", [0; 4]);
    unusable.unusable = Some("no JSON".to_owned());
    let records = [
        record("f", "one", "1", [3, 4, 0, 0]),
        record("f", "one", "2", [3, 4, 1, 0]),
        record("f", "one", "3", [3, 4, 2, 1]),
        record("f", "two", "4", [3, 4, 0, 2]),
        refused(record("f", "two", "5", [3, 4, 0, 0])),
        // Nothing may be written under it, so that refusing it is right.
        refused(record("f", "two", "6", [0, 4, 0, 0])),
        unusable,
    ];
    let datasets = ["one".to_owned(), "two".to_owned()];
    let rows = rows(&records, &datasets, &["f".to_owned()]);
    let figures: Vec<(&str, usize, Option<f64>, Option<f64>)> = rows
        .iter()
        .map(|row| (row.dataset.as_str(), row.schemas, row.declared, row.truly))
        .collect();
    assert_eq!(
        figures,
        [
            ("one", 3, Some(1.0), Some(1.0 / 3.0)),
            ("two", 3, Some(1.0 / 3.0), Some(1.0 / 3.0)),
            (ALL, 6, Some(4.0 / 6.0), Some(2.0 / 6.0)),
        ]
    );
    let all = &rows[2];
    assert_eq!(
        (all.over_constrained, all.under_constrained, all.refused, all.failed),
        (2, 2, 2, 0)
    );
    // Blocks nothing: 1, 4, 6. Lets nothing through: all but 3 and 4.
    assert_eq!(
        (all.nothing_blocked, all.nothing_let_through),
        (Some(0.5), Some(4.0 / 6.0))
    );
    assert_eq!((all.documents, all.truly_ci), ([15, 24], wilson(2, 6)));
}

#[test]
fn true_coverage_has_an_estimate_with_an_interval_from_both_sides() {
    let records = [
        record("f", "one", "1", [3, 4, 0, 0]),
        record("f", "one", "2", [3, 4, 1, 0]),
        record("f", "one", "3", [3, 4, 2, 1]),
        record("f", "one", "4", [3, 4, 0, 2]),
        refused(record("f", "one", "5", [3, 4, 0, 0])),
        refused(record("f", "one", "6", [0, 4, 0, 0])),
    ];
    let frameworks = ["f".to_owned()];
    let rows = rows(&records, &[], &frameworks);
    let all = &rows[0];
    // One document shows the defect of schema 2, two that of schema 4, of seven each: 6/7 · 1² / 2.
    let unseen = all.unseen.unwrap();
    assert_eq!((unseen.shown_once, unseen.shown_twice), (1, 1));
    let close = |found: Option<f64>, expected: f64| found.is_some_and(|found| (found - expected).abs() < 1e-12);
    assert!(close(unseen.schemas, 3.0 / 7.0), "{unseen:?}");
    assert!(close(all.estimate, (2.0 - 3.0 / 7.0) / 6.0), "{all:?}");
    let [wilson_low, wilson_high] = wilson(2, 6).unwrap();
    let [low, high] = all.estimate_ci.unwrap();
    assert_eq!(
        (low, high),
        ((wilson_low - unseen.at_most().unwrap() / 6.0).max(0.0), wilson_high)
    );
    // Schema 1 alone shows no defect.
    assert!(close(all.detection_limit, 1.0 - 0.05_f64.powf(1.0 / 7.0)), "{all:?}");
    let report = CoverageReport {
        rows,
        frameworks: &frameworks,
        records: &records,
    };
    let text = report.text(Style::Markdown, 0);
    assert!(
        text.contains(" 1, 1 | 0.4 (0.0–1.0) | 0.262 (0.000–0.700) |       34.8 % |"),
        "{text}"
    );
}

#[test]
fn findings_begin_with_the_smallest() {
    let mut small = record("f", "one", "small", [1, 1, 0, 1]);
    small.schema = Some("true".to_owned());
    let mut large = record("f", "one", "large", [1, 1, 1, 0]);
    large.schema = Some(r#"{"type": "object"}"#.to_owned());
    let records = [
        record("f", "one", "long", [1, 1, 1, 0]),
        large,
        small,
        record("g", "one", "other", [1, 1, 1, 0]),
    ];
    let found = findings(&records, "f");
    let named: Vec<(&str, Defect)> = found
        .iter()
        .map(|finding| (finding.record.key.schema.as_str(), finding.defect))
        .collect();
    assert_eq!(
        named,
        [
            ("small", Defect::UnderConstrained),
            ("large", Defect::OverConstrained),
            ("long", Defect::OverConstrained)
        ]
    );
}

#[test]
fn data_sets_are_read_off_names() {
    let named = ["Github_easy---o1", "BFCL_simple_388", "JME_0", "plain"].map(dataset_of);
    assert_eq!(named, ["Github_easy", "BFCL", "JME", "plain"]);
}

fn timeout() -> Option<Ending> {
    Some(Ending {
        kind: EndingKind::Timeout,
        message: "slow".to_owned(),
    })
}

#[test]
fn failures_while_replaying_are_told_from_refusals() {
    let mut replay = record("f", "one", "1", [3, 3, 0, 0]);
    replay.replay_ending = timeout();
    let mut compile = record("f", "one", "2", [3, 3, 0, 0]);
    compile.ending = timeout();
    // Taken, but without a verdict on any document.
    let mut silent = record("f", "one", "3", [3, 3, 0, 0]);
    silent.verdicts = 0;
    let whole = record("f", "one", "4", [3, 3, 0, 0]);
    // Without documents, a schema tells nothing about anybody.
    let nothing_known = refused(record("f", "one", "5", [0; 4]));
    let records = [replay, compile, silent, whole, nothing_known];
    let rows = rows(&records, &[], &["f".to_owned()]);
    let row = &rows[0];
    assert_eq!((row.schemas, row.declared, row.failed), (4, Some(0.75), 2));
    assert_eq!(
        (row.truly, row.nothing_blocked, row.nothing_let_through),
        (Some(0.25), Some(0.25), Some(0.25))
    );
}

#[test]
fn schemas_tested_with_different_documents_count_nowhere_and_labels_are_counted_by_their_source() {
    let of = |framework: &str, schema: &str, sha256: &str, source, disputed| CoverageRecord {
        documents_sha256: sha256.to_owned(),
        source,
        disputed,
        ..record(framework, "one", schema, [1, 1, 0, 0])
    };
    let records = [
        of("f", "1", "a", Source::Maskbench, 2),
        of("g", "1", "a", Source::Maskbench, 2),
        of("f", "2", "b", Source::Testsuite, 3),
        of("g", "2", "c", Source::Testsuite, 3),
    ];
    let frameworks = ["f".to_owned(), "g".to_owned()];
    let rows = rows(&records, &[], &frameworks);
    assert_eq!(rows.iter().map(|row| row.schemas).collect::<Vec<_>>(), [1, 1]);
    assert_eq!(unequal(&records).into_iter().collect::<Vec<_>>(), [("one", "2")]);
    let report = CoverageReport {
        rows,
        frameworks: &frameworks,
        records: &records,
    };
    let text = report.text(Style::Markdown, 1);
    for part in [
        "2 documents of MaskBench were left out",
        "3 documents of the JSON Schema Test Suite were left out",
        "1 schemas count nowhere",
        "drawn from maskwright's own language",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn hashes_tell_cases_apart() {
    let one = subject(&json!(true), &[("1", true)]);
    let mut other = one.clone();
    other.given[0].1 = false;
    let mut remote = one.clone();
    remote.documents.insert("a".to_owned(), "true".to_owned());
    let hashes = [&one, &other, &remote].map(|subject| hash(std::slice::from_ref(subject)));
    assert!(hashes[0] != hashes[1] && hashes[0] != hashes[2], "{hashes:?}");
}
