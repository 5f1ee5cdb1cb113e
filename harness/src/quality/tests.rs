use maskwright::CompileErrorKind;
use maskwright_models::FinishReason;
use maskwright_suites::quality::{AnswerForm, QualityTask, judge};

use super::overlap::Overlap;
use super::record::{AnswerKey, AnswerRecord, Mode, text_end};
use super::report::QualityReport;
use super::rows::{Answers, QualityRow, RowKey, TaskScope, rows};
use crate::bench::record::{
    CompileFailure, CompileRecord, GenerationRecord, MaskEffectRecord, ReasoningRecord, ServerRecord,
};
use crate::report::paper::PaperRow;
use crate::report::table::Style;
use crate::server::Outcome;

fn key(framework: &str) -> RowKey {
    RowKey {
        model: "m".to_owned(),
        framework: framework.to_owned(),
        mode: Mode::Direct,
        server: false,
        constrained: framework != "none",
        paper: PaperRow::of_framework(framework),
    }
}

fn record(framework: &str, question: &str) -> AnswerRecord {
    AnswerRecord::empty(AnswerKey {
        model: "m".to_owned(),
        framework: framework.to_owned(),
        mode: Mode::Direct,
        task: QualityTask::Gsm8k,
        question: question.to_owned(),
    })
}

fn ended(framework: &str, question: &str, text: &str, tokens: usize, finish: FinishReason) -> AnswerRecord {
    let generation = GenerationRecord {
        prompt_tokens: 10,
        output_tokens: tokens,
        forced_tokens: 0,
        reasoning: None,
        forward_passes: 1,
        finish: Some(finish),
        error: None,
        framework_failed: false,
        helped: false,
        ttft_s: None,
        tpot_ms: None,
        tgt_s: 1.0,
        masks: 0,
        mask_us: None,
        exposed_mask_us: None,
        prepared_mask_us: None,
        mask_effect: None,
        token_times_us: Vec::new(),
        text: text.to_owned(),
    };
    AnswerRecord {
        judgement: Some(judge(AnswerForm::Number, "7", text, text_end(&generation))),
        generation: Some(generation),
        valid: Some(text.ends_with('}')),
        ..record(framework, question)
    }
}

fn said(framework: &str, question: &str, text: &str) -> AnswerRecord {
    ended(framework, question, text, 20, FinishReason::EndOfSequence)
}

const RIGHT: &str = r#"{"reasoning": "", "answer": 7}"#;
const WRONG: &str = r#"{"reasoning": "", "answer": 8}"#;

fn gsm8k() -> TaskScope {
    TaskScope {
        task: QualityTask::Gsm8k,
        questions: 5,
        is_as_in_paper: true,
    }
}

fn derived(records: &[AnswerRecord], frameworks: &[&str]) -> Vec<QualityRow> {
    let keys: Vec<RowKey> = frameworks.iter().map(|name| key(name)).collect();
    rows(&Answers::new(records), &keys, &[gsm8k()])
}

