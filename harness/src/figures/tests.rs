use maskwright_suites::census::Census;
use maskwright_suites::quality::{LetterOptions, QualityTask, QuestionSet};
use maskwright_suites::validate::Scoring;
use serde_json::{Value, json};

use super::bars::{Bar, Panel, stacked};
use super::features::{Matrix, Support};
use super::overview::{Axes, axes, svg};
use super::{constraints, frequencies, heat_map, prompt, tables, upset};
use crate::bench::record::{Record, ServerRecord};
use crate::coverage::documents::Origin;
use crate::coverage::record::{CounterExample, CoverageKey, CoverageRecord};
use crate::coverage::rows::findings;
use crate::frameworks::{BUILT_IN_FRAMEWORKS, Documented};
use crate::quality::overlap::{Intersection, Overlap};
use crate::quality::record::AnswerRecord;
use crate::report::statistics::wilson;
use crate::server::Outcome;
use crate::testsuite::conformance::{CaseFailure, CaseOutcome, Conformance, FailureKind};

/// The texts of a picture, in order.
fn texts(svg: &str) -> Vec<String> {
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
    let parts = svg.split("<text ").skip(1);
    let plain = |text: &str| text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    parts
        .map(|part| plain(part.split_once('>').unwrap().1.split_once("</text>").unwrap().0))
        .collect()
}

/// The widths of the rectangles in fills.
fn bars(svg: &str) -> Vec<f64> {
    let filled = svg.lines().filter(|line| line.contains("url(#fill"));
    let width = |line: &str| {
        line.split("width=\"")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap()
            .parse()
            .unwrap()
    };
    filled.map(width).collect()
}

#[test]
fn bars_are_as_long_as_their_figures() {
    let bar = |name: &str, value: f64, interval| Bar {
        name: name.to_owned(),
        value,
        label: format!("{value}"),
        fill: 0,
        interval,
    };
    let panel = |bars, full| Panel {
        title: "t < u".to_owned(),
        subtitle: "s".to_owned(),
        bars,
        full,
    };
    let picture = stacked(&[panel(vec![bar("a", 10.0, None), bar("b & c", 5.0, None)], None)]);
    let found = bars(&picture);
    assert!((found[0] / found[1] - 2.0).abs() < 0.01, "{found:?}");
    assert_eq!(texts(&picture), ["t < u", "s", "a", "10", "b & c", "5"]);
    // The end of an interval has room, too, and a share is a share of the whole length.
    let with_interval = bars(&stacked(&[panel(vec![bar("a", 10.0, Some([5.0, 20.0]))], None)]));
    assert!((found[0] / with_interval[0] - 2.0).abs() < 0.01);
    let half = bars(&stacked(&[panel(vec![bar("a", 0.5, None)], Some(1.0))]));
    assert!((found[0] / half[0] - 2.0).abs() < 0.01);
}

#[test]
fn the_overview_has_the_three_axes_of_every_framework() {
    let axes = [
        Axes {
            framework: "maskwright".to_owned(),
            speed: Some(1.5),
            empirical: Some(0.985),
            accuracy: Some(0.25),
            ..Axes::default()
        },
        Axes {
            framework: "none".to_owned(),
            speed: Some(1.0),
            empirical: Some(0.5),
            ..Axes::default()
        },
    ];
    let texts = texts(&svg(&axes).unwrap());
    for expected in [
        "Efficiency",
        "Coverage",
        "Quality",
        "LM only",
        "1.50",
        "98.5 %",
        "25.0 %",
        "50.0 %",
    ] {
        assert!(texts.iter().any(|text| text == expected), "{expected}: {texts:?}");
    }
    assert_eq!(texts.iter().filter(|text| *text == "maskwright").count(), 3);
    assert!(svg(&[]).is_none() && svg(&[Axes::default()]).is_none());
}

/// A generation as it is on record.
fn generation(finish: &str, tokens: usize, tpot_ms: f64) -> Value {
    json!({
        "prompt_tokens": 1, "output_tokens": tokens, "forced_tokens": 0, "forward_passes": 1, "finish": finish, "tpot_ms": tpot_ms, "tgt_s": 1.0,
        "masks": 0, "token_times_us": [], "text": ""
    })
}

