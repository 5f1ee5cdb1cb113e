//! Tests of comparisons between runs whose difference is known.

use std::collections::BTreeMap;

use maskwright_suites::validate::Scoring;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::conditions::asked_differently;
use super::differences::{Change, ComparisonMethod, Difference, differences};
use super::pairs::{Group, QuestionOutcome, Side, pairs, side};
use super::report::ComparisonReport;
use crate::coverage::record::{CoverageKey, CoverageRecord};
use crate::report::table::Style;
use crate::results::run::{Found, Run, RunRecords};

const METHOD: ComparisonMethod = ComparisonMethod {
    confidence: 0.95,
    seed: 1,
    times: true,
    tolerance: 0.0,
};

/// Frameworks and datasets of the made-up runs.
const FRAMEWORKS: [&str; 3] = ["maskwright", "llguidance", "LM only"];
const DATASETS: [&str; 2] = ["easy", "hard"];
const QUESTIONS: usize = 120;

/// Makes a run in which every question has its own probability of a right answer, and its own time with some noise; `share` of the right answers are
/// made wrong, and times are multiplied by `slower`.
fn run(seed: u64, share: f64, slower: f64) -> Side {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut side = Side::new();
    for framework in FRAMEWORKS {
        for dataset in DATASETS {
            let group = Group {
                run_of: "bench",
                model: "m".to_owned(),
                framework: framework.to_owned(),
                dataset: dataset.to_owned(),
            };
            let questions = (0..QUESTIONS).map(|number| {
                // What a question is like does not depend on the run.
                let easiness = (number as f64 + 0.5) / QUESTIONS as f64;
                let right = random.random::<f64>() < easiness && random.random::<f64>() >= share;
                let noise = 1.0 + 0.4 * (random.random::<f64>() - 0.5);
                let times = BTreeMap::from([("TPOT", slower * (1.0 + easiness) * noise)]);
                (format!("question {number}"), QuestionOutcome { right, times })
            });
            side.insert(group, questions.collect());
        }
    }
    side
}

fn compared(one: &Side, other: &Side) -> Vec<Difference> {
    differences(&pairs(one, other).groups, METHOD)
}

#[test]
fn equal_runs_give_no_finding_in_95_of_100_seeds() {
    let with_findings = (0..100).filter(|seed| {
        let found = compared(&run(2 * seed, 0.0, 1.0), &run(2 * seed + 1, 0.0, 1.0));
        assert_eq!(found.len(), 2 * FRAMEWORKS.len() * DATASETS.len());
        found.iter().any(|one| one.finding != Change::None)
    });
    let with_findings = with_findings.count();
    assert!(
        with_findings <= 5,
        "{with_findings} of 100 comparisons of equal runs found something"
    );
}

#[test]
fn a_known_difference_is_found_and_in_its_interval() {
    // Half of what is right becomes wrong, and half of the questions are right; times are a fifth longer.
    let (before, after) = (run(1, 0.0, 1.0), run(2, 0.5, 1.2));
    let found = compared(&before, &after);
    for (is_time, truth) in [(false, -0.25), (true, 1.2)] {
        let rows: Vec<&Difference> = found.iter().filter(|one| one.is_time() == is_time).collect();
        let holding = rows
            .iter()
            .filter(|one| one.interval[0] <= truth && truth <= one.interval[1]);
        // Of intervals for 95 % one in twenty misses.
        assert!(holding.count() + 1 >= rows.len(), "{rows:?}");
        let worse = rows.iter().filter(|one| one.finding == Change::Worse);
        assert!(worse.count() + 1 >= rows.len(), "{rows:?}");
    }
    let back = compared(&after, &before);
    assert!(back.iter().all(|one| one.finding != Change::Worse));
}