#[test]
fn refusals_and_answers_that_were_cut_off_are_wrong_unless_they_can_be_read() {
    let mut refused = record("llguidance", "1");
    refused.compile = Some(CompileRecord {
        seconds: None,
        beside_prefill: false,
        error: Some(CompileFailure {
            kind: CompileErrorKind::Refused,
            pointer: None,
            keyword: None,
            message: "no".to_owned(),
        }),
    });
    let records = [
        refused,
        ended(
            "llguidance",
            "2",
            r#"{"reasoning": "long"#,
            40,
            FinishReason::TokenLimit,
        ),
        ended("llguidance", "3", r#"{"answer": 7, "so"#, 30, FinishReason::TimeLimit),
        // What may go on is not read.
        ended("llguidance", "5", r#"{"answer": 7"#, 30, FinishReason::TokenLimit),
        said("llguidance", "4", RIGHT),
        said("none", "1", RIGHT),
        said("none", "3", "so \"answer\": 7"),
        said("none", "4", WRONG),
    ];
    let rows = derived(&records, &["llguidance", "none"]);
    let (ours, alone) = (&rows[0], &rows[1]);
    assert_eq!(
        (ours.planned, ours.answered, ours.right, ours.strictly_right),
        (5, 5, 2, 1)
    );
    assert_eq!((ours.unreadable, ours.cut_off, ours.refused), (Some(0.6), Some(0.6), 1));
    assert_eq!((ours.valid, ours.mean_tokens), (Some(0.2), Some(30.0)));
    assert_eq!((ours.failed, &ours.failure), (0, &None));
    let mut failed = ended("llguidance", "1", "", 3, FinishReason::TokenLimit);
    let generation = failed.generation.as_mut().unwrap();
    (generation.framework_failed, generation.error) = (true, Some("token 7 is not allowed".to_owned()));
    let report = QualityReport {
        rows: derived(&[failed], &["llguidance"]),
        overlaps: Vec::new(),
        paper: false,
        warnings: Vec::new(),
    };
    let text = report.text(Style::Markdown);
    assert!(
        text.contains("the framework failed on 1 of 1 questions (token 7 is not allowed)."),
        "{text}"
    );
    assert_eq!((ours.paper, alone.paper), (Some(0.838), Some(0.801)));
    // Question 2 was answered by one only and is no pair.
    let against = ours.against_alone.unwrap();
    assert_eq!((against.questions, against.only_this, against.only_other), (3, 1, 1));
    assert_eq!((alone.right, alone.strictly_right, alone.against_alone), (2, 1, None));
}

#[test]
fn effects_of_masks_are_means_over_choices_and_answers() {
    let masked = |question, choices, removed, first_choice_forbidden| {
        let mut record = said("llguidance", question, RIGHT);
        if let Some(generation) = &mut record.generation {
            generation.mask_effect = Some(MaskEffectRecord {
                choices,
                removed,
                first_choice_forbidden,
            });
        }
        record
    };
    let records = [masked("1", 6, 1.0, 1), masked("2", 4, 0.5, 0), said("none", "1", RIGHT)];
    let rows = derived(&records, &["llguidance", "none"]);
    let effect = rows[0].mask_effect.unwrap();
    assert_eq!((effect.removed_per_choice, effect.removed_per_answer), (0.15, 0.75));
    assert_eq!(
        (effect.forbidden, effect.forbidden_per_answer, effect.choices_per_answer),
        (0.1, 0.5, 5.0)
    );
    assert_eq!(rows[1].mask_effect, None);
}

#[test]
fn prompts_without_room_count_for_no_row() {
    let records = [
        said("llguidance", "1", RIGHT),
        ended("none", "1", "", 0, FinishReason::ContextFull),
        said("llguidance", "2", RIGHT),
        ended("none", "2", RIGHT, 9, FinishReason::ContextFull),
    ];
    let rows = derived(&records, &["llguidance", "none"]);
    for row in &rows {
        assert_eq!((row.answered, row.no_room, row.right), (1, 1, 1), "{}", row.framework);
    }
    // An answer, but no prompt, may be cut off by the context.
    assert_eq!((rows[0].cut_off, rows[1].cut_off), (Some(0.0), Some(1.0)));
}

#[test]
fn overlaps_count_sets_of_rows_that_are_right_together() {
    // By question: who is right.
    let table = [("1", "ab"), ("2", "a"), ("3", "abc"), ("4", "a"), ("5", ""), ("6", "c")];
    let mut records = Vec::new();
    for (question, right) in table {
        for framework in ["a", "b", "c"] {
            let text = if right.contains(framework) { RIGHT } else { WRONG };
            records.push(said(framework, question, text));
        }
    }
    // What not every row has answered counts nowhere.
    records.push(said("a", "7", RIGHT));
    let keys = [key("a"), key("b"), key("c")];
    let overlap = Overlap::of(
        &Answers::new(&records),
        &keys.iter().collect::<Vec<_>>(),
        QualityTask::Gsm8k,
    )
    .unwrap();
    assert_eq!((overlap.questions, overlap.nobody), (6, 1));
    assert_eq!(
        (&overlap.right[..], &overlap.exclusive[..]),
        (&[4, 2, 2][..], &[2, 0, 1][..])
    );
    let sets: Vec<(Vec<usize>, usize)> = overlap
        .intersections
        .iter()
        .map(|one| (one.rows.clone(), one.questions))
        .collect();
    assert_eq!(sets, [(vec![0], 2), (vec![0, 1], 1), (vec![0, 1, 2], 1), (vec![2], 1)]);
    assert_eq!(
        overlap.questions,
        overlap.nobody + sets.iter().map(|(_, count)| count).sum::<usize>()
    );
}

#[test]
fn rows_are_compared_with_the_model_alone_of_the_same_origin_only() {
    let mut served = said("held", "1", WRONG);
    served.server = Some(ServerRecord::ended(Outcome::Finished, 1));
    served.compile = Some(CompileRecord {
        seconds: None,
        beside_prefill: false,
        error: None,
    });
    let records = [said("none", "1", RIGHT), said("llguidance", "1", WRONG), served];
    let keys = RowKey::of_records(&records);
    let kinds: Vec<(bool, bool)> = keys.iter().map(|key| (key.server, key.constrained)).collect();
    assert_eq!(kinds, [(false, false), (false, true), (true, true)]);
    let rows = rows(&Answers::new(&records), &keys, &[gsm8k()]);
    assert_eq!(rows[1].against_alone.map(|against| against.only_other), Some(1));
    assert_eq!(rows[2].against_alone, None, "the model alone is of this machine");
}

#[test]
fn rows_after_reasoning_are_compared_with_the_model_alone_after_reasoning() {
    let reasoned = |framework: &str, question: &str, text: &str, tokens: usize| {
        let mut record = said(framework, question, text);
        record.key.mode = Mode::Reasoned;
        if let Some(generation) = &mut record.generation {
            generation.reasoning = Some(ReasoningRecord {
                tokens,
                seconds: 1.0,
                cut: tokens == 100,
            });
        }
        record
    };
    let records = [
        said("none", "1", WRONG),
        said("llguidance", "1", WRONG),
        reasoned("none", "1", RIGHT, 100),
        reasoned("llguidance", "1", RIGHT, 50),
        reasoned("llguidance", "2", WRONG, 100),
    ];
    let keys = RowKey::of_records(&records);
    let labels: Vec<String> = keys.iter().map(RowKey::label).collect();
    assert_eq!(labels, ["none", "llguidance", "none, reasoned", "llguidance, reasoned"]);
    let rows = rows(&Answers::new(&records), &keys, &[gsm8k()]);
    let only_this: Vec<Option<usize>> = rows
        .iter()
        .map(|row| row.against_alone.map(|against| against.only_this))
        .collect();
    // What reasoning alone does, against the direct answers; what the constraint does then, against the reasoned ones.
    assert_eq!(only_this, [None, Some(0), Some(1), Some(0)]);
    assert_eq!((rows[0].reasoning, rows[2].paper), (None, None));
    let reasoning = rows[3].reasoning.unwrap();
    assert_eq!((reasoning.mean_tokens, reasoning.cut), (75.0, 0.5));
    let report = |rows| QualityReport {
        rows,
        overlaps: Vec::new(),
        paper: false,
        warnings: Vec::new(),
    };
    let direct = report(rows[..2].to_vec()).text(Style::Markdown);
    let all = report(rows).text(Style::Markdown);
    assert!(
        all.contains("| reasoned ") && all.contains("  75.0, cut 50.0 % |"),
        "{all}"
    );
    assert!(!direct.contains("| reasoning "), "{direct}");
}

#[test]
fn figures_of_the_paper_stand_beside_questions_of_the_paper_only() {
    let records = [said("none", "1", RIGHT)];
    let of = |is_as_in_paper| {
        let scope = TaskScope {
            is_as_in_paper,
            ..gsm8k()
        };
        rows(&Answers::new(&records), &[key("none")], &[scope])[0].paper
    };
    assert_eq!((of(true), of(false)), (Some(0.801), None));
}

#[test]
fn overlaps_have_the_rows_that_answered_the_task() {
    let letters = |framework: &str, question: &str| {
        let mut record = said(framework, question, RIGHT);
        record.key.task = QualityTask::LastLetter;
        record
    };
    let records = [
        said("a", "1", RIGHT),
        said("b", "1", WRONG),
        letters("a", "1"),
        // A row that was asked one of the tasks only does not empty the other.
        letters("c", "1"),
    ];
    let overlaps = Overlap::all(&records);
    let figures: Vec<(QualityTask, Vec<&str>, usize, &[usize])> = overlaps
        .iter()
        .map(|one| {
            let rows = one.rows.iter().map(String::as_str).collect();
            (one.task, rows, one.questions, &one.right[..])
        })
        .collect();
    assert_eq!(
        figures,
        [
            (QualityTask::Gsm8k, vec!["a", "b"], 1, &[1, 0][..]),
            (QualityTask::LastLetter, vec!["a", "c"], 1, &[1, 1][..])
        ]
    );
    let (answers, keys) = (Answers::new(&records), RowKey::of_records(&records));
    let all: Vec<&RowKey> = keys.iter().collect();
    assert_eq!(
        Overlap::of(&answers, &all, QualityTask::Gsm8k),
        Some(overlaps[0].clone())
    );
    let third: Vec<&RowKey> = keys.iter().filter(|key| key.framework == "c").collect();
    assert_eq!(Overlap::of(&answers, &third, QualityTask::Gsm8k), None);
}