fn measured(model: &str, framework: &str, instance: &str, valid: bool, tpot_ms: f64) -> Record {
    let record = json!({
        "model": model, "framework": framework, "dataset": "d", "instance": instance,
        "generation": generation("end_of_sequence", 5, tpot_ms),
        "verdict": {"parsed": true, "valid": valid, "fenced": false, "problems": []},
    });
    serde_json::from_value(record).unwrap()
}

fn answered(model: &str, framework: &str, mode: &str, task: &str, question: &str, right: bool) -> AnswerRecord {
    let record = json!({
        "model": model, "framework": framework, "mode": mode, "task": task, "question": question,
        "generation": generation("end_of_sequence", 5, 1.0),
        "judgement": {"strict": {"correct": right}, "lenient": {"correct": right}},
    });
    serde_json::from_value(record).unwrap()
}

#[test]
fn axes_are_those_of_the_tables_for_each_model() {
    let bench = [
        measured("m", "maskwright", "1", true, 1.0),
        measured("m", "maskwright", "2", true, 2.0),
        measured("m", "none", "1", true, 4.0),
        measured("m", "none", "2", false, 8.0),
        measured("n", "maskwright", "1", false, 100.0),
    ];
    let mut without_room = answered("m", "none", "direct", "gsm8k", "3", false);
    without_room.generation = serde_json::from_value(generation("context_full", 0, 1.0)).unwrap();
    let quality = [
        answered("m", "maskwright", "direct", "gsm8k", "1", true),
        answered("m", "maskwright", "direct", "gsm8k", "2", false),
        // Without room for the model alone, the question counts for neither.
        answered("m", "maskwright", "direct", "gsm8k", "3", true),
        without_room,
        answered("m", "none", "direct", "gsm8k", "1", false),
        answered("m", "none", "direct", "gsm8k", "2", false),
        // Answers after drafts are other answers.
        answered("m", "maskwright", "draft", "gsm8k", "2", true),
        // A task that only one row was asked compares nothing.
        answered("m", "maskwright", "direct", "shuffle", "1", true),
        answered("n", "maskwright", "direct", "gsm8k", "1", true),
    ];
    let axes = axes(&bench, &quality, Scoring::Strict);
    let names: Vec<(&str, &str)> = axes
        .iter()
        .map(|one| (one.model.as_str(), one.framework.as_str()))
        .collect();
    assert_eq!(names, [("m", "maskwright"), ("m", "none"), ("n", "maskwright")]);
    let [ours, alone, other] = &axes[..] else {
        panic!("{axes:?}")
    };
    assert_eq!((ours.accuracy, ours.accuracy_ci), (Some(0.5), wilson(1, 2)));
    assert_eq!((alone.accuracy, other.accuracy), (Some(0.0), Some(1.0)));
    assert_eq!(
        (ours.empirical, alone.empirical, other.empirical),
        (Some(1.0), Some(0.5), Some(0.0))
    );
    assert_eq!(
        (ours.tpot_ms, alone.tpot_ms, other.tpot_ms),
        (Some(1.5), Some(6.0), Some(100.0))
    );
    assert!((ours.speed.unwrap() - 4.0).abs() < 1e-9 && (alone.speed.unwrap() - 1.0).abs() < 1e-9);
    assert_eq!(other.speed, None, "another model's times are no measure");
    let texts = texts(&svg(&axes).unwrap());
    assert!(
        texts.contains(&"n, maskwright".to_owned()) && texts.contains(&"m, LM only".to_owned()),
        "{texts:?}"
    );
}

#[test]
fn a_schema_that_cannot_be_used_makes_no_second_row_of_a_server() {
    let answer = |instance: &str, valid| Record {
        server: Some(ServerRecord::ended(Outcome::Finished, 1)),
        ..measured("m", "remote", instance, valid, 1.0)
    };
    let unusable = Record::unusable(measured("m", "remote", "3", false, 1.0).key, "no JSON");
    let axes = axes(&[answer("1", true), answer("2", false), unusable], &[], Scoring::Strict);
    assert_eq!(axes[0].empirical_ci, wilson(1, 2));
}