#[test]
fn what_changed_is_told_by_name() {
    let before = run(1, 0.0, 1.0);
    let mut after = before.clone();
    let first = after.values_mut().next().unwrap();
    let changed: Vec<String> = first
        .iter()
        .filter(|(_, one)| one.right)
        .map(|(name, _)| name.clone())
        .take(2)
        .collect();
    for name in &changed {
        first.get_mut(name).unwrap().right = false;
    }
    let found = compared(&before, &after);
    assert_eq!(found[0].became_wrong, changed);
    assert!(found[0].became_right.is_empty());
    assert!(
        found.iter().all(|one| one.finding == Change::None),
        "two of 120 may be chance"
    );
}

#[test]
fn times_within_the_tolerance_are_no_finding() {
    let (before, after) = (run(1, 0.0, 1.0), run(1, 0.0, 1.04));
    let worse = |tolerance| {
        let method = ComparisonMethod { tolerance, ..METHOD };
        let found = differences(&pairs(&before, &after).groups, method);
        found.iter().filter(|one| one.finding == Change::Worse).count()
    };
    assert_eq!((worse(0.05), worse(0.03)), (0, 6));
}

#[test]
fn one_model_each_is_compared_across_names() {
    let before = run(1, 0.0, 1.0);
    let after: Side = before
        .iter()
        .map(|(group, outcomes)| {
            let model = "n".to_owned();
            (Group { model, ..group.clone() }, outcomes.clone())
        })
        .collect();
    let pairs = pairs(&before, &after).groups;
    assert_eq!(pairs.len(), before.len());
    assert_eq!(pairs[0].0.model, "m → n");
}

/// Two sides of 200 groups with a time each, noise of their own, and of the group `worse` in the second side times a tenth longer.
fn many(worse: Option<usize>) -> [Side; 2] {
    [0, 1].map(|number: u64| {
        let mut random = ChaCha8Rng::seed_from_u64(number);
        let of_group = |dataset: usize| {
            let slower = if number == 1 && worse == Some(dataset) {
                1.1
            } else {
                1.0
            };
            let outcomes = (0..40).map(|question| {
                let time = slower * (1.0 + 0.1 * random.random::<f64>());
                let times = BTreeMap::from([("TPOT", time)]);
                (format!("question {question}"), QuestionOutcome { right: true, times })
            });
            let group = Group {
                run_of: "bench",
                model: "m".to_owned(),
                framework: "maskwright".to_owned(),
                dataset: format!("{dataset:03}"),
            };
            (group, outcomes.collect())
        };
        (0..200).map(of_group).collect()
    })
}

#[test]
fn one_clear_difference_is_found_among_200_figures_and_none_among_equal_ones() {
    let found = |worse: Option<usize>| -> Vec<(String, Change)> {
        let [before, after] = many(worse);
        let found = compared(&before, &after);
        assert_eq!(found.iter().filter(|one| one.is_time()).count(), 200);
        let found = found.into_iter().filter(|one| one.finding != Change::None);
        found.map(|one| (one.dataset, one.finding)).collect()
    };
    assert_eq!(found(Some(77)), [("077".to_owned(), Change::Worse)]);
    assert_eq!(found(None), []);
}

#[test]
fn schemas_without_documents_are_no_questions() {
    let record = |schema: &str, valid| CoverageRecord {
        valid,
        verdicts: valid,
        ..CoverageRecord::empty(CoverageKey {
            framework: "maskwright".to_owned(),
            dataset: "d".to_owned(),
            schema: schema.to_owned(),
        })
    };
    let run = Run {
        paths: Vec::new(),
        manifests: Vec::new(),
        found: Found::Coverage(RunRecords {
            settings: Value::Null,
            settings_of_each: Vec::new(),
            records: vec![record("with", 1), record("without", 0)],
            warnings: Vec::new(),
        }),
    };
    let (side, _) = side(&[run], Scoring::Strict);
    let names: Vec<&String> = side.values().flat_map(BTreeMap::keys).collect();
    assert_eq!(names, ["with"]);
}

/// A run of the Test Suite whose `cases` pass or fail.
fn suite(draft: &str, cases: &[(&str, bool)]) -> Run {
    let settings = json!({"draft": draft, "sha256": draft});
    let records = cases.iter().enumerate().map(|(number, (description, passes))| {
        let failures = match passes {
            true => json!([]),
            false => json!([{"kind": "over_constrained", "reason": "no"}]),
        };
        let outcome = json!({"category": "type", "description": description, "failures": failures});
        let record = json!({"framework": "maskwright", "number": number, "outcome": outcome});
        serde_json::from_value(record).unwrap()
    });
    Run {
        paths: vec![format!("of draft {draft}").into()],
        manifests: vec![json!({"settings": settings})],
        found: Found::Suite(RunRecords {
            settings_of_each: vec![settings.clone()],
            settings,
            records: records.collect(),
            warnings: Vec::new(),
        }),
    }
}

#[test]
fn drafts_of_the_test_suite_are_compared_each_with_itself() {
    let before = [suite("2020-12", &[("a", true)]), suite("7", &[("a", true)])];
    let after = [suite("7", &[("a", false)]), suite("2020-12", &[("a", true)])];
    assert_eq!(asked_differently(&before, &after), Vec::<String>::new());
    let [(one, repeated), (other, _)] = [&before, &after].map(|runs| side(runs, Scoring::Strict));
    let found = compared(&one, &other);
    let changed: Vec<_> = found
        .iter()
        .map(|one| (&one.dataset[..], one.became_wrong.len()))
        .collect();
    assert_eq!(changed, [("Test Suite 2020-12", 0), ("Test Suite 7", 1)]);
    assert!(repeated.is_empty());

    // Other cases of the same name are refused, and what a side has twice is told.
    let mut other_cases = suite("7", &[("a", true)]);
    other_cases.manifests[0]["settings"]["sha256"] = "another".into();
    let refused = asked_differently(&before, &[other_cases]);
    assert_eq!(
        refused,
        ["of draft 7 and of draft 7 were not asked alike: sha256 differ"]
    );
    let twice = [suite("7", &[("a", true)]), suite("7", &[("a", false), ("b", true)])];
    let (_, repeated) = side(&twice, Scoring::Strict);
    let report = ComparisonReport {
        differences: Vec::new(),
        confidence: 0.95,
        unpaired: Vec::new(),
        repeated: [repeated, BTreeMap::new()],
        notes: Vec::new(),
    };
    let text = report.text(Style::Markdown, false);
    assert!(
        text.contains("Test Suite 7: 1 answers of the first runs are left out"),
        "{text}"
    );
    assert_eq!(report.json()["repeated"]["before"][0]["answers"], 1);
}

#[test]
fn what_only_one_side_has_is_counted() {
    let before = run(1, 0.0, 1.0);
    let mut after = before.clone();
    let (whole, _) = after.pop_first().unwrap();
    let (partly, mut outcomes) = after.pop_last().unwrap();
    outcomes.retain(|name, _| name != "question 7");
    outcomes.insert("another".to_owned(), QuestionOutcome::default());
    after.insert(partly.clone(), outcomes);
    let added = Group {
        dataset: "new".to_owned(),
        ..whole.clone()
    };
    after.insert(
        added.clone(),
        BTreeMap::from([("first".to_owned(), QuestionOutcome::default())]),
    );
    let paired = pairs(&before, &after);
    let counts: Vec<_> = paired
        .unpaired
        .iter()
        .map(|one| (&one.group, one.only_before, one.only_after, one.is_whole_group))
        .collect();
    assert_eq!(
        counts,
        [
            (&whole, QUESTIONS, 0, true),
            (&partly, 1, 1, false),
            (&added, 0, 1, true)
        ]
    );
    assert_eq!(paired.groups.len(), before.len() - 1);
    assert_eq!(pairs(&before, &before).unpaired, []);
}