#[test]
fn upset_plots_have_every_set_with_its_number() {
    let overlap = Overlap {
        model: "m".to_owned(),
        task: QualityTask::Gsm8k,
        rows: vec!["a".to_owned(), "none, reasoned".to_owned()],
        questions: 10,
        right: vec![6, 5],
        exclusive: vec![3, 2],
        nobody: 2,
        intersections: [(vec![0], 3), (vec![0, 1], 3), (vec![1], 2)]
            .map(|(rows, questions)| Intersection { rows, questions })
            .into(),
    };
    let picture = upset::svg(&overlap);
    let texts = texts(&picture);
    assert!(
        texts[1].contains("10 questions, 2 of them right for no row"),
        "{texts:?}"
    );
    assert_eq!(texts[2..], ["6 (3)", "a", "5 (2)", "LM only, reasoned", "3", "3", "2"]);
    // Three sets of two rows each: four dots are dark.
    let dots = |colour: &str| {
        picture
            .lines()
            .filter(|line| line.contains("<circle") && line.contains(colour))
            .count()
    };
    assert_eq!((dots("#222222"), dots("#cfcfcf")), (4, 2));
}

#[test]
fn heat_maps_have_the_share_of_every_category_and_who_is_ahead() {
    let failure = CaseFailure {
        kind: FailureKind::CompileError,
        instance: None,
        stopped: None,
        reason: "no".to_owned(),
    };
    let conformance = |name: &str, passed: [bool; 4]| {
        let cases = passed.iter().enumerate().map(|(number, passed)| CaseOutcome {
            category: ["type", "type", "type", "enum"][number].to_owned(),
            description: String::new(),
            failures: if *passed { vec![] } else { vec![failure.clone()] },
        });
        Conformance::new(name, cases.collect())
    };
    let frameworks = [
        conformance("one", [true, true, true, true]),
        conformance("two", [true, false, false, true]),
    ];
    let picture = heat_map::svg(&frameworks);
    let found = texts(&picture);
    assert_eq!(
        found[2..],
        ["one", "two", "type", "100 % **", "33 %", "enum", "100 % *", "100 % *"]
    );
    // The darkest colour stands for all cases.
    assert_eq!(picture.matches("fill=\"#0b5394\"").count(), 3);
    // Of an unfinished run, categories are matched by name.
    let [one, mut two] = frameworks;
    two.categories.remove(0);
    let picture = heat_map::svg(&[two, one]);
    assert_eq!(
        texts(&picture)[2..],
        ["two", "one", "type", "100 % **", "enum", "100 % *", "100 % *"]
    );
}

const SCHEMAS: [&str; 4] = [
    r#"{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"a": {"type": "integer", "minimum": 1}}, "required": ["a"]}"#,
    r#"{"type": "string", "format": "date"}"#,
    r##"{"type": "object", "properties": {"a": {"$ref": "#"}}, "additionalProperties": {"type": "null"}}"##,
    r#"{"not": {"type": "null"}, "oneOf": [{"type": "integer"}, {"type": "number"}]}"#,
];

fn census() -> Vec<(String, Census)> {
    let mut census = Census::default();
    for schema in SCHEMAS {
        census.add(schema).unwrap();
    }
    vec![("Kubernetes".to_owned(), census)]
}

fn documented() -> Vec<(String, Documented)> {
    let named = BUILT_IN_FRAMEWORKS
        .iter()
        .filter(|framework| framework.name != "maskwright-generation");
    named
        .map(|framework| (framework.name.to_owned(), framework.documented.clone()))
        .collect()
}

#[test]
fn features_count_schemas_and_show_what_is_documented() {
    let matrix = Matrix::of(&documented(), SCHEMAS);
    assert_eq!((matrix.schemas, matrix.features.len()), (4, 29));
    let of = |name: &str| matrix.features.iter().find(|(feature, ..)| *feature == name).unwrap();
    for (name, count) in [
        ("required", 1),
        ("format", 1),
        ("oneOf", 1),
        ("not", 1),
        ("@recursiveSchemas", 1),
        ("additionalProperties:object", 1),
        ("@minmaxInteger", 1),
        ("@minmaxNumber", 0),
        ("const", 0),
        ("@siblingKeys", 0),
    ] {
        assert_eq!(of(name).1, count, "{name}");
    }
    let ours = matrix.frameworks.iter().position(|name| name == "maskwright").unwrap();
    let theirs = matrix.frameworks.iter().position(|name| name == "llguidance").unwrap();
    assert_eq!((of("not").2[ours], of("not").2[theirs]), (Support::Full, Support::None));
    // llguidance documents `oneOf` where its branches exclude one another.
    assert_ne!(of("oneOf").2[theirs], Support::Full);
    assert_eq!((matrix.supported[ours], matrix.supported[theirs]), (4, 3));
    let texts = texts(&matrix.svg());
    assert!(
        texts.contains(&"schemas supported".to_owned()) && texts.contains(&"@siblingKeys".to_owned()),
        "{texts:?}"
    );
    assert!(["yes", "no"].iter().all(|sign| texts.iter().any(|text| text == sign)));
}

#[test]
fn keywords_and_formats_are_counted_by_schema() {
    let texts_of = |picture: &str| texts(picture);
    let keywords = texts_of(&frequencies::keywords(&census()));
    let at = keywords.iter().position(|text| text == "type").unwrap();
    assert_eq!(keywords[at + 1], "4 (100.0 %)");
    let formats = texts_of(&frequencies::formats(&census()));
    assert_eq!(formats[2..], ["date", "1 (25.0 %)"]);
}

#[test]
fn tables_have_the_papers_columns_and_totals() {
    let counted = census();
    let collections = tables::collections(&counted).to_string();
    assert!(
        collections.contains("Kubernetes API") && collections.contains("Total"),
        "{collections}"
    );
    let drafts = tables::drafts(&counted).to_string();
    let last = drafts
        .lines()
        .last()
        .unwrap()
        .split('|')
        .map(str::trim)
        .filter(|cell| !cell.is_empty());
    assert_eq!(
        last.collect::<Vec<_>>(),
        ["total", "0", "0", "1", "0", "0", "3", "0", "4"]
    );
    let sizes = tables::sizes(&counted).to_string();
    assert!(
        sizes.contains("Size (KB) Med / Max") && sizes.contains("0.1 / 0.1"),
        "{sizes}"
    );
    let shares = tables::theoretical("Kubernetes", &documented(), SCHEMAS);
    let table = tables::coverage(std::slice::from_ref(&shares), &documented()).to_string();
    assert!(
        table.contains("llguidance (paper)") && table.contains("0.58") && table.contains("0.75"),
        "{table}"
    );
    assert_eq!(shares.1[0], 1.0);
}

#[test]
fn constraints_show_schema_document_and_verdict() {
    let key = |schema: &str| CoverageKey {
        framework: "other".to_owned(),
        dataset: "d".to_owned(),
        schema: schema.to_owned(),
    };
    let example = |text: &str, problem: Option<&str>| {
        Some(CounterExample {
            text: text.to_owned(),
            origin: Origin::Mutated,
            problem: problem.map(str::to_owned),
        })
    };
    let records = [
        CoverageRecord {
            over_constrained: example(r#"{"zz": 1}"#, None),
            schema: Some(r#"{"type":"object"}"#.to_owned()),
            ..CoverageRecord::empty(key("open"))
        },
        CoverageRecord {
            under_constrained: example("[1, 1]", Some("items are not unique")),
            schema: Some(r#"{"uniqueItems":true}"#.to_owned()),
            ..CoverageRecord::empty(key("unique"))
        },
    ];
    let texts = texts(&constraints::svg(&findings(&records, "other")));
    for expected in [
        "Over-constrained",
        r#"  "type": "object""#,
        r#"{"zz": 1}"#,
        "valid, but other blocks it",
        "Under-constrained",
        "[1, 1]",
        "invalid, but other lets it through",
        "items are not unique",
        "d/unique",
    ] {
        assert!(texts.iter().any(|text| text == expected), "{expected}: {texts:?}");
    }
}

#[test]
fn prompts_are_shown_message_by_message() {
    let set = QuestionSet::generate(LetterOptions::default(), Some(1), 1).unwrap();
    let texts = texts(&prompt::svg(&set));
    let at = |text: &str| texts.iter().position(|one| one == text).unwrap();
    assert!(at("System message") < at("User") && at("User") < at("Assistant"));
    assert_eq!(texts.iter().filter(|text| *text == "## Output:").count(), 2);
    let names = set.questions[0].text.split('"').nth(1).unwrap();
    assert!(texts.iter().any(|text| text.contains(names)), "{texts:?}");
}
